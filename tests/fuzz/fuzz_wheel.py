"""Any bytes give a wheel in which the standard library sees the same, or our own error."""

from __future__ import annotations

import io
import zipfile
from typing import TYPE_CHECKING

from skills_bundle.archives.reading import read_wheel
from skills_bundle.errors import UnreadableArchiveError, UnsafeArchiveError
from tests.archives.test_zip_format import MEMBER, NAMES, ORDINARY, PLAIN, WHOLE

if TYPE_CHECKING:
    from collections.abc import Iterator

LARGEST_SEED = 1 << 12


def check(data: bytes) -> None:
    """Read the bytes; compare names and bytes with what `zipfile` finds."""
    try:
        found = read_wheel(data, "acme-1.0-py3-none-any.whl")
    except (UnsafeArchiveError, UnreadableArchiveError) as error:
        if not error.problems:
            raise AssertionError("refused without a reason") from error
        return
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = archive.namelist()
        seen = {name: archive.read(name) for name in names if not name.endswith("/")}
    if [row.path for row in found.entries] != names:
        raise AssertionError("another list of members")
    if {name: member.data for name, member in found.members.items()} != seen:
        raise AssertionError("other bytes")


def seeds() -> Iterator[bytes]:
    """Yield archives that ordinary tools write, and each refused one."""
    made = [PLAIN.to_bytes(), *(make() for make in ORDINARY.values())]
    made += [whole.to_bytes() for whole, _ in WHOLE.values()]
    made += [PLAIN.with_first(**changes).to_bytes() for changes, _, _ in MEMBER.values()]
    made += [PLAIN.with_first(name=name).to_bytes() for name, _ in NAMES.values()]
    return (data for data in made if len(data) <= LARGEST_SEED)

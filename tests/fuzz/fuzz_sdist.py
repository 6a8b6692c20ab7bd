"""Any bytes, as a tar in gzip and as gzip, give an sdist in which `tarfile` sees the same."""

from __future__ import annotations

import gzip
import io
import tarfile
from typing import TYPE_CHECKING

from skills_bundle.archives.model import stored_gzip
from skills_bundle.archives.reading import read_sdist
from skills_bundle.errors import UnreadableArchiveError, UnsafeArchiveError
from tests.archives.test_tar_format import MEMBERS, PLAIN

if TYPE_CHECKING:
    from collections.abc import Iterator

LARGEST_SEED = 1 << 12


def check(data: bytes) -> None:
    """Read the bytes in both ways: a checksum would keep a fuzzer from the tar inside."""
    _check(data)
    _check(stored_gzip(data))


def _check(data: bytes) -> None:
    try:
        found = read_sdist(data, "acme-1.0.tar.gz")
    except (UnsafeArchiveError, UnreadableArchiveError) as error:
        if not error.problems:
            raise AssertionError("refused without a reason") from error
        return
    seen: dict[str, bytes] = {}
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:gz", encoding="utf-8") as archive:
        for info in archive:
            file = archive.extractfile(info)
            if file is not None:
                seen[info.name] = file.read()
    mine = {f"{found.top}/{name}": member.data for name, member in found.members.items()}
    if mine != seen:
        raise AssertionError("other names or bytes")


def seeds() -> Iterator[bytes]:
    """Yield tars, valid and refused, without their gzip."""
    made = [gzip.decompress(PLAIN)]
    made += [
        b"".join(member.to_bytes() for member in members) + bytes(1024)
        for members, _, _ in MEMBERS.values()
    ]
    return (data for data in made if len(data) <= LARGEST_SEED)

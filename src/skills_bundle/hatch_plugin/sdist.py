"""Edge: the sdist with its lock, its locked files and the receipt at its root."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from skills_bundle.archives import canonical
from skills_bundle.archives.model import Member
from skills_bundle.bundle.receipt import RECEIPT_FILE_NAME
from skills_bundle.hatch_plugin import archives, generated, names, selection
from skills_bundle.hatch_plugin.bundling import GENERATED
from skills_bundle.hatch_plugin.world import read

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skills_bundle.bundle.receipt import BuildReceipt
    from skills_bundle.hatch_plugin.bundling import Bundling
    from skills_bundle.hatch_plugin.selection import Builder, Candidate, Metadata


class Made(NamedTuple):
    """A finished archive, its receipt, and why that names no commit ("" if it names one)."""

    data: bytes
    receipt: BuildReceipt
    detail: str


def rewritten(
    bundling: Bundling, builder: Builder, build_data: dict[str, Any], archive: bytes
) -> Made:
    """Give the sdist in its one form.

    Args:
        bundling: What stood before the build.
        builder: hatchling's builder.
        build_data: What the hooks left in it.
        archive: The sdist that hatchling wrote.
    """
    top, members = archives.read_sdist(archive)
    candidates = selection.of_build(builder, build_data)
    shipped = {name: row for name, row in candidates.items() if name in members}
    needed = selection.of_wheel(str(bundling.root), builder.metadata).values()

    def read(candidate: Candidate) -> Member | None:
        return members[candidate.target] or from_disk(candidate)

    files = bundling.collect(shipped, read, needed)
    expected = generated.of_sdist(str(bundling.root))
    world = bundling.world
    world.expect([*candidates, *expected], members)
    made = {
        name: world.made(name, row, {**expected, RECEIPT_FILE_NAME: None})
        for name, row in members.items()
        if row and _is_made(name, candidates)
    }
    whole = {**made, **files}
    names.demand_plain(dict.fromkeys([*whole, RECEIPT_FILE_NAME]), top)
    metadata = generated.wheel_metadata(str(bundling.root))
    receipt, detail = bundling.receipt(files, [], metadata)
    whole = {**whole, RECEIPT_FILE_NAME: Member(receipt.to_bytes())}
    return Made(canonical.write_sdist(whole, top), receipt, detail)


def _is_made(name: str, candidates: Mapping[str, Candidate]) -> bool:
    """Tell hatchling's own files; an unpacked sdist holds an earlier PKG-INFO besides."""
    return name in GENERATED or name not in candidates


def sources(bundling: Bundling, metadata: Metadata) -> dict[str, Member]:
    """Give what an sdist of this project would hold, from the disk; nothing is built.

    Args:
        bundling: What stands before a build.
        metadata: hatchling's view of the project's pyproject.toml.
    """
    root = str(bundling.root)
    needed = selection.of_wheel(root, metadata).values()
    return bundling.collect(selection.of_sdist(root, metadata), from_disk, needed)


def from_disk(candidate: Candidate) -> Member | None:
    """Read one file, through links; None if there is none at their end."""
    path = Path(candidate.source)
    data = read(path)
    return None if data is None else Member(data, bool(path.stat().st_mode & 0o100))

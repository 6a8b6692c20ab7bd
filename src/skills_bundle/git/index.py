"""Edge: git's index, with the two flags that make git look away from a file."""

from __future__ import annotations

import os
import stat
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from skills_bundle.files.names import to_disk
from skills_bundle.formats.digest import git_object_id

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    import pygit2

LINK_MODE: Final = "120000"
SUBMODULE_MODE: Final = "160000"
_ASSUME_UNCHANGED: Final = 0x8000
"""`GIT_INDEX_ENTRY_VALID` of an entry's flags (`git update-index --assume-unchanged`)."""
_SKIP_WORKTREE: Final = 0x4000
"""`GIT_INDEX_ENTRY_SKIP_WORKTREE` of its extended flags (`--skip-worktree`)."""


class Row(NamedTuple):
    """One file of the index.

    Attributes:
        mode: As git writes it: `100644`, `100755`, `120000` or `160000`.
        oid: Id of its blob, or a submodule's commit.
        unseen: Whether git was told not to look at the file in the work tree.
    """

    mode: str
    oid: str
    unseen: bool


def read_index(repository: pygit2.Repository) -> dict[str, Row]:
    """Give the index by path; bytes of a name that are not UTF-8 become lone surrogates."""
    # pygit2's own entries leave the flags out; the library below has them.
    binding: Any = import_module("pygit2.ffi")
    library, foreign = binding.C, binding.ffi
    index: Any = repository.index
    handle = index._index  # noqa: SLF001 - the library's own index, which has no public name
    rows: dict[str, Row] = {}
    for position in range(len(index)):
        entry = library.git_index_get_byindex(handle, position)
        path = cast("bytes", foreign.string(entry.path)).decode("utf-8", "surrogateescape")
        unseen = entry.flags & _ASSUME_UNCHANGED or entry.flags_extended & _SKIP_WORKTREE
        oid = bytes(foreign.buffer(foreign.addressof(entry, "id"))[:20]).hex()
        rows[path] = Row(f"{int(entry.mode):o}", oid, bool(unseen))
    return rows


def unseen_changes(
    repository: pygit2.Repository, top: Path, rows: Mapping[str, Row]
) -> Iterator[str]:
    """Give every file that git was told not to look at and that is not what the index says.

    Args:
        repository: For its rules on line ends.
        top: The work tree.
        rows: Of the index; only those with `unseen` are looked at. A file that is not there at all
            is left to the comparison with the commit.
    """
    for path, row in rows.items():
        if (
            row.unseen
            and row.mode != SUBMODULE_MODE
            and _differs(repository, top / to_disk(path), row)
        ):
            yield path


def _differs(repository: pygit2.Repository, place: Path, row: Row) -> bool:
    try:
        mode = place.lstat().st_mode
    except FileNotFoundError:
        return False
    if stat.S_ISLNK(mode):
        target = os.fsencode(place.readlink().as_posix())
        return row.mode != LINK_MODE or git_object_id("blob", target) != row.oid
    if not stat.S_ISREG(mode) or row.mode == LINK_MODE:
        return True
    return str(repository.hashfile(str(place))) != row.oid

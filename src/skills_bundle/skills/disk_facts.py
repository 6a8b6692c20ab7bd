"""Decision: what is known of a skills folder where no git can be asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from skills_bundle.formats.digest import TreeEntry
from skills_bundle.skills.model import FileFacts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class _Executable(Protocol):
    @property
    def executable(self) -> bool: ...


class _Unlocked(Protocol):
    @property
    def path(self) -> str: ...
    @property
    def mode(self) -> str: ...
    @property
    def oid(self) -> str: ...


class OldLock(Protocol):
    """The part of an existing lock that a scan without git goes by."""

    @property
    def unlocked(self) -> Sequence[_Unlocked]:
        """What git held besides the locked files."""
        ...

    def files(self) -> Mapping[str, _Executable]:
        """Give the locked files by their path below the skills folder."""
        ...


class DiskFacts(FileFacts):
    """What is known of a folder where there is no git: the disk, and an old lock if there is one.

    Args:
        old_lock: Its word counts for x bits, which archives and mounts lose, and for `unlocked`,
            which an sdist does not ship.
    """

    def __init__(self, old_lock: OldLock | None = None) -> None:
        """Keep what the lock says."""
        self._files: Mapping[str, _Executable] = {} if old_lock is None else old_lock.files()
        self._unlocked = (
            None
            if old_lock is None
            else tuple(TreeEntry(row.path, row.mode, row.oid) for row in old_lock.unlocked)
        )

    def mode(self, path: str) -> str | None:
        """Give None: nothing is tracked."""
        del path

    def ignored(self, path: str) -> bool:
        """Give False: nothing is ignored."""
        del path
        return False

    def submodules(self) -> tuple[TreeEntry, ...]:
        """Give none."""
        return ()

    def unlocked(self) -> tuple[TreeEntry, ...] | None:
        """Give the old lock's, or None."""
        return self._unlocked

    def executable(self, path: str, *, on_disk: bool) -> bool:
        """Give the old lock's word, else the disk's."""
        return self._files[path].executable if path in self._files else on_disk

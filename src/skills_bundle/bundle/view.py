"""Record: what can be served right now, and the one thing that a catalog asks of a bundle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skills_bundle.bundle.lock import CatalogLock, LockedFile
    from skills_bundle.bundle.provenance import Provenance


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A bundle at one moment.

    Attributes:
        lock: The lock; the same object as long as nothing in it changed.
        files: Every locked file by its path below the skills folder.
        provenance: What an answer from this view carries.
        altered: Locked paths that are not what was locked; not served.
        refused: Skill folders that could not be read; only a source checkout has any.
    """

    lock: CatalogLock
    files: Mapping[str, LockedFile]
    provenance: Provenance
    altered: frozenset[str]
    refused: int = 0


class Bundle(Protocol):
    """Something that holds locked skills."""

    def current(self) -> View:
        """Look again at what is there.

        Raises:
            BundleUnavailableError: If there is no lock that can be believed.
        """
        ...

    def read(self, path: str) -> bytes:
        """Read a locked file, once.

        Args:
            path: A key of the `files` of the view that `current` gave last.

        Returns:
            Bytes whose size and digest are those of the lock.

        Raises:
            UnsafeFileError: If it is not the file that was locked.
        """
        ...

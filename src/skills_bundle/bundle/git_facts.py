"""Edge: what git says about the files of a skills folder; the choice between git and the disk."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from skills_bundle.bundle.checkout import open_checkout
from skills_bundle.errors import CheckoutError
from skills_bundle.formats.digest import TreeEntry
from skills_bundle.skills.scan import DiskFacts

if TYPE_CHECKING:
    from pathlib import Path

    from skills_bundle.bundle.checkout import Checkout
    from skills_bundle.bundle.lock import CatalogLock
    from skills_bundle.skills.model import FileFacts


class GitFacts:
    """The index and the ignore rules, seen from the skills folder (see `FileFacts`).

    Args:
        checkout: The repository around the project.
        skills: The skills folder, relative to the project.
        old_lock: The lock already there: what it says of x bits counts for files that git does not
            track yet.
    """

    def __init__(self, checkout: Checkout, skills: str, old_lock: CatalogLock | None) -> None:
        """Keep the parts; nothing is read before it is asked for."""
        self._checkout = checkout
        self._prefix = checkout.prefix if skills == "." else f"{checkout.prefix}{skills}/"
        self._locked = {} if old_lock is None else old_lock.files()

    def mode(self, path: str) -> str | None:
        """Give the mode the index records, else None."""
        return self._checkout.index_mode(self._prefix + path)

    def ignored(self, path: str) -> bool:
        """Tell whether git ignores the path; what it tracks never is."""
        return self._checkout.ignored(self._prefix + path)

    def submodules(self) -> tuple[TreeEntry, ...]:
        """Give the submodules below the skills folder."""
        inside = (self._checkout.submodule(path) for path in self._checkout.submodules())
        return tuple(
            TreeEntry(entry.path.removeprefix(self._prefix), entry.mode, entry.oid)
            for entry in inside
            if entry.path.startswith(self._prefix)
        )

    def unlocked(self) -> None:
        """Leave it to the scan: in a checkout, index and disk know what does not ship."""

    def executable(self, path: str, *, on_disk: bool) -> bool:
        """Give git's word, else the old lock's, else the disk's where `core.fileMode` trusts it."""
        mode = self.mode(path)
        if mode is not None:
            return mode == "100755"
        locked = self._locked.get(path)
        if locked is not None:
            return locked.executable
        return on_disk and self._checkout.trusts_file_mode


class Facts(NamedTuple):
    """What a scan is told about its files, and why not by git if so (None: by git)."""

    facts: FileFacts
    without_git: CheckoutError | None


def open_facts(project: Path, skills: str, old_lock: CatalogLock | None) -> Facts:
    """Ask git if the project lies in a checkout that can be read, else the disk and the old lock.

    Args:
        project: The folder of `pyproject.toml`.
        skills: The skills folder, relative to it.
        old_lock: The lock already there, if it can be read.
    """
    try:
        return Facts(GitFacts(open_checkout(project), skills, old_lock), None)
    except CheckoutError as error:
        return Facts(DiskFacts(old_lock), error)

"""Edge: what git says about the files of a skills folder; the choice between git and the disk.

The disk alone is asked only where there is no git. Where there is one that cannot be read, nobody
knows what it ignores, and a guess could lock and ship a file that must stay private.
"""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING, Final, NamedTuple

from skills_bundle.errors import CheckoutError, Problem
from skills_bundle.files.names import to_disk
from skills_bundle.formats.digest import TreeEntry
from skills_bundle.git.checkout import open_checkout
from skills_bundle.git.folder import is_repository, repository_folder
from skills_bundle.skills.model import DiskFacts

if TYPE_CHECKING:
    from pathlib import Path

    from skills_bundle.bundle.lock import CatalogLock
    from skills_bundle.git.checkout import Checkout
    from skills_bundle.skills.model import FileFacts


NO_CHECKOUT: Final = frozenset({"not_git_source", "project_not_in_repository"})
"""Reasons for which no git speaks of the project, so that no ignore rules hold."""

_REMEDIES: Final = (
    ("not owned by", "if you trust it: `git config --global --add safe.directory {folder}`"),
    ("object format", "export the files (`git archive`) and work there"),
    ("'sdir'", "run `git sparse-checkout disable`"),
    ("'link'", "run `git update-index --no-split-index`"),
    ("pygit2", "install pygit2"),
    ("", "mend the repository, or export the files (`git archive`) and work there"),
)
"""Part of what git's library says, and what helps then; the first that fits."""


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

    def untracked(self, path: str) -> bool:
        """Tell whether git neither tracks a path, or anything in it, nor ignores it."""
        path = self._prefix + path
        return not (self._checkout.tracks(path) or self._checkout.ignored(path))

    def nested_repository(self, path: str) -> bool:
        """Tell whether git would add a folder as a link to a commit, without its files."""
        place = self._checkout.top / to_disk(self._prefix + path) / ".git"
        return not self._checkout.tracks(self._prefix + path) and is_repository(place)

    def not_checked_out(self) -> tuple[str, ...]:
        """Give what a sparse checkout, or a flag of the index, keeps away from the disk."""
        return tuple(
            path.removeprefix(self._prefix)
            for path in self._checkout.unseen()
            if path.startswith(self._prefix)
            and not os.path.lexists(self._checkout.top / to_disk(path))
        )

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

    Raises:
        CheckoutError: If there is a checkout that cannot be read; with what to do.
    """
    try:
        return Facts(GitFacts(open_checkout(project), skills, old_lock), None)
    except CheckoutError as error:
        if error.reason not in NO_CHECKOUT:
            raise _without_a_guess(project, error) from error
        return Facts(DiskFacts(old_lock), error)


def _without_a_guess(project: Path, error: CheckoutError) -> CheckoutError:
    """Say why git cannot be asked, and what to do about it."""
    folder = repository_folder(project) or project
    remedy = next(text for part, text in _REMEDIES if part in error.summary)
    message = f"{error.summary.rstrip('.')}; {remedy.format(folder=shlex.quote(str(folder)))}"
    problem = Problem(code=error.reason, message=message, path=str(folder / ".git"))
    summary = "Git cannot be asked which files it ignores, so nothing is locked."
    return CheckoutError(summary, reason=error.reason, problems=(problem,))

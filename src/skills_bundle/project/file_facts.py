"""Edge: what git knows about the files of a skills folder, or the disk where there is no git.

The disk alone is consulted only where there is no repository. Where there is one that cannot be
read, what it ignores is unknown, and a guess could lock and ship a file that must stay private.
"""

from __future__ import annotations

import os
import posixpath
import shlex
from typing import TYPE_CHECKING, Final, NamedTuple

from skills_bundle.errors import CheckoutError, Problem
from skills_bundle.files.paths import to_disk
from skills_bundle.formats.digest import TreeEntry, git_object_id
from skills_bundle.git.repository import is_repository, open_checkout, repository_folder
from skills_bundle.skills.model import FileFacts

if TYPE_CHECKING:
    from pathlib import Path

    from skills_bundle.bundle.lock import CatalogLock
    from skills_bundle.git.repository import Checkout


NO_CHECKOUT: Final = frozenset({"not_git_source", "project_not_in_repository"})
"""Reasons that mean the project is in no repository, so that no ignore rules apply."""

_REMEDIES: Final = (
    ("not owned by", "if you trust it: `git config --global --add safe.directory {folder}`"),
    ("object format", "export the files (`git archive`) and work there"),
    ("'sdir'", "run `git sparse-checkout disable`"),
    ("'link'", "run `git update-index --no-split-index`"),
    ("pygit2", "install pygit2"),
    ("", "repair the repository, or export the files (`git archive`) and work there"),
)
"""Part of libgit2's message, and the remedy; the first match counts."""


class GitFacts(FileFacts):
    """The index and the ignore rules, seen from the skills folder (see `FileFacts`).

    Args:
        checkout: The repository around the project.
        skills: The skills folder, relative to the project.
        old_lock: The lock already there: its x bits count for files that git does not track yet.
    """

    def __init__(self, checkout: Checkout, skills: str, old_lock: CatalogLock | None) -> None:
        """Keep the parts; nothing is read yet."""
        super().__init__(old_lock)
        self._checkout = checkout
        self._prefix = checkout.prefix if skills == "." else f"{checkout.prefix}{skills}/"

    def mode(self, path: str) -> str | None:
        """Return the mode the index records, or None."""
        row = self._checkout.index.get(self._prefix + path)
        return None if row is None else row.mode

    def ignored(self, path: str) -> bool:
        """Return whether git ignores the path; what it tracks is never ignored."""
        return self._checkout.ignored(self._prefix + path)

    def untracked(self, path: str) -> bool:
        """Return whether git neither tracks a path, or anything in it, nor ignores it."""
        path = self._prefix + path
        return not (self._checkout.tracks(path) or self._checkout.ignored(path))

    def keeps_spelling(self, raw: str, path: str) -> bool:
        """Return whether the index holds the disk's spelling, or `git add` would keep it."""
        if self.mode(raw) is not None or self.mode(path) is not None:
            return self.mode(raw) is not None
        return not self._checkout.config_flag("core.precomposeUnicode", default=False)

    def converts_line_ends(self, path: str, data: bytes) -> bool:
        """Return whether `git add` would turn CRLF into LF."""
        if b"\r\n" not in data:
            return False
        place = self._checkout.top / to_disk(self._prefix + path)
        converted = git_object_id("blob", data.replace(b"\r\n", b"\n"))
        return self._checkout.blob_id(place) == converted

    def nested_repository(self, path: str) -> bool:
        """Return whether git would add a folder as a link to a commit, without its files."""
        place = self._checkout.top / to_disk(self._prefix + path) / ".git"
        return not self._checkout.tracks(self._prefix + path) and is_repository(place)

    def not_checked_out(self) -> tuple[str, ...]:
        """Return the skills' files, and the ignore files anywhere, that a sparse checkout lacks."""
        if not self._checkout.config_flag("core.sparseCheckout", default=False):
            return ()
        return tuple(
            posixpath.relpath(path, self._prefix or ".")
            for path in self._checkout.index
            if (path.startswith(self._prefix) or posixpath.basename(path) == ".gitignore")
            and not os.path.lexists(self._checkout.top / to_disk(path))
        )

    def submodules(self) -> tuple[TreeEntry, ...]:
        """Return the submodules below the skills folder."""
        return tuple(
            TreeEntry(entry.path.removeprefix(self._prefix), entry.mode, entry.oid)
            for entry in self._checkout.submodules()
            if entry.path.startswith(self._prefix)
        )

    def unlocked(self) -> None:
        """Return None: in a checkout the scan finds what does not ship in index and disk."""

    def executable(self, path: str, *, on_disk: bool) -> bool:
        """Return git's x bit, else the old lock's, else the disk's where `core.fileMode` allows."""
        mode = self.mode(path)
        if mode is not None:
            return mode == "100755"
        on_disk = on_disk and self._checkout.config_flag("core.fileMode", default=True)
        return super().executable(path, on_disk=on_disk)


class Facts(NamedTuple):
    """The facts for a scan, and why they are not from git (None: they are)."""

    facts: FileFacts
    without_git: CheckoutError | None


def open_facts(project: Path, skills: str, old_lock: CatalogLock | None) -> Facts:
    """Return facts from git in a checkout that can be read, else from the disk and the old lock.

    Args:
        project: The folder of `pyproject.toml`.
        skills: The skills folder, relative to it.
        old_lock: The existing lock, if it can be read.

    Raises:
        CheckoutError: If there is a checkout that cannot be read; with a remedy.
    """
    try:
        return Facts(GitFacts(open_checkout(project), skills, old_lock), None)
    except CheckoutError as error:
        if error.reason not in NO_CHECKOUT:
            raise _unreadable(project, error) from error
        return Facts(FileFacts(old_lock), error)


def _unreadable(project: Path, error: CheckoutError) -> CheckoutError:
    """Return the error that names the cause and the remedy."""
    folder = repository_folder(project) or project
    remedy = next(text for part, text in _REMEDIES if part in error.summary)
    message = f"{error.summary.rstrip('.')}; {remedy.format(folder=shlex.quote(str(folder)))}"
    problem = Problem(code=error.reason, message=message, path=str(folder / ".git"))
    summary = "Git cannot say which files it ignores, so nothing is locked."
    return CheckoutError(summary, reason=error.reason, problems=(problem,))

"""Edge: the one module that opens a git repository, read-only, through pygit2.

pygit2 is imported when a repository is there to be opened and not before (it takes 0.1 s). The
environment's `GIT_*` variables have no say: what ships is decided by where the project lies.

libgit2 refuses a repository that belongs to another user, since its configuration could run that
user's programs. We leave that check on and report `not_owner`; whoever trusts the folder says so
to git (`git config --global --add safe.directory FOLDER`), and libgit2 listens.
"""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from skills_bundle.errors import CheckoutError
from skills_bundle.files.names import from_disk, to_disk
from skills_bundle.files.paths import is_junk
from skills_bundle.formats.digest import TREE_MODE, TreeEntry
from skills_bundle.git import ignore_files
from skills_bundle.git import index as git_index
from skills_bundle.git.commit import Commit
from skills_bundle.git.errors import translated
from skills_bundle.git.folder import is_of, repository_folder
from skills_bundle.git.index import SUBMODULE_MODE
from skills_bundle.git.revision import Revision, archive, dirty, listed
from skills_bundle.git.untracked import untracked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pygit2

    from skills_bundle.bundle.receipt import Reason
    from skills_bundle.git.ignore_files import IgnoreFiles
    from skills_bundle.git.proof import Entry

SDIST_MARK: Final = "PKG-INFO"
"""Every sdist has this file at its root; a checkout has not."""


def has_repository(project: Path) -> bool:
    """Tell whether a folder lies in a git checkout of its own; needs no pygit2.

    An unpacked sdist does not, wherever it lies: it is not that repository's content.
    """
    return not (project / SDIST_MARK).exists() and repository_folder(project) is not None


def no_product(_: str) -> bool:
    """Say of every path that no build made it."""
    return False


def inspect(project: Path, skills: str, *, own: Callable[[str], bool] = no_product) -> Revision:
    """Compare a project's folder with the commit that HEAD names.

    Dirt is a tracked change (staged or not), an untracked file that is not ignored, or a file of
    the commit that is not there. Only the project's folder counts: in a repository of several
    projects, work on another one changes nothing here. Files that ship from outside the folder
    are compared one by one by the build.

    Args:
        project: The folder of `pyproject.toml`.
        skills: The skills folder, relative to it.
        own: Tells whether an untracked path (relative to the project) is this build's own product.

    Returns:
        Never raises for what it finds: a repository that cannot be read is an `archive` revision
        with the reason.
    """
    try:
        with translated():
            return open_checkout(project).revision(skills, own)
    except CheckoutError as error:
        return archive(cast("Reason", error.reason), error.summary)


def open_checkout(project: Path) -> Checkout:
    """Open the repository a project lies in.

    A project in a folder that the repository ignores (in a home folder under git, say) is not that
    repository's content.

    Raises:
        CheckoutError: With the reason code, if there is none or it cannot be read.
    """
    if not has_repository(project):
        raise CheckoutError("There is no git checkout around the project.", reason="not_git_source")
    with translated():
        import pygit2  # noqa: PLC0415 - takes 0.1 s; only builds inside a checkout need it

        found = pygit2.discover_repository(str(project.resolve()))
        top = repository_folder(project) or project
        if found is None or not is_of(top, Path(found)):
            message = "The .git of the project is no repository that can be read."
            raise CheckoutError(message, reason="git_unavailable")
        # By its work tree: what `found` names may lie anywhere, and knows nothing of that.
        checkout = Checkout(pygit2.Repository(str(top)), project.resolve())
        folder = checkout.prefix.rstrip("/")
        if folder and checkout.ignored(folder):
            message = f"The repository around the project ignores {folder}."
            raise CheckoutError(message, reason="project_not_in_repository")
        return checkout


class Checkout:
    """An opened repository and a project in it. Paths are relative to the work tree's top.

    Args:
        repository: As pygit2 opened it.
        project: The project's folder, resolved.

    Raises:
        CheckoutError: If the project does not lie in the repository's work tree.
    """

    def __init__(self, repository: pygit2.Repository, project: Path) -> None:
        """Find the project in the work tree and read the index once."""
        self._repository = repository
        workdir = repository.workdir
        top = Path(workdir).resolve() if workdir else None
        if top is None or not project.is_relative_to(top):
            message = f"{project} is not in the work tree of {repository.path}."
            raise CheckoutError(message, reason="project_not_in_repository")
        self.top = top
        self.project = project
        relative = from_disk(project.relative_to(top).as_posix())
        self.prefix = "" if relative == "." else f"{relative}/"
        self._index = git_index.read_index(repository)

    @cached_property
    def _head(self) -> Commit | None:
        """HEAD's commit; None before the first one."""
        with translated():
            unborn = self._repository.head_is_unborn
            return None if unborn else Commit(str(self._repository.head.target), self._object)

    @cached_property
    def trusts_file_mode(self) -> bool:
        """Whether the disk's x bit means anything here (`core.fileMode`)."""
        with translated():
            config = self._repository.config
            return "core.filemode" not in config or config.get_bool("core.filemode")

    def index_mode(self, path: str) -> str | None:
        """Give the mode the index records for a file, else None."""
        row = self._index.get(path)
        return None if row is None else row.mode

    def tracks(self, path: str) -> bool:
        """Tell whether the index holds a path, or anything below it."""
        return path in self._index or path in self._tracked_folders

    def unseen(self) -> Iterator[str]:
        """Give every path that git was told not to look at in the work tree (sparse checkouts)."""
        return (path for path, row in self._index.items() if row.unseen)

    @cached_property
    def _tracked_folders(self) -> frozenset[str]:
        folders: set[str] = set()
        for path in self._index:
            while (path := path.rpartition("/")[0]) and path not in folders:
                folders.add(path)
        return frozenset(folders)

    @cached_property
    def _ignore_files(self) -> IgnoreFiles:
        with translated():
            return ignore_files.of_repository(self._repository, self.top, self._left_out)

    def _left_out(self, path: str) -> bytes | None:
        """Give the bytes of a file that a sparse checkout left out: git reads its index then."""
        row = self._index.get(path)
        return self._object(row.oid) if row is not None and row.unseen else None

    def ignored(self, path: str) -> bool:
        """Tell whether git ignores a path: every `.gitignore` on the way, `info/exclude`, global.

        What git tracks, and a folder that holds such a file, is never ignored.
        """
        return not self.tracks(path) and self._ignore_files.ignored(path)

    def submodules(self) -> Iterator[str]:
        """Give every submodule's path and nothing else of the index."""
        return (path for path, row in self._index.items() if row.mode == SUBMODULE_MODE)

    def submodule(self, path: str) -> TreeEntry:
        """Give a submodule as the index records it."""
        return TreeEntry(path, SUBMODULE_MODE, self._index[path].oid)

    def _object(self, oid: str) -> bytes:
        with translated():
            return self._repository.read(oid)[1]

    def head_entry(self, path: str) -> Entry | None:
        """Give what HEAD's commit holds at a path; `""` is the root tree."""
        with translated():
            return None if self._head is None else self._head.entry(path)

    def head_bytes(self, path: str) -> bytes | None:
        """Give a file of HEAD's commit; None if it holds none at this path below the project."""
        entry = self.head_entry(self.prefix + path)
        return None if entry is None or entry.mode[:3] != "100" else self._object(entry.oid)

    def head_files(self, folder: str = "") -> dict[str, Entry]:
        """Give every file, link and submodule of HEAD's commit below a folder of the project."""
        with translated():
            whole = (self.prefix + folder).rstrip("/")
            return {} if self._head is None else self._head.files(whole)

    def revision(self, skills: str, own: Callable[[str], bool]) -> Revision:
        """Give the state of the project's folder; see `inspect`."""
        if self._head is None:
            return archive("no_commit", "The repository has no commit yet.")
        folder = self.prefix.rstrip("/")
        project = self.head_entry(folder)
        if project is None or project.mode != TREE_MODE:
            return archive("project_not_in_repository", f"HEAD holds no folder {folder!r}.")
        if changes := sorted({*self._changes(own), *self._missing()}):
            return dirty("dirty_source", f"Not as in the commit: {listed(changes)}.")
        path = self.prefix.rstrip("/") if skills == "." else self.prefix + skills
        tree = self.head_entry(path)
        if tree is None or tree.mode != TREE_MODE:
            return dirty("dirty_source", f"HEAD holds no folder {path!r}.")
        return Revision(
            state="clean",
            reason=None,
            commit=self._head.oid,
            skills_tree=tree.oid,
            proof=tuple(self._head.way(path)),
        )

    def _changes(self, own: Callable[[str], bool]) -> Iterator[str]:
        """Give every tracked change and untracked file in the project's folder."""
        for path, flags in self._repository.status(untracked_files="no").items():
            if path.startswith(self.prefix) and flags != 0:
                yield path.removeprefix(self.prefix)
        folder = self.prefix.rstrip("/")
        for path in untracked(self.top, folder, (self._index, self._tracked_folders), self.ignored):
            inner = path.removeprefix(self.prefix)
            if not (is_junk(inner) or own(inner)):
                yield inner
        inside = {p: row for p, row in self._index.items() if p.startswith(self.prefix)}
        for path in git_index.unseen_changes(self._repository, self.top, inside):
            yield path.removeprefix(self.prefix)

    def _missing(self) -> Iterator[str]:
        """Give every file of the commit that the disk lacks, whatever flags the index gives it."""
        for path, entry in self.head_files().items():
            if entry.mode != SUBMODULE_MODE and not self._is_there(path):
                yield path

    def _is_there(self, path: str) -> bool:
        return os.path.lexists(self.project / to_disk(path))

    def inside(self, path: str) -> str | None:
        """Give an absolute path relative to the work tree's top, or None if it lies outside."""
        relative = from_disk(os.path.relpath(path, self.top).replace(os.sep, "/"))
        return None if relative == ".." or relative.startswith("../") else relative

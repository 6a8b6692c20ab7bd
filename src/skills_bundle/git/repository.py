"""Edge: somebody's git repository, read-only: objects by id, and what a name points at.

No hook, filter or program of git's runs, nothing is fetched and nothing is written: libgit2 reads
the object store and no more. Each object is hashed again here, so a broken or patched store is
noticed. As everywhere, a repository of another user's is not opened.
"""

from __future__ import annotations

import re
import shlex
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

from skills_bundle.errors import CheckoutError, Problem, RepositoryUnavailableError
from skills_bundle.formats.digest import git_object_id
from skills_bundle.git import limits
from skills_bundle.git.commit import Commit
from skills_bundle.git.errors import translated

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from pathlib import Path

    import pygit2

    from skills_bundle.git.proof import Entry

_FULL_ID: Final = re.compile("[0-9a-f]{40}")
_PARENT: Final = re.compile(rb"parent ([0-9a-f]{40})")
_KINDS: Final = {1: "commit", 2: "tree", 3: "blob", 4: "tag"}
"""libgit2's numbers of object types."""

_REMEDIES: Final = {
    "not_owner": "if you trust it: `git config --global --add safe.directory {folder}`",
    "unsupported_object_format": "only repositories with SHA-1 ids can be compared",
    "git_unavailable": "mend the repository, or make another clone",
}


class Repository:
    """An opened repository.

    Args:
        repository: As pygit2 opened it.
    """

    def __init__(self, repository: pygit2.Repository) -> None:
        """Keep it; nothing is read before it is asked for."""
        self._repository = repository

    @property
    def path(self) -> str:
        """Where it lies: the work tree, or the repository itself if it is bare."""
        return str(self._repository.workdir or self._repository.path).rstrip("/")

    @property
    def shallow(self) -> bool:
        """Whether it has only the latest part of its history."""
        return self._repository.is_shallow

    def body(self, oid: str) -> bytes:
        """Give the raw body of an object, whatever its kind.

        Raises:
            RepositoryUnavailableError: If it is not there, is not what its id says, or has more
                than `limits.COMMIT_BLOB_MAX_BYTES`.
        """
        return self._object(oid)[1]

    def body_of(self, kind: str, oid: str) -> bytes:
        """Give the raw body of an object that has to be a `commit`, `tree`, `blob` or `tag`.

        Raises:
            RepositoryUnavailableError: As `body`, and if it is of another kind.
        """
        found, body = self._object(oid)
        if found != kind:
            raise self.missing(oid, f"it is a {found}, not a {kind}")
        return body

    def _object(self, oid: str) -> tuple[str, bytes]:
        try:
            self._bound(oid)
            number, body = self._repository.read(oid)
        except (KeyError, ValueError, OSError) as error:
            raise self.missing(oid) from error
        except Exception as error:
            if type(error).__module__.partition(".")[0] not in {"pygit2", "_pygit2"}:
                raise
            raise self.missing(oid, str(error)) from error
        kind = _KINDS[int(number)]
        if git_object_id(kind, body) != oid:
            raise self.missing(oid, "its bytes do not hash to its id")
        return kind, body

    def _bound(self, oid: str) -> None:
        """Look at an object's size first: a few kilobytes of a store can stand for gigabytes."""
        limit = limits.COMMIT_BLOB_MAX_BYTES
        if self._repository.odb.read_header(oid)[1] > limit:
            raise self.unusable(f"holds object {oid}, of more than {limit} bytes")

    def unusable(self, message: str) -> RepositoryUnavailableError:
        """Give the error for something of the repository that git itself would not have made."""
        return unavailable("object_unusable", self.path, message)

    def missing(self, oid: str, cause: str = "") -> RepositoryUnavailableError:
        """Give the error for an object that cannot be had, with what to do about it."""
        if self.shallow:
            remedy = "this clone is shallow: `git fetch --unshallow`"
        else:
            remedy = f"fetch it: `git fetch origin {oid}`; is this the right repository?"
        because = f" ({cause})" if cause else ""
        message = f"does not hold object {oid}{because}; {remedy}"
        return unavailable("object_missing", self.path, message)

    def holds_commit(self, oid: str) -> bool:
        """Tell whether there is a commit of this full id."""
        try:
            self.body_of("commit", oid)
        except RepositoryUnavailableError:
            return False
        return True

    def commit(self, oid: str) -> Commit:
        """Give a commit by its full id.

        Raises:
            RepositoryUnavailableError: If there is no such commit.
        """
        if not self.holds_commit(oid):
            raise self.missing(oid)
        return _RepositoryCommit(oid, self)

    def resolved(self, revision: str) -> str | None:
        """Give the id of the commit that a branch, tag, id or other expression of git's names."""
        import pygit2  # noqa: PLC0415 - a repository is open, so it is imported already

        try:
            found: Any = self._repository.revparse_single(revision)
            return str(found.peel(pygit2.Commit).id)
        except (KeyError, ValueError, OSError, pygit2.GitError):
            return None

    def ref(self, name: str) -> str | None:
        """Give the id of the commit that a full ref name points at, tags peeled; None if none.

        The name comes from an archive: it is looked up as it is, never read as an expression.
        """
        import pygit2  # noqa: PLC0415 - a repository is open, so it is imported already

        if not name.startswith("refs/"):
            return None
        try:
            return str(self._repository.lookup_reference(name).peel(pygit2.Commit).id)
        except (KeyError, ValueError, OSError, pygit2.GitError):
            return None

    def tags(self) -> Iterator[tuple[str, str]]:
        """Give every tag as (full ref name, id of the object it names, unpeeled).

        One that cannot be read, or is only another name of a ref, is passed over.
        """
        import pygit2  # noqa: PLC0415 - a repository is open, so it is imported already

        for name in self._repository.references:
            if name.startswith("refs/tags/"):
                with suppress(KeyError, ValueError, OSError, pygit2.GitError):
                    target = str(self._repository.references[name].target)
                    if is_full_id(target):
                        yield name, target


class _RepositoryCommit(Commit):
    """A commit whose objects have to be of the kinds that it says; git checks no more."""

    def __init__(self, oid: str, repository: Repository) -> None:
        super().__init__(oid, repository.body)
        self._repository = repository

    def tree(self, oid: str) -> dict[str, Entry]:
        """Give the rows of a tree by name.

        Raises:
            RepositoryUnavailableError: If there is no such tree, or its rows fall apart.
        """
        if oid not in self._trees:
            self._repository.body_of("tree", oid)
        with self._usable(f"tree {oid}"):
            return super().tree(oid)

    def root(self) -> Entry:
        """Give the root tree.

        Raises:
            RepositoryUnavailableError: If the commit names none.
        """
        with self._usable(f"object {self.oid}"):
            return super().root()

    def data(self, oid: str) -> bytes:
        """Give the bytes of a blob.

        Raises:
            RepositoryUnavailableError: If there is no such blob.
        """
        return self._repository.body_of("blob", oid)

    def files(self, folder: str = "") -> dict[str, Entry]:
        """Give every file, link and submodule below a folder, by path below it.

        Raises:
            RepositoryUnavailableError: If there are too many, or a tree cannot be read.
        """
        with self._usable(f"commit {self.oid}"):
            return super().files(folder)

    @contextmanager
    def _usable(self, what: str) -> Generator[None]:
        try:
            yield
        except ValueError as error:
            raise self._repository.unusable(f"holds {what}, which {error}") from error


def parents(commit: bytes) -> list[str]:
    """Give the ids of a raw commit's parents."""
    head = commit.partition(b"\n\n")[0]
    rows = (_PARENT.fullmatch(line) for line in head.split(b"\n"))
    return [row[1].decode() for row in rows if row is not None]


def is_full_id(text: str) -> bool:
    """Tell whether a text is a whole object id."""
    return _FULL_ID.fullmatch(text) is not None


def unavailable(code: str, path: str, message: str) -> RepositoryUnavailableError:
    """Give the error for a repository that cannot answer."""
    problem = Problem(code=code, message=message, path=path)
    return RepositoryUnavailableError("The repository cannot answer.", (problem,))


def open_repository(folder: Path) -> Repository:
    """Open the repository that a folder is, or lies in; a work tree or a bare one.

    Raises:
        RepositoryUnavailableError: If there is none, or it cannot be read; with what to do.
    """
    with _told(folder):
        import pygit2  # noqa: PLC0415 - takes 0.1 s; only commands that open a repository need it

        found = pygit2.discover_repository(str(folder.resolve()))
        if found is None:
            raise CheckoutError("is no git repository", reason="not_git_source")
        return Repository(pygit2.Repository(found))


@contextmanager
def _told(folder: Path) -> Generator[None]:
    """Tell git's refusals as problems of this folder, with a remedy."""
    try:
        with translated():
            yield
    except CheckoutError as error:
        remedy = _REMEDIES.get(error.reason, "name the folder of a clone with --repo")
        remedy = remedy.format(folder=shlex.quote(str(folder.resolve())))
        message = f"{error.summary.rstrip('.')}; {remedy}"
        raise unavailable(error.reason, str(folder), message) from error

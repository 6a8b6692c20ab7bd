"""Edge: a git repository, read-only through pygit2: its objects, index, ignore rules and names.

No hook, filter or program of git's runs, nothing is fetched and nothing is written. Each object is
hashed again here, so a broken or patched object store is noticed. The environment's `GIT_*`
variables have no influence: what ships depends on where the project lies.

libgit2 refuses a repository that belongs to another user, since its configuration could run that
user's programs. That check stays on and is reported as `not_owner`. To trust the folder, run
`git config --global --add safe.directory FOLDER`; libgit2 honours it.

pygit2 is imported when there is a repository to open and not before: it takes 0.1 s.
"""

from __future__ import annotations

import os
import re
import shlex
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from skills_bundle.errors import (
    CheckoutError,
    Problem,
    RepositoryUnavailableError,
    SkillsBundleError,
)
from skills_bundle.files.paths import from_disk, parents
from skills_bundle.formats.digest import TreeEntry, git_object_id
from skills_bundle.git import limits
from skills_bundle.git.commit import SUBMODULE_MODE, Commit, Entry, commit_tree, tree_entries

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Mapping

    import pygit2

    from skills_bundle.git.proof import Reason

SDIST_MARK: Final = "PKG-INFO"
"""Every sdist has this file at its root; a checkout has not."""

_FULL_ID: Final = re.compile("[0-9a-f]{40}")
_KINDS: Final = {1: "commit", 2: "tree", 3: "blob", 4: "tag"}
"""libgit2's numbers of object types."""
_FILTERS: Final = ("filter", "working-tree-encoding")
"""Attributes with which git itself converts a file, and libgit2 does not."""

_REMEDIES: Final = {
    "not_owner": "if you trust it: `git config --global --add safe.directory {folder}`",
    "unsupported_object_format": "only repositories with SHA-1 ids can be compared",
    "git_unavailable": "repair the repository, or make another clone",
}


@contextmanager
def git_errors() -> Generator[None]:
    """Turn what pygit2 raises (GitError, KeyError, ValueError, OSError) into CheckoutError.

    Raises:
        CheckoutError: With the reason code. An error that is neither git's nor the system's is not
            caught.
    """
    try:
        yield
    except ImportError as error:
        message = f"pygit2 cannot be imported: {error}"
        raise CheckoutError(message, reason="git_unavailable") from error
    except SkillsBundleError:
        raise
    except Exception as error:
        if not _is_git_error(error):
            raise
        raise CheckoutError(str(error), reason=reason_of(str(error))) from error


@contextmanager
def checkout_errors() -> Generator[None]:
    """Turn any error that prevents reading a checkout into CheckoutError, as `git_errors` does."""
    try:
        with git_errors():
            yield
    except RepositoryUnavailableError as error:
        message = "; ".join(problem.message for problem in error.problems)
        raise CheckoutError(message, reason="git_unavailable") from error


def _is_git_error(error: Exception) -> bool:
    raised_by = type(error).__module__.partition(".")[0]
    return isinstance(error, OSError | ValueError | KeyError) or raised_by in {"pygit2", "_pygit2"}


def reason_of(message: str) -> Reason:
    """Return the reason code for a refusal of libgit2's; its error codes are all the same."""
    if "not owned by current user" in message:
        return "not_owner"
    if "object format" in message:
        return "unsupported_object_format"
    return "git_unavailable"


def repository_folder(project: Path) -> Path | None:
    """Return the nearest folder that holds a `.git`, the project's or one above it."""
    project = project.resolve()
    folders = (project, *project.parents)
    return next((folder for folder in folders if is_repository(folder / ".git")), None)


def is_repository(place: Path) -> bool:
    """Return whether a `.git` is there and is not an empty folder, which git ignores as well."""
    try:
        return any(place.iterdir())
    except NotADirectoryError:
        return True
    except OSError:
        return os.path.lexists(place)


def has_repository(project: Path) -> bool:
    """Return whether a folder lies in a git checkout; does not need pygit2.

    An unpacked sdist does not, wherever it lies: it is not part of that repository.
    """
    return not (project / SDIST_MARK).exists() and repository_folder(project) is not None


def is_full_id(text: str) -> bool:
    """Return whether a text is a whole object id."""
    return _FULL_ID.fullmatch(text) is not None


def unavailable(code: str, path: str, message: str) -> RepositoryUnavailableError:
    """Return the error for a repository that lacks what is asked of it."""
    problem = Problem(code=code, message=message, path=path)
    return RepositoryUnavailableError("The repository cannot be read.", (problem,))


class Repository:
    """An opened repository: its objects by id, and what branches and tags point at.

    Args:
        repository: As pygit2 opened it.
    """

    def __init__(self, repository: pygit2.Repository) -> None:
        """Keep it; nothing is read yet."""
        self._repository = repository

    @property
    def path(self) -> str:
        """The work tree, or the repository itself if it is bare."""
        return str(self._repository.workdir or self._repository.path).rstrip("/")

    @property
    def shallow(self) -> bool:
        """Whether it has only the latest part of its history."""
        return self._repository.is_shallow

    def read(self, kind: str, oid: str) -> bytes:
        """Return the raw body of an object.

        Args:
            kind: `commit`, `tree`, `blob` or `tag`.
            oid: Full id.

        Raises:
            RepositoryUnavailableError: If there is no such object of this kind, its bytes do not
                hash to its id or are not in git's form, or it has more than
                `limits.COMMIT_BLOB_MAX_BYTES`.
        """
        found, body = self._object(oid)
        if git_object_id(found, body) != oid:
            raise self._missing(oid, "its bytes do not hash to its id")
        if found != kind:
            raise self._missing(oid, f"it is a {found}, not a {kind}")
        try:
            if kind == "tree":
                tree_entries(body)
            elif kind == "commit":
                commit_tree(body)
        except ValueError as error:
            raise self._unusable(f"contains object {oid}, which {error}") from error
        return body

    def _object(self, oid: str) -> tuple[str, bytes]:
        limit = limits.COMMIT_BLOB_MAX_BYTES
        try:
            # The size first: a few kilobytes of an object store can unpack to gigabytes.
            if self._repository.odb.read_header(oid)[1] <= limit:
                number, body = self._repository.read(oid)
                return _KINDS[int(number)], body
        except Exception as error:
            if not _is_git_error(error):
                raise
            raise self._missing(oid, "" if isinstance(error, KeyError) else str(error)) from error
        raise self._unusable(f"contains object {oid}, which has more than {limit} bytes")

    def _unusable(self, message: str) -> RepositoryUnavailableError:
        return unavailable("object_unusable", self.path, message)

    def _missing(self, oid: str, cause: str = "") -> RepositoryUnavailableError:
        if self.shallow:
            remedy = "this clone is shallow: `git fetch --unshallow`"
        else:
            remedy = f"fetch it: `git fetch origin {oid}`; is this the right repository?"
        because = f" ({cause})" if cause else ""
        message = f"does not contain object {oid}{because}; {remedy}"
        return unavailable("object_missing", self.path, message)

    def absent(self, rows: Mapping[str, str]) -> dict[str, str]:
        """Return the rows whose object is missing, of any kind; nothing is read.

        Args:
            rows: Object ids by path.
        """
        store = self._repository.odb
        return {path: oid for path, oid in rows.items() if not store.exists(oid)}

    def fetch_command(self, oids: Iterable[str]) -> str:
        """Return the one command that fetches objects that a partial clone left out."""
        words = ("git", "-C", self.path, "fetch", "origin", *sorted(set(oids)))
        return shlex.join(words)

    def require(self, rows: Mapping[str, str]) -> None:
        """Raise if objects are missing, with all of them and the command that fetches them.

        Args:
            rows: Object ids by path in a commit.

        Raises:
            RepositoryUnavailableError: If there is no such object in the repository.
        """
        absent = self.absent(rows)
        if not absent:
            return
        command = self.fetch_command(absent.values())
        message = f"lacks objects of the commit; fetch them: `{command}`"
        problems = (
            Problem(code="object_missing", message=message, path=self.path),
            *(
                Problem(code="object_missing", message=f"object {oid} is missing", path=path)
                for path, oid in absent.items()
            ),
        )
        raise RepositoryUnavailableError("The repository lacks objects of the commit.", problems)

    def holds_commit(self, oid: str) -> bool:
        """Return whether there is a commit of this full id."""
        try:
            self.read("commit", oid)
        except RepositoryUnavailableError:
            return False
        return True

    def commit(self, oid: str) -> Commit:
        """Return a commit by its full id.

        Raises:
            RepositoryUnavailableError: If there is no such commit.
        """
        self.read("commit", oid)
        return Commit(oid, self.read)

    def resolved(self, revision: str) -> str | None:
        """Return the id of the commit that a branch, tag, id or other git expression names."""
        return self._commit_id(self._repository.revparse_single, revision)

    def ref(self, name: str) -> str | None:
        """Return the id of the commit that a full ref name points at, tags peeled; None if none.

        The name comes from an archive: it is looked up as a name, never read as an expression.
        """
        if not name.startswith("refs/"):
            return None
        return self._commit_id(self._repository.lookup_reference, name)

    def _commit_id(self, look_up: Callable[[str], Any], name: str) -> str | None:
        import pygit2  # noqa: PLC0415 - a repository is open, so it is imported already

        try:
            return str(look_up(name).peel(pygit2.Commit).id)
        except (KeyError, ValueError, OSError, pygit2.GitError):
            return None

    def tags(self) -> Iterator[tuple[str, str]]:
        """Iterate over the tags as (full ref name, id of the object it names, unpeeled).

        One that cannot be read, or is only another name of a ref, is left out.
        """
        import pygit2  # noqa: PLC0415 - a repository is open, so it is imported already

        for name in self._repository.references:
            if name.startswith("refs/tags/"):
                with suppress(KeyError, ValueError, OSError, pygit2.GitError):
                    target = str(self._repository.references[name].target)
                    if is_full_id(target):
                        yield name, target


def _discovered(folder: Path) -> str:
    """Return the git folder of the repository that a folder is, or lies in."""
    import pygit2  # noqa: PLC0415 - imported by the caller

    found = pygit2.discover_repository(str(folder.resolve()))
    if found is None:
        raise CheckoutError("is not a git repository", reason="not_git_source")
    return found


def open_repository(folder: Path) -> Repository:
    """Open the repository that a folder is, or lies in; a work tree or a bare one.

    Raises:
        RepositoryUnavailableError: If there is none, or it cannot be read; with a remedy.
    """
    try:
        with git_errors():
            import pygit2  # noqa: PLC0415 - takes 0.1 s; only some commands open a repository

            return Repository(pygit2.Repository(_discovered(folder)))
    except CheckoutError as error:
        remedy = _REMEDIES.get(error.reason, "name the folder of a clone with --repo")
        remedy = remedy.format(folder=shlex.quote(str(folder.resolve())))
        message = f"{error.summary.rstrip('.')}; {remedy}"
        raise unavailable(error.reason, str(folder), message) from error


class Checkout(Repository):
    """A repository with a work tree that holds a project; its index, ignore rules and HEAD.

    Paths are relative to the work tree's top, unless said otherwise.

    Args:
        repository: As pygit2 opened it.
        project: The project's folder, resolved.

    Raises:
        CheckoutError: If the project does not lie in the repository's work tree.
    """

    def __init__(self, repository: pygit2.Repository, project: Path) -> None:
        """Find the project in the work tree and read the index once."""
        super().__init__(repository)
        workdir = repository.workdir
        top = Path(workdir).resolve() if workdir else None
        if top is None or not project.is_relative_to(top):
            message = f"{project} is not in the work tree of {repository.path}."
            raise CheckoutError(message, reason="project_not_in_repository")
        self.top = top
        self.project = project
        relative = from_disk(project.relative_to(top).as_posix())
        self.prefix = "" if relative == "." else f"{relative}/"
        rows: Any = repository.index  # pygit2 leaves the type of its rows open
        self.index: dict[str, Entry] = {
            from_disk(row.path): Entry(f"{int(row.mode):o}", str(row.id)) for row in rows
        }
        """Mode and object id of every tracked path."""
        self._ignored_folders: dict[str, bool] = {}

    @cached_property
    def head(self) -> Commit | None:
        """HEAD's commit; None before the first one."""
        with checkout_errors():
            unborn = self._repository.head_is_unborn
            return None if unborn else self.commit(str(self._repository.head.target))

    def config_flag(self, name: str, *, default: bool) -> bool:
        """Return a boolean of git's configuration, such as `core.fileMode`."""
        with checkout_errors():
            config = self._repository.config
            return config.get_bool(name) if name in config else default

    @cached_property
    def _tracked_folders(self) -> frozenset[str]:
        return frozenset(folder for path in self.index for folder in parents(path))

    def tracks(self, path: str) -> bool:
        """Return whether the index holds a path, or anything below it."""
        return path in self.index or path in self._tracked_folders

    def ignored(self, path: str) -> bool:
        """Return whether git ignores a path: by any `.gitignore`, `info/exclude` or the user's own.

        What git tracks, and a folder that holds such a file, is never ignored. What lies in an
        ignored folder is, regardless of later patterns: libgit2 alone would look there.
        """
        if self.tracks(path):
            return False
        return any(map(self._ignores_folder, parents(path))) or self._ignores(path)

    def _ignores_folder(self, folder: str) -> bool:
        if folder not in self._ignored_folders:
            self._ignored_folders[folder] = self._ignores(f"{folder}/")
        return self._ignored_folders[folder]

    def _ignores(self, path: str) -> bool:
        with checkout_errors(), suppress(UnicodeEncodeError):  # pygit2 takes UTF-8 here
            return self._repository.path_is_ignored(path)
        return False

    def submodules(self) -> tuple[TreeEntry, ...]:
        """Return every submodule, with the commit that the index records."""
        return tuple(
            TreeEntry(path, row.mode, row.oid)
            for path, row in self.index.items()
            if row.mode == SUBMODULE_MODE
        )

    def head_entry(self, path: str) -> Entry | None:
        """Return what HEAD's commit holds at a path; `""` is the root tree."""
        with checkout_errors():
            return None if self.head is None else self.head.entry(path)

    def head_bytes(self, path: str) -> bytes | None:
        """Return a file of HEAD's commit by its path below the project; None if there is none."""
        entry = self.head_entry(self.prefix + path)
        if self.head is None or entry is None or not entry.mode.startswith("100"):
            return None
        with checkout_errors():
            return self.head.data(entry.oid)

    def head_files(self, folder: str = "") -> dict[str, Entry]:
        """Return every file, link and submodule of HEAD's commit below a folder of the project."""
        with checkout_errors():
            whole = (self.prefix + folder).rstrip("/")
            return {} if self.head is None else self.head.files(whole)

    def changes(self) -> Iterator[str]:
        """Iterate over tracked paths that git says were changed, staged or not."""
        with checkout_errors():
            for path, flags in self._repository.status(untracked_files="no").items():
                if flags != 0:
                    yield path

    def blob_id(self, place: Path) -> str:
        """Return the id of the blob that git would make of a file, line ends converted."""
        with checkout_errors():
            return str(self._repository.hashfile(str(place)))

    def is_filtered(self, path: str) -> bool:
        """Return whether git, but not libgit2, converts a file (as for Git LFS)."""
        with checkout_errors(), suppress(UnicodeEncodeError):  # pygit2 takes UTF-8 here
            found = (self._repository.get_attr(path, name) for name in _FILTERS)
            return any(isinstance(value, str) for value in found)
        return False

    def inside(self, path: str) -> str | None:
        """Return an absolute path relative to the work tree's top, or None if it lies outside."""
        relative = from_disk(os.path.relpath(path, self.top).replace(os.sep, "/"))
        return None if relative == ".." or relative.startswith("../") else relative


def open_checkout(project: Path) -> Checkout:
    """Open the repository a project lies in.

    A project in a folder that the repository ignores (in a home folder under git, say) is not part
    of that repository.

    Raises:
        CheckoutError: With the reason code, if there is none or it cannot be read.
    """
    if not has_repository(project):
        raise CheckoutError("The project is not in a git checkout.", reason="not_git_source")
    with git_errors():
        import pygit2  # noqa: PLC0415 - takes 0.1 s; only builds inside a checkout need it

        found = pygit2.discover_repository(str(project.resolve()))
        top = repository_folder(project) or project
        if found is None or not _belongs_to(top, Path(found)):
            message = "The project's .git is not a readable git repository."
            raise CheckoutError(message, reason="git_unavailable")
        # By its work tree: `found` may lie anywhere, and does not know the work tree.
        checkout = Checkout(pygit2.Repository(str(top)), project.resolve())
        folder = checkout.prefix.rstrip("/")
        if folder and checkout.ignored(folder):
            message = f"The repository around the project ignores {folder}."
            raise CheckoutError(message, reason="project_not_in_repository")
        return checkout


def _belongs_to(folder: Path, found: Path) -> bool:
    """Return whether a repository is the one of a folder's `.git`, and not one further up."""
    git = folder / ".git"
    return not git.is_dir() or git.resolve() == found.resolve()

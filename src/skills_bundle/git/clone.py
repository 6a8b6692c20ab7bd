"""Edge: a clone of one commit of a repository, in a new folder, for a build to run in.

The clone shares nothing with the repository it comes from: objects are copied, not linked. It has
the commit's files, byte for byte (no filter, no conversion of line ends), its history without the
files of earlier commits, and the tags on that history, since version tools read those. No hook
runs and no submodule is fetched.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from skills_bundle.errors import RepositoryUnavailableError
from skills_bundle.formats.digest import TREE_MODE
from skills_bundle.git import limits
from skills_bundle.git.commit import SUBMODULE_MODE, commit_parents
from skills_bundle.git.repository import git_errors

if TYPE_CHECKING:
    import pygit2

    from skills_bundle.git.commit import Commit
    from skills_bundle.git.repository import Repository

_CONFIG: Final = {"core.autocrlf": "false", "core.eol": "lf", "core.fsmonitor": "false"}
_ATTRIBUTES: Final = "* -text -ident -filter -working-tree-encoding\n"
"""Overrides every `.gitattributes`: each file is its blob."""
_NUMBERS: Final = {"commit": 1, "tree": 2, "blob": 3, "tag": 4}


def clone(repository: Repository, commit: Commit, folder: Path) -> None:
    """Check a commit out in a new folder.

    Args:
        repository: Where it comes from; it is only read.
        commit: The commit.
        folder: Created here; it must not exist.

    Raises:
        RepositoryUnavailableError: If the repository lacks an object of the commit.
        CheckoutError: If git's library cannot write the clone or a file of it.
    """
    with git_errors():
        import pygit2  # noqa: PLC0415 - the repository is open, so it is imported already

        made = pygit2.init_repository(folder)
        for name, value in _CONFIG.items():
            made.config[name] = value
        attributes = folder / ".git/info/attributes"
        attributes.parent.mkdir(exist_ok=True)
        attributes.write_text(_ATTRIBUTES, encoding="ascii")
        _copy_files(repository, commit, made)
        commits, without_parents = _copy_history(repository, commit.oid, made)
        if without_parents:
            text = "".join(f"{oid}\n" for oid in sorted(without_parents))
            (folder / ".git/shallow").write_text(text, encoding="ascii")
        _copy_tags(repository, commits, made)
        files: Any = made  # pygit2 leaves the types of this method open
        files.checkout_tree(made[commit.oid], strategy=pygit2.enums.CheckoutStrategy.FORCE)
        made.set_head(pygit2.Oid(hex=commit.oid))


def _write(made: pygit2.Repository, kind: str, body: bytes) -> None:
    odb: Any = made.odb
    odb.write(_NUMBERS[kind], body)


def _copy_files(repository: Repository, commit: Commit, made: pygit2.Repository) -> None:
    """Copy every tree and blob of the commit."""
    files = commit.files()  # refuses a commit that describes more files than any disk holds
    repository.require({p: row.oid for p, row in files.items() if row.mode != SUBMODULE_MODE})
    waiting, done = [commit.root()], set[str]()
    while waiting:
        entry = waiting.pop()
        if entry.oid in done or entry.mode == SUBMODULE_MODE:
            continue
        done.add(entry.oid)
        if entry.mode == TREE_MODE:
            _write(made, "tree", repository.read("tree", entry.oid))
            waiting += commit.tree(entry.oid).values()
        else:
            _write(made, "blob", repository.read("blob", entry.oid))


def _copy_history(
    repository: Repository, oid: str, made: pygit2.Repository
) -> tuple[set[str], list[str]]:
    """Copy the commit and those before it, without their files; newest first, up to a limit.

    Returns:
        The copied commits, and those of them whose parents were not copied.
    """
    waiting, done, without_parents = [oid], set[str](), list[str]()
    for current in waiting:
        if current in done:
            continue
        done.add(current)
        body = repository.read("commit", current)
        _write(made, "commit", body)
        above = commit_parents(body)
        room = len(done) + len(waiting) < limits.REBUILD_MAX_HISTORY
        if room and all(map(repository.holds_commit, above)):
            waiting += above
        else:
            without_parents.append(current)
    return done, without_parents


def _copy_tags(repository: Repository, commits: set[str], made: pygit2.Repository) -> None:
    """Copy the tags of these commits, annotated ones with their message.

    They are written as git packs them: a repository may have a hundred thousand.
    """
    rows: list[str] = []
    for name, oid in repository.tags():
        if any(character.isspace() for character in name):  # git makes no such name
            continue
        if oid in commits:
            rows.append(f"{oid} {name}\n")
            continue
        try:
            body = repository.read("tag", oid)
        except RepositoryUnavailableError:  # of another history, and not in this repository
            continue
        target = body[:47].removeprefix(b"object ").decode("ascii", "replace")
        if body.startswith(b"object ") and target in commits:
            _write(made, "tag", body)
            rows.append(f"{oid} {name}\n")
    packed = "".join(rows).encode("utf-8", "surrogateescape")
    Path(made.path, "packed-refs").write_bytes(packed)

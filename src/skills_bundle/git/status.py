"""Edge: how a project's folder, or one file of it, compares with the commit that HEAD names.

A folder is dirty if a tracked file was changed (staged or not) or a file of the commit is missing.
Every file of the commit is hashed here: git's own status skips files that it was told not to look
at (`--assume-unchanged`, `--skip-worktree`). Files that git does not track are compared one by one
by the build, if they ship or decide something; others make nothing dirty.

A project may ship a file through a symbolic link, as `LICENSE -> ../../LICENSE` in a repository of
several projects. A link is followed only if the commit holds that very link, and its target is
compared with the commit; so a link cannot bring in what was never committed.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias, cast

from skills_bundle.errors import CheckoutError
from skills_bundle.files.paths import shown, to_disk
from skills_bundle.formats.digest import TREE_MODE, git_blob_id, git_object_id
from skills_bundle.formats.limits import MIB
from skills_bundle.git import limits
from skills_bundle.git.commit import FILE_MODES, LINK_MODE, SUBMODULE_MODE, Entry
from skills_bundle.git.proof import Revision, archive, dirty
from skills_bundle.git.repository import checkout_errors, open_checkout

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from skills_bundle.git.proof import Reason
    from skills_bundle.git.repository import Checkout

Place: TypeAlias = Literal["committed", "tracked", "untracked", "ignored", "outside"]


def listed(names: Sequence[str]) -> str:
    """Return a few of many names, for one line of a build log."""
    few = ", ".join(map(shown, names[: limits.BUILD_PROBLEMS_SHOWN]))
    more = len(names) - limits.BUILD_PROBLEMS_SHOWN
    return f"{few} and {more} more" if more > 0 else few


def inspect(project: Path, skills: str) -> Revision:
    """Compare a project's folder with the commit that HEAD names.

    Only the project's folder counts: in a repository of several projects, work on another one
    changes nothing here. Files that ship from outside the folder are compared one by one by the
    build.

    Args:
        project: The folder of `pyproject.toml`.
        skills: The skills folder, relative to it.

    Returns:
        What was found. A repository that cannot be read gives an `archive` revision with the
        reason, not an error.
    """
    try:
        with checkout_errors():
            return _revision(open_checkout(project), skills)
    except CheckoutError as error:
        return archive(cast("Reason", error.reason), error.summary)


def _revision(checkout: Checkout, skills: str) -> Revision:
    if checkout.head is None:
        return archive("no_commit", "The repository has no commit yet.")
    folder = checkout.prefix.rstrip("/")
    project = checkout.head_entry(folder)
    if project is None or project.mode != TREE_MODE:
        return archive("project_not_in_repository", f"HEAD contains no folder {folder!r}.")
    if changes := sorted({*_changes(checkout)}):
        return dirty("dirty_source", f"Different from the commit: {listed(changes)}.")
    path = folder if skills == "." else checkout.prefix + skills
    tree = checkout.head_entry(path)
    if tree is None or tree.mode != TREE_MODE:
        return dirty("dirty_source", f"HEAD contains no folder {path!r}.")
    return Revision(
        state="clean",
        reason=None,
        commit=checkout.head.oid,
        skills_tree=tree.oid,
        proof=tuple(checkout.head.objects_to(path)),
    )


def _changes(checkout: Checkout) -> Iterator[str]:
    """Iterate over changed files of the project, by path below it."""
    for path in checkout.changes():
        if path.startswith(checkout.prefix):
            yield path.removeprefix(checkout.prefix)
    for path, entry in checkout.head_files().items():
        if entry.mode != SUBMODULE_MODE and _differs(checkout, path, entry):
            yield path


def _differs(checkout: Checkout, path: str, entry: Entry) -> bool:
    """Return whether a file on disk differs from the commit's in kind or content.

    Args:
        checkout: The repository.
        path: Below the project.
        entry: What the commit holds there: a file or a link.
    """
    place = checkout.project / to_disk(path)
    try:
        mode = place.lstat().st_mode
    except OSError:
        return True
    if stat.S_ISLNK(mode):
        return entry != Entry(LINK_MODE, link_blob(place))
    return not (stat.S_ISREG(mode) and _same_content(checkout, checkout.prefix + path, entry))


def _same_content(checkout: Checkout, path: str, entry: Entry) -> bool:
    """Return whether a regular file on disk is what git would check out for an entry."""
    place = checkout.top / to_disk(path)
    with place.open("rb") as file:
        chunks = iter(lambda: file.read(MIB), b"")
        same = git_blob_id(os.fstat(file.fileno()).st_size, chunks) == entry.oid
    if entry.mode == LINK_MODE:  # where links are not supported, git writes their targets to files
        return same and not checkout.config_flag("core.symlinks", default=True)
    # For what git itself filters there is git's own status only.
    return same or checkout.blob_id(place) == entry.oid or checkout.is_filtered(path)


def link_blob(link: Path) -> str:
    """Return the id of the blob in which git keeps a link's target."""
    return git_object_id("blob", os.fsencode(link.readlink().as_posix()))


@dataclass(frozen=True, slots=True)
class FileStatus:
    """What git knows about one file.

    Attributes:
        place: `committed` if the commit holds it; `tracked` if the index does but the commit does
            not (or it lies in a submodule); `untracked`; `ignored`; or `outside` the repository.
        entry: The commit's mode and blob id; only for `committed`.
    """

    place: Place
    entry: Entry | None = None


def file_status(checkout: Checkout, path: str) -> FileStatus:
    """Return what git knows about a file, through links that the commit holds.

    Args:
        checkout: The repository around the project.
        path: Absolute, below the checkout's resolved folder or elsewhere.
    """
    spelled = checkout.inside(path)
    if spelled is None:
        return FileStatus("outside")
    for _ in range(limits.LINKS_MAX_FOLLOWED):
        link = _first_link(checkout, spelled)
        if link is None:
            return _status_without_links(checkout, spelled)
        place = checkout.top / to_disk(link)
        if checkout.head_entry(link) != Entry(LINK_MODE, link_blob(place)):
            return uncommitted_status(checkout, link)
        rest = spelled.removeprefix(link).removeprefix("/")
        inside = checkout.inside(os.path.normpath(place.parent / place.readlink() / to_disk(rest)))
        if inside is None:
            break
        spelled = inside
    return FileStatus("outside")


def _status_without_links(checkout: Checkout, path: str) -> FileStatus:
    entry = checkout.head_entry(path)
    if entry is not None and entry.mode.startswith(FILE_MODES):
        return FileStatus("committed", entry)
    return uncommitted_status(checkout, path)


def _first_link(checkout: Checkout, path: str) -> str | None:
    """Return the outermost part of a path that is a link on disk."""
    done = ""
    for name in path.split("/"):
        done = f"{done}/{name}" if done else name
        if (checkout.top / to_disk(done)).is_symlink():
            return done
    return None


def uncommitted_status(checkout: Checkout, path: str) -> FileStatus:
    """Return what git knows about a file that is not in the commit.

    Args:
        checkout: The repository around the project.
        path: Relative to the work tree's top.
    """
    in_submodule = any(path.startswith(f"{row.path}/") for row in checkout.submodules())
    if path in checkout.index or in_submodule:
        return FileStatus("tracked")
    return FileStatus("ignored" if checkout.ignored(path) else "untracked")

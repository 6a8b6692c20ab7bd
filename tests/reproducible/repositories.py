"""Edge: what a repository is like around the same commit."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from tests.reproducible.room import git
from tests.reproducible.rows import Variation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.reproducible.room import Room


def variations() -> Iterator[Variation]:
    """Return all of them."""
    for name, options in CLONES.items():
        yield Variation(group="repository", name=name, build=partial(cloned, options))
    for name, change in CHANGES.items():
        yield Variation(group="repository", name=name, build=partial(changed, change))
    for name, build in OTHERS.items():
        yield Variation(group="repository", name=name, build=build)
    yield Variation(
        group="line ends",
        name="autocrlf = input",
        build=partial(cloned, ("-c", "core.autocrlf=input")),
    )


CLONES: Final[dict[str, tuple[str, ...]]] = {
    "without hard links": ("--no-hardlinks",),
    "objects shared": ("--shared",),
    "git folder elsewhere": ("--separate-git-dir", "elsewhere"),
    "no tags, one branch": ("--no-tags", "--single-branch"),
}


def cloned(options: tuple[str, ...], room: Room) -> None:
    """Clone with options of git."""
    room.build(room.clone("project", *options))


def changed(change: Callable[[Path], None], room: Room) -> None:
    """Build after changing what surrounds the commit."""
    project = room.clone()
    change(project)
    room.build(project)


def refs(project: Path) -> None:
    """Add branches, tags and notes; detach HEAD; forget the remote."""
    git(project, "branch", "other")
    git(project, "tag", "v99.0")
    git(project, "tag", "-a", "-m", "annotated", "v98.0")
    git(project, "notes", "add", "-m", "a note")
    git(project, "checkout", "--quiet", "--detach")
    git(project, "remote", "remove", "origin")


def packed(project: Path) -> None:
    """Pack objects and refs."""
    git(project, "gc", "--quiet", "--aggressive")
    git(project, "pack-refs", "--all")
    git(project, "commit-graph", "write")


def loose(project: Path) -> None:
    """Unpack every object."""
    packs = project / ".git/objects/pack"
    for pack in [*packs.glob("*.pack")]:
        moved = project / ".git" / pack.name
        pack.rename(moved)
        with moved.open("rb") as file:
            _unpack(project, file.fileno())


def _unpack(project: Path, descriptor: int) -> None:
    import subprocess  # noqa: PLC0415 - the only command that reads standard input

    command = ["git", "unpack-objects", "-q"]
    subprocess.run(command, cwd=project, stdin=descriptor, check=True)


def stale_index(project: Path) -> None:
    """Have every file newer than the index knows."""
    for path in project.rglob("*"):
        if path.is_file() and ".git" not in path.relative_to(project).parts:
            path.touch()


def hooks(project: Path) -> None:
    """Have hooks and aliases that would leave a trace if anything ran them."""
    for name in ("post-checkout", "fsmonitor-watchman", "post-index-change"):
        hook = project / ".git/hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text('#!/bin/sh\ntouch "$(dirname "$0")/../../ran"\n', encoding="utf-8")
        hook.chmod(0o755)
    git(project, "config", "core.fsmonitor", ".git/hooks/fsmonitor-watchman")


CHANGES: Final[dict[str, Callable[[Path], None]]] = {
    "more branches, tags and notes, HEAD detached, no remote": refs,
    "packed": packed,
    "loose objects": loose,
    "index of version 4": lambda project: _git(project, "update-index", "--index-version", "4"),
    "untracked cache": lambda project: _git(project, "update-index", "--untracked-cache"),
    "every file touched": stale_index,
    "hooks and a file monitor": hooks,
}


def _git(project: Path, *arguments: str) -> None:
    git(project, *arguments)


def shallow(room: Room) -> None:
    """Have no history."""
    url = room.subject.origin.as_uri()
    git(room.folder, "clone", "--quiet", "--depth=1", url, "project")
    room.build(room.folder / "project")


def without_blobs(room: Room) -> None:
    """Have fetched only the blobs that are checked out."""
    git(room.subject.origin, "config", "uploadpack.allowFilter", "true")
    url = room.subject.origin.as_uri()
    git(room.folder, "clone", "--quiet", "--filter=blob:none", url, "project")
    room.build(room.folder / "project")


def worktree(room: Room) -> None:
    """Be a second work tree, whose `.git` is a file."""
    first = room.clone("first")
    git(first, "worktree", "add", "--quiet", "--detach", str(room.folder / "project"))
    room.build(room.folder / "project")


def submodule(room: Room) -> None:
    """Be a submodule of another repository."""
    around = room.folder / "around"
    git(room.folder, "init", "--quiet", str(around))
    git(around, "submodule", "--quiet", "add", str(room.subject.origin), "project")
    room.build(around / "project")


def bundle(room: Room) -> None:
    """Be cloned from a bundle file."""
    file = room.folder / "all.bundle"
    git(room.subject.origin, "bundle", "create", "--quiet", str(file), "HEAD", "--all")
    git(room.folder, "clone", "--quiet", str(file), "project")
    room.build(room.folder / "project")


def replaced_elsewhere(room: Room) -> None:
    """Have a replacement for a commit that is not HEAD's, and a graft."""
    project = room.clone()
    tree = git(project, "rev-parse", "HEAD^{tree}").strip()
    other = git(project, "commit-tree", "-m", "other", tree).strip()
    git(project, "replace", "HEAD~1", other)
    head = git(project, "rev-parse", "HEAD").strip()
    (project / ".git/info").mkdir(exist_ok=True)
    (project / ".git/info/grafts").write_text(f"{head}\n", encoding="utf-8")
    room.build(project)


def replaced_alike(room: Room) -> None:
    """Have a replacement for HEAD's commit with another message and the same files."""
    project = room.clone()
    tree = git(project, "rev-parse", "HEAD^{tree}").strip()
    other = git(project, "commit-tree", "-m", "other", tree).strip()
    git(project, "replace", "HEAD", other)
    room.build(project)


OTHERS: Final[dict[str, Callable[[Room], None]]] = {
    "shallow": shallow,
    "without blobs of history": without_blobs,
    "a second work tree": worktree,
    "a submodule of another": submodule,
    "from a bundle": bundle,
    "a graft, and a replacement in history": replaced_elsewhere,
    "HEAD's commit replaced, same files": replaced_alike,
}

"""Edge: files that the commit does not hold."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from tests.reproducible.room import Room, git
from tests.reproducible.rows import CLEAN, NO_BUNDLE, Variation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.reproducible.subjects import Subject

DIRTY: Final = "dirty_source"


def variations() -> Iterator[Variation]:
    """Return all of them."""
    for group, cases in CASES.items():
        for name, (change, expect) in cases.items():
            yield Variation(group=group, name=name, build=partial(after, change), expect=expect)
    yield Variation(
        group="ignored", name="by the machine's own excludes", build=excluded, expect=CLEAN
    )
    yield Variation(
        group="environment",
        name="HATCH_BUILD_NO_HOOKS=1",
        build=without_hooks,
        expect=NO_BUNDLE,
    )


def after(change: Callable[[Path, Subject], None], room: Room) -> None:
    """Build a clone after changing it."""
    project = room.clone()
    change(project, room.subject)
    room.build(project, {"HOME": str(room.folder)})


def excluded(room: Room) -> None:
    """Have a file in the package that only this machine's git ignores."""
    (room.folder / "ignore").write_text("*.local\n", encoding="utf-8")
    config = f"[core]\n\texcludesFile = {room.folder / 'ignore'}\n"
    (room.folder / ".gitconfig").write_text(config, encoding="utf-8")
    project = room.clone()
    add(project, room.subject.package, "x.local")
    room.build(project, {"HOME": str(room.folder)})


def without_hooks(room: Room) -> None:
    """Take hatchling's switch."""
    room.build(room.clone(), {"HATCH_BUILD_NO_HOOKS": "1"})


def add(project: Path, *parts: str) -> Path:
    """Write a new file."""
    place = project.joinpath(*parts)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(b"new\n")
    return place


def append(place: Path) -> None:
    """Edit a file."""
    place.write_bytes(place.read_bytes() + b"\n# Edited.\n")


def ignore(project: Path, line: str, file: str = "exclude") -> None:
    """Write a line into a file of `.git/info`."""
    place = project / ".git/info" / file
    place.parent.mkdir(exist_ok=True)
    with place.open("a", encoding="utf-8") as stream:
        stream.write(f"{line}\n")


def commit(project: Path) -> None:
    """Commit everything."""
    git(project, "add", "--all")
    git(project, "commit", "--quiet", "-m", "A change")


def untracked_code(project: Path, subject: Subject) -> None:
    """Add a file to the package."""
    add(project, subject.package, "new.py")


def intent_to_add(project: Path, subject: Subject) -> None:
    """Add a file with `--intent-to-add`."""
    add(project, subject.package, "new.py")
    git(project, "add", "--intent-to-add", f"{subject.package}/new.py")


def staged_new(project: Path, subject: Subject) -> None:
    """Stage a new file."""
    add(project, subject.package, "new.py")
    git(project, "add", "--all")


def ignored_code(project: Path, subject: Subject) -> None:
    """Have an ignored file in the package."""
    ignore(project, "*.local")
    add(project, subject.package, "secret.local")


def ignored_env_in_skill(project: Path, subject: Subject) -> None:
    """Have an ignored `.env` in a skill."""
    ignore(project, ".env")
    add(project, subject.skill.rpartition("/")[0], ".env")


def ignored_outside(project: Path, _: Subject) -> None:
    """Have an ignored file beside the sources."""
    ignore(project, "/scratch/")
    add(project, "scratch/secret.local")


def nested_repository(project: Path, subject: Subject) -> None:
    """Have a repository of its own in the package."""
    inner = project / subject.package / "vendored"
    git(project, "init", "--quiet", str(inner))
    add(inner, "code.py")


def nested_ignored(project: Path, _: Subject) -> None:
    """Have an ignored repository beside the sources."""
    ignore(project, "/scratch/")
    inner = project / "scratch"
    git(project, "init", "--quiet", str(inner))
    add(inner, "code.py")


def hatch_file(project: Path, _: Subject) -> None:
    """Add a `hatch.toml`, which goes before the table."""
    (project / "hatch.toml").write_text("[envs.mine]\n", encoding="utf-8")


def ignored_hatch_file(project: Path, subject: Subject) -> None:
    """Have one that git ignores."""
    ignore(project, "/hatch.toml")
    hatch_file(project, subject)


CASES: Final[dict[str, dict[str, tuple[Callable[[Path, Subject], None], str]]]] = {
    "untracked": {
        "in the package": (untracked_code, DIRTY),
        "intent to add": (intent_to_add, DIRTY),
        "staged": (staged_new, DIRTY),
        "a repository in the package": (nested_repository, DIRTY),
    },
    "ignored": {
        "in the package": (ignored_code, CLEAN),
        ".env in a skill": (ignored_env_in_skill, CLEAN),
        "where nothing ships": (ignored_outside, CLEAN),
        "a repository where nothing ships": (nested_ignored, CLEAN),
        "hatch.toml": (ignored_hatch_file, DIRTY),
    },
}

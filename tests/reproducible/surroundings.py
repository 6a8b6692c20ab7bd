"""Edge: where, when and by whom a build runs."""

from __future__ import annotations

import os
import shutil
import subprocess
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tests.reproducible.room import Room, environment
from tests.reproducible.rows import REFUSED, NotRunError, Variation

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

NOBODY: Final = 65534
LONG: Final = "/".join(["x" * 100] * 10)
FOLDERS: Final = {
    "with spaces": "a folder with spaces/project",
    "outside ASCII": "größe-尺寸/project",
    "a line feed in its name": "two\nlines/project",
    "a part of 100 characters": f"{'x' * 100}/project",
    "ten parts of 100 characters": f"{LONG}/project",
    "below dist, an ignored name": "dist/project",
    "below .venv, an ignored name": ".venv/project",
    "below __pycache__, junk": "__pycache__/project",
    "itself called build": "build",
    "below skills, as in the project": "skills/greet/project",
}
VARIABLES: Final[dict[str, dict[str, dict[str, str | None]]]] = {
    "time zone": {
        name: {"TZ": name} for name in ("Asia/Kathmandu", "Pacific/Kiritimati", "America/New_York")
    },
    "hash seed": {seed: {"PYTHONHASHSEED": seed} for seed in ("0", "12345", "random")},
    "optimized": {
        level: {"PYTHONOPTIMIZE": level, "PYTHONDONTWRITEBYTECODE": None} for level in ("1", "2")
    },
    "SOURCE_DATE_EPOCH": {
        value: {"SOURCE_DATE_EPOCH": value}
        for value in ("0", "1", "315532799", "1700000000", "4102444800")
    },
    "locale": {
        "unset": {"LC_ALL": None, "LANG": None},
        "POSIX": {"LC_ALL": "POSIX"},
        "C with ASCII names": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        "streams are ASCII": {"PYTHONIOENCODING": "ascii"},
    },
    "environment": {
        "no HOME": {"HOME": None},
        "a HOME that is not there": {"HOME": "/nowhere"},
        "no programs on the PATH": {"PATH": "/nowhere"},
        "variables of a git hook": {"GIT_DIR": "/nowhere", "GIT_INDEX_FILE": "/nowhere/index"},
        "CI": {"CI": "true", "GITHUB_ACTIONS": "true", "GITHUB_SHA": "0" * 40},
        "warnings are errors": {"PYTHONWARNINGS": "error", "PYTHONWARNDEFAULTENCODING": "1"},
        "development mode": {"PYTHONDEVMODE": "1"},
        "bytecode is written": {"PYTHONDONTWRITEBYTECODE": None},
    },
}
HOSTILE_EPOCHS: Final = {
    "-1": "error: ",
    "99999999999": "error: ",
    "soon": "invalid literal for int()",
}
"""hatchling itself ends such a build; with what words."""
CLOCKS: Final = {"1971": "1971-02-03 04:05:06", "2040": "2040-01-19 03:14:08", "a year ago": "-1y"}


def variations() -> Iterator[Variation]:
    """Return all of them."""
    for name, place in FOLDERS.items():
        yield Variation(group="folder", name=name, build=partial(in_folder, place))
    yield Variation(group="folder", name="reached through a link", build=linked_root)
    yield Variation(group="folder", name="on another file system", build=other_file_system)
    yield Variation(group="folder", name="TMPDIR on another file system", build=other_tmp)
    yield Variation(group="folder", name="read-only", build=read_only)
    for umask in (0o000, 0o027, 0o077):
        build = partial(under_umask, umask)
        yield Variation(group="umask", name=f"{umask:03o}", build=build)
    yield Variation(group="user", name="nobody's files, built by nobody", build=as_nobody)
    yield Variation(
        group="user",
        name="nobody's files, built by root",
        build=foreign_owner,
        expect=f"{REFUSED}not_owner",
    )
    yield Variation(group="user", name="the same, and git trusts them", build=trusted_owner)
    for group, cases in VARIABLES.items():
        for name, variables in cases.items():
            yield Variation(group=group, name=name, build=partial(under, variables))
    for value, said in HOSTILE_EPOCHS.items():
        yield Variation(
            group="SOURCE_DATE_EPOCH",
            name=value,
            build=partial(under, {"SOURCE_DATE_EPOCH": value}),
            expect=REFUSED + said,
        )
    for name, charset in (
        ("de_DE", "ISO-8859-1"),
        ("tr_TR", "UTF-8"),
        ("tr_TR", "ISO-8859-9"),
        ("ja_JP", "EUC-JP"),
    ):
        build = partial(in_locale, name, charset)
        yield Variation(group="locale", name=f"{name}.{charset}", build=build)
    for name, clock in CLOCKS.items():
        yield Variation(group="clock", name=name, build=partial(at, clock))


def in_folder(place: str, room: Room) -> None:
    """Build in a folder of this name."""
    room.build(room.clone(place))


def linked_root(room: Room) -> None:
    """Reach the checkout through a symbolic link."""
    link = room.folder / "link"
    link.symlink_to(room.clone())
    room.build(link, {"PWD": str(link)})


def other_device(room: Room) -> Path:
    """Return a new folder on another file system.

    Raises:
        NotRunError: If there is none.
    """
    memory = Path("/dev/shm")  # noqa: S108 - a file system of its own is what is wanted
    if not memory.is_dir() or memory.stat().st_dev == room.folder.stat().st_dev:
        raise NotRunError("there is no other file system")
    made = memory / f"reproducible-{os.getpid()}-{room.subject.name}-{room.folder.name}"
    made.mkdir(parents=True)
    return made


def other_file_system(room: Room) -> None:
    """Build a checkout there."""
    folder = other_device(room)
    try:
        room.build(Path(shutil.copytree(room.clone(), folder / "project", symlinks=True)))
    finally:
        shutil.rmtree(folder)


def other_tmp(room: Room) -> None:
    """Have hatchling write its archive there first."""
    folder = other_device(room)
    try:
        room.build(room.clone(), {"TMPDIR": str(folder)})
    finally:
        shutil.rmtree(folder)


def demand(*programs: str, root: bool = False) -> None:
    """Insist on programs of the machine.

    Raises:
        NotRunError: If one is missing.
    """
    missing = [name for name in programs if shutil.which(name) is None]
    if missing:
        raise NotRunError(f"there is no {', '.join(missing)}")
    if root and os.geteuid() != 0:
        raise NotRunError("needs root")


def read_only(room: Room) -> None:
    """Mount the checkout read-only, for this build alone."""
    demand("unshare", "mount", root=True)
    project = room.clone()
    script = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && cd "$0" && exec "$@"'
    room.build(project, prefix=("unshare", "--mount", "sh", "-c", script, str(project)))


def under_umask(umask: int, room: Room) -> None:
    """Clone and build under it."""
    project = room.folder / "project"
    command = ["git", "clone", "--quiet", str(room.subject.origin), str(project)]
    subprocess.run(command, check=True, umask=umask, env=environment())
    room.build(project, umask=umask)


def give_away(project: Path) -> None:
    """Make nobody the owner of a checkout."""
    demand("setpriv", root=True)
    for path in (project, *project.rglob("*")):
        os.chown(path, NOBODY, NOBODY, follow_symlinks=False)


def as_nobody(room: Room) -> None:
    """Build as another user, who may look into all folders: the interpreter may be at root's."""
    project = room.clone()
    give_away(project)
    room.out.mkdir()
    room.folder.chmod(0o755)
    os.chown(room.out, NOBODY, NOBODY)
    user = (f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
    may = ("--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search")
    room.build(project, {"HOME": str(room.out)}, prefix=("setpriv", *user, *may))


def foreign_owner(room: Room) -> None:
    """Build somebody else's checkout."""
    project = room.clone()
    give_away(project)
    room.build(project, {"HOME": str(room.folder)})


def trusted_owner(room: Room) -> None:
    """Build it after telling git to trust it."""
    project = room.clone()
    give_away(project)
    (room.folder / ".gitconfig").write_text("[safe]\n\tdirectory = *\n", encoding="utf-8")
    room.build(project, {"HOME": str(room.folder)})


def under(variables: Mapping[str, str | None], room: Room) -> None:
    """Build with variables of the environment."""
    room.build(room.clone(), variables)


def in_locale(name: str, charset: str, room: Room) -> None:
    """Build in a locale that is made for it."""
    demand("localedef")
    made = room.folder / "locales"
    made.mkdir()
    command = ["localedef", "-i", name, "-f", charset, str(made / f"{name}.{charset}")]
    if subprocess.run(command, capture_output=True, check=False).returncode > 1:
        raise NotRunError(f"localedef has no {name} in {charset}")
    variables = {"LOCPATH": str(made), "LC_ALL": f"{name}.{charset}", "PYTHONUTF8": "0"}
    room.build(room.clone(), variables)


def at(clock: str, room: Room) -> None:
    """Build at another time, children included."""
    demand("faketime")
    options = ("-f",) if clock.startswith("-") else ()
    room.build(room.clone(), prefix=("faketime", *options, clock))

"""Edge: what a build is made with: Pythons, versions of hatchling, zlib, git or none; reprotest."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import tarfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from uv import find_uv_bin

from tests.reproducible.disks import with_startup
from tests.reproducible.room import PLAIN, FailedError, Room, environment, git, python_of
from tests.reproducible.rows import GENERATOR, REFUSED, NotRunError, Variation
from tests.reproducible.surroundings import demand

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

HATCHLING: Final = "1.33.0"
OTHER_HATCHLINGS: Final = ("1.27.0", "1.28.0", "1.29.0", "1.30.1", "1.31.0", "1.32.4")
PYTHONS: Final = ("3.11", "3.12", "3.13", "3.14")
NEEDED: Final = ("pydantic>=2.12,<3", "PyYAML>=6.0.2,<7", "pygit2>=1.18,<2")
"""What our build script imports."""


def variations(pythons: Sequence[str]) -> Iterator[Variation]:
    """Return all of them.

    Args:
        pythons: Interpreters besides those that are found.
    """
    for version in PYTHONS:
        yield Variation(group="Python", name=version, build=partial(by_python, version))
    for python in pythons:
        yield Variation(group="Python", name=python, build=partial(by_python, python))
    for version in OTHER_HATCHLINGS:
        build = partial(by_hatchling, version)
        yield Variation(group="hatchling", name=version, build=build, expect=GENERATOR)
    yield Variation(group="zlib", name="zlib-ng", build=zlib_ng)
    yield Variation(group="zlib", name="compresses nothing", build=lazy_zlib)
    yield Variation(group="reprotest", name="all it can vary here", build=reprotest)
    for name, why in left_out().items():
        yield Variation(group="reprotest", name=name, build=partial(cannot, why))
    for name, build, expect in NO_GIT:
        yield Variation(group="no git", name=name, build=build, expect=expect)


def interpreter(version: str) -> str:
    """Find a Python of a version; a path is taken as it is.

    Raises:
        NotRunError: If there is none.
    """
    if "/" in version:
        return version
    if sys.version.startswith(f"{version}."):
        return sys.executable
    find = [find_uv_bin(), "python", "find", "--no-project", "--no-python-downloads", version]
    found = subprocess.run(
        find, capture_output=True, encoding="utf-8", check=False, env=environment()
    )
    if found.returncode == 0:
        return found.stdout.strip()
    if places := sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python")):
        return str(places[-1])
    raise NotRunError(f"there is no Python {version}")


def made(room: Room, name: str, python: str, *requirements: str) -> str:
    """Make a virtual environment that all rooms share, and give its interpreter.

    Raises:
        NotRunError: If the index, or that Python, has not what is needed.
    """
    place = room.shared / "environments" / name
    place.parent.mkdir(exist_ok=True)
    with place.with_suffix(".lock").open("w", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        if not (place / "done").exists():
            _make(room, place, python, requirements)
            (place / "done").touch()
    return python_of(place)


def _make(room: Room, place: Path, python: str, requirements: Sequence[str]) -> None:
    uv, ours = find_uv_bin(), room.shared / "wheels"
    try:
        room.run([uv, "venv", "--quiet", "--clear", "--python", python, place], room.folder)
        install = [uv, "pip", "install", "--quiet", "--python", place, "--find-links", ours]
        wheel = next(ours.glob("skills_bundle-*.whl"))
        room.run([*install, *requirements, *NEEDED, wheel], room.folder)
    except FailedError as error:
        raise NotRunError(f"cannot be installed: {str(error).strip()[-200:]}") from error


def plain(room: Room) -> None:
    """Make the environment of plain builds."""
    tools = ("build>=1.2", "pip>=25.1", f"hatchling=={HATCHLING}")
    made(room, Path(PLAIN).name, sys.executable, *tools)


def by_python(version: str, room: Room) -> None:
    """Build with another Python, without isolation."""
    name = version.strip("/").replace("/", "-")
    python = made(room, f"python-{name}", interpreter(version), f"hatchling=={HATCHLING}")
    room.build(room.clone(), python=(python,))


def by_hatchling(version: str, room: Room) -> None:
    """Build with another hatchling, without isolation."""
    python = made(room, f"hatchling-{version}", sys.executable, f"hatchling=={version}")
    room.build(room.clone(), python=(python,))


ZLIB_NG: Final = """\
import sys
import zlib_ng.zlib_ng as other
sys.modules["zlib"] = other
"""
LAZY_ZLIB: Final = """\
import zlib
_compressobj, _compress = zlib.compressobj, zlib.compress
zlib.compressobj = lambda level=0, *rest, **named: _compressobj(0, *rest, **{**named})
zlib.compress = lambda data, *rest, **named: _compress(data, 0)
"""


def zlib_ng(room: Room) -> None:
    """Put zlib-ng in zlib's place."""
    python = made(room, "zlib-ng", sys.executable, f"hatchling=={HATCHLING}", "zlib-ng")
    room.build(room.clone(), with_startup(room, ZLIB_NG), python=(python,))


def lazy_zlib(room: Room) -> None:
    """Have a zlib that compresses nothing, which no two versions could differ more from."""
    room.build(room.clone(), with_startup(room, LAZY_ZLIB))


def exported(room: Room) -> None:
    """Build what `git archive` gives."""
    project = room.folder / "exported"
    project.mkdir()
    tar = room.folder / "project.tar"
    git(room.clone(), "archive", "--output", str(tar), "HEAD")
    with tarfile.open(tar) as archive:
        archive.extractall(project, filter="data")
    room.build(project)


def git_removed(room: Room) -> None:
    """Build after `.git` was removed."""
    project = room.clone()
    bare = room.folder / "bare"
    (project / ".git").rename(bare)
    room.build(project)
    bare.rename(project / ".git")


def no_pygit2(room: Room) -> None:
    """Have no pygit2."""
    code = 'import sys\nsys.modules["pygit2"] = None\n'
    room.build(room.clone(), with_startup(room, code))


NO_GIT: Final = (
    ("git archive", exported, "not_git_source"),
    (".git removed", git_removed, "not_git_source"),
    ("pygit2 is missing", no_pygit2, f"{REFUSED}git_unavailable"),
)


def left_out() -> dict[str, str]:
    """Return what reprotest cannot vary here, and why."""
    why = {"user_group": "reprotest needs sudo and a second user for it"}
    if shutil.which("faketime") is None:
        why["time"] = "there is no faketime"
    if os.geteuid() != 0:
        why |= dict.fromkeys(("domain_host", "fileordering"), "needs root")
    if shutil.which("disorderfs") is None or not Path("/dev/fuse").exists():
        why["fileordering"] = "there is no disorderfs, or no /dev/fuse"
    return why


def reprotest(room: Room) -> None:
    """Have Debian's reprotest build twice, with all varied that it can vary here."""
    demand("reprotest")
    kept = room.folder / "kept"
    without = ",".join(f"-{name}" for name in left_out())
    options = ("--no-diffoscope", "--min-cpus=1", f"--vary={without}", f"--store-dir={kept}")
    command = f"{room.python} -m hatchling build -d built"
    sources = (str(room.clone()), "built/*", "--", "null")
    room.run(["reprotest", *options, "-c", command, *sources], room.folder)
    for build in ("control", "experiment-1"):
        shutil.copytree(kept / build / "source-root/built", room.out / build)


def cannot(why: str, _: Room) -> None:
    """Return why reprotest leaves something out."""
    raise NotRunError(why)

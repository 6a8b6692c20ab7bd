"""Edge: by which program a build is asked for, from a checkout and from the sdist."""

from __future__ import annotations

import os
import tarfile
from functools import partial
from typing import TYPE_CHECKING, Final

from uv import find_uv_bin

from tests.reproducible.disks import files
from tests.reproducible.room import Room, git
from tests.reproducible.rows import Variation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

PIP: Final = ("{python}", "-m", "pip", "wheel", "--no-deps", "-w", "{out}")
FRONT_ENDS: Final[dict[str, tuple[str, ...]]] = {
    "python -m build": ("{python}", "-m", "build", "-o", "{out}", "."),
    "python -m build --sdist --wheel": (
        *("{python}", "-m", "build", "--sdist", "--wheel", "-o", "{out}", "."),
    ),
    "python -m build --no-isolation": (
        *("{python}", "-m", "build", "--no-isolation", "-o", "{out}", "."),
    ),
    "uv build": ("{uv}", "build", "--out-dir", "{out}", "."),
    "uv build --wheel": ("{uv}", "build", "--wheel", "--out-dir", "{out}", "."),
    "uv build --no-build-isolation": (
        *("{uv}", "build", "--no-build-isolation", "--python", "{python}"),
        *("--out-dir", "{out}", "."),
    ),
    "pip wheel .": (*PIP, "."),
    "pip wheel --no-build-isolation .": (*PIP, "--no-build-isolation", "."),
    "pip wheel git+file://…": (*PIP, "git+{url}"),
    "pip wheel git+file://… (bare)": (*PIP, "git+{bare}"),
    "hatch build": ("{uv}", "tool", "run", "hatch", "build", "{out}"),
    "hatchling build": ("{python}", "-m", "hatchling", "build", "-d", "{out}"),
}
OF_AN_SDIST: Final[dict[str, tuple[str, ...]]] = {
    "pip wheel FILE": (*PIP, "{sdist}"),
    "uv build FILE": ("{uv}", "build", "--wheel", "--out-dir", "{out}", "{sdist}"),
    "python -m build --wheel": ("{python}", "-m", "build", "--wheel", "-o", "{out}", "."),
    "hatchling build -t wheel": (
        *("{python}", "-m", "hatchling", "build", "-t", "wheel", "-d", "{out}"),
    ),
}


def variations() -> Iterator[Variation]:
    """Return all of them."""
    for name, command in FRONT_ENDS.items():
        yield Variation(group="front end", name=name, build=partial(by_front_end, command))
    for name, command in OF_AN_SDIST.items():
        yield Variation(group="from the sdist", name=name, build=partial(from_sdist, command))
    for name, change in UNPACKED.items():
        yield Variation(group="from the sdist", name=name, build=partial(unpacked, change))


def isolated(room: Room) -> dict[str, str | None]:
    """Return variables under which isolated builds find the plugin of this checkout."""
    folder = room.shared / "wheels"
    return {
        "PIP_FIND_LINKS": f"{folder} {os.environ.get('PIP_FIND_LINKS', '')}".strip(),
        "UV_FIND_LINKS": str(folder),
    }


def by_front_end(command: Sequence[str], room: Room) -> None:
    """Build a clone with it."""
    project = room.clone()
    bare = room.folder / "bare.git"
    git(room.folder, "clone", "--quiet", "--bare", str(room.subject.origin), str(bare))
    words = {
        "python": room.python,
        "out": str(room.out),
        "uv": find_uv_bin(),
        "url": project.as_uri(),
        "bare": bare.as_uri(),
    }
    room.run([word.format(**words) for word in command], project, isolated(room))


def sdist(room: Room) -> Path:
    """Write the sdist of a plain build into the room."""
    (name,) = (path.name for path in (room.subject.work / room.subject.commit / "out").glob("*.gz"))
    file = room.folder / name
    file.write_bytes(room.subject.reference(None, room.folder)["sdist"])
    return file


def opened(room: Room, place: str = "project") -> Path:
    """Unpack the sdist as an installer does."""
    file, folder = sdist(room), room.folder / place
    with tarfile.open(file) as archive:
        archive.extractall(folder, filter="data")
    return folder / file.name.removesuffix(".tar.gz")


def from_sdist(command: Sequence[str], room: Room) -> None:
    """Build a wheel from it with a front end."""
    words = {
        "python": room.python,
        "out": str(room.out),
        "uv": find_uv_bin(),
        "sdist": str(sdist(room)),
    }
    room.run([word.format(**words) for word in command], opened(room), isolated(room))


def unpacked(change: Callable[[Path], None], room: Room) -> None:
    """Build both archives from it, after changing something around it."""
    project = opened(room)
    change(project)
    room.build(project)


def in_foreign_repository(project: Path) -> None:
    """Unpack it in somebody's repository, and have them commit it."""
    git(project.parent, "init", "--quiet")
    git(project.parent, "add", "--all", "--force")
    git(project.parent, "commit", "--quiet", "-m", "vendored")


def untracked_there(project: Path) -> None:
    """Unpack it in somebody's repository that does not know it."""
    git(project.parent, "init", "--quiet")
    git(project.parent, "commit", "--quiet", "--allow-empty", "-m", "first")


def own_repository(project: Path) -> None:
    """Make a repository of it."""
    git(project, "init", "--quiet")
    git(project, "add", "--all", "--force")
    git(project, "commit", "--quiet", "-m", "imported")


def without_modes(project: Path) -> None:
    """Lose every x bit, as a zip does."""
    for path in files(project):
        path.chmod(0o644)


UNPACKED: Final[dict[str, Callable[[Path], None]]] = {
    "committed in a foreign repository": in_foreign_repository,
    "untracked in a foreign repository": untracked_there,
    "made a repository of its own": own_repository,
    "x bits lost": without_modes,
}

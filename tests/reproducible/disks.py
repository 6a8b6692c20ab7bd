"""Edge: what a disk says of a checkout besides its bytes, and in which order."""

from __future__ import annotations

import os
import subprocess
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tests.reproducible.room import Room, environment
from tests.reproducible.rows import NotRunError, Variation
from tests.reproducible.surroundings import demand

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator


def variations() -> Iterator[Variation]:
    """Return all of them."""
    for name, change in DISKS.items():
        yield Variation(group="disk", name=name, build=partial(on_disk, change))
    yield Variation(group="disk", name="listed in any order (disorderfs)", build=disordered)
    yield Variation(group="disk", name="listed in any order (os.scandir)", build=shuffled)
    yield Variation(group="disk", name="two builds at once", build=at_once)


def on_disk(change: Callable[[Path], None], room: Room) -> None:
    """Build after changing what the disk says of a checkout."""
    project = room.clone("around/project")
    change(project)
    room.build(project)


def files(project: Path) -> Generator[Path]:
    """Return every file of a work tree except git's own."""
    for path in project.rglob("*"):
        inside = path.relative_to(project).parts
        if ".git" not in inside and path.is_file() and not path.is_symlink():
            yield path


def times(seconds: int, project: Path) -> None:
    """Date every file so."""
    for path in files(project):
        os.utime(path, (seconds, seconds))


def modes(mode: int, project: Path) -> None:
    """Set one mode on every file, as on a mount without modes."""
    command = ["git", "-C", str(project), "config", "core.fileMode", "false"]
    subprocess.run(command, check=True)
    for path in files(project):
        path.chmod(mode)


def hard_links(project: Path) -> None:
    """Hard-link every file elsewhere."""
    attic = project.parent / "attic"
    attic.mkdir()
    for number, path in enumerate(sorted(files(project))):
        (attic / str(number)).hardlink_to(path)


def parents_ignore(project: Path) -> None:
    """Put an ignore file that hides everything above the project."""
    (project.parent / ".gitignore").write_text("*\n", encoding="utf-8")


def attributes(project: Path) -> None:
    """Set an extended attribute on every file, as downloads have."""
    for path in files(project):
        try:
            os.setxattr(path, "user.origin", b"elsewhere")
        except OSError as error:
            raise NotRunError(f"no extended attributes: {error.strerror}") from error


def litter(project: Path) -> None:
    """Leave what a working checkout collects."""
    package = next(path.parent for path in sorted(project.glob("src/*/__init__.py")))
    for place in (
        project / "dist/old-1.0.tar.gz",
        package / "__pycache__/x.cpython-311.pyc",
        package / ".DS_Store",
        project / "skills/Thumbs.db",
        project / ".venv/lib/x.py",
    ):
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(b"x")
    with (project / ".git/info/exclude").open("a", encoding="utf-8") as file:
        file.write(".venv/\ndist/\n")


DISKS: Final[dict[str, Callable[[Path], None]]] = {
    "all files of 1960": partial(times, -315_619_200),
    "all files of 2001": partial(times, 1_000_000_000),
    "all files of 2100": partial(times, 4_102_444_800),
    "all files 0777": partial(modes, 0o777),
    "all files 0644, x lost": partial(modes, 0o644),
    "all files setuid": partial(modes, 0o4755),
    "all files 0600": partial(modes, 0o600),
    "every file has two links": hard_links,
    "extended attributes": attributes,
    "a folder above ignores everything": parents_ignore,
    "bytecode, old archives, Finder files": litter,
}


def disordered(room: Room) -> None:
    """List folders in any order; needs FUSE."""
    demand("disorderfs", "fusermount", root=True)
    if not Path("/dev/fuse").exists():
        raise NotRunError("there is no /dev/fuse")
    view = room.folder / "view"
    view.mkdir()
    options = ("--multi-user=no", "--shuffle-dirents=yes", "--reverse-dirents=no", "-q")
    mounted = subprocess.run(
        ["disorderfs", *options, str(room.clone()), str(view)], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        raise NotRunError("disorderfs cannot mount here")
    try:
        room.build(view)
    finally:
        subprocess.run(["fusermount", "-u", "-z", str(view)], check=True)


SHUFFLE: Final = """\
import os, random
_scandir, _listdir = os.scandir, os.listdir

class Shuffled:
    def __init__(self, *path):
        with _scandir(*path) as found:
            self.rows = list(found)
        random.shuffle(self.rows)
    def __iter__(self): return iter(self.rows)
    def __next__(self):
        if not self.rows: raise StopIteration
        return self.rows.pop()
    def __enter__(self): return self
    def __exit__(self, *_): pass
    def close(self): pass

def listdir(*path):
    found = _listdir(*path)
    random.shuffle(found)
    return found

os.scandir, os.listdir = Shuffled, listdir
"""


def with_startup(room: Room, code: str) -> dict[str, str | None]:
    """Return variables under which every Python runs some code first."""
    folder = room.folder / "startup"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(code, encoding="utf-8")
    return {"PYTHONPATH": str(folder)}


def shuffled(room: Room) -> None:
    """List folders in any order, as Python sees them."""
    room.build(room.clone(), with_startup(room, SHUFFLE))


def at_once(room: Room) -> None:
    """Build twice in one checkout at the same time, into one folder and into another."""
    project = room.clone()
    command = [room.python, "-m", "hatchling", "build", "-d"]
    running = [
        subprocess.Popen(
            [*command, str(room.out / place)],
            cwd=project,
            env=environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for place in ("one", "one", "two")
    ]
    codes = [process.wait() for process in running]
    if any(codes):
        raise RuntimeError("a build failed")

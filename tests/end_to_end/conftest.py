"""What every end-to-end test starts from; each is made once a session, also with several workers.

```text
clone        a clone of HEAD; copy it before you change anything
dists        sdist and wheel, as `python -m build` makes them from the clone
wheelhouse   a folder of wheels: ours, all it needs to run, all that builds need
```

What is not committed is not tested. Making them needs the package index; nothing that only uses
them does.
"""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.end_to_end.following import Places

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parents[2]

BUILD_TOOLS = ("hatchling==1.33.0", "editables", "pygit2>=1.18,<2", "pip")
"""What front ends install into a build's environment besides what our own wheel needs to run."""
CONSTRAINTS = ROOT / "build-constraints.txt"


class Dists(NamedTuple):
    """The two archives of one build."""

    sdist: Path
    wheel: Path


def once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Path:
    """Return a folder that one worker makes and all use.

    Args:
        factory: pytest's, whose base folder is one a worker.
        name: Of the folder.
        make: Fills it; called by the first who needs it, while the others wait.
    """
    base = factory.getbasetemp()
    shared = base.parent if base.name.startswith("popen-") else base
    folder, done = shared / name, shared / f"{name}.done"
    with (shared / f"{name}.lock").open("w", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        if not done.exists():
            make(folder)
            done.touch()
    return folder


def _environment() -> dict[str, str]:
    """Return our environment without the variables of a test session, which tools would use."""
    ours = {"VIRTUAL_ENV", "UV_PYTHON", "UV_PROJECT_ENVIRONMENT", "PYTHONWARNDEFAULTENCODING"}
    return {name: value for name, value in os.environ.items() if name not in ours}


def run(*command: str | Path, cwd: Path | None = None) -> None:
    """Run a command; what it says is shown if it fails."""
    ran = subprocess.run(
        command, cwd=cwd, env=_environment(), capture_output=True, encoding="utf-8", check=False
    )
    assert ran.returncode == 0, f"{command}\n{ran.stdout}\n{ran.stderr}"


@pytest.fixture(scope="session")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Clone HEAD of this checkout, as anybody would."""

    def make(folder: Path) -> None:
        run("git", "clone", "--quiet", ROOT.as_uri(), folder)

    return once(tmp_path_factory, "skills-bundle", make)


@pytest.fixture(scope="session")
def dists(clone: Path, tmp_path_factory: pytest.TempPathFactory) -> Dists:
    """Build an sdist, and a wheel from that sdist, each in an isolated environment."""

    def make(folder: Path) -> None:
        run(sys.executable, "-m", "build", "--outdir", folder, clone)

    folder = once(tmp_path_factory, "dists", make)
    (sdist,), (wheel,) = folder.glob("*.tar.gz"), folder.glob("*.whl")
    return Dists(sdist, wheel)


@pytest.fixture(scope="session")
def wheelhouse(dists: Dists, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Gather our wheel and every wheel that running it, and building with it, needs.

    What builds is in the pinned version, so that builds with digests find it here, too.
    """

    def make(folder: Path) -> None:
        folder.mkdir()
        pins = folder.with_suffix(".txt")
        pins.write_text(_without_digests(CONSTRAINTS.read_text(encoding="utf-8")), encoding="utf-8")
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--only-binary=:all:"]
        run(*command, "--constraint", pins, "--dest", folder, dists.wheel, *BUILD_TOOLS)

    return once(tmp_path_factory, "wheelhouse", make)


@pytest.fixture(scope="session")
def places(wheelhouse: Path, clone: Path, tmp_path_factory: pytest.TempPathFactory) -> Places:
    """Return a separate interpreter for the readers, and one cache for all of them."""

    def make(folder: Path) -> None:
        run(sys.executable, "-m", "venv", folder / "python")

    folder = once(tmp_path_factory, "readers", make)
    return Places(wheelhouse, clone, folder / "python" / "bin" / "python3", folder / "cache")


def _without_digests(constraints: str) -> str:
    """Return the pins alone: with digests, pip would ask for one of everything it downloads."""
    lines = [line.rstrip(" \\") for line in constraints.splitlines() if "--hash=" not in line]
    return "\n".join(lines)

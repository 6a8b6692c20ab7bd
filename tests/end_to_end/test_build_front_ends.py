"""Every front end and every Python gives the same wheel of one commit, and the same refusals."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from uv import find_uv_bin

from skills_bundle.bundle import receipt
from tests.end_to_end.conftest import run

if TYPE_CHECKING:
    from tests.end_to_end.conftest import Dists

PYTHON = sys.executable
UV = (find_uv_bin(),)
"""Not `python -m uv`: that names our environment as the one to install into."""
HASHED = ("--build-constraints", "build-constraints.txt")
PIPS = ("--build-constraint", "build-constraints.txt")
"""The same option; pip compares digests wherever a constraint has them."""
FRONT_ENDS = {
    "build-sdist-and-wheel": (PYTHON, "-m", "build", "--sdist", "--wheel", "-o", "{out}", "."),
    "uv-build": (*UV, "build", "--out-dir", "{out}", "."),
    "uv-build-wheel": (*UV, "build", "--wheel", "--out-dir", "{out}", "."),
    "pip-wheel": (PYTHON, "-m", "pip", "wheel", "--no-deps", "-w", "{out}", "."),
    "pip-wheel-git": (PYTHON, "-m", "pip", "wheel", "--no-deps", "-w", "{out}", "git+{url}"),
    "uv-build-with-hashes": (*UV, "build", *HASHED, "--require-hashes", "--out-dir", "{out}", "."),
    "pip-wheel-with-hashes": (PYTHON, "-m", "pip", "wheel", *PIPS, "--no-deps", "-w", "{out}", "."),
    "hatchling": (PYTHON, "-m", "hatchling", "build", "-d", "{out}"),
    "hatch-build": (*UV, "tool", "run", "hatch", "build", "{out}"),
}


def only(folder: Path, pattern: str) -> Path:
    """Return the one file of a folder that matches."""
    (found,) = folder.glob(pattern)
    return found


def receipt_in(wheel: Path) -> receipt.BuildReceipt:
    """Read the receipt of a wheel of ours."""
    with zipfile.ZipFile(wheel) as archive:
        return receipt.parse(archive.read("skills_bundle/.agents/build-receipt.json"))


def test_the_wheel_names_the_commit_it_was_built_from(clone: Path, dists: Dists) -> None:
    """Built from the sdist in isolation, where there is no git."""
    head = subprocess.check_output(["git", "-C", clone, "rev-parse", "HEAD"], encoding="ascii")
    source = receipt_in(dists.wheel).source
    assert (source.state, source.commit) == ("clean", head.strip())


def test_the_build_leaves_the_checkout_as_it_was(clone: Path, dists: Dists) -> None:
    """Nothing is written into the source tree, ignored or not.

    Python may cache the build script's byte code, which it does before any code of ours runs.
    """
    assert dists.wheel.exists()
    command = ["git", "-C", clone, "status", "--porcelain", "--ignored"]
    rows = subprocess.check_output(command, encoding="utf-8").splitlines()
    assert set(rows) <= {"!! build/__pycache__/"}


@pytest.mark.parametrize("front_end", FRONT_ENDS)
def test_every_front_end_gives_the_same_bytes(
    clone: Path, dists: Dists, tmp_path: Path, front_end: str
) -> None:
    """From git or through an sdist, isolated by pip or by uv, or not at all."""
    project, out = tmp_path / "project", tmp_path / "out"
    run("git", "clone", "--quiet", clone.as_uri(), project)
    words = [word.format(out=out, url=clone.as_uri()) for word in FRONT_ENDS[front_end]]
    run(*words, cwd=project)
    assert only(out, "*.whl").read_bytes() == dists.wheel.read_bytes()
    assert [path.read_bytes() for path in out.glob("*.tar.gz")] in (
        [],
        [dists.sdist.read_bytes()],
    )


def interpreter(version: str) -> str | None:
    """Find a Python of this version."""
    find = [*UV, "python", "find", "--no-project", "--no-python-downloads", version]
    found = subprocess.run(find, capture_output=True, encoding="utf-8", check=False)
    if found.returncode == 0:
        return found.stdout.strip()
    pyenv = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
    return str(pyenv[-1]) if pyenv else None


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13", "3.14"])
def test_every_python_gives_the_same_bytes(
    clone: Path, dists: Dists, tmp_path: Path, version: str
) -> None:
    """Those that uv or pyenv have on this machine; none is fetched."""
    python = interpreter(version)
    if python is None:
        pytest.skip(f"there is no Python {version} here")
    project = tmp_path / "project"
    run("git", "clone", "--quiet", clone.as_uri(), project)
    run(*UV, "build", "--python", python, "--out-dir", tmp_path / "out", project)
    assert only(tmp_path / "out", "*.whl").read_bytes() == dists.wheel.read_bytes()
    assert only(tmp_path / "out", "*.tar.gz").read_bytes() == dists.sdist.read_bytes()


def test_a_patched_sdist_gives_a_wheel_that_names_no_commit(dists: Dists, tmp_path: Path) -> None:
    """Pip builds it all the same; the receipt claims nothing."""
    with tarfile.open(dists.sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    (source,) = tmp_path.iterdir()
    with (source / "src/skills_bundle/__init__.py").open("a", encoding="utf-8") as file:
        file.write("# patched\n")
    run(PYTHON, "-m", "pip", "wheel", "--no-deps", "-w", tmp_path / "out", source)
    found = receipt_in(only(tmp_path / "out", "*.whl")).source
    assert (found.state, found.reason, found.commit) == ("archive", "not_git_source", None)


@pytest.fixture
def stale(clone: Path, tmp_path: Path) -> Path:
    """Return a copy of the project in which a skill was edited and not locked."""
    project = shutil.copytree(clone, tmp_path / "project", symlinks=True)
    skill = min(project.glob("skills/*/SKILL.md"))
    skill.write_bytes(skill.read_bytes() + b"\nEdited.\n")
    return project


@pytest.mark.parametrize(
    "command",
    [
        (PYTHON, "-m", "build", "--wheel", "-o", "{out}", "."),
        (*UV, "build", "--out-dir", "{out}", "."),
        (PYTHON, "-m", "pip", "wheel", "--no-deps", "-w", "{out}", "."),
    ],
    ids=["build", "uv", "pip"],
)
def test_a_stale_lock_ends_every_front_end_with_the_same_words(
    stale: Path, tmp_path: Path, command: tuple[str, ...]
) -> None:
    """The file, the command that mends it, no traceback of ours, and no archive."""
    out = tmp_path / "out"
    words = [word.format(out=out) for word in command]
    ran = subprocess.run(words, cwd=stale, capture_output=True, encoding="utf-8", check=False)
    said = ran.stdout + ran.stderr
    assert ran.returncode != 0
    assert "SKILL.md: content differs from the lock" in said
    assert "`skills-bundle lock`" in said
    assert "build_hook.py" not in said
    assert [*out.glob("*.whl"), *out.glob("*.tar.gz")] == []


def test_an_editable_install_works_with_a_stale_lock(
    stale: Path, wheelhouse: Path, tmp_path: Path
) -> None:
    """Whoever is to mend the lock must be able to install the tool that mends it."""
    run(*UV, "venv", "--quiet", tmp_path / "venv", "--python", PYTHON)
    python = tmp_path / "venv/bin/python"
    local = ("--offline", "--no-index", "--find-links", wheelhouse)
    run(*UV, "pip", "install", "--quiet", *local, "--python", python, "-e", stale)
    run(tmp_path / "venv/bin/skills-bundle", "lock", stale)
    run(tmp_path / "venv/bin/skills-bundle", "lock", "--check", stale)


def test_hatchlings_switch_gives_a_wheel_without_a_bundle(clone: Path, tmp_path: Path) -> None:
    """`HATCH_BUILD_NO_HOOKS=1` exits 0, so a release must verify what it built."""
    ran = subprocess.run(
        [PYTHON, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        cwd=clone,
        env={**os.environ, "HATCH_BUILD_NO_HOOKS": "1"},
        capture_output=True,
        check=False,
    )
    with zipfile.ZipFile(only(tmp_path, "*.whl")) as archive:
        bundled = [name for name in archive.namelist() if ".agents" in name]
    assert (ran.returncode, bundled) == (0, [])

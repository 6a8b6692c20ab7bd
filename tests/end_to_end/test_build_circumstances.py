"""The same commit gives the same bytes wherever, whenever and by whomever it is built.

Each case changes one circumstance, builds both archives without isolation, and compares them with
those that were built in isolation.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.end_to_end.conftest import run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from tests.end_to_end.conftest import Dists

NOBODY = 65534


def build(
    project: Path, out: Path, variables: dict[str, str] | None = None, *, umask: int = 0o022
) -> dict[str, str]:
    """Build both archives from a checkout and give their digests by name."""
    ran = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-d", str(out)],
        cwd=project,
        env={**os.environ, **(variables or {})},
        umask=umask,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "names no commit" not in ran.stderr, ran.stderr
    return digests(out.iterdir())


def digests(archives: Iterable[Path]) -> dict[str, str]:
    """Return the SHA-256 of files by name."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in archives}


def cloned(clone: Path, folder: Path, *options: str) -> Path:
    """Clone into a folder that git makes."""
    run("git", "clone", "--quiet", *options, clone.as_uri(), folder)
    return folder


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """Return where archives go, outside every checkout."""
    return tmp_path / "out"


VARIABLES: dict[str, dict[str, str]] = {
    "time-zone": {"TZ": "Asia/Kathmandu"},
    "ascii-locale": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    "hash-seed": {"PYTHONHASHSEED": "12345"},
    "optimized": {"PYTHONOPTIMIZE": "2"},
    "epoch-early": {"SOURCE_DATE_EPOCH": "1"},
    "epoch-late": {"SOURCE_DATE_EPOCH": "4102444800"},
    "warnings-are-errors": {"PYTHONWARNINGS": "error", "PYTHONWARNDEFAULTENCODING": "1"},
    "of-a-git-hook": {"GIT_DIR": "/nowhere", "GIT_INDEX_FILE": "/nowhere/index"},
}


@pytest.mark.parametrize("name", VARIABLES)
def test_the_environment_changes_nothing(
    clone: Path, dists: Dists, tmp_path: Path, out: Path, name: str
) -> None:
    """Time, locale, hash seed, epoch and git's own variables."""
    project = cloned(clone, tmp_path / "project")
    assert build(project, out, VARIABLES[name]) == digests(dists)


@pytest.mark.parametrize("umask", [0o000, 0o077])
def test_the_umask_changes_nothing(
    clone: Path, dists: Dists, tmp_path: Path, out: Path, umask: int
) -> None:
    """Neither at checkout nor at build."""
    clone_it = ["git", "clone", "--quiet", clone.as_uri(), str(tmp_path / "project")]
    subprocess.run(clone_it, check=True, umask=umask)
    assert build(tmp_path / "project", out, umask=umask) == digests(dists)


@pytest.mark.parametrize(
    "name",
    ["a folder with spaces", "größe-尺寸", "x" * 100, "dist", ".venv", "build", "__pycache__"],
)
def test_the_folders_name_changes_nothing(
    clone: Path, dists: Dists, tmp_path: Path, out: Path, name: str
) -> None:
    """Spaces, non-ASCII, long, and names that ignore rules know."""
    assert build(cloned(clone, tmp_path / name / "project"), out) == digests(dists)


def parents_ignore(project: Path) -> None:
    """Put an ignore file that hides everything above the project."""
    (project.parent / ".gitignore").write_text("*\n", encoding="utf-8")


def old_times(project: Path) -> None:
    """Date every file 2001."""
    for path in project.rglob("*"):
        if ".git" not in path.parts:
            os.utime(path, (1_000_000_000, 1_000_000_000), follow_symlinks=False)


def open_modes(project: Path) -> None:
    """Let every file be 4777, as on a mount that knows no modes."""
    run("git", "-C", project, "config", "core.fileMode", "false")
    for path in project.rglob("*"):
        if path.is_file() and ".git" not in path.relative_to(project).parts:
            path.chmod(0o4777)


def lost_modes(project: Path) -> None:
    """Take every x bit, as a share that knows none."""
    run("git", "-C", project, "config", "core.fileMode", "false")
    for path in project.rglob("*"):
        if path.is_file() and ".git" not in path.relative_to(project).parts:
            path.chmod(0o644)


def hard_links(project: Path) -> None:
    """Hard-link every file elsewhere."""
    attic = project.parent / "attic"
    attic.mkdir()
    for number, path in enumerate(sorted(project.rglob("*"))):
        if path.is_file() and ".git" not in path.relative_to(project).parts:
            (attic / str(number)).hardlink_to(path)


def refs(project: Path) -> None:
    """Add branches and tags, detach HEAD, forget the remote."""
    run("git", "-C", project, "branch", "other")
    run("git", "-C", project, "tag", "v99.0")
    run("git", "-C", project, "checkout", "--quiet", "--detach")
    run("git", "-C", project, "remote", "remove", "origin")


def litter(project: Path) -> None:
    """Leave what a working checkout collects: environments, archives, bytecode, Finder files."""
    for path in (
        ".venv/lib/x.py",
        "dist/old-1.0.tar.gz",
        "src/skills_bundle/__pycache__/x.cpython-311.pyc",
        "src/skills_bundle/.DS_Store",
        "skills/.DS_Store",
        ".pytest_cache/x",
    ):
        place = project / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(b"x")


@pytest.mark.parametrize(
    "change", [parents_ignore, old_times, open_modes, lost_modes, hard_links, refs, litter]
)
def test_the_state_of_the_disk_changes_nothing(
    clone: Path, dists: Dists, tmp_path: Path, out: Path, change: Callable[[Path], None]
) -> None:
    """As long as the commit is the same and nothing but ignored files is added."""
    project = cloned(clone, tmp_path / "around" / "project")
    change(project)
    assert build(project, out) == digests(dists)


def test_a_shallow_clone_gives_the_same(
    clone: Path, dists: Dists, tmp_path: Path, out: Path
) -> None:
    """History is not needed."""
    assert build(cloned(clone, tmp_path / "project", "--depth=1"), out) == digests(dists)


def test_a_worktree_gives_the_same(clone: Path, dists: Dists, tmp_path: Path, out: Path) -> None:
    """Its `.git` is a file."""
    first = cloned(clone, tmp_path / "first")
    run("git", "-C", first, "worktree", "add", "--quiet", "--detach", tmp_path / "second")
    assert build(tmp_path / "second", out) == digests(dists)


def test_a_link_to_the_checkout_gives_the_same(
    clone: Path, dists: Dists, tmp_path: Path, out: Path
) -> None:
    """Where the project really lies counts."""
    (tmp_path / "link").symlink_to(cloned(clone, tmp_path / "project"))
    assert build(tmp_path / "link", out) == digests(dists)


def test_excludes_of_the_machine_change_nothing(
    clone: Path, dists: Dists, tmp_path: Path, out: Path
) -> None:
    """A user's global ignore file may name anything; what is tracked ships."""
    (tmp_path / "ignore").write_text("*.py\n*.md\n", encoding="utf-8")
    config = f"[core]\n\texcludesFile = {tmp_path / 'ignore'}\n"
    (tmp_path / ".gitconfig").write_text(config, encoding="utf-8")
    project = cloned(clone, tmp_path / "project")
    assert build(project, out, {"HOME": str(tmp_path)}) == digests(dists)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_the_owner_of_the_files_changes_nothing(
    clone: Path, dists: Dists, tmp_path: Path, out: Path
) -> None:
    """Somebody else's checkout, once git has been told to trust it."""
    project = cloned(clone, tmp_path / "project")
    for path in (project, *project.rglob("*")):
        os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
    (tmp_path / ".gitconfig").write_text("[safe]\n\tdirectory = *\n", encoding="utf-8")
    assert build(project, out, {"HOME": str(tmp_path)}) == digests(dists)

"""Tests of reproducible-python-wheels/scripts/build_twice.py: real builds with a real backend."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tests.builders import SkillsFolder
from tests.skills_collection.collection import start

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT: Final = "reproducible-python-wheels/build_twice.py"
PYPROJECT: Final = """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "demo"
version = "1.0"
"""
LEAKING: Final = """
[tool.hatch.build.hooks.custom]
path = "leak.py"
"""
LEAK: Final = """\
import os
from pathlib import Path
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

class Leak(BuildHookInterface):
    def initialize(self, version, build_data):
        Path(self.root, "demo", "zone.txt").write_text(os.environ["TZ"])
        build_data["artifacts"].append("demo/zone.txt")
"""


def _project(folder: Path, pyproject: str = PYPROJECT) -> Path:
    """Commit a small project."""
    made = SkillsFolder(folder / "project", ".")
    made.write("pyproject.toml", pyproject)
    made.write("leak.py", LEAK)
    made.write("demo/__init__.py")
    made.commit()
    return made.project


def test_a_project_without_leaks_is_reproducible(tmp_path: Path) -> None:
    """Exit code 0, and the builds are kept where they were asked for."""
    out = tmp_path / "out"
    ran = start(SCRIPT, _project(tmp_path), "--no-isolation", "--out", out)
    assert (ran.code, ran.stdout.splitlines()[-1]) == (0, "reproducible under these conditions")
    assert len(list((out / "first").iterdir())) == 2


def test_a_build_that_looks_at_its_surroundings_is_found_out(tmp_path: Path) -> None:
    """The file and the difference are named, exit code 1."""
    ran = start(SCRIPT, _project(tmp_path, PYPROJECT + LEAKING), "--no-isolation")
    assert (ran.code, "other bytes: demo/zone.txt" in ran.stdout) == (1, True)


def test_what_is_not_committed_is_not_built(tmp_path: Path) -> None:
    """The working folder is never touched."""
    project = _project(tmp_path)
    (project / "demo" / "draft.py").write_text("", encoding="utf-8")
    out = tmp_path / "out"
    start(SCRIPT, project, "--no-isolation", "--out", out)
    assert b"draft.py" not in next((out / "first").glob("*.whl")).read_bytes()


def test_a_build_that_fails_shows_its_log(tmp_path: Path) -> None:
    """Exit code 3."""
    broken = PYPROJECT.replace("hatchling.build", "no.such.backend")
    ran = start(SCRIPT, _project(tmp_path, broken), "--no-isolation")
    assert (ran.code, "no.such" in ran.stderr) == (3, True)


def test_a_folder_without_git_is_wrong_usage(tmp_path: Path) -> None:
    """Exit code 2."""
    assert start(SCRIPT, tmp_path, "--no-isolation").code == 2

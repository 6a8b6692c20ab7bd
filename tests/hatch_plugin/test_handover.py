"""An archive arrives finished or not at all, also when the build is killed on the way."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from hatchling.builders import sdist, wheel

from skills_bundle.hatch_plugin import handover
from tests.hatch_plugin.sample import BUNDLE, SKILL_MD, SampleProject, receipt_of, wheel_files

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import ModuleType

KILLED = """\
import os
from skills_bundle.hatch_plugin import build_hook

def end(*arguments):
    os._exit(9)

def get_build_hook():
    build_hook.SkillsBundleBuildHook.{method} = end
    return build_hook.SkillsBundleBuildHook
"""


def move(module: ModuleType) -> Callable[[str, str], None]:
    """Give the function that hatchling moves archives with."""
    return vars(module)[handover.MOVE]


def killed_in(sample: SampleProject, method: str) -> list[Path]:
    """Build both archives with a hook in which the process ends at once; give what it left."""
    sample.write("hatch_build.py", KILLED.format(method=method).encode()).committed()
    found: list[Path] = []
    for target in ("sdist", "wheel"):
        command = [sys.executable, "-m", "hatchling", "build", "-t", target]
        ran = subprocess.run(command, cwd=sample.folder, capture_output=True, check=False)
        assert ran.returncode == 9, ran.stderr
        found += (sample.folder / "dist").glob("*.[wt]*")
    return found


def test_a_build_killed_before_it_is_finished_leaves_no_archive(sample: SampleProject) -> None:
    """Neither hatchling's own nor a part of ours lies under the name of a good one."""
    assert killed_in(sample, "_finished") == []


def test_an_archive_is_finished_when_hatchling_has_put_it_in_place(sample: SampleProject) -> None:
    """A build that is killed before `finalize` leaves what a whole one does."""
    for archive in killed_in(sample, "finalize"):
        assert receipt_of(archive).source.commit == sample.commit_id()


def test_hatchling_has_its_function_back_after_every_build(
    sample: SampleProject, capsys: pytest.CaptureFixture[str]
) -> None:
    """After one that went through and after one that did not."""
    sample.wheel()
    sample.sdist()
    sample.write("skills/greet/SKILL.md", SKILL_MD + b"More.\n")
    with pytest.raises(SystemExit):
        sample.wheel()
    assert "has other bytes" in capsys.readouterr().err
    assert move(wheel) is move(sdist)


def test_a_build_that_ended_early_leaves_the_next_one_nothing(tmp_path: Path) -> None:
    """Its claim on the next move is dropped, and another's move is none of its business."""
    original = move(wheel)
    handover.take_over("wheel", object(), bytes.upper)
    handover.take_over("wheel", object(), bytes.upper)
    (tmp_path / "archive").write_bytes(b"as it was")
    move(wheel)(str(tmp_path / "archive"), str(tmp_path / "moved"))
    assert (tmp_path / "moved").read_bytes() == b"as it was"
    assert move(wheel) is original


def test_a_build_that_failed_gives_nothing_to_another_project(
    sample: SampleProject, tmp_path: Path
) -> None:
    """Both in one process, into one folder; the other one does not even use the hook."""
    (sample.folder / "src/acme_skills/gone.py").symlink_to("nowhere")
    out = str(tmp_path / "dist")
    with pytest.raises(FileNotFoundError):
        next(wheel.WheelBuilder(str(sample.folder)).build(directory=out))
    other = tmp_path / "other"
    (other / "other").mkdir(parents=True)
    (other / "other/__init__.py").touch()
    (other / "pyproject.toml").write_text(
        '[project]\nname = "other"\nversion = "1"\n', encoding="utf-8"
    )
    built = next(wheel.WheelBuilder(str(other)).build(directory=out, versions=["standard"]))
    assert "other/__init__.py" in wheel_files(tmp_path / "dist" / built.rpartition("/")[2])


def test_where_another_hook_has_a_say_the_archive_is_finished_after_it(
    sample: SampleProject,
) -> None:
    """Hatchling calls that hook when the archive is in its place."""
    ours = "[tool.hatch.build.hooks.custom]"
    other = '[tool.hatch.build.hooks.version]\npath = "src/acme_skills/_version.py"\n'
    sample.replace("pyproject.toml", ours, f"{other}\n{ours}").committed()
    assert f"{BUNDLE}/build-receipt.json" in wheel_files(sample.wheel())

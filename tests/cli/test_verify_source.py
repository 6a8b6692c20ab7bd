"""`verify-source` on the command line: one screen, JSON, exit codes."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from tests.cli.runner import call
from tests.hatch_plugin.sample import SampleProject
from tests.supply_chain.source_samples import rewritten

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def sample(tmp_path: Path) -> SampleProject:
    """Give a committed project; its folder is the repository's."""
    return SampleProject.create(tmp_path / "acme")


def test_a_match_is_told_on_one_screen(sample: SampleProject) -> None:
    """The verdict, what it rests on and what it does not prove."""
    ran = call("verify-source", str(sample.wheel()), "--repo", str(sample.folder))
    assert (ran.code, ran.stderr) == (0, "")
    assert ran.stdout.startswith("✓ acme_skills-1.0-py2.py3-none-any.whl: every file is")
    assert "files        5 equal to a blob, 6 made by the build" in ran.stdout
    assert "Not proved" in ran.stdout


def test_what_differs_is_listed_with_its_blob(sample: SampleProject) -> None:
    """Exit 1, and what not to do."""
    wheel = rewritten(sample.wheel(), {"acme_skills/__init__.py": b"other\n"})
    ran = call("verify-source", str(wheel), "--repo", str(sample.folder))
    assert ran.code == 1
    assert "1 file not as the commit has them" in ran.stdout
    assert "src/acme_skills/__init__.py" in ran.stdout
    assert "Do not use this archive" in ran.stderr


@pytest.mark.parametrize("added", ["extra.py", "src/acme_skills/__init__.py"])
def test_the_json_is_the_whole_report(sample: SampleProject, added: str) -> None:
    """Every file has a row."""
    wheel = rewritten(sample.wheel(), {added: b'"""Acme."""\n'})
    ran = call("verify-source", str(wheel), "--repo", str(sample.folder), "--json")
    assert (ran.code, ran.json["verdict"]) == (3, "cannot_tell")
    assert {row["path"]: row["state"] for row in ran.json["files"]}[added] == "moved"


def test_the_name_of_a_file_stays_on_its_line(sample: SampleProject) -> None:
    """A line feed in it must not begin a headline of somebody else's."""
    wheel = sample.wheel()
    name = "a\n\u2713 b-1-py3-none-any.whl"
    for command in (
        ["verify-source", "--repo", str(sample.folder)],
        ["verify-wheel"],
        ["statement"],
    ):
        ran = call(*command, str(shutil.copy(wheel, wheel.with_name(name))))
        assert ran.code == 1
        assert not any(row.startswith("\u2713") for row in (ran.stdout + ran.stderr).splitlines())


def test_verbose_lists_every_file(sample: SampleProject) -> None:
    """Each with the blob it is."""
    ran = call("verify-source", str(sample.wheel()), "--repo", str(sample.folder), "--verbose")
    assert "Every file" in ran.stdout
    assert "skills/greet/scripts/hi.sh" in ran.stdout


def test_a_file_elsewhere_in_the_commit_names_the_command_that_can_tell(
    sample: SampleProject,
) -> None:
    """What only code places, only a build shows."""
    wheel = rewritten(sample.wheel(), {"extra.py": b'"""Acme."""\n'})
    ran = call("verify-source", str(wheel), "--repo", str(sample.folder))
    assert ran.code == 3
    assert "`skills-bundle rebuild`" in ran.stderr


@pytest.mark.parametrize("missing", ["file", "repository"])
def test_arguments_that_lead_nowhere_are_told(
    sample: SampleProject, tmp_path: Path, missing: str
) -> None:
    """A wrong folder is usage; an archive that is not there cannot be told about."""
    wheel = tmp_path / "none.whl" if missing == "file" else sample.wheel()
    folder = tmp_path / "none" if missing == "repository" else sample.folder
    ran = call("verify-source", str(wheel), "--repo", str(folder))
    assert ran.code == {"file": 3, "repository": 2}[missing]

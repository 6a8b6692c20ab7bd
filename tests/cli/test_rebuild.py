"""`rebuild` where nothing is built: what keeps a commit from it, and wrong arguments."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.cli.runner import call
from tests.hatch_plugin.sample import SampleProject, git

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def sample(tmp_path: Path) -> SampleProject:
    """Return a committed project at the top of its repository."""
    return SampleProject.create(tmp_path / "acme")


def causes(wheel: Path, repository: Path, *more: str) -> list[str]:
    """Return the codes of the causes."""
    ran = call("rebuild", str(wheel), "--repo", str(repository), "--json", *more)
    assert (ran.code, ran.json["verdict"]) == (3, "not_rebuildable")
    return [cause["code"] for cause in ran.json["causes"]]


def test_a_dirty_archive_cannot_be_rebuilt(sample: SampleProject) -> None:
    """There is no commit to build; the report has the receipt's reason."""
    wheel = sample.write("notes.txt", b"draft\n").wheel()
    assert causes(wheel, sample.folder) == ["no_source_commit"]
    ran = call("rebuild", str(wheel), "--repo", str(sample.folder))
    assert ran.stdout.startswith("? acme_skills-1.0-py2.py3-none-any.whl: not rebuildable")
    assert "dirty_source" in ran.stdout
    assert "verify-source" in ran.stderr


def test_a_commit_that_the_repository_lacks_cannot_be_rebuilt(
    sample: SampleProject, tmp_path: Path
) -> None:
    """For example with another repository."""
    other = SampleProject.create(tmp_path / "other")
    wheel = sample.write("README", b"new\n").committed().wheel()
    assert causes(wheel, other.folder) == ["object_missing"]


def test_a_shallow_clone_without_the_commit_cannot_be_rebuilt(
    sample: SampleProject, tmp_path: Path
) -> None:
    """The message has the remedy."""
    wheel = sample.wheel()
    sample.write("README", b"new\n").committed()
    git(tmp_path, "clone", "--quiet", "--depth", "1", sample.folder.as_uri(), "shallow")
    ran = call("rebuild", str(wheel), "--repo", str(tmp_path / "shallow"))
    assert ran.code == 3
    assert "--unshallow" in ran.stdout


def test_a_front_end_that_is_not_installed_is_reported(sample: SampleProject) -> None:
    """No other front end is tried."""
    more = ("--front-end", "pip", "--python", "/nowhere/python")
    assert causes(sample.wheel(), sample.folder, *more) == ["no_front_end"]


def test_a_relative_interpreter_is_resolved_in_the_current_folder(
    sample: SampleProject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The build runs in another folder; this interpreter is found, but builds nothing."""
    program = tmp_path / "venv/bin/python"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n", encoding="ascii")
    program.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    more = ("--front-end", "build", "--python", "venv/bin/python")
    assert causes(sample.wheel(), sample.folder, *more) == ["no_archive"]


def test_a_folder_without_a_project_cannot_be_rebuilt(sample: SampleProject) -> None:
    """The commit does not contain it."""
    codes = causes(sample.wheel(), sample.folder, "--project", "nowhere")
    assert codes == ["project_not_in_commit"]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--front-end", "hatch", "--no-isolation"), "--no-isolation: hatch always"),
        (("--front-end", "hatch", "--python", "x"), "--python: hatch does not support"),
        (("--front-end", "make"), "'make' is not one of"),
        (("--keep", "{folder}"), "is not empty"),
        (("--timeout", "0"), "--timeout"),
        (("--build-constraint", "/nowhere"), "does not exist"),
    ],
)
def test_unsupported_options_are_usage_errors(
    sample: SampleProject, more: tuple[str, ...], message: str
) -> None:
    """They are reported before anything is opened or built."""
    given = [word.format(folder=sample.folder) for word in more]
    ran = call("rebuild", str(sample.wheel()), "--repo", str(sample.folder), *given)
    assert ran.code == 2
    assert message in ran.stderr


def test_the_help_says_that_it_runs_code() -> None:
    """Users must know before they run it."""
    assert "THIS RUNS THE COMMIT'S CODE" in call("rebuild", "--help").stdout


def test_an_unusable_folder_is_reported_before_the_build(
    sample: SampleProject,
) -> None:
    """A build can take minutes."""
    wheel = sample.wheel()
    keep = str(wheel / "folder")
    ran = call("rebuild", str(wheel), "--repo", str(sample.folder), "--keep", keep, "--json")
    assert (ran.code, ran.json["error"]["code"]) == (3, "system")


def test_nothing_is_left_behind(sample: SampleProject, tmp_path: Path) -> None:
    """The repository is unchanged, too."""
    (tmp_path / "tmp").mkdir()
    wheel = sample.wheel()
    before = {path: path.stat().st_mtime_ns for path in sample.folder.rglob("*")}
    more = ("--front-end", "pip", "--python", "/nowhere/python")
    old = os.environ.get("TMPDIR")
    assert causes(wheel, sample.folder, *more) == ["no_front_end"]
    assert os.environ.get("TMPDIR") == old
    assert {path: path.stat().st_mtime_ns for path in sample.folder.rglob("*")} == before


def test_without_a_repository_no_other_command_is_suggested(
    sample: SampleProject, tmp_path: Path
) -> None:
    """`verify-source` would fail, too."""
    (tmp_path / "empty").mkdir()
    ran = call("rebuild", str(sample.wheel()), "--repo", str(tmp_path / "empty"))
    assert (ran.code, ran.stderr) == (3, "Nothing was compared.\n")

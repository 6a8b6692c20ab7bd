"""What a build reads and does not ship must be the commit's, or the receipt names none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.hatch_plugin.sample import SampleProject, git, receipt_of, wheel_builder, wheel_files

if TYPE_CHECKING:
    from pathlib import Path

STATIC = 'version = "1.0"'
DYNAMIC = 'dynamic = ["version"]'
IGNORE_VCS = "ignore-vcs = true"


def reason(archive: Path) -> str | None:
    """Give why a receipt names no commit; None if it names one."""
    return receipt_of(archive).source.reason


def exclude(sample: SampleProject, line: str) -> None:
    """Let git ignore something in this clone alone."""
    (sample.folder / ".git/info/exclude").write_text(f"{line}\n", encoding="utf-8")


@pytest.fixture
def going_by_ignore_files(sample: SampleProject) -> SampleProject:
    """Give a project that leaves the selection to ignore files, as hatchling does by default."""
    return sample.replace("pyproject.toml", IGNORE_VCS, "ignore-vcs = false").committed()


def test_a_committed_ignore_file_may_decide_what_ships(
    going_by_ignore_files: SampleProject,
) -> None:
    """What it leaves out is a function of the commit."""
    sample = going_by_ignore_files
    assert (reason(sample.wheel()), reason(sample.sdist())) == (None, None)


@pytest.mark.parametrize("name", [".hgignore", ".gitignore"])
def test_an_ignore_file_that_the_commit_does_not_hold_may_not(
    going_by_ignore_files: SampleProject, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    """Git says the checkout is clean; code is missing from the wheel all the same."""
    sample = going_by_ignore_files
    git(sample.folder, "rm", "--quiet", "--cached", "--ignore-unmatch", name)
    git(sample.folder, "commit", "--quiet", "--allow-empty", "--message", "x")
    exclude(sample, name)
    sample.write(name, b"syntax: glob\nrun.sh\n")
    wheel = sample.wheel()
    assert git(sample.folder, "status", "--porcelain", "--", "src") == ""
    assert "acme_skills/run.sh" not in wheel_files(wheel)
    assert (reason(wheel), reason(sample.sdist())) == ("dirty_source", "dirty_source")
    assert f"{name} (decides what ships" in capsys.readouterr().err


def test_an_ignore_file_above_the_project_may_not_either(tmp_path: Path) -> None:
    """In a repository of several projects the nearest one above counts."""
    repository = tmp_path / "all"
    sample = SampleProject.create(repository / "libs/acme", repository=repository)
    (sample.folder / ".gitignore").unlink()
    sample.replace("pyproject.toml", IGNORE_VCS, "ignore-vcs = false").committed()
    exclude(SampleProject(repository), ".gitignore\ndist")
    (repository / ".gitignore").write_text("run.sh\n", encoding="utf-8")
    assert (reason(sample.wheel()), reason(sample.sdist())) == ("dirty_source", "dirty_source")


def test_an_ignore_file_that_has_no_say_is_no_dirt(sample: SampleProject) -> None:
    """With `ignore-vcs = true` nobody reads it."""
    exclude(sample, ".hgignore")
    sample.write(".hgignore", b"syntax: glob\nrun.sh\n")
    assert (reason(sample.wheel()), reason(sample.sdist())) == (None, None)


def test_an_ignore_file_that_matches_its_own_checkout_is_dirt(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Hatchling drops all its patterns there, so the same commit would select other files."""
    sample = SampleProject.create(tmp_path / "out/acme")
    sample.replace("pyproject.toml", IGNORE_VCS, "ignore-vcs = false")
    sample.write(".gitignore", b"dist/\nout/\n").committed()
    assert reason(sample.wheel()) == "dirty_source"
    assert ".gitignore (has no say in a folder that it matches" in capsys.readouterr().err


def test_a_version_from_a_committed_file_is_the_commits(sample: SampleProject) -> None:
    """It is searched for, not computed."""
    sample.replace("pyproject.toml", STATIC, DYNAMIC).write("VERSION", b"2.0\n")
    sample.configure('[tool.hatch.version]\npath = "VERSION"\npattern = "(?P<version>.+)"')
    found = receipt_of(sample.committed().wheel())
    assert (found.source.reason, found.package.version, found.package.computed) == (None, "2.0", ())


def test_a_version_from_a_file_that_git_ignores_is_dirt(
    sample: SampleProject, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same commit would give another version elsewhere."""
    exclude(sample, "VERSION")
    sample.replace("pyproject.toml", STATIC, DYNAMIC).write("VERSION", b"9.9\n")
    sample.replace(
        "pyproject.toml",
        "[tool.hatch.build.targets.wheel]",
        '[tool.hatch.build.targets.sdist]\nexclude = ["VERSION"]\n[tool.hatch.build.targets.wheel]',
    )
    sample.configure('[tool.hatch.version]\npath = "VERSION"\npattern = "(?P<version>.+)"')
    assert reason(sample.committed().wheel()) == "dirty_source"
    assert "VERSION (gives the version)" in capsys.readouterr().err


def test_a_version_from_the_environment_is_said_to_be_computed(
    sample: SampleProject, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The files are the commit's; the version is not, and receipt and build log say so."""
    monkeypatch.setenv("ACME_VERSION", "3.0")
    sample.replace("pyproject.toml", STATIC, DYNAMIC)
    sample.configure('[tool.hatch.version]\nsource = "env"\nvariable = "ACME_VERSION"')
    found = receipt_of(sample.committed().wheel())
    assert (found.source.reason, found.package.computed) == (None, ("version",))
    assert "which does not give: version" in capsys.readouterr().err


def test_a_dependency_with_a_folder_of_the_machine_is_said_to_be_computed(
    sample: SampleProject,
) -> None:
    """Hatchling fills in `{root:uri}` and `{env:NAME}`."""
    line = f'{STATIC}\ndependencies = ["other @ {{root:uri}}/other"]'
    sample.replace("pyproject.toml", STATIC, line)
    sample.configure("[tool.hatch.metadata]\nallow-direct-references = true")
    assert receipt_of(sample.committed().wheel()).package.computed == ("dependencies",)


def test_a_script_that_git_ignores_is_dirt(sample: SampleProject) -> None:
    """What the build runs can do anything to it."""
    exclude(sample, "/made.py")
    hook = b"from hatchling.metadata.plugin.interface import MetadataHookInterface as Base\n\n\n"
    sample.write("made.py", hook + b"class Hook(Base):\n    def update(self, metadata): ...\n")
    sample.replace(
        "pyproject.toml",
        "[tool.hatch.build.targets.wheel]",
        '[tool.hatch.build.targets.sdist]\nexclude = ["made.py"]\n[tool.hatch.build.targets.wheel]',
    )
    sample.configure('[tool.hatch.metadata.hooks.custom]\npath = "made.py"')
    assert reason(sample.committed().wheel()) == "dirty_source"


def test_configuration_that_was_otherwise_when_hatchling_read_it_is_dirt(
    sample: SampleProject, capsys: pytest.CaptureFixture[str]
) -> None:
    """Hatchling reads pyproject.toml before we look at the checkout the first time."""
    committed = (sample.folder / "pyproject.toml").read_bytes()
    sample.replace("pyproject.toml", STATIC, 'version = "6.6"')
    builder = wheel_builder(sample.folder)
    assert builder.metadata.version == "6.6"
    sample.write("pyproject.toml", committed)
    wheel = next(builder.build(directory=str(sample.folder / "dist"), versions=["standard"]))
    assert receipt_of(sample.folder / wheel).source.reason == "dirty_source"
    assert "pyproject.toml (was otherwise when hatchling read it)" in capsys.readouterr().err


def test_configuration_in_a_hatch_file_is_compared_too(sample: SampleProject) -> None:
    """It goes before the table in pyproject.toml; one that git ignores is dirt."""
    sample.write("hatch.toml", b"[envs.default]\n")
    assert reason(sample.committed().wheel()) is None
    exclude(sample, "/hatch.toml")
    git(sample.folder, "rm", "--quiet", "--cached", "hatch.toml")
    git(sample.folder, "commit", "--quiet", "--message", "Stop tracking it")
    assert reason(sample.wheel()) == "dirty_source"

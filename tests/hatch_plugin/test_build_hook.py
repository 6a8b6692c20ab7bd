"""What a project meets when it builds with the hook: short refusals, nothing left behind."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hatchling.plugin.manager import PluginManager

from skills_bundle.files import writing
from skills_bundle.git import limits
from skills_bundle.hatch_plugin import build_hook
from skills_bundle.hatch_plugin.build_hook import PYGIT2, SkillsBundleBuildHook
from tests.hatch_plugin.sample import (
    BUNDLE,
    SKILL_MD,
    SampleProject,
    git,
    unpacked,
    wheel_builder,
    wheel_files,
)

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.slow


def refusal(build: Callable[[], object], capsys: pytest.CaptureFixture[str]) -> str:
    """Build, which must end as a program ends, and give what it said."""
    with pytest.raises(SystemExit) as ended:
        build()
    assert ended.value.code == 1
    return capsys.readouterr().err


def test_a_stale_lock_ends_the_build_and_names_file_and_command(
    sample: SampleProject, capsys: pytest.CaptureFixture[str]
) -> None:
    """The message names each file from the project's folder, and the command that mends it."""
    sample.write("skills/greet/SKILL.md", SKILL_MD + b"More.\n")
    told = refusal(sample.wheel, capsys)
    assert "skills/greet/SKILL.md" in told
    assert "`skills-bundle lock`" in told


def test_a_missing_lock_ends_the_build(
    sample: SampleProject, capsys: pytest.CaptureFixture[str]
) -> None:
    """A project that never ran the command is told to."""
    (sample.folder / "catalog.lock.json").unlink()
    assert "run `skills-bundle lock`" in refusal(sample.sdist, capsys)


def test_every_refused_skill_is_named(
    sample: SampleProject, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two bad skills, two messages, one build."""
    sample.write("skills/one/SKILL.md", b"no frontmatter\n")
    sample.write("skills/two/SKILL.md", b"---\nname: other\ndescription: d\n---\n")
    told = refusal(sample.wheel, capsys)
    assert "skills/one/SKILL.md" in told
    assert "skills/two/SKILL.md" in told


def test_strict_refuses_what_is_otherwise_a_warning(
    sample: SampleProject, capsys: pytest.CaptureFixture[str]
) -> None:
    """The setting of that name reaches the scan."""
    sample.write("skills/greet/SKILL.md", SKILL_MD.replace(b"name:", b"unknown: 1\nname:"))
    sample.locked().wheel()
    sample.configure("strict = true")
    assert "skills/greet/SKILL.md" in refusal(sample.wheel, capsys)


def test_wrong_settings_are_all_told_with_their_paths(
    sample: SampleProject, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nobody builds twice to find two typos."""
    sample.configure('sklls = "x"\nproof = "yes"')
    told = refusal(sample.wheel, capsys)
    assert "tool.hatch.build.hooks.custom.sklls" in told
    assert "tool.hatch.build.hooks.custom.proof" in told


def test_settings_of_one_target_are_told_by_their_own_path(
    sample: SampleProject, capsys: pytest.CaptureFixture[str]
) -> None:
    """Hatchling lets a target have its own table for a hook."""
    sample.configure('[tool.hatch.build.targets.wheel.hooks.custom]\nskills = "skills"\nproof = 1')
    told = refusal(sample.wheel, capsys)
    assert "tool.hatch.build.targets.wheel.hooks.custom.proof" in told


def test_a_missing_entry_point_ends_the_build_with_the_line_to_add(
    sample: SampleProject, capsys: pytest.CaptureFixture[str]
) -> None:
    """A hook may not fill in static metadata, so the project must."""
    sample.replace("pyproject.toml", 'acme-skills = "acme_skills"', 'acme-skills = "other"')
    assert 'acme-skills = "acme_skills"' in refusal(sample.wheel, capsys)


def test_a_project_called_as_a_module_of_python_needs_another_package(
    sample: SampleProject, capsys: pytest.CaptureFixture[str]
) -> None:
    """An import of that name finds Python's own, and so does whoever looks for the collection."""
    sample.replace("pyproject.toml", 'name = "Acme.Skills"', 'name = "json"')
    told = refusal(sample.wheel, capsys)
    assert "tool.hatch.build.hooks.custom.package: 'json'" in told


def test_a_hook_after_ours_ends_the_build(
    sample: SampleProject, capsys: pytest.CaptureFixture[str]
) -> None:
    """It could change what the receipt speaks of."""
    sample.configure("\n[tool.hatch.build.hooks.version]\npath = 'src/acme_skills/v.py'\n")
    told = refusal(sample.wheel, capsys)
    assert "must be the last build hook" in told
    assert "version" in told


def test_a_package_that_is_not_in_the_wheel_ends_the_build(
    sample: SampleProject, capsys: pytest.CaptureFixture[str]
) -> None:
    """There would be a bundle that no import finds."""
    sample.configure('package = "acme"')
    sample.replace("pyproject.toml", 'acme-skills = "acme_skills"', 'acme-skills = "acme"')
    assert "acme/__init__.py" in refusal(sample.wheel, capsys)


@pytest.mark.parametrize(
    "path", ["src/acme_skills/.agents/skills/greet/SKILL.md", "build-receipt.json"]
)
def test_files_that_the_build_makes_may_not_be_there(
    sample: SampleProject, capsys: pytest.CaptureFixture[str], path: str
) -> None:
    """Whose file would ship otherwise is anybody's guess."""
    sample.write(path, b"{}").committed()
    assert "the build makes" in refusal(sample.wheel, capsys)


def test_a_refusal_fits_a_screen(sample: SampleProject, capsys: pytest.CaptureFixture[str]) -> None:
    """Hundreds of problems are counted, and the command that lists them is named."""
    for number in range(200):
        sample.write(f"skills/s{number}/SKILL.md", b"no frontmatter\n")
    told = refusal(sample.wheel, capsys)
    assert len(told.splitlines()) < limits.BUILD_PROBLEMS_SHOWN + 5
    assert "`skills-bundle lock --check`" in told


def test_a_refused_build_leaves_no_archive(
    sample: SampleProject, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not even hatchling's, which holds no bundle; not even when it fails at the very end."""
    sample.configure('package = "acme"')
    sample.replace("pyproject.toml", 'acme-skills = "acme_skills"', 'acme-skills = "acme"')
    refusal(sample.wheel, capsys)
    assert list((sample.folder / "dist").iterdir()) == []


def test_builds_leave_no_temporary_files(
    sample: SampleProject,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """Neither good builds nor refused ones, nor builds that raise."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    sample.wheel()
    sample.sdist()
    sample.write("skills/greet/SKILL.md", b"")
    refusal(sample.wheel, capsys)
    assert list(scratch.iterdir()) == []


def test_the_source_tree_is_not_written_to(sample: SampleProject) -> None:
    """Every file keeps bytes, mode and time; the index too. Only `dist/` is new."""
    before = _state(sample.folder)
    sample.wheel()
    sample.sdist()
    after = {path: row for path, row in _state(sample.folder).items() if "dist" not in path.parts}
    assert {path: row for path, row in after.items() if "__pycache__" not in path.parts} == before


def _state(folder: Path) -> dict[Path, tuple[int, int, bytes]]:
    rows = [path for path in folder.rglob("*") if path.is_file()]
    return {
        path.relative_to(folder): (path.stat().st_mtime_ns, path.stat().st_mode, path.read_bytes())
        for path in rows
    }


def test_an_editable_build_is_left_alone(sample: SampleProject) -> None:
    """A stale lock must not keep anyone from installing the tool that mends it."""
    own = 'ignore-vcs = true\ndev-mode-dirs = ["src"]\n'  # else hatchling needs `editables`
    sample.replace("pyproject.toml", "ignore-vcs = true\n", own)
    (sample.folder / "catalog.lock.json").unlink()
    wheel = sample.wheel(version="editable")
    assert [name for name in wheel_files(wheel) if ".agents" in name] == []


def test_the_build_log_says_what_ships_and_why_no_commit_is_named(
    sample: SampleProject, capsys: pytest.CaptureFixture[str]
) -> None:
    """The files behind a reason stand in the log and not in the receipt."""
    sample.wheel()
    clean = capsys.readouterr().err
    sample.write("notes.txt", b"").wheel()
    dirty = capsys.readouterr().err
    assert f"1 skill with 2 files; built from commit {sample.commit_id()}" in clean
    assert "names no commit: dirty_source. Different from the commit: notes.txt." in dirty


def test_no_hooks_no_bundle(sample: SampleProject, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hatchling's switch builds a wheel without a bundle and says nothing; the run time does."""
    monkeypatch.setenv("HATCH_BUILD_NO_HOOKS", "1")
    assert [name for name in wheel_files(sample.wheel()) if ".agents" in name] == []


def test_pygit2_is_asked_for_inside_a_checkout_only(sample: SampleProject, tmp_path: Path) -> None:
    """A build from an sdist must not need it, wherever the sdist was unpacked."""
    sdist = sample.sdist()
    outside = unpacked(sdist, tmp_path / "elsewhere")
    inside = unpacked(sdist, sample.folder / "dist")
    asked = [wheel_builder(row.folder).config.dependencies for row in (sample, outside, inside)]
    assert asked == [[PYGIT2], [], []]


def test_builds_ask_for_the_pygit2_that_the_project_depends_on() -> None:
    """One requirement, in two places that cannot read each other."""
    root = Path(__file__).resolve().parents[2]
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert PYGIT2 in project["dependencies"]


def test_other_targets_are_left_alone(sample: SampleProject) -> None:
    """Only wheels and sdists carry a bundle; a table for all targets reaches further."""
    builder = wheel_builder(sample.folder)
    root, config = str(sample.folder), {"skills": "skills"}
    hook = SkillsBundleBuildHook(root, config, builder.config, builder.metadata, root, "binary")
    archive = sample.folder / "archive"
    archive.write_bytes(b"theirs")
    hook.initialize("standard", {"build_hooks": ("skills-bundle",)})
    hook.finalize("standard", {}, str(archive))
    assert archive.read_bytes() == b"theirs"


def test_git_variables_of_the_environment_have_no_say(
    sample: SampleProject, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A build started by a git hook sees the project's repository, not the hook's."""
    other = SampleProject.create(tmp_path / "other")
    git(other.folder, "commit", "--quiet", "--allow-empty", "--message", "Another")
    before = sample.wheel().read_bytes()
    monkeypatch.setenv("GIT_DIR", str(other.folder / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other.folder))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "none"))
    assert sample.wheel().read_bytes() == before


def test_hatchling_finds_the_hook_under_its_name() -> None:
    """Registered as a plugin, the class answers to `skills-bundle`."""
    manager = PluginManager()
    manager.manager.register(build_hook)
    assert manager.build_hook.get("skills-bundle") is SkillsBundleBuildHook


KILLED = """\
import os
from skills_bundle.hatch_plugin import archives, build_hook

def end(*arguments):
    os._exit(9)

def get_build_hook():
    archives.finish_wheel = archives.finish_sdist = end
    return build_hook.SkillsBundleBuildHook
"""


@pytest.mark.parametrize("target", ["sdist", "wheel"])
def test_a_build_killed_before_it_is_finished_leaves_no_archive(
    sample: SampleProject, target: str
) -> None:
    """Neither hatchling's own archive nor a part of ours lies under the name of a good one."""
    sample.write("hatch_build.py", KILLED.encode()).committed()
    command = [sys.executable, "-m", "hatchling", "build", "-t", target]
    ran = subprocess.run(command, cwd=sample.folder, capture_output=True, check=False)
    assert ran.returncode == 9, ran.stderr
    assert [*(sample.folder / "dist").glob("*.[wt]*")] == []


def test_beside_another_hook_the_archive_is_finished_too(sample: SampleProject) -> None:
    """Ours runs last."""
    ours = "[tool.hatch.build.hooks.custom]"
    other = '[tool.hatch.build.hooks.version]\npath = "src/acme_skills/_version.py"\n'
    sample.replace("pyproject.toml", ours, f"{other}\n{ours}").committed()
    assert f"{BUNDLE}/build-receipt.json" in wheel_files(sample.wheel())


@pytest.mark.parametrize("target", ["wheel", "sdist"])
def test_every_missing_file_that_the_configuration_forces_in_is_named(
    sample: SampleProject, capsys: pytest.CaptureFixture[str], target: str
) -> None:
    """Whichever archive is built first: the other one needs it as well."""
    sample.configure(
        f"[tool.hatch.build.targets.{target}.force-include]\n"
        '"data/one.txt" = "acme_skills/one.txt"\n"data/two.txt" = "acme_skills/two.txt"'
    )
    for build in (sample.wheel, sample.sdist):
        with pytest.raises(SystemExit):
            build()
        told = capsys.readouterr().err
        assert "data/one.txt: is named in `force-include` and does not exist" in told
        assert "data/two.txt: is named in `force-include` and does not exist" in told


def test_a_full_disk_is_reported_with_the_archive_that_does_not_fit(
    sample: SampleProject, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The system's own error names no file; nothing is left behind."""

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(writing, "_replace", full)
    with pytest.raises(SystemExit):
        sample.wheel()
    told = capsys.readouterr().err
    assert "acme_skills-1.0-py2.py3-none-any.whl: No space left on device" in told
    assert [*(sample.folder / "dist").iterdir()] == []

"""A project on disk: what `lock` writes, checks and refuses, and what the build sees of it."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from skills_bundle.bundle import limits, lock
from skills_bundle.errors import (
    InvalidLockError,
    InvalidSkillsError,
    SettingsError,
    StaleLockError,
)
from skills_bundle.project import project
from tests.hatch_plugin.sample import SKILL_MD, SampleProject, git

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.slow


@pytest.fixture
def sample(tmp_path: Path) -> SampleProject:
    """Return a committed project."""
    return SampleProject.create(tmp_path / "acme")


def plain(folder: Path) -> Path:
    """Write a folder of one skill: no pyproject.toml, no git."""
    SampleProject(folder).write("skills/greet/SKILL.md", SKILL_MD)
    return folder


def test_a_current_lock_is_current(sample: SampleProject) -> None:
    """Checking gives the lock and what the scan read."""
    found, result = project.check_lock(project.load(sample.folder))
    assert found.to_bytes() == (sample.folder / lock.LOCK_FILE_NAME).read_bytes()
    assert [skill.name for skill in result.skills] == ["greet"]


def test_a_current_lock_is_not_written_again(sample: SampleProject) -> None:
    """Its time does not change, so nothing that depends on it is made anew."""
    place = sample.folder / lock.LOCK_FILE_NAME
    before = place.stat()
    project.write_lock(project.load(sample.folder))
    assert place.stat() == before


def test_a_lock_is_written_for_all_to_read(tmp_path: Path) -> None:
    """Not with the narrow mode of a temporary file, of which none is left."""
    project.write_lock(project.load(plain(tmp_path)))
    mode = stat.S_IMODE((tmp_path / lock.LOCK_FILE_NAME).stat().st_mode)
    assert (oct(mode), sorted(path.name for path in tmp_path.iterdir())) == (
        "0o644",
        [lock.LOCK_FILE_NAME, "skills"],
    )


def test_a_refused_skill_leaves_the_old_lock(sample: SampleProject) -> None:
    """Nothing is half written."""
    before = (sample.folder / lock.LOCK_FILE_NAME).read_bytes()
    sample.write("skills/bad/SKILL.md", b"no frontmatter\n")
    with pytest.raises(InvalidSkillsError):
        project.write_lock(project.load(sample.folder))
    assert (sample.folder / lock.LOCK_FILE_NAME).read_bytes() == before


def test_problems_are_told_from_the_projects_folder(sample: SampleProject) -> None:
    """An editor can jump to `skills/bad/SKILL.md`."""
    sample.write("skills/bad/SKILL.md", b"no frontmatter\n")
    with pytest.raises(InvalidSkillsError) as caught:
        project.make_lock(project.load(sample.folder))
    assert [row.path for row in caught.value.problems] == ["skills/bad/SKILL.md"]


def change(sample: SampleProject) -> None:
    """Change a file."""
    sample.write("skills/greet/SKILL.md", SKILL_MD + b"More.\n")


def add(sample: SampleProject) -> None:
    """Add a file."""
    sample.write("skills/greet/more.md", b"")


def remove(sample: SampleProject) -> None:
    """Remove a file."""
    (sample.folder / "skills/greet/scripts/hi.sh").unlink()


@pytest.mark.parametrize(
    ("spoil", "path", "code"),
    [
        (change, "skills/greet/SKILL.md", "changed"),
        (add, "skills/greet/more.md", "added"),
        (remove, "skills/greet/scripts/hi.sh", "removed"),
    ],
)
def test_a_stale_lock_names_what_is_stale(
    sample: SampleProject, spoil: Callable[[SampleProject], None], path: str, code: str
) -> None:
    """Each file from the project's folder, and how it differs."""
    spoil(sample)
    with pytest.raises(StaleLockError) as caught:
        project.check_lock(project.load(sample.folder))
    assert [(row.path, row.code) for row in caught.value.problems] == [(path, code)]


def test_another_collection_name_is_stale_too(sample: SampleProject) -> None:
    """The lock's own field is named, not a file."""
    sample.configure('collection = "other"')
    with pytest.raises(StaleLockError) as caught:
        project.check_lock(project.load(sample.folder))
    assert [row.path for row in caught.value.problems] == ["collection"]


def test_a_missing_lock_names_the_command(tmp_path: Path) -> None:
    """Whoever builds for the first time is told what to run."""
    with pytest.raises(StaleLockError, match="run `skills-bundle lock`"):
        project.check_lock(project.load(plain(tmp_path)))


def test_a_lock_with_conflict_marks_says_so(sample: SampleProject) -> None:
    """And can be written anew, since nothing is needed of it."""
    place = sample.folder / lock.LOCK_FILE_NAME
    before = place.read_bytes()
    place.write_bytes(b"<<<<<<< ours\n" + before + b"=======\n>>>>>>> theirs\n")
    with pytest.raises(InvalidLockError, match="merge conflict"):
        project.check_lock(project.load(sample.folder))
    project.write_lock(project.load(sample.folder))
    assert place.read_bytes() == before


def test_a_lock_that_is_too_large_is_not_read(sample: SampleProject) -> None:
    """The bound is told."""
    with (sample.folder / lock.LOCK_FILE_NAME).open("r+b") as file:
        file.truncate(limits.LOCK_MAX_BYTES + 1)
    with pytest.raises(InvalidLockError, match="more than"):
        project.load(sample.folder)


def test_a_lock_that_is_a_folder_cannot_be_read(tmp_path: Path) -> None:
    """A problem of that path, not a traceback."""
    (plain(tmp_path) / lock.LOCK_FILE_NAME).mkdir()
    with pytest.raises(InvalidLockError, match="Not a regular file"):
        project.load(tmp_path)


def test_no_skills_is_an_error(tmp_path: Path) -> None:
    """Nobody means to publish an empty collection."""
    (tmp_path / "skills").mkdir()
    with pytest.raises(InvalidSkillsError, match=r"no folder in it contains a SKILL\.md"):
        project.make_lock(project.load(tmp_path))


def test_a_missing_skills_folder_is_an_error(sample: SampleProject) -> None:
    """It is named."""
    shutil.rmtree(sample.folder / "skills")
    with pytest.raises(InvalidSkillsError, match="skills"):
        project.make_lock(project.load(sample.folder))


def test_a_folder_without_pyproject_is_named_after_itself(tmp_path: Path) -> None:
    """Any folder of skills can be locked."""
    found, _ = project.make_lock(project.load(plain(tmp_path / "My_Skills")))
    assert found.collection == "my-skills"


def test_a_folder_without_a_skills_folder_is_searched_itself(tmp_path: Path) -> None:
    """Many collections have their skills at the top, or grouped."""
    SampleProject(tmp_path).write("tools/greet/SKILL.md", SKILL_MD)
    found, _ = project.make_lock(project.load(tmp_path))
    assert [skill.path for skill in found.skills] == ["tools/greet"]


def test_a_missing_folder_is_told(tmp_path: Path) -> None:
    """A slip of the command line."""
    with pytest.raises(SettingsError, match="is not a folder"):
        project.load(tmp_path / "none")


def test_overrides_go_before_the_file(sample: SampleProject) -> None:
    """What the command line says holds."""
    sample.write("content/greet/SKILL.md", SKILL_MD)
    found = project.load(sample.folder, skills="content", collection="other", strict=True)
    assert (found.settings.skills, found.settings.collection) == ("content", "other")
    assert found.settings.strict
    assert found.settings.repository == "https://example.org/acme/skills"


def test_overrides_are_checked_like_the_file(sample: SampleProject) -> None:
    """All at once, and said to come from the command line."""
    with pytest.raises(SettingsError) as caught:
        project.load(sample.folder, skills="../x", exclude=("a", "../b"))
    assert [row.path for row in caught.value.problems] == [
        f"{project.COMMAND_LINE}.skills",
        f"{project.COMMAND_LINE}.exclude",
    ]


def test_excluded_folders_are_left_out(sample: SampleProject) -> None:
    """And counted apart."""
    sample.write("skills/draft/SKILL.md", SKILL_MD.replace(b"greet", b"draft"))
    found, result = project.make_lock(project.load(sample.folder, exclude=("draft",)))
    assert [skill.name for skill in found.skills] == ["greet"]
    assert result.excluded == ("draft",)


def test_the_lock_gives_the_tree_id_that_git_gives(sample: SampleProject) -> None:
    """Stray files, links and x bits included."""
    sample.write("skills/README.md", b"stray\n").write("skills/.gitkeep", b"")
    (sample.folder / "skills/link").symlink_to("README.md")
    found, _ = project.write_lock(project.load(sample.committed().folder))
    assert found.digests.git_tree == git(sample.folder, "rev-parse", "HEAD:skills").strip()


def test_an_ignored_file_is_not_locked(sample: SampleProject) -> None:
    """The lock depends on what can be committed."""
    sample.write("skills/greet/run.log", b"")
    _, result = project.check_lock(project.load(sample.folder))
    assert [file.path for file in result.skills[0].files] == ["SKILL.md", "scripts/hi.sh"]


def test_a_lock_does_not_depend_on_git(sample: SampleProject, tmp_path: Path) -> None:
    """The same files without a repository give the same bytes."""
    shutil.copytree(sample.folder, tmp_path / "copy", ignore=shutil.ignore_patterns(".git"))
    found, _ = project.make_lock(project.load(tmp_path / "copy"))
    assert found.to_bytes() == (sample.folder / lock.LOCK_FILE_NAME).read_bytes()


def test_outside_a_checkout_the_reason_is_at_hand(tmp_path: Path) -> None:
    """A command can say why ignored files are locked."""
    found = project.load(plain(tmp_path)).facts.without_git
    assert found is not None
    assert found.reason == "not_git_source"


def test_a_lock_that_cannot_be_put_in_place_leaves_nothing(tmp_path: Path) -> None:
    """The temporary file goes too: here a folder has taken the lock's place."""
    subject = project.load(plain(tmp_path))
    subject.lock_path.mkdir()
    with pytest.raises(OSError, match="directory"):
        project.write_lock(subject)
    assert sorted(path.name for path in tmp_path.iterdir()) == [lock.LOCK_FILE_NAME, "skills"]


def test_by_products_that_were_committed_do_not_stop_a_build(sample: SampleProject) -> None:
    """What is in place counts, though git's tree holds more than it says."""
    sample.write("skills/greet/notes.md~", b"x").committed()
    found, _ = project.check_lock(project.load(sample.folder))
    assert found.to_bytes() == (sample.folder / lock.LOCK_FILE_NAME).read_bytes()


def test_skills_that_are_all_ignored_are_said_to_be(sample: SampleProject) -> None:
    """Not that there are none."""
    git(sample.folder, "rm", "--quiet", "-r", "--cached", "skills")
    sample.write(".gitignore", b"/skills/\n")
    with pytest.raises(InvalidSkillsError) as caught:
        project.make_lock(project.load(sample.folder))
    rows = [(problem.code, problem.path) for problem in caught.value.problems]
    assert rows == [("skill_ignored", "skills/greet")]


def test_the_skills_folder_of_a_project_is_no_project(sample: SampleProject) -> None:
    """`cd skills && skills-bundle lock` would write a lock that nobody reads."""
    with pytest.raises(SettingsError) as caught:
        project.load(sample.folder / "skills")
    assert [problem.code for problem in caught.value.problems] == ["inside_a_project"]


def test_a_folder_beside_the_skills_of_a_project_is_one(sample: SampleProject) -> None:
    """It has its own skills and its own lock."""
    other = plain(sample.folder / "other")
    assert project.load(other).settings.collection == "other"


@pytest.mark.parametrize("locale", [{"LC_ALL": "C", "PYTHONUTF8": "0"}, {"LC_ALL": "C.UTF-8"}])
def test_a_lock_does_not_depend_on_the_locale(tmp_path: Path, locale: dict[str, str]) -> None:
    """Names are bytes on the disk and UTF-8 in a lock, also of folders and of the project."""
    sample = SampleProject(tmp_path / "für").write("skills/café/é.txt", b"")
    sample.write("skills/café/SKILL.md", "---\nname: café\ndescription: Tea.\n---\n".encode())
    sample.write(".gitignore", "ü*\n".encode()).write("skills/café/üb", b"")
    git(sample.folder, "init", "--quiet")
    script = (
        "import sys\n"
        "from pathlib import Path\n"
        "from skills_bundle.project import project\n"
        "found, _ = project.make_lock(project.load(Path(sys.argv[1])))\n"
        "print(ascii([found.collection, *found.files()]))\n"
    )
    command = [sys.executable, "-c", script, str(sample.folder)]
    environment = {**os.environ, **locale}
    said = subprocess.run(command, check=True, capture_output=True, env=environment).stdout
    assert said.decode().strip() == ascii(["für", "café/SKILL.md", "café/é.txt"])


@pytest.mark.parametrize("inside", [True, False])
@pytest.mark.parametrize("skills", ["skills", "content/skills"])
def test_a_linked_skills_folder_is_refused(
    sample: SampleProject, tmp_path: Path, skills: str, *, inside: bool
) -> None:
    """Also a folder above it, and whether it leads out of the project or not."""
    real = (sample.folder if inside else tmp_path) / "elsewhere"
    first = sample.folder / skills.split("/", maxsplit=1)[0]
    if first.exists():
        first.rename(real)
    else:
        shutil.copytree(sample.folder / "skills", real / "skills")
    first.symlink_to(real, target_is_directory=True)
    with pytest.raises(SettingsError) as caught:
        project.make_lock(project.load(sample.folder, skills=skills))
    (problem,) = caught.value.problems
    assert (problem.code, problem.path) == ("skills_folder_is_link", first.name)
    assert str(real) in problem.message


@pytest.mark.parametrize("dangling", [True, False])
def test_a_linked_lock_is_refused_and_left(
    sample: SampleProject, tmp_path: Path, *, dangling: bool
) -> None:
    """It could be anyone's file."""
    file, real = sample.folder / lock.LOCK_FILE_NAME, tmp_path / "real.json"
    file.unlink() if dangling else file.rename(real)
    file.symlink_to(real)
    with pytest.raises(InvalidLockError) as caught:
        project.load(sample.folder)
    assert [row.code for row in caught.value.problems] == ["lock_is_link"]
    assert file.is_symlink()


def test_a_lock_is_on_the_disk_before_it_has_its_name(
    sample: SampleProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A crash must not leave an empty lock."""
    calls: list[str] = []
    flush, rename = os.fsync, os.replace

    def note_flush(descriptor: int) -> None:
        calls.append("fsync")
        flush(descriptor)

    def note_rename(source: Path, target: Path) -> None:
        calls.append("replace")
        rename(source, target)

    monkeypatch.setattr(os, "fsync", note_flush)
    monkeypatch.setattr(os, "replace", note_rename)
    sample.write("skills/greet/more.md", b"more")
    project.write_lock(project.load(sample.folder))
    assert calls == ["fsync", "replace"]

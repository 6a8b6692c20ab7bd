"""What ships and what the receipt says of it, for every place a file can have."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.hatch_plugin.sample import (
    SampleProject,
    git,
    receipt_of,
    sdist_files,
    unpacked,
    wheel_builder,
    wheel_files,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.slow

CODE = "src/acme_skills/__init__.py"


def verdict(archive: Path) -> str:
    """Return a receipt's state, or its reason; the source fields must agree with it."""
    source = receipt_of(archive).source
    if source.state == "clean":
        assert source.commit is not None
        return "clean"
    assert (source.commit, source.skills_tree, source.proof) == (None, None, None)
    return f"{source.state}: {source.reason}"


def edit(sample: SampleProject) -> None:
    """Change a tracked file that ships."""
    sample.write(CODE, b'"""Changed."""\n')


def edit_elsewhere(sample: SampleProject) -> None:
    """Change a tracked file that no wheel ships."""
    sample.write(".gitignore", b"dist/\n*.log\n.env\n*.tmp\n")


def stage(sample: SampleProject) -> None:
    """Stage a change."""
    edit(sample)
    git(sample.folder, "add", CODE)


def stage_new_file(sample: SampleProject) -> None:
    """Stage a file that the commit does not hold."""
    sample.write("src/acme_skills/new.py", b"")
    git(sample.folder, "add", "src/acme_skills/new.py")


def add_untracked(sample: SampleProject) -> None:
    """Leave a file that git neither tracks nor ignores."""
    sample.write("notes.txt", b"")


def delete(sample: SampleProject) -> None:
    """Delete a tracked file."""
    (sample.folder / "src/acme_skills/run.sh").unlink()


def assume_unchanged(sample: SampleProject) -> None:
    """Edit a file after telling git not to look at it."""
    git(sample.folder, "update-index", "--assume-unchanged", CODE)
    edit(sample)


def skip_worktree(sample: SampleProject) -> None:
    """Edit a file after taking it out of git's sight."""
    git(sample.folder, "update-index", "--skip-worktree", CODE)
    edit(sample)


def delete_unseen(sample: SampleProject) -> None:
    """Delete a file after telling git not to look at it."""
    git(sample.folder, "update-index", "--assume-unchanged", "src/acme_skills/run.sh")
    delete(sample)


def add_repository(sample: SampleProject) -> None:
    """Leave a clone of something in the package."""
    git(sample.folder, "init", "--quiet", "src/acme_skills/vendored")
    sample.write("src/acme_skills/vendored/x.py", b"")


def lose_x_bit(sample: SampleProject) -> None:
    """Take away the x bit that git tracks."""
    (sample.folder / "src/acme_skills/run.sh").chmod(0o644)


DIRT = (
    edit,
    edit_elsewhere,
    stage,
    stage_new_file,
    add_untracked,
    delete,
    assume_unchanged,
    skip_worktree,
    delete_unseen,
    add_repository,
    lose_x_bit,
)


@pytest.mark.parametrize("spoil", DIRT)
def test_dirt_takes_the_commit_from_wheel_and_sdist_alike(
    sample: SampleProject, spoil: Callable[[SampleProject], None]
) -> None:
    """Whatever differs from the commit, no archive names it, and both say the same."""
    spoil(sample)
    assert {verdict(sample.wheel()), verdict(sample.sdist())} == {"dirty: dirty_source"}


def test_a_clean_checkout_names_its_commit(sample: SampleProject) -> None:
    """Both archives of a clean checkout carry one and the same receipt, with the full commit id."""
    wheel, sdist = receipt_of(sample.wheel()), receipt_of(sample.sdist())
    assert wheel.source.commit == sample.commit_id()
    assert wheel == sdist


@pytest.mark.parametrize("path", [".env", "src/acme_skills/.env", "skills/greet/run.log"])
def test_an_ignored_file_never_ships_and_is_no_dirt(
    sample: SampleProject, capsys: pytest.CaptureFixture[str], path: str
) -> None:
    """Hatchling selects it; it stays out, the log lists it, and the bytes are the commit's."""
    before = [sample.wheel("before").read_bytes(), sample.sdist("before").read_bytes()]
    shutil.rmtree(sample.folder / "before")
    assert "left out" not in capsys.readouterr().err
    sample.write(path, b"TOKEN=secret\n")
    assert [sample.wheel().read_bytes(), sample.sdist().read_bytes()] == before
    assert capsys.readouterr().err.count(f"left out, because git ignores it: {path}") == 2


def test_an_untracked_file_that_does_not_ship_is_no_dirt(sample: SampleProject) -> None:
    """Neither archive has it, and the build does not read it."""
    sample.replace(
        "pyproject.toml",
        "[tool.hatch.build.targets.wheel]",
        '[tool.hatch.build.targets.sdist]\nonly-include = ["src", "hatch_build.py"]\n'
        "[tool.hatch.build.targets.wheel]",
    )
    sample.committed().write("notes.txt", b"")
    assert {verdict(sample.wheel()), verdict(sample.sdist())} == {"clean"}


@pytest.mark.parametrize("setting", ["", 'directory = "out"\n'])
def test_archives_of_earlier_builds_are_no_dirt(sample: SampleProject, setting: str) -> None:
    """Git does not ignore them, and this build, as a front end's, writes to another folder."""
    sample.replace("pyproject.toml", "ignore-vcs = true\n", f"ignore-vcs = true\n{setting}")
    sample.write(".gitignore", b"").committed()
    folder = "out" if setting else "dist"
    for archive in (sample.wheel("elsewhere"), sample.sdist("elsewhere")):
        sample.write(f"{folder}/{archive.name}", archive.read_bytes())
    shutil.rmtree(sample.folder / "elsewhere")
    wheel, sdist = sample.wheel("../out"), sample.sdist("../out")
    assert {verdict(wheel), verdict(sdist)} == {"clean"}
    assert [name for name in sdist_files(sdist) if name.startswith(folder)] == []


@pytest.mark.parametrize(
    "path",
    [
        ".venv/lib/x.py",
        "dist/other.txt",
        "src/acme_skills/.DS_Store",
        "src/acme_skills/Thumbs.db",
        "src/acme_skills/__pycache__/__init__.cpython-311.pyc",
        "skills/greet/.SKILL.md.swp",
    ],
)
def test_what_neither_ships_nor_could_is_no_dirt(sample: SampleProject, path: str) -> None:
    """Environments, build output, junk and what git ignores outside the archives leave it clean."""
    (sample.folder / ".git/info/exclude").write_text("/.venv\n", encoding="utf-8")
    sample.write(path, b"x")
    wheel = sample.wheel()
    assert verdict(wheel) == "clean"
    assert [name for name in wheel_files(wheel) if name.endswith(path.rpartition("/")[2])] == []


def test_an_untracked_file_ships_and_is_said_to(sample: SampleProject) -> None:
    """The author may be about to add it; it ships, and the receipt names no commit."""
    sample.write("src/acme_skills/new.py", b"")
    wheel = sample.wheel()
    assert "acme_skills/new.py" in wheel_files(wheel)
    assert verdict(wheel) == "dirty: dirty_source"


def test_a_declared_artifact_ships_and_is_said_to(sample: SampleProject) -> None:
    """An ignored file that `artifacts` asks for ships; no commit holds it."""
    sample.replace(
        "pyproject.toml",
        "ignore-vcs = true\n",
        'ignore-vcs = true\nartifacts = ["src/acme_skills/made.log"]\n',
    ).committed()
    sample.write("src/acme_skills/made.log", b"made\n")
    wheel = sample.wheel()
    assert wheel_files(wheel)["acme_skills/made.log"] == b"made\n"
    assert verdict(wheel) == "dirty: dirty_source"


def test_a_forced_file_from_outside_the_repository_ships_and_is_said_to(
    sample: SampleProject, tmp_path: Path
) -> None:
    """What `force-include` fetches from elsewhere is no part of the commit."""
    (tmp_path / "notice.txt").write_bytes(b"notice\n")
    table = '\n[tool.hatch.build.targets.wheel.force-include]\n"../notice.txt" = "notice.txt"\n'
    sample.configure(table).committed()
    wheel = sample.wheel()
    assert wheel_files(wheel)["notice.txt"] == b"notice\n"
    assert verdict(wheel) == "dirty: dirty_source"


def test_a_hook_that_makes_a_file_is_dirt(sample: SampleProject) -> None:
    """Another hook's product ships; nobody can find it in the commit."""
    sample.write(
        "hatch_build.py",
        b"from skills_bundle.hatch_plugin.build_hook import SkillsBundleBuildHook\n\n\n"
        b"class Both(SkillsBundleBuildHook):\n"
        b"    def initialize(self, version, build_data):\n"
        b"        made = __import__('pathlib').Path(self.root, 'dist', 'made.txt')\n"
        b"        made.write_text('made', encoding='utf-8')\n"
        b"        build_data['force_include'][str(made)] = 'acme_skills/made.txt'\n"
        b"        super().initialize(version, build_data)\n\n\n"
        b"def get_build_hook():\n    return Both\n",
    ).committed()
    wheel = sample.wheel()
    assert wheel_files(wheel)["acme_skills/made.txt"] == b"made"
    assert verdict(wheel) == "dirty: dirty_source"


def test_converted_line_ends_have_a_reason_of_their_own(
    sample: SampleProject, tmp_path: Path
) -> None:
    """A checkout with CRLF where the commit has LF is clean to git; its bytes are not."""
    sample.write(".gitattributes", b"skills/** -text\ncatalog.lock.json -text\n").committed()
    clone = tmp_path / "crlf"
    git(sample.folder, "clone", "--quiet", "-c", "core.autocrlf=true", ".", str(clone))
    assert git(clone, "status", "--porcelain") == ""
    assert verdict(SampleProject(clone).wheel()) == "dirty: eol_converted"


def test_a_committed_link_ships_as_the_file_it_leads_to(sample: SampleProject) -> None:
    """Link and target are both the commit's: clean, and a regular file in wheel and sdist."""
    sample.write("shared/data.txt", b"data\n")
    (sample.folder / "src/acme_skills/data.txt").symlink_to("../../shared/data.txt")
    sample.committed()
    wheel, sdist = sample.wheel(), sample.sdist()
    assert wheel_files(wheel)["acme_skills/data.txt"] == b"data\n"
    assert sdist_files(sdist)["src/acme_skills/data.txt"] == b"data\n"
    assert {verdict(wheel), verdict(sdist)} == {"clean"}


def test_a_committed_link_to_a_folder_is_followed_likewise(sample: SampleProject) -> None:
    """Hatchling walks through links to folders; so does the comparison with the commit."""
    sample.write("shared/data.txt", b"data\n")
    (sample.folder / "src/acme_skills/shared").symlink_to("../../shared")
    sample.committed()
    wheel = sample.wheel()
    assert wheel_files(wheel)["acme_skills/shared/data.txt"] == b"data\n"
    assert verdict(wheel) == "clean"


def test_a_link_out_of_the_repository_brings_nothing_in(
    sample: SampleProject, tmp_path: Path
) -> None:
    """A committed link to a file of the machine ships nothing, and is said to be dirt."""
    (tmp_path / "secret.txt").write_bytes(b"secret\n")
    (sample.folder / "src/acme_skills/data.txt").symlink_to(tmp_path / "secret.txt")
    sample.committed()
    wheel, sdist = sample.wheel(), sample.sdist()
    assert b"secret\n" not in {*wheel_files(wheel).values(), *sdist_files(sdist).values()}
    assert {verdict(wheel), verdict(sdist)} == {"dirty: dirty_source"}


def test_a_link_of_the_machine_to_a_committed_file_is_dirt(sample: SampleProject) -> None:
    """The target's bytes are the commit's, their place is not."""
    (sample.folder / "src/acme_skills/more.py").symlink_to("__init__.py")
    assert verdict(sample.wheel()) == "dirty: dirty_source"


def test_modes_are_those_of_the_commit(sample: SampleProject) -> None:
    """A mount that shows every file as 0777 changes no byte of wheel and sdist."""
    before = sample.wheel().read_bytes(), sample.sdist().read_bytes()
    git(sample.folder, "config", "core.fileMode", "false")
    for path in sample.folder.rglob("*"):
        if path.is_file():
            path.chmod(0o4777)
    assert (sample.wheel().read_bytes(), sample.sdist().read_bytes()) == before


def test_an_ignore_file_above_an_unpacked_sdist_never_ships(
    sample: SampleProject, tmp_path: Path
) -> None:
    """Without a repository around, hatchling takes the nearest `.gitignore` of any folder above."""
    git(sample.folder, "rm", "--quiet", ".gitignore")
    inside = unpacked(sample.committed().sdist(), tmp_path / "out")
    (tmp_path / ".gitignore").write_bytes(b"*.txt\n")
    sdist = inside.sdist()
    assert ".gitignore" not in sdist_files(sdist)
    assert receipt_of(sdist).source.commit == sample.commit_id()


def test_a_repositorys_ignore_file_ships_with_each_of_its_projects(tmp_path: Path) -> None:
    """Hatchling copies it into the sdist; the commit holds it."""
    repository = tmp_path / "all"
    sample = SampleProject.create(repository / "libs/acme", repository=repository)
    (sample.folder / ".gitignore").rename(repository / ".gitignore")
    sdist = sample.committed().sdist()
    assert sdist_files(sdist)[".gitignore"] == (repository / ".gitignore").read_bytes()
    assert verdict(sdist) == "clean"


def test_an_ignored_ignore_file_does_not_ship(sample: SampleProject) -> None:
    """Some people keep theirs to themselves."""
    git(sample.folder, "rm", "--quiet", "--cached", ".gitignore")
    (sample.folder / ".git/info/exclude").write_text(".gitignore\n", encoding="utf-8")
    git(sample.folder, "commit", "--quiet", "--message", "Stop tracking it")
    sdist = sample.sdist()
    assert ".gitignore" not in sdist_files(sdist)
    assert verdict(sdist) == "clean"


def test_in_a_repository_of_several_projects_each_has_its_own_dirt(tmp_path: Path) -> None:
    """Work on a neighbour leaves a project clean; its own changes do not."""
    repository = tmp_path / "all"
    sample = SampleProject.create(repository / "projects/acme", repository=repository)
    (repository / "neighbour.txt").write_bytes(b"work in progress\n")
    clean = verdict(sample.wheel())
    edit(sample)
    assert (clean, verdict(sample.wheel())) == ("clean", "dirty: dirty_source")


def test_a_submodules_files_are_dirt(sample: SampleProject, tmp_path: Path) -> None:
    """The commit holds a submodule's commit id and none of its bytes."""
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "--quiet")
    (other / "vendored.py").write_bytes(b"")
    SampleProject(other).committed()
    allow = ("-c", "protocol.file.allow=always")
    git(
        sample.folder, *allow, "submodule", "--quiet", "add", str(other), "src/acme_skills/vendored"
    )
    sample.committed()
    wheel = sample.wheel()
    assert "acme_skills/vendored/vendored.py" in wheel_files(wheel)
    assert verdict(wheel) == "dirty: dirty_source"


def break_tree(sample: SampleProject) -> None:
    """Overwrite the object of the commit's root tree."""
    oid = git(sample.folder, "rev-parse", "HEAD^{tree}").strip()
    place = sample.folder / ".git/objects" / oid[:2] / oid[2:]
    place.chmod(0o644)
    place.write_bytes(b"garbage")


def break_head(sample: SampleProject) -> None:
    """Overwrite HEAD."""
    (sample.folder / ".git/HEAD").write_bytes(b"\x00\xff garbage")


@pytest.mark.parametrize("spoil", [break_tree, break_head])
def test_a_broken_repository_gives_a_reason_and_no_traceback(
    sample: SampleProject, spoil: Callable[[SampleProject], None]
) -> None:
    """The build goes through; both archives say that git could not be asked."""
    spoil(sample)
    assert {verdict(sample.wheel()), verdict(sample.sdist())} == {"archive: git_unavailable"}


def test_what_git_ignores_stays_out_though_the_commit_cannot_be_read(
    sample: SampleProject,
) -> None:
    """The ignore rules are still there."""
    sample.write("src/acme_skills/.env", b"TOKEN=secret\n")
    break_tree(sample)
    assert not [name for name in wheel_files(sample.wheel()) if name.endswith(".env")]


def test_a_pipe_in_the_project_keeps_no_build_waiting(sample: SampleProject) -> None:
    """Hatchling puts it into an sdist; reading it would wait for somebody to write."""
    os.mkfifo(sample.folder / "pipe")
    wheel, sdist = sample.wheel(), sample.sdist()
    assert "pipe" not in sdist_files(sdist)
    assert {verdict(wheel), verdict(sdist)} == {"dirty: dirty_source"}


@pytest.mark.parametrize("target", ["wheel", "sdist"])
def test_a_name_that_is_not_utf_8_is_told(
    sample: SampleProject, capsys: pytest.CaptureFixture[str], target: str
) -> None:
    """No archive can hold it; the message shows its bytes."""
    folder = "src/acme_skills" if target == "wheel" else "notes"
    sample.write(f"{folder}/{os.fsdecode(b'b' + bytes([0xFF]) + b'.txt')}", b"").committed()
    with pytest.raises(SystemExit):
        getattr(sample, target)()
    told = capsys.readouterr().err
    assert f"{folder}/b\\xff.txt" in told
    assert "[name_not_utf8]" in told


def test_a_name_that_is_not_utf_8_and_does_not_ship_is_left_alone(sample: SampleProject) -> None:
    """It is in the commit, and that is all."""
    sample.replace(
        "pyproject.toml",
        "[tool.hatch.build.targets.wheel]",
        '[tool.hatch.build.targets.sdist]\nexclude = ["notes"]\n[tool.hatch.build.targets.wheel]',
    )
    name = os.fsdecode(b"b" + bytes([0xFF]))
    sample.write(f"notes/{name}", b"").committed()
    assert {verdict(sample.wheel()), verdict(sample.sdist())} == {"clean"}
    sample.write(f"notes/{name}", b"changed")
    assert verdict(sample.wheel()) == "dirty: dirty_source"


def test_strays_among_the_skills_that_git_converted_are_named(
    sample: SampleProject, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Git calls the checkout clean; a lock made in it gives another tree than the commit."""
    sample.write("skills/README.md", b"For people.\n")
    sample.write(".gitattributes", b"* -text\nskills/README.md text\n").locked().committed()
    clone = SampleProject(tmp_path / "crlf")
    git(sample.folder, "clone", "--quiet", "-c", "core.autocrlf=true", ".", str(clone.folder))
    clone.locked().committed()
    assert git(clone.folder, "status", "--porcelain") == ""
    assert verdict(clone.wheel()) == "dirty: eol_converted"
    assert "Different from the commit: skills/README.md." in capsys.readouterr().err


ODD_LOCALES = {
    "ascii": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    "latin-1": {"LC_ALL": "de_DE.ISO-8859-1", "PYTHONUTF8": "0"},
}


def built_in_a_locale(sample: SampleProject, locale: str, folder: Path) -> dict[str, bytes]:
    """Build both archives in a process of its own and give their bytes by name."""
    if locale == "latin-1":
        made = ["localedef", "-i", "de_DE", "-f", "ISO-8859-1", str(folder / "de_DE.ISO-8859-1")]
        subprocess.run(made, check=True, capture_output=True)
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder / "out")]
    environment = {**os.environ, "LOCPATH": str(folder), **ODD_LOCALES[locale]}
    ran = subprocess.run(
        command, cwd=sample.folder, env=environment, capture_output=True, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return {path.name: path.read_bytes() for path in (folder / "out").iterdir()}


@pytest.mark.parametrize("locale", ODD_LOCALES)
def test_names_of_files_do_not_follow_the_locale(
    sample: SampleProject, tmp_path: Path, locale: str
) -> None:
    """A package with a file outside ASCII gives the same archives where the locale is not UTF-8."""
    sample.write("src/acme_skills/größe.py", b"").write("src/acme_skills/日本/x.txt", b"x")
    sample.write("src/acme_skills/日本/__init__.py", b"").committed()
    folder = tmp_path / "locales"
    folder.mkdir()
    plain = {path.name: path.read_bytes() for path in (sample.wheel(), sample.sdist())}
    assert built_in_a_locale(sample, locale, folder) == plain


@pytest.mark.parametrize("locale", ODD_LOCALES)
def test_a_pattern_outside_ascii_is_dirt_where_the_locale_is_not_utf_8(
    sample: SampleProject, tmp_path: Path, locale: str
) -> None:
    """Hatchling compares it with names as the locale reads them, so it may select other files."""
    line = 'exclude = ["größe.py"]\n\n[tool.hatch.build.targets.wheel]'
    sample.replace("pyproject.toml", "[tool.hatch.build.targets.wheel]", f"{line}")
    sample.write("src/acme_skills/größe.py", b"").committed()
    folder = tmp_path / "locales"
    folder.mkdir()
    assert verdict(sample.wheel()) == "clean"
    built_in_a_locale(sample, locale, folder)
    assert {verdict(path) for path in (folder / "out").iterdir()} == {"dirty: dirty_source"}


def test_a_by_product_that_was_committed_after_the_lock_is_named_with_what_to_do(
    sample: SampleProject, capsys: pytest.CaptureFixture[str]
) -> None:
    """The lock is not stale, since nothing of it ships; its tree id is no longer the commit's."""
    sample.write("skills/greet/.DS_Store", b"x").committed()
    assert verdict(sample.wheel()) == "dirty: dirty_source"
    told = capsys.readouterr().err
    assert "skills/greet/.DS_Store (git tracks this by-product and the lock does not" in told
    assert "run `skills-bundle lock` and commit" in told
    assert verdict(sample.locked().committed().wheel()) == "clean"


STATIC = 'version = "1.0"'
DYNAMIC = 'dynamic = ["version"]'
IGNORE_VCS = "ignore-vcs = true"


def reason(archive: Path) -> str | None:
    """Return why a receipt names no commit; None if it names one."""
    return receipt_of(archive).source.reason


def exclude(sample: SampleProject, line: str) -> None:
    """Let git ignore something in this clone alone."""
    (sample.folder / ".git/info/exclude").write_text(f"{line}\n", encoding="utf-8")


@pytest.fixture
def going_by_ignore_files(sample: SampleProject) -> SampleProject:
    """Return a project that leaves the selection to ignore files, as hatchling does by default."""
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
    assert f"{name} (affects what ships" in capsys.readouterr().err


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
    assert ".gitignore (has no effect in a folder that it matches" in capsys.readouterr().err


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
    assert "VERSION (provides the version)" in capsys.readouterr().err


def test_a_version_from_the_environment_is_said_to_be_computed(
    sample: SampleProject, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The files are the commit's; the version is not, and receipt and build log say so."""
    monkeypatch.setenv("ACME_VERSION", "3.0")
    sample.replace("pyproject.toml", STATIC, DYNAMIC)
    sample.configure('[tool.hatch.version]\nsource = "env"\nvariable = "ACME_VERSION"')
    found = receipt_of(sample.committed().wheel())
    assert (found.source.reason, found.package.computed) == (None, ("version",))
    assert "which does not determine: version" in capsys.readouterr().err


def test_a_dependency_with_a_folder_of_the_machine_is_said_to_be_computed(
    sample: SampleProject,
) -> None:
    """Hatchling fills in `{root:uri}` and `{env:NAME}`."""
    line = f'{STATIC}\ndependencies = ["other @ {{root:uri}}/other"]'
    sample.replace("pyproject.toml", STATIC, line)
    sample.configure("[tool.hatch.metadata]\nallow-direct-references = true")
    assert receipt_of(sample.committed().wheel()).package.computed == ("dependencies",)


HOOK = b"""\
import os

from hatchling.metadata.plugin.interface import MetadataHookInterface


class Hook(MetadataHookInterface):
    def update(self, metadata):
        metadata["description"] = "Computed"
        if name := os.environ.get("ACME_FIELD"):
            metadata[name] = VALUES[name]


VALUES = {
    "version": "6.6",
    "dependencies": ["other"],
    "scripts": {"acme": "os:abort"},
    "keywords": ["other"],
}
"""


@pytest.fixture
def with_hook(sample: SampleProject) -> SampleProject:
    """Return a project whose metadata hook changes what the environment names."""
    static = 'dependencies = []\nkeywords = ["skills"]\nscripts = { acme = "acme_skills:run" }'
    sample.replace("pyproject.toml", STATIC, f'{STATIC}\n{static}\ndynamic = ["description"]')
    sample.configure('[tool.hatch.metadata.hooks.custom]\npath = "made.py"')
    return sample.write("made.py", HOOK).committed()


@pytest.mark.parametrize("name", ["version", "dependencies", "scripts"])
def test_a_hook_that_replaces_a_field_that_installers_act_on_is_dirt(
    with_hook: SampleProject,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    name: str,
) -> None:
    """The commit states another value; whoever reads it expects that one."""
    monkeypatch.setenv("ACME_FIELD", name)
    for build in (with_hook.wheel, with_hook.sdist):
        found = receipt_of(build())
        assert found.source.reason == "dirty_source"
        assert found.package.computed == tuple(sorted(("description", name)))
        assert f"code replaced `project.{name}`" in capsys.readouterr().err


def test_any_other_field_that_a_hook_replaces_is_said_to_be_computed(
    with_hook: SampleProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though it is not among the dynamic ones."""
    assert receipt_of(with_hook.wheel()).package.computed == ("description",)
    monkeypatch.setenv("ACME_FIELD", "keywords")
    found = receipt_of(with_hook.wheel())
    assert (found.source.reason, found.package.computed) == (None, ("description", "keywords"))


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
    assert "pyproject.toml (changed after hatchling read it)" in capsys.readouterr().err


def test_configuration_in_a_hatch_file_is_compared_too(sample: SampleProject) -> None:
    """It goes before the table in pyproject.toml; one that git ignores is dirt."""
    sample.write("hatch.toml", b"[envs.default]\n")
    assert reason(sample.committed().wheel()) is None
    exclude(sample, "/hatch.toml")
    git(sample.folder, "rm", "--quiet", "--cached", "hatch.toml")
    git(sample.folder, "commit", "--quiet", "--message", "Stop tracking it")
    assert reason(sample.wheel()) == "dirty_source"

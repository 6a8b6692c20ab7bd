"""From skills to a lock: equal to real git and to Go's algorithm, whatever lies around."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pytest

from skills_bundle.bundle import assemble, lock
from skills_bundle.errors import InvalidSkillsError
from skills_bundle.files import limits
from tests.builders import SkillsFolder, skill_md

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path) -> SkillsFolder:
    """Skills with everything git can hold beside and inside them."""
    made = SkillsFolder(tmp_path)
    made.skill("alpha")
    made.write("alpha/scripts/run.sh", "echo\n", executable=True)
    made.write("alpha/empty")
    made.write("alpha/.hidden/x", b"\x00\xff")
    made.skill("group/sub/deep", skill_md("deep", more="metadata:\n  tags: b, a\n"))
    made.skill("小说拆条")
    made.write("a.b", "sorts between a and a/")
    made.write("a/readme", "no skill here")
    made.write("tools/build.sh", "make\n", executable=True)
    made.link("link", "alpha")
    made.link("group/broken", "../nowhere")
    made.write("README.md", "# Skills\n")
    made.write("alpha/crlf", "a\r\nb\r\n")
    return made


def test_the_tree_of_the_whole_is_gits(folder: SkillsFolder) -> None:
    """Locked and unlocked together give what `git rev-parse HEAD:skills` gives."""
    folder.commit()
    found = folder.lock(folder.git_facts())
    assert found.digests.git_tree == folder.git("rev-parse", "HEAD:skills")


def test_the_tree_of_each_skill_is_gits(folder: SkillsFolder) -> None:
    """Skill by skill."""
    folder.commit()
    found = folder.lock(folder.git_facts())
    theirs = [folder.git("rev-parse", f"HEAD:skills/{skill.path}") for skill in found.skills]
    assert [skill.git_tree for skill in found.skills] == theirs


def test_the_tree_is_gits_with_submodules(folder: SkillsFolder, tmp_path: Path) -> None:
    """Which are entries of the tree that no file stands for."""
    other = SkillsFolder(tmp_path / "other")
    other.skill("inner")
    other.commit()
    folder.commit()
    add = ("-c", "protocol.file.allow=always", "submodule", "--quiet", "add")
    folder.git(*add, str(other.project), "skills/group/vendor")
    folder.commit()
    found = folder.lock(folder.git_facts())
    assert found.digests.git_tree == folder.git("rev-parse", "HEAD:skills")


def test_the_tree_is_gits_where_git_tracks_junk(folder: SkillsFolder) -> None:
    """Junk does not ship, and the whole is git's all the same."""
    folder.write("alpha/scripts/__pycache__/run.pyc", "x")
    folder.write(".DS_Store", "x")
    folder.commit()
    found = folder.lock(folder.git_facts())
    assert found.digests.git_tree == folder.git("rev-parse", "HEAD:skills")


def test_the_tree_is_gits_where_skills_are_excluded(folder: SkillsFolder) -> None:
    """What is left out does not ship, and git holds it."""
    folder.skill("drafts/one", "not ready")
    folder.commit()
    result = folder.scan(folder.git_facts(), exclude=("drafts", "group"))
    found = assemble.lock("sample", result)
    assert found.digests.git_tree == folder.git("rev-parse", "HEAD:skills")


def test_the_tree_is_gits_where_the_project_is_the_skills_folder(tmp_path: Path) -> None:
    """But for the lock itself, which lies there too."""
    folder = SkillsFolder(tmp_path, ".")
    folder.skill("alpha")
    folder.write("pyproject.toml", "")
    folder.commit()
    without_lock = folder.git("rev-parse", "HEAD:")
    folder.write("catalog.lock.json", folder.lock(folder.git_facts()).to_bytes())
    folder.commit()
    assert folder.lock(folder.git_facts()).digests.git_tree == without_lock


def test_a_lock_made_before_git_add_is_the_one_made_after(folder: SkillsFolder) -> None:
    """So that lock and skills can be committed together."""
    folder.git("init", "--quiet")
    before = folder.lock(folder.git_facts())
    folder.commit()
    assert folder.lock(folder.git_facts()) == before


def test_a_lock_without_git_is_the_one_with_git(folder: SkillsFolder) -> None:
    """Where nothing is ignored and the disk keeps modes."""
    without = folder.lock()
    folder.commit()
    assert folder.lock(folder.git_facts()) == without


def test_no_tree_depends_on_line_ends_that_git_would_convert(folder: SkillsFolder) -> None:
    """The bytes on disk are what ships, so they are what is locked."""
    folder.commit()
    before = folder.lock(folder.git_facts())
    folder.git("config", "core.autocrlf", "true")
    assert folder.lock(folder.git_facts()) == before


def test_dir_hash_is_gos(folder: SkillsFolder) -> None:
    """Hash1 of golang.org/x/mod/sumdb/dirhash over the files that ship, read from the disk."""
    found = folder.lock()
    lines = "".join(
        f"{hashlib.sha256((folder.path / path).read_bytes()).hexdigest()}  {path}\n"
        for path in sorted(found.files(), key=str.encode)
    )
    assert found.digests.dir_hash == hashlib.sha256(lines.encode()).hexdigest()


def test_the_empty_folder_has_the_empty_trees_id(tmp_path: Path) -> None:
    """The one every git knows."""
    found = SkillsFolder(tmp_path).lock()
    assert found.digests.git_tree == "4b825dc642cb6eb9a060e54bf8d69288fbee4904"


def test_what_is_assembled_can_be_read_back(folder: SkillsFolder) -> None:
    """Every rule of the lock is kept."""
    found = folder.lock()
    assert lock.parse(found.to_bytes()) == found


def test_each_skill_is_locked_as_it_was_scanned(folder: SkillsFolder) -> None:
    """Name, path, tags, frontmatter, codes."""
    found = {skill.path: skill for skill in folder.lock().skills}
    deep = found["group/sub/deep"]
    assert (deep.name, deep.description, deep.tags) == ("deep", "Does one thing.", ("a", "b"))
    assert deep.frontmatter["metadata"] == {"tags": "b, a"}
    assert found["小说拆条"].diagnostics == ("name_not_ascii",)


def test_files_carry_size_digest_and_x_bit(folder: SkillsFolder) -> None:
    """Of the bytes that were read."""
    files = folder.lock().files()
    script = files["alpha/scripts/run.sh"]
    assert (script.size, script.executable) == (5, True)
    assert script.sha256 == hashlib.sha256(b"echo\n").hexdigest()


def test_nothing_of_time_or_place_is_in_a_lock(folder: SkillsFolder, tmp_path: Path) -> None:
    """The same skills elsewhere give the same bytes."""
    copy = SkillsFolder(tmp_path / "elsewhere é", "other name")
    for file in sorted(folder.path.rglob("*")):
        path = file.relative_to(folder.path).as_posix()
        if file.is_symlink():
            copy.link(path, str(file.readlink()))
        elif file.is_file():
            copy.write(path, file.read_bytes(), executable=bool(file.stat().st_mode & 0o100))
    assert copy.lock().to_bytes() == folder.lock().to_bytes()


def test_one_refused_skill_stops_the_lock_and_every_reason_is_told(folder: SkillsFolder) -> None:
    """Refusals first, then warnings, each with its place."""
    folder.skill("bad", "no frontmatter")
    folder.skill("worse", skill_md("other", more="model: x\n"))
    with pytest.raises(InvalidSkillsError) as caught:
        folder.lock()
    told = [(problem.code, problem.path, problem.line) for problem in caught.value.problems]
    assert told == [
        ("no_frontmatter", "bad/SKILL.md", 1),
        ("name_mismatch", "worse/SKILL.md", 2),
        ("link_not_followed", "group/broken", None),
        ("link_not_followed", "link", None),
        ("unknown_field", "worse/SKILL.md", 4),
        ("name_not_ascii", "小说拆条/SKILL.md", 2),
    ]
    assert "2 of 5" in caught.value.summary


def test_something_unseen_stops_the_lock(folder: SkillsFolder) -> None:
    """Though every skill that was seen is fine."""
    folder.write("x/" * 70 + "y")
    with pytest.raises(InvalidSkillsError, match="scan_too_deep"):
        folder.lock()


def test_junk_that_git_tracks_leaves_no_mark_on_its_skill(folder: SkillsFolder) -> None:
    """An sdist holds no such file and has to give the same lock."""
    folder.write("alpha/notes.md~", "x")
    folder.commit()
    found = folder.lock(folder.git_facts())
    assert "alpha/notes.md~" in {row.path for row in found.unlocked}
    assert found.skills[0].diagnostics == ()


@pytest.mark.parametrize(
    ("bad", "summary"),
    [
        (0, "The skills folder has problems outside its skills; nothing is locked."),
        (1, "1 of 2 skills is refused; nothing is locked."),
        (2, "2 of 3 skills are refused; nothing is locked."),
    ],
)
def test_the_summary_counts_what_is_refused(tmp_path: Path, bad: int, summary: str) -> None:
    """None need be: a stray path can be in the way, too."""
    folder = SkillsFolder(tmp_path)
    folder.skill("alpha")
    for number in range(bad):
        folder.skill(f"bad-{number}", "no frontmatter")
    if not bad:
        folder.write("/".join(["deep"] * (limits.SCAN_MAX_DEPTH + 2)))
    with pytest.raises(InvalidSkillsError) as caught:
        folder.lock()
    assert caught.value.summary == summary


def test_a_problem_of_two_skills_is_told_once(tmp_path: Path) -> None:
    """Two paths that collide are one problem."""
    folder = SkillsFolder(tmp_path)
    folder.skill("Alpha")
    folder.skill("alpha")
    with pytest.raises(InvalidSkillsError) as caught:
        folder.lock()
    told = [problem for problem in caught.value.problems if problem.code == "path_collision"]
    assert len(told) == len(set(told))

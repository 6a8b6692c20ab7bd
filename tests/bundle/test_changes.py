"""How two locks differ, in words that say what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from skills_bundle.bundle import assemble
from skills_bundle.bundle.assemble import Changes
from tests.builders import SkillsFolder, skill_md

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path) -> SkillsFolder:
    """Two skills and a stray file."""
    made = SkillsFolder(tmp_path)
    made.skill("alpha")
    made.write("alpha/a.txt", "one\ntwo\n")
    made.skill("beta")
    made.write("README.md", "x")
    return made


def difference(folder: SkillsFolder, change: Callable[[], object]) -> Changes:
    """Lock, change something, lock again, compare."""
    old = folder.lock()
    change()
    result = folder.scan()
    return assemble.compare(old, assemble.lock("sample", result), assemble.contents(result))


def test_the_same_skills_differ_in_nothing(folder: SkillsFolder) -> None:
    """The empty difference is false."""
    assert not difference(folder, lambda: None)


def test_a_new_file_is_added(folder: SkillsFolder) -> None:
    """By its path below the skills folder."""
    assert difference(folder, lambda: folder.write("beta/new")) == Changes(added=("beta/new",))


def test_a_missing_file_is_removed(folder: SkillsFolder) -> None:
    """Likewise."""
    found = difference(folder, (folder.path / "alpha/a.txt").unlink)
    assert found == Changes(removed=("alpha/a.txt",))


def test_other_bytes_are_a_change(folder: SkillsFolder) -> None:
    """Of the file; what follows from it is not told again."""
    found = difference(folder, lambda: folder.skill("beta", skill_md("beta", description="New.")))
    assert found == Changes(changed=("beta/SKILL.md",))


@pytest.mark.parametrize("text", ["one\r\ntwo\r\n", "one\r\ntwo\n"])
def test_other_line_ends_are_told_apart(folder: SkillsFolder, text: str) -> None:
    """Also where only some were converted."""
    found = difference(folder, lambda: folder.write("alpha/a.txt", text))
    assert (found, found.only_line_ends) == (Changes(line_ends=("alpha/a.txt",)), True)


def test_line_ends_converted_back_are_told_apart(folder: SkillsFolder) -> None:
    """From CRLF in the lock to LF on disk."""
    folder.write("alpha/a.txt", "one\r\ntwo\r\n")
    found = difference(folder, lambda: folder.write("alpha/a.txt", "one\ntwo\n"))
    assert found == Changes(line_ends=("alpha/a.txt",))


def test_without_the_bytes_line_ends_are_a_change_like_others(folder: SkillsFolder) -> None:
    """A digest does not tell why it differs."""
    old = folder.lock()
    folder.write("alpha/a.txt", "one\r\ntwo\r\n")
    assert assemble.compare(old, folder.lock()) == Changes(changed=("alpha/a.txt",))


def test_an_x_bit_alone_is_told_apart(folder: SkillsFolder) -> None:
    """The bytes are the same."""
    found = difference(folder, lambda: (folder.path / "alpha/a.txt").chmod(0o755))
    assert found == Changes(executable=("alpha/a.txt",))


def test_what_does_not_ship_is_told_apart(folder: SkillsFolder) -> None:
    """Added, removed and changed strays alike."""
    folder.write("old")

    def change() -> None:
        (folder.path / "old").unlink()
        folder.write("new")
        folder.write("README.md", "y")

    assert difference(folder, change) == Changes(unlocked=("README.md", "new", "old"))


def test_a_skill_read_otherwise_is_told_though_no_file_differs(folder: SkillsFolder) -> None:
    """As after an update of this package."""
    new = folder.lock()
    head, *rest = new.skills
    other = head.model_copy(update={"diagnostics": ("bom",)})
    old = new.model_copy(update={"skills": (other, *rest)})
    assert assemble.compare(old, new) == Changes(metadata=("alpha",))


def test_one_is_not_one_point_zero(folder: SkillsFolder) -> None:
    """Equal for Python, other bytes in a lock."""
    new = folder.lock()
    skills = [
        skill.model_copy(update={"frontmatter": {**skill.frontmatter, "n": number}})
        for skill, number in zip(new.skills, (1, 1), strict=True)
    ]
    other = [
        skill.model_copy(update={"frontmatter": {**skill.frontmatter, "n": 1.0}})
        for skill in skills
    ]
    found = assemble.compare(
        new.model_copy(update={"skills": tuple(skills)}),
        new.model_copy(update={"skills": tuple(other)}),
    )
    assert found == Changes(metadata=("alpha", "beta"))


def test_another_collection_is_told(folder: SkillsFolder) -> None:
    """The project was renamed."""
    result = folder.scan()
    found = assemble.compare(assemble.lock("old", result), assemble.lock("new", result))
    assert found == Changes(whole=("collection",))


def test_digests_that_do_not_follow_are_told_where_nothing_else_is(folder: SkillsFolder) -> None:
    """A lock that was edited by hand."""
    new = folder.lock()
    digests = new.digests.model_copy(update={"git_tree": "0" * 40})
    assert assemble.compare(new.model_copy(update={"digests": digests}), new) == Changes(
        whole=("digests",)
    )


def test_paths_are_sorted_by_bytes(folder: SkillsFolder) -> None:
    """Capitals before small letters before accents."""

    def change() -> None:
        for name in ("é", "z", "B", "c"):
            folder.write(f"alpha/{name}")

    assert difference(folder, change).added == ("alpha/B", "alpha/c", "alpha/z", "alpha/é")


def test_the_error_names_every_path_and_the_command(folder: SkillsFolder) -> None:
    """A person should not have to ask git."""

    def change() -> None:
        folder.write("alpha/new")
        (folder.path / "alpha/a.txt").unlink()
        folder.skill("beta", skill_md("beta", description="New."))

    error = assemble.stale_error(difference(folder, change))
    assert [(problem.code, problem.path) for problem in error.problems] == [
        ("added", "alpha/new"),
        ("removed", "alpha/a.txt"),
        ("changed", "beta/SKILL.md"),
    ]
    assert "`skills-bundle lock`" in error.summary


def test_line_ends_alone_name_gitattributes(folder: SkillsFolder) -> None:
    """Locking again would be the wrong cure."""
    found = difference(folder, lambda: folder.write("alpha/a.txt", "one\r\ntwo\r\n"))
    assert ".gitattributes" in assemble.stale_error(found).summary


def test_line_ends_among_other_changes_do_not(folder: SkillsFolder) -> None:
    """Then locking again is the cure."""

    def change() -> None:
        folder.write("alpha/a.txt", "one\r\ntwo\r\n")
        folder.write("alpha/new")

    assert ".gitattributes" not in assemble.stale_error(difference(folder, change)).summary


def test_every_kind_of_change_has_a_sentence() -> None:
    """None is a bare code."""
    everything = Changes(**{kind: ("x",) for kind, _ in Changes().kinds()})
    messages = [problem.message for problem in assemble.stale_error(everything).problems]
    assert len(set(messages)) == len(messages) == 8


def test_clones_with_and_without_converted_line_ends_tell_each_other(
    folder: SkillsFolder, tmp_path: Path
) -> None:
    """Real git: the lock of a Unix clone, checked in a Windows one."""
    folder.write("README.md", "a\nb\n")
    folder.commit()
    old = folder.lock(folder.git_facts())
    clone = tmp_path / "clone"
    folder.git("-c", "core.autocrlf=true", "clone", "--quiet", str(folder.project), str(clone))
    other = SkillsFolder(clone)
    result = other.scan(other.git_facts())
    found = assemble.compare(old, assemble.lock("sample", result), assemble.contents(result))
    assert found.line_ends == ("alpha/SKILL.md", "alpha/a.txt", "beta/SKILL.md")
    assert found.only_line_ends


def test_by_products_make_no_lock_stale(tmp_path: Path) -> None:
    """Nothing of them ships; anything else that git holds does make it stale."""
    folder = SkillsFolder(tmp_path)
    folder.skill("alpha")
    folder.write("alpha/notes.md~", "x")
    folder.git("init", "--quiet")
    before = folder.lock(folder.git_facts())
    folder.commit()
    assert assemble.differ_in_junk_only(before, folder.lock(folder.git_facts()))
    folder.write("README.md", "x")
    assert not assemble.differ_in_junk_only(before, folder.lock(folder.git_facts()))

"""The scan: what is found, what belongs to it, what is left out; on real disks, with real git."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from skills_bundle.errors import UnreadableSkillsError
from skills_bundle.files import limits as file_limits
from skills_bundle.files.reading import Folder, FolderEntry
from skills_bundle.formats.digest import TreeEntry
from skills_bundle.skills import limits
from skills_bundle.skills.model import FileFacts
from skills_bundle.skills.scan import scan
from tests.builders import SkillsFolder, codes, open_way_to, skill_md

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path) -> SkillsFolder:
    """An empty skills folder."""
    return SkillsFolder(tmp_path)


def paths_of(folder: SkillsFolder) -> list[str]:
    """Return the paths of the skills that get in."""
    return [skill.path for skill in folder.scan().skills]


def files_of(folder: SkillsFolder, skill: str) -> list[str]:
    """Return the files of a skill that gets in."""
    return [file.path for file in folder.accepted(skill).files]


# --- what is a skill --------------------------------------------------------------------------


def test_skills_are_found_at_any_depth(folder: SkillsFolder) -> None:
    """Sorted by the bytes of their paths."""
    for path in ("zeta", "group/sub/deep", "group/alpha", "Beta"):
        folder.skill(path)
    assert paths_of(folder) == ["Beta", "group/alpha", "group/sub/deep", "zeta"]


def test_a_skill_md_below_a_skill_belongs_to_that_skill(folder: SkillsFolder) -> None:
    """Skills do not nest."""
    folder.skill("outer")
    folder.skill("outer/examples/inner")
    assert paths_of(folder) == ["outer"]
    assert files_of(folder, "outer") == ["SKILL.md", "examples/inner/SKILL.md"]


def test_everything_in_a_skill_belongs_to_it(folder: SkillsFolder) -> None:
    """Dot-files and empty files included; sorted by bytes."""
    folder.skill("alpha")
    for path in (".env.example", ".config/x", "c", "B", "é", "empty"):
        folder.write(f"alpha/{path}")
    assert files_of(folder, "alpha") == [
        ".config/x",
        ".env.example",
        "B",
        "SKILL.md",
        "c",
        "empty",
        "é",
    ]


def test_files_are_kept_byte_for_byte(folder: SkillsFolder) -> None:
    """Line ends and byte order marks too."""
    folder.skill("alpha")
    folder.write("alpha/data", b"\xef\xbb\xbfa\r\nb\x00\xff")
    assert folder.accepted("alpha").files[1].data == b"\xef\xbb\xbfa\r\nb\x00\xff"


def test_found_is_accepted_plus_refused(folder: SkillsFolder) -> None:
    """Authors who get nothing are told why, skill by skill."""
    folder.skill("good")
    folder.skill("bad", "no frontmatter")
    folder.skill("worse", "---\n")
    result = folder.scan()
    assert (result.found, len(result.skills), len(result.refused)) == (3, 1, 2)
    assert not result.complete


def test_a_skill_md_at_the_top_is_refused_and_hides_no_other(folder: SkillsFolder) -> None:
    """The skills folder itself is no skill."""
    folder.write("SKILL.md", skill_md("skills"))
    folder.skill("alpha")
    assert codes(folder.refused(".")) == ["skill_at_top"]
    assert paths_of(folder) == ["alpha"]


@pytest.mark.parametrize("name", ["skill.md", "Skill.md", "SKILL.MD"])
def test_a_skill_md_in_other_letters_is_refused_by_name(folder: SkillsFolder, name: str) -> None:
    """It is not passed by without a word."""
    folder.write(f"alpha/{name}", skill_md("alpha"))
    assert codes(folder.refused("alpha")) == ["skill_md_case"]


def test_other_letters_beside_the_right_ones_collide(folder: SkillsFolder) -> None:
    """The right one makes the skill."""
    folder.skill("alpha")
    folder.write("alpha/skill.md")
    assert codes(folder.refused("alpha")) == ["path_collision"]


def test_a_folder_called_skill_md_makes_no_skill(folder: SkillsFolder) -> None:
    """Only something that is no folder does."""
    folder.write("alpha/SKILL.md/readme.txt")
    assert folder.scan().found == 0


def test_top_folders_without_any_skill_are_named(folder: SkillsFolder) -> None:
    """Empty ones and those of junk are not."""
    folder.write("docs/deep/readme.txt")
    folder.write("group/alpha/SKILL.md", skill_md("alpha"))
    folder.write("cache/__pycache__/x.pyc")
    (folder.path / "empty").mkdir()
    folder.write("readme.txt")
    assert folder.scan().without_skill_md == ("docs",)


# --- names ------------------------------------------------------------------------------------


def test_chinese_names_are_skills_like_others(folder: SkillsFolder) -> None:
    """Two of them are two."""
    folder.skill("小说拆条")
    folder.skill("小说合并")
    assert paths_of(folder) == ["小说合并", "小说拆条"]


def test_a_folder_in_nfd_is_locked_in_nfc(folder: SkillsFolder) -> None:
    """Where no git holds the other spelling, as after copying from a Mac."""
    folder.skill("cafe\u0301", skill_md("café"))
    skill = folder.accepted("café")
    assert (skill.name, codes(skill)) == ("café", ["name_not_nfc", "name_not_ascii"])


def test_a_file_in_nfd_is_locked_in_nfc(folder: SkillsFolder) -> None:
    """And told at its own path."""
    folder.skill("alpha")
    folder.write("alpha/re\u0301sume\u0301.md", "x")
    skill = folder.accepted("alpha")
    assert [(row.code, row.path) for row in skill.diagnostics] == [
        ("name_not_nfc", "alpha/résumé.md")
    ]


def test_git_holding_nfd_is_refused(folder: SkillsFolder) -> None:
    """A lock in NFC could not give git's tree."""
    folder.skill("cafe\u0301", skill_md("café"))
    folder.commit()
    folder.git("config", "core.precomposeUnicode", "false")
    (refused,) = folder.scan(folder.git_facts()).refused
    assert "path_not_nfc" in codes(refused)


def test_two_spellings_of_one_name_collide(folder: SkillsFolder) -> None:
    """On a Mac they are one file."""
    folder.skill("alpha")
    folder.write("alpha/é")
    folder.write("alpha/e\u0301")
    assert set(codes(folder.refused("alpha"))) == {"name_not_nfc", "path_collision"}


def test_two_spellings_of_one_skill_are_not_merged(folder: SkillsFolder) -> None:
    """One of the two is found, and nothing may be locked."""
    folder.skill("café")
    folder.skill("cafe\u0301", skill_md("café"))
    result = folder.scan()
    assert (result.found, [row.code for row in result.problems]) == (1, ["path_collision"])
    assert not result.complete


def test_a_name_that_is_not_utf_8_is_reported(folder: SkillsFolder) -> None:
    """With its bytes as escapes; nothing crashes."""
    folder.skill("alpha")
    os.close(os.open(os.fsencode(folder.path) + b"/alpha/caf\xe9", os.O_CREAT))
    (row,) = folder.refused("alpha").diagnostics
    assert (row.code, row.path) == ("path_not_utf8", "alpha/caf\\xe9")


def test_a_stray_name_that_is_not_utf_8_stops_the_lock(folder: SkillsFolder) -> None:
    """Git's tree could not be written down."""
    folder.skill("alpha")
    os.close(os.open(os.fsencode(folder.path) + b"/caf\xe9", os.O_CREAT))
    result = folder.scan()
    assert ([row.code for row in result.problems], result.complete) == (["path_not_utf8"], False)


# --- links and special files ------------------------------------------------------------------


def test_a_skill_md_that_is_a_link_is_found_refused_and_not_read(
    folder: SkillsFolder, tmp_path: Path
) -> None:
    """Whatever it leads to."""
    (tmp_path / "secret").write_text(skill_md("alpha"), encoding="utf-8")
    folder.link("alpha/SKILL.md", "../../secret")
    assert codes(folder.refused("alpha")) == ["link"]


@pytest.mark.parametrize("target", ["SKILL.md", "/etc/passwd", "../..", "nowhere"])
def test_any_link_in_a_skill_refuses_it(folder: SkillsFolder, target: str) -> None:
    """Inside, outside, a folder, broken."""
    folder.skill("alpha")
    folder.link("alpha/references/link", target)
    assert [(row.code, row.path) for row in folder.refused("alpha").diagnostics] == [
        ("link", "alpha/references/link")
    ]


def test_a_linked_skill_folder_is_reported_and_not_followed(folder: SkillsFolder) -> None:
    """It lies outside every skill, so nothing is refused."""
    folder.skill("alpha")
    folder.link("beta", "alpha")
    result = folder.scan()
    assert [(row.code, row.path) for row in result.problems] == [("link_not_followed", "beta")]
    assert ([skill.path for skill in result.skills], result.complete) == (["alpha"], True)


def test_a_loop_of_links_ends(folder: SkillsFolder) -> None:
    """Since none is followed."""
    folder.skill("group/alpha")
    folder.link("group/loop", "..")
    assert paths_of(folder) == ["group/alpha"]


def test_pipes_and_sockets_in_a_skill_are_never_opened(
    folder: SkillsFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Opening the pipe would wait for ever."""
    folder.skill("alpha")
    os.mkfifo(folder.path / "alpha" / "pipe")
    monkeypatch.chdir(folder.path / "alpha")
    with socket.socket(socket.AF_UNIX) as made:
        made.bind("socket")
        assert codes(folder.refused("alpha")) == ["special_file", "special_file"]


def test_a_skill_md_that_is_a_pipe_is_found_and_refused(folder: SkillsFolder) -> None:
    """It has the name."""
    (folder.path / "alpha").mkdir()
    os.mkfifo(folder.path / "alpha" / "SKILL.md")
    assert codes(folder.refused("alpha")) == ["special_file"]


def test_special_files_outside_skills_are_nothing(folder: SkillsFolder) -> None:
    """Git does not hold them."""
    os.mkfifo(folder.path / "pipe")
    assert (folder.scan().unlocked, folder.scan().problems) == ((), ())


UNPRIVILEGED = """
import os, sys
from pathlib import Path
from skills_bundle.skills.model import FileFacts
from skills_bundle.skills.scan import scan
if os.geteuid() == 0:  # root may read everything: become somebody who may not
    os.setgid(65534)
    os.setuid(65534)
result = scan(Path(sys.argv[1]), FileFacts())
for row in [row for skill in result.refused for row in skill.diagnostics] + list(result.problems):
    print(row.code, row.path)
"""


def test_what_may_not_be_read_is_a_problem_and_no_crash(folder: SkillsFolder) -> None:
    """Files and folders, in skills and outside."""
    folder.skill("alpha")
    folder.write("alpha/secret").chmod(0)
    folder.write("alpha/closed/x").parent.chmod(0)
    folder.write("stray").chmod(0)
    folder.write("locked/x").parent.chmod(0)
    open_way_to(folder.path)
    command = [sys.executable, "-c", UNPRIVILEGED, str(folder.path)]
    done = subprocess.run(command, capture_output=True, check=False, encoding="utf-8")
    assert (done.stderr, done.stdout.splitlines()) == (
        "",
        [
            "unreadable alpha/closed",
            "unreadable alpha/secret",
            "unreadable locked",
            "unreadable stray",
        ],
    )


def test_a_missing_skills_folder_is_an_error(tmp_path: Path) -> None:
    """With its path."""
    with pytest.raises(UnreadableSkillsError, match="nowhere"):
        scan(tmp_path / "nowhere", FileFacts())


def test_the_skills_folder_itself_may_be_reached_through_a_link(folder: SkillsFolder) -> None:
    """Where a project lies is nobody's business."""
    folder.skill("alpha")
    link = folder.project / "link"
    link.symlink_to(folder.path)
    assert [skill.path for skill in scan(link, FileFacts()).skills] == ["alpha"]


# --- bounds -----------------------------------------------------------------------------------


def test_files_are_counted_to_the_limit_inclusive(folder: SkillsFolder) -> None:
    """512 with SKILL.md; the 513th refuses, and the message has the number."""
    folder.skill("alpha")
    for number in range(limits.SKILL_MAX_FILES - 1):
        folder.write(f"alpha/f{number}")
    assert len(files_of(folder, "alpha")) == limits.SKILL_MAX_FILES
    folder.write("alpha/one-more")
    (row,) = folder.refused("alpha").diagnostics
    assert (row.code, "513" in row.message) == ("too_many_files", True)


def test_bytes_are_counted_to_the_limit_inclusive(folder: SkillsFolder) -> None:
    """16 MiB over all files of a skill."""
    size = folder.skill("alpha").stat().st_size
    big = folder.write("alpha/big")
    os.truncate(big, limits.SKILL_MAX_BYTES - size)
    assert files_of(folder, "alpha") == ["SKILL.md", "big"]
    os.truncate(big, limits.SKILL_MAX_BYTES - size + 1)
    assert [(row.code, row.path) for row in folder.refused("alpha").diagnostics] == [
        ("too_large", "alpha/big")
    ]


def test_a_file_too_large_hides_nothing_else_that_is_wrong(folder: SkillsFolder) -> None:
    """All reasons in one run."""
    folder.skill("alpha", skill_md("other"))
    os.truncate(folder.write("alpha/Big"), limits.SKILL_MAX_BYTES + 1)
    folder.link("alpha/link", "x")
    assert sorted(codes(folder.refused("alpha"))) == ["link", "name_mismatch", "too_large"]


def test_a_scan_of_very_many_entries_ends(
    folder: SkillsFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And nothing may be locked then."""
    monkeypatch.setattr(file_limits, "SCAN_MAX_ENTRIES", 10)
    folder.skill("alpha")
    for number in range(12):
        folder.write(f"alpha/f{number}")
    result = folder.scan()
    assert ([row.code for row in result.problems], result.complete) == (
        ["scan_too_many_entries"],
        False,
    )
    assert result.found == 1


def test_very_deep_folders_end(folder: SkillsFolder) -> None:
    """In a skill they refuse it."""
    folder.skill("alpha")
    folder.write("alpha/" + "d/" * 70 + "x")
    assert "scan_too_deep" in codes(folder.refused("alpha"))


# --- junk, exclusions, what does not ship -----------------------------------------------------


def test_junk_changes_nothing(folder: SkillsFolder) -> None:
    """Not the skills, not what is unlocked."""
    folder.skill("alpha")
    folder.write("stray.txt", "x")
    before = folder.scan()
    for path in (
        "__pycache__/a.pyc",
        ".DS_Store",
        "Thumbs.db",
        ".SKILL.md.swp",
        "x~",
        ".git/config",
    ):
        folder.write(f"alpha/{path}")
        folder.write(path)
    assert folder.scan() == before


def test_a_skill_in_junk_is_none(folder: SkillsFolder) -> None:
    """A backup of a skill, for example."""
    folder.skill("alpha~")
    assert folder.scan().found == 0


@pytest.mark.parametrize("exclude", ["drafts", "drafts/", "drafts/one"])
def test_excluded_folders_are_counted_apart(folder: SkillsFolder, exclude: str) -> None:
    """A folder, with or without slash, or the skill itself."""
    folder.skill("drafts/one", "not ready")
    folder.skill("alpha")
    result = folder.scan(exclude=(exclude,))
    assert (result.excluded, result.found, result.complete) == (("drafts/one",), 1, True)


def test_what_is_excluded_is_unlocked(folder: SkillsFolder) -> None:
    """Git holds it still; a SKILL.md below it is part of it."""
    folder.skill("drafts/one", "x")
    folder.skill("drafts/one/two", "x")
    result = folder.scan(exclude=("drafts",))
    assert [row.path for row in result.unlocked] == [
        "drafts/one/SKILL.md",
        "drafts/one/two/SKILL.md",
    ]


def test_an_exclusion_of_nothing_is_told(folder: SkillsFolder) -> None:
    """A typing error there would let a draft ship."""
    folder.skill("alpha/references")
    rows = folder.scan(exclude=("drfats", "alpha/references/x")).problems
    assert [(row.code, row.path) for row in rows] == [
        ("exclude_unused", "alpha/references/x"),
        ("exclude_unused", "drfats"),
    ]


def test_strays_are_unlocked_with_gits_ids(folder: SkillsFolder) -> None:
    """Files, executables and links outside every skill."""
    folder.write("README.md", "hello\n")
    folder.write("tools/run.sh", "", executable=True)
    folder.link("link", "README.md")
    assert folder.scan().unlocked == (
        TreeEntry("README.md", "100644", "ce013625030ba8dba906f756967f9e9ca394464a"),
        TreeEntry("link", "120000", "42061c01a1c70097d1e4579f29a5adf40abdec95"),
        TreeEntry("tools/run.sh", "100755", "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"),
    )


def test_the_projects_lock_is_no_part_of_what_it_locks(tmp_path: Path) -> None:
    """Where the project is the skills folder; deeper ones are files like others."""
    folder = SkillsFolder(tmp_path, ".")
    folder.write("catalog.lock.json", "{}")
    folder.write("docs/catalog.lock.json", "{}")
    folder.skill("alpha")
    folder.write("alpha/catalog.lock.json", "{}")
    assert [row.path for row in folder.scan().unlocked] == ["docs/catalog.lock.json"]
    assert files_of(folder, "alpha") == ["SKILL.md", "catalog.lock.json"]


def test_a_lock_in_a_skills_folder_is_a_stray_and_told(folder: SkillsFolder) -> None:
    """Git holds it there, so its tree has it; somebody ran `lock` in the wrong folder."""
    folder.skill("alpha")
    folder.write("catalog.lock.json", "{}")
    result = folder.scan()
    assert [row.path for row in result.unlocked] == ["catalog.lock.json"]
    assert [row.code for row in result.problems] == ["lock_in_skills"]


def test_order_of_listing_changes_nothing(
    folder: SkillsFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """File systems list as they like."""
    for name in ("b", "a", "group/c", "bad"):
        folder.skill(name, "no" if name == "bad" else None)
        folder.write(f"{name}/two")
    folder.write("stray/x")
    before = folder.scan()
    entries = Folder.entries

    def backwards(self: Folder) -> list[FolderEntry]:
        return entries(self)[::-1]

    monkeypatch.setattr(Folder, "entries", backwards)
    assert folder.scan() == before


# --- without git, with an old lock ------------------------------------------------------------


def test_an_old_lock_keeps_x_bits_and_unlocked_entries(folder: SkillsFolder) -> None:
    """An unpacked sdist has lost both."""
    folder.skill("alpha")
    script = folder.write("alpha/run.sh", executable=True)
    stray = folder.write("README.md", "hello\n")
    old = folder.lock()
    script.chmod(0o644)
    stray.unlink()
    assert folder.lock(FileFacts(old)) == old


def test_a_new_file_beside_an_old_lock_has_the_disks_x_bit(folder: SkillsFolder) -> None:
    """Nobody else knows it."""
    folder.skill("alpha")
    old = folder.lock()
    folder.write("alpha/run.sh", executable=True)
    (skill,) = folder.scan(FileFacts(old)).skills
    assert [file.executable for file in skill.files] == [False, True]


def test_an_old_locks_entry_makes_way_for_a_new_skill(folder: SkillsFolder) -> None:
    """What did not ship then, ships now: file for file, folder for file, file for folder."""
    for path in ("alpha/SKILL.md", "beta", "gamma/SKILL.md/x"):
        folder.write(path, "x")
    old = folder.lock(_without_skills(folder))
    (folder.path / "beta").unlink()
    (folder.path / "gamma/SKILL.md/x").unlink()
    (folder.path / "gamma/SKILL.md").rmdir()
    for name in ("alpha", "beta", "gamma"):
        folder.skill(name)
    assert folder.scan(FileFacts(old)).unlocked == ()


def _without_skills(folder: SkillsFolder) -> FileFacts:
    """Return facts from when `alpha/SKILL.md` was outside any skill."""

    class Facts(FileFacts):
        def unlocked(self) -> tuple[TreeEntry, ...] | None:
            return tuple(
                TreeEntry(path, "100644", "0" * 40)
                for path in ("alpha/SKILL.md", "beta", "gamma/SKILL.md/x")
            )

    (folder.path / "alpha/SKILL.md").unlink()
    return Facts()


# --- with git ---------------------------------------------------------------------------------


def test_what_git_ignores_never_belongs(folder: SkillsFolder) -> None:
    """Files and folders, in skills and outside."""
    (folder.project / ".gitignore").write_text(".env\nbuild/\n*.log\n", encoding="utf-8")
    folder.skill("alpha")
    folder.commit()
    for path in ("alpha/.env", "alpha/build/x", "alpha/a.log", "build/y", "b.log"):
        folder.write(path)
    result = folder.scan(folder.git_facts())
    assert [file.path for file in result.skills[0].files] == ["SKILL.md"]
    assert result.unlocked == ()


def test_what_git_tracks_belongs_though_it_is_ignored(folder: SkillsFolder) -> None:
    """Also in a folder that is ignored as a whole."""
    (folder.project / ".gitignore").write_text("build/\n", encoding="utf-8")
    folder.skill("alpha")
    folder.write("alpha/build/kept")
    folder.write("alpha/build/left")
    folder.git("init", "--quiet")
    folder.git("add", "--force", "skills/alpha/build/kept")
    folder.commit()
    (skill,) = folder.scan(folder.git_facts()).skills
    assert [file.path for file in skill.files] == ["SKILL.md", "build/kept"]


def test_an_ignored_skill_is_none(folder: SkillsFolder) -> None:
    """It is not in the repository and never will be."""
    (folder.project / ".gitignore").write_text("scratch/\n", encoding="utf-8")
    folder.skill("scratch")
    folder.commit()
    assert folder.scan(folder.git_facts()).found == 0


def test_new_files_belong_before_git_add(folder: SkillsFolder) -> None:
    """A lock is made of what will be committed."""
    folder.skill("alpha")
    folder.commit()
    folder.write("alpha/new")
    folder.skill("beta")
    result = folder.scan(folder.git_facts())
    assert [(row.path, len(row.files)) for row in result.skills] == [("alpha", 2), ("beta", 1)]


def test_x_bits_are_the_indexs(folder: SkillsFolder) -> None:
    """Not those of a mount where every file has one."""
    folder.skill("alpha")
    folder.write("alpha/run.sh", executable=True)
    folder.commit()
    (folder.path / "alpha/SKILL.md").chmod(0o777)
    (folder.path / "alpha/run.sh").chmod(0o600)
    (skill,) = folder.scan(folder.git_facts()).skills
    assert [(file.path, file.executable) for file in skill.files] == [
        ("SKILL.md", False),
        ("run.sh", True),
    ]


def test_junk_that_git_tracks_is_told_and_unlocked(folder: SkillsFolder) -> None:
    """It does not ship; the skill's tree is not git's."""
    folder.skill("alpha")
    folder.write("alpha/scripts/__pycache__/a.pyc", "x")
    folder.write(".DS_Store", "x")
    folder.commit()
    result = folder.scan(folder.git_facts())
    assert [row.path for row in result.unlocked] == [
        ".DS_Store",
        "alpha/scripts/__pycache__/a.pyc",
    ]
    assert codes(result.skills[0]) == ["tracked_junk"]


def test_submodules_are_unlocked_and_not_entered(folder: SkillsFolder, tmp_path: Path) -> None:
    """What they hold is another repository's."""
    other = SkillsFolder(tmp_path / "other")
    other.skill("inner")
    other.commit()
    folder.skill("alpha")
    folder.commit()
    add = ("-c", "protocol.file.allow=always", "submodule", "--quiet", "add")
    folder.git(*add, str(other.project), "skills/vendor")
    result = folder.scan(folder.git_facts())
    assert [skill.path for skill in result.skills] == ["alpha"]
    assert [(row.path, row.mode) for row in result.unlocked] == [("vendor", "160000")]


def test_a_submodule_in_a_skill_refuses_it(folder: SkillsFolder, tmp_path: Path) -> None:
    """The skill would be incomplete."""
    other = SkillsFolder(tmp_path / "other")
    other.commit()
    folder.skill("alpha")
    folder.commit()
    add = ("-c", "protocol.file.allow=always", "submodule", "--quiet", "add")
    folder.git(*add, str(other.project), "skills/alpha/vendor")
    (refused,) = folder.scan(folder.git_facts()).refused
    assert codes(refused) == ["submodule"]


def test_a_link_that_git_wrote_as_a_file_is_still_a_link(folder: SkillsFolder) -> None:
    """Where the disk has no links, git writes their target as text."""
    folder.skill("alpha")
    folder.link("alpha/link", "SKILL.md")
    folder.link("stray", "alpha")
    folder.commit()
    folder.git("config", "core.symlinks", "false")
    for path in ("alpha/link", "stray"):
        (folder.path / path).unlink()
    folder.git("checkout", "--", ".")
    result = folder.scan(folder.git_facts())
    assert codes(result.refused[0]) == ["link"]
    assert [(row.path, row.mode) for row in result.unlocked] == [("stray", "120000")]


def test_a_skill_in_a_folder_named_like_junk_is_told(folder: SkillsFolder) -> None:
    """It is not locked; nobody should have to find that out."""
    folder.skill("alpha")
    folder.skill("old~", skill_md("old"))
    result = folder.scan()
    assert [(row.code, row.path) for row in result.problems] == [("skill_in_junk", "old~")]


def test_skills_that_git_ignores_are_named(folder: SkillsFolder) -> None:
    """The folder, or its SKILL.md alone; what is ignored further down is not looked for."""
    (folder.project / ".gitignore").write_text("scratch/\n/skills/b/SKILL.md\n", encoding="utf-8")
    folder.skill("scratch")
    folder.skill("b")
    folder.git("init", "--quiet")
    assert folder.scan(folder.git_facts()).ignored == ("b", "scratch")


@pytest.mark.parametrize("path", ["vendor", "alpha/vendor"])
def test_a_repository_among_the_skills_lets_nothing_be_locked(
    folder: SkillsFolder, path: str
) -> None:
    """Git would add it as a link to a commit that nobody else has."""
    folder.skill("alpha")
    folder.commit()
    folder.skill(path)
    folder.git("init", "--quiet", f"skills/{path}")
    result = folder.scan(folder.git_facts())
    assert not result.complete
    assert [(row.code, row.path) for row in result.problems] == [("nested_repository", path)]


def test_by_products_that_git_does_not_ignore_are_told(folder: SkillsFolder) -> None:
    """Once, where they begin: the next `git add` would commit them."""
    folder.skill("alpha")
    folder.commit()
    folder.write("alpha/__pycache__/a.pyc")
    folder.write("alpha/__pycache__/b.pyc")
    result = folder.scan(folder.git_facts())
    rows = [(row.code, row.path) for row in result.problems]
    assert rows == [("junk_not_ignored", "alpha/__pycache__")]


def test_what_is_not_checked_out_lets_nothing_be_locked(folder: SkillsFolder) -> None:
    """A sparse checkout is not a deletion; one remark a folder."""
    folder.skill("alpha")
    folder.skill("beta")
    folder.write("beta/run.sh")
    folder.commit()
    folder.git("config", "core.sparseCheckout", "true")
    for path in ("skills/beta/SKILL.md", "skills/beta/run.sh"):
        folder.git("update-index", "--skip-worktree", path)
        (folder.project / path).unlink()
    result = folder.scan(folder.git_facts())
    assert not result.complete
    assert [(row.code, row.path) for row in result.problems] == [("not_checked_out", "beta")]


def test_a_skills_folder_that_is_not_checked_out_is_told_from_a_missing_one(
    folder: SkillsFolder,
) -> None:
    """The remedy is another."""
    folder.skill("alpha")
    folder.commit()
    folder.git("config", "core.sparseCheckout", "true")
    folder.git("update-index", "--skip-worktree", "skills/alpha/SKILL.md")
    facts = folder.git_facts()
    shutil.rmtree(folder.path)
    with pytest.raises(UnreadableSkillsError, match="git did not check it out"):
        folder.scan(facts)


def test_a_deleted_file_is_a_deletion(folder: SkillsFolder) -> None:
    """Git shows it as one, and whoever deleted it knows."""
    folder.skill("alpha")
    folder.skill("beta")
    folder.commit()
    (folder.path / "beta/SKILL.md").unlink()
    assert [row.path for row in folder.scan(folder.git_facts()).skills] == ["alpha"]


def test_a_skill_whose_folder_is_not_utf8_counts_as_refused(folder: SkillsFolder) -> None:
    """So that the totals add up."""
    folder.skill("alpha")
    os.mkdir(os.fsencode(folder.path) + b"/bad\xff")  # noqa: PTH102 - a Path has no such name
    with open(os.fsencode(folder.path) + b"/bad\xff/SKILL.md", "wb") as file:  # noqa: PTH123 - likewise
        file.write(skill_md("bad").encode())
    result = folder.scan()
    assert [(row.path, codes(row)) for row in result.refused] == [("bad\ufffd", ["path_not_utf8"])]


@pytest.mark.parametrize("name", ["cafe\u0301/SKILL.md", "alpha/re\u0301sume\u0301.md"])
def test_a_name_in_nfd_is_refused_before_and_after_git_add(folder: SkillsFolder, name: str) -> None:
    """The first run already says what a commit would lead to."""
    folder.skill("alpha")
    folder.write(name, skill_md("caf\u00e9"))
    folder.git("init", "--quiet")
    folder.git("config", "core.precomposeUnicode", "false")
    for step in ("status", "add"):
        folder.git(step, ".")
        (refused,) = folder.scan(folder.git_facts()).refused
        assert "path_not_nfc" in codes(refused)


def test_a_name_in_nfd_that_git_composes_is_a_warning(folder: SkillsFolder) -> None:
    """As on a Mac, where git adds the name in NFC."""
    folder.skill("cafe\u0301", skill_md("caf\u00e9"))
    folder.git("init", "--quiet")
    folder.git("config", "core.precomposeUnicode", "true")
    (skill,) = folder.scan(folder.git_facts()).skills
    assert "name_not_nfc" in codes(skill)


def _convert(folder: SkillsFolder) -> None:
    """Make a checkout like one on Windows: CRLF on disk, LF in git."""
    folder.skill("alpha")
    folder.write("alpha/notes.md", "one\ntwo\n")
    folder.commit()
    folder.git("config", "core.autocrlf", "true")
    for path in ("alpha/SKILL.md", "alpha/notes.md"):
        (folder.path / path).unlink()
    folder.git("checkout", "--", ".")
    assert b"\r\n" in (folder.path / "alpha/notes.md").read_bytes()


def test_a_checkout_that_converts_line_ends_is_reported(folder: SkillsFolder) -> None:
    """With the line for .gitattributes; the lock does not hold it, for an sdist has no git."""
    _convert(folder)
    (skill,) = folder.scan(folder.git_facts()).skills
    (row,) = skill.diagnostics
    assert (row.code, row.path) == ("line_ends_converted", "alpha/SKILL.md")
    assert "`skills/** -text`" in row.message
    assert folder.lock(folder.git_facts()).skills[0].diagnostics == ()


def test_line_ends_that_git_keeps_are_not_reported(folder: SkillsFolder) -> None:
    """With the attribute, or where git holds CRLF itself."""
    folder.skill("alpha")
    folder.write("alpha/notes.md", "one\r\ntwo\r\n")
    (folder.project / ".gitattributes").write_text("skills/** -text\n", encoding="utf-8")
    folder.git("init", "--quiet")
    folder.git("config", "core.autocrlf", "true")
    assert folder.scan(folder.git_facts()).skills[0].diagnostics == ()
    folder.commit()
    assert folder.scan(folder.git_facts()).skills[0].diagnostics == ()


def test_an_untracked_file_that_git_would_convert_is_reported(folder: SkillsFolder) -> None:
    """Before the first commit."""
    folder.skill("alpha")
    folder.write("alpha/notes.md", "one\r\ntwo\r\n")
    folder.git("init", "--quiet")
    folder.git("config", "core.autocrlf", "true")
    (skill,) = folder.scan(folder.git_facts()).skills
    assert codes(skill) == ["line_ends_converted"]

"""What happens to a file between the listing and the reading, and what happens to files that do not ship."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from skills_bundle.errors import UnsafeFileError
from skills_bundle.files.reading import Folder, FolderEntry
from skills_bundle.skills.scan import EntryPath
from tests.builders import SkillsFolder, codes

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def folder(tmp_path: Path) -> SkillsFolder:
    """One skill with one more file, and a stray."""
    made = SkillsFolder(tmp_path)
    made.skill("alpha")
    made.write("alpha/data", "x")
    made.write("stray", "x")
    return made


@pytest.fixture
def after_listing(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, Callable[[], object]], None]:
    """Do something in the moment after a folder that holds a name was listed."""

    def arrange(name: str, act: Callable[[], object]) -> None:
        entries = Folder.entries

        def listed(self: Folder) -> list[FolderEntry]:
            found = entries(self)
            if name in [entry.name for entry in found]:
                act()
            return found

        monkeypatch.setattr(Folder, "entries", listed)

    return arrange


def replace_by_link(path: Path) -> None:
    """Put a link in a file's place."""
    path.unlink()
    path.symlink_to("/etc/passwd")


def test_a_file_that_vanishes_refuses_the_skill(
    folder: SkillsFolder, after_listing: Callable[[str, Callable[[], object]], None]
) -> None:
    """Somebody is still at work."""
    after_listing("data", (folder.path / "alpha/data").unlink)
    assert codes(folder.refused("alpha")) == ["changed_while_read"]


def test_a_file_swapped_for_a_link_is_not_read(
    folder: SkillsFolder, after_listing: Callable[[str, Callable[[], object]], None]
) -> None:
    """It was a file when the folder was listed."""
    after_listing("data", lambda: replace_by_link(folder.path / "alpha/data"))
    assert codes(folder.refused("alpha")) == ["link"]


def test_a_folder_swapped_for_a_link_is_not_entered(
    folder: SkillsFolder, after_listing: Callable[[str, Callable[[], object]], None]
) -> None:
    """Nor is what it leads to."""
    (folder.path / "alpha/sub").mkdir()

    def swap() -> None:
        (folder.path / "alpha/sub").rmdir()
        (folder.path / "alpha/sub").symlink_to("/etc")

    after_listing("sub", swap)
    assert codes(folder.refused("alpha")) == ["unreadable"]


def test_a_stray_that_vanishes_stops_the_lock(
    folder: SkillsFolder, after_listing: Callable[[str, Callable[[], object]], None]
) -> None:
    """Git's tree would be a guess."""
    after_listing("stray", (folder.path / "stray").unlink)
    result = folder.scan()
    assert ([row.code for row in result.problems], result.complete) == (
        ["changed_while_read"],
        False,
    )


def test_a_stray_link_that_vanishes_stops_the_lock(
    folder: SkillsFolder, after_listing: Callable[[str, Callable[[], object]], None]
) -> None:
    """Likewise."""
    link = folder.link("link", "stray")
    after_listing("link", link.unlink)
    assert [row.code for row in folder.scan().problems] == ["changed_while_read"]


@pytest.mark.skipif(sys.platform != "linux", reason="needs a file whose size is not its length")
def test_a_file_that_is_longer_than_it_says_has_changed() -> None:
    """As one that grows while it is read; those of /proc say that they are empty."""
    with Folder.open(Path("/proc/self")) as proc, pytest.raises(UnsafeFileError) as caught:
        proc.read("status", 1_000_000)
    assert caught.value.kind == "changed"


def test_a_link_among_junk_is_nothing(folder: SkillsFolder) -> None:
    """Unless git tracks it."""
    folder.link("alpha/.#SKILL.md", "ada@example.org")
    assert codes(folder.accepted("alpha")) == []


def test_a_link_among_junk_that_git_tracks_is_unlocked(folder: SkillsFolder) -> None:
    """It is in git's tree, and the skill is told."""
    folder.link("alpha/.#SKILL.md", "ada@example.org")
    folder.commit()
    result = folder.scan(folder.git_facts())
    assert [(row.path, row.mode) for row in result.unlocked] == [
        ("alpha/.#SKILL.md", "120000"),
        ("stray", "100644"),
    ]
    assert codes(result.skills[0]) == ["tracked_junk"]


def test_a_stray_path_no_lock_can_hold_stops_the_lock(folder: SkillsFolder) -> None:
    """By its length."""
    folder.write("/".join(["x" * 200] * 6))
    assert [row.code for row in folder.scan().problems] == ["path_too_long"]


def test_the_top_is_displayed_as_a_dot() -> None:
    """And its entries have no slash before them."""
    top = EntryPath("", "")
    assert (top.display, top.below("a").path, top.below("a").below("b").path) == (".", "a", "a/b")


def test_a_spot_keeps_the_disks_spelling_beside_nfc() -> None:
    """One to open, one to lock."""
    path = EntryPath("", "").below("cafe\u0301").below("e\u0301")
    assert (path.raw, path.path) == ("cafe\u0301/e\u0301", "café/é")

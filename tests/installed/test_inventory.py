"""Looking at files again: by `stat` where that is enough, by reading where it is not."""

from __future__ import annotations

import hashlib
import mmap
import os
import time
from typing import TYPE_CHECKING

import pytest

from skills_bundle.files import limits as file_limits
from skills_bundle.files import reading
from skills_bundle.installed import limits as installed_limits
from skills_bundle.installed.inventory import Inventory
from tests import odd_files

if TYPE_CHECKING:
    from pathlib import Path

LATER = installed_limits.RACY_NANOSECONDS * 2


def _later() -> int:
    """A clock for which every file here is old enough for its times to be relied on."""
    return time.time_ns() + LATER


@pytest.fixture
def inventory(tmp_path: Path) -> Inventory:
    """Two files in two folders, looked at once."""
    for path in ("a/one.md", "b/two.md"):
        (tmp_path / path).parent.mkdir()
        (tmp_path / path).write_bytes(path.encode())
    found = Inventory(
        tmp_path, {"a/one.md": 100, "b/two.md": 100}, folders=("a", "b"), clock=_later
    )
    assert found.refresh()
    return found


def test_nothing_changed_gives_nothing_new(inventory: Inventory) -> None:
    """A second look says so."""
    assert not inventory.refresh()
    assert [seen.kind for seen in inventory.files.values()] == ["file", "file"]
    assert inventory.listed == {"a/one.md": "file", "b/two.md": "file"}


def test_a_file_that_is_rewritten_alike_is_nothing_new(
    inventory: Inventory, tmp_path: Path
) -> None:
    """Its times moved, so it is read again; what it holds did not change."""
    (tmp_path / "a/one.md").write_bytes(b"a/one.md")
    assert not inventory.refresh()


def test_a_changed_file_is_read_again(inventory: Inventory, tmp_path: Path) -> None:
    """Same size, other bytes."""
    before = inventory.files["a/one.md"]
    (tmp_path / "a/one.md").write_bytes(b"a/0ne.md")
    assert inventory.refresh()
    assert inventory.files["a/one.md"].sha256 != before.sha256


def test_times_that_are_set_back_hide_nothing(inventory: Inventory, tmp_path: Path) -> None:
    """The system keeps a time that nobody can set."""
    file = tmp_path / "a/one.md"
    facts = file.stat()
    file.write_bytes(b"a/0ne.md")
    os.utime(file, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    assert inventory.refresh()


@pytest.mark.parametrize(("age", "noticed"), [(0, True), (LATER, False)])
def test_a_file_too_young_to_be_relied_on_is_read_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, age: int, *, noticed: bool
) -> None:
    """A write within one tick of the file system's clock leaves no trace in its times."""
    file = tmp_path / "one.md"
    file.write_bytes(b"one")
    found = Inventory(tmp_path, {"one.md": 100}, clock=lambda: file.stat().st_ctime_ns + age)
    found.refresh()
    one_tick = reading.lstat(tmp_path, "one.md")

    def still(*_: object, **__: object) -> object:
        return one_tick

    monkeypatch.setattr(reading, "lstat", still)
    found.refresh()  # folders look different now that all their times are this one
    file.write_bytes(b"0ne")
    assert found.refresh() is noticed


def test_a_folder_swapped_for_a_link_to_itself_is_noticed(
    inventory: Inventory, tmp_path: Path
) -> None:
    """The files behind it are the same ones, with the same times."""
    (tmp_path / "a").rename(tmp_path / "moved")
    (tmp_path / "a").symlink_to("moved")
    assert inventory.refresh()
    assert inventory.files["a/one.md"].kind == "linked"


def test_a_missing_file_is_looked_for_again(inventory: Inventory, tmp_path: Path) -> None:
    """Gone and back."""
    odd_files.remove(tmp_path / "a/one.md")
    assert inventory.refresh()
    assert inventory.files["a/one.md"].kind == "missing"
    (tmp_path / "a/one.md").write_bytes(b"a/one.md")
    assert inventory.refresh()
    assert inventory.files["a/one.md"].kind == "file"


def test_a_new_file_is_listed(inventory: Inventory, tmp_path: Path) -> None:
    """Also one in a new folder."""
    (tmp_path / "a/new").mkdir()
    (tmp_path / "a/new/x").write_bytes(b"")
    assert inventory.refresh()
    assert inventory.listed["a/new/x"] == "file"
    odd_files.remove(tmp_path / "a/new")
    assert inventory.refresh()
    assert "a/new/x" not in inventory.listed


def test_links_and_special_files_are_entries_and_not_entered(
    inventory: Inventory, tmp_path: Path
) -> None:
    """A link to a folder is told, and what lies behind it is not."""
    (tmp_path / "a/link").symlink_to(tmp_path / "b")
    os.mkfifo(tmp_path / "a/pipe")
    inventory.refresh()
    assert inventory.listed == {
        "a/link": "linked",
        "a/one.md": "file",
        "a/pipe": "not_regular",
        "b/two.md": "file",
    }


def test_a_listed_folder_that_is_a_link_has_no_entries(
    inventory: Inventory, tmp_path: Path
) -> None:
    """It is not followed."""
    (tmp_path / "b").rename(tmp_path / "moved")
    (tmp_path / "b").symlink_to("moved")
    inventory.refresh()
    assert inventory.listed == {"a/one.md": "file"}


def test_a_folder_that_nobody_may_list_is_an_entry() -> None:
    """And is listed once it may be."""
    with odd_files.unprivileged_folder() as root:
        (root / "a").mkdir()
        (root / "a/one.md").write_bytes(b"")
        (root / "a").chmod(0o711)
        found = Inventory(root, {}, folders=("a",), clock=_later)
        with odd_files.without_privileges():
            found.refresh()
            hidden = dict(found.listed)
            seen_again = found.refresh()
        (root / "a").chmod(0o755)
        with odd_files.without_privileges():
            shown = found.refresh()
    assert (hidden, seen_again, shown) == ({"a": "unreadable"}, False, True)
    assert found.listed == {"a/one.md": "file"}


def test_a_forgotten_file_is_read_again(inventory: Inventory, tmp_path: Path) -> None:
    """Somebody read it and knows that its times lie."""
    before = inventory.files["a/one.md"]
    file = tmp_path / "a/one.md"
    with file.open("r+b") as stream, mmap.mmap(stream.fileno(), 0) as view:
        view[0] = view[0]  # its times move with the first write, and not with those soon after
        inventory.refresh()
        view[0] ^= 1
        inventory.refresh()
        inventory.forget("a/one.md")
        inventory.refresh()
    assert inventory.files["a/one.md"].sha256 != before.sha256


def test_a_file_is_hashed_by_another_algorithm_where_somebody_gave_such_a_digest(
    tmp_path: Path,
) -> None:
    """Besides SHA-256."""
    (tmp_path / "one.md").write_bytes(b"one")
    found = Inventory(tmp_path, {"one.md": 100}, algorithms={"one.md": "md5"})
    found.refresh()
    assert found.files["one.md"].recorded == hashlib.md5(b"one").hexdigest()  # noqa: S324 -- RECORD's


def test_a_system_without_descriptors_is_told_as_such(inventory: Inventory, tmp_path: Path) -> None:
    """It says nothing of the files."""
    (tmp_path / "a/one.md").write_bytes(b"changed")
    with odd_files.without_descriptors(), pytest.raises(OSError, match="open files"):
        inventory.refresh()


def test_a_listing_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many files somebody puts there."""
    monkeypatch.setattr(file_limits, "SCAN_MAX_ENTRIES", 3)
    for number in range(5):
        (tmp_path / str(number)).write_bytes(b"")
    found = Inventory(tmp_path.parent, {}, folders=(tmp_path.name,))
    found.refresh()
    assert len(found.listed) == 3


def test_a_file_over_its_bound_is_told_by_its_size(inventory: Inventory, tmp_path: Path) -> None:
    """It is not read."""
    odd_files.sparse(tmp_path / "a/one.md")
    inventory.refresh()
    seen = inventory.files["a/one.md"]
    assert (seen.kind, seen.size, seen.sha256) == ("size", odd_files.SPARSE_BYTES, None)

"""A plan is put onto the disk whole, or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from skills_bundle.errors import SettingsError
from skills_bundle.scaffold.plan import Change
from skills_bundle.scaffold.writing import write

if TYPE_CHECKING:
    from pathlib import Path


def tree(folder: Path) -> dict[str, bytes | None]:
    """Give every file with its bytes, and every folder."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }


def test_files_and_their_folders_are_made(tmp_path: Path) -> None:
    """Also those of a project that is not there yet."""
    write(tmp_path / "new", [Change("a/b/c.txt", None, b"c"), Change("d.txt", None, b"d")])
    assert (tmp_path / "new/a/b/c.txt").read_bytes() == b"c"
    assert (tmp_path / "new/d.txt").read_bytes() == b"d"


def test_what_was_written_is_taken_back_if_a_later_file_fails(tmp_path: Path) -> None:
    """Files that were there have their bytes again, and folders that were made are gone."""
    (tmp_path / "there.txt").write_bytes(b"old")
    (tmp_path / "file").write_bytes(b"in the way of a folder")
    before = tree(tmp_path)
    changes = [
        Change("new/deep/file.txt", None, b"new"),
        Change("there.txt", b"old", b"changed"),
        Change("file/below.txt", None, b"cannot be"),
    ]
    with pytest.raises(OSError, match="file"):
        write(tmp_path, changes)
    assert tree(tmp_path) == before


def test_a_file_that_was_changed_meanwhile_stops_all_of_it(tmp_path: Path) -> None:
    """Somebody's edit is not lost; every such file is named."""
    (tmp_path / "a.txt").write_bytes(b"edited")
    changes = [Change("b.txt", None, b"b"), Change("a.txt", b"old", b"new")]
    with pytest.raises(SettingsError, match=r"a\.txt: was changed meanwhile"):
        write(tmp_path, changes)
    assert tree(tmp_path) == {"a.txt": b"edited"}


def test_a_file_keeps_its_mode(tmp_path: Path) -> None:
    """What its owner made of it stays."""
    path = tmp_path / "a.txt"
    path.write_bytes(b"old")
    path.chmod(0o640)
    write(tmp_path, [Change("a.txt", b"old", b"new")])
    assert path.stat().st_mode & 0o777 == 0o640

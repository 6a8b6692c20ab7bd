"""A plan is put onto the disk whole, or not at all."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import skills_bundle
from skills_bundle.errors import SettingsError
from skills_bundle.project.plan import FileChange
from skills_bundle.project.writing import check_places, write_changes

if TYPE_CHECKING:
    from collections.abc import Callable


SOURCE = str(Path(skills_bundle.__file__).parents[1])


def tree(folder: Path) -> dict[str, bytes | None]:
    """Return every file with its bytes, and every folder."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }


def test_files_and_their_folders_are_made(tmp_path: Path) -> None:
    """Also those of a project that is not there yet."""
    write_changes(
        tmp_path / "new", [FileChange("a/b/c.txt", None, b"c"), FileChange("d.txt", None, b"d")]
    )
    assert (tmp_path / "new/a/b/c.txt").read_bytes() == b"c"
    assert (tmp_path / "new/d.txt").read_bytes() == b"d"


def test_what_was_written_is_taken_back_if_a_later_file_fails(tmp_path: Path) -> None:
    """Files that were there have their bytes again, and folders that were made are gone."""
    (tmp_path / "there.txt").write_bytes(b"old")
    before = tree(tmp_path)
    changes = [
        FileChange("new/deep/file.txt", None, b"new"),
        FileChange("there.txt", b"old", b"changed"),
        FileChange("large.txt", None, b"x" * 2_000),
    ]
    usual = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, usual[1]))
    try:
        with pytest.raises(OSError, match="too large"):
            write_changes(tmp_path, changes)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, usual)
    assert tree(tmp_path) == before


def test_pyproject_goes_last_so_that_a_run_that_was_killed_can_be_run_again(tmp_path: Path) -> None:
    """It makes the folder a project, and a project is not given a README and the like."""
    changes = [
        FileChange("pyproject.toml", None, b"new"),
        FileChange("README.md", None, b"x" * 2_000),
    ]
    program = (
        "import resource, signal, sys; from pathlib import Path\n"
        f"sys.path.insert(0, {SOURCE!r})\n"
        "from skills_bundle.project.plan import FileChange\n"
        "from skills_bundle.project import writing\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # which no handler of Python's sees\n"
        "resource.setrlimit(resource.RLIMIT_CORE, (0, 0))\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, 1_000))\n"
        f"writing.write_changes(Path(sys.argv[1]), {changes!r})"
    )
    done = subprocess.run([sys.executable, "-c", program, tmp_path], check=False)
    assert done.returncode == -signal.SIGXFSZ
    assert not (tmp_path / "pyproject.toml").exists()


def _pipe(folder: Path) -> None:
    os.mkfifo(folder / "new")


def _folder(folder: Path) -> None:
    (folder / "new/a.txt").mkdir(parents=True)


def _link_to_a_folder(folder: Path) -> None:
    (folder / "elsewhere").mkdir()
    (folder / "new").symlink_to("elsewhere")


def _dangling_link(folder: Path) -> None:
    (folder / "new").mkdir()
    (folder / "new/a.txt").symlink_to("nothing")


def _file(folder: Path) -> None:
    (folder / "new").mkdir()
    (folder / "new/a.txt").write_bytes(b"mine")


def _pipe_for_a_file(folder: Path) -> None:
    (folder / "new").mkdir()
    os.mkfifo(folder / "new/a.txt")


@pytest.mark.parametrize(
    ("lay", "told"),
    [
        (_pipe, "new: is not a folder"),
        (_folder, r"new/a\.txt: is not a regular file"),
        (_link_to_a_folder, "new: is a link"),
        (_dangling_link, r"new/a\.txt: is a link"),
        (_file, r"new/a\.txt: exists already"),
        (_pipe_for_a_file, r"new/a\.txt: is not a regular file"),
    ],
)
def test_what_lies_in_the_way_is_named_and_stays(
    tmp_path: Path, lay: Callable[[Path], None], told: str
) -> None:
    """No link is followed out of the project, no pipe is waited for, nobody's file replaced."""
    lay(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(SettingsError, match=told):
        write_changes(
            tmp_path, [FileChange("b.txt", None, b"b"), FileChange("new/a.txt", None, b"a")]
        )
    assert sorted(tmp_path.rglob("*")) == before


def test_a_file_that_was_changed_meanwhile_stops_all_of_it(tmp_path: Path) -> None:
    """Somebody's edit is not lost; every such file is named."""
    (tmp_path / "a.txt").write_bytes(b"old, edited")
    changes = [FileChange("b.txt", None, b"b"), FileChange("a.txt", b"old", b"new")]
    with pytest.raises(SettingsError, match=r"a\.txt: changed while the command ran"):
        write_changes(tmp_path, changes)
    assert tree(tmp_path) == {"a.txt": b"old, edited"}


def test_a_file_keeps_its_mode(tmp_path: Path) -> None:
    """What its owner made of it stays."""
    path = tmp_path / "a.txt"
    path.write_bytes(b"old")
    path.chmod(0o640)
    write_changes(tmp_path, [FileChange("a.txt", b"old", b"new")])
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_changed_file_keeps_its_mode_and_owner(tmp_path: Path) -> None:
    """Root can keep another user's; for anyone else the owner is the same."""
    file = tmp_path / "pyproject.toml"
    file.write_bytes(b"old")
    file.chmod(0o640)
    if os.geteuid() == 0:
        os.chown(file, 12345, 12345)
    before = file.stat()
    changes = [FileChange("pyproject.toml", b"old", b"new")]
    check_places(tmp_path, changes)
    write_changes(tmp_path, changes)
    after = file.stat()
    assert file.read_bytes() == b"new"
    assert (after.st_mode, after.st_uid, after.st_gid) == (
        before.st_mode,
        before.st_uid,
        before.st_gid,
    )


def test_a_read_only_file_is_not_replaced(tmp_path: Path) -> None:
    """Its owner set that for a reason; replacing it would need no right to the file."""
    file = tmp_path / "pyproject.toml"
    file.write_bytes(b"old")
    file.chmod(0o444)
    with pytest.raises(SettingsError) as caught:
        check_places(tmp_path, [FileChange("pyproject.toml", b"old", b"new")])
    assert [(row.code, row.path) for row in caught.value.problems] == [
        ("protected", "pyproject.toml")
    ]
    assert "is read-only" in caught.value.problems[0].message


def test_another_users_file_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would become ours."""
    file = tmp_path / "pyproject.toml"
    file.write_bytes(b"old")
    monkeypatch.setattr(os, "geteuid", lambda: file.stat().st_uid + 1)
    with pytest.raises(SettingsError) as caught:
        check_places(tmp_path, [FileChange("pyproject.toml", b"old", b"new")])
    assert "belongs to another user" in caught.value.problems[0].message

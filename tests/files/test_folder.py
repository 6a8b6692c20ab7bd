"""Folders and files opened without following a link, on a real disk."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from skills_bundle.errors import UnsafeFileError
from skills_bundle.files.reading import Folder
from skills_bundle.formats.digest import git_object_id
from tests.builders import open_way_to

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(params=[True, False], ids=["descriptors", "paths"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Folder]:
    """A folder opened as on systems that open relative to a folder, and as on those that cannot."""
    with Folder.open(tmp_path, relative=request.param) as opened:
        yield opened


def kind(folder: Folder, name: str) -> str:
    """Return the kind of the error that reading a file raises."""
    with pytest.raises(UnsafeFileError) as caught:
        folder.read(name, 1000)
    return caught.value.kind


def test_entries_are_sorted_by_bytes_with_their_kinds(folder: Folder, tmp_path: Path) -> None:
    """A link to a folder is a link."""
    (tmp_path / "b").write_bytes(b"")
    (tmp_path / "B").mkdir()
    (tmp_path / "é").symlink_to("B")
    os.mkfifo(tmp_path / "a")
    found = [(entry.name, entry.kind) for entry in folder.entries()]
    assert found == [("B", "folder"), ("a", "special"), ("b", "file"), ("é", "link")]


def test_a_file_is_read_whole_with_its_x_bit(folder: Folder, tmp_path: Path) -> None:
    """Up to the limit, inclusive."""
    (tmp_path / "run").write_bytes(b"x" * 1000)
    (tmp_path / "run").chmod(0o700)
    found = folder.read("run", 1000)
    assert (found.data, found.executable) == (b"x" * 1000, True)


def test_a_file_over_the_limit_is_not_read(folder: Folder, tmp_path: Path) -> None:
    """By one byte."""
    (tmp_path / "big").write_bytes(b"x" * 1001)
    assert kind(folder, "big") == "size"


def test_a_link_is_not_read(folder: Folder, tmp_path: Path) -> None:
    """Wherever it leads."""
    (tmp_path / "real").write_bytes(b"x")
    (tmp_path / "link").symlink_to("real")
    assert kind(folder, "link") == "linked"


def test_a_pipe_is_refused_at_once(folder: Folder, tmp_path: Path) -> None:
    """Opening one to read waits for a writer, unless asked not to."""
    os.mkfifo(tmp_path / "pipe")
    assert kind(folder, "pipe") == "not_regular"


def test_a_socket_is_refused(
    folder: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It cannot be opened at all."""
    monkeypatch.chdir(tmp_path)  # a socket's path has to be short
    with socket.socket(socket.AF_UNIX) as made:
        made.bind("s")
        assert kind(folder, "s") == "not_regular"


def test_a_folder_is_no_file(folder: Folder, tmp_path: Path) -> None:
    """And says so."""
    (tmp_path / "sub").mkdir()
    assert kind(folder, "sub") == "not_regular"


def test_a_missing_file_is_missing(folder: Folder) -> None:
    """It may have been there when the folder was listed."""
    assert kind(folder, "gone") == "missing"


def test_a_link_is_not_opened_as_a_folder(folder: Folder, tmp_path: Path) -> None:
    """A folder swapped for a link while we walk is an error."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    with pytest.raises(OSError, match=r"irectory|evels"):
        folder.child("link")


def test_a_child_folder_is_listed_and_read(folder: Folder, tmp_path: Path) -> None:
    """Through the folder it is in."""
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a").write_bytes(b"1")
    with folder.child("sub") as child:
        assert ([row.name for row in child.entries()], child.read("a", 9).data) == (["a"], b"1")


def test_a_child_stays_the_same_folder_when_its_name_is_taken(tmp_path: Path) -> None:
    """What was opened is read, not what stands at its path by now."""
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a").write_bytes(b"before")
    with Folder.open(tmp_path) as top, top.child("sub") as child:
        (tmp_path / "sub").rename(tmp_path / "moved")
        (tmp_path / "sub").mkdir()
        (tmp_path / "sub" / "a").write_bytes(b"after")
        assert child.read("a", 99).data == b"before"


def test_a_blob_id_is_gits(folder: Folder, tmp_path: Path) -> None:
    """Of a file larger than one chunk."""
    data = b"0123456789abcdef" * 70_000
    (tmp_path / "big").write_bytes(data)
    assert folder.blob_id("big") == (git_object_id("blob", data), False)


def test_a_link_says_where_it_leads(folder: Folder, tmp_path: Path) -> None:
    """In bytes, unresolved."""
    (tmp_path / "link").symlink_to("../no/where")
    assert folder.link_target("link") == b"../no/where"


UNPRIVILEGED = """
import os, sys
from pathlib import Path
from skills_bundle.errors import UnsafeFileError
from skills_bundle.files.reading import Folder
if os.geteuid() == 0:  # root may read everything: become somebody who may not
    os.setgid(65534)
    os.setuid(65534)
with Folder.open(Path(sys.argv[1])) as folder:
    try:
        folder.read("secret", 9)
    except UnsafeFileError as error:
        print(error.kind)
    try:
        folder.child("closed").entries()
    except PermissionError:
        print("closed")
"""


def test_what_may_not_be_read_is_unreadable(tmp_path: Path) -> None:
    """Seen by another user."""
    (tmp_path / "secret").write_bytes(b"x")
    (tmp_path / "secret").chmod(0)
    (tmp_path / "closed").mkdir(mode=0)
    open_way_to(tmp_path)
    command = [sys.executable, "-c", UNPRIVILEGED, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, check=False, encoding="utf-8")
    assert (done.stdout.split(), done.stderr) == (["unreadable", "closed"], "")

"""Reading installed files: no link, no waiting, no trust in a size."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import pytest

from skills_bundle.errors import UnsafeFileError
from skills_bundle.files import reading
from skills_bundle.files.reading import Folder, Reader
from tests import odd_files

if TYPE_CHECKING:
    from collections.abc import Callable

DATA = b"twelve bytes"
PATH = "a/b/file.md"

WAYS = {"by_folder": True, "by_path": False}
"""Whether to open relative to a folder; Windows cannot."""

pytestmark = pytest.mark.parametrize("way", WAYS)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with one file two folders down."""
    file = tmp_path / PATH
    file.parent.mkdir(parents=True)
    file.write_bytes(DATA)
    return tmp_path


def _reader(root: Path, way: str, *, follow_last: bool = False) -> Reader:
    return Reader(root, follow_last=follow_last, relative=WAYS[way])


def _descriptors() -> set[str]:
    return {path.name for path in Path("/proc/self/fd").iterdir()}


def _kind(root: Path, path: str, size: int, way: str) -> str:
    with _reader(root, way) as reader, pytest.raises(UnsafeFileError) as caught:
        reader.read(path, size)
    return caught.value.kind


def test_a_plain_file_gives_its_bytes(root: Path, way: str) -> None:
    """A regular file of the expected size is read whole."""
    with _reader(root, way) as reader:
        assert reader.read(PATH, len(DATA)) == DATA


def test_one_reader_reads_files_in_any_order(root: Path, way: str) -> None:
    """Folders shared by two paths are kept open; leaving and entering them again works."""
    paths = ["a/b/file.md", "a/c/d/deep.md", "top.md", "a/b/other.md", "a/next.md"]
    for path in paths[1:]:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(path.encode())
    with _reader(root, way) as reader:
        found = [reader.read_up_to(path, 100).data for path in paths]
    assert found == [DATA, *(path.encode() for path in paths[1:])]


def test_reading_on_after_a_refusal_works(root: Path, way: str) -> None:
    """A path that is refused half way does not confuse the folders that are open."""
    (root / "a/link").symlink_to("b")
    with _reader(root, way) as reader:
        for path in ("a/link/file.md", "a/b/none/x.md", "x/y"):
            with pytest.raises(UnsafeFileError):
                reader.read(path, len(DATA))
        assert reader.read(PATH, len(DATA)) == DATA


@pytest.mark.parametrize("name", odd_files.KINDS)
def test_whatever_else_lies_there_is_refused_by_its_kind(root: Path, name: str, way: str) -> None:
    """Links, special files and lies about the size are told apart, and none makes us wait."""
    change, kind = odd_files.KINDS[name]
    change(root / PATH)
    assert _kind(root, PATH, len(DATA), way) == kind


def test_a_file_nobody_may_read_is_unreadable(way: str) -> None:
    """Mode 000 gives a kind of its own: the file is there."""
    with odd_files.unprivileged_folder() as folder:
        file = folder / "file.md"
        file.write_bytes(DATA)
        file.chmod(0)
        with odd_files.without_privileges():
            assert _kind(folder, "file.md", len(DATA), way) == "unreadable"


@pytest.mark.parametrize("size", [0, len(DATA) - 1, len(DATA) + 1])
def test_another_size_is_refused(root: Path, size: int, way: str) -> None:
    """A file that is longer or shorter than it should be is not read."""
    assert _kind(root, PATH, size, way) == "size"


@pytest.mark.parametrize(
    "path", ["", "/etc/passwd", "a/../a/b/file.md", "./a/b/file.md", "a//b/file.md", "a/b/file.md/"]
)
def test_a_path_that_is_not_plain_finds_nothing(root: Path, path: str, way: str) -> None:
    """The reader does not rely on others having checked the path."""
    assert _kind(root, path, len(DATA), way) == "missing"


@pytest.mark.parametrize("path", ["a/b/file.md\0", "a/b/" + "n" * 300, "A\0/b"])
def test_a_path_the_system_cannot_have_finds_nothing(root: Path, path: str, way: str) -> None:
    """NUL and names beyond the system's length are answered, not raised."""
    assert _kind(root, path, len(DATA), way) == "missing"


def test_a_bound_of_bytes_includes_the_bound(root: Path, way: str) -> None:
    """A file of exactly the limit is read; one byte less is too little."""
    with _reader(root, way) as reader:
        assert reader.read_up_to(PATH, len(DATA)).data == DATA
        with pytest.raises(UnsafeFileError, match="size"):
            reader.read_up_to(PATH, len(DATA) - 1)


def test_a_link_in_the_last_place_is_followed_when_asked(root: Path, way: str) -> None:
    """Installations made of links can be read; what is read is still a regular file."""
    odd_files.symlink_to_a_copy(root / PATH)
    with _reader(root, way, follow_last=True) as reader:
        assert reader.read(PATH, len(DATA)) == DATA


def test_a_link_above_is_not_followed_even_when_asked(root: Path, way: str) -> None:
    """Only the last component may be a link."""
    odd_files.symlinked_parent(root / PATH)
    with (
        _reader(root, way, follow_last=True) as reader,
        pytest.raises(UnsafeFileError, match="linked"),
    ):
        reader.read(PATH, len(DATA))


def test_a_followed_link_to_a_pipe_is_refused(root: Path, way: str) -> None:
    """Following a link does not mean waiting at its end."""
    os.mkfifo(root / "pipe")
    odd_files.remove(root / PATH)
    (root / PATH).symlink_to(root / "pipe")
    with (
        _reader(root, way, follow_last=True) as reader,
        pytest.raises(UnsafeFileError, match="not_regular"),
    ):
        reader.read(PATH, len(DATA))


def test_no_descriptor_stays_open(root: Path, way: str) -> None:
    """Reads and refusals close what they opened."""
    before = _descriptors()
    for path in (PATH, "a/b/none", "a/b"):
        with _reader(root, way) as reader:
            try:
                reader.read(path, len(DATA))
            except UnsafeFileError:
                continue
    assert _descriptors() <= before


def test_a_file_that_grows_while_it_is_read_is_read_whole_or_refused(root: Path, way: str) -> None:
    """An appending writer can make reads fail; it can never make one return other bytes."""
    file, stop = root / PATH, threading.Event()

    def grow() -> None:
        while not stop.is_set():
            file.write_bytes(DATA)
            with file.open("ab") as more:
                more.write(b"!" * 4096)

    writer = threading.Thread(target=grow)
    writer.start()
    seen: set[bytes | str] = set()
    with _reader(root, way) as reader:
        for _ in range(500):
            try:
                seen.add(reader.read(PATH, len(DATA)))
            except UnsafeFileError as error:
                seen.add(error.kind)
    stop.set()
    writer.join()
    assert seen <= {DATA, "size", "changed"}


class _GivesAPipe(Folder):
    """A folder in which a file becomes a pipe between the look and the opening."""

    def _open(self, name: str, flags: int) -> int:
        del name, flags
        reading, writing = os.pipe()
        os.close(writing)
        return reading


def test_what_was_opened_must_be_a_file(root: Path, way: str) -> None:
    """Whatever it was when it was looked at."""
    (root / "file.md").write_bytes(DATA)
    with (
        _GivesAPipe.open(root, relative=WAYS[way]) as folder,
        pytest.raises(UnsafeFileError, match="not_regular"),
    ):
        folder.read("file.md", len(DATA))


def test_a_file_that_has_more_than_it_says_is_refused(way: str) -> None:
    """The kernel's own files say they are empty; so may a file that grows while it is read."""
    assert _kind(Path("/proc/self"), "status", 0, way) == "changed"


class _Racing(Folder):
    """A folder in which something happens just before a file is opened."""

    happens: ClassVar[list[Callable[[], object]]] = []

    def _open(self, name: str, flags: int) -> int:
        self.happens[-1]()
        return super()._open(name, flags)


def _replace_file(folder: Path) -> None:
    (folder / "fresh").write_bytes(DATA)
    (folder / "fresh").replace(folder / "file.md")


def _replace_folder(folder: Path) -> None:
    folder.rename(folder.with_name("moved"))
    folder.symlink_to("moved")


@pytest.mark.parametrize("happens", [_replace_file, _replace_folder])
def test_what_is_replaced_after_the_look_is_refused(
    root: Path, way: str, happens: Callable[[Path], None]
) -> None:
    """Where folders cannot be held open, file and folders are compared before and after."""
    del way  # this is about opening by path
    _Racing.happens.append(lambda: happens(root / "a/b"))
    with (
        _Racing.open(root, relative=False) as top,
        top.child("a") as middle,
        middle.child("b") as folder,
        pytest.raises(UnsafeFileError, match="changed"),
    ):
        folder.read("file.md", len(DATA))


def test_a_file_that_vanishes_after_the_look_is_missing(root: Path, way: str) -> None:
    """It is not what was looked at any more."""
    _Racing.happens.append((root / PATH).unlink)
    with (
        _Racing.open(root / "a/b", relative=WAYS[way]) as folder,
        pytest.raises(UnsafeFileError, match="missing"),
    ):
        folder.read("file.md", len(DATA))


def test_a_disk_that_fails_makes_a_file_unreadable(way: str) -> None:
    """The kernel's view of memory fails like that at address 0."""
    assert _kind(Path("/proc/self"), "mem", 0, way) == "unreadable"


def test_the_shortcut_reads_one_file(root: Path, way: str) -> None:
    """`read` is a reader for one file."""
    del way  # the platform's own way
    assert reading.read(root, PATH, len(DATA)) == DATA


def test_a_fingerprint_changes_with_the_bytes(root: Path, way: str) -> None:
    """Appending changes what `stat` says; nothing there gives None."""
    del way  # there is one way to ask
    before = reading.lstat(root, PATH)
    with (root / PATH).open("ab") as file:
        file.write(b"!")
    assert reading.lstat(root, PATH) != before
    assert reading.lstat(root, "none") is None
    assert reading.lstat(root, "nul\0") is None

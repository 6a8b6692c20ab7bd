"""Reading installed files: no link, no waiting, no trust in a size."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from skills_bundle.errors import UnsafeFileError
from skills_bundle.files import safe_read
from skills_bundle.files.openers import FolderOpener, PathOpener
from skills_bundle.files.safe_read import Reader
from tests import odd_files

DATA = b"twelve bytes"
PATH = "a/b/file.md"

WAYS = {"by_folder": FolderOpener, "by_path": PathOpener}
"""The two ways of opening; the second one is what Windows has."""

pytestmark = pytest.mark.parametrize("way", WAYS)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with one file two folders down."""
    file = tmp_path / PATH
    file.parent.mkdir(parents=True)
    file.write_bytes(DATA)
    return tmp_path


def _reader(root: Path, way: str, *, follow_last: bool = False) -> Reader:
    opener = WAYS[way](root, follow_last=follow_last)
    return Reader(root, opener=opener)


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


class _GivesAPipe:
    """An opener for which a file became a pipe between the look and the opening."""

    def open(self, path: str) -> int:
        del path
        reading, writing = os.pipe()
        os.close(writing)
        return reading

    def close(self) -> None:
        """Nothing is kept."""


def test_what_was_opened_must_be_a_file(root: Path, way: str) -> None:
    """Whatever it was when somebody looked."""
    del way  # this is about what comes after the opening
    with (
        Reader(root, opener=_GivesAPipe()) as reader,
        pytest.raises(UnsafeFileError, match="not_regular"),
    ):
        reader.read(PATH, len(DATA))


def test_a_file_that_has_more_than_it_says_is_refused(way: str) -> None:
    """The kernel's own files say they are empty; so may a file that grows while it is read."""
    assert _kind(Path("/proc/self"), "status", 0, way) == "size"


class _Swapping(PathOpener):
    """Lets somebody replace the file after each look."""

    def _look(self, path: str) -> tuple[int, int]:
        seen = super()._look(path)
        file = Path(self._root, path)
        fresh = file.with_name("fresh")
        fresh.write_bytes(DATA)
        fresh.replace(file)
        return seen


@pytest.mark.parametrize(("there", "kind"), [(True, "changed"), (False, "missing")])
def test_a_file_replaced_after_the_look_is_refused(
    root: Path, way: str, kind: str, *, there: bool
) -> None:
    """Where folders cannot be held open, the opened file is compared with what was looked at."""
    del way  # this is about opening by path
    if not there:
        odd_files.remove(root / PATH)
    opener = _Swapping(root, follow_last=False)
    with Reader(root, opener=opener) as reader, pytest.raises(UnsafeFileError, match=kind):
        reader.read(PATH, len(DATA))


class _Vanishing(PathOpener):
    """Takes the file away between the opening and the second look."""

    looked = False

    def _look(self, path: str) -> tuple[int, int]:
        if self.looked:
            Path(self._root, path).unlink()
        self.looked = True
        return super()._look(path)


def test_a_file_that_vanished_after_the_opening_is_missing(root: Path, way: str) -> None:
    """It is not what was looked at any more."""
    del way  # this is about opening by path
    opener = _Vanishing(root, follow_last=False)
    with Reader(root, opener=opener) as reader, pytest.raises(UnsafeFileError, match="missing"):
        reader.read(PATH, len(DATA))


def test_a_disk_that_fails_makes_a_file_unreadable(way: str) -> None:
    """The kernel's view of memory fails like that at address 0."""
    assert _kind(Path("/proc/self"), "mem", 0, way) == "unreadable"


def test_the_shortcut_reads_one_file(root: Path, way: str) -> None:
    """`read` is a reader for one file."""
    del way  # the platform's own way
    assert safe_read.read(root, PATH, len(DATA)) == DATA


def test_a_fingerprint_changes_with_the_bytes(root: Path, way: str) -> None:
    """Appending changes what `stat` says; nothing there gives None."""
    del way  # there is one way to ask
    before = safe_read.lstat(root, PATH)
    with (root / PATH).open("ab") as file:
        file.write(b"!")
    assert safe_read.lstat(root, PATH) != before
    assert safe_read.lstat(root, "none") is None
    assert safe_read.lstat(root, "nul\0") is None

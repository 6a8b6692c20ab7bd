"""Edge: files on disk, opened without following a link, without blocking, and read once.

Every folder on the way is opened by name relative to the one above it, so a folder that is swapped
for a link meanwhile gives an error and not another folder's files. The bytes returned are read
once: their digest is the digest of what is served, with no second open to race against. Where the
system cannot open relative to a folder (Windows), what was opened is compared with what was there
before and after.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import contextmanager
from itertools import takewhile
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, Self

from skills_bundle.errors import Problem, SkillsBundleError, UnsafeFileError
from skills_bundle.files import limits
from skills_bundle.files.paths import from_disk, is_junk, shown, to_disk
from skills_bundle.files.tree import FileEntry, FileTree
from skills_bundle.formats.digest import git_blob_id
from skills_bundle.formats.limits import MIB

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator
    from pathlib import Path

    from skills_bundle.errors import UnsafeFileKind

EntryKind = Literal["file", "folder", "link", "special"]

HAS_DIR_FD: Final = os.open in os.supports_dir_fd and os.scandir in os.supports_fd
"""Whether the system can open files relative to an open folder; Windows cannot."""


# Not every platform has every flag; one that is missing has nothing to switch off there.
def _flags(*names: str) -> int:
    return sum(getattr(os, name, 0) for name in names)


# O_NONBLOCK: a pipe put in a file's place must not make us wait.
_FILE_FLAGS: Final = _flags(
    "O_RDONLY", "O_NONBLOCK", "O_CLOEXEC", "O_NOCTTY", "O_BINARY", "O_NOINHERIT"
)
_LIST_FLAGS: Final = _flags("O_RDONLY", "O_DIRECTORY", "O_CLOEXEC")
# O_PATH, where there is one, needs the right to pass through a folder, and not to list it.
_FOLDER_FLAGS: Final = _flags("O_DIRECTORY", "O_CLOEXEC") | getattr(os, "O_PATH", os.O_RDONLY)
_NO_FOLLOW: Final = _flags("O_NOFOLLOW")

_KIND_OF_ERRNO: Final[dict[int, UnsafeFileKind]] = {
    errno.ENOENT: "missing",
    errno.ENOTDIR: "missing",
    errno.ENAMETOOLONG: "missing",
    errno.ELOOP: "linked",
    errno.ENXIO: "not_regular",  # a socket, or a pipe that went away
}
_OF_THE_SYSTEM: Final = {errno.EMFILE, errno.ENFILE, errno.ENOMEM}


class Fingerprint(NamedTuple):
    """What `stat` says of a file; two equal ones mean that it was not written to in between.

    Nearly: a write within one tick of the file system's clock leaves no trace, so do not rely on a
    fingerprint that was young when it was taken.
    """

    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    device: int
    mode: int


def fingerprint_of(facts: os.stat_result) -> Fingerprint:
    """Return the six fields that distinguish one state of a file from another."""
    return Fingerprint(
        facts.st_size,
        facts.st_mtime_ns,
        facts.st_ctime_ns,
        facts.st_ino,
        facts.st_dev,
        facts.st_mode,
    )


class FileRead(NamedTuple):
    """Bytes read once, and the fingerprint of the opened file from before the first byte."""

    data: bytes
    fingerprint: Fingerprint

    @property
    def executable(self) -> bool:
        """Whether its owner may run it."""
        return bool(self.fingerprint.mode & stat.S_IXUSR)


class FolderEntry(NamedTuple):
    """A name in a folder, in UTF-8 as `names.from_disk` returns it, and what it is, unfollowed."""

    name: str
    kind: EntryKind


class Folder:
    """An open folder. Close it, or use it as a context manager.

    Args:
        path: Where it is.
        descriptor: An open descriptor to take over; None where the system has none for folders.
        places: Without a descriptor, what was at the path of each folder above when it was opened.
    """

    def __init__(
        self,
        path: Path,
        descriptor: int | None,
        places: tuple[tuple[Path, os.stat_result], ...] = (),
    ) -> None:
        """Take over the descriptor."""
        self._path = path
        self._descriptor = descriptor
        self._places = places if descriptor is not None else (*places, (path, path.lstat()))

    @classmethod
    def open(cls, path: Path, *, relative: bool = HAS_DIR_FD) -> Self:
        """Open the folder where a walk begins; this one may be reached through links.

        Args:
            path: Where it is.
            relative: Whether to open everything in it relative to it, as far as supported.

        Raises:
            OSError: If it is not a folder or cannot be opened.
        """
        if relative:
            return cls(path, os.open(path, _FOLDER_FLAGS))
        os.scandir(path).close()
        return cls(path, None)

    def child(self, name: str) -> Self:
        """Open a folder in this one.

        Raises:
            OSError: If it cannot be opened: `ELOOP` for a link, `ENOTDIR` for what is not a folder.
        """
        name = to_disk(name)
        kind = _kind(self._stat(name))
        path = self._path / name
        if kind != "folder":
            code = errno.ELOOP if kind == "link" else errno.ENOTDIR
            raise OSError(code, os.strerror(code), str(path))
        if self._descriptor is None:
            return type(self)(path, None, self._places)
        opened = os.open(name, _FOLDER_FLAGS | _NO_FOLLOW, dir_fd=self._descriptor)
        return type(self)(path, opened)

    def close(self) -> None:
        """Close the folder."""
        if self._descriptor is not None:
            os.close(self._descriptor)

    def __enter__(self) -> Self:
        """Return the folder itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    def entries(self) -> list[FolderEntry]:
        """List the folder, sorted by the bytes of the names.

        Raises:
            OSError: If it cannot be listed.
        """
        if self._descriptor is None:
            with os.scandir(self._path) as rows:
                return _sorted_entries(rows)
        listing = os.open(".", _LIST_FLAGS, dir_fd=self._descriptor)
        try:
            with os.scandir(listing) as rows:
                return _sorted_entries(rows)
        finally:
            os.close(listing)

    def read(self, name: str, limit: int, *, follow: bool = False) -> FileRead:
        """Read a whole regular file.

        Args:
            name: In this folder.
            limit: Most bytes to read.
            follow: Follow the file if it is a link.

        Raises:
            UnsafeFileError: Kind `linked`, `not_regular`, `size` (longer than `limit`), `changed`,
                `missing` or `unreadable`; its path is the bare name.
            OSError: If the system has no descriptors or memory left.
        """
        with self._opened(name, follow=follow) as (descriptor, facts):
            if facts.st_size > limit:
                raise UnsafeFileError("size", name)
            data = b"".join(_exactly(descriptor, facts.st_size, name))
        return FileRead(data, fingerprint_of(facts))

    def blob_id(self, name: str) -> tuple[str, bool]:
        """Return git's id of a file of any size, and whether its owner may run it.

        Raises:
            UnsafeFileError: As `read`.
            OSError: As `read`.
        """
        with self._opened(name) as (descriptor, facts):
            oid = git_blob_id(facts.st_size, _exactly(descriptor, facts.st_size, name))
        return oid, bool(facts.st_mode & stat.S_IXUSR)

    def link_target(self, name: str) -> bytes:
        """Return what a symbolic link says, unresolved.

        Raises:
            OSError: If it is not a link any more.
        """
        name = to_disk(name)
        if self._descriptor is None:
            return os.fsencode((self._path / name).readlink())
        return os.fsencode(os.readlink(name, dir_fd=self._descriptor))

    @contextmanager
    def _opened(self, name: str, *, follow: bool = False) -> Generator[tuple[int, os.stat_result]]:
        """Open a regular file; yield its descriptor and what it is, seen through that."""
        try:
            on_disk = to_disk(name)
            before = self._stat(on_disk, follow=follow)
            _demand_regular(before, name)  # opening a device or a pipe can have effects
            descriptor = self._open(on_disk, _FILE_FLAGS if follow else _FILE_FLAGS | _NO_FOLLOW)
        except (OSError, ValueError) as error:
            raise refusal(error, name) from error
        try:
            facts = os.fstat(descriptor)
            _demand_regular(facts, name)
            if self._descriptor is None:
                self._demand_in_place(on_disk, before, facts, follow=follow)
            yield descriptor, facts
        except OSError as error:
            raise refusal(error, name) from error
        finally:
            os.close(descriptor)

    def _open(self, name: str, flags: int) -> int:
        if self._descriptor is None:
            return os.open(self._path / name, flags)
        return os.open(name, flags, dir_fd=self._descriptor)

    def _stat(self, name: str, *, follow: bool = False) -> os.stat_result:
        if self._descriptor is not None:
            return os.stat(name, dir_fd=self._descriptor, follow_symlinks=follow)
        return (self._path / name).stat(follow_symlinks=follow)

    def _demand_in_place(
        self, name: str, before: os.stat_result, opened: os.stat_result, *, follow: bool
    ) -> None:
        """Refuse what was opened by path if it, or a folder above it, was replaced meanwhile."""
        after = self._stat(name, follow=follow)
        held = [(before, opened), (opened, after)]
        held += [(facts, path.lstat()) for path, facts in self._places]
        if not all(os.path.samestat(*pair) for pair in held):
            raise UnsafeFileError("changed", name)


class Reader:
    """Reads many files below one root; cheapest when they come sorted by path.

    Args:
        root: The folder that paths are relative to. It may be reached through links.
        follow_last: Follow a link in the last component, never in a folder on the way. For
            installations that consist of links by design; their bytes are checked all the same.
        relative: As for `Folder.open`.
    """

    def __init__(
        self, root: Path, *, follow_last: bool = False, relative: bool = HAS_DIR_FD
    ) -> None:
        """Open nothing before the first read."""
        self._root = root
        self._follow_last = follow_last
        self._relative = relative
        self._names: list[str] = []
        self._folders: list[Folder] = []

    def __enter__(self) -> Self:
        """Return the reader itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the folders that are still open."""
        self._leave(0)

    def read(self, path: str, size: int) -> bytes:
        """Read a file that must have exactly `size` bytes.

        Args:
            path: Below the root, `/` between components, none of them empty, `.` or `..`.
            size: In bytes.

        Raises:
            UnsafeFileError: With the kind `missing`, `linked`, `not_regular`, `size`, `changed`
                (while it was read) or `unreadable`.
            OSError: If the system has no descriptors or memory left; that says nothing of the file.
        """
        data = self.read_up_to(path, size).data
        if len(data) != size:
            raise UnsafeFileError("size", path)
        return data

    def read_up_to(self, path: str, limit: int) -> FileRead:
        """Read a file of unknown size that must not have more than `limit` bytes.

        Raises:
            UnsafeFileError: As for `read`; `size` means more than `limit` bytes.
            OSError: As for `read`.
        """
        *folders, name = path.split("/")
        if not {"", ".", ".."}.isdisjoint([*folders, name]):
            raise UnsafeFileError("missing", path)
        try:
            return self._enter(folders).read(name, limit, follow=self._follow_last)
        except UnsafeFileError as error:
            raise UnsafeFileError(error.kind, path) from error
        except (OSError, ValueError) as error:
            raise refusal(error, path) from error

    def _enter(self, names: list[str]) -> Folder:
        """Open the folder of a path; folders shared with the path before stay open."""
        if not self._folders:
            self._folders.append(Folder.open(self._root, relative=self._relative))
        pairs = zip(names, self._names, strict=False)
        shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        self._leave(shared + 1)
        for name in names[shared:]:
            self._folders.append(self._folders[-1].child(name))
            self._names.append(name)
        return self._folders[-1]

    def _leave(self, keep: int) -> None:
        """Close the folders beyond the first `keep`; the first one is the root."""
        while len(self._folders) > keep:
            self._folders.pop().close()
        del self._names[max(keep - 1, 0) :]


def read(root: Path, path: str, size: int) -> bytes:
    """Read one file below `root` that must have exactly `size` bytes; see `Reader.read`."""
    with Reader(root) as reader:
        return reader.read(path, size)


def read_named(path: Path, limit: int) -> bytes:
    """Read a file that a person named, through links if need be, without ever blocking.

    For files of a project, which are its owner's to arrange: where a pipe or device lies instead, a
    plain `open` would wait for a writer, and no signal would end that.

    Args:
        path: Where it is.
        limit: Most bytes worth reading; one more is read so that the caller can see that there are.

    Raises:
        OSError: As `open` raises it; `EINVAL` for what is not a regular file.
    """
    descriptor = os.open(path, _FILE_FLAGS)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "Not a regular file", str(path))
        return b"".join(_chunks(descriptor, limit + 1))
    finally:
        os.close(descriptor)


def lstat(root: Path, path: str, *, follow_last: bool = False) -> Fingerprint | None:
    """Return the fingerprint of what lies at `path` below `root`, or None if there is nothing.

    Cheap, and no reason to trust anything: folders on the way may be links.
    """
    try:
        place = f"{root}/{to_disk(path)}"  # a string: a Path costs as much as the call itself
        return fingerprint_of(os.stat(place) if follow_last else os.lstat(place))  # noqa: PTH116 -- see above
    except (OSError, ValueError):
        return None


def refusal(error: OSError | ValueError, path: str) -> UnsafeFileError:
    """Return the error for a file that the system did not open; NUL in a path is a `ValueError`.

    Raises:
        OSError: The error itself, if it says nothing of the file.
    """
    if is_of_the_system(error):
        raise error
    code = error.errno if isinstance(error, OSError) else errno.ENOENT
    return UnsafeFileError(_KIND_OF_ERRNO.get(code or 0, "unreadable"), path)


def is_of_the_system(error: Exception) -> bool:
    """Return whether an error means that the system has no descriptors or memory left."""
    return isinstance(error, OSError) and error.errno in _OF_THE_SYSTEM


class UnreadableSideError(SkillsBundleError):
    """Something that was to be compared is missing, too large, or nothing we know."""

    exit_code = 3


def unreadable(code: str, message: str, place: str) -> UnreadableSideError:
    """Return the error of something that cannot be compared."""
    problem = Problem(code=code, message=message, path=shown(place))
    return UnreadableSideError("It cannot be compared.", (problem,))


def walk(root: Path, start: str = "") -> Iterator[str]:
    """Yield every path below a folder that is not a folder itself, by-products left out.

    Args:
        root: The folder that paths are relative to.
        start: The folder below it to begin with; "" for all of it.

    Raises:
        UnreadableSideError: If there are more than `limits.FOLDER_MAX_FILES`, if it is too deep, or
            if a folder cannot be listed.
    """
    waiting, count = [start], 0
    while waiting:
        folder = waiting.pop()
        for name, kind in _listed(root, folder):
            path = f"{folder}/{name}" if folder else name
            if is_junk(name):
                continue
            count += 1
            if count > limits.FOLDER_MAX_FILES or path.count("/") > limits.SCAN_MAX_DEPTH:
                raise unreadable("folder_too_large", "has too many files to compare", str(root))
            if kind == "folder":
                waiting.append(path)
            else:
                yield path


def _listed(root: Path, path: str) -> list[FolderEntry]:
    place = root / to_disk(path) if path else root
    try:
        with Folder.open(place) as folder:
            return folder.entries()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise unreadable("unreadable", error.strerror or "cannot be listed", str(place)) from error


def read_files(root: Path, paths: Iterable[str], *, with_mode: bool) -> FileTree:
    """Read files below a folder.

    Args:
        root: The folder that paths are relative to.
        paths: The files.
        with_mode: Whether the executable bit on this disk means anything.

    Returns:
        The files, their bytes kept. A file that was not read has the reason as its kind.

    Raises:
        UnreadableSideError: If they have more than `limits.FOLDER_MAX_BYTES` together.
    """
    entries: dict[str, FileEntry] = {}
    contents: dict[str, bytes] = {}
    left = limits.FOLDER_MAX_BYTES
    mode_counts = with_mode and os.name != "nt"
    with Reader(root) as reader:
        for path in sorted(paths):
            try:
                found = reader.read_up_to(path, limits.RECORDED_FILE_MAX_BYTES)
            except UnsafeFileError as error:
                entries[path] = FileEntry(error.kind)
                continue
            left -= len(found.data)
            if left < 0:
                raise unreadable("folder_too_large", "is too large to compare", str(root))
            executable = found.executable if mode_counts else None
            entries[path] = FileEntry.of(found.data, executable=executable)
            contents[path] = found.data
    return FileTree(entries, contents.__getitem__)


_CAUSES: Final = {
    "missing": "is missing",
    "linked": "is a link, or is in a linked folder",
    "not_regular": "is not a regular file",
    "unreadable": "cannot be read",
    "changed": "changed while it was read",
    "size": "is too large to compare",
}


def unread(tree: FileTree) -> tuple[Problem, ...]:
    """Return a problem for each file of a tree that was not read."""
    return tuple(
        Problem(code=entry.kind, message=_CAUSES[entry.kind], path=shown(path))
        for path, entry in tree.items()
        if entry.kind != "file"
    )


def _demand_regular(facts: os.stat_result, name: str) -> None:
    kind = _kind(facts)
    if kind != "file":
        raise UnsafeFileError("linked" if kind == "link" else "not_regular", name)


def _chunks(descriptor: int, most: int) -> Iterator[bytes]:
    """Read at most `most` bytes, in pieces, so that a false size costs no memory."""
    while most > 0 and (chunk := os.read(descriptor, min(most, MIB))):
        yield chunk
        most -= len(chunk)


def _exactly(descriptor: int, size: int, name: str) -> Iterator[bytes]:
    """Read exactly `size` bytes, or raise: a file that grows or shrinks has no digest."""
    left = size
    for chunk in _chunks(descriptor, size):
        left -= len(chunk)
        yield chunk
    if left or os.read(descriptor, 1):
        raise UnsafeFileError("changed", name)


def _sorted_entries(rows: Iterable[os.DirEntry[str]]) -> list[FolderEntry]:
    found = [FolderEntry(from_disk(row.name), _kind_of(row)) for row in rows]
    return sorted(found, key=lambda entry: entry.name.encode("utf-8", "surrogateescape"))


def _kind_of(row: os.DirEntry[str]) -> EntryKind:
    try:
        if os.name != "nt" and row.is_file(follow_symlinks=False):
            return "file"  # known from the listing; spares a call a file
        return _kind(row.stat(follow_symlinks=False))
    except OSError:
        return "special"


def _kind(facts: os.stat_result) -> EntryKind:
    # A Windows junction looks like a folder and counts as a link.
    attributes: int = getattr(facts, "st_file_attributes", 0)
    if stat.S_ISLNK(facts.st_mode) or attributes & stat.FILE_ATTRIBUTE_REPARSE_POINT:
        return "link"
    if stat.S_ISDIR(facts.st_mode):
        return "folder"
    return "file" if stat.S_ISREG(facts.st_mode) else "special"

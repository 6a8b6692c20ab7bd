"""Edge: folders and files on disk, opened without following a link and read once.

A path is never looked up twice. Each folder is held open and its children are opened from it, so a
folder that is swapped for a link while we walk gives an error and not another folder's files. Where
the system cannot open relative to a folder (Windows), a file is compared before and after opening.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, Self

from skills_bundle.errors import UnsafeFileError
from skills_bundle.files.names import from_disk, to_disk
from skills_bundle.formats.digest import git_blob_id

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from pathlib import Path

Kind = Literal["file", "folder", "link", "special"]

_RELATIVE: Final = os.open in os.supports_dir_fd and os.scandir in os.supports_fd
_FOLDER_FLAGS: Final = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
_NO_FOLLOW: Final = getattr(os, "O_NOFOLLOW", 0)
_FILE_FLAGS: Final = (
    os.O_RDONLY
    | _NO_FOLLOW
    | getattr(os, "O_NONBLOCK", 0)  # a pipe put in a file's place must not make us wait
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)
_REPARSE_POINT: Final = 0x400
_CHUNK: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Entry:
    """A name in a folder, spelled as in `formats.file_names`, and what it is there unfollowed."""

    name: str
    kind: Kind


@dataclass(frozen=True, slots=True)
class Content:
    """A file's bytes and whether its owner may run it."""

    data: bytes
    executable: bool


class Folder:
    """An open folder. Close it, or use it as a context manager."""

    def __init__(self, path: Path, descriptor: int | None) -> None:
        """Take over an open descriptor; None where the system has none for folders."""
        self._path = path
        self._descriptor = descriptor

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open the folder where a walk begins; this one may be reached through links.

        Raises:
            OSError: If it is no folder or cannot be read.
        """
        if not _RELATIVE:
            os.scandir(path).close()
            return cls(path, None)
        return cls(path, os.open(path, _FOLDER_FLAGS))

    def child(self, name: str) -> Self:
        """Open a folder in this one.

        Raises:
            OSError: If it is a link or no folder by now, or cannot be read.
        """
        name = to_disk(name)
        path = self._path / name
        if self._descriptor is None:
            if _kind(os.lstat(path)) != "folder":
                code = errno.ENOTDIR
                raise NotADirectoryError(code, os.strerror(code), str(path))
            return type(self)(path, None)
        flags = _FOLDER_FLAGS | _NO_FOLLOW
        return type(self)(path, os.open(name, flags, dir_fd=self._descriptor))

    def __enter__(self) -> Self:
        """Give the folder itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        if self._descriptor is not None:
            os.close(self._descriptor)

    def entries(self) -> list[Entry]:
        """List the folder, sorted by the bytes of the names.

        Raises:
            OSError: If it cannot be read.
        """
        with os.scandir(self._path if self._descriptor is None else self._descriptor) as rows:
            found = [Entry(from_disk(row.name), _kind_of(row)) for row in rows]
        return sorted(found, key=lambda entry: entry.name.encode("utf-8", "surrogateescape"))

    def read(self, name: str, limit: int) -> Content:
        """Read a whole regular file.

        Args:
            name: In this folder.
            limit: Most bytes to read.

        Raises:
            UnsafeFileError: Kind `linked`, `not_regular`, `size` (longer than `limit`), `changed`,
                `missing` or `unreadable`; its path is the bare name.
        """
        with self._opened(name) as (descriptor, found):
            if found.st_size > limit:
                raise UnsafeFileError("size", name)
            data = b"".join(_chunks(descriptor, found.st_size, name))
            return Content(data, bool(found.st_mode & stat.S_IXUSR))

    def blob_id(self, name: str) -> tuple[str, bool]:
        """Give git's id of a file of any size, and whether its owner may run it.

        Raises:
            UnsafeFileError: As `read`.
        """
        with self._opened(name) as (descriptor, found):
            oid = git_blob_id(found.st_size, _chunks(descriptor, found.st_size, name))
            return oid, bool(found.st_mode & stat.S_IXUSR)

    def link_target(self, name: str) -> bytes:
        """Give what a symbolic link says, unresolved.

        Raises:
            OSError: If it is none by now.
        """
        name = to_disk(name)
        if self._descriptor is None:
            return os.fsencode((self._path / name).readlink())
        return os.fsencode(os.readlink(name, dir_fd=self._descriptor))

    @contextmanager
    def _opened(self, name: str) -> Generator[tuple[int, os.stat_result]]:
        """Open a regular file and give its descriptor with what it is, seen through that."""
        try:
            before = None if self._descriptor is not None else os.lstat(self._path / to_disk(name))
            descriptor = self._open(name)
        except OSError as error:
            raise UnsafeFileError(self._why(name), name) from error
        try:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode):
                raise UnsafeFileError("not_regular", name)
            if before is not None and not os.path.samestat(before, found):
                raise UnsafeFileError("linked", name)
            yield descriptor, found
        except OSError as error:
            raise UnsafeFileError("unreadable", name) from error
        finally:
            os.close(descriptor)

    def _open(self, name: str) -> int:
        name = to_disk(name)
        if self._descriptor is None:
            return os.open(self._path / name, _FILE_FLAGS)
        return os.open(name, _FILE_FLAGS, dir_fd=self._descriptor)

    def _why(self, name: str) -> str:
        """Name the reason why a file did not open; systems differ in the error they give."""
        name = to_disk(name)
        try:
            if self._descriptor is None:
                kind = _kind(os.lstat(self._path / name))
            else:
                kind = _kind(os.stat(name, dir_fd=self._descriptor, follow_symlinks=False))
        except OSError:
            return "missing"
        return {"file": "unreadable", "link": "linked"}.get(kind, "not_regular")


def _chunks(descriptor: int, size: int, name: str) -> Iterator[bytes]:
    """Give exactly `size` bytes, or raise: a file that grows or shrinks has no digest."""
    left = size
    while left and (chunk := os.read(descriptor, min(left, _CHUNK))):
        left -= len(chunk)
        yield chunk
    if left or os.read(descriptor, 1):
        raise UnsafeFileError("changed", name)


def _kind_of(row: os.DirEntry[str]) -> Kind:
    try:
        if os.name != "nt" and row.is_file(follow_symlinks=False):
            return "file"  # known from the listing; spares a call a file
        return _kind(row.stat(follow_symlinks=False))
    except OSError:
        return "special"


def _kind(found: os.stat_result) -> Kind:
    if stat.S_ISLNK(found.st_mode) or getattr(found, "st_file_attributes", 0) & _REPARSE_POINT:
        return "link"  # Windows junctions too
    if stat.S_ISDIR(found.st_mode):
        return "folder"
    return "file" if stat.S_ISREG(found.st_mode) else "special"

"""Edge: the two ways to open a file below a folder without following a link on the way."""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING, Protocol

from skills_bundle.errors import UnsafeFileError
from skills_bundle.files.names import to_disk

if TYPE_CHECKING:
    from pathlib import Path

HAS_DIR_FD = os.open in os.supports_dir_fd and os.stat in os.supports_dir_fd
"""Whether folders can be opened one below the other; not on Windows."""


# Not every platform has every flag; one that is missing has nothing to switch off there.
def _flags(*names: str) -> int:
    return sum(getattr(os, name, 0) for name in names)


_FILE_FLAGS = _flags("O_RDONLY", "O_NONBLOCK", "O_CLOEXEC", "O_NOCTTY", "O_BINARY", "O_NOINHERIT")
NAMED_FILE_FLAGS = _FILE_FLAGS
"""How to open a file without waiting, whatever it is."""
# O_PATH, where there is one, asks for the right to pass through a folder, and not to list it.
_FOLDER_FLAGS = _flags(
    "O_PATH" if hasattr(os, "O_PATH") else "O_RDONLY", "O_DIRECTORY", "O_CLOEXEC"
)
_NO_FOLLOW = _flags("O_NOFOLLOW")

_KIND_OF_ERRNO = {
    errno.ENOENT: "missing",
    errno.ENOTDIR: "missing",
    errno.ENAMETOOLONG: "missing",
    errno.ELOOP: "linked",
    errno.ENXIO: "not_regular",  # a socket, or a pipe that went away
}
_OF_THE_SYSTEM = {errno.EMFILE, errno.ENFILE, errno.ENOMEM}
"""Errors that say nothing of a file: there is no descriptor or memory left to look at it with."""


class Opener(Protocol):
    """Opens one file below a root; closes what it keeps open on the way."""

    def open(self, path: str) -> int:
        """Give a file descriptor of `path`, or raise `UnsafeFileError`."""
        ...

    def close(self) -> None:
        """Close everything but the descriptors given out."""
        ...


def default_opener(root: Path, *, follow_last: bool) -> Opener:
    """Give the best way of opening that this platform has."""
    kind = FolderOpener if HAS_DIR_FD else PathOpener
    return kind(root, follow_last=follow_last)


class FolderOpener:
    """Opens folder by folder, each relative to the one above (POSIX)."""

    def __init__(self, root: Path, *, follow_last: bool) -> None:
        """Keep a stack of open folders: at most as many as a path has components."""
        self._root = root
        self._follow_last = follow_last
        self._names: list[str] = []
        self._descriptors: list[int] = []

    def open(self, path: str) -> int:
        """Open `path`; folders shared with the path before stay open."""
        *folders, name = _components(path)
        try:
            folder = self._enter(folders, path)
            facts = os.stat(name, dir_fd=folder, follow_symlinks=self._follow_last)
            _demand_regular(facts.st_mode, path)  # opening a device or a pipe can have effects
            flags = _FILE_FLAGS if self._follow_last else _FILE_FLAGS | _NO_FOLLOW
            return os.open(name, flags, dir_fd=folder)
        except (OSError, ValueError) as error:
            raise refusal(error, path) from error

    def close(self) -> None:
        """Close the stack of folders."""
        self._leave(0)

    def _enter(self, folders: list[str], path: str) -> int:
        if not self._descriptors:
            self._descriptors.append(os.open(self._root, _FOLDER_FLAGS))
        shared = 0
        while shared < min(len(folders), len(self._names)) and (
            folders[shared] == self._names[shared]
        ):
            shared += 1
        self._leave(shared + 1)
        for name in folders[shared:]:
            above = self._descriptors[-1]
            mode = os.stat(name, dir_fd=above, follow_symlinks=False).st_mode
            _demand_folder(mode, path)
            self._descriptors.append(os.open(name, _FOLDER_FLAGS | _NO_FOLLOW, dir_fd=above))
            self._names.append(name)
        return self._descriptors[-1]

    def _leave(self, keep: int) -> None:
        """Close the folders beyond the first `keep` of the stack; the first one is the root."""
        while len(self._descriptors) > keep:
            os.close(self._descriptors.pop())
        del self._names[max(keep - 1, 0) :]


class PathOpener:
    """Looks at every component before opening, and at the opened file after (Windows).

    Between the look and the opening a component may be replaced; the identity of what was opened
    is compared with what was looked at, so such a file is refused rather than read.
    """

    def __init__(self, root: Path, *, follow_last: bool) -> None:
        """Keep the root; nothing stays open between files."""
        self._root = os.fspath(root)
        self._follow_last = follow_last

    def open(self, path: str) -> int:
        """Open `path` and compare device and inode with what was seen before and after."""
        try:
            seen = self._look(path)
            descriptor = os.open(self._full(path), _FILE_FLAGS)
        except (OSError, ValueError) as error:
            raise refusal(error, path) from error
        try:
            self._demand_identity(descriptor, path, seen)
        except OSError as error:
            os.close(descriptor)
            raise refusal(error, path) from error
        except UnsafeFileError:
            os.close(descriptor)
            raise
        return descriptor

    def close(self) -> None:
        """Do nothing: nothing is kept open."""

    def _demand_identity(self, descriptor: int, path: str, seen: tuple[int, int]) -> None:
        if _identity(os.fstat(descriptor)) != seen or self._look(path) != seen:
            raise UnsafeFileError("changed", path)

    def _full(self, path: str) -> str:
        return os.path.join(self._root, *_components(path))  # noqa: PTH118 -- kept a string: PathLike adds cost per file

    def _look(self, path: str) -> tuple[int, int]:
        *folders, name = _components(path)
        place = self._root
        for folder in folders:
            place = os.path.join(place, folder)  # noqa: PTH118 -- as above
            facts = os.lstat(place)
            _demand_folder(_mode_without_reparse_points(facts), path)
        full = os.path.join(place, name)  # noqa: PTH118 -- as above
        facts = os.stat(full) if self._follow_last else os.lstat(full)  # noqa: PTH116 -- as above
        _demand_regular(_mode_without_reparse_points(facts), path)
        return _identity(facts)


def _components(path: str) -> list[str]:
    """Split a path and spell it as the disk does.

    The lock's rules make sure of its components, and nobody else may rely on luck.
    """
    parts = path.split("/")
    if any(part in {"", ".", ".."} for part in parts):
        raise UnsafeFileError("missing", path)
    try:
        return [to_disk(part) for part in parts]
    except ValueError as error:  # half a surrogate pair, which is no name on any disk
        raise UnsafeFileError("missing", path) from error


def _identity(facts: os.stat_result) -> tuple[int, int]:
    return facts.st_dev, facts.st_ino


def _mode_without_reparse_points(facts: os.stat_result) -> int:
    """Give the mode; a Windows junction looks like a folder and counts as a link."""
    attributes: int = getattr(facts, "st_file_attributes", 0)
    reparse_point: int = getattr(stat, "FILE_ATTRIBUTE_REPARSE_POINT", 0)
    return stat.S_IFLNK if attributes & reparse_point else facts.st_mode


def _demand_folder(mode: int, path: str) -> None:
    if stat.S_ISLNK(mode):
        raise UnsafeFileError("linked", path)
    if not stat.S_ISDIR(mode):
        raise UnsafeFileError("missing", path)


def _demand_regular(mode: int, path: str) -> None:
    if stat.S_ISLNK(mode):
        raise UnsafeFileError("linked", path)
    if not stat.S_ISREG(mode):
        raise UnsafeFileError("not_regular", path)


def refusal(error: OSError | ValueError, path: str) -> UnsafeFileError:
    """Name the kind behind an error of the system; a path with NUL is a `ValueError`.

    Raises:
        OSError: The error itself, if it says nothing of the file.
    """
    if is_of_the_system(error):
        raise error
    code = error.errno if isinstance(error, OSError) else errno.ENOENT
    return UnsafeFileError(_KIND_OF_ERRNO.get(code or 0, "unreadable"), path)


def is_of_the_system(error: Exception) -> bool:
    """Tell whether an error says that the system has nothing left, and nothing of any file."""
    return isinstance(error, OSError) and error.errno in _OF_THE_SYSTEM

"""Edge: reads installed files without ever following a link, blocking, or trusting a size.

Every folder on the way is opened by name relative to the one above it and never through a link; the
last component is opened without following and without blocking; what was opened must be a
regular file. The bytes returned are read once, so whoever hashes them has hashed what is served:
there is no second open in between for somebody to win a race against.
"""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING, NamedTuple

from skills_bundle.errors import UnsafeFileError
from skills_bundle.files.names import to_disk
from skills_bundle.files.openers import NAMED_FILE_FLAGS, default_opener, refusal
from skills_bundle.formats import limits

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import TracebackType
    from typing import Self

    from skills_bundle.files.openers import Opener

_CHUNK = limits.MIB


class Fingerprint(NamedTuple):
    """What `stat` says of a file; two equal ones mean that nobody wrote to it in between.

    Nearly: a write within one tick of the file system's clock leaves no trace, so whoever keeps a
    fingerprint must not rely on one that was young when it was taken.
    """

    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    device: int
    mode: int


def fingerprint_of(facts: os.stat_result) -> Fingerprint:
    """Keep the six fields that tell one state of a file from another."""
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


class Reader:
    """Reads many files below one root; cheapest when they come sorted by path.

    Args:
        root: The folder that paths are relative to. It is opened as it is: which folder that is was
            decided by whoever made the path, once.
        follow_last: Follow a link in the last component (never in a folder on the way). For
            installations that consist of links by design; their bytes are checked all the same.
        opener: Another way of opening than the best one this platform has.
    """

    def __init__(
        self, root: Path, *, follow_last: bool = False, opener: Opener | None = None
    ) -> None:
        """Choose the way of opening; nothing is opened before the first read."""
        self._opener = opener or default_opener(root, follow_last=follow_last)

    def __enter__(self) -> Self:
        """Give the reader itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the folders that are still open."""
        self._opener.close()

    def read(self, path: str, size: int) -> bytes:
        """Read a file that must have exactly `size` bytes.

        Args:
            path: Below the root, `/` between components, none of them empty, `.` or `..`.
            size: In bytes. A file of another size is not read at all; one that grows or shrinks
                while it is read is refused.

        Raises:
            UnsafeFileError: With the kind `missing`, `linked`, `not_regular`, `size` or
                `unreadable`.
            OSError: If the system has no descriptors or memory left: that is no fault of a file.
        """
        return self._read(path, size, exact=True).data

    def read_up_to(self, path: str, limit: int) -> FileRead:
        """Read a file of unknown size that must not have more than `limit` bytes.

        Raises:
            UnsafeFileError: As for `read`; `size` means more than `limit` bytes.
        """
        return self._read(path, limit, exact=False)

    def _read(self, path: str, size: int, *, exact: bool) -> FileRead:
        descriptor = self._opener.open(path)
        try:
            facts = os.fstat(descriptor)
            if not stat.S_ISREG(facts.st_mode):
                raise UnsafeFileError("not_regular", path)
            if facts.st_size > size or (exact and facts.st_size != size):
                raise UnsafeFileError("size", path)
            data = b"".join(_chunks(descriptor, size + 1))
        except OSError as error:
            raise refusal(error, path) from error
        finally:
            os.close(descriptor)
        if len(data) > size or (exact and len(data) != size):
            raise UnsafeFileError("size", path)
        return FileRead(data, fingerprint_of(facts))


def read(root: Path, path: str, size: int) -> bytes:
    """Read one file below `root` that must have exactly `size` bytes; see `Reader.read`."""
    with Reader(root) as reader:
        return reader.read(path, size)


def read_named(path: Path, limit: int) -> bytes:
    """Read a file that somebody named, through links if need be, without ever waiting for it.

    For files of a project, which are its owner's to arrange: where a pipe or device lies instead, a
    plain `open` would wait for somebody to write, and no signal would end that.

    Args:
        path: Where it is.
        limit: Most bytes worth reading; one more is read so that the caller can tell.

    Raises:
        OSError: As `open` raises it; `EINVAL` for what is no regular file.
    """
    descriptor = os.open(path, NAMED_FILE_FLAGS)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "Not a regular file", str(path))
        return b"".join(_chunks(descriptor, limit + 1))
    finally:
        os.close(descriptor)


def lstat(root: Path, path: str, *, follow_last: bool = False) -> Fingerprint | None:
    """Give the fingerprint of whatever lies at `path` below `root`, or None if there is nothing.

    Cheap, and no reason to trust anything: folders on the way may be links.
    """
    try:
        place = f"{root}/{to_disk(path)}"  # a string: a Path costs as much as the call itself
        return fingerprint_of(os.stat(place) if follow_last else os.lstat(place))  # noqa: PTH116 -- see above
    except (OSError, ValueError):
        return None


def _chunks(descriptor: int, most: int) -> Iterator[bytes]:
    """Give at most `most` bytes, in pieces, so that a lie about the size costs no memory."""
    while most > 0 and (chunk := os.read(descriptor, min(most, _CHUNK))):
        yield chunk
        most -= len(chunk)

"""Edge: an archive on disk, read once; everything else goes by those bytes."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from skills_bundle.archives import limits, sdist, wheel
from skills_bundle.errors import Problem, UnreadableArchiveError
from skills_bundle.files.names import from_disk, shown

if TYPE_CHECKING:
    from pathlib import Path

    from skills_bundle.archives.model import Archive, ArchiveKind

SUFFIXES: dict[str, ArchiveKind] = {".whl": "wheel", ".tar.gz": "sdist"}
"""How the names of wheels and sdists end (PyPA, Binary distribution format; PEP 625)."""


def open_archive(path: Path, *, kind: ArchiveKind | None = None) -> Archive:
    """Read a wheel or sdist; every check for confusion is made here, before anything is used.

    Args:
        path: The file; a link is followed.
        kind: What it must be; by default what its name says.

    Raises:
        UnreadableArchiveError: If there is no such file, it cannot be read, is too large, or is
            neither wheel nor sdist.
        UnsafeArchiveError: If two tools could see two things in it, or it is a bomb.
    """
    name = shown(from_disk(path.name or str(path)))
    found = kind_of(name)
    if found is None or kind not in {None, found}:
        wanted = " or ".join(f"*{end}" for end, one in SUFFIXES.items() if kind in {None, one})
        hint = f"; `skills-bundle verify-{found}` is for such a one" if found else ""
        raise _unreadable(name, "archive_kind", f"is not called {wanted}{hint}")
    data = _read(path, name)
    return wheel.read(data, name) if found == "wheel" else sdist.read(data, name)


def kind_of(file_name: str) -> ArchiveKind | None:
    """Tell by its name what an archive is; None if it is neither wheel nor sdist."""
    return next((kind for end, kind in SUFFIXES.items() if file_name.endswith(end)), None)


def _read(path: Path, name: str) -> bytes:
    """Read the file once, as far as the limit."""
    try:
        # A pipe would make us wait for somebody to write.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with open(descriptor, "rb") as file:  # noqa: PTH123 -- a descriptor has no path
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise _unreadable(name, "not_regular", "is not a regular file")
            data = file.read(limits.ARCHIVE_MAX_BYTES + 1)
    except OSError as error:
        cause = error.strerror or type(error).__name__
        raise _unreadable(name, "unreadable", f"cannot be read: {cause}") from error
    if len(data) > limits.ARCHIVE_MAX_BYTES:
        raise _unreadable(
            name, "archive_too_large", f"has more than {limits.ARCHIVE_MAX_BYTES} bytes"
        )
    return data


def _unreadable(name: str, code: str, message: str) -> UnreadableArchiveError:
    problem = Problem(code=code, message=message, path=name)
    return UnreadableArchiveError("The archive cannot be read.", (problem,))

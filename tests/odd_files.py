"""Things that can lie where a file should: links, pipes, devices, and files nobody may read."""

from __future__ import annotations

import os
import resource
import shutil
import socket
import stat
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

NOBODY = 65534
SPARSE_BYTES = 50 * 1024**3


def remove(path: Path) -> None:
    """Remove a file or a folder, so that something else can take its place."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


def symlink_to_a_copy(path: Path) -> None:
    """Leave the same bytes, through a link."""
    copy = path.with_name(path.name + ".elsewhere")
    path.rename(copy)
    path.symlink_to(copy.name)


def dangling_symlink(path: Path) -> None:
    """Leave a link to nothing."""
    remove(path)
    path.symlink_to("nothing-here")


def symlink_loop(path: Path) -> None:
    """Leave a link to itself."""
    remove(path)
    path.symlink_to(path.name)


def folder(path: Path) -> None:
    """Leave a folder of the same name."""
    remove(path)
    path.mkdir()


def fifo(path: Path) -> None:
    """Leave a named pipe that nobody writes to."""
    remove(path)
    os.mkfifo(path)


def unix_socket(path: Path) -> None:
    """Leave a socket, bound by a relative name since those are short."""
    remove(path)
    with socket.socket(socket.AF_UNIX) as server:
        before = Path.cwd()
        os.chdir(path.parent)
        try:
            server.bind(path.name)
        finally:
            os.chdir(before)


def device(path: Path) -> None:
    """Leave a device that never ends; only root may make one."""
    remove(path)
    try:
        os.mknod(path, stat.S_IFCHR | 0o644, os.makedev(1, 5))
    except PermissionError:
        pytest.skip("not run: this user may not make devices")


def sparse(path: Path) -> None:
    """Leave a file of 50 GB that takes no room."""
    os.truncate(path, SPARSE_BYTES)


def symlinked_parent(path: Path) -> None:
    """Leave the file where it was, below a folder that is a link now."""
    moved = path.parent.with_name(path.parent.name + ".elsewhere")
    path.parent.rename(moved)
    path.parent.symlink_to(moved.name)


def missing(path: Path) -> None:
    """Leave nothing."""
    remove(path)


def file_for_a_parent(path: Path) -> None:
    """Leave a file where the folder above was."""
    remove(path.parent)
    path.parent.write_bytes(b"")


KINDS: dict[str, tuple[Callable[[Path], None], str]] = {
    "symlink_to_a_copy": (symlink_to_a_copy, "linked"),
    "dangling_symlink": (dangling_symlink, "linked"),
    "symlink_loop": (symlink_loop, "linked"),
    "symlinked_parent": (symlinked_parent, "linked"),
    "folder": (folder, "not_regular"),
    "fifo": (fifo, "not_regular"),
    "unix_socket": (unix_socket, "not_regular"),
    "device": (device, "not_regular"),
    "sparse": (sparse, "size"),
    "missing": (missing, "missing"),
    "file_for_a_parent": (file_for_a_parent, "missing"),
}
"""What to do to a file, and the kind of `UnsafeFileError` that reading it gives then."""


@contextmanager
def unprivileged_folder() -> Generator[Path]:
    """Return a folder that other users can enter, unlike pytest's own."""
    made = Path(tempfile.mkdtemp(prefix="skills-bundle-"))
    made.chmod(0o755)
    try:
        yield made
    finally:
        shutil.rmtree(made)


@contextmanager
def without_privileges() -> Generator[None]:
    """Act as a user to whom file modes apply; root reads everything."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@contextmanager
def without_descriptors() -> Generator[None]:
    """Let this process open nothing more, as one that has too many files open."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    lowest_free = os.dup(0)
    os.close(lowest_free)
    resource.setrlimit(resource.RLIMIT_NOFILE, (lowest_free, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)

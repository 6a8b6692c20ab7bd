"""Edge: the files of a folder, read once, no link followed; what cannot be read is said."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from skills_bundle.errors import Problem, SkillsBundleError, UnsafeFileError
from skills_bundle.files import limits, safe_read
from skills_bundle.files.junk import is_junk
from skills_bundle.files.names import from_disk, shown, to_disk
from skills_bundle.formats.digest import sha256_hex
from skills_bundle.supply_chain.diff.model import Item

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

_CAUSES = {
    "missing": "is not there",
    "linked": "is a link, or lies behind one",
    "not_regular": "is no regular file",
    "unreadable": "cannot be read",
    "size": "is larger than any file that is compared",
}


class UnreadableSideError(SkillsBundleError):
    """Something that was to be compared is not there, is too large, or is nothing we know."""

    exit_code = 3


def unreadable(code: str, message: str, place: str) -> UnreadableSideError:
    """Make the error of something that cannot be compared."""
    problem = Problem(code=code, message=message, path=shown(place))
    return UnreadableSideError("It cannot be compared.", (problem,))


def walk(root: Path, start: str = "") -> Iterator[str]:
    """Give every path below a folder that is no folder itself, by-products left out.

    Args:
        root: The folder that paths are relative to.
        start: Where below it to begin; "" for all of it.

    Raises:
        UnreadableSideError: If there are more than `limits.FOLDER_MAX_FILES`, or it is too deep.
    """
    waiting, count = [start], 0
    while waiting:
        folder = waiting.pop()
        for name, is_folder in _entries(root, folder):
            path = f"{folder}/{name}" if folder else name
            if is_junk(name):
                continue
            count += 1
            if count > limits.FOLDER_MAX_FILES or path.count("/") > limits.SCAN_MAX_DEPTH:
                raise unreadable("folder_too_large", "holds too many files to compare", str(root))
            if is_folder:
                waiting.append(path)
            else:
                yield path


def _entries(root: Path, folder: str) -> list[tuple[str, bool]]:
    place = root / to_disk(folder) if folder else root
    try:
        with os.scandir(place) as rows:
            return sorted((from_disk(row.name), row.is_dir(follow_symlinks=False)) for row in rows)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise unreadable("unreadable", error.strerror or "cannot be listed", str(place)) from error


def read_files(
    root: Path, paths: Iterable[str], *, with_mode: bool
) -> tuple[dict[str, Item], tuple[Problem, ...]]:
    """Read files below a folder.

    Args:
        root: The folder that paths are relative to.
        paths: The files.
        with_mode: Whether the executable bit on this disk says something.

    Returns:
        The files, and a problem for each that cannot be read.

    Raises:
        UnreadableSideError: If they have more than `limits.FOLDER_MAX_BYTES` together.
    """
    found: dict[str, Item] = {}
    problems: list[Problem] = []
    left = limits.FOLDER_MAX_BYTES
    mode_counts = with_mode and os.name != "nt"
    with safe_read.Reader(root) as reader:
        for path in sorted(paths):
            try:
                read = reader.read_up_to(path, limits.RECORDED_FILE_MAX_BYTES)
            except UnsafeFileError as error:
                message = _CAUSES.get(error.kind, error.kind)
                problems.append(Problem(code=error.kind, message=message, path=shown(path)))
                continue
            left -= len(read.data)
            if left < 0:
                raise unreadable("folder_too_large", "holds too much to compare", str(root))
            executable = bool(read.fingerprint.mode & stat.S_IXUSR) if mode_counts else None
            found[path] = Item(len(read.data), sha256_hex(read.data), executable, read.data)
    return found, tuple(problems)

"""Edge: a file or a folder that is written whole or not at all.

A folder is written into a hidden one beside it, read back and compared, and then given its name in
one step. Links are never followed and nothing that is in the way is replaced.
"""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from skills_bundle.errors import ExportTargetError, Problem, UnsafeFileError
from skills_bundle.files import limits
from skills_bundle.files.paths import from_disk, shown, to_disk
from skills_bundle.files.reading import Reader
from skills_bundle.formats.digest import sha256_hex

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

PARTIAL: Final = ".partial"
"""How the name of the hidden folder ends, for anyone who finds one that a kill left behind."""
_WRITE: Final = (
    os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
)


class Written(NamedTuple):
    """One file to be written: its path below the folder, its bytes, whether it is executable."""

    path: str
    data: bytes
    executable: bool = False


def demand_free(target: Path) -> None:
    """Check that a folder can be made at a place, before any work is done for it.

    Args:
        target: The place.

    Raises:
        ExportTargetError: If something lies there that is not an empty folder, naming it; or if the
            folder above is none.
    """
    if problems := [*_in_the_way(target)]:
        raise ExportTargetError("The target folder cannot be used.", tuple(problems))


def demand_outside(target: Path, package: Path) -> None:
    """Check that a place does not lie in an installed package, which it would change.

    Args:
        target: The place.
        package: The package's folder, resolved.

    Raises:
        ExportTargetError: If it lies there.
    """
    if Path(os.path.realpath(target)).is_relative_to(package):
        message = "is inside the installed package, which would no longer match its lock"
        name = shown(from_disk(str(target)))
        problem = Problem(code="target_in_package", message=message, path=name)
        raise ExportTargetError("The target folder cannot be used.", (problem,))


def _in_the_way(target: Path) -> Iterable[Problem]:
    name = shown(from_disk(str(target)))
    if not target.parent.is_dir():
        yield Problem(code="no_folder", message="is in a folder that does not exist", path=name)
    elif target.is_symlink():
        message = "is a link, which is not followed; choose a real folder"
        yield Problem(code="target_is_link", message=message, path=name)
    elif target.is_dir():
        found = sorted(shown(from_disk(each.name)) for each in target.iterdir())
        yield from _entries(found)
    elif target.exists():
        yield Problem(
            code="target_exists", message="is not a folder; it is left unchanged", path=name
        )


def _entries(found: list[str]) -> Iterable[Problem]:
    named = found[: limits.EXPORT_ENTRIES_SHOWN]
    message = "exists and is never replaced; choose a folder that is empty or does not exist"
    for name in named:
        yield Problem(code="target_not_empty", message=message, path=name)
    if len(named) < len(found):
        more = f"and {len(found) - len(named):,} more"
        yield Problem(code="target_not_empty", message=more)


def make(target: Path, fill: Callable[[Callable[[Written], None]], None]) -> None:
    """Make a folder with files, all of it at once.

    Args:
        target: Where; nothing, or an empty folder.
        fill: Gets a function that writes one file, and calls it for each.

    Raises:
        ExportTargetError: If something is there by now.
        OSError: If it cannot be written, as on a full disk, naming the file.
    """
    parent = Path(os.path.realpath(target.parent))
    # A name of its own length: with the target's in it, it could be longer than a disk allows.
    place = parent / f".skills-bundle-{secrets.token_hex(8)}{PARTIAL}"
    place.mkdir()
    try:
        written: dict[str, str] = {}

        def write(file: Written) -> None:
            try:
                _write(place, file)
            except OSError as error:  # of a full disk, the system's own words name no file
                name = str(target / to_disk(file.path))
                raise OSError(error.errno, error.strerror, name) from error
            written[file.path] = sha256_hex(file.data)

        fill(write)
        _compare(place, written)
        _give_name(place, parent / target.name)
    except BaseException:  # an interrupt, too: what is half done must not stay
        shutil.rmtree(place, ignore_errors=True)
        raise


def _write(place: Path, file: Written) -> None:
    path = place / to_disk(file.path)
    path.parent.mkdir(parents=True, exist_ok=True)
    # The umask applies, as it does to every new file.
    descriptor = os.open(path, _WRITE, 0o777 if file.executable else 0o666)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(file.data)
        stream.flush()
        os.fsync(stream.fileno())


def _compare(place: Path, written: dict[str, str]) -> None:
    """Read everything back: a disk may take bytes and keep others."""
    with Reader(place) as reader:
        for path in sorted(written):
            try:
                data = reader.read_up_to(path, limits.FOLDER_MAX_BYTES).data
            except UnsafeFileError as error:
                raise OSError(None, f"cannot be read back: {error.kind}", path) from error
            if sha256_hex(data) != written[path]:
                raise OSError(None, "does not contain the bytes that were written", path)


def _give_name(place: Path, target: Path) -> None:
    """Rename, which POSIX does in one step and only onto nothing or an empty folder."""
    try:
        if os.name == "nt" and target.is_dir() and not target.is_symlink():
            target.rmdir()
        place.rename(target)
    except OSError:
        demand_free(target)  # says what appeared there meanwhile, if that is the cause
        raise


def replace_file(path: Path, data: bytes) -> None:
    """Replace a file at once: a reader finds the old bytes or the new ones.

    The file is readable for all, as a checkout's are.

    Raises:
        OSError: If the folder cannot be written to, naming `path`; nothing is left behind.
    """
    try:
        _replace(path, data)
    except OSError as error:  # the system's own words name a temporary file
        raise OSError(error.errno, error.strerror, str(path)) from error


def _replace(path: Path, data: bytes) -> None:
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".tmp")
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())  # or a crash could leave the name with no bytes
        temporary.chmod(0o644)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise

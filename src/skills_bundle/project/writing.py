"""Edge: a plan put onto the disk, whole or not at all."""

from __future__ import annotations

import tempfile
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from skills_bundle.bundle.lock import LOCK_FILE_NAME
from skills_bundle.errors import Problem, SettingsError
from skills_bundle.files import reading
from skills_bundle.files.writing import replace_file
from skills_bundle.project import places, project, settings
from skills_bundle.project.survey import PYPROJECT

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from skills_bundle.project.plan import Change
    from skills_bundle.project.settings import Settings
    from skills_bundle.skills.model import ScanResult


def write(folder: Path, changes: Sequence[Change]) -> None:
    """Put every file in its place; if one fails, those before it are taken back.

    pyproject.toml goes last: it makes the folder a project, so that whoever is killed before finds
    one that `init` still completes.

    Args:
        folder: The project.
        changes: As `plan` gives them.

    Raises:
        SettingsError: If a file is not any more what it was when the plan was made.
        OSError: If one cannot be written; nothing is changed then.
    """
    problems = [*places.in_the_way(folder, changes)] or [*_moved(folder, changes)]
    if problems:
        raise SettingsError("Nothing was written.", tuple(problems))
    done: list[Change] = []
    made = [*_folders(folder, changes)]
    try:
        for row in sorted(changes, key=lambda row: row.path == PYPROJECT):
            done.append(row)  # before it is put: an interrupt may come right behind
            _put(folder / row.path, row.new)
    except BaseException:  # an interrupt, too: half a project must not stay
        _take_back(folder, done, made)
        raise


def _moved(folder: Path, changes: Iterable[Change]) -> Iterable[Problem]:
    """Tell of files that are not any more what they were when the plan was made."""
    message = "was changed meanwhile; run this again"
    for row in changes:
        if row.old is not None and _bytes(folder / row.path, len(row.old)) != row.old:
            yield Problem(code="changed_meanwhile", message=message, path=row.path)


def _bytes(path: Path, size: int) -> bytes | None:
    try:
        return reading.read_named(path, size)
    except (FileNotFoundError, NotADirectoryError):
        return None


def _folders(folder: Path, changes: Iterable[Change]) -> Iterable[Path]:
    """Give the folders that have to be made, those above first."""
    wanted = {parent for row in changes for parent in (folder / row.path).parents}
    return sorted(path for path in wanted if not path.exists())


def _put(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    mode = path.stat().st_mode if path.exists() else None
    replace_file(path, data)
    if mode is not None:
        path.chmod(mode)


def _take_back(folder: Path, done: Iterable[Change], made: Sequence[Path]) -> None:
    for row in done:
        path = folder / row.path
        with suppress(OSError):
            if row.old is None:
                path.unlink(missing_ok=True)
            else:
                _put(path, row.old)
    for path in reversed(made):
        with suppress(OSError):
            path.rmdir()


def first_lock(folder: Path, chosen: Settings, starter: Change | None) -> tuple[bytes, ScanResult]:
    """Make the lock of a project that has none; nothing is written.

    Args:
        folder: The project.
        chosen: Its settings.
        starter: The skill that is still to be written, if there is no other.

    Returns:
        The lock's bytes, and what was found.

    Raises:
        InvalidSkillsError: If a skill is refused, with every problem.
        CheckoutError: If there is a repository that cannot be read.
    """
    if starter is None:
        made, result = project.make_lock(project.with_settings(folder, chosen))
        return made.to_bytes(), result
    with tempfile.TemporaryDirectory(prefix="skills-bundle-") as place:
        _put(Path(place, starter.path), starter.new)
        made, result = project.make_lock(project.with_settings(Path(place), chosen))
    return made.to_bytes(), result


def renew_lock(folder: Path, chosen: Settings) -> None:
    """Make the first lock again where it speaks of the files that were written with it.

    Args:
        folder: The project, with all its files.
        chosen: Its settings.

    Raises:
        InvalidSkillsError: If a skill was changed meanwhile, and is refused.
        OSError: If the lock cannot be written; the first one stays.
    """
    project.write_lock(project.with_settings(folder, chosen))


def settings_of(name: str, **given: str | tuple[str, ...]) -> Settings:
    """Give the settings that a project will have, for its first lock.

    Args:
        name: The project's.
        given: By the names of `Settings`.
    """
    return replace(settings.defaults(name), **given)


def has_lock(folder: Path) -> bool:
    """Tell whether there is a lock, current or not: it is not ours to replace."""
    return (folder / LOCK_FILE_NAME).exists()

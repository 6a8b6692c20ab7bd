"""Edge: write the files of a plan, all of them or none.

A link on the way could lead out of the project, and a pipe would block the reader, so anything that
is in the way is reported instead of followed or replaced. A file that git ignores would be in no
commit and no build, so it is reported as well.
"""

from __future__ import annotations

import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from skills_bundle.errors import Problem, SettingsError
from skills_bundle.files import paths, reading
from skills_bundle.files.writing import replace_file
from skills_bundle.project import project
from skills_bundle.project.existing import PYPROJECT
from skills_bundle.project.file_facts import open_facts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from skills_bundle.project.plan import FileChange
    from skills_bundle.project.settings import Settings
    from skills_bundle.skills.model import ScanResult


def check_places(folder: Path, changes: Sequence[FileChange]) -> None:
    """Check that every file of a plan can be written without touching anything else.

    Args:
        folder: The project, resolved; need not exist.
        changes: From `plan_changes`.

    Raises:
        SettingsError: With everything that is in the way, and every file that git ignores.
        CheckoutError: If there is a repository that cannot be read.
        OSError: If a folder on the way may not be looked into.
    """
    blocked = [*_in_the_way(folder, changes)]
    known = {row.path for row in blocked}
    problems = [*blocked, *(row for row in _ignored(folder, changes) if row.path not in known)]
    if problems:
        summary = "Some files cannot be written; nothing was written."
        raise SettingsError(summary, tuple(problems))


def _in_the_way(folder: Path, changes: Iterable[FileChange]) -> Iterator[Problem]:
    """Yield what is already in the place of a file or of one of its folders."""
    for row in changes:
        for path in paths.parents(row.path):
            mode = _mode(folder / path)
            if mode and not stat.S_ISDIR(mode):
                yield _problem_in_the_way(path, mode, "is not a folder")
        mode = _mode(folder / row.path)
        if mode and not stat.S_ISREG(mode):
            yield _problem_in_the_way(row.path, mode, "is not a regular file")
        elif mode and row.old is None:
            yield _problem_in_the_way(row.path, mode, "exists already")
        elif mode and (what := _protected(folder / row.path)):
            message = f"{what}, so it is not replaced; change that, or add the lines by hand"
            yield Problem(code="protected", message=message, path=row.path)


def _protected(path: Path) -> str | None:
    """Return why an existing file is not ours to replace, or None.

    Replacing needs no right to the file, so nothing else would stop it. Root can keep the owner.
    """
    facts = path.lstat()
    if not facts.st_mode & stat.S_IWUSR:
        return "is read-only"
    if os.name != "nt" and os.geteuid() not in {0, facts.st_uid}:
        return "belongs to another user"
    return None


def _mode(path: Path) -> int:
    """Return the mode of what is at a path; 0 if there is nothing."""
    try:
        return path.lstat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return 0


def _problem_in_the_way(path: str, mode: int, what: str) -> Problem:
    message = f"{what}, and is not replaced; move it away, or choose other names"
    if stat.S_ISLNK(mode):
        message = "is a link, which is not followed; replace it with a real file or folder"
    return Problem(code="in_the_way", message=message, path=path)


def _ignored(folder: Path, changes: Iterable[FileChange]) -> Iterator[Problem]:
    if not folder.is_dir():
        return
    facts = open_facts(folder, ".", None).facts
    why = "no commit or build would contain it; `git check-ignore -v` names the rule"
    for row in changes:
        if facts.ignored(row.path):
            message = f"is ignored by git, so {why}"
            yield Problem(code="ignored_by_git", message=message, path=row.path)


def write_changes(folder: Path, changes: Sequence[FileChange]) -> None:
    """Write every file; if one fails, undo those before it.

    pyproject.toml comes last: it makes the folder a project, so `init` can still complete a run
    that was killed before.

    Args:
        folder: The project.
        changes: From `plan_changes`.

    Raises:
        SettingsError: If a file has changed since the plan was made.
        OSError: If one cannot be written; nothing is changed then.
    """
    problems = [*_in_the_way(folder, changes)] or [*_changed_meanwhile(folder, changes)]
    if problems:
        raise SettingsError("Nothing was written.", tuple(problems))
    done: list[FileChange] = []
    made = [*_folders(folder, changes)]
    try:
        for row in sorted(changes, key=lambda row: row.path == PYPROJECT):
            done.append(row)  # before it is written: an interrupt may follow at once
            _put(folder / row.path, row.new)
    except BaseException:  # also an interrupt: half a project must not stay
        _restore(folder, done, made)
        raise


def _changed_meanwhile(folder: Path, changes: Iterable[FileChange]) -> Iterable[Problem]:
    """Yield files that have changed since the plan was made."""
    message = "changed while the command ran; run it again"
    for row in changes:
        if row.old is not None and _bytes(folder / row.path, len(row.old)) != row.old:
            yield Problem(code="changed_meanwhile", message=message, path=row.path)


def _bytes(path: Path, size: int) -> bytes | None:
    try:
        return reading.read_named(path, size)
    except (FileNotFoundError, NotADirectoryError):
        return None


def _folders(folder: Path, changes: Iterable[FileChange]) -> Iterable[Path]:
    """Return the folders that have to be made, parents first."""
    wanted = {parent for row in changes for parent in (folder / row.path).parents}
    return sorted(path for path in wanted if not path.exists())


def _put(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    old = path.stat() if path.exists() else None
    replace_file(path, data)
    if old is not None:
        path.chmod(old.st_mode)
        with suppress(OSError, AttributeError):  # root keeps the owner, members the group
            os.chown(path, old.st_uid, old.st_gid)


def _restore(folder: Path, done: Iterable[FileChange], made: Sequence[Path]) -> None:
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


def first_lock(
    folder: Path, chosen: Settings, starter: FileChange | None
) -> tuple[bytes, ScanResult]:
    """Make the lock of a project that has none; nothing is written.

    Args:
        folder: The project.
        chosen: Its settings.
        starter: The example skill that is still to be written, if there is no other.

    Returns:
        The lock's bytes, and the scan's result.

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

"""Edge: a project on disk, with its settings, its skills and its lock.

The `lock` command and the build hook both use this module, so they agree.
"""

from __future__ import annotations

import errno
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, TypedDict, Unpack, cast

from skills_bundle.bundle import assemble, limits
from skills_bundle.bundle.lock import LOCK_FILE_NAME, CatalogLock, parse
from skills_bundle.errors import (
    InvalidLockError,
    InvalidSkillsError,
    Problem,
    SettingsError,
    StaleLockError,
)
from skills_bundle.files import reading
from skills_bundle.files.paths import from_disk
from skills_bundle.files.writing import replace_file
from skills_bundle.project import file_facts, settings
from skills_bundle.skills.rules import Policy
from skills_bundle.skills.scan import scan

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from skills_bundle.project.file_facts import Facts
    from skills_bundle.project.settings import Settings
    from skills_bundle.skills.model import ScanResult


COMMAND_LINE: Final = "the command line"
"""Shown instead of a TOML path in problems of overridden settings."""


class Overrides(TypedDict, total=False):
    """Settings given elsewhere than in the file, by the names of `Settings`."""

    skills: str
    collection: str
    exclude: tuple[str, ...]
    strict: bool
    allow: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """A project before its skills are read.

    Attributes:
        folder: Where its lock lies.
        settings: From its pyproject.toml, or the defaults of a folder that has none.
        old_bytes: The existing lock file, or None.
        facts: Facts about its files from git, or from the disk with the reason.
    """

    folder: Path
    settings: Settings
    old_bytes: bytes | None
    facts: Facts

    @property
    def lock_path(self) -> Path:
        """Where the lock is or will be."""
        return self.folder / LOCK_FILE_NAME


def load(folder: Path, **overrides: Unpack[Overrides]) -> Project:
    """Load a project; no skill is read yet.

    A folder without a pyproject.toml is one too: its collection is named after the folder, and its
    skills are in `skills/` if there is such a folder, else anywhere in it.

    Args:
        folder: Where its pyproject.toml and its lock are.
        overrides: Settings that replace those of the file; they are checked as well.

    Raises:
        SettingsError: With every problem of the settings, or if the folder does not exist.
        InvalidLockError: If there is a lock that is too large to be one.
    """
    if not folder.is_dir():
        problem = Problem(code="no_folder", message="is not a folder", path=str(folder))
        raise SettingsError("There is no project.", (problem,))
    pyproject = folder / "pyproject.toml"
    if pyproject.exists():
        found = settings.read(pyproject)
    else:
        settings.refuse_skills_of_a_project(folder.resolve())
        found = settings.defaults(from_disk(folder.resolve().name) or "skills")
        found = replace(found, skills="skills" if (folder / "skills").is_dir() else ".")
    return with_settings(folder, _overridden(found, overrides))


def _overridden(found: Settings, overrides: Overrides) -> Settings:
    values: dict[str, object] = {**overrides}
    table = {
        key: list(cast("tuple[object, ...]", value)) if isinstance(value, tuple) else value
        for key, value in values.items()
    }
    settings.parse(table, COMMAND_LINE, found.collection)  # raises for invalid values
    return replace(found, **overrides)


def with_settings(folder: Path, chosen: Settings) -> Project:
    """Load a project whose settings are known.

    Args:
        folder: Where its lock is.
        chosen: Its settings.

    Raises:
        InvalidLockError: If there is a lock that is too large to be one, or cannot be read.
    """
    old_bytes = read_lock_file(folder / LOCK_FILE_NAME)
    facts = file_facts.open_facts(folder, chosen.skills, _readable(old_bytes))
    return Project(folder=folder, settings=chosen, old_bytes=old_bytes, facts=facts)


def read_lock_file(path: Path) -> bytes | None:
    """Read a lock file's bytes; None if there is none.

    Raises:
        InvalidLockError: If it is a link, too large to be a lock, or cannot be read.
    """
    if path.is_symlink():
        message = "is a link, which is not followed"
        problem = Problem(code="lock_is_link", message=message, path=path.name)
        raise InvalidLockError("The lock cannot be read.", (problem,))
    try:
        data = reading.read_named(path, limits.LOCK_MAX_BYTES)
    except FileNotFoundError:
        return None
    except OSError as error:
        code = "lock_not_a_file" if error.errno == errno.EINVAL else "unreadable"
        problem = Problem(code=code, message=error.strerror or str(error), path=path.name)
        raise InvalidLockError("The lock cannot be read.", (problem,)) from error
    if len(data) > limits.LOCK_MAX_BYTES:
        message = f"has more than {limits.LOCK_MAX_BYTES} bytes"
        problem = Problem(code="lock_too_large", message=message, path=path.name)
        raise InvalidLockError("The lock cannot be read.", (problem,))
    return data


def _readable(data: bytes | None) -> CatalogLock | None:
    """Return the old lock; None if it cannot be parsed, as it is then replaced or refused."""
    try:
        return None if data is None else parse(data)
    except InvalidLockError:
        return None


def find_skills(project: Project) -> ScanResult:
    """Read and check every skill; nothing is written.

    Raises:
        SettingsError: If the skills folder is a link.
        UnreadableSkillsError: If there is no skills folder, or it cannot be read.
    """
    chosen = project.settings
    return scan(
        settings.skills_folder(project.folder, chosen),
        project.facts.facts,
        exclude=chosen.exclude,
        policy=Policy(chosen.strict, chosen.allow),
        is_project=chosen.skills == ".",
    )


def lock_of(project: Project, result: ScanResult) -> CatalogLock:
    """Return the lock for a project's skills.

    Args:
        project: From `load`.
        result: From `find_skills`.

    Raises:
        InvalidSkillsError: If a skill is refused, with every problem of every skill, by path from
            the project's folder; or if there is no skill at all.
    """
    chosen = project.settings
    if not result.found:
        raise InvalidSkillsError("There is no skill to lock.", tuple(_none(chosen.skills, result)))
    try:
        return assemble.lock(chosen.collection, result)
    except InvalidSkillsError as error:
        problems = tuple(from_project(problem, chosen.skills) for problem in error.problems)
        raise InvalidSkillsError(error.summary, problems) from error


def _none(skills: str, result: ScanResult) -> Iterator[Problem]:
    """Yield the reasons why no skill was found."""
    message = "is ignored by git, so it is not a skill; `git check-ignore -v` names the rule"
    for path in result.ignored:
        yield from_project(Problem(code="skill_ignored", message=message, path=path), skills)
    for row in assemble.problems(result):
        yield from_project(row, skills)
    if not result.ignored:
        yield Problem(code="no_skills", message="no folder in it contains a SKILL.md", path=skills)


def make_lock(project: Project) -> tuple[CatalogLock, ScanResult]:
    """Read every skill and return the lock for them; nothing is written.

    Raises:
        InvalidSkillsError: As `lock_of`.
    """
    result = find_skills(project)
    return lock_of(project, result), result


def from_project(problem: Problem, skills: str) -> Problem:
    """Return a problem with its path relative to the project, so that editors can open it.

    Args:
        problem: With a path below the skills folder; `.` is that folder.
        skills: The skills folder, relative to the project.
    """
    if problem.path is None or skills == "." or problem.code == "whole":
        return problem
    return replace(problem, path=skills if problem.path == "." else f"{skills}/{problem.path}")


def demand_current(project: Project, lock: CatalogLock, result: ScanResult) -> CatalogLock:
    """Return the existing lock if it is current.

    It is current if the file holds the bytes of the new lock, or differs only in by-products that
    git tracks: those do not ship, and a receipt of such a commit is not clean anyway.

    Args:
        project: From `load`.
        lock: The lock for the skills now.
        result: The scan that it was made from.

    Raises:
        StaleLockError: If it is not current; with the files and the command that updates it.
        InvalidLockError: If the file cannot be read as a lock.
    """
    if project.old_bytes is None:
        raise _no_lock()
    if project.old_bytes == lock.to_bytes():
        return lock
    old = parse(project.old_bytes)
    if assemble.differ_in_junk_only(old, lock):
        return old
    found = assemble.compare(old, lock, assemble.contents(result))
    error = assemble.stale_error(found)
    skills = project.settings.skills
    problems = tuple(from_project(problem, skills) for problem in error.problems)
    raise StaleLockError(error.summary, problems)


def check_lock(project: Project) -> tuple[CatalogLock, ScanResult]:
    """Return the existing lock if it is current.

    Raises:
        StaleLockError: As `demand_current`.
        InvalidLockError: As `demand_current`.
        InvalidSkillsError: As `make_lock`.
    """
    lock, result = make_lock(project)
    return demand_current(project, lock, result), result


def _no_lock() -> StaleLockError:
    message = f"does not exist; run `{assemble.UPDATE_COMMAND}` and commit what it writes"
    problem = Problem(code="no_lock", message=message, path=LOCK_FILE_NAME)
    return StaleLockError("The project has no lock.", (problem,))


def write_lock(project: Project) -> tuple[CatalogLock, ScanResult]:
    """Make the lock and write it whole; a current file is not touched.

    Raises:
        InvalidSkillsError: As `make_lock`; the old file stays.
        OSError: If the folder cannot be written to.
    """
    lock, result = make_lock(project)
    data = lock.to_bytes()
    if data != project.old_bytes:
        replace_file(project.lock_path, data)
    return lock, result

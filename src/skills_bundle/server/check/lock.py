"""Edge: the lock that answers are compared with, read without the code that serves it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from skills_bundle.bundle import limits, lock
from skills_bundle.bundle.lock import LOCK_FILE_NAME
from skills_bundle.errors import BundleUnavailableError, InvalidLockError, MalformedJsonError
from skills_bundle.files import reading
from skills_bundle.formats import strict_json
from skills_bundle.formats.digest import sha256_hex
from skills_bundle.installed import location as installed

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from skills_bundle.errors import Problem
    from skills_bundle.installed.location import Installed


@dataclass(frozen=True, slots=True)
class LockOnDisk:
    """A lock file as it lies there: no model, no rules, only its JSON.

    Attributes:
        path: Where it lies.
        sha256: Digest of its bytes.
        value: Its JSON.
        named: Whether the caller named it as the lock of the server; another one is wrong then.
    """

    path: Path
    sha256: str
    value: Any
    named: bool = False

    def skill_md_digest(self, skill_path: str) -> str | None:
        """Give the digest locked for the SKILL.md of the skill at this path, if there is one."""
        for skill in self.value["skills"]:
            for file in skill["files"]:
                if (skill["path"], file["path"]) == (skill_path, "SKILL.md"):
                    return str(file["sha256"])
        return None


def read_lock(find: Callable[[], Installed] | None = None) -> LockOnDisk | str:
    """Read the lock that a package is installed with, or say in a sentence why there is none.

    Of a package that runs from its source, that is the project's committed lock.

    Args:
        find: Says where the package is whose lock the server must serve; by default it is ours,
            and a server of another catalog is not wrong.
    """
    try:
        place = installed.locate() if find is None else find()
    except BundleUnavailableError as error:
        return error.summary
    path = place.site / place.lock_path
    if place.project is not None:
        path = place.project / LOCK_FILE_NAME
    try:
        data = reading.read_named(path, limits.LOCK_MAX_BYTES)
        value = strict_json.loads(data, limit=limits.LOCK_MAX_BYTES)
    except (OSError, MalformedJsonError):
        return f"There is no lock to compare with: {path} is missing or cannot be read."
    # What is served from source are the skills of this moment, and a committed lock may be older.
    named = find is not None and place.project is None
    return LockOnDisk(path, sha256_hex(data), value, named)


def read_named(path: Path) -> LockOnDisk:
    """Read the lock that a caller named.

    Raises:
        InvalidLockError: If it is no lock, with every problem.
        OSError: If it cannot be read.
    """
    with path.open("rb") as file:
        data = file.read(limits.LOCK_MAX_BYTES + 1)
    try:
        lock.parse(data)  # here alone: a file that is no lock is the caller's mistake
    except InvalidLockError as error:
        problems = tuple(_at(path, problem) for problem in error.problems)
        raise InvalidLockError("The named file is no lock that can be read.", problems) from error
    value = strict_json.loads(data, limit=limits.LOCK_MAX_BYTES)
    return LockOnDisk(path, sha256_hex(data), value, named=True)


def _at(path: Path, problem: Problem) -> Problem:
    """Name the file as the caller did; a place inside the document stays one."""
    inside = "" if problem.path in {None, LOCK_FILE_NAME} else f": {problem.path}"
    return replace(problem, path=f"{path}{inside}")

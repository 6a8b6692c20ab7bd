"""Edge: the lock of this installation, read without the code that serves it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from skills_bundle import limits
from skills_bundle.bundle import installed
from skills_bundle.bundle.lock import LOCK_FILE_NAME
from skills_bundle.errors import BundleUnavailableError, MalformedJsonError
from skills_bundle.formats import strict_json
from skills_bundle.formats.digest import sha256_hex

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class LockOnDisk:
    """A lock file as it lies there: no model, no rules, only its JSON."""

    path: Path
    sha256: str
    value: Any

    def skill_md_digest(self, skill_path: str) -> str | None:
        """Give the digest locked for the SKILL.md of the skill at this path, if there is one."""
        for skill in self.value["skills"]:
            for file in skill["files"]:
                if (skill["path"], file["path"]) == (skill_path, "SKILL.md"):
                    return str(file["sha256"])
        return None


def read_lock() -> LockOnDisk | str:
    """Read the lock that this package is installed with, or say in a sentence why there is none.

    Of a package that runs from its source, that is the project's committed lock.
    """
    try:
        place = installed.locate()
    except BundleUnavailableError as error:
        return error.summary
    path = place.site / place.lock_path
    if place.project is not None:
        path = place.project / LOCK_FILE_NAME
    try:
        data = path.read_bytes()
        value = strict_json.loads(data, limit=limits.LOCK_MAX_BYTES)
    except (OSError, MalformedJsonError):
        return f"There is no lock to compare with: {path} is missing or cannot be read."
    return LockOnDisk(path, sha256_hex(data), value)

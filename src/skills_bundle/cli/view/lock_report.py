"""Decision: what one run of `lock` has to report; found = locked + refused, always."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from skills_bundle.bundle.lock import catalog_sha256
from skills_bundle.cli import failures
from skills_bundle.cli.view.text import count
from skills_bundle.errors import Problem
from skills_bundle.project.project import from_project
from skills_bundle.skills.model import Level

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic import JsonValue

    from skills_bundle.bundle.lock import CatalogLock
    from skills_bundle.errors import SkillsBundleError
    from skills_bundle.project.settings import Settings
    from skills_bundle.skills.model import Diagnostic, ScanResult

Status = Literal["written", "unchanged", "fresh", "stale", "missing", "invalid", "refused"]
"""What became of the lock file.

`fresh`, `stale`, `missing` (no file) and `invalid` (a file that is no lock) are --check's words;
`refused` means that no lock could be made.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """A diagnostic with its place and what it did.

    Attributes:
        weight: `refused` if it keeps its skill (or everything) out of the lock, else `warning`.
        problem: The path is from the project's folder.
    """

    weight: Literal["refused", "warning"]
    problem: Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What one run of `lock` did.

    Attributes:
        status: What became of the lock file.
        path: The lock file, as it was asked for.
        settings: What was in force.
        result: What was found in the skills folder.
        lock: What the skills give; None when one is refused.
        error: Why the run failed, or None.
    """

    status: Status
    path: str
    settings: Settings
    result: ScanResult
    lock: CatalogLock | None
    error: SkillsBundleError | None = None

    @property
    def in_place(self) -> CatalogLock | None:
        """The lock that the file holds now: digests of any other one would be taken for its."""
        return self.lock if self.status in {"written", "unchanged", "fresh"} else None

    @property
    def remarks(self) -> tuple[Remark, ...]:
        """Every diagnostic of the run: refusals first, then by place."""
        rows = sorted(
            dict.fromkeys(self._remarks()),  # two skills that collide share one
            key=lambda row: (row.weight, row.problem.path or "", row.problem.line or 0),
        )
        return tuple(rows)

    def _remarks(self) -> Iterator[Remark]:
        for skill in self.result.refused:
            for row in skill.diagnostics:
                yield self._remark(row, refuses=self.settings.strict)
        for skill in self.result.skills:
            for row in skill.diagnostics:
                yield self._remark(row, refuses=False)
        for row in self.result.problems:
            yield self._remark(row, refuses=False)

    def _remark(self, row: Diagnostic, *, refuses: bool) -> Remark:
        problem = Problem(code=row.code, message=row.message, path=row.path, line=row.line)
        return Remark(
            weight="refused" if refuses or row.level is Level.REFUSE else "warning",
            problem=from_project(problem, self.settings.skills),
        )

    @property
    def total(self) -> str:
        """The sum that has to add up, in words."""
        result = self.result
        excluded = f"; {len(result.excluded):,} more excluded" if result.excluded else ""
        kept = "locked" if self.lock is not None else "good"
        return (
            f"{count(result.found, 'skill')} = {len(result.skills):,} {kept} + "
            f"{len(result.refused):,} refused{excluded}"
        )

    def to_dict(self) -> dict[str, JsonValue]:
        """Give the document that `--json` prints; `error` is there only when the run failed."""
        document: dict[str, JsonValue] = {
            "status": self.status,
            "lock": self.path,
            "skills_folder": self.settings.skills,
            "collection": self.settings.collection,
            "found": self.result.found,
            "good": len(self.result.skills),
            "refused": [row.path for row in self.result.refused],
            "excluded": [*self.result.excluded],
            "without_skill_md": [*self.result.without_skill_md],
            "diagnostics": [
                {
                    "weight": row.weight,
                    "code": row.problem.code,
                    "message": row.problem.message,
                    "path": row.problem.path,
                    "line": row.problem.line,
                }
                for row in self.remarks
            ],
            **self._digests(),
        }
        if self.error is not None:
            document["error"] = failures.of(self.error).to_dict()
        return document

    def _digests(self) -> dict[str, JsonValue]:
        """Give the digests of the lock in place, nulls where the file holds another or none."""
        made = self.in_place
        return {
            "files": None if self.lock is None else len(self.lock.files()),
            "catalog_sha256": None if made is None else catalog_sha256(made.to_bytes()),
            "dir_hash": None if made is None else made.digests.dir_hash,
            "git_tree": None if made is None else made.digests.git_tree,
        }

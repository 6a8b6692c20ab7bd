"""Decision: skills become a lock."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skills_bundle.bundle.lock import (
    LOCK_VERSION,
    Algorithms,
    CatalogLock,
    Digests,
    LockedFile,
    LockedSkill,
    UnlockedEntry,
)
from skills_bundle.errors import InvalidSkillsError, Problem
from skills_bundle.formats.digest import (
    TreeEntry,
    dir_hash,
    git_object_id,
    git_tree_id,
    sha256_hex,
)
from skills_bundle.skills.codes import CODES
from skills_bundle.skills.model import Level

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from skills_bundle.skills.model import Diagnostic, ScanResult, Skill


def lock(collection: str, result: ScanResult) -> CatalogLock:
    """Make the lock of everything a scan found.

    Args:
        collection: Name of the collection.
        result: Of one whole scan.

    Raises:
        InvalidSkillsError: If a skill was refused or something was left unseen; with every reason
            and every warning, so that nobody runs this twice.
    """
    if not result.complete:
        raise InvalidSkillsError(_summary(result), tuple(problems(result)))
    entries = {skill.path: tuple(_tree_entries(skill)) for skill in result.skills}
    skills = tuple(_locked(skill, entries[skill.path]) for skill in result.skills)
    whole = [
        TreeEntry(f"{path}/{entry.path}", entry.mode, entry.oid)
        for path, rows in entries.items()
        for entry in rows
    ]
    digests = Digests(
        dir_hash=dir_hash(
            {f"{skill.path}/{file.path}": file.sha256 for skill in skills for file in skill.files}
        ),
        git_tree=git_tree_id([*whole, *result.unlocked]),
    )
    return CatalogLock(
        lock_version=LOCK_VERSION,
        collection=collection,
        algorithms=Algorithms(),
        digests=digests,
        unlocked=tuple(_unlocked(result.unlocked)),
        skills=skills,
    )


def _summary(result: ScanResult) -> str:
    if not result.refused:
        return "Something in the skills folder is in the way; nothing is locked."
    verb = "is" if len(result.refused) == 1 else "are"
    return f"{len(result.refused)} of {result.found} skills {verb} refused; nothing is locked."


def problems(result: ScanResult) -> Iterator[Problem]:
    """Give every diagnostic of a scan as a problem, once: of refused skills, warnings, the rest."""
    rows: list[Diagnostic] = [row for skill in result.refused for row in skill.diagnostics]
    rows += [row for skill in result.skills for row in skill.diagnostics]
    rows += result.problems
    rows.sort(key=lambda row: (row.level is not Level.REFUSE, row.path.encode(), row.line or 0))
    for row in dict.fromkeys(rows):  # two skills that collide have one diagnostic between them
        yield Problem(code=row.code, message=row.message, path=row.path, line=row.line)


def _tree_entries(skill: Skill) -> Iterator[TreeEntry]:
    """Give a skill's files as git's tree would hold them, relative to the skill."""
    for file in skill.files:
        mode = "100755" if file.executable else "100644"
        yield TreeEntry(file.path, mode, git_object_id("blob", file.data))


def _locked(skill: Skill, entries: tuple[TreeEntry, ...]) -> LockedSkill:
    return LockedSkill(
        name=skill.name,
        path=skill.path,
        description=skill.description,
        frontmatter=skill.frontmatter,
        tags=skill.tags,
        git_tree=git_tree_id(entries),
        diagnostics=tuple(sorted({*_locked_codes(skill)}, key=str.encode)),
        files=tuple(
            LockedFile(
                path=file.path,
                size=len(file.data),
                sha256=sha256_hex(file.data),
                executable=file.executable,
            )
            for file in skill.files
        ),
    )


def _locked_codes(skill: Skill) -> Iterator[str]:
    return (row.code for row in skill.diagnostics if CODES[row.code].in_lock)


def _unlocked(entries: Iterable[TreeEntry]) -> Iterator[UnlockedEntry]:
    for entry in entries:
        row = {"path": entry.path, "mode": entry.mode, "oid": entry.oid}
        yield UnlockedEntry.model_validate(row)

"""Decision: which skills an export holds, and the lock of exactly these."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Literal

from skills_bundle.bundle.lock import LOCK_FILE_NAME, CatalogLock, Digests, catalog_sha256
from skills_bundle.bundle.receipt import RECEIPT_FILE_NAME
from skills_bundle.errors import AlteredSkillsError, ExportTargetError, Problem, UnknownSkillError
from skills_bundle.formats.digest import TreeEntry, dir_hash, git_object_id, git_tree_id
from skills_bundle.formats.record import Record

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skills_bundle.bundle.lock import LockedFile, LockedSkill
    from skills_bundle.bundle.view import View


class ExportedSkill(Record):
    """One skill of an export.

    Attributes:
        name: As in the lock.
        path: Its folder below the exported one.
        files: How many files it has.
        bytes: How many bytes they have together.
    """

    name: str
    path: str
    files: int
    bytes: int


class Export(Record):
    """What was exported, and what its lock is.

    Attributes:
        folder: Where it lies now.
        collection: The collection's name.
        package_name: Normalised name of the distribution that was exported from.
        package_version: Its version.
        lock: `installed`: the very bytes of the installation's lock. `recomputed`: a lock of the
            exported files alone.
        catalog_sha256: Digest of the exported lock.
        installed_catalog_sha256: Digest of the installation's.
        dir_hash: The exported lock's digest of all files.
        receipt: Whether the installation's build receipt was exported, too.
        gaps: The evidence gaps of the installation; none of them is about an exported byte.
        skills: What was exported, in the lock's order.
    """

    folder: str
    collection: str
    package_name: str
    package_version: str
    lock: Literal["installed", "recomputed"]
    catalog_sha256: str
    installed_catalog_sha256: str
    dir_hash: str
    receipt: bool
    gaps: tuple[str, ...]
    skills: tuple[ExportedSkill, ...]


def chosen(lock: CatalogLock, keys: Sequence[str]) -> tuple[LockedSkill, ...]:
    """Give the skills that somebody named, in the lock's order; all if nobody named any.

    Args:
        lock: What there is.
        keys: Names or paths of skills.

    Raises:
        UnknownSkillError: With every key that is no skill, or is the name of several.
    """
    if not keys:
        return lock.skills
    problems: list[Problem] = []
    paths: set[str] = set()
    for key in dict.fromkeys(keys):
        found = _meant(lock, key)
        paths.update(found[:1])
        if len(found) != 1:
            problems.append(_unclear(lock, key, found))
    if problems:
        raise UnknownSkillError("The export names skills that cannot be told.", tuple(problems))
    return tuple(skill for skill in lock.skills if skill.path in paths)


def _meant(lock: CatalogLock, key: str) -> list[str]:
    """Give the paths of what a key may mean; a path is never ambiguous."""
    if any(skill.path == key for skill in lock.skills):
        return [key]
    return [skill.path for skill in lock.skills if skill.name == key]


def _unclear(lock: CatalogLock, key: str, found: Sequence[str]) -> Problem:
    if found:
        message = f"is the name of several skills; give a path: {', '.join(found)}"
        return Problem(code="ambiguous_skill", message=message, path=key)
    known = [*(skill.name for skill in lock.skills), *(skill.path for skill in lock.skills)]
    close = get_close_matches(key, known, n=1)
    guess = f"; did you mean {close[0]}?" if close else ""
    return Problem(code="unknown_skill", message=f"is no skill of this collection{guess}", path=key)


def demand_room(skills: Sequence[LockedSkill]) -> None:
    """Insist that no skill lies where the export's own documents go, in any case of letters.

    Raises:
        ExportTargetError: With every one that does.
    """
    documents = {LOCK_FILE_NAME, RECEIPT_FILE_NAME}
    message = "has the name of the file that would lie beside it; export others with --skill"
    taken = [skill.path for skill in skills if skill.path.split("/")[0].casefold() in documents]
    if taken:
        rows = (Problem(code="target_taken", message=message, path=path) for path in taken)
        raise ExportTargetError("A skill has no place beside the export's lock.", tuple(rows))


def files_of(skills: Sequence[LockedSkill]) -> dict[str, LockedFile]:
    """Give the files of some skills by their path below the skills folder."""
    return {f"{skill.path}/{file.path}": file for skill in skills for file in skill.files}


def demand_unaltered(view: View, skills: Sequence[LockedSkill]) -> None:
    """Insist that every file that would be exported is the one that was locked.

    Raises:
        AlteredSkillsError: With every one that is not.
    """
    wrong = sorted(files_of(skills).keys() & view.altered, key=str.encode)
    if wrong:
        raise altered([altered_file(path) for path in wrong])


def altered_file(path: str) -> Problem:
    """Tell of a file that is not what was locked; `verify` says what became of it."""
    message = "is not the file that was locked, or cannot be read"
    return Problem(code="altered_file", message=message, path=path)


def altered(problems: Sequence[Problem]) -> AlteredSkillsError:
    """Tell of an export that was not made."""
    return AlteredSkillsError(
        "Nothing is exported: some skills are not what was locked.", tuple(problems)
    )


def lock_for(
    view: View, skills: Sequence[LockedSkill], contents: Mapping[str, bytes]
) -> tuple[CatalogLock, Literal["installed", "recomputed"]]:
    """Give the lock of exactly the exported files.

    It is the installation's, to the byte, if every skill is exported and that lock speaks of no
    file that does not ship; else its digests are computed for what is there.

    Args:
        view: What is installed.
        skills: What is exported.
        contents: Bytes of every exported file, by path below the skills folder.
    """
    if tuple(skills) == view.lock.skills and not view.lock.unlocked:
        return view.lock, "installed"
    files = files_of(skills)
    entries = [
        TreeEntry(
            path, "100755" if file.executable else "100644", git_object_id("blob", contents[path])
        )
        for path, file in files.items()
    ]
    digests = Digests(
        dir_hash=dir_hash({path: file.sha256 for path, file in files.items()}),
        git_tree=git_tree_id(entries),
    )
    parts = {"digests": digests, "unlocked": (), "skills": tuple(skills)}
    return view.lock.model_copy(update=parts), "recomputed"


def account(
    view: View, skills: Sequence[LockedSkill], lock: CatalogLock, *, folder: str, receipt: bool
) -> Export:
    """Say what was exported.

    Args:
        view: What it was taken from.
        skills: What was exported.
        lock: The lock beside them.
        folder: Where they lie.
        receipt: Whether the build receipt lies there, too.
    """
    return Export(
        folder=folder,
        collection=lock.collection,
        package_name=view.provenance.package_name,
        package_version=view.provenance.package_version,
        lock="installed" if lock is view.lock else "recomputed",
        catalog_sha256=catalog_sha256(lock.to_bytes()),
        installed_catalog_sha256=view.provenance.catalog_sha256,
        dir_hash=lock.digests.dir_hash,
        receipt=receipt,
        gaps=view.provenance.gaps,
        skills=tuple(
            ExportedSkill(
                name=skill.name,
                path=skill.path,
                files=len(skill.files),
                bytes=sum(file.size for file in skill.files),
            )
            for skill in skills
        ),
    )

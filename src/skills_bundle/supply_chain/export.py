"""Edge: verified copies of installed skills, with a lock of exactly these files."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Literal

from skills_bundle.bundle import limits
from skills_bundle.bundle.lock import LOCK_FILE_NAME, CatalogLock, Digests, catalog_sha256
from skills_bundle.bundle.receipt import RECEIPT_FILE_NAME
from skills_bundle.errors import (
    AlteredSkillsError,
    BundleUnavailableError,
    ExportTargetError,
    Problem,
    UnknownSkillError,
    UnsafeFileError,
)
from skills_bundle.files import reading, writing
from skills_bundle.files.tree import FileTree
from skills_bundle.files.writing import Written
from skills_bundle.formats.digest import sha256_hex
from skills_bundle.formats.record import Record
from skills_bundle.installed.bundle import InstalledBundle

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from skills_bundle.bundle.lock import LockedFile, LockedSkill
    from skills_bundle.installed.bundle import BundleState
    from skills_bundle.installed.location import Installed


class ExportedSkill(Record):
    """One skill of an export.

    Attributes:
        name: As in the lock.
        path: Its folder below the exported one.
        files: Number of its files.
        bytes: Their size together.
    """

    name: str
    path: str
    files: int
    bytes: int


class Export(Record):
    """What was exported.

    Attributes:
        folder: The exported folder.
        collection: The collection's name.
        package_name: Normalised name of the distribution that was exported from.
        package_version: Its version.
        lock: `installed`: the bytes of the installation's lock. `recomputed`: a lock of the
            exported files alone.
        catalog_sha256: Digest of the exported lock.
        installed_catalog_sha256: Digest of the installation's lock.
        dir_hash: The exported lock's digest of all files.
        receipt: Whether the installation's build receipt was exported as well.
        gaps: The evidence gaps of the installation; none of them concerns an exported byte.
        skills: The exported skills, in the lock's order.
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


def export(find: Callable[[], Installed], target: Path, skills: Sequence[str] = ()) -> Export:
    """Copy skills of an installation with their lock; each byte is hashed before it is written.

    Args:
        find: Returns where the installation is.
        target: The folder to create; it must not exist, or be empty.
        skills: Names or paths; by default all, and then the build receipt is copied as well.

    Raises:
        ExportTargetError: If the target is in use; nothing was read.
        BundleUnavailableError: If there is no valid lock, or the package runs from its source, so
            that there is nothing to verify against.
        UnknownSkillError: If a skill does not exist.
        AlteredSkillsError: If a file of them differs from the lock; nothing is exported.
        OSError: If the copies cannot be written; nothing is left behind.
    """
    writing.demand_free(target)
    place = find()
    if place.project is not None:
        raise _not_locked()
    writing.demand_outside(target, place.site / place.package)
    bundle = InstalledBundle(find)
    view = bundle.current()
    chosen = _choose(view.lock, skills)
    _check_paths(chosen)
    locked = _files_of(chosen)
    _raise_altered(locked.keys() & view.altered)
    files = _read(bundle, locked)
    is_whole = chosen == view.lock.skills and not view.lock.unlocked
    lock = view.lock if is_whole else _lock_of(view.lock, chosen, files)
    receipt = _read_receipt(place, view) if is_whole else None

    def fill(write: Callable[[Written], None]) -> None:
        for path, file in locked.items():
            write(Written(path, files.read(path), file.executable))
        write(Written(LOCK_FILE_NAME, lock.to_bytes()))
        if receipt is not None:
            write(Written(RECEIPT_FILE_NAME, receipt))

    writing.make(target, fill)
    return Export(
        folder=str(target),
        collection=lock.collection,
        package_name=view.provenance.package_name,
        package_version=view.provenance.package_version,
        lock="installed" if is_whole else "recomputed",
        catalog_sha256=catalog_sha256(lock.to_bytes()),
        installed_catalog_sha256=view.provenance.catalog_sha256,
        dir_hash=lock.digests.dir_hash,
        receipt=receipt is not None,
        gaps=view.provenance.gaps,
        skills=tuple(map(_exported, chosen)),
    )


def _exported(skill: LockedSkill) -> ExportedSkill:
    size = sum(file.size for file in skill.files)
    return ExportedSkill(name=skill.name, path=skill.path, files=len(skill.files), bytes=size)


def _not_locked() -> BundleUnavailableError:
    message = (
        "the package runs from its source, so there is nothing to verify copies of its skills "
        "against; install a wheel, or copy the skills folder"
    )
    problem = Problem(code="editable_install", message=message)
    return BundleUnavailableError("Nothing can be exported.", (problem,))


def _choose(lock: CatalogLock, keys: Sequence[str]) -> tuple[LockedSkill, ...]:
    """Return the named skills in the lock's order, or all if none is named.

    Raises:
        UnknownSkillError: With every key that is not a skill, or the name of several.
    """
    if not keys:
        return lock.skills
    problems: list[Problem] = []
    paths: set[str] = set()
    for key in dict.fromkeys(keys):
        found = [skill.path for skill in lock.skills if skill.path == key]  # never ambiguous
        found = found or [skill.path for skill in lock.skills if skill.name == key]
        paths.update(found[:1])
        if len(found) != 1:
            problems.append(_unclear(lock, key, found))
    if problems:
        raise UnknownSkillError("Not every named skill was found.", tuple(problems))
    return tuple(skill for skill in lock.skills if skill.path in paths)


def _unclear(lock: CatalogLock, key: str, found: Sequence[str]) -> Problem:
    if found:
        message = f"is the name of several skills; use a path: {', '.join(found)}"
        return Problem(code="ambiguous_skill", message=message, path=key)
    known = [*(skill.name for skill in lock.skills), *(skill.path for skill in lock.skills)]
    close = get_close_matches(key, known, n=1)
    hint = f"; did you mean {close[0]}?" if close else ""
    message = f"is not a skill of this collection{hint}"
    return Problem(code="unknown_skill", message=message, path=key)


def _check_paths(skills: Sequence[LockedSkill]) -> None:
    """Check that no skill has the path of the export's documents, in any case of letters.

    Raises:
        ExportTargetError: With every skill that has.
    """
    documents = {LOCK_FILE_NAME, RECEIPT_FILE_NAME}
    message = "has the same name as a file next to it; export other skills with --skill"
    taken = [skill.path for skill in skills if skill.path.split("/")[0].casefold() in documents]
    if taken:
        problems = tuple(Problem(code="target_taken", message=message, path=path) for path in taken)
        raise ExportTargetError("A skill has the path of the lock or the receipt.", problems)


def _files_of(skills: Sequence[LockedSkill]) -> dict[str, LockedFile]:
    """Return the files of skills by their path below the skills folder."""
    return {f"{skill.path}/{file.path}": file for skill in skills for file in skill.files}


def _read(bundle: InstalledBundle, locked: dict[str, LockedFile]) -> FileTree:
    """Read every file once, each hashed as it is read."""
    contents: dict[str, bytes] = {}
    altered: list[str] = []
    for path in locked:
        try:
            contents[path] = bundle.read(path)
        except UnsafeFileError:
            altered.append(path)
    _raise_altered(altered)
    return FileTree.from_bytes(contents, {path for path in locked if locked[path].executable})


def _raise_altered(paths: Iterable[str]) -> None:
    """Raise `AlteredSkillsError` with these files, if there are any."""
    message = "differs from the lock, or cannot be read"
    problems = tuple(
        Problem(code="altered_file", message=message, path=path)
        for path in sorted(paths, key=str.encode)
    )
    if problems:
        raise AlteredSkillsError("Nothing is exported: some skills differ from the lock.", problems)


def _lock_of(lock: CatalogLock, skills: tuple[LockedSkill, ...], files: FileTree) -> CatalogLock:
    """Return a lock of these skills alone, with the digests of their files."""
    digests = Digests(dir_hash=files.dir_hash(), git_tree=files.git_tree())
    parts = {"digests": digests, "unlocked": (), "skills": skills}
    return lock.model_copy(update=parts)


def _read_receipt(place: Installed, view: BundleState) -> bytes | None:
    """Return the build receipt if it is valid, and unchanged since it was compared."""
    wanted = view.provenance.source_provenance.receipt_sha256
    if wanted is None:
        return None
    with reading.Reader(place.site, follow_last=place.linked) as reader:
        try:
            data = reader.read_up_to(place.receipt_path, limits.RECEIPT_MAX_BYTES).data
        except UnsafeFileError:
            return None
    return data if sha256_hex(data) == wanted else None

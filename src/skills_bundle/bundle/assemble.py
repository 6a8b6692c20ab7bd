"""Decision: the lock of scanned skills, and how it differs from the lock that is there."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Final

from skills_bundle.bundle.lock import (
    LOCK_FILE_NAME,
    LOCK_VERSION,
    Algorithms,
    CatalogLock,
    Digests,
    LockedFile,
    LockedSkill,
    UnlockedEntry,
)
from skills_bundle.errors import InvalidSkillsError, Problem, StaleLockError
from skills_bundle.files import tree
from skills_bundle.files.paths import is_junk
from skills_bundle.files.tree import FileEntry, FileTree
from skills_bundle.formats import strict_json
from skills_bundle.formats.digest import sha256_hex
from skills_bundle.skills.codes import CODES
from skills_bundle.skills.model import Level

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from collections.abc import Set as AbstractSet

    from skills_bundle.formats.digest import TreeEntry
    from skills_bundle.skills.model import Diagnostic, ScanResult, Skill

UPDATE_COMMAND: Final = "skills-bundle lock"
"""The command that writes a new lock; every message about a stale lock names it."""

_SENTENCES: Final = {
    "added": "is new and not in the lock",
    "removed": "is in the lock but was removed",
    "changed": "content differs from the lock",
    "line_ends": "differs from the lock only in line endings",
    "executable": "executable bit differs from the lock",
    "metadata": "name, description, tags or diagnostics differ from the lock",
    "unlocked": "is not shipped, and differs from the lock",
    "whole": "differs from the lock",
}


def lock(collection: str, result: ScanResult) -> CatalogLock:
    """Make the lock of everything a scan found.

    Args:
        collection: Name of the collection.
        result: Of one whole scan.

    Raises:
        InvalidSkillsError: If a skill was refused or something was not read; with every reason and
            every warning.
    """
    if not result.complete:
        raise InvalidSkillsError(_summary(result), tuple(problems(result)))
    trees = {skill.path: _tree(skill) for skill in result.skills}
    whole = FileTree(
        {f"{folder}/{path}": row for folder, rows in trees.items() for path, row in rows.items()}
    )
    return CatalogLock(
        lock_version=LOCK_VERSION,
        collection=collection,
        algorithms=Algorithms(),
        digests=Digests(dir_hash=whole.dir_hash(), git_tree=whole.git_tree(result.unlocked)),
        unlocked=tuple(_unlocked(result.unlocked)),
        skills=tuple(_locked(skill, trees[skill.path]) for skill in result.skills),
    )


def _summary(result: ScanResult) -> str:
    if not result.refused:
        return "The skills folder has problems outside its skills; nothing is locked."
    verb = "is" if len(result.refused) == 1 else "are"
    return f"{len(result.refused)} of {result.found} skills {verb} refused; nothing is locked."


def problems(result: ScanResult) -> Iterator[Problem]:
    """Yield every diagnostic of a scan as a problem, once; those that refuse a skill first."""
    rows: list[Diagnostic] = [row for skill in result.refused for row in skill.diagnostics]
    rows += [row for skill in result.skills for row in skill.diagnostics]
    rows += result.problems
    rows.sort(key=lambda row: (row.level is not Level.REFUSE, row.path.encode(), row.line or 0))
    for row in dict.fromkeys(rows):  # two skills that collide have one diagnostic between them
        yield Problem(code=row.code, message=row.message, path=row.path, line=row.line)


def _tree(skill: Skill) -> FileTree:
    return FileTree(
        {file.path: FileEntry.of(file.data, executable=file.executable) for file in skill.files}
    )


def _locked(skill: Skill, files: FileTree) -> LockedSkill:
    codes = {row.code for row in skill.diagnostics if CODES[row.code].in_lock}
    return LockedSkill(
        name=skill.name,
        path=skill.path,
        description=skill.description,
        frontmatter=skill.frontmatter,
        tags=skill.tags,
        git_tree=files.git_tree(),
        diagnostics=tuple(sorted(codes, key=str.encode)),
        files=tuple(
            LockedFile(
                path=file.path,
                size=len(file.data),
                sha256=files[file.path].sha256 or "",
                executable=file.executable,
            )
            for file in skill.files
        ),
    )


def _unlocked(entries: Iterable[TreeEntry]) -> Iterator[UnlockedEntry]:
    for entry in entries:
        row = {"path": entry.path, "mode": entry.mode, "oid": entry.oid}
        yield UnlockedEntry.model_validate(row)


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """The difference of two locks. Each is a tuple of paths below the skills folder, sorted.

    Attributes:
        added: Files that only the new one locks.
        removed: Files that only the old one locks.
        changed: Files with other bytes, apart from `line_ends`.
        line_ends: Files with other bytes that differ only in line endings, as far as `compare` was
            given the bytes.
        executable: Files that differ in the executable bit and in nothing else.
        metadata: Skills whose files are the same and whose entry differs: another version of
            this package reads them differently.
        unlocked: What does not ship and was added, removed or changed.
        whole: Names of the lock's own fields that differ: `collection`; `digests` if the entries
            are the same and the digests are not.
    """

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    line_ends: tuple[str, ...] = ()
    executable: tuple[str, ...] = ()
    metadata: tuple[str, ...] = ()
    unlocked: tuple[str, ...] = ()
    whole: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Return whether there is any difference."""
        return any(paths for _, paths in self.kinds())

    def kinds(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Yield each kind of change with its paths, empty ones too."""
        for field in fields(self):
            yield field.name, getattr(self, field.name)

    @property
    def only_line_ends(self) -> bool:
        """Whether locked files differ only in line endings: the mark of a checkout that converts.

        Such a checkout converts what does not ship too, so that may also differ.
        """
        return are_line_ends_alone({kind for kind, paths in self.kinds() if paths})


def are_line_ends_alone(kinds: AbstractSet[str]) -> bool:
    """Return whether changes of these kinds are those of a checkout that converts line ends."""
    return "line_ends" in kinds and kinds <= {"line_ends", "metadata", "unlocked"}


def differ_in_junk_only(old: CatalogLock, new: CatalogLock) -> bool:
    """Return whether two locks are equal except for by-products that git holds.

    Whether git tracks a `__pycache__` says nothing about what ships, so neither lock is stale then.
    """
    return _without_junk(old).to_bytes() == _without_junk(new).to_bytes()


def _without_junk(lock: CatalogLock) -> CatalogLock:
    kept = tuple(entry for entry in lock.unlocked if not is_junk(entry.path))
    digests = lock.digests.model_copy(update={"git_tree": "0" * 40})
    return lock.model_copy(update={"unlocked": kept, "digests": digests})


def contents(result: ScanResult) -> dict[str, bytes]:
    """Return the bytes of every file a scan read, by path below the skills folder."""
    return {
        f"{skill.path}/{file.path}": file.data for skill in result.skills for file in skill.files
    }


def compare(
    old: CatalogLock, new: CatalogLock, contents: Mapping[str, bytes] | None = None
) -> Changes:
    """Compare two locks.

    Args:
        old: The lock that is there.
        new: The one of the skills as they are now.
        contents: Bytes of the new one's files by path, to recognise changes of line ends; without
            them no change counts as one of line ends.
    """
    known = contents or {}
    rows: dict[str, list[str]] = {}
    for row in tree.compare(old.tree(), new.tree()):
        kind = {"extra": "added", "missing": "removed"}.get(row.state, row.state)
        if kind == "changed" and row.path in known and row.expected is not None:
            kind = "line_ends" if _is_converted(row.expected, known[row.path]) else kind
        rows.setdefault(kind, []).append(row.path)
    found = Changes(
        **{kind: tuple(paths) for kind, paths in rows.items()},
        metadata=tuple(_metadata(old, new)),
        unlocked=tuple(_changed_unlocked(old, new)),
        whole=() if old.collection == new.collection else ("collection",),
    )
    # Digests follow from the rest, so they matter only where nothing else differs.
    return found if found or old == new else Changes(whole=("digests",))


def _is_converted(locked: FileEntry, data: bytes) -> bool:
    """Return whether a file is the locked one with its line ends converted, either way."""
    unix = data.replace(b"\r\n", b"\n")
    return locked.sha256 in {sha256_hex(unix), sha256_hex(unix.replace(b"\n", b"\r\n"))}


def _metadata(old: CatalogLock, new: CatalogLock) -> Iterator[str]:
    before = {skill.path: skill for skill in old.skills}
    for skill in new.skills:
        other = before.get(skill.path)
        if other is not None and _head(other) != _head(skill) and other.files == skill.files:
            yield skill.path


def _head(skill: LockedSkill) -> bytes:
    """Render all but the files: for Python 1, 1.0 and True are equal, in a lock they are not."""
    return strict_json.compact(skill.model_dump(mode="json", exclude={"files"}))


def _changed_unlocked(old: CatalogLock, new: CatalogLock) -> list[str]:
    before, after = set(old.unlocked), set(new.unlocked)
    return sorted({row.path for row in before ^ after}, key=str.encode)


def stale_error(changes: Changes) -> StaleLockError:
    """Return the error of a stale lock, with every path and the command that updates it.

    Args:
        changes: Not empty.
    """
    summary = f"{LOCK_FILE_NAME} is out of date. Run `{UPDATE_COMMAND}` and commit what it writes."
    if changes.only_line_ends:
        summary = (
            f"Locked files differ from {LOCK_FILE_NAME} only in line endings: git converted them. "
            "Put `skills/** -text` (with your skills folder) and `catalog.lock.json -text` into "
            ".gitattributes and check the files out again; or, if the new line endings are "
            f"intended, run `{UPDATE_COMMAND}`."
        )
    return StaleLockError(
        summary,
        tuple(
            Problem(code=kind, message=_SENTENCES[kind], path=path)
            for kind, paths in changes.kinds()
            for path in paths
        ),
    )

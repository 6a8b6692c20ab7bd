"""Decision: how the lock that is there differs from the one the skills give now."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Final

from skills_bundle.errors import Problem, StaleLockError
from skills_bundle.files.paths import is_junk
from skills_bundle.formats import strict_json
from skills_bundle.formats.digest import sha256_hex
from skills_bundle.skills.model import LOCK_FILE_NAME

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from collections.abc import Set as AbstractSet

    from skills_bundle.bundle.lock import CatalogLock, LockedFile, LockedSkill
    from skills_bundle.skills.model import ScanResult

MENDING_COMMAND: Final = "skills-bundle lock"
"""What writes a lock anew; every message about a stale lock names it."""

_SENTENCES: Final = {
    "added": "is new and not in the lock",
    "removed": "is in the lock and gone",
    "changed": "has other bytes than the lock says",
    "line_ends": "has other line ends than the lock says, and is the same otherwise",
    "executable": "has the executable bit otherwise than the lock says",
    "metadata": "gives another name, description, tags or diagnostics than the lock says",
    "unlocked": "does not ship, and is otherwise than the lock says",
    "whole": "is otherwise than the lock says",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """The difference of two locks. Each is a tuple of paths below the skills folder, sorted.

    Attributes:
        added: Files that only the new one locks.
        removed: Files that only the old one locks.
        changed: Files with other bytes, apart from `line_ends`.
        line_ends: Files with other bytes that differ in line ends only, as far as that was looked
            at (see `compare`).
        executable: Files that differ in the executable bit and in nothing else.
        metadata: Skills whose files are the same and whose entry differs: another version of
            this package read them otherwise.
        unlocked: What does not ship and came, went or changed.
        whole: Names of the lock's own fields that differ: `collection`; `digests` if the entries
            are the same and what is said to follow from them is not.
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
        """Tell whether there is any difference."""
        return any(paths for _, paths in self.kinds())

    def kinds(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Give each kind of change with its paths, empty ones too."""
        for field in fields(self):
            yield field.name, getattr(self, field.name)

    @property
    def only_line_ends(self) -> bool:
        """Whether locked files differ in line ends alone: the mark of a checkout that converts.

        Such a checkout converts what does not ship too, so that may differ beside them.
        """
        return are_line_ends_alone({kind for kind, paths in self.kinds() if paths})


def are_line_ends_alone(kinds: AbstractSet[str]) -> bool:
    """Tell whether changes of these kinds are those of a checkout that converts line ends."""
    return "line_ends" in kinds and kinds <= {"line_ends", "metadata", "unlocked"}


def differ_in_junk_only(old: CatalogLock, new: CatalogLock) -> bool:
    """Tell whether two locks are equal but for by-products that git holds, and what follows.

    Whether git tracks a `__pycache__` says nothing of what ships, so neither lock is stale then.
    """
    return _without_junk(old).to_bytes() == _without_junk(new).to_bytes()


def _without_junk(lock: CatalogLock) -> CatalogLock:
    kept = tuple(entry for entry in lock.unlocked if not is_junk(entry.path))
    digests = lock.digests.model_copy(update={"git_tree": "0" * 40})
    return lock.model_copy(update={"unlocked": kept, "digests": digests})


def contents(result: ScanResult) -> dict[str, bytes]:
    """Give the bytes of every file a scan read, by path below the skills folder."""
    return {
        f"{skill.path}/{file.path}": file.data for skill in result.skills for file in skill.files
    }


def compare(
    old: CatalogLock, new: CatalogLock, contents: Mapping[str, bytes] | None = None
) -> Changes:
    """Compare two locks.

    Args:
        old: The lock that is there.
        new: The one the skills give now.
        contents: Bytes of the new one's files by path, to tell changes of line ends from others;
            without them no change counts as one of line ends.
    """
    before, after = old.files(), new.files()
    both = sorted(before.keys() & after.keys(), key=str.encode)
    changed = [path for path in both if before[path].sha256 != after[path].sha256]
    line_ends = {
        path
        for path in changed
        if contents is not None and path in contents and _is_twin(before[path], contents[path])
    }
    found = Changes(
        added=tuple(sorted(after.keys() - before.keys(), key=str.encode)),
        removed=tuple(sorted(before.keys() - after.keys(), key=str.encode)),
        changed=tuple(path for path in changed if path not in line_ends),
        line_ends=tuple(path for path in changed if path in line_ends),
        executable=tuple(path for path in both if _is_mode_change(before[path], after[path])),
        metadata=tuple(_metadata(old, new)),
        unlocked=tuple(_unlocked(old, new)),
        whole=() if old.collection == new.collection else ("collection",),
    )
    # Digests follow from the rest, so they are worth a word only where nothing else differs.
    return found if found or old == new else Changes(whole=("digests",))


def _is_twin(locked: LockedFile, data: bytes) -> bool:
    """Tell whether a file is the locked one with its line ends converted, one way or the other."""
    unix = data.replace(b"\r\n", b"\n")
    return locked.sha256 in {sha256_hex(unix), sha256_hex(unix.replace(b"\n", b"\r\n"))}


def _is_mode_change(old: LockedFile, new: LockedFile) -> bool:
    return old.sha256 == new.sha256 and old.executable != new.executable


def _metadata(old: CatalogLock, new: CatalogLock) -> Iterator[str]:
    before = {skill.path: skill for skill in old.skills}
    for skill in new.skills:
        other = before.get(skill.path)
        if other is not None and _head(other) != _head(skill) and other.files == skill.files:
            yield skill.path


def _head(skill: LockedSkill) -> bytes:
    """Render what is not a file: for Python 1, 1.0 and True are equal, in a lock they are not."""
    return strict_json.compact(skill.model_dump(mode="json", exclude={"files"}))


def _unlocked(old: CatalogLock, new: CatalogLock) -> list[str]:
    before, after = set(old.unlocked), set(new.unlocked)
    return sorted({row.path for row in before ^ after}, key=str.encode)


def stale_error(changes: Changes) -> StaleLockError:
    """Say what is stale, every path of it, and what mends it.

    Args:
        changes: Not empty.
    """
    summary = (
        f"{LOCK_FILE_NAME} is not what the skills give now. "
        f"Run `{MENDING_COMMAND}` and commit what it writes."
    )
    if changes.only_line_ends:
        summary = (
            f"Locked files differ from {LOCK_FILE_NAME} in line ends only: git converted them. Put "
            "`skills/** -text` (with your skills folder) and `catalog.lock.json -text` into "
            ".gitattributes and check the files out again; or, if the new line ends are meant, "
            f"run `{MENDING_COMMAND}`."
        )
    return StaleLockError(
        summary,
        tuple(
            Problem(code=kind, message=_SENTENCES[kind], path=path)
            for kind, paths in changes.kinds()
            for path in paths
        ),
    )

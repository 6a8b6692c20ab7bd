"""Record: a skill as found on disk, its diagnostics, and what a scan has to know about its files."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Final, Protocol

from skills_bundle.formats.digest import TreeEntry

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pydantic import JsonValue

SKILL_MD: Final = "SKILL.md"
"""The file that makes a folder a skill, in exactly these letters."""
LOCK_FILE_NAME: Final = "catalog.lock.json"
"""The lock's file name; at the top of a skills folder the lock does not lock itself."""


class Level(StrEnum):
    """What a diagnostic means for the skill."""

    REFUSE = "refuse"
    """The skill cannot be locked."""
    WARN = "warn"
    """The skill is locked and the code is kept in the lock; `--strict` refuses it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostic:
    """One problem of a skill folder.

    Attributes:
        code: Stable identifier from `skills.codes.CODES`.
        level: Refuse or warn.
        message: The cause and what to do, in one sentence.
        path: File below the skills folder, `/` between components.
        line: Line in that file, from 1, when there is one.
    """

    code: str
    level: Level
    message: str
    path: str
    line: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillFile:
    """A regular file of a skill, read once.

    Attributes:
        path: Below the skill's folder, `/` between components, NFC as found on disk.
        data: The bytes.
        executable: See `FileFacts.executable`.
    """

    path: str
    data: bytes = field(repr=False)
    executable: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Skill:
    """A skill folder that may be locked.

    Attributes:
        name: The frontmatter's `name`.
        path: The skill's folder below the skills folder, `/` between components; may be nested.
        description: The frontmatter's `description`, as the author wrote it.
        frontmatter: Every field, typed by YAML 1.2's core schema, in the author's order.
        tags: De-duplicated, sorted.
        diagnostics: Warnings only; sorted.
        files: Sorted by the UTF-8 bytes of the path; SKILL.md is one of them.
        parse_mode: `strict`, or `repaired` if a plain value had to be quoted to be read.
    """

    name: str
    path: str
    description: str
    frontmatter: dict[str, JsonValue]
    tags: tuple[str, ...]
    diagnostics: tuple[Diagnostic, ...]
    files: tuple[SkillFile, ...]
    parse_mode: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedSkill:
    """A skill folder that may not be locked, with every reason.

    Attributes:
        path: The folder below the skills folder; `.` if it is the skills folder itself.
        diagnostics: At least one of level refuse (or, under `--strict`, warn).
    """

    path: str
    diagnostics: tuple[Diagnostic, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanResult:
    """Everything below one skills folder: found = len(skills) + len(refused).

    Attributes:
        skills: Sorted by the UTF-8 bytes of the path.
        refused: Likewise.
        excluded: Paths of skill folders that the settings leave out.
        without_skill_md: Top-level folders that hold files but no SKILL.md anywhere below.
        ignored: Folders that would be skills if git did not ignore them, as far as that shows
            without looking into ignored folders further than one level.
        unlocked: The files that git holds (without git: the disk, except junk) besides the locked
            ones; sorted by path bytes.
        problems: Diagnostics about entries outside every skill, sorted. One of level refuse means that
            the scan did not see everything, so nothing may be locked.
    """

    skills: tuple[Skill, ...]
    refused: tuple[RefusedSkill, ...]
    excluded: tuple[str, ...]
    without_skill_md: tuple[str, ...]
    unlocked: tuple[TreeEntry, ...]
    ignored: tuple[str, ...] = ()
    problems: tuple[Diagnostic, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether a lock may be made: no skill is refused and the scan saw everything."""
        return not self.refused and all(row.level is Level.WARN for row in self.problems)

    @property
    def found(self) -> int:
        """Number of skill folders found, excluded ones aside."""
        return len(self.skills) + len(self.refused)


class _Executable(Protocol):
    @property
    def executable(self) -> bool: ...


class _Unlocked(Protocol):
    @property
    def path(self) -> str: ...
    @property
    def mode(self) -> str: ...
    @property
    def oid(self) -> str: ...


class OldLock(Protocol):
    """The part of an existing lock that a scan without git uses."""

    @property
    def unlocked(self) -> Sequence[_Unlocked]:
        """Files that git held besides the locked ones."""
        ...

    def files(self) -> Mapping[str, _Executable]:
        """Return the locked files by their path below the skills folder."""
        ...


class FileFacts:
    """What a scan has to know about files besides their bytes.

    This class knows the disk and an old lock, if there is one; a subclass knows git. Every path is
    below the skills folder, `/` between components.

    Args:
        old_lock: Decides about x bits, which archives and mounts lose, and about `unlocked`,
            which an sdist does not ship.
    """

    def __init__(self, old_lock: OldLock | None = None) -> None:
        """Keep the lock."""
        self._old_lock = old_lock
        self._locked: Mapping[str, _Executable] = {} if old_lock is None else old_lock.files()

    def mode(self, path: str) -> str | None:
        """Return the git mode that the index records for a path, else None."""
        del path

    def ignored(self, path: str) -> bool:
        """Return whether git ignores a file or folder.

        What git tracks never counts as ignored, nor does a folder that holds a tracked file.
        """
        del path
        return False

    def untracked(self, path: str) -> bool:
        """Return whether there is git, and it neither tracks nor ignores a path."""
        del path
        return False

    def keeps_spelling(self, raw: str, path: str) -> bool:
        """Return whether git holds, or would add, a path as the disk spells it.

        Args:
            raw: The path as the disk spells it.
            path: The path in NFC.
        """
        del path
        return self.mode(raw) is not None

    def converts_line_ends(self, path: str, data: bytes) -> bool:
        """Return whether git holds, or would add, a file with LF that has CRLF on disk.

        Args:
            path: As the disk spells it.
            data: The file's bytes.
        """
        del path, data
        return False

    def nested_repository(self, path: str) -> bool:
        """Return whether a folder is a git repository of its own, whose files git would not add."""
        del path
        return False

    def not_checked_out(self) -> tuple[str, ...]:
        """Return every tracked file that is not checked out, as in a sparse checkout."""
        return ()

    def submodules(self) -> tuple[TreeEntry, ...]:
        """Return the submodules below the skills folder."""
        return ()

    def unlocked(self) -> tuple[TreeEntry, ...] | None:
        """Return the files that do not ship, if known from elsewhere than the disk; else None.

        An sdist holds the locked files only; the lock in it names what git held besides them.
        """
        if self._old_lock is None:
            return None
        return tuple(TreeEntry(row.path, row.mode, row.oid) for row in self._old_lock.unlocked)

    def executable(self, path: str, *, on_disk: bool) -> bool:
        """Return the x bit from git's index, else from the old lock, else from the disk."""
        return self._locked[path].executable if path in self._locked else on_disk

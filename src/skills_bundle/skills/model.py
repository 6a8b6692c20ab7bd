"""Record: a skill as found on disk, and what there is to say about it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from pydantic import JsonValue

    from skills_bundle.formats.digest import TreeEntry

SKILL_MD: Final = "SKILL.md"
"""The file that makes a folder a skill, in exactly these letters."""
LOCK_FILE_NAME: Final = "catalog.lock.json"
"""The lock's file name; at the top of a skills folder it is no part of what it locks."""


class Level(StrEnum):
    """How much a diagnostic weighs."""

    REFUSE = "refuse"
    """The skill cannot be locked."""
    WARN = "warn"
    """The skill is locked and the code is kept in the lock; `--strict` refuses it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostic:
    """One finding about a skill folder.

    Attributes:
        code: Stable identifier from `skills.rules.CODES`.
        level: What it means for the skill.
        message: The true cause and what to do, one sentence.
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
        executable: What git recorded; see `FileFacts`.
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
        parse_mode: `strict`, or `repaired` when the frontmatter had to be mended to be read.
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
        unlocked: What git holds (without git: what the disk holds, junk aside) besides the locked
            files; sorted by path bytes.
        problems: Findings about what belongs to no skill, sorted. One of level refuse means that
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
        """Tell whether a lock may be made: no skill is refused and nothing was left unseen."""
        return not self.refused and all(row.level is Level.WARN for row in self.problems)

    @property
    def found(self) -> int:
        """Number of skill folders found, excluded ones aside."""
        return len(self.skills) + len(self.refused)


class FileFacts(Protocol):
    """What a scan must know of a folder besides its bytes; git's view of it, if there is one.

    Every path is below the skills folder, `/` between components.
    """

    def mode(self, path: str) -> str | None:
        """Give the git mode recorded for a tracked path (the index), else None."""
        ...

    def ignored(self, path: str) -> bool:
        """Tell whether git ignores a file or folder.

        What git tracks never counts as ignored, nor does a folder that holds a tracked file.
        """
        ...

    def untracked(self, path: str) -> bool:
        """Tell whether there is a git that neither tracks a path nor ignores it."""
        del path
        return False

    def nested_repository(self, path: str) -> bool:
        """Tell whether a folder is a repository of its own, whose files git would not add."""
        del path
        return False

    def not_checked_out(self) -> tuple[str, ...]:
        """Give every tracked file that git was told to keep away from the disk."""
        return ()

    def submodules(self) -> tuple[TreeEntry, ...]:
        """Give the submodules below the skills folder."""
        ...

    def unlocked(self) -> tuple[TreeEntry, ...] | None:
        """Give what does not ship where that is known better than the disk knows it, else None.

        An sdist ships the locked files alone; what git held besides them stands in its lock.
        """
        return None

    def executable(self, path: str, *, on_disk: bool) -> bool:
        """Tell whether the file is executable: git's index, else the old lock, else the disk."""
        ...

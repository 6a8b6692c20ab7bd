"""Record: a wheel or sdist as it was read, its members, and the problems found while reading."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal, TypeAlias

from skills_bundle.archives import limits
from skills_bundle.errors import Problem, UnsafeArchiveError
from skills_bundle.files.names import shown
from skills_bundle.files.tree import FileEntry, FileTree

if TYPE_CHECKING:
    from collections.abc import Mapping

ArchiveKind: TypeAlias = Literal["wheel", "sdist"]
Compression: TypeAlias = Literal["stored", "deflated"]


@dataclass(frozen=True, slots=True)
class Member:
    """A regular file of an archive.

    Attributes:
        data: The bytes.
        executable: Whether it is written with mode 0755 or 0644; other mode bits are not kept.
    """

    data: bytes = field(repr=False)
    executable: bool = False

    @property
    def permissions(self) -> int:
        """The mode the build writes: 0o755 or 0o644."""
        return 0o755 if self.executable else 0o644


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """How an archive stores one file or folder.

    Attributes:
        path: As the archive spells it, including an sdist's top folder; folders end in a slash.
        facts: What the archive records besides the bytes (mode, date, compression, ...), by name,
            as text for people. Comparisons print them; no check depends on them.
    """

    path: str
    facts: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Archive:
    """A wheel or sdist that every tool reads the same way.

    Attributes:
        kind: `wheel` or `sdist`.
        file_name: Without folders.
        sha256: Digest of the archive file.
        size: Size of the archive file, in bytes.
        top: The top folder of an sdist; "" for a wheel.
        members: Regular files by path below `top`, sorted by the bytes of the path.
        entries: Everything the archive lists, in its order.
        wrapping: Facts about the archive as a whole, by name, like `Entry.facts`.
        canonical: `yes` if the bytes are those that `canonical` writes for these members, `partly`
            if this holds for only some of the members, as when a finished archive was edited.
    """

    kind: ArchiveKind
    file_name: str
    sha256: str
    size: int
    top: str
    members: Mapping[str, Member]
    entries: tuple[Entry, ...] = ()
    wrapping: Mapping[str, str] = field(default_factory=dict[str, str])
    canonical: Literal["yes", "no", "partly"] = "no"

    @cached_property
    def files(self) -> FileTree:
        """The members as a tree of files."""
        entries = {
            path: FileEntry.of(member.data, executable=member.executable)
            for path, member in self.members.items()
        }
        return FileTree(entries, lambda path: self.members[path].data)

    def read(self, path: str) -> bytes | None:
        """Return the bytes of a member; None if there is no such member."""
        member = self.members.get(path)
        return None if member is None else member.data


class Findings:
    """Collects the problems of an archive, up to a limit, in the order they are found.

    Args:
        file_name: The archive's, without folders.
    """

    def __init__(self, file_name: str) -> None:
        """Start with no problems."""
        self.file_name = file_name
        self._problems: list[Problem] = []
        self._omitted = 0

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The problems found so far, up to the limit."""
        return tuple(self._problems)

    def add(self, code: str, message: str, member: str | None = None) -> None:
        """Add a problem of one member, or of the archive as a whole."""
        if len(self._problems) >= limits.ARCHIVE_MAX_PROBLEMS:
            self._omitted += 1
            return
        place = self.file_name if member is None else shown(member)
        self._problems.append(Problem(code=code, message=message, path=place))

    def refuse(self) -> None:
        """Raise `UnsafeArchiveError` with every problem found so far, if there are any."""
        if not self._problems:
            return
        problems = self.problems
        if self._omitted:
            message = f"and {self._omitted} more"
            problems += (Problem(code="more_problems", message=message, path=self.file_name),)
        raise UnsafeArchiveError(self.file_name, problems)

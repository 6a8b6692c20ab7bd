"""Record: one side of a comparison, whatever it is, and what a comparison found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from skills_bundle.bundle.document_report import ProblemRow
from skills_bundle.formats.record import Record
from skills_bundle.supply_chain.diff.archives import ArchiveDiff, Change, MemberDifference

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skills_bundle.archives.model import Archive
    from skills_bundle.bundle.lock import CatalogLock
    from skills_bundle.bundle.receipt import BuildReceipt
    from skills_bundle.errors import Problem

SideKind: TypeAlias = Literal["lock", "wheel", "sdist", "installation", "project", "folder"]
"""`project`: a folder with a lock at its top: a source checkout, or exported skills."""

Ground: TypeAlias = Literal["archive", "distribution", "skills", "files"]
"""What two sides have in common, and is compared.

`archive`: everything two wheels or two sdists hold, and how they keep it. `distribution`: what a
wheel installs. `skills`: the skills, by their path below the skills folder. `files`: all files.
"""

DiffVerdict: TypeAlias = Literal["same", "different", "cannot_tell"]


@dataclass(frozen=True, slots=True)
class Item:
    """One file of a side.

    Attributes:
        size: In bytes.
        sha256: Digest of the bytes.
        executable: None where that says nothing, as on an installation's disk.
        data: The bytes; None for a lock, which has only their digest.
    """

    size: int
    sha256: str
    executable: bool | None
    data: bytes | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One of two things that are compared.

    Attributes:
        kind: What it is.
        place: As it was named.
        files: Everything that it holds, by path; of a wheel and an installation relative to the
            folder that holds the package.
        skills: The skills by path below the skills folder; None if nobody says which those are.
        lock: Its lock, if it has one that can be read.
        receipt: Its build receipt, likewise.
        archive: The wheel or sdist.
        metadata: Path of the core metadata among the files, "" if there is none.
        unread: What could not be read.
    """

    kind: SideKind
    place: str
    files: Mapping[str, Item] = field(default_factory=dict[str, Item])
    skills: Mapping[str, Item] | None = None
    lock: CatalogLock | None = None
    receipt: BuildReceipt | None = None
    archive: Archive | None = None
    metadata: str = ""
    unread: tuple[Problem, ...] = ()


class SideReport(Record):
    """What was compared: its kind, and where it is."""

    kind: SideKind
    place: str


class TextDifference(Record):
    """The lines in which a file differs, as a unified diff.

    Attributes:
        path: Of the file.
        lines: Without line feeds.
        cut: Whether there are more.
    """

    path: str
    lines: tuple[str, ...]
    cut: bool


class Difference(Record):
    """How two things differ.

    Attributes:
        verdict: `different` also if they hold the same and keep it differently. `cannot_tell` if
            nothing differs as far as it could be read, and something could not.
        exit_code: 0, 1 or 3.
        before: The first.
        after: The second.
        compared: What they have in common.
        same_content: Whether they hold the same files, as far as these could be read.
        skills_added: Paths of skills that only the second has.
        skills_removed: Paths of skills that only the first has.
        skills_changed: Paths of skills that both have differently.
        files: What differs, file by file.
        lock: Named facts of both locks that differ; empty if one has none.
        receipt: Likewise of the build receipts.
        metadata: Likewise of core metadata and of WHEEL.
        packing: How two archives keep their files; null if they are not both wheels or sdists.
        texts: Unified diffs of text files.
        unread: What could not be read.
    """

    verdict: DiffVerdict
    exit_code: Literal[0, 1, 3]
    before: SideReport
    after: SideReport
    compared: Ground
    same_content: bool
    skills_added: tuple[str, ...]
    skills_removed: tuple[str, ...]
    skills_changed: tuple[str, ...]
    files: tuple[MemberDifference, ...]
    lock: tuple[Change, ...]
    receipt: tuple[Change, ...]
    metadata: tuple[Change, ...]
    packing: ArchiveDiff | None
    texts: tuple[TextDifference, ...]
    unread: tuple[ProblemRow, ...]

    def to_dict(self) -> dict[str, Any]:
        """Give everything as a JSON object."""
        return self.model_dump(mode="json")

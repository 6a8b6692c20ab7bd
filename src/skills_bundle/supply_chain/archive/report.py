"""Record: what `verify-wheel` and `verify-sdist` found."""

from __future__ import annotations

from typing import Any, Literal

from skills_bundle.archives.model import ArchiveKind
from skills_bundle.bundle.document_report import DocumentReport, ProblemRow
from skills_bundle.bundle.file_rows import FileRow
from skills_bundle.bundle.proof_report import ProofReport
from skills_bundle.bundle.provenance import Provenance
from skills_bundle.bundle.sbom import SbomState
from skills_bundle.bundle.verify import Verdict
from skills_bundle.formats.record import Record

Form = Literal["canonical", "other", "partly"]
"""How the archive keeps its members.

`canonical`: as the build writes it, bit for bit. `other`: as another tool packs; nobody vouches for
modes, dates and order. `partly`: some members as the build writes them and some not, as after a
change to a finished archive.
"""


class ArchiveVerification(Record):
    """What there is to say about a wheel or sdist.

    Attributes:
        verdict: `match`: every byte is the one that was locked and recorded. `differs`: something
            is not, or is there and nobody lists it. `cannot_tell`: lock or receipt are absent or
            unreadable.
        exit_code: 0, 1 or 3, in that order.
        kind: `wheel` or `sdist`.
        file_name: Without folders.
        sha256: Digest of the file: what an index and a lock file of an installer name.
        size: Of the file, in bytes.
        form: How it keeps its members; see `Form`.
        package_name: Normalised name of the distribution.
        package_version: Its version.
        lock: What became of the lock.
        receipt: What became of the build receipt.
        record: What became of RECORD; null for an sdist, which has none.
        sbom: Whether the bill of materials is what lock and receipt give; see `sbom.SbomState`.
        provenance: What answers would carry; null when the lock cannot be believed.
        proof: What the receipt's proof shows of these bytes.
        gaps: Every evidence gap.
        notes: A sentence for each gap.
        problems: What is wrong with the archive besides its files.
        counts: Number of files in each state.
        files: One row a file, sorted by path; below the top folder for an sdist.
    """

    verdict: Verdict
    exit_code: Literal[0, 1, 3]
    kind: ArchiveKind
    file_name: str
    sha256: str
    size: int
    form: Form
    package_name: str
    package_version: str
    lock: DocumentReport
    receipt: DocumentReport
    record: DocumentReport | None
    sbom: SbomState
    provenance: Provenance | None
    proof: ProofReport
    gaps: tuple[str, ...]
    notes: tuple[str, ...]
    problems: tuple[ProblemRow, ...]
    counts: dict[str, int]
    files: tuple[FileRow, ...]

    @property
    def differences(self) -> tuple[FileRow, ...]:
        """The files that somebody has something against."""
        return tuple(row for row in self.files if not row.is_fine)

    def to_dict(self) -> dict[str, Any]:
        """Give everything as a JSON object."""
        return self.model_dump(mode="json")

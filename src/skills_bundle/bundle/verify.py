"""Decision: is an installation what was locked and recorded? One verdict, and what led to it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal

from skills_bundle.bundle import documents, file_rows, proof_report, provenance, sbom, trees
from skills_bundle.bundle.document_report import DocumentReport, report_of
from skills_bundle.bundle.documents import Document, DocumentState
from skills_bundle.bundle.file_rows import FileRow
from skills_bundle.bundle.proof_report import ProofReport
from skills_bundle.bundle.provenance import Provenance
from skills_bundle.bundle.sbom import SbomState
from skills_bundle.errors import Problem
from skills_bundle.formats.metadata_files import RECORD_FILE_NAME
from skills_bundle.formats.record import Record

if TYPE_CHECKING:
    from skills_bundle.bundle.documents import Identity
    from skills_bundle.bundle.file_rows import Holdings
    from skills_bundle.bundle.lock import CatalogLock
    from skills_bundle.bundle.receipt import BuildReceipt
    from skills_bundle.errors import UnsafeFileError
    from skills_bundle.formats.metadata_files import RecordFile

Layout = Literal["installed", "linked", "source"]
"""How the package got where it runs from: files, links to files, or its own source."""

Verdict = Literal["match", "differs", "cannot_tell"]

_VERDICT_OF_RECORD: Final[dict[DocumentState, Verdict]] = {"missing": "match", "invalid": "differs"}
"""Where RECORD, which is a second opinion, counts less than a lock, or a fault in it more."""

EXIT_CODES: Final[dict[Verdict, Literal[0, 1, 3]]] = {"match": 0, "differs": 1, "cannot_tell": 3}
"""What `skills-bundle verify` exits with."""

VERDICT_OF_STATE: Final[dict[DocumentState, Verdict]] = {
    "ok": "match",
    "missing": "cannot_tell",
    "unreadable": "cannot_tell",
    "invalid": "cannot_tell",
    "linked": "differs",
    "not_regular": "differs",
    "altered": "differs",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Everything an edge found out about an installation.

    Attributes:
        location: The package's folder; shown to people, compared with nothing.
        layout: How it got there.
        identity: Name and version.
        lock: The lock, already compared with RECORD and receipt.
        receipt: The receipt, likewise.
        record: RECORD, or None.
        record_refused: Why RECORD was not read, if it is there.
        unlisted: Which of lock, receipt and METADATA are there though RECORD does not list them.
        sbom: Bytes of the bill of materials; None if there is none, or none was looked for.
        holdings: What lies in the package's folder.
    """

    location: str
    layout: Layout
    identity: Identity
    lock: Document[CatalogLock]
    receipt: Document[BuildReceipt]
    record: RecordFile | None
    holdings: Holdings
    record_refused: UnsafeFileError | None = None
    unlisted: tuple[str, ...] = ()
    sbom: bytes | None = None


class Verification(Record):
    """What there is to say about an installation.

    Attributes:
        verdict: `match`: every byte that is served is the one that was locked. `differs`: something
            that lock or RECORD list changed, is missing or became a link, or there are extra files.
            `cannot_tell`: lock or receipt are absent or unreadable, something else cannot be read
            or listed, or the package is not a plain installation.
        exit_code: 0, 1 or 3, in that order.
        location: The package's folder.
        layout: `installed`, `linked` or `source`.
        package_name: Normalised name of the distribution.
        package_version: Its version.
        lock: What became of the lock.
        receipt: What became of the build receipt.
        record: What became of RECORD.
        sbom: Whether the bill of materials is what lock and receipt give; see `sbom.SbomState`.
        provenance: What answers carry; null when the lock cannot be believed.
        proof: What the receipt's proof shows of these bytes.
        gaps: Every evidence gap.
        notes: A sentence for each gap.
        counts: Number of files in each state.
        files: One row a file, sorted by path.
    """

    verdict: Verdict
    exit_code: Literal[0, 1, 3]
    location: str
    layout: Layout
    package_name: str
    package_version: str
    lock: DocumentReport
    receipt: DocumentReport
    record: DocumentReport
    sbom: SbomState
    provenance: Provenance | None
    proof: ProofReport
    gaps: tuple[str, ...]
    notes: tuple[str, ...]
    counts: dict[str, int]
    files: tuple[FileRow, ...]

    @property
    def differences(self) -> tuple[FileRow, ...]:
        """The files that somebody has something against."""
        return tuple(row for row in self.files if not row.is_fine)

    def to_dict(self) -> dict[str, Any]:
        """Give everything as a JSON object."""
        return self.model_dump(mode="json")


def verify(evidence: Evidence) -> Verification:
    """Reach a verdict. What is wrong outweighs what cannot be told, and that what matches."""
    rows = _rows(evidence)
    blobs = _blobs(evidence, rows)
    evidence = _with_trees_checked(evidence, blobs)
    record = _record_report(evidence)
    bill = sbom.state(evidence.sbom, evidence.lock.believed, evidence.receipt.believed)
    verdict = _verdict(evidence, rows, record, bill)
    gaps = provenance.ordered(_gaps(evidence, rows, record))
    block = _provenance(evidence, gaps)
    gaps = gaps if block is None else block.gaps
    compared = blobs is not None and evidence.lock.believed is not None
    return Verification(
        verdict=verdict,
        exit_code=EXIT_CODES[verdict],
        location=evidence.location,
        layout=evidence.layout,
        package_name=evidence.identity.name,
        package_version=evidence.identity.version,
        lock=report_of(evidence.lock),
        receipt=report_of(evidence.receipt),
        record=record,
        sbom=bill,
        provenance=block,
        proof=proof_report.describe(evidence.receipt, compared=compared),
        gaps=gaps,
        notes=tuple(provenance.GAP_SENTENCES[gap] for gap in gaps),
        counts=dict(Counter(str(row.state) for row in rows)),
        files=rows,
    )


def _verdict(
    evidence: Evidence, rows: tuple[FileRow, ...], record: DocumentReport, bill: SbomState
) -> Verdict:
    verdicts = {
        VERDICT_OF_STATE[evidence.lock.state],
        VERDICT_OF_STATE[evidence.receipt.state],
        *(_verdict_of_row(row) for row in rows),
        "match" if evidence.layout == "installed" else "cannot_tell",
        _VERDICT_OF_RECORD.get(record.state, VERDICT_OF_STATE[record.state]),
        "differs" if bill == "differs" else "match",
    }
    if "differs" in verdicts:
        return "differs"
    return "cannot_tell" if "cannot_tell" in verdicts else "match"


def _verdict_of_row(row: FileRow) -> Verdict:
    if row.is_fine:
        return "match"
    return "cannot_tell" if row.state == "unreadable" else "differs"


def _with_trees_checked(evidence: Evidence, blobs: dict[str, str] | None) -> Evidence:
    """Compare the git trees that lock and receipt name with those of the files that were read."""
    lock = trees.check_trees(evidence.lock, blobs)
    receipt = trees.check_revision(evidence.receipt, lock, blobs)
    return replace(evidence, lock=lock, receipt=receipt)


def _rows(evidence: Evidence) -> tuple[FileRow, ...]:
    if evidence.layout == "source":  # the lock was made from these files: comparing shows nothing
        return ()
    return file_rows.compare(evidence.lock.value, evidence.record, evidence.holdings)


def _blobs(evidence: Evidence, rows: tuple[FileRow, ...]) -> dict[str, str] | None:
    """Give locked path to blob id, or None unless every locked file is the one locked."""
    lock, holdings = evidence.lock.value, evidence.holdings
    if lock is None or len(rows) < len(lock.files()):
        return None
    locked = _locked(evidence)
    if any(row.state != "ok" for row in rows if row.path in locked):
        return None
    seen = {path: holdings.seen.get(holdings.skills_prefix + path) for path in lock.files()}
    return {path: one.blob for path, one in seen.items() if one is not None and one.blob}


def _locked(evidence: Evidence) -> frozenset[str]:
    """Give the paths of the files that the lock lists, as rows spell them."""
    lock, prefix = evidence.lock.value, evidence.holdings.skills_prefix
    return frozenset() if lock is None else frozenset(prefix + path for path in lock.files())


def _gaps(evidence: Evidence, rows: tuple[FileRow, ...], record: DocumentReport) -> set[str]:
    if evidence.layout == "source":  # nothing was installed that could be missing
        return {"editable_install"}
    locked = _locked(evidence)
    unread = [row.path in locked for row in rows if row.state == "unreadable"]
    states = [
        (evidence.layout == "linked", "linked_install"),
        (evidence.receipt.state == "missing", "missing_receipt"),
        (evidence.receipt.state not in {"ok", "missing"}, "invalid_receipt"),
        (record.state == "missing", "record_absent"),
        (record.state not in {"ok", "missing", "invalid"}, "record_unreadable"),
        (any("lock" in row.contradicted_by for row in rows), "altered_files"),
        (True in unread, "unreadable_files"),
        (False in unread, "unseen_entries"),
        (
            record.state == "invalid" or any(row.contradicted_by == ("record",) for row in rows),
            "record_mismatch",
        ),
        (any(row.state == "extra" for row in rows), "extra_files"),
    ]
    return {gap for holds, gap in states if holds}


def _provenance(evidence: Evidence, gaps: tuple[str, ...]) -> Provenance | None:
    lock = evidence.lock
    if lock.believed is None or lock.sha256 is None:
        return None
    receipt = evidence.receipt
    return provenance.describe(
        provenance.Bundle(
            collection=lock.believed.collection,
            name=evidence.identity.name,
            version=evidence.identity.version,
            catalog_sha256=lock.sha256,
            receipt=receipt.believed,
            receipt_sha256=None if receipt.believed is None else receipt.sha256,
            gaps=frozenset(gaps),
        )
    )


def _record_report(evidence: Evidence) -> DocumentReport:
    record, refused = evidence.record, evidence.record_refused
    if refused is not None:
        return report_of(documents.refused(refused))
    problems = () if record is None else (*record.problems, *map(_escaped, evidence.unlisted))
    state: DocumentState = "missing" if record is None else "invalid" if problems else "ok"
    return report_of(Document(state=state, problems=problems))


def _escaped(path: str) -> Problem:
    """Name a file whose row is missing: without one it would escape the comparison with RECORD."""
    return Problem(code="record", message=f"does not list {path}", path=RECORD_FILE_NAME)

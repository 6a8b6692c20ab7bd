"""Decision: compare a wheel or sdist with its lock and its build receipt; one verdict.

It uses the documents and states of `bundle.verify`, which verifies an installation. Nothing of the
archive is unpacked to disk, and none of its code runs.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Literal

from skills_bundle.archives.model import ArchiveKind
from skills_bundle.bundle import documents, proof_report, provenance, sbom
from skills_bundle.bundle.documents import (
    VERDICT_OF_STATE,
    Document,
    DocumentReport,
    ProblemRow,
    problem_rows,
    report_of,
)
from skills_bundle.bundle.proof_report import ProofReport
from skills_bundle.bundle.provenance import Provenance
from skills_bundle.bundle.sbom import SbomState
from skills_bundle.bundle.verdict import EXIT_CODES, Report, worst
from skills_bundle.bundle.verification import FileRow, verdict_of_row
from skills_bundle.errors import Problem
from skills_bundle.files.tree import compare
from skills_bundle.supply_chain.archive.checks import compare_files, locked_files, name_problems

if TYPE_CHECKING:
    from skills_bundle.bundle.documents import DocumentState
    from skills_bundle.files.tree import FileEntry
    from skills_bundle.supply_chain.archive.contents import ArchiveContents

Form = Literal["canonical", "other", "partly"]
"""How the archive stores its members.

`canonical`: as the build writes it, byte for byte. `other`: as another tool packs it; modes, dates
and order are not covered by any digest. `partly`: only some members as the build writes them, as
when a finished archive was edited.
"""

FORMS: Final[dict[str, Form]] = {"yes": "canonical", "no": "other", "partly": "partly"}


class ArchiveVerification(Report):
    """The result of verifying a wheel or sdist.

    Attributes:
        verdict: `match`: every byte is as locked and recorded. `differs`: a file differs, is
            missing or is not listed. `cannot_tell`: lock or receipt are missing or unreadable.
        exit_code: 0, 1 or 3, in that order.
        kind: `wheel` or `sdist`.
        file_name: Without folders.
        sha256: Digest of the file, as indexes and installers' lock files list it.
        size: Size of the file, in bytes.
        form: How it stores its members; see `Form`.
        package_name: Normalised name of the distribution.
        package_version: Its version.
        lock: State of the lock.
        receipt: State of the build receipt.
        record: State of RECORD; null for an sdist, which has none.
        sbom: Whether the bill of materials follows from lock and receipt; see `sbom.SbomState`.
        provenance: What answers would state; null if the lock is not valid.
        proof: What the receipt's proof shows about these bytes.
        gaps: Every evidence gap.
        notes: A sentence for each gap.
        problems: Problems of the archive other than its files.
        counts: Number of files in each state.
        files: One row per file, sorted by path; below the top folder for an sdist.
    """

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
        """The files that differ or are not confirmed."""
        return tuple(row for row in self.files if not row.is_fine)


def verify(contents: ArchiveContents) -> ArchiveVerification:
    """Verify an archive.

    Args:
        contents: Of an archive that was read without problems.
    """
    locked = _locked_as_found(contents)
    lock = documents.check_trees(contents.lock, locked)
    receipt = documents.check_revision(contents.receipt, lock, locked)
    contents = replace(contents, lock=lock, receipt=receipt)
    rows = compare_files(contents)
    problems = _problems(contents, rows)
    bill = _sbom_state(contents)
    gaps = provenance.ordered(_gaps(contents, rows, problems))
    block = documents.provenance_of(lock, receipt, contents.identity, gaps)
    gaps = gaps if block is None else block.gaps
    verdict = worst(
        [
            *map(verdict_of_row, rows),
            VERDICT_OF_STATE[lock.state],
            VERDICT_OF_STATE[receipt.state],
            "differs" if problems or bill == "differs" else "match",
        ]
    )
    archive, identity = contents.archive, contents.identity
    is_compared = locked is not None and lock.believed is not None
    return ArchiveVerification(
        verdict=verdict,
        exit_code=EXIT_CODES[verdict],
        kind=archive.kind,
        file_name=archive.file_name,
        sha256=archive.sha256,
        size=archive.size,
        form=FORMS[archive.canonical],
        package_name=identity.name,
        package_version=identity.version,
        lock=report_of(lock),
        receipt=report_of(receipt),
        record=_record_report(contents),
        sbom=bill,
        provenance=block,
        proof=proof_report.describe(receipt, compared=is_compared),
        gaps=gaps,
        notes=tuple(provenance.GAP_SENTENCES[gap] for gap in gaps),
        problems=problem_rows(problems),
        counts=dict(Counter(str(row.state) for row in rows)),
        files=rows,
    )


def _locked_as_found(contents: ArchiveContents) -> dict[str, FileEntry] | None:
    """Return the locked files as the archive has them, or None if one differs from the lock."""
    lock, files = contents.lock.value, contents.archive.files
    locked = locked_files(contents)
    if lock is None or compare(locked, {path: files[path] for path in locked if path in files}):
        return None
    return {path: files[contents.skill_path(path)] for path in lock.files()}


def _problems(contents: ArchiveContents, rows: tuple[FileRow, ...]) -> tuple[Problem, ...]:
    problems = [*name_problems(contents)]
    archive = contents.archive
    if archive.canonical == "partly":
        message = "has only some members as the build writes them: it was edited after the build"
        problems.append(Problem(code="rewritten", message=message, path=archive.file_name))
    unconfirmed = {row.path for row in rows if row.state == "unconfirmed"} - contents.sdist_only
    if unconfirmed and archive.kind == "sdist" and contents.receipt.value is not None:
        message = f"does not have the recorded digest; {len(unconfirmed)} files are unconfirmed"
        problems.append(Problem(code="inputs", message=message, path="inputs.dir_hash"))
    return tuple(problems)


def _sbom_state(contents: ArchiveContents) -> SbomState:
    path = sbom.path(contents.dist_info, contents.identity.name)
    data = contents.archive.read(path) if contents.dist_info else None
    return sbom.state(data, contents.lock.believed, contents.receipt.believed)


def _gaps(
    contents: ArchiveContents, rows: tuple[FileRow, ...], problems: tuple[Problem, ...]
) -> set[str]:
    receipt, record = contents.receipt.state, contents.record
    by_record = any("record" in row.contradicted_by for row in rows)
    states = [
        (receipt == "missing", "missing_receipt"),
        (receipt not in {"ok", "missing"}, "invalid_receipt"),
        (contents.archive.kind == "wheel" and record is None, "record_absent"),
        (any("lock" in row.contradicted_by for row in rows), "altered_files"),
        (by_record or any(one.code == "record" for one in problems), "record_mismatch"),
        (any(row.state == "extra" for row in rows), "extra_files"),
    ]
    return {gap for holds, gap in states if holds}


def _record_report(contents: ArchiveContents) -> DocumentReport | None:
    if contents.archive.kind != "wheel":
        return None
    record = contents.record
    problems = () if record is None else record.problems
    state: DocumentState = "missing" if record is None else "invalid" if problems else "ok"
    return report_of(Document(state=state, problems=problems))

"""Decision: is a wheel or sdist what its lock and its build receipt say? One verdict.

The same documents, witnesses and words as for an installation (`bundle.verify`). Nothing of the
archive is unpacked to disk, and none of its code runs.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from skills_bundle.bundle import proof_report, provenance, sbom, trees
from skills_bundle.bundle.document_report import ProblemRow, report_of
from skills_bundle.bundle.documents import Document
from skills_bundle.bundle.verify import EXIT_CODES, VERDICT_OF_STATE
from skills_bundle.errors import Problem
from skills_bundle.formats.digest import git_object_id
from skills_bundle.supply_chain.archive import names as archive_names
from skills_bundle.supply_chain.archive import rows as archive_rows
from skills_bundle.supply_chain.archive.report import ArchiveVerification
from skills_bundle.supply_chain.archive.rows import is_locked

if TYPE_CHECKING:
    from skills_bundle.bundle.document_report import DocumentReport
    from skills_bundle.bundle.documents import DocumentState
    from skills_bundle.bundle.file_rows import FileRow
    from skills_bundle.bundle.provenance import Provenance
    from skills_bundle.bundle.sbom import SbomState
    from skills_bundle.bundle.verify import Verdict
    from skills_bundle.supply_chain.archive.contents import ArchiveContents
    from skills_bundle.supply_chain.archive.report import Form

FORMS: Final[dict[str, Form]] = {"yes": "canonical", "no": "other", "partly": "partly"}
REWRITTEN: Final = Problem(
    code="rewritten",
    message="keeps some members exactly as the build writes them and others not: something was "
    "changed after the build",
)


def verify(contents: ArchiveContents) -> ArchiveVerification:
    """Reach a verdict. What is wrong outweighs what cannot be told, and that what matches.

    Args:
        contents: From an archive in which no confusion was found.
    """
    blobs = _blobs(contents)
    lock = trees.check_trees(contents.lock, blobs)
    receipt = trees.check_revision(contents.receipt, lock, blobs)
    contents = replace(contents, lock=lock, receipt=receipt)
    rows = archive_rows.rows(contents)
    problems = _problems(contents, rows)
    bill = _bill(contents)
    gaps = provenance.ordered(_gaps(contents, rows, problems))
    block = _provenance(contents, gaps)
    gaps = gaps if block is None else block.gaps
    verdict = _verdict(contents, rows, problems, bill)
    archive, identity = contents.archive, contents.identity
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
        proof=proof_report.describe(
            receipt, compared=blobs is not None and lock.believed is not None
        ),
        gaps=gaps,
        notes=tuple(provenance.GAP_SENTENCES[gap] for gap in gaps),
        problems=tuple(
            ProblemRow(code=one.code, message=one.message, path=one.path, line=one.line)
            for one in problems
        ),
        counts=dict(Counter(str(row.state) for row in rows)),
        files=rows,
    )


def _problems(contents: ArchiveContents, rows: tuple[FileRow, ...]) -> tuple[Problem, ...]:
    found = [*archive_names.problems(contents)]
    if contents.archive.canonical == "partly":
        found.append(replace(REWRITTEN, path=contents.archive.file_name))
    open_rows = sum(row.state == "unconfirmed" and row.path not in contents.apart for row in rows)
    if open_rows and contents.archive.kind == "sdist" and contents.receipt.value is not None:
        message = f"do not have the digest in the receipt; {open_rows} files are unconfirmed"
        found.append(Problem(code="inputs", message=message, path="inputs.dir_hash"))
    return tuple(found)


def _blobs(contents: ArchiveContents) -> dict[str, str] | None:
    """Give locked path to blob id, or None unless every locked file is the one locked."""
    lock = contents.lock.value
    if lock is None:
        return None
    blobs: dict[str, str] = {}
    for path, locked in lock.files().items():
        member = contents.archive.members.get(contents.skill_path(path))
        if member is None or not is_locked(member, locked):
            return None
        blobs[path] = git_object_id("blob", member.data)
    return blobs


def _bill(contents: ArchiveContents) -> SbomState:
    path = sbom.path(contents.dist_info, contents.identity.name)
    member = contents.archive.members.get(path) if contents.dist_info else None
    found = None if member is None else member.data
    return sbom.state(found, contents.lock.believed, contents.receipt.believed)


def _verdict(
    contents: ArchiveContents,
    rows: tuple[FileRow, ...],
    problems: tuple[Problem, ...],
    bill: SbomState,
) -> Verdict:
    wrong = bool(problems) or bill == "differs"
    verdicts = {
        *(_verdict_of_row(row) for row in rows),
        VERDICT_OF_STATE[contents.lock.state],
        VERDICT_OF_STATE[contents.receipt.state],
        "differs" if wrong else "match",
    }
    if "differs" in verdicts:
        return "differs"
    return "cannot_tell" if "cannot_tell" in verdicts else "match"


def _verdict_of_row(row: FileRow) -> Verdict:
    if row.is_fine:
        return "match"
    return "cannot_tell" if row.state == "unconfirmed" else "differs"


def _gaps(
    contents: ArchiveContents, rows: tuple[FileRow, ...], problems: tuple[Problem, ...]
) -> set[str]:
    receipt, record = contents.receipt.state, contents.record
    by_record = any("record" in row.contradicted_by for row in rows)
    is_wheel = contents.archive.kind == "wheel"
    states = [
        (receipt == "missing", "missing_receipt"),
        (receipt not in {"ok", "missing"}, "invalid_receipt"),
        (is_wheel and record is None, "record_absent"),
        (any("lock" in row.contradicted_by for row in rows), "altered_files"),
        (by_record or any(one.code == "record" for one in problems), "record_mismatch"),
        (any(row.state == "extra" for row in rows), "extra_files"),
    ]
    return {gap for holds, gap in states if holds}


def _provenance(contents: ArchiveContents, gaps: tuple[str, ...]) -> Provenance | None:
    lock, receipt = contents.lock, contents.receipt
    if lock.believed is None or lock.sha256 is None:
        return None
    return provenance.describe(
        provenance.Bundle(
            collection=lock.believed.collection,
            name=contents.identity.name,
            version=contents.identity.version,
            catalog_sha256=lock.sha256,
            receipt=receipt.believed,
            receipt_sha256=None if receipt.believed is None else receipt.sha256,
            gaps=frozenset(gaps),
        )
    )


def _record_report(contents: ArchiveContents) -> DocumentReport | None:
    if contents.archive.kind != "wheel":
        return None
    record = contents.record
    problems = () if record is None else record.problems
    state: DocumentState = "missing" if record is None else "invalid" if problems else "ok"
    return report_of(Document(state=state, problems=problems))

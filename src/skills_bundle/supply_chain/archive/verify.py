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
    from skills_bundle.supply_chain.archive.carried import Carried
    from skills_bundle.supply_chain.archive.report import Form

FORMS: Final[dict[str, Form]] = {"yes": "canonical", "no": "other", "partly": "partly"}
REWRITTEN: Final = Problem(
    code="rewritten",
    message="keeps some members exactly as the build writes them and others not: something was "
    "changed after the build",
)


def verify(carried: Carried) -> ArchiveVerification:
    """Reach a verdict. What is wrong outweighs what cannot be told, and that what matches.

    Args:
        carried: From an archive in which no confusion was found.
    """
    blobs = _blobs(carried)
    lock = trees.check_trees(carried.lock, blobs)
    receipt = trees.check_revision(carried.receipt, lock, blobs)
    carried = replace(carried, lock=lock, receipt=receipt)
    rows = archive_rows.rows(carried)
    problems = _problems(carried, rows)
    bill = _bill(carried)
    gaps = provenance.ordered(_gaps(carried, rows, problems))
    block = _provenance(carried, gaps)
    gaps = gaps if block is None else block.gaps
    verdict = _verdict(carried, rows, problems, bill)
    archive, identity = carried.archive, carried.identity
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
        record=_record_report(carried),
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


def _problems(carried: Carried, rows: tuple[FileRow, ...]) -> tuple[Problem, ...]:
    found = [*archive_names.problems(carried)]
    if carried.archive.canonical == "partly":
        found.append(replace(REWRITTEN, path=carried.archive.file_name))
    open_rows = sum(row.state == "unconfirmed" and row.path not in carried.apart for row in rows)
    if open_rows and carried.archive.kind == "sdist" and carried.receipt.value is not None:
        message = f"do not have the digest in the receipt; {open_rows} files are unconfirmed"
        found.append(Problem(code="inputs", message=message, path="inputs.dir_hash"))
    return tuple(found)


def _blobs(carried: Carried) -> dict[str, str] | None:
    """Give locked path to blob id, or None unless every locked file is the one locked."""
    lock = carried.lock.value
    if lock is None:
        return None
    blobs: dict[str, str] = {}
    for path, locked in lock.files().items():
        member = carried.archive.members.get(carried.skill_path(path))
        if member is None or not is_locked(member, locked):
            return None
        blobs[path] = git_object_id("blob", member.data)
    return blobs


def _bill(carried: Carried) -> SbomState:
    path = sbom.path(carried.dist_info, carried.identity.name)
    member = carried.archive.members.get(path) if carried.dist_info else None
    found = None if member is None else member.data
    return sbom.state(found, carried.lock.believed, carried.receipt.believed)


def _verdict(
    carried: Carried, rows: tuple[FileRow, ...], problems: tuple[Problem, ...], bill: SbomState
) -> Verdict:
    wrong = bool(problems) or bill == "differs"
    verdicts = {
        *(_verdict_of_row(row) for row in rows),
        VERDICT_OF_STATE[carried.lock.state],
        VERDICT_OF_STATE[carried.receipt.state],
        "differs" if wrong else "match",
    }
    if "differs" in verdicts:
        return "differs"
    return "cannot_tell" if "cannot_tell" in verdicts else "match"


def _verdict_of_row(row: FileRow) -> Verdict:
    if row.is_fine:
        return "match"
    return "cannot_tell" if row.state == "unconfirmed" else "differs"


def _gaps(carried: Carried, rows: tuple[FileRow, ...], problems: tuple[Problem, ...]) -> set[str]:
    receipt, record = carried.receipt.state, carried.record
    by_record = any("record" in row.contradicted_by for row in rows)
    is_wheel = carried.archive.kind == "wheel"
    states = [
        (receipt == "missing", "missing_receipt"),
        (receipt not in {"ok", "missing"}, "invalid_receipt"),
        (is_wheel and record is None, "record_absent"),
        (any("lock" in row.contradicted_by for row in rows), "altered_files"),
        (by_record or any(one.code == "record" for one in problems), "record_mismatch"),
        (any(row.state == "extra" for row in rows), "extra_files"),
    ]
    return {gap for holds, gap in states if holds}


def _provenance(carried: Carried, gaps: tuple[str, ...]) -> Provenance | None:
    lock, receipt = carried.lock, carried.receipt
    if lock.believed is None or lock.sha256 is None:
        return None
    return provenance.describe(
        provenance.Bundle(
            collection=lock.believed.collection,
            name=carried.identity.name,
            version=carried.identity.version,
            catalog_sha256=lock.sha256,
            receipt=receipt.believed,
            receipt_sha256=None if receipt.believed is None else receipt.sha256,
            gaps=frozenset(gaps),
        )
    )


def _record_report(carried: Carried) -> DocumentReport | None:
    if carried.archive.kind != "wheel":
        return None
    record = carried.record
    problems = () if record is None else record.problems
    state: DocumentState = "missing" if record is None else "invalid" if problems else "ok"
    return report_of(Document(state=state, problems=problems))

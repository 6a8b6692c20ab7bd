"""Decision: is an installation what was locked and recorded? One row a file, one verdict.

The lock is the authority for what is served. RECORD is a second witness of that, and the only one
of the package's own code. Nothing here touches the disk.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, Literal

from skills_bundle.bundle import documents, proof_report, provenance, sbom
from skills_bundle.bundle.documents import (
    VERDICT_OF_STATE,
    Document,
    DocumentReport,
    DocumentState,
    report_of,
)
from skills_bundle.bundle.proof_report import ProofReport
from skills_bundle.bundle.provenance import Provenance
from skills_bundle.bundle.sbom import SbomState
from skills_bundle.bundle.verdict import EXIT_CODES, Report, worst
from skills_bundle.errors import Problem
from skills_bundle.files.tree import FileEntry, FileTree, compare, difference, path_bytes
from skills_bundle.formats.metadata_files import RECORD_FILE_NAME
from skills_bundle.formats.record import Record

if TYPE_CHECKING:
    from collections.abc import Container, Mapping

    from skills_bundle.bundle.documents import Identity
    from skills_bundle.bundle.lock import CatalogLock
    from skills_bundle.bundle.receipt import BuildReceipt
    from skills_bundle.bundle.verdict import Verdict
    from skills_bundle.errors import UnsafeFileError
    from skills_bundle.files.tree import DifferenceState, FileKind
    from skills_bundle.formats.metadata_files import RecordFile, RecordRow

Layout = Literal["installed", "linked", "source"]
"""How the package was installed: as files, as links to files, or it runs from its own source."""

FileState = Literal[
    "ok",
    "changed",
    "missing",
    "linked",
    "not_regular",
    "unreadable",
    "extra",
    "tolerated",
    "unconfirmed",
]
"""The state of one file.

`changed`: other bytes. `linked`: it, or a folder on the way, is a link. `not_regular`: a folder,
pipe, socket or device. `unreadable`: the system refuses to read it, or to list it if it is a
folder, so it may hold anything. `extra`: neither lock nor RECORD lists it.
`tolerated`: byte code that Python cached beside a listed `.py`; never served.
`unconfirmed`: in an archive only: no digest of it is known, or only one of many files together
that does not match.
"""

Witness = Literal["lock", "record", "receipt"]

_VERDICT_OF_RECORD: Final[dict[DocumentState, Verdict]] = {"missing": "match", "invalid": "differs"}
"""Where RECORD, a second witness, counts less than a lock, or a fault in it more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PackageFiles:
    """The files of an installed package; paths are relative to the folder that holds it.

    Attributes:
        package: The package's folder.
        bundle_prefix: Prefix of every path in the bundle.
        skills_prefix: Prefix of every locked path.
        documents: Paths of lock and receipt; they have reports of their own.
        metadata: The `.dist-info` folder, or None.
        read: The files that lock or RECORD list, as far as they were looked at.
        listed: Everything on disk that is not a folder, as far as folders were listed; a folder
            that could not be listed is `unreadable`.
    """

    package: str
    bundle_prefix: str = ""
    skills_prefix: str = ""
    documents: frozenset[str] = frozenset()
    metadata: str | None = None
    read: Mapping[str, FileEntry] = field(default_factory=dict[str, FileEntry])
    listed: Mapping[str, FileKind] = field(default_factory=dict[str, "FileKind"])


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallationFacts:
    """Everything that was read of an installation.

    Attributes:
        location: The package's folder, for people only.
        layout: How it was installed.
        identity: Name and version.
        lock: The lock, already compared with RECORD and receipt.
        receipt: The receipt, likewise.
        record: RECORD, or None.
        record_refused: Why RECORD was not read, if it is there.
        unlisted: Which of lock, receipt and METADATA are there though RECORD does not list them.
        sbom: Bytes of the bill of materials; None if there is none, or if it was not looked for.
        files: The package's files.
        metadata_problems: Why METADATA is not that of the distribution its folder names.
        leftovers: Names of `.dist-info` folders of other versions, which were not used.
    """

    location: str
    layout: Layout
    identity: Identity
    lock: Document[CatalogLock]
    receipt: Document[BuildReceipt]
    record: RecordFile | None
    files: PackageFiles
    record_refused: UnsafeFileError | None = None
    unlisted: tuple[str, ...] = ()
    sbom: bytes | None = None
    metadata_problems: tuple[Problem, ...] = ()
    leftovers: tuple[str, ...] = ()


class FileRow(Record):
    """One file of a package or archive.

    Attributes:
        path: As RECORD spells it: relative to the folder that holds the package.
        state: By the lock if it lists the file, else by RECORD.
        contradicted_by: Which witnesses list something else. A file that only RECORD contradicts
            is served: the lock is the authority.
        expected_size: In bytes, null when unknown.
        expected_sha256: Likewise.
        found_size: Null when nothing lies there.
        found_sha256: Null when it was not read.
    """

    path: str
    state: FileState
    contradicted_by: tuple[Witness, ...]
    expected_size: int | None
    expected_sha256: str | None
    found_size: int | None
    found_sha256: str | None

    @property
    def is_fine(self) -> bool:
        """Whether the file is as expected and no witness contradicts it."""
        return self.state in {"ok", "tolerated"} and not self.contradicted_by


class Verification(Report):
    """The result of verifying an installation.

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
        lock: State of the lock.
        receipt: State of the build receipt.
        record: State of RECORD.
        sbom: Whether the bill of materials follows from lock and receipt; see `sbom.SbomState`.
        provenance: What answers state; null when the lock cannot be believed.
        proof: What the receipt's proof shows about these bytes.
        gaps: Every evidence gap.
        notes: A sentence for each gap, and for each metadata folder that another version left.
        counts: Number of files in each state.
        files: One row a file, sorted by path.
    """

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
        """The files that differ, or that a witness contradicts."""
        return tuple(row for row in self.files if not row.is_fine)


def verify(facts: InstallationFacts) -> Verification:
    """Compare an installation with lock and RECORD, and reach a verdict."""
    rows: tuple[FileRow, ...] = ()
    if facts.layout != "source":  # there the lock was made from these files
        rows = compare_files(facts.lock.value, facts.record, facts.files)
    files = _locked_files(facts, rows)
    lock = documents.check_trees(facts.lock, files)
    receipt = documents.check_revision(facts.receipt, lock, files)
    facts = replace(facts, lock=lock, receipt=receipt)
    record = _record_report(facts)
    bill = sbom.state(facts.sbom, lock.believed, receipt.believed)
    verdict = _verdict(facts, rows, record, bill)
    gaps = provenance.ordered(_gaps(facts, rows, record))
    block = documents.provenance_of(lock, receipt, facts.identity, gaps)
    gaps = gaps if block is None else block.gaps
    compared = files is not None and lock.believed is not None
    left = facts.leftovers
    return Verification(
        verdict=verdict,
        exit_code=EXIT_CODES[verdict],
        location=facts.location,
        layout=facts.layout,
        package_name=facts.identity.name,
        package_version=facts.identity.version,
        lock=report_of(lock),
        receipt=report_of(receipt),
        record=record,
        sbom=bill,
        provenance=block,
        proof=proof_report.describe(receipt, compared=compared),
        gaps=gaps,
        notes=(
            *(provenance.GAP_SENTENCES[gap] for gap in gaps),
            *(f"{name} was left by another version and is not used: remove it." for name in left),
        ),
        counts=dict(Counter(str(row.state) for row in rows)),
        files=rows,
    )


def compare_files(
    lock: CatalogLock | None, record: RecordFile | None, files: PackageFiles
) -> tuple[FileRow, ...]:
    """Compare what lock and RECORD list with what lies there.

    Args:
        lock: None when it cannot be read; then RECORD is the only witness.
        record: None when there is none.
        files: What lies there. A path that only RECORD lists is compared if it was looked at.

    Returns:
        One row a file, sorted by the bytes of the path.
    """
    tree = FileTree({}) if lock is None else lock.tree()
    locked = {files.skills_prefix + path: entry for path, entry in tree.items()}
    recorded = {} if record is None else _recorded(record, files)
    expected = {
        path: entry
        for path, entry in recorded.items()
        if path not in files.documents and _is_compared(path, entry, files)
    }
    expected |= locked
    actual = {path: files.read.get(path, FileEntry("missing")) for path in expected}
    if lock is not None or record is not None:  # else nothing says what belongs there
        known = expected.keys() | files.documents
        actual |= _unlisted(known, None if record is None else recorded, files)
    states: dict[str, DifferenceState]
    states = {row.path: row.state for row in compare(expected, actual)}
    known = expected.keys() | files.documents | recorded.keys()
    rows: list[FileRow] = []
    for path in sorted(actual, key=path_bytes):
        state: FileState = _state(states.get(path))
        if state == "extra" and actual[path].kind == "file" and is_byte_code_of(path, known):
            state = "tolerated"
        witnesses: list[Witness] = []
        if path in expected and state != "unreadable":
            if path in locked and state != "ok":
                witnesses.append("lock")
            if record is not None and not _agrees(recorded.get(path), actual[path]):
                witnesses.append("record")
        rows.append(_row(path, state, witnesses, expected.get(path), actual[path]))
    return tuple(rows)


def _row(
    path: str,
    state: FileState,
    witnesses: list[Witness],
    expected: FileEntry | None,
    actual: FileEntry,
) -> FileRow:
    return FileRow(
        path=path,
        state=state,
        contradicted_by=tuple(witnesses),
        expected_size=None if expected is None else expected.size,
        expected_sha256=None if expected is None else expected.sha256,
        found_size=actual.size,
        found_sha256=actual.sha256,
    )


def _state(state: DifferenceState | None) -> FileState:
    """Return the state of a row; an installation's executable bits are not compared."""
    return "ok" if state is None or state == "executable" else state


def _agrees(recorded: FileEntry | None, actual: FileEntry) -> bool:
    """Return whether RECORD lists a file like this; what it does not state is not compared."""
    return recorded is not None and difference(recorded, actual) is None


def _recorded(record: RecordFile, files: PackageFiles) -> dict[str, FileEntry]:
    """Return what RECORD lists of the package, and of the metadata beside it."""
    rows = record.below(f"{files.package}/")
    if files.metadata is not None:
        rows |= record.below(f"{files.metadata}/")
    return {path: _recorded_entry(row) for path, row in rows.items()}


def _recorded_entry(row: RecordRow) -> FileEntry:
    other = None if row.algorithm == "sha256" else row.digest
    return FileEntry(size=row.size, sha256=row.sha256, recorded=other)


def _is_compared(path: str, entry: FileEntry, files: PackageFiles) -> bool:
    """Return whether a file that RECORD lists is compared: it was looked at, or is missing.

    Among the skills only the lock decides what may be there, so a file that is there and not locked
    is extra. Cached byte code is never missing.
    """
    if path in files.read:
        return True
    if path in files.listed or not path.startswith(files.skills_prefix):
        return False
    return (entry.sha256 or entry.recorded) is not None or not path.endswith(".pyc")


def _unlisted(
    known: Container[str], recorded: Container[str] | None, files: PackageFiles
) -> dict[str, FileEntry]:
    """Return what is on disk, and lock or RECORD should list and do not.

    Args:
        known: Paths that are compared.
        recorded: What RECORD lists, or None without one: then nothing says what belongs beside the
            bundle.
        files: What lies there.
    """
    found: dict[str, FileEntry] = {}
    for path, kind in files.listed.items():
        in_bundle = f"{path}/".startswith(files.bundle_prefix)
        in_skills = path.startswith(files.skills_prefix)
        is_listed = recorded is not None and path in recorded and not in_skills
        may_be_extra = path not in known and not is_listed and (in_bundle or recorded is not None)
        if kind == "unreadable" or may_be_extra:
            found[path] = FileEntry(kind)
    return found


def is_byte_code_of(path: str, known: Container[str]) -> bool:
    """Return whether `path` is what Python caches for one of the known files.

    `a/__pycache__/b.cpython-311.opt-1.pyc` is of `a/b.py`. Byte code beside its source, or of an
    unknown source, is not: Python would run it, and nothing says where it is from.
    """
    folder, _, name = path.rpartition("/")
    above, _, cache = folder.rpartition("/")
    if cache != "__pycache__" or not name.endswith(".pyc"):
        return False
    parts = name.split(".")
    return any(f"{above}/{'.'.join(parts[:end])}.py" in known for end in range(1, len(parts) - 1))


def _locked_files(
    facts: InstallationFacts, rows: tuple[FileRow, ...]
) -> Mapping[str, FileEntry] | None:
    """Return the locked files as they were read, or None unless each is the one locked."""
    lock, prefix = facts.lock.value, facts.files.skills_prefix
    if lock is None:
        return None
    states = {row.path: row.state for row in rows}
    locked = lock.files()
    if any(states.get(prefix + path) != "ok" for path in locked):
        return None
    return {path: facts.files.read[prefix + path] for path in locked}


def _verdict(
    facts: InstallationFacts, rows: tuple[FileRow, ...], record: DocumentReport, bill: SbomState
) -> Verdict:
    return worst(
        [
            VERDICT_OF_STATE[facts.lock.state],
            VERDICT_OF_STATE[facts.receipt.state],
            *map(verdict_of_row, rows),
            "match" if facts.layout == "installed" else "cannot_tell",
            _VERDICT_OF_RECORD.get(record.state, VERDICT_OF_STATE[record.state]),
            "differs" if bill == "differs" or facts.metadata_problems else "match",
        ]
    )


def verdict_of_row(row: FileRow) -> Verdict:
    """Return what one file means for the whole; what was not read or confirmed is in doubt."""
    if row.is_fine:
        return "match"
    in_doubt = row.state in {"unreadable", "unconfirmed"} and not row.contradicted_by
    return "cannot_tell" if in_doubt else "differs"


def _gaps(facts: InstallationFacts, rows: tuple[FileRow, ...], record: DocumentReport) -> set[str]:
    if facts.layout == "source":  # nothing was installed that could be missing
        return {"editable_install"}
    lock, prefix = facts.lock.value, facts.files.skills_prefix
    locked = {} if lock is None else {prefix + path: file for path, file in lock.files().items()}
    unread = [row.path in locked for row in rows if row.state == "unreadable"]
    states = [
        (facts.layout == "linked", "linked_install"),
        (facts.receipt.state == "missing", "missing_receipt"),
        (facts.receipt.state not in {"ok", "missing"}, "invalid_receipt"),
        (record.state == "missing", "record_absent"),
        (record.state not in {"ok", "missing", "invalid"}, "record_unreadable"),
        (any("lock" in row.contradicted_by for row in rows), "altered_files"),
        (True in unread, "unreadable_files"),
        (False in unread, "unseen_entries"),
        (
            record.state == "invalid"
            or bool(facts.metadata_problems)
            or any(row.contradicted_by == ("record",) for row in rows),
            "record_mismatch",
        ),
        (any(row.state == "extra" for row in rows), "extra_files"),
    ]
    return {gap for holds, gap in states if holds}


def _record_report(facts: InstallationFacts) -> DocumentReport:
    record, problems = facts.record, facts.metadata_problems
    if facts.record_refused is not None:
        refused = documents.refused(facts.record_refused)
        return report_of(replace(refused, problems=(*refused.problems, *problems)))
    if record is not None:
        problems = (*record.problems, *map(_unlisted_problem, facts.unlisted), *problems)
    state: DocumentState = "missing" if record is None else "invalid" if problems else "ok"
    return report_of(Document(state=state, problems=problems))


def _unlisted_problem(path: str) -> Problem:
    """Return the problem of a file that would escape the comparison with RECORD."""
    return Problem(code="record", message=f"does not list {path}", path=RECORD_FILE_NAME)

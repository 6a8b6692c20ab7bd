"""Decision: compare a wheel or sdist with its lock and its build receipt; one verdict.

It uses the documents and states of `bundle.verification`, which verifies an installation. Nothing
of the archive is unpacked to disk, and none of its code runs.

For a wheel, the lock lists the skills and RECORD every file. For an sdist, the lock lists the
skills and the receipt every file, but with one digest for all of them; the git trees in the
receipt's proof can confirm or refute single files.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

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
from skills_bundle.bundle.lock import BUNDLE_FOLDER
from skills_bundle.bundle.proof_report import ProofReport
from skills_bundle.bundle.provenance import Provenance
from skills_bundle.bundle.receipt import RECEIPT_FILE_NAME
from skills_bundle.bundle.sbom import SbomState
from skills_bundle.bundle.verdict import EXIT_CODES, Report, worst
from skills_bundle.bundle.verification import FileRow, verdict_of_row
from skills_bundle.errors import Problem
from skills_bundle.files.paths import parents
from skills_bundle.files.tree import FileEntry, FileTree, compare, path_bytes
from skills_bundle.formats.digest import TREE_MODE, dir_hash, git_object_id, recorded_hex
from skills_bundle.formats.metadata_files import RECORD_FILE_NAME
from skills_bundle.git import proof
from skills_bundle.git.commit import Commit
from skills_bundle.supply_chain.archive.contents import PKG_INFO, name_problems

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skills_bundle.bundle.documents import DocumentState
    from skills_bundle.bundle.verification import FileState, Witness
    from skills_bundle.git.commit import Entry
    from skills_bundle.supply_chain.archive.contents import ArchiveContents

Form = Literal["canonical", "other", "partly"]
"""How the archive stores its members.

`canonical`: as the build writes it, byte for byte. `other`: as another tool packs it; modes, dates
and order are not covered by any digest. `partly`: only some members as the build writes them, as
when a finished archive was edited.
"""

SIGNATURES: Final = frozenset({"RECORD.jws", "RECORD.p7s"})
"""Signatures of RECORD, which cannot list them (PyPA, Binary distribution format)."""
NOT_INPUTS: Final = frozenset({PKG_INFO, RECEIPT_FILE_NAME})
"""Files of an sdist that are not inputs of the receipt; both are checked in other ways."""
FORMS: Final[dict[str, Form]] = {"yes": "canonical", "no": "other", "partly": "partly"}

_Differences: TypeAlias = dict[str, list[tuple["Witness", "FileState"]]]
_ProofState: TypeAlias = Literal["same", "changed", "unknown"]


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
    rows = _compare_files(contents)
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
    locked = contents.locked_files()
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


def _compare_files(contents: ArchiveContents) -> tuple[FileRow, ...]:
    """Compare every file that is present or expected; sorted by path."""
    files = contents.archive.files
    expected: dict[str, FileEntry] = dict(contents.locked_files())
    differences: _Differences = defaultdict(list)
    _compare(differences, "lock", expected, _lockable(contents))
    _compare_metadata(differences, expected, contents)
    if contents.archive.kind == "wheel":
        open_paths = _compare_record(differences, expected, contents)
    else:
        open_paths = _compare_inputs(differences, contents)
    paths = {*files, *expected, *differences}
    rows: list[FileRow] = []
    for path in sorted(paths, key=path_bytes):
        found = differences.get(path, [])
        state: FileState = "unconfirmed" if path in open_paths else "ok"
        wanted, actual = expected.get(path, FileEntry()), files.get(path, FileEntry())
        rows.append(
            FileRow(
                path=path,
                state=found[0][1] if found else state,
                contradicted_by=tuple(dict.fromkeys(witness for witness, _ in found)),
                expected_size=wanted.size,
                expected_sha256=wanted.sha256,
                found_size=actual.size,
                found_sha256=actual.sha256,
            )
        )
    return tuple(rows)


def _compare(
    differences: _Differences,
    witness: Witness,
    expected: Mapping[str, FileEntry],
    actual: Mapping[str, FileEntry],
) -> None:
    """Compare two trees; add each difference, with who expected something else."""
    for row in compare(expected, actual):
        state: FileState = "changed" if row.state == "executable" else row.state
        differences[row.path].append((witness, state))


def _lockable(contents: ArchiveContents) -> dict[str, FileEntry]:
    """Return the files that the lock should list: in a wheel, all of the bundle's folder."""
    locked = contents.locked_files()
    documents = {contents.lock_path, contents.receipt_path}
    is_bundle = contents.archive.kind == "wheel" and contents.lock.value is not None
    return {
        path: entry
        for path, entry in contents.archive.files.items()
        if path in locked
        or (is_bundle and path not in documents and f"/{BUNDLE_FOLDER}/" in f"/{path}")
    }


def _compare_metadata(
    differences: _Differences, expected: dict[str, FileEntry], contents: ArchiveContents
) -> None:
    """Compare the core metadata, of which the receipt has a digest of its own."""
    receipt, found = contents.receipt.value, contents.identity.metadata_sha256
    if receipt is not None and found not in {None, receipt.package.metadata_sha256}:
        path = contents.metadata_path
        expected[path] = FileEntry(sha256=receipt.package.metadata_sha256)
        differences[path].append(("receipt", "changed"))


def _compare_record(
    differences: _Differences, expected: dict[str, FileEntry], contents: ArchiveContents
) -> set[str]:
    """Compare a wheel with its RECORD; return the files that nothing confirms.

    RECORD cannot list signatures of itself, so nothing says what they hold.
    """
    files = contents.archive.files
    if contents.record is None:
        return files.keys() - contents.locked_files().keys()
    signatures = {f"{contents.dist_info}/{name}" for name in SIGNATURES}
    signatures = signatures & files.keys() - contents.record.rows.keys()
    exempt = {f"{contents.dist_info}/{RECORD_FILE_NAME}", *signatures}
    actual = {path: entry for path, entry in files.items() if path not in exempt}
    recorded: dict[str, FileEntry] = {}
    for path, row in contents.record.rows.items():
        if path in exempt or row.digest is None:
            continue  # without a digest a row confirms nothing
        recorded[path] = FileEntry(size=row.size, sha256=row.sha256)
        if row.algorithm != "sha256":
            recorded[path] = FileEntry(size=row.size, recorded=row.digest)
            if path in actual:
                digest = recorded_hex(row.algorithm, files.read(path))
                actual[path] = replace(actual[path], recorded=digest)
    _compare(differences, "record", recorded, actual)
    for path, entry in recorded.items():
        expected.setdefault(path, entry)
    return signatures


def _compare_inputs(differences: _Differences, contents: ArchiveContents) -> set[str]:
    """Compare an sdist with the inputs in its receipt; return the files that nothing confirms."""
    receipt = contents.receipt.value
    files = contents.archive.files
    if receipt is None:
        return files.keys() - contents.locked_files().keys()
    known = {path: entry.sha256 for path, entry in contents.locked_files().items()}
    known[contents.lock_path] = receipt.catalog.sha256
    executable = frozenset(receipt.inputs.executable)
    listed = {
        path: FileEntry(sha256=known.get(path), executable=path in executable)
        for path in receipt.inputs.files
    }
    unlisted = contents.sdist_only - listed.keys()
    inputs = {path: files[path] for path in files.keys() - NOT_INPUTS - unlisted}
    _compare(differences, "receipt", listed, inputs)
    both = inputs.keys() & listed.keys()
    digests = {path: known.get(path) or files[path].sha256 or "" for path in both}
    if digests.keys() == listed.keys() and dir_hash(digests) == receipt.inputs.dir_hash:
        return set(unlisted)
    states = _ask_proof(contents, FileTree({path: files[path] for path in both}))
    for path in both - known.keys():
        if states[path] == "changed":
            differences[path].append(("receipt", "changed"))
    return {*unlisted, *(path for path in both - known.keys() if states[path] == "unknown")}


def _ask_proof(contents: ArchiveContents, files: FileTree) -> dict[str, _ProofState]:
    """Compare files with the trees in the receipt's proof.

    The trees on the way from the commit to the skills folder name the blobs beside that way, and
    the ids of the folders beside it.
    """
    project = _project_in_proof(contents)
    if project is None:
        return dict.fromkeys(files, "unknown")
    commit, prefix = project
    intact: dict[str, bool] = {}
    states: dict[str, _ProofState] = {}
    for path, entry in files.items():
        named = _entry(commit, prefix + path)
        if named is not None and named.mode.startswith("100"):
            states[path] = "same" if named.oid == entry.git_blob else "changed"
            continue
        for folder in parents(path):
            if folder not in intact:
                tree = _entry(commit, prefix + folder)
                intact[folder] = (
                    tree is not None
                    and tree.mode == TREE_MODE
                    and files.below(folder).git_tree() == tree.oid
                )
        states[path] = "same" if any(intact[folder] for folder in parents(path)) else "unknown"
    return states


def _entry(commit: Commit, path: str) -> Entry | None:
    """Return what the commit has at a path; None if the proof does not reach it."""
    try:
        return commit.entry(path)
    except (KeyError, ValueError):
        return None


def _project_in_proof(contents: ArchiveContents) -> tuple[Commit, str] | None:
    """Return the commit as far as the proof holds it, and the prefix of the project in it."""
    receipt = contents.receipt.value
    source = None if receipt is None else receipt.source
    if source is None or not source.proof or source.commit is None or proof.problems(source):
        return None
    raw = proof.decode(source.proof)
    kinds = ["commit", *["tree"] * (len(raw) - 1)]
    objects = {git_object_id(kind, data): data for kind, data in zip(kinds, raw, strict=True)}
    way = proof.folder_names(source)
    below = contents.skills.count("/") + 1 if contents.skills else 0
    above = way[: max(0, len(way) - below)]
    if any(len(names) != 1 for names in above):
        return None  # folders with equal content: the project could be either
    commit = Commit(source.commit, lambda _kind, oid: objects[oid])
    return commit, "".join(f"{names[0]}/" for names in above)

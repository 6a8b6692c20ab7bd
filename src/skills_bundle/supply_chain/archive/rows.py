"""Decision: the files of an archive, each compared with whoever lists it.

Of a wheel, the lock lists the skills and RECORD everything. Of an sdist, the lock lists the skills
and the receipt everything, but with one digest for all of it; the receipt's proof may hold the git
trees from which more can be told of single files.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from skills_bundle.bundle.file_rows import FileRow
from skills_bundle.bundle.receipt import RECEIPT_FILE_NAME
from skills_bundle.formats.digest import dir_hash, recorded_hex, sha256_hex
from skills_bundle.formats.record_file import RECORD_FILE_NAME
from skills_bundle.installed.location import BUNDLE_FOLDER
from skills_bundle.supply_chain.archive.contents import metadata_path
from skills_bundle.supply_chain.archive.proof import told_by_proof
from skills_bundle.supply_chain.archive.sdist_apart import PKG_INFO

if TYPE_CHECKING:
    from collections.abc import Mapping
    from collections.abc import Set as AbstractSet

    from skills_bundle.archives.model import Member
    from skills_bundle.bundle.file_rows import FileState, Witness
    from skills_bundle.bundle.lock import LockedFile
    from skills_bundle.formats.record_file import RecordRow
    from skills_bundle.supply_chain.archive.contents import ArchiveContents
    from skills_bundle.supply_chain.archive.proof import Told

SIGNATURES: Final = ("RECORD.jws", "RECORD.p7s")
"""Signatures of RECORD, which cannot list them (PyPA, Binary distribution format)."""
UNCOVERED: Final = frozenset({PKG_INFO, RECEIPT_FILE_NAME})
"""What an sdist's receipt does not cover by its inputs; both are compared in other ways."""


@dataclass(slots=True)
class _Row:
    """A file while it is looked at."""

    state: FileState = "ok"
    witnesses: list[Witness] = field(default_factory=list["Witness"])
    size: int | None = None
    sha256: str | None = None

    def contradict(self, witness: Witness, state: FileState = "changed") -> None:
        """Note somebody who has something against it; the first state stays."""
        self.witnesses.append(witness)
        self.state = state if self.state == "ok" else self.state


def rows(contents: ArchiveContents) -> tuple[FileRow, ...]:
    """Compare every file that is there or should be; sorted by path."""
    members = contents.archive.members
    made: dict[str, _Row] = {path: _Row() for path in members}
    for path, locked in _locked(contents).items():
        _against_lock(made.setdefault(path, _Row()), members.get(path), locked)
    _against_metadata(made, contents)
    if contents.archive.kind == "wheel":
        _against_record(made, contents)
        _mark_extra(made, contents)
    else:
        _against_inputs(made, contents)
    return tuple(
        _finished(path, made[path], members.get(path)) for path in sorted(made, key=_bytes)
    )


def _locked(contents: ArchiveContents) -> dict[str, LockedFile]:
    lock = contents.lock.value
    files = {} if lock is None else lock.files()
    return {contents.skill_path(path): file for path, file in files.items()}


def _against_lock(row: _Row, member: Member | None, locked: LockedFile) -> None:
    row.size, row.sha256 = locked.size, locked.sha256
    if member is None:
        row.contradict("lock", "missing")
    elif not is_locked(member, locked):
        row.contradict("lock")


def _leave_open(made: dict[str, _Row], listed: AbstractSet[str]) -> None:
    """Say of every file that nobody lists that nobody confirms it."""
    for path in made.keys() - listed:
        made[path].state = "unconfirmed"


def is_locked(member: Member, locked: LockedFile) -> bool:
    """Tell whether a member is the file that was locked, executable bit included."""
    found = (len(member.data), member.executable, sha256_hex(member.data))
    return found == (locked.size, locked.executable, locked.sha256)


def _against_record(made: dict[str, _Row], contents: ArchiveContents) -> None:
    if contents.record is None:
        _leave_open(made, {*_locked(contents)})
        return
    members, listed = contents.archive.members, contents.record.rows
    exempt = {f"{contents.dist_info}/{name}" for name in SIGNATURES}
    for path in {*members, *listed} - exempt:
        row = made.setdefault(path, _Row())
        recorded, member = listed.get(path), members.get(path)
        if row.sha256 is None and recorded is not None:
            row.size, row.sha256 = recorded.size, recorded.sha256
        if member is None:
            row.contradict("record", "missing")
        elif recorded is None:
            row.contradict("record", "extra")
        elif not _is_recorded(member, recorded) and path != own_record(contents):
            row.contradict("record")


def own_record(contents: ArchiveContents) -> str:
    """Give the path of RECORD, which has no digest of itself."""
    return f"{contents.dist_info}/{RECORD_FILE_NAME}"


def _is_recorded(member: Member, row: RecordRow) -> bool:
    if row.size not in {None, len(member.data)} or row.digest is None:
        return False
    return row.digest == recorded_hex(row.algorithm, member.data)


def _mark_extra(made: dict[str, _Row], contents: ArchiveContents) -> None:
    """Mark what lies in the bundle and is not of it: it would be installed among the skills."""
    known = {*_locked(contents), contents.lock_path, contents.receipt_path}
    if contents.lock.value is None:
        return
    for path, row in made.items():
        if f"/{BUNDLE_FOLDER}/" in f"/{path}" and path not in known:
            row.contradict("lock", "extra")


def _against_metadata(made: dict[str, _Row], contents: ArchiveContents) -> None:
    """Compare the core metadata, of which the receipt has a digest of its own."""
    receipt, found = contents.receipt.value, contents.identity.metadata_sha256
    if receipt is not None and found not in {None, receipt.package.metadata_sha256}:
        row = made[metadata_path(contents)]
        row.size, row.sha256 = None, receipt.package.metadata_sha256
        row.contradict("receipt")


def _against_inputs(made: dict[str, _Row], contents: ArchiveContents) -> None:
    """Compare an sdist with the inputs that its receipt lists."""
    receipt = contents.receipt.value
    if receipt is None:
        _leave_open(made, {*_locked(contents)})
        return
    members = contents.archive.members
    covered = {path: row for path, row in members.items() if path not in UNCOVERED}
    listed, executable = set(receipt.inputs.files), set(receipt.inputs.executable)
    for path in covered.keys() - listed - contents.apart:
        made[path].contradict("receipt", "extra")
    _leave_open(made, made.keys() - (contents.apart - listed))
    for path in listed - covered.keys():
        made.setdefault(path, _Row()).contradict("receipt", "missing")
    known = _digests_elsewhere(contents)
    for path in covered.keys() & listed:
        other_mode = covered[path].executable != (path in executable)
        if other_mode or known.get(path) not in {None, sha256_hex(covered[path].data)}:
            made[path].contradict("receipt")
    if not _is_explained(listed, covered, known, receipt.inputs.dir_hash):
        told = told_by_proof(contents, {path: covered[path] for path in covered.keys() & listed})
        for path in told.keys() - known.keys():
            _mark(made[path], told[path])


def _digests_elsewhere(contents: ArchiveContents) -> dict[str, str]:
    """Give the digests of inputs that somebody names one by one: of the lock and of its files."""
    locked = {path: file.sha256 for path, file in _locked(contents).items()}
    receipt = contents.receipt.value
    return locked if receipt is None else {**locked, contents.lock_path: receipt.catalog.sha256}


def _is_explained(
    listed: set[str], covered: Mapping[str, Member], known: Mapping[str, str], wanted: str
) -> bool:
    """Tell whether the one digest follows if files are as named elsewhere, the rest as it is."""
    digests = {path: sha256_hex(covered[path].data) for path in covered.keys() & listed}
    digests |= {path: known[path] for path in known.keys() & listed}
    return digests.keys() == listed and dir_hash(digests) == wanted


def _mark(row: _Row, told: Told) -> None:
    if told == "changed":
        row.contradict("receipt")
    elif told == "unknown" and row.state == "ok":
        row.state = "unconfirmed"


def _finished(path: str, row: _Row, member: Member | None) -> FileRow:
    return FileRow(
        path=path,
        state=row.state,
        contradicted_by=tuple(row.witnesses),
        expected_size=row.size,
        expected_sha256=row.sha256,
        found_size=None if member is None else len(member.data),
        found_sha256=None if member is None else sha256_hex(member.data),
    )


def _bytes(path: str) -> bytes:
    return path.encode("utf-8", "surrogatepass")

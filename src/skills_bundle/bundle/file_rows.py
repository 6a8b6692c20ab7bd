"""Decision: what an installation must hold compared with what it holds; one row a file.

The lock is the authority for what is served. RECORD is a second opinion on that, and the only one
on the package's own code. Nothing here touches the disk: an edge says what it saw.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from skills_bundle.formats.record import Record

if TYPE_CHECKING:
    from collections.abc import Container, Mapping

    from skills_bundle.bundle.lock import CatalogLock, LockedFile
    from skills_bundle.formats.metadata_files import RecordFile, RecordRow

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
"""What became of one file.

`changed`: other bytes. `linked`: it, or a folder on the way, is a link. `not_regular`: a folder,
pipe, socket or device. `unreadable`: the system refuses to read it, or to list it if it is a
folder; nobody can say what it holds. `extra`: nobody lists it.
`tolerated`: byte code that Python cached beside a listed `.py`; never served.
`unconfirmed`: in an archive alone: nobody gives a digest of it, or only one of many files together
which is not theirs.
"""

Witness = Literal["lock", "record", "receipt"]


@dataclass(frozen=True, slots=True)
class Seen:
    """What lies at a path.

    Attributes:
        kind: `file`, or the kind of an `UnsafeFileError`.
        size: In bytes, when something lies there.
        sha256: Digest of the bytes, when they were read.
        blob: Git's blob id of the same bytes.
        recorded: Their digest by the algorithm that RECORD uses for this file, if that is another
            one.
    """

    kind: str
    size: int | None = None
    sha256: str | None = None
    blob: str | None = None
    recorded: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Holdings:
    """Everything an edge saw of a package; paths are relative to the folder that holds it.

    Attributes:
        package: The package's folder.
        bundle_prefix: What comes before everything of the bundle.
        skills_prefix: What comes before a locked path.
        documents: Paths of lock and receipt; they have reports of their own.
        metadata: The `.dist-info` folder, in which RECORD speaks of METADATA (which every answer's
            name and version are read from) and of what else is looked at, or None.
        seen: What lies at each path that lock or RECORD list, as far as it was looked at.
        listed: Every entry on disk that is not a folder, with its kind, as far as folders were
            listed.
    """

    package: str
    bundle_prefix: str = ""
    skills_prefix: str = ""
    documents: frozenset[str] = frozenset()
    metadata: str | None = None
    seen: Mapping[str, Seen] = field(default_factory=dict[str, Seen])
    listed: Mapping[str, str] = field(default_factory=dict[str, str])


class FileRow(Record):
    """One file of the package.

    Attributes:
        path: As RECORD spells it: relative to the folder that holds the package.
        state: By the lock if it lists the file, else by RECORD.
        contradicted_by: Who lists something else than what lies there. A file that only RECORD
            contradicts is served: the lock is the authority.
        expected_size: In bytes, null when nobody says.
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
        """Whether nobody has anything against this file."""
        return self.state in {"ok", "tolerated"} and not self.contradicted_by


_STATE_OF_KIND: dict[str, FileState] = {
    "missing": "missing",
    "linked": "linked",
    "not_regular": "not_regular",
    "unreadable": "unreadable",
}


def compare(
    lock: CatalogLock | None, record: RecordFile | None, holdings: Holdings
) -> tuple[FileRow, ...]:
    """Compare what lock and RECORD list with what lies there.

    Args:
        lock: None when it cannot be read; then RECORD is the only witness.
        record: None when there is none.
        holdings: What lies there. A path that only RECORD lists is compared if it was looked at.

    Returns:
        One row a file, sorted by the bytes of the path.
    """
    locked = {} if lock is None else lock.files()
    names = {holdings.skills_prefix + path: file for path, file in locked.items()}
    recorded = {} if record is None else _recorded(record, holdings)
    rows = [_locked_row(path, file, record, holdings) for path, file in names.items()]
    for path, row in recorded.items():
        if path in names or path in holdings.documents:
            continue
        if path in holdings.seen:
            rows.append(_recorded_row(path, row, holdings.seen[path]))
        elif _is_wanted(path, row, holdings):
            rows.append(_recorded_row(path, row, Seen("missing")))
    told = {row.path for row in rows} | holdings.documents
    if lock is not None or record is not None:  # else nobody says what belongs there
        rows += _unlisted_rows(told, None if record is None else set(recorded), holdings)
    return tuple(sorted(rows, key=lambda row: row.path.encode("utf-8", "surrogatepass")))


def _is_wanted(path: str, row: RecordRow, holdings: Holdings) -> bool:
    """Tell of a file that was not looked at whether it is missed: cached byte code never is."""
    if path in holdings.listed or not path.startswith(holdings.skills_prefix):
        return False
    return row.digest is not None or not path.endswith(".pyc")


def _locked_row(
    path: str, file: LockedFile, record: RecordFile | None, holdings: Holdings
) -> FileRow:
    seen = holdings.seen.get(path, Seen("missing"))
    if seen.kind == "unreadable":
        return _unread_row(path, file.size, file.sha256, seen)
    fits = seen.kind == "file" and (seen.size, seen.sha256) == (file.size, file.sha256)
    witnesses: list[Witness] = [] if fits else ["lock"]
    if record is not None and not _record_agrees(record.rows.get(path), seen):
        witnesses.append("record")
    return FileRow(
        path=path,
        state="ok" if fits else _STATE_OF_KIND.get(seen.kind, "changed"),
        contradicted_by=tuple(witnesses),
        expected_size=file.size,
        expected_sha256=file.sha256,
        found_size=seen.size,
        found_sha256=seen.sha256,
    )


def _record_agrees(row: RecordRow | None, seen: Seen) -> bool:
    """Tell whether RECORD lists a file like this; a row without a digest has no opinion on it."""
    if row is None or seen.kind != "file":
        return False
    found = seen.sha256 if row.algorithm == "sha256" else seen.recorded
    return row.digest in {None, found} and row.size in {None, seen.size}


def _recorded_row(path: str, row: RecordRow, seen: Seen) -> FileRow:
    if seen.kind == "unreadable":
        return _unread_row(path, row.size, row.sha256, seen)
    fits = _record_agrees(row, seen)
    return FileRow(
        path=path,
        state="ok" if fits else _STATE_OF_KIND.get(seen.kind, "changed"),
        contradicted_by=() if fits else ("record",),
        expected_size=row.size,
        expected_sha256=row.sha256,
        found_size=seen.size,
        found_sha256=seen.sha256,
    )


def _unread_row(path: str, size: int | None, sha256: str | None, seen: Seen) -> FileRow:
    """Give the row of a file that cannot be read: nothing contradicts it, and nothing confirms."""
    return FileRow(
        path=path,
        state="unreadable",
        contradicted_by=(),
        expected_size=size,
        expected_sha256=sha256,
        found_size=seen.size,
        found_sha256=None,
    )


def _recorded(record: RecordFile, holdings: Holdings) -> dict[str, RecordRow]:
    """Give what RECORD lists of the package, and of the metadata beside it."""
    rows = record.below(f"{holdings.package}/")
    return rows if holdings.metadata is None else rows | record.below(f"{holdings.metadata}/")


def _unlisted_rows(told: set[str], recorded: set[str] | None, holdings: Holdings) -> list[FileRow]:
    """Give a row for everything on disk that lock or RECORD should list and do not.

    Args:
        told: Paths that have a row already.
        recorded: What RECORD lists, or None without one: then nobody can say what belongs beside
            the bundle.
        holdings: What lies there.
    """
    rows: list[FileRow] = []
    for path, kind in holdings.listed.items():
        in_bundle = f"{path}/".startswith(holdings.bundle_prefix)
        if kind == "unreadable":
            rows.append(_unlisted_row(path, "unreadable"))
            continue
        if path in told or (recorded is None and not in_bundle):
            continue
        # RECORD may list what it has no digest of: byte code that the installer made. Among the
        # skills it has no say: a file that is there and not locked is extra.
        listed = set[str]() if recorded is None else recorded
        if path in listed and not path.startswith(holdings.skills_prefix):
            continue
        tolerated = kind == "file" and is_byte_code_of(path, told | listed)
        rows.append(_unlisted_row(path, "tolerated" if tolerated else "extra"))
    return rows


def _unlisted_row(path: str, state: Literal["tolerated", "extra", "unreadable"]) -> FileRow:
    return FileRow(
        path=path,
        state=state,
        contradicted_by=(),
        expected_size=None,
        expected_sha256=None,
        found_size=None,
        found_sha256=None,
    )


def is_byte_code_of(path: str, known: Container[str]) -> bool:
    """Tell whether `path` is what Python caches for one of the known files.

    `a/__pycache__/b.cpython-311.opt-1.pyc` is of `a/b.py`. Byte code beside its source, or of a
    source nobody lists, is not: Python would run it, and nobody says where it is from.
    """
    folder, _, name = path.rpartition("/")
    above, _, cache = folder.rpartition("/")
    if cache != "__pycache__" or not name.endswith(".pyc"):
        return False
    parts = name.split(".")
    return any(f"{above}/{'.'.join(parts[:end])}.py" in known for end in range(1, len(parts) - 1))

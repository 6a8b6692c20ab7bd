"""Decision: can lock and receipt be believed? Each is compared with everything that describes it.

Four things describe a bundle: the lock, the receipt (which names the lock's digest), RECORD (which
names both files' digests) and the files themselves (whose git tree the lock names). Where two
contradict each other, the one that a third confirms is believed. A lock that a receipt contradicts
and nothing confirms is not believed: serving altered bytes is worse than serving none.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, TypeVar

from skills_bundle.bundle import lock as locks
from skills_bundle.bundle import provenance
from skills_bundle.bundle import receipt as receipts
from skills_bundle.errors import (
    InvalidLockError,
    InvalidReceiptError,
    Problem,
    SkillsBundleError,
    UnsafeFileError,
)
from skills_bundle.files.tree import FileEntry, FileTree
from skills_bundle.formats.digest import TreeEntry, git_object_id, sha256_hex
from skills_bundle.formats.metadata_files import same_version
from skills_bundle.formats.record import Record
from skills_bundle.git import proof

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from skills_bundle.bundle.lock import CatalogLock
    from skills_bundle.bundle.provenance import Provenance
    from skills_bundle.bundle.receipt import BuildReceipt
    from skills_bundle.bundle.verdict import Verdict
    from skills_bundle.formats.metadata_files import RecordRow

DocumentState = Literal[
    "ok", "missing", "linked", "not_regular", "unreadable", "invalid", "altered"
]
"""The state of lock, receipt or RECORD.

`invalid`: its bytes are not those of a lock or receipt. `altered`: they contradict RECORD, the
other document, the installed metadata or the files.
"""

VERDICT_OF_STATE: Final[dict[DocumentState, Verdict]] = {
    "ok": "match",
    "missing": "cannot_tell",
    "unreadable": "cannot_tell",
    "invalid": "cannot_tell",
    "linked": "differs",
    "not_regular": "differs",
    "altered": "differs",
}

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Document(Generic[T]):
    """Lock or receipt, as far as it could be read.

    Attributes:
        state: Only `ok` is believed.
        value: The record, whenever the bytes have its form; also when `state` is `altered`.
        sha256: Digest of the bytes, when they could be read.
        recorded_sha256: The digest RECORD has, when it has one.
        problems: Why the state is not `ok`.
    """

    state: DocumentState
    value: T | None = None
    sha256: str | None = None
    recorded_sha256: str | None = None
    problems: tuple[Problem, ...] = ()

    @property
    def believed(self) -> T | None:
        """The record, if its state is `ok`."""
        return self.value if self.state == "ok" else None

    @property
    def confirmed(self) -> bool:
        """Whether RECORD has the digest of exactly these bytes."""
        return self.sha256 is not None and self.sha256 == self.recorded_sha256


LOST_LOCK: Final[Document[Any]] = Document(
    state="missing",
    problems=(
        Problem(
            code="no_bundle",
            message="The lock is gone although RECORD lists it: it was removed after the package "
            "was built. Install the package again.",
        ),
    ),
)
"""A lock that was there when RECORD was written."""

NO_BUNDLE: Final[Document[Any]] = Document(
    state="missing",
    problems=(
        Problem(
            code="no_bundle",
            message="The package contains no lock: it was removed, or the wheel was built without "
            "the build hook (HATCH_BUILD_NO_HOOKS). Install a released wheel, or build it again "
            "without that variable.",
        ),
    ),
)
"""A lock that is not there, and the two possible causes."""


@dataclass(frozen=True, slots=True)
class Identity:
    """The distribution as its installed metadata names it; `known` is False without metadata.

    `metadata_sha256` is the digest of that metadata, or None where it was not read.
    """

    name: str
    version: str
    known: bool
    metadata_sha256: str | None = None


def read_lock(found: bytes | UnsafeFileError, row: RecordRow | None) -> Document[CatalogLock]:
    """Read a lock and compare it with its row in RECORD.

    Args:
        found: The file's bytes, or why there are none.
        row: Its row in RECORD, if there is one.
    """
    try:
        value = locks.parse(_bytes(found))
    except (InvalidLockError, UnsafeFileError) as error:
        unread = _unread(found, error)
        if unread.state == "missing":
            unread = NO_BUNDLE if row is None else LOST_LOCK
        return _against_record(unread, row)
    return _against_record(Document(state="ok", value=value, sha256=_digest(found)), row)


def read_receipt(found: bytes | UnsafeFileError, row: RecordRow | None) -> Document[BuildReceipt]:
    """Read a build receipt and compare it with its row in RECORD; arguments as for `read_lock`."""
    try:
        value = receipts.parse(_bytes(found))
    except (InvalidReceiptError, UnsafeFileError) as error:
        return _against_record(_unread(found, error), row)
    return _against_record(Document(state="ok", value=value, sha256=_digest(found)), row)


def _bytes(found: bytes | UnsafeFileError) -> bytes:
    if isinstance(found, UnsafeFileError):
        raise found
    return found


def _digest(found: bytes | UnsafeFileError) -> str | None:
    return None if isinstance(found, UnsafeFileError) else sha256_hex(found)


_UNREAD: Final[dict[str, tuple[DocumentState, str]]] = {
    "missing": ("missing", "It is missing."),
    "linked": ("linked", "It, or a folder above it, is a symbolic link."),
    "not_regular": ("not_regular", "It is not a regular file."),
    "unreadable": ("unreadable", "The operating system does not allow reading it."),
    "changed": ("altered", "It was replaced while it was read."),
    "size": ("invalid", "It exceeds the size limit for such files."),
}
"""Kind of an `UnsafeFileError` to state and sentence."""


def refused(error: UnsafeFileError) -> Document[Any]:
    """Return what is known of a document that was not read."""
    state, sentence = _UNREAD[error.kind]
    return Document(state=state, problems=(Problem(code=error.kind, message=sentence),))


def _unread(found: bytes | UnsafeFileError, error: SkillsBundleError) -> Document[Any]:
    if isinstance(found, UnsafeFileError):
        return refused(found)
    problems = error.problems or (Problem(code="invalid", message=error.summary),)
    return Document(state="invalid", sha256=_digest(found), problems=problems)


def _against_record(document: Document[T], row: RecordRow | None) -> Document[T]:
    """Compare a document with its digest in RECORD."""
    if row is None or row.sha256 is None:
        return document
    document = replace(document, recorded_sha256=row.sha256)
    too_large = document.state == "invalid" and document.sha256 is None
    if too_large or document.sha256 not in {None, row.sha256}:
        return altered(document, "record", "RECORD lists a different digest for this file.")
    return document


def altered(document: Document[T], code: str, message: str) -> Document[T]:
    """Return a document with one more problem, which makes it `altered`."""
    problem = Problem(code=code, message=message)
    return replace(document, state="altered", problems=(*document.problems, problem))


def cross_check(
    lock: Document[CatalogLock], receipt: Document[BuildReceipt], identity: Identity
) -> tuple[Document[CatalogLock], Document[BuildReceipt]]:
    """Compare the receipt with metadata, proof and lock; return both with what was found."""
    receipt = _check_receipt(receipt, identity)
    named = receipt.believed
    if named is None or lock.believed is None:
        return lock, receipt
    if named.catalog.sha256 == lock.sha256:
        if named.catalog.git_tree != lock.believed.digests.git_tree:
            receipt = altered(receipt, "git_tree", "It names a different git tree than the lock.")
        return lock, receipt
    if lock.confirmed:
        return lock, altered(receipt, "catalog", "It names a different lock than RECORD lists.")
    return altered(lock, "catalog", "The build receipt names a different digest."), receipt


def _check_receipt(receipt: Document[BuildReceipt], identity: Identity) -> Document[BuildReceipt]:
    """Compare a receipt with the installed metadata, and its commit with its own proof."""
    claim = receipt.believed
    if claim is None:
        return receipt
    package = claim.package
    same = package.name == identity.name or not (identity.name or identity.known)
    if identity.known:
        same = same and same_version(package.version, identity.version)
    if not same:
        return altered(receipt, "package", "It belongs to a different distribution.")
    if identity.metadata_sha256 not in {None, package.metadata_sha256}:
        return altered(receipt, "metadata", "It was made with different core metadata.")
    if problems := proof.problems(claim.source):
        return replace(receipt, state="altered", problems=problems)
    return receipt


class ProblemRow(Record):
    """One problem, with its place in the document, if it has one."""

    code: str
    message: str
    path: str | None
    line: int | None


class DocumentReport(Record):
    """The state of lock, receipt or RECORD in a report.

    Attributes:
        state: See `DocumentState`; RECORD is never `altered`.
        sha256: Digest of the bytes, null when they could not be read (and for RECORD).
        recorded_sha256: The digest in RECORD, null when it has none.
        problems: Why the state is not `ok`.
    """

    state: DocumentState
    sha256: str | None
    recorded_sha256: str | None
    problems: tuple[ProblemRow, ...]


def report_of(document: Document[Any]) -> DocumentReport:
    """Return the report of a document that was read and compared."""
    return DocumentReport(
        state=document.state,
        sha256=document.sha256,
        recorded_sha256=document.recorded_sha256,
        problems=problem_rows(document.problems),
    )


def problem_rows(problems: Iterable[Problem]) -> tuple[ProblemRow, ...]:
    """Return problems as a report has them."""
    return tuple(
        ProblemRow(code=one.code, message=one.message, path=one.path, line=one.line)
        for one in problems
    )


def provenance_of(
    lock: Document[CatalogLock],
    receipt: Document[BuildReceipt],
    identity: Identity,
    gaps: tuple[str, ...],
) -> Provenance | None:
    """Return the provenance of a bundle, or None if its lock is not believed."""
    if lock.believed is None or lock.sha256 is None:
        return None
    return provenance.describe(
        provenance.Bundle(
            collection=lock.believed.collection,
            name=identity.name,
            version=identity.version,
            catalog_sha256=lock.sha256,
            receipt=receipt.believed,
            receipt_sha256=None if receipt.believed is None else receipt.sha256,
            gaps=frozenset(gaps),
        )
    )


def check_trees(
    lock: Document[CatalogLock], files: Mapping[str, FileEntry] | None
) -> Document[CatalogLock]:
    """Recompute every git tree that the lock names from the files' blob ids.

    Args:
        lock: A lock that has been read.
        files: The locked files as they were read; None unless every one matches the lock, since
            the trees of other files say nothing about the lock.
    """
    if lock.believed is None or files is None:
        return lock
    for place, named, computed in _trees(lock.believed, files):
        if named != computed:
            lock = altered(lock, "git_tree", f"{place} does not match the files.")
    return lock


def _trees(
    lock: CatalogLock, files: Mapping[str, FileEntry]
) -> Iterator[tuple[str, str, str | None]]:
    """Yield place, named and recomputed id of each git tree in a lock."""
    tree = _with_blobs(lock, files)
    try:
        computed = tree.git_tree(lock.unlocked_entries())
    except ValueError:  # `unlocked` names a locked path: no git tree is like that
        computed = None
    yield "digests.git_tree", lock.digests.git_tree, computed
    for index, skill in enumerate(lock.skills):
        own = FileTree({file.path: tree[f"{skill.path}/{file.path}"] for file in skill.files})
        yield f"skills[{index}].git_tree", skill.git_tree, own.git_tree()


def _with_blobs(lock: CatalogLock, files: Mapping[str, FileEntry]) -> FileTree:
    return FileTree(
        {path: replace(entry, git_blob=files[path].git_blob) for path, entry in lock.tree().items()}
    )


def check_revision(
    receipt: Document[BuildReceipt],
    lock: Document[CatalogLock],
    files: Mapping[str, FileEntry] | None,
) -> Document[BuildReceipt]:
    """Compare the skills tree of the receipt's commit with that of the files.

    They are equal, except where the skills folder is the whole project: then the commit's tree
    holds the lock as well.

    Args:
        receipt: A receipt that has been read.
        lock: The lock beside it.
        files: As for `check_trees`.
    """
    if receipt.believed is None or lock.believed is None or files is None:
        return receipt
    named = receipt.believed.source.skills_tree
    if named in {None, lock.believed.digests.git_tree}:
        return receipt
    lock_blob = git_object_id("blob", lock.believed.to_bytes())
    own = TreeEntry(locks.LOCK_FILE_NAME, "100644", lock_blob)
    tree = _with_blobs(lock.believed, files)
    if named == tree.git_tree([*lock.believed.unlocked_entries(), own]):
        return receipt
    return altered(receipt, "skills_tree", "The commit it names contains different skills.")

"""Decision: what a wheel or sdist carries of a bundle: lock, receipt, skills, and whose it is."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from skills_bundle.bundle import documents
from skills_bundle.bundle.documents import Identity
from skills_bundle.bundle.lock import LOCK_FILE_NAME
from skills_bundle.bundle.receipt import RECEIPT_FILE_NAME
from skills_bundle.errors import UnsafeFileError
from skills_bundle.files.paths import parents
from skills_bundle.formats import core_metadata, record_file
from skills_bundle.formats.digest import sha256_hex
from skills_bundle.formats.record_file import DIST_INFO_SUFFIX, RECORD_FILE_NAME, RecordFile
from skills_bundle.installed.distribution import METADATA_FILE_NAME, normalised
from skills_bundle.installed.location import BUNDLE_FOLDER
from skills_bundle.supply_chain.archive.sdist_apart import PKG_INFO, apart

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skills_bundle.archives.model import Archive
    from skills_bundle.bundle.documents import Document
    from skills_bundle.bundle.lock import CatalogLock
    from skills_bundle.bundle.receipt import BuildReceipt
    from skills_bundle.formats.record_file import RecordRow

SKILLS: Final = "skills"
"""The folder of skills in a bundle, and unless configured otherwise in a project."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveContents:
    """What a distribution carries.

    Attributes:
        archive: The distribution.
        identity: Name and version as its metadata has them; as its file name has them where there
            is no metadata.
        dist_info: A wheel's `.dist-info` folder, "" if there is not exactly one, or for an sdist.
        package: Path of the package that holds the bundle, "" for an sdist or if there is none.
        lock: The lock, compared with RECORD and receipt.
        receipt: The build receipt, compared with RECORD, lock, metadata and its own proof.
        record: A wheel's RECORD, None if there is none.
        lock_path: Where the lock is among the members, or would be.
        receipt_path: Likewise.
        skills: Path of the folder that locked paths are relative to; "" if it is the top.
        apart: Files of an sdist of which the receipt cannot speak, since the build makes them for
            the sdist alone.
        lock_bytes: None if there is no lock.
        receipt_bytes: None if there is no receipt.
    """

    archive: Archive
    identity: Identity
    dist_info: str
    package: str
    lock: Document[CatalogLock]
    receipt: Document[BuildReceipt]
    record: RecordFile | None
    lock_path: str
    receipt_path: str
    skills: str
    apart: frozenset[str]
    lock_bytes: bytes | None
    receipt_bytes: bytes | None

    def skill_path(self, path: str) -> str:
        """Give where a locked file is among the members."""
        return f"{self.skills}/{path}" if self.skills else path


def contents_of(archive: Archive) -> ArchiveContents:
    """Find what a distribution carries; whatever is missing is said, never raised."""
    package = _package(archive) if archive.kind == "wheel" else ""
    folder = f"{package}/{BUNDLE_FOLDER}/" if archive.kind == "wheel" else ""
    lock_path, receipt_path = folder + LOCK_FILE_NAME, folder + RECEIPT_FILE_NAME
    dist_info = _dist_info(archive)
    identity = _identity(archive, dist_info)
    recorded = _bytes(archive, f"{dist_info}/{RECORD_FILE_NAME}") if dist_info else None
    record = None if recorded is None else record_file.parse(recorded)
    rows: Mapping[str, RecordRow] = {} if record is None else record.rows
    receipt = documents.read_receipt(_found(archive, receipt_path), rows.get(receipt_path))
    unspoken = _unspoken(archive, identity, receipt)
    if PKG_INFO in unspoken:
        identity = replace(identity, metadata_sha256=None)
    lock, receipt = documents.cross_check(
        documents.read_lock(_found(archive, lock_path), rows.get(lock_path)), receipt, identity
    )
    return ArchiveContents(
        archive=archive,
        identity=identity,
        dist_info=dist_info,
        package=package,
        lock=lock,
        receipt=receipt,
        record=record,
        lock_path=lock_path,
        receipt_path=receipt_path,
        skills=f"{folder}{SKILLS}" if archive.kind == "wheel" else _skills_of_sdist(archive, lock),
        apart=unspoken,
        lock_bytes=_bytes(archive, lock_path),
        receipt_bytes=_bytes(archive, receipt_path),
    )


def _unspoken(
    archive: Archive, identity: Identity, receipt: Document[BuildReceipt]
) -> frozenset[str]:
    """Give the files made apart, but for core metadata that are the wheel's all the same."""
    claim, found = receipt.value, apart(archive)
    same = claim is None or claim.package.metadata_sha256 == identity.metadata_sha256
    return found - {PKG_INFO} if same else found


def _package(archive: Archive) -> str:
    """Give the one package that holds something of a bundle; "" if there is none."""
    mark = f"/{BUNDLE_FOLDER}/"
    found = {path.partition(mark)[0] for path in archive.members if mark in path}
    locked = {package for package in found if f"{package}{mark}{LOCK_FILE_NAME}" in archive.members}
    return min(locked or found, default="")


def _skills_of_sdist(archive: Archive, lock: Document[CatalogLock]) -> str:
    """Give the folder in which most locked files lie: the project's settings may name any."""
    locked = frozenset[str]() if lock.value is None else lock.value.files().keys()
    counted: Counter[str] = Counter()
    for path in archive.members:
        for folder in ["", *parents(path)]:
            if path[len(folder) :].removeprefix("/") in locked:
                counted[folder] += 1
    return max(counted, key=lambda folder: (counted[folder], folder == SKILLS), default=SKILLS)


def _dist_info(archive: Archive) -> str:
    tops = {path.partition("/")[0] for path in archive.members}
    found = [top for top in tops if top.endswith(DIST_INFO_SUFFIX)]
    return found[0] if len(found) == 1 and archive.kind == "wheel" else ""


def _identity(archive: Archive, dist_info: str) -> Identity:
    metadata = _bytes(archive, _metadata_path(archive, dist_info))
    if metadata is None:
        name, version = named(archive.file_name)
        return Identity(name, version, known=False)
    head = core_metadata.read(metadata)
    return Identity(
        normalised(head.first("name") or ""),
        head.first("version") or "",
        known=True,
        metadata_sha256=sha256_hex(metadata),
    )


def metadata_path(contents: ArchiveContents) -> str:
    """Give where the core metadata is among the members, or would be."""
    return _metadata_path(contents.archive, contents.dist_info)


def _metadata_path(archive: Archive, dist_info: str) -> str:
    return PKG_INFO if archive.kind == "sdist" else f"{dist_info}/{METADATA_FILE_NAME}"


def named(file_name: str) -> tuple[str, str]:
    """Give the normalised name and the version that a file name has; "" for what it has not.

    Source:
        PyPA, Binary distribution format; Source distribution format.
    """
    if file_name.endswith(".tar.gz"):
        name, _, version = file_name.removesuffix(".tar.gz").rpartition("-")
        return normalised(name), version
    name, _, rest = file_name.removesuffix(".whl").partition("-")
    return normalised(name), rest.partition("-")[0]


def _found(archive: Archive, path: str) -> bytes | UnsafeFileError:
    member = archive.members.get(path)
    return UnsafeFileError("missing", path) if member is None else member.data


def _bytes(archive: Archive, path: str) -> bytes | None:
    member = archive.members.get(path)
    return None if member is None else member.data

"""Decision: what a wheel or sdist holds of a bundle: lock, receipt, skills, and its metadata."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    canonicalize_name,
    parse_sdist_filename,
    parse_wheel_filename,
)

from skills_bundle.bundle import documents
from skills_bundle.bundle.documents import Identity
from skills_bundle.bundle.lock import BUNDLE_FOLDER, LOCK_FILE_NAME
from skills_bundle.bundle.receipt import RECEIPT_FILE_NAME
from skills_bundle.errors import SettingsError, UnsafeFileError
from skills_bundle.files.paths import parents
from skills_bundle.formats import metadata_files, toml
from skills_bundle.formats.digest import sha256_hex
from skills_bundle.formats.metadata_files import DIST_INFO_SUFFIX, RECORD_FILE_NAME, RecordFile
from skills_bundle.installed.distribution import METADATA_FILE_NAME
from skills_bundle.project import limits, settings
from skills_bundle.supply_chain.source.project import LEGACY, table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skills_bundle.archives.model import Archive
    from skills_bundle.bundle.documents import Document
    from skills_bundle.bundle.lock import CatalogLock
    from skills_bundle.bundle.receipt import BuildReceipt
    from skills_bundle.formats.metadata_files import RecordRow
    from skills_bundle.supply_chain.source.project import Table

PKG_INFO: Final = "PKG-INFO"
"""An sdist's core metadata (PyPA, Source distribution format)."""
SKILLS: Final = "skills"
"""The folder of skills in a bundle, and by default in a project."""
_METADATA_VERSION: Final = "core-metadata-version"


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveContents:
    """What a distribution holds.

    Attributes:
        archive: The distribution.
        identity: Name and version from the metadata; from the file name if there is no metadata.
        dist_info: A wheel's `.dist-info` folder; "" if there is not exactly one, or for an sdist.
        package: Path of the package that holds the bundle; "" for an sdist or if there is none.
        lock: The lock, compared with RECORD and receipt.
        receipt: The build receipt, compared with RECORD, lock, metadata and its own proof.
        record: A wheel's RECORD; None if there is none.
        lock_path: Path of the lock, whether or not it is present.
        receipt_path: Path of the receipt, whether or not it is present.
        skills: Path of the folder that locked paths are relative to; "" if it is the top.
        sdist_only: Files the build generates only for the sdist, which the receipt does not cover.
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
    sdist_only: frozenset[str]

    @property
    def metadata_path(self) -> str:
        """Path of the core metadata, whether or not it is present."""
        return _metadata_path(self.archive, self.dist_info)

    @property
    def lock_bytes(self) -> bytes | None:
        """The bytes of the lock; None if there is none."""
        return self.archive.read(self.lock_path)

    def skill_path(self, path: str) -> str:
        """Return where a locked file is in the archive."""
        return f"{self.skills}/{path}" if self.skills else path


def contents_of(archive: Archive) -> ArchiveContents:
    """Find what a distribution holds; missing and invalid parts are reported, never raised."""
    is_wheel = archive.kind == "wheel"
    package = _package(archive) if is_wheel else ""
    folder = f"{package}/{BUNDLE_FOLDER}/" if is_wheel else ""
    lock_path, receipt_path = folder + LOCK_FILE_NAME, folder + RECEIPT_FILE_NAME
    dist_info = _dist_info(archive) if is_wheel else ""
    identity = _identity(archive, dist_info)
    recorded = archive.read(f"{dist_info}/{RECORD_FILE_NAME}") if dist_info else None
    record = None if recorded is None else metadata_files.parse_record(recorded)
    rows: Mapping[str, RecordRow] = {} if record is None else record.rows
    receipt = documents.read_receipt(_document(archive, receipt_path), rows.get(receipt_path))
    sdist_only = frozenset[str]() if is_wheel else _sdist_only(archive, identity, receipt)
    if PKG_INFO in sdist_only:
        identity = replace(identity, metadata_sha256=None)
    lock, receipt = documents.cross_check(
        documents.read_lock(_document(archive, lock_path), rows.get(lock_path)), receipt, identity
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
        skills=f"{folder}{SKILLS}" if is_wheel else _skills_of_sdist(archive, lock),
        sdist_only=sdist_only,
    )


def name_and_version(file_name: str) -> tuple[str, str]:
    """Return the normalised name and version in a file name; "" twice if it is not a valid one."""
    try:
        if file_name.endswith(".whl"):
            name, version, _, _ = parse_wheel_filename(file_name)
        else:
            name, version = parse_sdist_filename(file_name)
    except (InvalidWheelFilename, InvalidSdistFilename):
        return "", ""
    return name, str(version)


def _document(archive: Archive, path: str) -> bytes | UnsafeFileError:
    data = archive.read(path)
    return UnsafeFileError("missing", path) if data is None else data


def _package(archive: Archive) -> str:
    """Return the one package that holds a bundle; "" if there is none."""
    mark = f"/{BUNDLE_FOLDER}/"
    found = {path.partition(mark)[0] for path in archive.members if mark in path}
    locked = {package for package in found if f"{package}{mark}{LOCK_FILE_NAME}" in archive.members}
    return min(locked or found, default="")


def _skills_of_sdist(archive: Archive, lock: Document[CatalogLock]) -> str:
    """Return the folder that holds most locked files: a project's settings may name any folder."""
    locked = frozenset[str]() if lock.value is None else lock.value.files().keys()
    counted: Counter[str] = Counter()
    for path in archive.members:
        for folder in ["", *parents(path)]:
            if path[len(folder) :].removeprefix("/") in locked:
                counted[folder] += 1
    return max(counted, key=lambda folder: (counted[folder], folder == SKILLS), default=SKILLS)


def dist_infos(archive: Archive) -> list[str]:
    """Return the `.dist-info` folders of a wheel, sorted; a valid wheel has exactly one."""
    tops = {path.partition("/")[0] for path in archive.members}
    return sorted(top for top in tops if top.endswith(DIST_INFO_SUFFIX))


def _dist_info(archive: Archive) -> str:
    found = dist_infos(archive)
    return found[0] if len(found) == 1 else ""


def _metadata_path(archive: Archive, dist_info: str) -> str:
    return PKG_INFO if archive.kind == "sdist" else f"{dist_info}/{METADATA_FILE_NAME}"


def _identity(archive: Archive, dist_info: str) -> Identity:
    metadata = archive.read(_metadata_path(archive, dist_info))
    if metadata is None:
        name, version = name_and_version(archive.file_name)
        return Identity(name, version, known=False)
    head = metadata_files.parse_metadata(metadata)
    return Identity(
        canonicalize_name(head.first("name") or ""),
        head.first("version") or "",
        known=True,
        metadata_sha256=sha256_hex(metadata),
    )


def _sdist_only(
    archive: Archive, identity: Identity, receipt: Document[BuildReceipt]
) -> frozenset[str]:
    """Return the files the build generates only for this sdist.

    Sdist and wheel share one receipt. If a project configures other core metadata or a `setup.py`
    for its sdist, the receipt has no digest of them, so they can be neither confirmed nor refuted.
    The configuration itself is covered by the receipt.
    """
    build, _ = settings.build_table(_toml(archive, "pyproject.toml"), _toml(archive, "hatch.toml"))
    sdist, wheel = (table(build, "targets", target) for target in ("sdist", "wheel"))
    found: set[str] = {LEGACY} if sdist.get("support-legacy") else set()
    claim = receipt.value
    is_metadata_of_wheel = (
        claim is None or claim.package.metadata_sha256 == identity.metadata_sha256
    )
    if sdist.get(_METADATA_VERSION) != wheel.get(_METADATA_VERSION) and not is_metadata_of_wheel:
        found.add(PKG_INFO)
    return frozenset(found)


def _toml(archive: Archive, path: str) -> Table:
    """Read a member as TOML; empty if it is missing, too large or invalid."""
    data = archive.read(path)
    if data is None or len(data) > limits.PYPROJECT_MAX_BYTES:
        return {}
    try:
        return toml.parse(data, path)
    except SettingsError:
        return {}

"""Decision: what a wheel or sdist holds of a bundle, and whether all its names agree."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Final

from packaging.tags import parse_tag
from packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    canonicalize_name,
    parse_sdist_filename,
    parse_wheel_filename,
)

from skills_bundle.archives.limits import ARCHIVE_MAX_PROBLEMS
from skills_bundle.archives.names import install_problems
from skills_bundle.bundle import documents
from skills_bundle.bundle.documents import Identity
from skills_bundle.bundle.lock import BUNDLE_FOLDER, ENTRY_POINT_GROUP, LOCK_FILE_NAME
from skills_bundle.bundle.receipt import RECEIPT_FILE_NAME
from skills_bundle.errors import Problem, SettingsError, UnsafeFileError
from skills_bundle.files.paths import parents
from skills_bundle.formats import metadata_files, toml
from skills_bundle.formats.digest import sha256_hex
from skills_bundle.formats.metadata_files import DIST_INFO_SUFFIX, RECORD_FILE_NAME, RecordFile
from skills_bundle.installed.distribution import METADATA_FILE_NAME
from skills_bundle.project import limits, settings
from skills_bundle.supply_chain.source.project import LEGACY, table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from skills_bundle.archives.model import Archive
    from skills_bundle.bundle.documents import Document
    from skills_bundle.bundle.lock import CatalogLock
    from skills_bundle.bundle.receipt import BuildReceipt
    from skills_bundle.files.tree import FileEntry
    from skills_bundle.formats.metadata_files import RecordRow
    from skills_bundle.supply_chain.source.project import Table

PKG_INFO: Final = "PKG-INFO"
"""An sdist's core metadata (PyPA, Source distribution format)."""
SKILLS: Final = "skills"
"""The folder of skills in a bundle, and by default in a project."""
COMMAND_GROUPS: Final = ("console_scripts", "gui_scripts")
"""Entry point groups for which installers write scripts (PyPA, Entry points specification)."""
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

    def locked_files(self) -> dict[str, FileEntry]:
        """Return the files that the lock lists, by their path in the archive."""
        lock = self.lock.value
        return (
            {}
            if lock is None
            else {self.skill_path(path): one for path, one in lock.tree().items()}
        )


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


def name_problems(contents: ArchiveContents) -> tuple[Problem, ...]:
    """Return every name that belongs to another distribution, package or collection.

    File name, folders, metadata and entry points are compared; some tool relies on each of them.
    """
    checks = [_sdist_problems]
    if contents.archive.kind == "wheel":
        checks = [_wheel_problems, _entry_point_problems]
    return tuple(problem for check in checks for problem in check(contents))


def _problem(code: str, message: str, path: str) -> Problem:
    return Problem(code=code, message=message, path=path)


def _sdist_problems(contents: ArchiveContents) -> Iterator[Problem]:
    archive = contents.archive
    yield from _metadata_problems(contents)
    if archive.top != archive.file_name.removesuffix(".tar.gz"):
        yield _problem("top_folder", "is not the folder named in the file name", archive.top)


def _metadata_problems(contents: ArchiveContents) -> Iterator[Problem]:
    """Compare the metadata with the file name."""
    place, identity = contents.metadata_path, contents.identity
    name, version = name_and_version(contents.archive.file_name)
    if not identity.known:
        yield _problem("no_metadata", "is missing", place)
    elif name != identity.name or not metadata_files.same_version(version, identity.version):
        message = f"is of {identity.name} {identity.version}, unlike the file name"
        yield _problem("file_name", message, place)


def _wheel_problems(contents: ArchiveContents) -> Iterator[Problem]:
    archive = contents.archive
    if not contents.dist_info:
        listed = ", ".join(dist_infos(archive)) or "none"
        message = f"must have exactly one .dist-info folder; it has {listed}"
        yield _problem("dist_info", message, archive.file_name)
        return
    yield from _metadata_problems(contents)
    stem = contents.dist_info.removesuffix(DIST_INFO_SUFFIX)
    found, named = map(name_and_version, (f"{stem}-py3-none-any.whl", archive.file_name))
    if found[0] != named[0] or not metadata_files.same_version(found[1], named[1]):
        yield _problem("file_name", "is not the folder named in the file name", contents.dist_info)
    commands = [name for group in COMMAND_GROUPS for name in _entry_points(contents, group) or {}]
    found = install_problems(archive.members, contents.dist_info, commands)
    yield from islice(found, ARCHIVE_MAX_PROBLEMS)
    if contents.record is None:
        yield _problem("no_record", "is missing", f"{contents.dist_info}/{RECORD_FILE_NAME}")
    else:
        yield from contents.record.problems
    if contents.lock.value is not None:  # wheels of others are often renamed
        yield from _tag_problems(contents)


def _tag_problems(contents: ArchiveContents) -> Iterator[Problem]:
    """Compare the tags, by which installers choose, with those in the file name."""
    place = f"{contents.dist_info}/WHEEL"
    data = contents.archive.read(place)
    if data is None:
        yield _problem("no_metadata", "is missing", place)
        return
    lines = data.decode(errors="replace").splitlines()
    declared = [line.partition(":")[2].strip() for line in lines if line.startswith("Tag:")]
    try:
        tags = frozenset(tag for text in declared for tag in parse_tag(text))
        holds = parse_wheel_filename(contents.archive.file_name)[3] == tags
    except (InvalidWheelFilename, ValueError):
        holds = False
    if not holds:
        yield _problem("file_name", "has other tags than the file name", place)


def _entry_point_problems(contents: ArchiveContents) -> Iterator[Problem]:
    """Compare the entry point, by which a server finds the collection, with what is there."""
    mark = f"/{BUNDLE_FOLDER}/{LOCK_FILE_NAME}"
    for path in contents.archive.members:
        if path.endswith(mark) and path != contents.lock_path:
            yield _problem("second_bundle", "is the lock of a second bundle", path)
    place = f"{contents.dist_info}/entry_points.txt"
    declared = _entry_points(contents, ENTRY_POINT_GROUP)
    lock = contents.lock.value
    if declared is None:
        yield _problem("entry_point", "is malformed: tools read it differently", place)
    elif lock is not None:
        name, package = lock.collection, contents.package.replace("/", ".")
        if declared != {name: package}:
            message = f"does not have `{name} = {package}` as the only entry of {ENTRY_POINT_GROUP}"
            yield _problem("entry_point", message, place)


def _entry_points(contents: ArchiveContents, group: str) -> dict[str, str] | None:
    """Return a group of a wheel's entry points; None if the file is malformed."""
    data = contents.archive.read(f"{contents.dist_info}/entry_points.txt")
    if data is None:
        return {}
    groups = metadata_files.parse_entry_points(data)
    return None if groups is None else groups.get(group, {})

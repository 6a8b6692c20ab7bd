"""Edge: the `.dist-info` beside a package, and installed packages found by what RECORD lists.

Only the folder that holds the package is looked at. `importlib.metadata` would walk all of
`sys.path`, where another folder can answer first.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from skills_bundle.bundle.lock import BUNDLE_FOLDER, LOCK_FILE_NAME
from skills_bundle.errors import UnsafeFileError
from skills_bundle.files import reading
from skills_bundle.files.paths import from_disk, is_junk
from skills_bundle.files.reading import unreadable
from skills_bundle.formats import limits, metadata_files
from skills_bundle.formats.digest import sha256_hex
from skills_bundle.formats.metadata_files import DIST_INFO_SUFFIX, RECORD_FILE_NAME, RecordFile

if TYPE_CHECKING:
    from pathlib import Path

    from skills_bundle.files.reading import Reader

METADATA_FILE_NAME: Final = "METADATA"


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution:
    """What the installer left beside the package.

    Attributes:
        name: Normalised name (`skills-bundle`): METADATA's, else the folder's.
        version: As METADATA spells it, else as the name of the folder does.
        folder: Name of the `.dist-info` folder; None if the folder that would hold it cannot be
            listed.
        record: RECORD, or None when there is none that can be read.
        record_refused: Why there is none, unless it is simply not there.
        metadata_sha256: Digest of METADATA, or None if it was not read.
    """

    name: str
    version: str
    folder: str | None
    record: RecordFile | None
    record_refused: UnsafeFileError | None
    metadata_sha256: str | None


def normalised(name: str) -> str:
    """Return the normalised form of a distribution's name.

    Source:
        PyPA, Names and normalization.
    """
    return re.sub(r"[-_.]+", "-", name).lower()


def find(
    site: Path, name: str, package: str, *, version: str = "", follow_last: bool = False
) -> Distribution | None:
    """Find the distribution called `name` in the folder that holds the package.

    An interrupted upgrade can leave two. The one whose RECORD lists files of the package is meant,
    whatever its METADATA says or whether there is one; if both do, one of that name before another,
    and the last by folder, so that the answer does not depend on the order of the disk.

    Args:
        site: The folder that holds the package, for example `site-packages`.
        name: Distribution name in any spelling.
        package: The package's folder relative to `site`, `/` between components.
        version: The version to report if `site` cannot be listed.
        follow_last: As for `reading.Reader`: for an installation that consists of links.
    """
    wanted = normalised(name)
    names = folders(site, name)
    if names is None:
        return Distribution(
            name=wanted,
            version=version,
            folder=None,
            record=None,
            record_refused=UnsafeFileError("unreadable", RECORD_FILE_NAME),
            metadata_sha256=None,
        )
    found = [_read(site, folder, follow_last=follow_last) for folder in names]
    there = [one for one in found if one is not None]
    listing = [one for one in there if one.record and one.record.below(f"{package}/")]
    named = [one for one in listing if one.name == wanted]
    usable = [one for one in there if one.name == wanted]
    return next(reversed(named or listing or usable), None)


def folders(site: Path, name: str) -> tuple[str, ...] | None:
    """Return the `.dist-info` folders named after a distribution; None if they cannot be listed.

    Raises:
        OSError: If the system has no descriptors left.
    """
    wanted = normalised(name)
    try:
        names = os.listdir(site)  # noqa: PTH208 -- names are all that is needed
    except (FileNotFoundError, NotADirectoryError):
        return ()
    except OSError as error:
        if reading.is_of_the_system(error):
            raise
        return None
    return tuple(sorted(one for one in map(from_disk, names) if _parts(one)[0] == wanted))


def _parts(folder: str) -> tuple[str, str]:
    """Return the name and version in the name of a `.dist-info` folder, or empty text."""
    stem = folder.removesuffix(DIST_INFO_SUFFIX)
    name, _, version = stem.partition("-")
    return ("", "") if stem == folder else (normalised(name), version)


def _read(site: Path, folder: str, *, follow_last: bool) -> Distribution | None:
    """Read a `.dist-info`; None if neither METADATA nor RECORD is there."""
    with reading.Reader(site, follow_last=follow_last) as reader:
        metadata = _part(reader, f"{folder}/{METADATA_FILE_NAME}", limits.METADATA_MAX_BYTES)
        record = _part(reader, f"{folder}/{RECORD_FILE_NAME}", limits.RECORD_MAX_BYTES)
    if _is_missing(metadata) and _is_missing(record):
        return None
    name, version = _parts(folder)
    head = metadata_files.parse_metadata(metadata if isinstance(metadata, bytes) else b"")
    if (stated := head.first("name")) and (stated_version := head.first("version")):
        name, version = normalised(stated), stated_version
    refused = record if isinstance(record, UnsafeFileError) and not _is_missing(record) else None
    return Distribution(
        name=name,
        version=version,
        folder=folder,
        record=metadata_files.parse_record(record) if isinstance(record, bytes) else None,
        record_refused=refused,
        metadata_sha256=sha256_hex(metadata) if isinstance(metadata, bytes) else None,
    )


def _part(reader: Reader, path: str, limit: int) -> bytes | UnsafeFileError:
    try:
        return reader.read_up_to(path, limit).data
    except UnsafeFileError as error:
        return error


def _is_missing(found: bytes | UnsafeFileError) -> bool:
    return isinstance(found, UnsafeFileError) and found.kind == "missing"


_MARK: Final = f"/{BUNDLE_FOLDER}/{LOCK_FILE_NAME}"
_LEVELS: Final = 8
"""Folders above a package that may hold its `.dist-info`: packages lie in namespaces."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InstalledPackage:
    """An installed package with a bundle.

    Attributes:
        site: The folder that holds the package, and that paths are relative to.
        package: The package's folder.
        dist_info: Name of the `.dist-info`, "" if there is none.
        listed: What RECORD lists below `site`, byte code left out.
    """

    site: Path
    package: str
    dist_info: str
    listed: frozenset[str]


def of_dist_info(folder: Path) -> InstalledPackage:
    """Find the package of a `.dist-info`.

    Raises:
        UnreadableSideError: If its RECORD lists no bundle.
    """
    found = _read_package(folder.parent, from_disk(folder.name))
    if found is None:
        raise unreadable("no_bundle", "lists no package with a bundle in its RECORD", folder.name)
    return found


def of_package(site: Path, package: str) -> InstalledPackage:
    """Find the `.dist-info` of a package; without one, return the package alone."""
    found = [one for one in in_site(site) if one.package == package]
    if found:
        return found[-1]
    return InstalledPackage(site=site, package=package, dist_info="", listed=frozenset())


def around(folder: Path) -> InstalledPackage:
    """Find the installation that a package's folder belongs to."""
    for site in folder.parents[:_LEVELS]:
        package = from_disk(folder.relative_to(site).as_posix())
        found = of_package(site, package)
        if found.dist_info:
            return found
    return of_package(folder.parent, from_disk(folder.name))


def in_site(site: Path) -> list[InstalledPackage]:
    """Return every installed package with a bundle in one folder, by name of its `.dist-info`."""
    try:
        names = sorted(from_disk(path.name) for path in site.iterdir())
    except OSError:
        return []
    found = [_read_package(site, name) for name in names if name.endswith(DIST_INFO_SUFFIX)]
    return [one for one in found if one is not None]


def _read_package(site: Path, dist_info: str) -> InstalledPackage | None:
    try:
        with reading.Reader(site) as reader:
            data = reader.read_up_to(f"{dist_info}/{RECORD_FILE_NAME}", limits.RECORD_MAX_BYTES)
    except UnsafeFileError:
        return None
    rows = metadata_files.parse_record(data.data).rows
    packages = [path.removesuffix(_MARK) for path in rows if path.endswith(_MARK)]
    if not packages:
        return None
    listed = frozenset(path for path in rows if _is_below(path) and not is_junk(path))
    return InstalledPackage(site=site, package=min(packages), dist_info=dist_info, listed=listed)


def _is_below(path: str) -> bool:
    """Return whether a path of RECORD leads below its folder: scripts lie elsewhere."""
    return not {"", ".", ".."}.intersection(path.split("/"))

"""Edge: the `.dist-info` beside a package, and installed packages found by what RECORD lists.

Only the folder that holds the package is looked at. `importlib.metadata` would walk all of
`sys.path`, where another folder can answer first.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from packaging.version import InvalidVersion, Version

from skills_bundle.bundle.lock import BUNDLE_FOLDER, LOCK_FILE_NAME
from skills_bundle.errors import Problem, UnsafeFileError
from skills_bundle.files import reading
from skills_bundle.files.paths import from_disk, is_junk, shown
from skills_bundle.files.reading import unreadable
from skills_bundle.formats import limits, metadata_files
from skills_bundle.formats.digest import sha256_hex
from skills_bundle.formats.limits import MIB
from skills_bundle.formats.metadata_files import DIST_INFO_SUFFIX, RECORD_FILE_NAME, RecordFile

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from skills_bundle.files.reading import Reader

METADATA_FILE_NAME: Final = "METADATA"
ENTRY_POINTS_FILE_NAME: Final = "entry_points.txt"
_FIT_MAX_BYTES: Final = MIB
"""Bytes of a file that is read to choose between two `.dist-info` folders."""
_SHOWN_CHARACTERS: Final = 128
"""Characters of METADATA's name and version in a message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution:
    """What the installer left beside the package.

    Attributes:
        name: Normalised name (`skills-bundle`), from the name of the folder: METADATA is one of the
            files to be verified, so it cannot decide whose RECORD and receipt are compared.
        version: As METADATA spells the folder's version, else as the folder does.
        folder: Name of the `.dist-info` folder; None if the folder that would hold it cannot be
            listed.
        record: RECORD, or None when there is none that can be read.
        record_refused: Why there is none, unless it is simply not there.
        metadata_sha256: Digest of METADATA, or None if it was not read.
        problems: Why METADATA is not that of the folder's distribution and version.
        leftovers: Names of other `.dist-info` folders of this distribution, sorted.
    """

    name: str
    version: str
    folder: str | None
    record: RecordFile | None
    record_refused: UnsafeFileError | None
    metadata_sha256: str | None
    problems: tuple[Problem, ...] = ()
    leftovers: tuple[str, ...] = ()


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

    An interrupted upgrade can leave two. Those whose RECORD lists files of the package come first,
    whatever METADATA says or whether there is one. Of several, the one counts whose RECORD fits the
    files that are there best, and the highest version if they fit equally well.

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
    if not there:
        return None
    chosen = _best(site, there, package, follow_last=follow_last)
    others = tuple(one.folder for one in there if one is not chosen and one.folder is not None)
    return replace(chosen, leftovers=others)


def _best(
    site: Path, found: Sequence[Distribution], package: str, *, follow_last: bool = False
) -> Distribution:
    """Return the distribution whose RECORD fits the package best; of several, the newest."""
    listing = [one for one in found if one.record and one.record.below(f"{package}/")]
    usable = listing or found
    if len(usable) == 1:
        return usable[0]
    digests: dict[str, str | None] = {}
    with reading.Reader(site, follow_last=follow_last) as reader:
        faults = [_faults(reader, one.record, package, digests) for one in usable]
    fitting = [one for one, number in zip(usable, faults, strict=True) if number == min(faults)]
    return max(fitting, key=lambda one: (version_key(one.version), one.folder or ""))


def _faults(
    reader: Reader, record: RecordFile | None, package: str, digests: dict[str, str | None]
) -> int:
    """Return how many files of a package differ from RECORD; large files are not read."""
    rows = {} if record is None else record.below(f"{package}/")
    number = 0
    for path, row in rows.items():
        if row.sha256 is None or (row.size or 0) > _FIT_MAX_BYTES:
            continue
        if path not in digests:
            data = _part(reader, path, _FIT_MAX_BYTES)
            digests[path] = sha256_hex(data) if isinstance(data, bytes) else None
        number += digests[path] != row.sha256
    return number


def version_key(version: str) -> tuple[bool, Version | str]:
    """Return a key that sorts versions by PEP 440; those that are none come first, as text.

    Args:
        version: As METADATA or the name of a `.dist-info` folder spells it.
    """
    try:
        return True, Version(version.replace("_", "-"))
    except InvalidVersion:
        return False, version


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
    return tuple(sorted(one for one in map(from_disk, names) if name_parts(one)[0] == wanted))


def name_parts(folder: str) -> tuple[str, str]:
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
    name, version = name_parts(folder)
    problems: tuple[Problem, ...] = ()
    if isinstance(metadata, bytes):
        head = metadata_files.parse_metadata(metadata)
        stated, stated_version = head.first("name") or "", head.first("version") or ""
        if is_named(folder, stated, stated_version):
            version = stated_version
        else:
            problems = (_foreign_metadata(folder, stated, stated_version),)
    refused = record if isinstance(record, UnsafeFileError) and not _is_missing(record) else None
    return Distribution(
        name=name,
        version=version,
        folder=folder,
        record=metadata_files.parse_record(record) if isinstance(record, bytes) else None,
        record_refused=refused,
        metadata_sha256=sha256_hex(metadata) if isinstance(metadata, bytes) else None,
        problems=problems,
    )


def is_named(folder: str, name: str, version: str) -> bool:
    """Return whether a `.dist-info` folder is named after a distribution and its version.

    Args:
        folder: Its name; one without a version fits each.
        name: The name that METADATA states, in any spelling.
        version: The version that METADATA states.
    """
    of_folder, version_of_folder = name_parts(folder)
    if not version or normalised(name) != of_folder:
        return False
    return not version_of_folder or metadata_files.same_version(
        version_of_folder.replace("_", "-"), version.replace("_", "-")
    )


def _foreign_metadata(folder: str, name: str, version: str) -> Problem:
    """Return the problem of METADATA that is not that of its folder's distribution."""
    stated = shown(f"{name} {version}".strip())[:_SHOWN_CHARACTERS] or "no distribution"
    message = f"{METADATA_FILE_NAME} names {stated}, unlike its folder {shown(folder)}"
    return Problem(code="metadata", message=message, path=METADATA_FILE_NAME)


def _part(reader: Reader, path: str, limit: int) -> bytes | UnsafeFileError:
    try:
        return reader.read_up_to(path, limit).data
    except UnsafeFileError as error:
        return error


def _is_missing(found: bytes | UnsafeFileError) -> bool:
    return isinstance(found, UnsafeFileError) and found.kind == "missing"


def damaged(site: Path, collection: str) -> list[str]:
    """Return the `.dist-info` folders in a folder that lost what could declare a collection.

    These are folders named after the collection whose METADATA cannot be read, and those whose
    RECORD lists a bundle and other entry points than there are.

    Args:
        site: The folder that holds them; may be missing.
        collection: The collection's name.
    """
    found = {
        folder
        for folder in folders(site, collection) or ()
        if (one := _read(site, folder, follow_last=False)) is None or one.metadata_sha256 is None
    }
    found |= {one.dist_info for one in in_site(site) if _lacks_entry_points(site, one.dist_info)}
    return sorted(found)


def _lacks_entry_points(site: Path, folder: str) -> bool:
    path = f"{folder}/{ENTRY_POINTS_FILE_NAME}"
    found = _read(site, folder, follow_last=False)
    row = None if found is None or found.record is None else found.record.rows.get(path)
    if row is None:
        return False
    with reading.Reader(site) as reader:
        data = _part(reader, path, limits.METADATA_MAX_BYTES)
    return not isinstance(data, bytes) or row.sha256 not in {None, sha256_hex(data)}


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
    if len(found) > 1:
        read = [_read(site, one.dist_info, follow_last=False) for one in found]
        best = _best(site, [one for one in read if one is not None], package)
        found = [one for one in found if one.dist_info == best.folder]
    if found:
        return found[0]
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

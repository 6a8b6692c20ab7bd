"""Edge: installed packages with a bundle, found by what RECORD lists; nothing is imported."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from skills_bundle.bundle.lock import LOCK_FILE_NAME
from skills_bundle.errors import UnsafeFileError
from skills_bundle.files import reading
from skills_bundle.files.names import from_disk
from skills_bundle.files.paths import is_junk
from skills_bundle.files.reading import unreadable
from skills_bundle.formats import limits, metadata_files
from skills_bundle.formats.metadata_files import DIST_INFO_SUFFIX, RECORD_FILE_NAME
from skills_bundle.installed.location import BUNDLE_FOLDER

if TYPE_CHECKING:
    from pathlib import Path

_MARK: Final = f"/{BUNDLE_FOLDER}/{LOCK_FILE_NAME}"
_LEVELS: Final = 8
"""Folders above a package that may hold its `.dist-info`: packages lie in namespaces."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
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


def of_dist_info(folder: Path) -> Found:
    """Find the package of a `.dist-info`.

    Raises:
        UnreadableSideError: If its RECORD lists no bundle.
    """
    found = _read(folder.parent, from_disk(folder.name))
    if found is None:
        raise unreadable("no_bundle", "lists no package with a bundle in its RECORD", folder.name)
    return found


def of_package(site: Path, package: str) -> Found:
    """Find the `.dist-info` of a package; without one, the package stands for itself."""
    found = [one for one in in_site(site) if one.package == package]
    if found:
        return found[-1]
    return Found(site=site, package=package, dist_info="", listed=frozenset())


def around(folder: Path) -> Found:
    """Find the installation that a package's folder belongs to."""
    for site in folder.parents[:_LEVELS]:
        package = from_disk(folder.relative_to(site).as_posix())
        found = of_package(site, package)
        if found.dist_info:
            return found
    return of_package(folder.parent, from_disk(folder.name))


def in_site(site: Path) -> list[Found]:
    """Give every installed package with a bundle in one folder, by the name of its `.dist-info`."""
    try:
        names = sorted(from_disk(path.name) for path in site.iterdir())
    except OSError:
        return []
    found = [_read(site, name) for name in names if name.endswith(DIST_INFO_SUFFIX)]
    return [one for one in found if one is not None]


def _read(site: Path, dist_info: str) -> Found | None:
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
    return Found(site=site, package=min(packages), dist_info=dist_info, listed=listed)


def _is_below(path: str) -> bool:
    """Tell whether a path of RECORD leads below its folder: scripts lie elsewhere."""
    return not {"", ".", ".."}.intersection(path.split("/"))

"""Edge: the `.dist-info` beside a package: name, version and RECORD of what installed it.

Only the folder that holds the running package is looked at. `importlib.metadata` would walk all of
`sys.path`, where a folder of somebody else's can answer first.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from skills_bundle import limits
from skills_bundle.bundle import record_file, safe_read
from skills_bundle.bundle.record_file import RECORD_FILE_NAME, RecordFile
from skills_bundle.errors import UnsafeFileError

if TYPE_CHECKING:
    from pathlib import Path

METADATA_FILE_NAME: Final = "METADATA"
_SUFFIX: Final = ".dist-info"


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution:
    """What the installer left beside the package.

    Attributes:
        name: Normalised name (`skills-bundle`).
        version: As METADATA spells it.
        folder: Name of the `.dist-info` folder.
        record: RECORD, or None when there is none that can be read.
    """

    name: str
    version: str
    folder: str
    record: RecordFile | None


def normalised(name: str) -> str:
    """Give the normalised form of a distribution's name.

    Source:
        PyPA, Names and normalization.
    """
    return re.sub(r"[-_.]+", "-", name).lower()


def find(site: Path, name: str, package: str) -> Distribution | None:
    """Find the distribution called `name` in the folder that holds the package.

    An interrupted upgrade can leave two. The one whose RECORD lists files of the package is meant;
    if both do, the last by name, so that the answer does not depend on the order of the disk.

    Args:
        site: The folder that holds the package, for example `site-packages`.
        name: Distribution name in any spelling.
        package: The package's folder relative to `site`, `/` between components.
    """
    wanted = normalised(name)
    found = [_read(site, folder) for folder in _folders(site, wanted)]
    usable = [one for one in found if one is not None and one.name == wanted]
    listing = [one for one in usable if one.record and one.record.below(f"{package}/")]
    return next(reversed(listing or usable), None)


def _folders(site: Path, wanted: str) -> list[str]:
    try:
        names = os.listdir(site)  # noqa: PTH208 -- names are all that is needed
    except OSError:
        return []
    return sorted(
        name
        for name in names
        if name.endswith(_SUFFIX) and normalised(name.removesuffix(_SUFFIX).split("-")[0]) == wanted
    )


def _read(site: Path, folder: str) -> Distribution | None:
    # The last component may be a link: uv's `--link-mode symlink` makes it one, and nothing here is
    # served. A wrong name or version shows when the receipt is compared with it.
    with safe_read.Reader(site, follow_last=True) as reader:
        try:
            metadata = reader.read_up_to(
                f"{folder}/{METADATA_FILE_NAME}", limits.METADATA_MAX_BYTES
            ).data
        except UnsafeFileError:
            return None
        headers = _headers(metadata)
        try:
            data = reader.read_up_to(f"{folder}/{RECORD_FILE_NAME}", limits.RECORD_MAX_BYTES).data
        except UnsafeFileError:
            data = None
    if not headers.get("name") or not headers.get("version"):
        return None
    return Distribution(
        name=normalised(headers["name"]),
        version=headers["version"],
        folder=folder,
        record=None if data is None else record_file.parse(data),
    )


def _headers(metadata: bytes) -> dict[str, str]:
    """Read the head of a core-metadata file; the standard library's e-mail parser costs 10 ms."""
    headers: dict[str, str] = {}
    for line in metadata.decode(errors="replace").splitlines():
        if not line:
            break
        key, colon, value = line.partition(":")
        if colon:
            headers.setdefault(key.strip().lower(), value.strip())
    return headers

"""Decision: files that a build makes for an sdist alone, so that no receipt speaks of them.

One receipt speaks for sdist and wheel. Where a project has hatchling write other core metadata into
its sdist, or a `setup.py` for old tools, nobody has a digest of that: it can be neither confirmed
nor contradicted. Whether it does so is said by files that the receipt's inputs cover.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from skills_bundle.errors import SettingsError
from skills_bundle.formats import toml
from skills_bundle.project import limits, settings
from skills_bundle.supply_chain.source.layout import LEGACY, table

if TYPE_CHECKING:
    from skills_bundle.archives.model import Archive
    from skills_bundle.supply_chain.source.layout import Table

PKG_INFO: Final = "PKG-INFO"
"""An sdist's core metadata (PyPA, Source distribution format)."""
_VERSION: Final = "core-metadata-version"


def apart(archive: Archive) -> frozenset[str]:
    """Give the paths of files that the build makes for this sdist alone.

    Args:
        archive: An sdist; a wheel has none of it.
    """
    if archive.kind == "wheel":
        return frozenset()
    build, _ = settings.build_table(_toml(archive, "pyproject.toml"), _toml(archive, "hatch.toml"))
    sdist, wheel = (table(build, "targets", target) for target in ("sdist", "wheel"))
    found = {PKG_INFO} if sdist.get(_VERSION) != wheel.get(_VERSION) else set[str]()
    return frozenset(found | ({LEGACY} if sdist.get("support-legacy") else set()))


def _toml(archive: Archive, path: str) -> Table:
    """Read a member as TOML; nothing if there is none that can be read."""
    member = archive.members.get(path)
    if member is None or len(member.data) > limits.PYPROJECT_MAX_BYTES:
        return {}
    try:
        return toml.parse(member.data, path)
    except SettingsError:
        return {}

"""Edge: where the running package lies, and how it got there.

Everything starts from the module that runs: not from the working directory, not from the
environment, not from a home folder. So the folder that a command runs in never answers for us.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import skills_bundle
from skills_bundle.bundle import sbom
from skills_bundle.bundle.lock import BUNDLE_FOLDER, LOCK_FILE_NAME, SKILLS_FOLDER
from skills_bundle.bundle.receipt import RECEIPT_FILE_NAME
from skills_bundle.errors import BundleUnavailableError, Problem
from skills_bundle.formats.metadata_files import RECORD_FILE_NAME
from skills_bundle.installed import distribution

if TYPE_CHECKING:
    from skills_bundle.formats.metadata_files import RecordFile
    from skills_bundle.installed.distribution import Distribution

OWN_NAME: Final = "skills-bundle"


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """A package on disk that carries a bundle, or should.

    Attributes:
        site: The folder that paths of RECORD are relative to, with links resolved.
        package: The package's folder below `site`, `/` between components.
        name: Normalised name of the distribution.
        version: Its version; from METADATA when there is one, else the package's own.
        sought: Normalised name of the distribution that was looked for.
        distribution: The `.dist-info` beside the package, or None.
        project: The project's folder when the package runs from its source, else None.
        linked: Whether the installer made links instead of files.
    """

    site: Path
    package: str
    name: str
    version: str
    sought: str
    distribution: Distribution | None
    project: Path | None
    linked: bool

    @property
    def skills_prefix(self) -> str:
        """The prefix of a locked path below `site`."""
        return f"{self.package}/{SKILLS_FOLDER}/"

    @property
    def lock_path(self) -> str:
        """The lock's path below `site`."""
        return f"{self.package}/{BUNDLE_FOLDER}/{LOCK_FILE_NAME}"

    @property
    def receipt_path(self) -> str:
        """The receipt's path below `site`."""
        return f"{self.package}/{BUNDLE_FOLDER}/{RECEIPT_FILE_NAME}"

    @property
    def metadata_folder(self) -> str | None:
        """The `.dist-info` folder below `site`, if it is known."""
        return None if self.distribution is None else self.distribution.folder

    @property
    def metadata_path(self) -> str | None:
        """The path of METADATA below `site`, if its folder is known."""
        return self._beside_metadata(distribution.METADATA_FILE_NAME)

    @property
    def record_path(self) -> str | None:
        """The path of RECORD below `site`, if its folder is known."""
        return self._beside_metadata(RECORD_FILE_NAME)

    @property
    def sbom_path(self) -> str | None:
        """The path of the bill of materials below `site`, if its folder is known."""
        folder = self.metadata_folder
        return None if folder is None else sbom.path(folder, self.name)

    def _beside_metadata(self, name: str) -> str | None:
        folder = self.metadata_folder
        return None if folder is None else f"{folder}/{name}"

    @property
    def record(self) -> RecordFile | None:
        """RECORD, if there is one that can be read."""
        return None if self.distribution is None else self.distribution.record


def locate(
    package_file: str | None = skills_bundle.__file__,
    *,
    import_name: str = skills_bundle.__name__,
    name: str = OWN_NAME,
    version: str = skills_bundle.__version__,
) -> Installed:
    """Find the installation that a package runs from.

    Args:
        package_file: The package's `__file__`.
        import_name: Its dotted name; its length says how far above it RECORD's paths begin.
        name: The distribution it belongs to.
        version: The version to report when no metadata lies beside the package.

    Raises:
        BundleUnavailableError: If the package runs from inside an archive.
    """
    folder = _package_folder(package_file)
    site = folder.parents[import_name.count(".")]
    return locate_in(site, import_name=import_name, name=name, version=version)


def locate_in(site: Path, *, import_name: str, name: str, version: str) -> Installed:
    """Describe the installation of a package, whether or not its files are still there.

    Args:
        site: The folder that paths of RECORD are relative to, with links resolved.
        import_name: The package's dotted name.
        name: The distribution it belongs to.
        version: The version to report when no metadata lies beside the package.
    """
    package = import_name.replace(".", "/")
    folder = site / package
    made_of_links = _is_link(folder / "__init__.py")
    found = distribution.find(site, name, package, version=version, follow_last=made_of_links)
    return Installed(
        site=site,
        package=package,
        name=distribution.normalised(name) if found is None else found.name,
        version=version if found is None else found.version,
        sought=distribution.normalised(name),
        distribution=found,
        project=_project(folder, site) if found is None else None,
        linked=made_of_links and _is_link(folder / BUNDLE_FOLDER / LOCK_FILE_NAME),
    )


def _package_folder(package_file: str | None) -> Path:
    """Return the package's folder; its parents may be links (a linked environment is common)."""
    # Only the folder is resolved: with `--link-mode symlink` the file is a link into a cache, and
    # following it would leave the installation.
    folder = None if package_file is None else Path(os.path.realpath(Path(package_file).parent))
    if folder is not None and folder.is_dir():
        return folder
    problem = Problem(
        code="not_a_folder",
        message="The package is not in a regular folder: it runs from a zip archive or "
        "was frozen into a program. Install the wheel with pip, pipx or uv.",
    )
    raise BundleUnavailableError("No bundle can be read from here.", (problem,))


def _project(folder: Path, site: Path) -> Path | None:
    """Return the project of a package that lies in `<project>/src` or `<project>`."""
    if (folder / BUNDLE_FOLDER).exists():
        return None
    roots = [site.parent, site] if site.name == "src" else [site]
    return next((root for root in roots if (root / "pyproject.toml").is_file()), None)


def _is_link(path: Path) -> bool:
    try:
        return stat.S_ISLNK(path.lstat().st_mode)
    except OSError:
        return False

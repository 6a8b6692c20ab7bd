"""Edge: the skills of a project that runs from its own source, as they are now.

An editable installation has no bundle: the hook leaves it alone, since somebody is editing skills.
What is served then is what a scan finds at the moment of asking, and nothing is claimed about it.
The scan and its YAML reader are imported when they are needed, so that an installed bundle never
pays for them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from threading import Lock
from typing import TYPE_CHECKING

from skills_bundle.bundle import limits, provenance
from skills_bundle.bundle import lock as locks
from skills_bundle.bundle.documents import Document, Identity
from skills_bundle.bundle.file_rows import Holdings
from skills_bundle.bundle.lock import LOCK_FILE_NAME
from skills_bundle.bundle.verify import Evidence, Verification, verify
from skills_bundle.bundle.view import View
from skills_bundle.errors import (
    BundleUnavailableError,
    InvalidLockError,
    SkillsBundleError,
    UnsafeFileError,
)
from skills_bundle.files import reading
from skills_bundle.files.names import from_disk, shown, to_disk
from skills_bundle.formats.digest import sha256_hex

if TYPE_CHECKING:
    from pathlib import Path

    from skills_bundle.bundle.lock import CatalogLock
    from skills_bundle.installed.location import Installed


@dataclass(frozen=True, slots=True)
class Scanned:
    """A project's skills at one moment.

    Attributes:
        folder: The skills folder.
        lock: What a lock of the skills that can be read holds.
        refused: Number of skill folders that cannot be read.
    """

    folder: Path
    lock: CatalogLock
    refused: int


def scan_project(project: Path) -> Scanned:
    """Scan a project's skills as its settings say, asking nothing of git.

    Raises:
        BundleUnavailableError: If the settings are wrong or there is no skills folder.
    """
    from skills_bundle.bundle import assemble  # noqa: PLC0415 -- see the docstring above
    from skills_bundle.project import settings  # noqa: PLC0415 -- see the docstring above
    from skills_bundle.skills.model import FileFacts  # noqa: PLC0415 -- likewise
    from skills_bundle.skills.scan import scan  # noqa: PLC0415 -- likewise

    try:
        chosen = settings.read(project / "pyproject.toml")
        folder = project / to_disk(chosen.skills)
        facts = FileFacts(_committed_lock(project))
        found = scan(folder, facts, exclude=chosen.exclude, is_project=chosen.skills == ".")
        usable = replace(found, refused=(), problems=())
        return Scanned(folder, assemble.lock(chosen.collection, usable), len(found.refused))
    except SkillsBundleError as error:
        summary = f"The skills of this source checkout cannot be read: {error.summary}"
        raise BundleUnavailableError(summary, error.problems) from error


def _committed_lock(project: Path) -> CatalogLock | None:
    """Give the project's lock, if it can be read: it knows x bits that a disk may have lost."""
    try:
        with reading.Reader(project) as reader:
            return locks.parse(reader.read_up_to(LOCK_FILE_NAME, limits.LOCK_MAX_BYTES).data)
    except (UnsafeFileError, InvalidLockError):
        return None


class LiveBundle:
    """Skills served from a source checkout, scanned anew for every question.

    Args:
        place: A place that has a project.
        project: That project's folder.
    """

    def __init__(self, place: Installed, project: Path) -> None:
        """Touch nothing yet."""
        self._place = place
        self._project = project
        self._guard = Lock()
        self._scanned: Scanned | None = None
        self._view: View | None = None

    def current(self) -> View:
        """Scan again; see `view.Bundle.current`. Equal skills give the same view."""
        with self._guard:
            scanned = scan_project(self._project)
            if self._view is None or scanned != self._scanned:
                self._view = self._view_of(scanned)
            self._scanned = scanned
            return self._view

    @property
    def folder(self) -> Path:
        """The skills folder, by the last scan, or the one to be scanned."""
        scanned = self._scanned or scan_project(self._project)
        return scanned.folder

    def read(self, path: str) -> bytes:
        """Read a file of the last scan; see `view.Bundle.read`."""
        view, scanned = self._view, self._scanned
        if view is None or scanned is None or path not in view.files:
            raise UnsafeFileError("missing", path)
        data = reading.read(scanned.folder, path, view.files[path].size)
        if sha256_hex(data) != view.files[path].sha256:
            raise UnsafeFileError("changed", path)
        return data

    def verification(self) -> Verification:
        """Say that nothing can be told about these files, and what is served of them."""
        view = self.current()
        place = self._place
        return verify(
            Evidence(
                location=shown(from_disk(str(place.site / place.package))),
                layout="source",
                identity=Identity(place.name, place.version, known=False),
                lock=Document(state="ok", value=view.lock, sha256=view.provenance.catalog_sha256),
                receipt=Document(state="missing"),
                record=None,
                holdings=Holdings(package=place.package),
            )
        )

    def _view_of(self, scanned: Scanned) -> View:
        lock, place = scanned.lock, self._place
        block = provenance.describe(
            provenance.Bundle(
                collection=lock.collection,
                name=place.name,
                version=place.version,
                catalog_sha256=sha256_hex(lock.to_bytes()),
                receipt=None,
                receipt_sha256=None,
                gaps=frozenset({"editable_install"}),
            )
        )
        return View(
            lock=lock,
            files=lock.files(),
            provenance=block,
            altered=frozenset(),
            refused=scanned.refused,
        )

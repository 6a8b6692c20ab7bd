"""Edge: the installed bundle while it is served, and the whole verification of an installation."""

from __future__ import annotations

import time
from threading import Lock
from typing import TYPE_CHECKING

from skills_bundle import limits
from skills_bundle.bundle import documents, installed, safe_read
from skills_bundle.bundle.distribution import METADATA_FILE_NAME
from skills_bundle.bundle.documents import Document, Identity
from skills_bundle.bundle.file_rows import Holdings
from skills_bundle.bundle.installed import BUNDLE_FOLDER
from skills_bundle.bundle.inventory import Inventory
from skills_bundle.bundle.record_file import RECORD_FILE_NAME
from skills_bundle.bundle.verify import Evidence, Verification, verify
from skills_bundle.bundle.view import View
from skills_bundle.errors import BundleUnavailableError, Problem, UnsafeFileError
from skills_bundle.formats.digest import sha256_hex

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from skills_bundle.bundle.installed import Installed
    from skills_bundle.bundle.lock import CatalogLock
    from skills_bundle.bundle.receipt import BuildReceipt
    from skills_bundle.bundle.record_file import RecordRow


class InstalledBundle:
    """A bundle in an installed package.

    Lock, receipt, RECORD and every locked file are looked at when it is first asked for and looked
    at again each time: by `stat`, and by reading what that shows to have changed.

    Args:
        find: Says where the installation is; asked again when lock, receipt or metadata change.
        clock: Nanoseconds since the epoch.
    """

    def __init__(
        self,
        find: Callable[[], Installed] = installed.locate,
        clock: Callable[[], int] = time.time_ns,
    ) -> None:
        """Touch nothing yet."""
        self._find = find
        self._clock = clock
        self._guard = Lock()
        self._loaded: _Loaded | None = None

    def current(self) -> View:
        """Look again and give what can be served; see `view.Bundle.current`."""
        with self._guard:
            if self._loaded is None or self._loaded.is_outdated():
                self._loaded = _Loaded(self._find(), self._clock)
            return self._loaded.view()

    def read(self, path: str) -> bytes:
        """Read a locked file and compare what was read with the lock; see `view.Bundle.read`."""
        loaded = self._loaded
        if loaded is None:
            raise UnsafeFileError("missing", path)
        return loaded.read(path)


def verify_installed(
    place: Installed, *, code: bool = True, clock: Callable[[], int] = time.time_ns
) -> Verification:
    """Verify an installation once.

    Args:
        place: Where it is.
        code: Also compare the package's own code with RECORD, and list the whole package.
        clock: Nanoseconds since the epoch.
    """
    return _Loaded(place, clock, code=code).verification()


class _Loaded:
    """One reading of lock, receipt and RECORD, and the files they speak of."""

    def __init__(self, place: Installed, clock: Callable[[], int], *, code: bool = False) -> None:
        self._place = place
        self._clock = clock
        self._control = self._watch_control()
        self._refresh_control()
        self._lock, self._receipt = self._read_documents()
        self._files = {} if self._lock.value is None else self._lock.value.files()
        self._inventory = self._watch_files(code=code)
        self._verification: Verification | None = None
        self._view: View | None = None

    def is_outdated(self) -> bool:
        """Tell whether lock, receipt or metadata are other ones than when this was loaded."""
        return self._refresh_control()

    def verification(self) -> Verification:
        """Look at the files again and give the verdict on all of it."""
        if self._inventory.refresh() or self._verification is None:
            self._verification = verify(self._evidence())
            self._view = None
        return self._verification

    def view(self) -> View:
        """Give what can be served, or say why nothing can."""
        verification = self.verification()
        if self._view is None:
            self._view = self._view_of(verification)
        return self._view

    def read(self, path: str) -> bytes:
        """Read one locked file; its bytes are hashed here and served from here."""
        file = self._files.get(path)
        if file is None:
            raise UnsafeFileError("missing", path)
        with safe_read.Reader(self._place.site, follow_last=self._place.linked) as reader:
            data = reader.read(self._place.skills_prefix + path, file.size)
        if sha256_hex(data) != file.sha256:
            raise UnsafeFileError("changed", path)
        return data

    def _watch_control(self) -> tuple[Inventory, ...]:
        place = self._place
        folder = None if place.distribution is None else place.distribution.folder
        both = {
            place.lock_path: limits.LOCK_MAX_BYTES,
            place.receipt_path: limits.RECEIPT_MAX_BYTES,
        }
        metadata = {
            f"{folder}/{METADATA_FILE_NAME}": limits.METADATA_MAX_BYTES,
            f"{folder}/{RECORD_FILE_NAME}": limits.RECORD_MAX_BYTES,
        }
        return (
            Inventory(place.site, both, follow_last=place.linked, clock=self._clock),
            Inventory(
                place.site,
                {} if folder is None else metadata,
                follow_last=True,
                clock=self._clock,
            ),
        )

    def _refresh_control(self) -> bool:
        changed = [inventory.refresh() for inventory in self._control]  # all, not up to the first
        return any(changed)

    def _read_documents(self) -> tuple[Document[CatalogLock], Document[BuildReceipt]]:
        place = self._place
        rows: Mapping[str, RecordRow] = {} if place.record is None else place.record.rows
        lock = documents.read_lock(
            self._found(place.lock_path, limits.LOCK_MAX_BYTES), rows.get(place.lock_path)
        )
        receipt = documents.read_receipt(
            self._found(place.receipt_path, limits.RECEIPT_MAX_BYTES),
            rows.get(place.receipt_path),
        )
        return documents.cross_check(lock, receipt, self._identity())

    def _found(self, path: str, limit: int) -> bytes | UnsafeFileError:
        try:
            with safe_read.Reader(self._place.site, follow_last=self._place.linked) as reader:
                return reader.read_up_to(path, limit).data
        except UnsafeFileError as error:
            return error

    def _identity(self) -> Identity:
        place = self._place
        return Identity(place.name, place.version, known=place.distribution is not None)

    def _watch_files(self, *, code: bool) -> Inventory:
        place = self._place
        most = {
            place.skills_prefix + path: max(file.size, limits.SKILL_MAX_BYTES)
            for path, file in self._files.items()
        }
        recorded = {} if place.record is None else place.record.below(f"{place.package}/")
        own = {place.lock_path, place.receipt_path}
        if code:
            locks_skills = self._lock.value is not None  # else RECORD alone speaks of the skills
            most |= {
                path: limits.RECORDED_FILE_MAX_BYTES
                for path, row in recorded.items()
                if row.sha256
                and path not in own
                and not (locks_skills and path.startswith(place.skills_prefix))
            }
        folder = place.package if code else f"{place.package}/{BUNDLE_FOLDER}"
        return Inventory(
            place.site, most, folders=(folder,), follow_last=place.linked, clock=self._clock
        )

    def _evidence(self) -> Evidence:
        place = self._place
        return Evidence(
            location=str(place.site / place.package),
            layout="linked" if place.linked else "installed",
            identity=self._identity(),
            lock=self._lock,
            receipt=self._receipt,
            record=place.record,
            holdings=Holdings(
                package=place.package,
                bundle_prefix=f"{place.package}/{BUNDLE_FOLDER}/",
                skills_prefix=place.skills_prefix,
                documents=frozenset({place.lock_path, place.receipt_path}),
                seen=self._inventory.seen,
                listed=self._inventory.listed,
            ),
        )

    def _view_of(self, verification: Verification) -> View:
        lock, block = self._lock.value, verification.provenance
        if lock is None or block is None:
            raise self._unavailable(verification)
        prefix = len(self._place.skills_prefix)
        return View(
            lock=lock,
            files=self._files,
            provenance=block,
            altered=frozenset(
                row.path[prefix:] for row in verification.files if "lock" in row.contradicted_by
            ),
        )

    def _unavailable(self, verification: Verification) -> BundleUnavailableError:
        place = self._place
        problems = [
            Problem(code=row.code, message=row.message, path=place.lock_path, line=row.line)
            for row in verification.lock.problems
        ]
        return BundleUnavailableError(
            f"Nothing can be served: the lock is {verification.lock.state}.", tuple(problems)
        )

"""Edge: the installed bundle while it is served, and the whole verification of an installation."""

from __future__ import annotations

import time
from threading import Lock
from typing import TYPE_CHECKING

from skills_bundle.bundle import documents
from skills_bundle.bundle import limits as bundle_limits
from skills_bundle.bundle.documents import Document, Identity
from skills_bundle.bundle.file_rows import Holdings
from skills_bundle.bundle.verify import Evidence, Verification, verify
from skills_bundle.bundle.view import View
from skills_bundle.errors import BundleUnavailableError, Problem, UnsafeFileError
from skills_bundle.files import limits as file_limits
from skills_bundle.files import reading
from skills_bundle.files.names import from_disk, shown
from skills_bundle.formats import limits as format_limits
from skills_bundle.formats.digest import sha256_hex
from skills_bundle.installed import location as installed
from skills_bundle.installed.control import Control
from skills_bundle.installed.inventory import Inventory
from skills_bundle.installed.location import BUNDLE_FOLDER
from skills_bundle.skills import limits as skill_limits

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from skills_bundle.bundle.lock import CatalogLock
    from skills_bundle.bundle.receipt import BuildReceipt
    from skills_bundle.formats.metadata_files import RecordRow
    from skills_bundle.installed.location import Installed


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
            return self._look_again().view()

    def _look_again(self) -> _Loaded:
        """Give what was read before, brought up to date, or read all of it anew.

        A change is noticed only once, so what was read before it is given up first: were the new
        state unreadable, the old one would be served from the next question on.
        """
        loaded, self._loaded = self._loaded, None
        try:
            if loaded is None or loaded.is_outdated():
                loaded = _Loaded(self._find, self._clock)
            loaded.verification()
        except OSError as error:
            summary = f"The system does not let us look at files: {error.strerror or error}."
            raise BundleUnavailableError(summary) from error
        self._loaded = loaded
        return loaded

    def read(self, path: str) -> bytes:
        """Read a locked file and compare what was read with the lock; see `view.Bundle.read`."""
        with self._guard:
            loaded = self._loaded
        if loaded is None:
            raise UnsafeFileError("missing", path)
        try:
            return loaded.read(path)
        except OSError as error:
            raise UnsafeFileError("unreadable", path) from error


def verify_installed(
    place: Installed, *, code: bool = True, clock: Callable[[], int] = time.time_ns
) -> Verification:
    """Verify an installation once.

    Args:
        place: Where it is.
        code: Also compare the package's own code with RECORD, and list the whole package.
        clock: Nanoseconds since the epoch.

    Raises:
        OSError: If the system has no descriptors or memory left to look with.
    """
    return _Loaded(lambda: place, clock, code=code).verification()


class _Loaded:
    """One reading of lock, receipt and RECORD, and the files they speak of."""

    def __init__(
        self, find: Callable[[], Installed], clock: Callable[[], int], *, code: bool = False
    ) -> None:
        self._clock = clock
        self._code = code
        self._control = Control(find(), clock)
        # Found again: an installer may have written between the two, and what was read before the
        # watch began would stay for good.
        self._place = find()
        self._lock, self._receipt = self._read_documents()
        self._files = {} if self._lock.value is None else self._lock.value.files()
        self._inventory = self._watch_files()
        self._verification: Verification | None = None
        self._view: View | None = None

    def is_outdated(self) -> bool:
        """Tell whether lock, receipt or metadata are other ones than when this was loaded."""
        return self._control.has_changed()

    def verification(self) -> Verification:
        """Look at the files again and give the verdict on all of it."""
        if self._inventory.refresh() or self._verification is None:
            self._verification = verify(self._evidence())
            self._view = None
        return self._verification

    def view(self) -> View:
        """Give what can be served, by the last verification, or say why nothing can."""
        verification = self._verification or self.verification()
        if self._view is None:
            self._view = self._view_of(verification)
        return self._view

    def read(self, path: str) -> bytes:
        """Read one locked file; its bytes are hashed here and served from here.

        Where that finds another state than the last look did, the file's times have lied, and are
        not believed at the next.
        """
        file = self._files.get(path)
        if file is None:
            raise UnsafeFileError("missing", path)
        full = self._place.skills_prefix + path
        try:
            with reading.Reader(self._place.site, follow_last=self._place.linked) as reader:
                data = reader.read(full, file.size)
        except UnsafeFileError:
            self._inventory.forget(full)
            raise
        found = sha256_hex(data)
        seen = self._inventory.seen.get(full)
        if seen is None or seen.sha256 != found:
            self._inventory.forget(full)
        if found != file.sha256:
            raise UnsafeFileError("changed", path)
        return data

    def _read_documents(self) -> tuple[Document[CatalogLock], Document[BuildReceipt]]:
        place = self._place
        rows: Mapping[str, RecordRow] = {} if place.record is None else place.record.rows
        lock = documents.read_lock(
            self._found(place.lock_path, bundle_limits.LOCK_MAX_BYTES), rows.get(place.lock_path)
        )
        receipt = documents.read_receipt(
            self._found(place.receipt_path, bundle_limits.RECEIPT_MAX_BYTES),
            rows.get(place.receipt_path),
        )
        return documents.cross_check(lock, receipt, self._identity())

    def _found(self, path: str, limit: int) -> bytes | UnsafeFileError:
        try:
            with reading.Reader(self._place.site, follow_last=self._place.linked) as reader:
                return reader.read_up_to(path, limit).data
        except UnsafeFileError as error:
            return error

    def _identity(self) -> Identity:
        found = self._place.distribution
        digest = None if found is None else found.metadata_sha256
        known = digest is not None
        return Identity(self._place.name, self._place.version, known=known, metadata_sha256=digest)

    def _watch_files(self) -> Inventory:
        place = self._place
        most = {
            place.skills_prefix + path: max(file.size, skill_limits.SKILL_MAX_BYTES)
            for path, file in self._files.items()
        }
        if self._code:
            most |= dict.fromkeys(self._recorded_beside_lock(), file_limits.RECORDED_FILE_MAX_BYTES)
        if place.metadata_path is not None:
            most[place.metadata_path] = format_limits.METADATA_MAX_BYTES
        rows: Mapping[str, RecordRow] = {} if place.record is None else place.record.rows
        return Inventory(
            place.site,
            most,
            folders=(place.package if self._code else f"{place.package}/{BUNDLE_FOLDER}",),
            algorithms={path: rows[path].algorithm for path in most if path in rows},
            follow_last=place.linked,
            clock=self._clock,
        )

    def _recorded_beside_lock(self) -> list[str]:
        """Give the files of the package, and of its metadata, that only RECORD speaks of."""
        place = self._place
        if place.record is None:
            return []
        wanted = place.record.wanted(f"{place.package}/")
        if place.metadata_folder is not None:
            wanted |= place.record.wanted(f"{place.metadata_folder}/")
        locks_skills = self._lock.value is not None  # else RECORD alone speaks of the skills
        own = {place.lock_path, place.receipt_path, place.record_path}
        return [
            path
            for path in wanted
            if path not in own and not (locks_skills and path.startswith(place.skills_prefix))
        ]

    def _evidence(self) -> Evidence:
        place = self._place
        return Evidence(
            location=shown(from_disk(str(place.site / place.package))),
            layout="linked" if place.linked else "installed",
            identity=self._identity(),
            lock=self._lock,
            receipt=self._receipt,
            record=place.record,
            record_refused=None
            if place.distribution is None
            else place.distribution.record_refused,
            unlisted=self._unlisted(),
            sbom=self._sbom(),
            holdings=Holdings(
                package=place.package,
                bundle_prefix=f"{place.package}/{BUNDLE_FOLDER}/",
                skills_prefix=place.skills_prefix,
                documents=frozenset({place.lock_path, place.receipt_path}),
                metadata=place.metadata_folder,
                seen=self._inventory.seen,
                listed=self._inventory.listed,
            ),
        )

    def _sbom(self) -> bytes | None:
        """Read the bill of materials, on which no answer rests; RECORD speaks of it, too."""
        path = self._place.sbom_path if self._code else None
        found = None if path is None else self._found(path, bundle_limits.SBOM_MAX_BYTES)
        return found if isinstance(found, bytes) else None

    def _unlisted(self) -> tuple[str, ...]:
        """Give which of lock, receipt and METADATA are there though RECORD does not list them."""
        place, record = self._place, self._place.record
        if record is None:
            return ()
        there = [
            (place.lock_path, self._lock.state != "missing"),
            (place.receipt_path, self._receipt.state != "missing"),
            (place.metadata_path, self._identity().known),
        ]
        return tuple(
            path for path, is_there in there if path and is_there and path not in record.rows
        )

    def _view_of(self, verification: Verification) -> View:
        lock, block = self._lock.value, verification.provenance
        if lock is None or block is None:
            raise self._unavailable(verification)
        prefix = self._place.skills_prefix
        states = {row.path: row.state for row in verification.files}
        return View(
            lock=lock,
            files=self._files,
            provenance=block,
            altered=frozenset(path for path in self._files if states.get(prefix + path) != "ok"),
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

"""Edge: a bundle while it is served, installed or in its own source, and its whole verification.

What decides how everything else is read (lock, receipt, metadata, RECORD) is watched, and a change
of one means to begin again. A project that runs from its source has no bundle: what is served then
is what a scan finds at the moment of asking, and nothing is claimed about it. The scan and its YAML
reader are imported when they are needed, so that an installed bundle never pays for them.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from threading import Lock
from typing import TYPE_CHECKING, Protocol

from skills_bundle.bundle import documents, provenance
from skills_bundle.bundle import limits as bundle_limits
from skills_bundle.bundle import lock as locks
from skills_bundle.bundle.documents import Document, Identity
from skills_bundle.bundle.lock import BUNDLE_FOLDER, LOCK_FILE_NAME
from skills_bundle.bundle.verification import (
    InstallationFacts,
    PackageFiles,
    Verification,
    verify,
)
from skills_bundle.errors import (
    BundleUnavailableError,
    InvalidLockError,
    Problem,
    SkillsBundleError,
    UnsafeFileError,
)
from skills_bundle.files import limits as file_limits
from skills_bundle.files import reading
from skills_bundle.files.paths import from_disk, shown
from skills_bundle.files.tree import FileTree
from skills_bundle.formats import limits as format_limits
from skills_bundle.formats.digest import sha256_hex
from skills_bundle.formats.metadata_files import RECORD_FILE_NAME
from skills_bundle.installed import distribution, limits
from skills_bundle.installed import location as installed
from skills_bundle.installed.distribution import METADATA_FILE_NAME
from skills_bundle.installed.inventory import Inventory
from skills_bundle.skills import limits as skill_limits

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from skills_bundle.bundle.lock import CatalogLock, LockedFile
    from skills_bundle.bundle.provenance import Provenance
    from skills_bundle.bundle.receipt import BuildReceipt
    from skills_bundle.files.reading import Fingerprint
    from skills_bundle.files.tree import FileEntry
    from skills_bundle.formats.metadata_files import RecordRow
    from skills_bundle.installed.location import Installed

_CODE_SUFFIXES = (".py", ".pyw", ".so", ".pyd", ".dll", ".dylib")

_METADATA_LIMITS = {
    METADATA_FILE_NAME: format_limits.METADATA_MAX_BYTES,
    RECORD_FILE_NAME: format_limits.RECORD_MAX_BYTES,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class BundleState:
    """A bundle at one moment.

    Attributes:
        lock: The lock; the same object as long as nothing in it changed.
        files: Every locked file by its path below the skills folder.
        provenance: What an answer from this state carries.
        altered: Locked paths whose file differs from the lock; not served.
        refused: Number of skill folders that could not be read; only a source checkout has any.
    """

    lock: CatalogLock
    files: Mapping[str, LockedFile]
    provenance: Provenance
    altered: frozenset[str]
    refused: int = 0


class Bundle(Protocol):
    """Locked skills that can be read."""

    def current(self) -> BundleState:
        """Look again at what is there.

        Raises:
            BundleUnavailableError: If there is no lock that can be believed.
        """
        ...

    def read(self, path: str) -> bytes:
        """Read a locked file, once.

        Args:
            path: A key of the `files` of the state that `current` returned last.

        Returns:
            Bytes whose size and digest are those of the lock.

        Raises:
            UnsafeFileError: If it is not the file that was locked.
        """
        ...


def skills_tree(bundle: Bundle) -> FileTree:
    """Return the skills of a bundle as a tree, without the files that differ from the lock.

    The executable bits are the lock's, since a disk may have lost them. Reading a file compares its
    bytes with the lock again.

    Raises:
        BundleUnavailableError: If there is no lock that can be believed.
    """
    state = bundle.current()
    locked = state.lock.tree()
    kept = {path: entry for path, entry in locked.items() if path not in state.altered}
    return FileTree(kept, bundle.read)


class InstalledBundle:
    """A bundle in an installed package.

    Lock, receipt, RECORD and every locked file are looked at when it is first asked for and looked
    at again each time: by `stat`, and by reading what that shows to have changed. The package's own
    code is compared with RECORD once, when these are read.

    Args:
        find: Locates the installation; called again when lock, receipt or metadata change.
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
        self._loaded: _LoadedBundle | None = None

    def current(self) -> BundleState:
        """Look again; see `Bundle.current`."""
        with self._guard:
            return self._look_again().state()

    def _look_again(self) -> _LoadedBundle:
        """Bring what was read before up to date, or read all of it anew.

        A change is noticed only once, so what was read before it is given up first: were the new
        state unreadable, the old one would be served from the next question on.
        """
        loaded, self._loaded = self._loaded, None
        try:
            if loaded is None or loaded.is_outdated():
                loaded = _LoadedBundle(self._find, self._clock)
            loaded.verification()
        except OSError as error:
            summary = f"The system does not allow files to be read: {error.strerror or error}."
            raise BundleUnavailableError(summary) from error
        self._loaded = loaded
        return loaded

    def read(self, path: str) -> bytes:
        """Read a locked file and compare what was read with the lock; see `Bundle.read`."""
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
        OSError: If the system has no descriptors or memory left.
    """
    return _LoadedBundle(lambda: place, clock, code=code).verification()


class _LoadedBundle:
    """One reading of lock, receipt and RECORD, and of the files they list."""

    def __init__(
        self, find: Callable[[], Installed], clock: Callable[[], int], *, code: bool = False
    ) -> None:
        self._clock = clock
        self._code = code
        self._watch = _DocumentWatch(find(), clock)
        # Located again: an installer may have written between the two, and what was read before the
        # watch began would stay for good.
        self._place = find()
        self._lock, self._receipt = self._read_documents()
        self._files = {} if self._lock.value is None else self._lock.value.files()
        self._inventory = self._watch_files()
        self._code_files: Mapping[str, FileEntry] = {} if code else self._look_at_code()
        self._verification: Verification | None = None
        self._state: BundleState | None = None

    def is_outdated(self) -> bool:
        """Return whether lock, receipt or metadata changed since this was loaded."""
        return self._watch.has_changed()

    def verification(self) -> Verification:
        """Look at the files again and verify all of it."""
        if self._inventory.refresh() or self._verification is None:
            self._verification = verify(self._facts())
            self._state = None
        return self._verification

    def state(self) -> BundleState:
        """Return what can be served, by the last verification.

        Raises:
            BundleUnavailableError: If nothing can.
        """
        if self._state is None:
            self._state = self._make_state(self._verification or self.verification())
        return self._state

    def read(self, path: str) -> bytes:
        """Read one locked file; the bytes that are hashed are the bytes returned.

        Where that finds another state than the last look did, the file's times cannot be relied
        on at the next.
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
        digest = sha256_hex(data)
        known = self._inventory.files.get(full)
        if known is None or known.sha256 != digest:
            self._inventory.forget(full)
        if digest != file.sha256:
            raise UnsafeFileError("changed", path)
        return data

    def _read_documents(self) -> tuple[Document[CatalogLock], Document[BuildReceipt]]:
        place, rows = self._place, self._record_rows()
        lock = documents.read_lock(
            self._read(place.lock_path, bundle_limits.LOCK_MAX_BYTES), rows.get(place.lock_path)
        )
        receipt = documents.read_receipt(
            self._read(place.receipt_path, bundle_limits.RECEIPT_MAX_BYTES),
            rows.get(place.receipt_path),
        )
        return documents.cross_check(lock, receipt, self._identity())

    def _record_rows(self) -> Mapping[str, RecordRow]:
        return {} if self._place.record is None else self._place.record.rows

    def _read(self, path: str, limit: int) -> bytes | UnsafeFileError:
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
        place, rows = self._place, self._record_rows()
        most = {
            place.skills_prefix + path: max(file.size, skill_limits.SKILL_MAX_BYTES)
            for path, file in self._files.items()
        }
        if self._code:
            most |= dict.fromkeys(self._recorded_only(), file_limits.RECORDED_FILE_MAX_BYTES)
        if place.metadata_path is not None:
            most[place.metadata_path] = format_limits.METADATA_MAX_BYTES
        return Inventory(
            place.site,
            most,
            folders=(place.package if self._code else f"{place.package}/{BUNDLE_FOLDER}",),
            algorithms={path: rows[path].algorithm for path in most if path in rows},
            follow_last=place.linked,
            clock=self._clock,
        )

    def _look_at_code(self) -> Mapping[str, FileEntry]:
        """Read the package's code once, so that answers show that RECORD lists other code.

        It is not looked at again: the running process has loaded it, and skills are what changes.
        """
        most = dict.fromkeys(
            filter(_is_code, self._recorded_only()), limits.SERVED_CODE_FILE_MAX_BYTES
        )
        place, rows = self._place, self._record_rows()
        algorithms = {path: rows[path].algorithm for path in most}
        inventory = Inventory(
            place.site, most, algorithms=algorithms, follow_last=place.linked, clock=self._clock
        )
        inventory.refresh()
        return inventory.files

    def _recorded_only(self) -> list[str]:
        """Return the files of the package, and of its metadata, that only RECORD lists."""
        place = self._place
        if place.record is None:
            return []
        wanted = place.record.wanted(f"{place.package}/")
        if place.metadata_folder is not None:
            wanted |= place.record.wanted(f"{place.metadata_folder}/")
        locks_skills = self._lock.value is not None  # else RECORD alone lists the skills
        own = {place.lock_path, place.receipt_path, place.record_path}
        return [
            path
            for path in wanted
            if path not in own and not (locks_skills and path.startswith(place.skills_prefix))
        ]

    def _facts(self) -> InstallationFacts:
        place = self._place
        found = place.distribution
        return InstallationFacts(
            location=_location(place),
            layout="linked" if place.linked else "installed",
            identity=self._identity(),
            lock=self._lock,
            receipt=self._receipt,
            record=place.record,
            record_refused=None if found is None else found.record_refused,
            unlisted=self._unlisted(),
            metadata_problems=() if found is None else found.problems,
            leftovers=() if found is None else found.leftovers,
            sbom=self._sbom(),
            files=PackageFiles(
                package=place.package,
                bundle_prefix=f"{place.package}/{BUNDLE_FOLDER}/",
                skills_prefix=place.skills_prefix,
                documents=frozenset({place.lock_path, place.receipt_path}),
                metadata=place.metadata_folder,
                read={**self._code_files, **self._inventory.files},
                listed=self._inventory.listed,
            ),
        )

    def _sbom(self) -> bytes | None:
        """Read the bill of materials, on which no answer rests; RECORD lists it, too."""
        path = self._place.sbom_path if self._code else None
        found = None if path is None else self._read(path, bundle_limits.SBOM_MAX_BYTES)
        return found if isinstance(found, bytes) else None

    def _unlisted(self) -> tuple[str, ...]:
        """Return which of lock, receipt and METADATA are there though RECORD does not list them."""
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

    def _make_state(self, verification: Verification) -> BundleState:
        lock, block = self._lock.value, verification.provenance
        if lock is None or block is None:
            problems = [
                Problem(
                    code=row.code, message=row.message, path=self._place.lock_path, line=row.line
                )
                for row in verification.lock.problems
            ]
            summary = f"Nothing can be served: the lock is {verification.lock.state}."
            raise BundleUnavailableError(summary, tuple(problems))
        prefix = self._place.skills_prefix
        states = {row.path: row.state for row in verification.files}
        return BundleState(
            lock=lock,
            files=self._files,
            provenance=block,
            altered=frozenset(path for path in self._files if states.get(prefix + path) != "ok"),
        )


class _DocumentWatch:
    """Watches an installation for another lock, receipt, metadata folder, METADATA or RECORD.

    Every metadata folder of the name is watched, and that there is none: one may appear, come back,
    or become the one that counts.
    """

    def __init__(self, place: Installed, clock: Callable[[], int]) -> None:
        """Look once; later changes are relative to what is there now."""
        self._place = place
        self._clock = clock
        self._site: Fingerprint | None = None
        self._folders: tuple[str, ...] | None = ()
        self._have_folders_changed()
        named = {
            place.lock_path: bundle_limits.LOCK_MAX_BYTES,
            place.receipt_path: bundle_limits.RECEIPT_MAX_BYTES,
        }
        metadata = {
            f"{folder}/{name}": most
            for folder in self._folders or ()
            for name, most in _METADATA_LIMITS.items()
        }
        self._inventories = (
            Inventory(place.site, named, follow_last=place.linked, clock=clock),
            Inventory(place.site, metadata, follow_last=True, clock=clock),
        )
        self.has_changed()

    def has_changed(self) -> bool:
        """Look again; return whether anything changed since the last look.

        Raises:
            OSError: If the system has no descriptors or memory left.
        """
        changed = [inventory.refresh() for inventory in self._inventories]  # all, not to the first
        return self._have_folders_changed() or any(changed)

    def _have_folders_changed(self) -> bool:
        """List the folder that holds the package again, if its times changed or are young."""
        facts = reading.lstat(self._place.site, ".")
        if facts is not None and facts == self._site:
            return False
        now = self._clock()
        before = self._folders
        self._folders = distribution.folders(self._place.site, self._place.sought)
        young = facts is None or now - facts.mtime_ns <= limits.RACY_NANOSECONDS
        self._site = None if young else facts
        return self._folders != before


@dataclass(frozen=True, slots=True)
class ProjectSkills:
    """A project's skills at one moment.

    Attributes:
        folder: The skills folder.
        lock: What a lock of the skills that can be read holds.
        refused: Number of skill folders that cannot be read.
    """

    folder: Path
    lock: CatalogLock
    refused: int


def scan_project(project: Path) -> ProjectSkills:
    """Scan a project's skills as its settings say, asking nothing of git.

    Raises:
        BundleUnavailableError: If the settings are wrong or there is no skills folder.
    """
    from skills_bundle.bundle import assemble  # noqa: PLC0415 -- see the docstring above
    from skills_bundle.project import settings  # noqa: PLC0415 -- likewise
    from skills_bundle.skills.model import FileFacts  # noqa: PLC0415 -- likewise
    from skills_bundle.skills.rules import Policy  # noqa: PLC0415 -- likewise
    from skills_bundle.skills.scan import scan  # noqa: PLC0415 -- likewise

    try:
        chosen = settings.read(project / "pyproject.toml")
        folder = settings.skills_folder(project, chosen)
        facts = FileFacts(_committed_lock(project))
        found = scan(
            folder,
            facts,
            exclude=chosen.exclude,
            policy=Policy(allow=chosen.allow),
            is_project=chosen.skills == ".",
        )
        usable = replace(found, refused=(), problems=())
        return ProjectSkills(folder, assemble.lock(chosen.collection, usable), len(found.refused))
    except SkillsBundleError as error:
        summary = f"The skills of this source checkout cannot be read: {error.summary}"
        raise BundleUnavailableError(summary, error.problems) from error


def _committed_lock(project: Path) -> CatalogLock | None:
    """Read the project's lock, if possible: it has the x bits that a disk may have lost."""
    try:
        with reading.Reader(project) as reader:
            found = reader.read_up_to(LOCK_FILE_NAME, bundle_limits.LOCK_MAX_BYTES)
            return locks.parse(found.data)
    except (UnsafeFileError, InvalidLockError):
        return None


class SourceBundle:
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
        self._scanned: ProjectSkills | None = None
        self._state: BundleState | None = None

    def current(self) -> BundleState:
        """Scan again; see `Bundle.current`. Equal skills give the same state."""
        with self._guard:
            scanned = scan_project(self._project)
            if self._state is None or scanned != self._scanned:
                self._state = self._make_state(scanned)
            self._scanned = scanned
            return self._state

    @property
    def folder(self) -> Path:
        """The skills folder, by the last scan, or the one to be scanned."""
        scanned = self._scanned or scan_project(self._project)
        return scanned.folder

    def read(self, path: str) -> bytes:
        """Read a file of the last scan; see `Bundle.read`."""
        state, scanned = self._state, self._scanned
        if state is None or scanned is None or path not in state.files:
            raise UnsafeFileError("missing", path)
        data = reading.read(scanned.folder, path, state.files[path].size)
        if sha256_hex(data) != state.files[path].sha256:
            raise UnsafeFileError("changed", path)
        return data

    def verification(self) -> Verification:
        """Return what is served, with the verdict `cannot_tell`."""
        state, place = self.current(), self._place
        return verify(
            InstallationFacts(
                location=_location(place),
                layout="source",
                identity=Identity(place.name, place.version, known=False),
                lock=Document(state="ok", value=state.lock, sha256=state.provenance.catalog_sha256),
                receipt=Document(state="missing"),
                record=None,
                files=PackageFiles(package=place.package),
            )
        )

    def _make_state(self, scanned: ProjectSkills) -> BundleState:
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
        return BundleState(
            lock=lock,
            files=lock.files(),
            provenance=block,
            altered=frozenset(),
            refused=scanned.refused,
        )


def _is_code(path: str) -> bool:
    """Return whether a file that RECORD lists can run, or decides what runs."""
    return path.endswith(_CODE_SUFFIXES) or path.endswith(".dist-info/entry_points.txt")


def _location(place: Installed) -> str:
    return shown(from_disk(str(place.site / place.package)))

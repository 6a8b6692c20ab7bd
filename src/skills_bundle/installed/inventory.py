"""Edge: the files of a package, read once and again only where they changed.

Every file is hashed at the start. Later, `stat` shows which files were written to since, and only
those are read again. This keeps what an answer *says* about the installation current; what it
*returns* is hashed each time it is read, regardless of `stat`.
"""

from __future__ import annotations

import os
import stat
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from skills_bundle.errors import UnsafeFileError
from skills_bundle.files import limits as file_limits
from skills_bundle.files import reading
from skills_bundle.files.paths import parents, shown, to_disk
from skills_bundle.files.reading import Folder
from skills_bundle.files.tree import FileEntry
from skills_bundle.formats.digest import recorded_hex
from skills_bundle.installed import limits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from skills_bundle.files.reading import Fingerprint, FolderEntry, Reader
    from skills_bundle.files.tree import FileKind

_KINDS: Final[dict[str, FileKind]] = {"link": "linked", "special": "not_regular"}


class Inventory:
    """A set of files below one root, kept current by `refresh`.

    Args:
        root: The folder that paths are relative to.
        wanted: The files to look at, each with the most bytes worth reading to identify it.
        folders: Folders to list, with everything below them.
        algorithms: An algorithm besides SHA-256 by which to hash a wanted file, where RECORD has
            such a digest of it.
        follow_last: As for `reading.Reader`.
        clock: Nanoseconds since the epoch, as the file system's clock counts them.
    """

    def __init__(  # noqa: PLR0913 -- what to look at, and how: each has its name at the call
        self,
        root: Path,
        wanted: Mapping[str, int],
        *,
        folders: tuple[str, ...] = (),
        algorithms: Mapping[str, str] | None = None,
        follow_last: bool = False,
        clock: Callable[[], int] = time.time_ns,
    ) -> None:
        """Look at nothing yet."""
        self._root = root
        self._wanted = dict(sorted(wanted.items()))
        self._folders = folders
        self._algorithms = algorithms or {}
        self._follow_last = follow_last
        self._clock = clock
        self._above = tuple(sorted({folder for path in wanted for folder in parents(path)}))
        self._identities: tuple[object, ...] = ()
        self._times: tuple[Fingerprint | None, ...] = ()
        self._fingerprints: dict[str, Fingerprint] = {}
        self._files: dict[str, FileEntry] = {}
        self._listed: dict[str, FileKind] = {}
        self._listed_folders: tuple[str, ...] = ()

    @property
    def files(self) -> Mapping[str, FileEntry]:
        """Each wanted file as it was when it was last looked at."""
        return self._files

    @property
    def listed(self) -> Mapping[str, FileKind]:
        """Everything in the listed folders that is not a folder, with its kind.

        A folder that cannot be listed is in it, as `unreadable`.
        """
        return self._listed

    def forget(self, path: str) -> None:
        """Stop relying on the times of a file, which was found to have changed."""
        self._fingerprints.pop(path, None)

    def refresh(self) -> bool:
        """Look again at what changed; return whether anything looks different now.

        Raises:
            OSError: If the system has no descriptors or memory left. Discard the inventory then:
                what was found up to then is not returned a second time.
        """
        return bool(self._refresh_files() | self._refresh_listing())

    def _refresh_files(self) -> bool:
        # A folder that was replaced can bring files with the same fingerprints along (a link to the
        # folder it was moved to does exactly that), so its identity counts for all files.
        identities = tuple(map(self._identity, self._above))
        replaced = identities != self._identities
        stale = [path for path in self._wanted if replaced or self._is_stale(path)]
        self._identities = identities
        changed = False
        with reading.Reader(self._root, follow_last=self._follow_last) as reader:
            for path in stale:
                before = self._files.get(path)
                self._files[path] = self._look(reader, path)
                changed |= self._files[path] != before
        return changed

    def _identity(self, folder: str) -> object:
        facts = reading.lstat(self._root, folder)
        return None if facts is None else (facts.device, facts.inode, facts.mode)

    def _is_stale(self, path: str) -> bool:
        known = self._fingerprints.get(path)
        return known is None or known != reading.lstat(
            self._root, path, follow_last=self._follow_last
        )

    def _look(self, reader: Reader, path: str) -> FileEntry:
        """Read one file and keep its fingerprint, unless it is too young to be relied on."""
        self._fingerprints.pop(path, None)
        now = self._clock()
        try:
            data, facts = reader.read_up_to(path, self._wanted[path])
        except UnsafeFileError as error:
            facts = reading.lstat(self._root, path)
            regular = facts is not None and stat.S_ISREG(facts.mode)
            return FileEntry(error.kind, facts.size if facts is not None and regular else None)
        if _is_settled(facts, now):
            self._fingerprints[path] = facts
        entry = FileEntry.of(data)
        algorithm = self._algorithms.get(path, "sha256")
        if algorithm == "sha256":
            return entry
        return replace(entry, recorded=recorded_hex(algorithm, data))

    def _refresh_listing(self) -> bool:
        if self._listed_folders and self._folder_times(self._listed_folders) == self._times:
            return False
        before, self._listed = self._listed, {}
        now = self._clock()
        walked = tuple(folder for top in self._folders for folder in self._walk(top))
        self._times = self._folder_times(walked)
        settled = all(facts is not None and _is_settled(facts, now) for facts in self._times)
        self._listed_folders = walked if settled else ()
        return self._listed != before

    def _folder_times(self, folders: tuple[str, ...]) -> tuple[Fingerprint | None, ...]:
        return tuple(reading.lstat(self._root, folder) for folder in folders)

    def _walk(self, top: str) -> Iterator[str]:
        """List one folder and those below; yield each folder that was listed. Links are entries."""
        waiting = [top]
        while waiting:
            folder = waiting.pop()
            yield folder
            entries = _entries(self._root / to_disk(folder))
            if entries is None:
                self._listed[shown(folder)] = "unreadable"
                continue
            for name, kind in entries:
                path = f"{folder}/{name}"
                if kind == "folder":
                    waiting.append(path)
                elif len(self._listed) < file_limits.SCAN_MAX_ENTRIES:
                    self._listed[shown(path)] = _KINDS.get(kind, "file")


def _is_settled(facts: Fingerprint, now: int) -> bool:
    """Return whether a later write would change the times: the last one is long enough ago."""
    return now - max(facts.mtime_ns, facts.ctime_ns) > limits.RACY_NANOSECONDS


def _entries(path: Path) -> list[FolderEntry] | None:
    """List a folder without following links; None if what it holds cannot be seen.

    What is not a folder, or was removed, has no entries: the files that should be in it show that.
    """
    try:
        if not stat.S_ISDIR(os.lstat(path).st_mode):
            return []
        with Folder.open(path) as folder:
            return folder.entries()
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        if reading.is_of_the_system(error):
            raise
        return None

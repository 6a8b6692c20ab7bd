"""Edge: what lies in a package, read once and again only where it changed.

Every file is hashed at the start. Later, `stat` says which files somebody wrote to since, and only
those are read again. This keeps what an answer *says* about the installation current; what it
*returns* is hashed each time it is read, whatever `stat` says.
"""

from __future__ import annotations

import os
import stat
import time
from typing import TYPE_CHECKING

from skills_bundle.bundle.file_rows import Seen
from skills_bundle.errors import UnsafeFileError
from skills_bundle.files import limits as file_limits
from skills_bundle.files import reading
from skills_bundle.files.names import from_disk, shown, to_disk
from skills_bundle.formats.digest import git_object_id, recorded_hex, sha256_hex
from skills_bundle.installed import limits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from skills_bundle.files.reading import Fingerprint, Reader


class Inventory:
    """What lies at a set of paths below one root, kept current by `refresh`.

    Args:
        root: The folder that paths are relative to.
        wanted: The files to look at, each with the most bytes worth reading to tell what it is.
        folders: Folders to list; everything in them that is not a folder is told, and each folder
            that cannot be listed.
        algorithms: By which algorithm besides SHA-256 to hash a wanted file, where somebody gives
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
        self._above = tuple(sorted({folder for path in wanted for folder in _parents(path)}))
        self._identities: tuple[object, ...] = ()
        self._times: tuple[object, ...] = ()
        self._fingerprints: dict[str, Fingerprint] = {}
        self._seen: dict[str, Seen] = {}
        self._listed: dict[str, str] = {}
        self._listed_folders: tuple[str, ...] = ()

    @property
    def seen(self) -> Mapping[str, Seen]:
        """What lay at each wanted path when it was last looked at."""
        return self._seen

    @property
    def listed(self) -> Mapping[str, str]:
        """Every entry of the listed folders that is not a folder, with its kind.

        A folder whose entries nobody may see is one, of the kind `unreadable`.
        """
        return self._listed

    def forget(self, path: str) -> None:
        """Rely no longer on the times of a file: whoever read it found it to be another one."""
        self._fingerprints.pop(path, None)

    def refresh(self) -> bool:
        """Look again at what changed; tell whether anything looks different now.

        Raises:
            OSError: If the system has no descriptors or memory left. What was found out up to then
                is not told; whoever goes on must look at everything anew.
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
                before = self._seen.get(path)
                self._seen[path] = self._look(reader, path)
                changed |= self._seen[path] != before
        return changed

    def _identity(self, folder: str) -> object:
        facts = reading.lstat(self._root, folder)
        return None if facts is None else (facts.device, facts.inode, facts.mode)

    def _is_stale(self, path: str) -> bool:
        known = self._fingerprints.get(path)
        return known is None or known != reading.lstat(
            self._root, path, follow_last=self._follow_last
        )

    def _look(self, reader: Reader, path: str) -> Seen:
        """Read one file and keep its fingerprint, unless it is too young to be relied on."""
        self._fingerprints.pop(path, None)
        now = self._clock()
        try:
            data, facts = reader.read_up_to(path, self._wanted[path])
        except UnsafeFileError as error:
            return self._refused(error, path)
        if now - max(facts.mtime_ns, facts.ctime_ns) > limits.RACY_NANOSECONDS:
            self._fingerprints[path] = facts
        algorithm = self._algorithms.get(path, "sha256")
        return Seen(
            "file",
            len(data),
            sha256_hex(data),
            git_object_id("blob", data),
            None if algorithm == "sha256" else recorded_hex(algorithm, data),
        )

    def _refused(self, error: UnsafeFileError, path: str) -> Seen:
        facts = reading.lstat(self._root, path)
        regular = facts is not None and stat.S_ISREG(facts.mode)
        return Seen(error.kind, facts.size if facts is not None and regular else None)

    def _refresh_listing(self) -> bool:
        if self._listed_folders and self._folders_are_as_listed():
            return False
        before, self._listed = self._listed, {}
        now = self._clock()
        walked = [folder for top in self._folders for folder in self._walk(top)]
        times = [reading.lstat(self._root, folder) for folder in walked]
        young = any(
            facts is None or now - max(facts.mtime_ns, facts.ctime_ns) <= limits.RACY_NANOSECONDS
            for facts in times
        )
        self._listed_folders = () if young else tuple(walked)
        self._times = tuple(times)
        return self._listed != before

    def _folders_are_as_listed(self) -> bool:
        times = tuple(reading.lstat(self._root, folder) for folder in self._listed_folders)
        return times == self._times

    def _walk(self, top: str) -> Iterator[str]:
        """List one folder and those below; give each folder that was listed. Links are entries."""
        waiting = [top]
        while waiting:
            folder = waiting.pop()
            yield folder
            entries = _entries(f"{self._root}/{to_disk(folder)}")
            if entries is None:
                self._listed[shown(folder)] = "unreadable"
                continue
            for name, kind in entries:
                path = f"{folder}/{name}"
                if kind == "folder":
                    waiting.append(path)
                elif len(self._listed) < file_limits.SCAN_MAX_ENTRIES:
                    self._listed[shown(path)] = kind


def _parents(path: str) -> Iterator[str]:
    parts = path.split("/")
    return ("/".join(parts[:end]) for end in range(1, len(parts)))


def _entries(folder: str) -> list[tuple[str, str]] | None:
    """List a folder without following links; None if what it holds cannot be seen.

    What is no folder, or is gone, has no entries: the files that should be in it tell that.
    """
    try:
        if not stat.S_ISDIR(os.lstat(folder).st_mode):
            return []
        with os.scandir(folder) as entries:
            return [(from_disk(entry.name), _kind(entry)) for entry in entries]
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        if reading.is_of_the_system(error):
            raise
        return None


def _kind(entry: os.DirEntry[str]) -> str:
    if entry.is_symlink():
        return "linked"
    if entry.is_dir(follow_symlinks=False):
        return "folder"
    return "file" if entry.is_file(follow_symlinks=False) else "not_regular"

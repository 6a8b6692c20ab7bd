"""Edge: the closed world: what the commit does not hold does not ship, or is said to.

```text
where git has the file      ships   the receipt says
the commit, same bytes      yes     clean
the commit, other bytes     yes     dirty_source (eol_converted if line ends are all that differs)
the index only, submodule   yes     dirty_source
untracked, not ignored      yes     dirty_source; junk and the build's own products: no, and clean
ignored                     no      dirty_source; junk and the build's own products: clean
ignored, but asked for      yes     dirty_source   (`artifacts`, `force-include`, another hook)
outside the repository      no      dirty_source; asked for: yes, dirty_source
```

Without a checkout there is nothing to compare with: all but junk ships.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

from skills_bundle.archives.canonical import is_script_of
from skills_bundle.archives.model import Member
from skills_bundle.errors import CheckoutError
from skills_bundle.files import reading
from skills_bundle.files.names import from_disk, to_disk
from skills_bundle.files.paths import is_junk
from skills_bundle.formats.digest import git_object_id
from skills_bundle.git.status import FileStatus, file_status, uncommitted_status

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Mapping

    from skills_bundle.bundle.receipt import Inputs
    from skills_bundle.git.commit import Entry
    from skills_bundle.git.proof import Reason
    from skills_bundle.git.repository import Checkout
    from skills_bundle.hatch_plugin.selection import Candidate

_TRACKED_JUNK: Final = (
    "git tracks this by-product and the lock does not know it; "
    "`git rm --cached` it, or run `skills-bundle lock` and commit"
)


def read(path: Path) -> bytes | None:
    """Read one file of the project, through links; None if no regular file is at their end.

    It never waits, as for a pipe. There is no limit: hatchling reads all that ships, too.
    """
    try:
        return reading.read_named(path, sys.maxsize - 1)
    except OSError:
        return None


@dataclass(kw_only=True)
class World:
    """What one build admits, and what it found wanting.

    Attributes:
        root: The project's folder as hatchling spells it.
        checkout: The repository around it, or None.
        own: Tells whether a path below `root` is a product of this or an earlier build.
        carried: Where there is no checkout, what the sdist's receipt lists: a file among it is no
            junk, and which files are executable is taken from it. None to go by the disk alone.
        dirt: Why the commit does not speak for the archive, by path.
        dropped: Files that hatchling selected and that do not ship.
    """

    root: Path
    checkout: Checkout | None
    own: Callable[[str], bool]
    carried: Inputs | None = None
    dirt: dict[str, Reason] = field(default_factory=dict[str, "Reason"])
    dropped: set[str] = field(default_factory=set[str])

    def admit(self, candidate: Candidate, member: Member) -> Member | None:
        """Give the member with git's mode, or None if it does not ship.

        Args:
            candidate: Where the file comes from.
            member: The bytes that would ship.
        """
        path = self.relative(candidate.source)
        if self.checkout is None:
            return self._without_git(candidate, path, member)
        found = self._standing(self.checkout, candidate.source, path)
        if found.entry is not None:
            self._compare(
                path or candidate.source, found.entry.oid, _source_bytes(candidate, member)
            )
            return Member(member.data, found.entry.mode == "100755")
        ships, dirt = _fate(candidate, found, harmless=self._harmless(path))
        if dirt:
            self.dirt[path or candidate.source] = "dirty_source"
        if not ships:
            self.dropped.add(candidate.target)
            return None
        return member

    def refuse(self, candidate: Candidate) -> None:
        """Leave out a file that cannot be read: a dangling link, or one that leads to a folder."""
        self.dirt[self.relative(candidate.source) or candidate.source] = "dirty_source"
        self.dropped.add(candidate.target)

    def expect(self, candidates: Iterable[str], members: Container[str]) -> None:
        """Find wanting what hatchling selected and an archive lacks: another hook removed it."""
        for name in candidates:
            if name not in members:
                self.dirt[f"{name} (was removed from the archive)"] = "dirty_source"

    def made(self, name: str, member: Member, expected: Mapping[str, bytes | None]) -> Member:
        """Take a member that comes from no file: hatchling's own, or it is dirt.

        Args:
            name: Its path in the archive.
            member: As it is.
            expected: What hatchling makes, by path; None if that does not matter.
        """
        if name not in expected:
            self.dirt[f"{name} (was put into the archive)"] = "dirty_source"
        elif expected[name] not in {None, member.data}:
            self.dirt[f"{name} (is not what the configuration gives)"] = "dirty_source"
        return member

    def rely(self, source: str, decides: str) -> None:
        """Insist that the commit holds a file which the build reads and may not ship.

        Args:
            source: Its absolute path.
            decides: What it decides, for the build log.
        """
        path = self.relative(source)
        if self.checkout is None:
            if path is None:  # an sdist has none of it
                self.doubt(source, decides)
            return
        entry = self._standing(self.checkout, source, path).entry
        data = read(Path(source))
        if entry is None or data is None:
            self.doubt(source, decides)
        else:
            self._compare(path or source, entry.oid, data)

    def doubt(self, source: str, why: str) -> None:
        """Say that the commit does not speak for what a file decided.

        Args:
            source: Its absolute path.
            why: For the build log.
        """
        self.dirt[f"{self.relative(source) or source} ({why})"] = "dirty_source"

    def committed(self, source: str) -> bool:
        """Tell whether the commit holds a file at this absolute path, whatever its bytes."""
        checkout = self.checkout
        if checkout is None:
            return False
        return self._standing(checkout, source, self.relative(source)).entry is not None

    def compare_tree(self, folder: str, tree: Mapping[str, Entry]) -> None:
        """Name the files in which a folder differs from the commit's, as dirt.

        Args:
            folder: Relative to the project.
            tree: What it holds, by path below it; also what does not ship.
        """
        if self.checkout is None:
            return
        committed = self.checkout.head_files(folder)
        for path in committed.keys() | tree.keys():
            theirs, ours, place = committed.get(path), tree.get(path), f"{folder}/{path}"
            data = read(self.root / to_disk(place))
            if theirs is not None and ours is not None and data and theirs.mode == ours.mode:
                self._compare(place, theirs.oid, data)
            elif theirs != ours and ours is None and is_junk(path):
                self.dirt[f"{place} ({_TRACKED_JUNK})"] = "dirty_source"
            elif theirs != ours:
                self.dirt[place] = "dirty_source"

    def blob(self, path: str) -> bytes | None:
        """Give what the commit holds at a path below the project; None if there is no such file."""
        try:
            return None if self.checkout is None else self.checkout.head_bytes(path)
        except CheckoutError:
            return None

    def relative(self, source: str) -> str | None:
        """Give a source's path below the project as git spells it, or None if it lies elsewhere."""
        relative = from_disk(os.path.relpath(source, self.root).replace(os.sep, "/"))
        return None if relative == ".." or relative.startswith("../") else relative

    def _standing(self, checkout: Checkout, source: str, path: str | None) -> FileStatus:
        if path is not None:  # the project may have been reached through a link
            place = checkout.project / to_disk(path)
        else:
            place = Path(source).parent.resolve() / Path(source).name
        try:
            return file_status(checkout, str(place))
        except CheckoutError:  # the commit cannot be read; what git ignores stays out all the same
            inside = checkout.inside(str(place))
            return FileStatus("outside") if inside is None else uncommitted_status(checkout, inside)

    def _harmless(self, path: str | None) -> bool:
        return path is not None and (is_junk(path) or self.own(path))

    @cached_property
    def _listed(self) -> frozenset[str]:
        """Paths of the carried receipt's inputs: what git tracks is no junk, whatever its name."""
        return frozenset(() if self.carried is None else self.carried.files)

    @cached_property
    def _executable(self) -> frozenset[str]:
        return frozenset(() if self.carried is None else self.carried.executable)

    def _compare(self, path: str, oid: str, data: bytes) -> None:
        if git_object_id("blob", data) == oid:
            return
        converted = git_object_id("blob", data.replace(b"\r\n", b"\n")) == oid
        self.dirt[path] = "eol_converted" if converted else "dirty_source"

    def _without_git(self, candidate: Candidate, path: str | None, member: Member) -> Member | None:
        stray = candidate.ambient and path is None
        junk = not candidate.declared and path not in self._listed and self._harmless(path)
        if stray or junk:
            self.dropped.add(candidate.target)
            return None
        if self.carried is not None and path is not None:
            return Member(member.data, path in self._executable)
        return member


def _fate(candidate: Candidate, found: FileStatus, *, harmless: bool) -> tuple[bool, bool]:
    """Tell of a file that the commit does not hold: does it ship, and is it dirt?"""
    if found.place == "tracked":
        return True, True
    if candidate.ambient and found.place != "untracked":
        return False, False
    if candidate.declared:
        return True, True
    return found.place == "untracked" and not harmless, not harmless


def _source_bytes(candidate: Candidate, member: Member) -> bytes:
    """Give what to compare with the commit; hatchling rewrites the first line of a script."""
    if candidate.rewritten:
        source = read(Path(candidate.source))
        if source is not None and is_script_of(member.data, source):
            return source
    return member.data

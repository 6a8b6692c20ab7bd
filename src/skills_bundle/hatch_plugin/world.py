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
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from skills_bundle.bundle.standing import Standing, standing, without_commit
from skills_bundle.errors import CheckoutError
from skills_bundle.formats.digest import git_object_id
from skills_bundle.hatch_plugin.archives import Member
from skills_bundle.skills.junk import is_junk

if TYPE_CHECKING:
    from collections.abc import Callable

    from skills_bundle.bundle.checkout import Checkout
    from skills_bundle.bundle.receipt import Reason
    from skills_bundle.hatch_plugin.selection import Candidate


@dataclass(kw_only=True)
class World:
    """What one build admits, and what it found wanting.

    Attributes:
        root: The project's folder as hatchling spells it.
        checkout: The repository around it, or None.
        own: Tells whether a path below `root` is a product of this or an earlier build.
        executable: Where there is no checkout, the paths that the sdist's receipt calls executable;
            None to trust the disk.
        dirt: Why the commit does not speak for the archive, by path.
        dropped: Files that hatchling selected and that do not ship.
    """

    root: Path
    checkout: Checkout | None
    own: Callable[[str], bool]
    executable: frozenset[str] | None = None
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
        found = self._standing(self.checkout, candidate, path)
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

    def relative(self, source: str) -> str | None:
        """Give a source's path below the project, or None if it lies elsewhere."""
        relative = os.path.relpath(source, self.root).replace(os.sep, "/")
        return None if relative == ".." or relative.startswith("../") else relative

    def _standing(self, checkout: Checkout, candidate: Candidate, path: str | None) -> Standing:
        if path is not None:  # the project may have been reached through a link
            place = checkout.project / path
        else:
            place = Path(candidate.source).parent.resolve() / Path(candidate.source).name
        try:
            return standing(checkout, str(place))
        except CheckoutError:  # the commit cannot be read; what git ignores stays out all the same
            inside = checkout.inside(str(place))
            return Standing("elsewhere") if inside is None else without_commit(checkout, inside)

    def _harmless(self, path: str | None) -> bool:
        return path is not None and (is_junk(path) or self.own(path))

    def _compare(self, path: str, oid: str, data: bytes) -> None:
        if git_object_id("blob", data) == oid:
            return
        converted = git_object_id("blob", data.replace(b"\r\n", b"\n")) == oid
        self.dirt[path] = "eol_converted" if converted else "dirty_source"

    def _without_git(self, candidate: Candidate, path: str | None, member: Member) -> Member | None:
        stray = candidate.ambient and path is None
        if stray or (not candidate.declared and self._harmless(path)):
            self.dropped.add(candidate.target)
            return None
        if self.executable is not None and path is not None:
            return Member(member.data, path in self.executable)
        return member


def _fate(candidate: Candidate, found: Standing, *, harmless: bool) -> tuple[bool, bool]:
    """Tell of a file that the commit does not hold: does it ship, and is it dirt?"""
    if found.place == "index":
        return True, True
    if candidate.ambient and found.place != "untracked":
        return False, False
    if candidate.declared:
        return True, True
    return found.place == "untracked" and not harmless, not harmless


def _source_bytes(candidate: Candidate, member: Member) -> bytes:
    """Give what to compare with the commit; hatchling rewrites the first line of a script."""
    return Path(candidate.source).read_bytes() if candidate.rewritten else member.data

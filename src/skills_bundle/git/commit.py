"""Decision: the files of one commit, given something that reads git's objects by their ids.

Needs no work tree and no index, so it serves a checkout, a bare repository and a test alike.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Final, NamedTuple

from skills_bundle.formats.digest import TREE_MODE
from skills_bundle.git import limits, proof
from skills_bundle.git.proof import Entry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LINK_MODE: Final = "120000"
FILE_MODES: Final = "100"
"""How the mode of every regular file begins."""


class Found(NamedTuple):
    """A regular file of a commit: where it lies once links are followed, and its row there."""

    path: str
    entry: Entry


class Commit:
    """One commit. Paths are relative to its root tree; `""` is that tree.

    Args:
        oid: Full id of the commit.
        read: Gives the raw body of an object by its id. What it raises passes.
    """

    def __init__(self, oid: str, read: Callable[[str], bytes]) -> None:
        """Keep the parts; nothing is read before it is asked for."""
        self.oid = oid
        self._read = read
        self._root: Entry | None = None
        self._trees: dict[str, dict[str, Entry]] = {}

    def tree(self, oid: str) -> dict[str, Entry]:
        """Give the rows of a tree by name."""
        if oid not in self._trees:
            self._trees[oid] = proof.tree_entries(self._read(oid))
        return self._trees[oid]

    def root(self) -> Entry:
        """Give the root tree.

        Raises:
            ValueError: If the object is no commit.
        """
        if self._root is None:
            self._root = Entry(TREE_MODE, proof.commit_tree(self._read(self.oid)))
        return self._root

    def entry(self, path: str) -> Entry | None:
        """Give what the commit holds at a path, links unfollowed; None if it holds nothing."""
        entry = self.root()
        for name in path.split("/") if path else ():
            row = self.tree(entry.oid).get(name) if entry.mode == TREE_MODE else None
            if row is None:
                return None
            entry = row
        return entry

    def file(self, path: str) -> Found | None:
        """Give the regular file at a path, through links that the commit holds.

        None if there is none: nothing at all, a folder, a submodule, or a link that leaves the
        commit or leads nowhere.
        """
        for _ in range(limits.LINKS_MAX_FOLLOWED):
            link = self._first_link(path)
            if link is None:
                entry = self.entry(path)
                regular = entry is not None and entry.mode.startswith(FILE_MODES)
                return Found(path, entry) if entry is not None and regular else None
            target = self.data(link.oid).decode("utf-8", "surrogateescape")
            rest = path[len(link.path) :]
            path = posixpath.normpath(posixpath.join(posixpath.dirname(link.path), target) + rest)
            if path.startswith(("../", "/")):
                return None
        return None

    def _first_link(self, path: str) -> _Link | None:
        """Give the outermost part of a path that is a link."""
        done = ""
        for name in path.split("/"):
            done = f"{done}/{name}" if done else name
            entry = self.entry(done)
            if entry is None:
                return None
            if entry.mode == LINK_MODE:
                return _Link(done, entry.oid)
        return None

    def data(self, oid: str) -> bytes:
        """Give the bytes of a blob."""
        return self._read(oid)

    def files(self, folder: str = "") -> dict[str, Entry]:
        """Give every file, link and submodule below a folder, by path below it.

        Raises:
            ValueError: If there are more than `limits.COMMIT_MAX_FILES`.
        """
        found: dict[str, Entry] = {}
        waiting = [("", self.entry(folder))]
        while waiting:
            path, entry = waiting.pop()
            if entry is not None and entry.mode == TREE_MODE:
                rows = self.tree(entry.oid).items()
                waiting += [(f"{path}/{name}" if path else name, child) for name, child in rows]
            elif entry is not None:
                found[path] = entry
            if len(found) + len(waiting) > limits.COMMIT_MAX_FILES:
                raise ValueError(f"has more than {limits.COMMIT_MAX_FILES} files")
        return found

    def way(self, path: str) -> Iterator[bytes]:
        """Give the raw commit and the raw trees above a path that it holds."""
        commit = self._read(self.oid)
        yield commit
        oid = proof.commit_tree(commit)
        for name in path.split("/") if path else ():
            yield self._read(oid)
            oid = self.tree(oid)[name].oid


class _Link(NamedTuple):
    """A symbolic link of a commit: its path, and the blob that holds its target."""

    path: str
    oid: str

"""Decision: raw commits and trees as git writes them, and the files of one commit.

Needs neither a work tree nor an index, so it serves a checkout, a bare repository, the objects in a
receipt and a test alike.
"""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, Final, NamedTuple

from skills_bundle.errors import Problem, RepositoryUnavailableError
from skills_bundle.files.tree import FileEntry, FileTree
from skills_bundle.formats.digest import TREE_MODE
from skills_bundle.git import limits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LINK_MODE: Final = "120000"
SUBMODULE_MODE: Final = "160000"
FILE_MODES: Final = "100"
"""How the mode of every regular file begins."""

_COMMIT_HEAD: Final = re.compile(rb"tree ([0-9a-f]{40})\n")
_SHA256_HEAD: Final = re.compile(rb"tree [0-9a-f]{64}\n")
_PARENT: Final = re.compile(rb"parent ([0-9a-f]{40})")
_OID_BYTES: Final = 20


class Entry(NamedTuple):
    """One row of a git tree: its mode as git writes it (`40000` for a folder) and object id."""

    mode: str
    oid: str


class TreeRow(NamedTuple):
    """One row of a raw tree, as its bytes."""

    mode: bytes
    name: bytes
    oid: bytes

    @property
    def entry(self) -> Entry:
        """The row as git reads it: leading zeros of a mode mean nothing."""
        mode = self.mode.lstrip(b"0").decode("ascii", "replace")
        return Entry(mode, self.oid.hex())


class Found(NamedTuple):
    """A regular file of a commit: its path once links are followed, and its row there."""

    path: str
    entry: Entry


def commit_tree(raw: bytes) -> str:
    """Return the id of the tree that a raw commit names.

    Raises:
        ValueError: If these bytes are not a commit.
    """
    head = _COMMIT_HEAD.match(raw)
    if head is None:
        if _SHA256_HEAD.match(raw):
            raise ValueError("is a commit of a SHA-256 repository; only SHA-1 ids are supported")
        raise ValueError("is not a commit: it does not start with a tree id")
    return head[1].decode()


def commit_parents(raw: bytes) -> list[str]:
    """Return the ids of a raw commit's parents."""
    head = raw.partition(b"\n\n")[0]
    rows = (_PARENT.fullmatch(line) for line in head.split(b"\n"))
    return [row[1].decode() for row in rows if row is not None]


def tree_entries(raw: bytes) -> dict[str, Entry]:
    """Return the rows of a raw tree by name; bytes that are not UTF-8 become lone surrogates.

    Raises:
        ValueError: If these bytes are not a tree.
    """
    return {row.name.decode("utf-8", "surrogateescape"): row.entry for row in tree_rows(raw)}


def tree_rows(raw: bytes) -> Iterator[TreeRow]:
    """Iterate over the rows of a raw tree.

    Raises:
        ValueError: If a row is incomplete.
    """
    position = 0
    while position < len(raw):
        space, zero = raw.find(b" ", position), raw.find(b"\0", position)
        end = zero + 1 + _OID_BYTES
        if not position < space < zero or end > len(raw):
            raise ValueError("is not a tree: an entry is truncated")
        yield TreeRow(raw[position:space], raw[space + 1 : zero], raw[zero + 1 : end])
        position = end


class Commit:
    """One commit. Paths are relative to its root tree; `""` is that tree.

    Args:
        oid: Full id of the commit.
        read: Returns the raw body of an object, by kind (`commit`, `tree` or `blob`) and id. What
            it raises is passed on.
    """

    def __init__(self, oid: str, read: Callable[[str, str], bytes]) -> None:
        """Keep the parts; nothing is read yet."""
        self.oid = oid
        self._read = read
        self._trees: dict[str, dict[str, Entry]] = {}

    def tree(self, oid: str) -> dict[str, Entry]:
        """Return the rows of a tree by name.

        Raises:
            ValueError: If the object is not a tree.
        """
        if oid not in self._trees:
            self._trees[oid] = tree_entries(self._read("tree", oid))
        return self._trees[oid]

    def root(self) -> Entry:
        """Return the root tree.

        Raises:
            ValueError: If the object is not a commit.
        """
        return Entry(TREE_MODE, commit_tree(self._read("commit", self.oid)))

    def entry(self, path: str) -> Entry | None:
        """Return what the commit holds at a path, without following links; None if nothing."""
        entry = self.root()
        for name in path.split("/") if path else ():
            row = self.tree(entry.oid).get(name) if entry.mode == TREE_MODE else None
            if row is None:
                return None
            entry = row
        return entry

    def file(self, path: str) -> Found | None:
        """Return the regular file at a path, through links that the commit holds.

        None if there is none: nothing at all, a folder, a submodule, or a link that leaves the
        commit or leads nowhere.
        """
        for _ in range(limits.LINKS_MAX_FOLLOWED):
            link = self._first_link(path)
            if link is None:
                entry = self.entry(path)
                regular = entry is not None and entry.mode.startswith(FILE_MODES)
                return Found(path, entry) if entry is not None and regular else None
            target = self.data(link.entry.oid).decode("utf-8", "surrogateescape")
            rest = path[len(link.path) :]
            path = posixpath.normpath(posixpath.join(posixpath.dirname(link.path), target) + rest)
            if path.startswith(("../", "/")):
                return None
        return None

    def _first_link(self, path: str) -> Found | None:
        """Return the outermost part of a path that is a link."""
        done = ""
        for name in path.split("/"):
            done = f"{done}/{name}" if done else name
            entry = self.entry(done)
            if entry is None:
                return None
            if entry.mode == LINK_MODE:
                return Found(done, entry)
        return None

    def data(self, oid: str) -> bytes:
        """Return the bytes of a blob."""
        return self._read("blob", oid)

    def files(self, folder: str = "") -> dict[str, Entry]:
        """Return every file, link and submodule below a folder, by path below it.

        Raises:
            RepositoryUnavailableError: If there are more than `limits.COMMIT_MAX_FILES`.
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
                raise self._too_many_files()
        return found

    def _too_many_files(self) -> RepositoryUnavailableError:
        message = f"commit {self.oid} has more than {limits.COMMIT_MAX_FILES} files"
        problem = Problem(code="object_unusable", message=message)
        return RepositoryUnavailableError("The commit is too large to be compared.", (problem,))

    def file_tree(self, folder: str = "") -> FileTree:
        """Return the files below a folder with their digests, as any other tree of files.

        Each blob is read once. A link is an entry of kind `linked`, a submodule `not_regular`.
        """
        rows = self.files(folder)
        entries = {
            path: FileEntry.of(self.data(row.oid), executable=row.mode == "100755")
            if row.mode.startswith(FILE_MODES)
            else FileEntry("linked" if row.mode == LINK_MODE else "not_regular")
            for path, row in rows.items()
        }
        return FileTree(entries, lambda path: self.data(rows[path].oid))

    def objects_to(self, path: str) -> Iterator[bytes]:
        """Iterate over the raw commit and the raw trees above a path that the commit holds."""
        commit = self._read("commit", self.oid)
        yield commit
        oid = commit_tree(commit)
        for name in path.split("/") if path else ():
            yield self._read("tree", oid)
            oid = self.tree(oid)[name].oid

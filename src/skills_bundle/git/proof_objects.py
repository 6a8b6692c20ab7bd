"""Decision: raw commits and trees of git, as git reads them, and as strictly as `git fsck`.

`tree_entries` and `commit_tree` read what a repository holds. A proof is handed to us by strangers:
`check_commit` and `check_tree` say everything about such an object that git itself never writes,
so that nobody can hide a second meaning in bytes whose hash is right.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from skills_bundle.formats.digest import TREE_MODE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MODES: Final = frozenset({TREE_MODE, "100644", "100664", "100755", "120000", "160000"})
"""What git gives an entry: folder, file (`100664` until 2005), script, link, submodule."""

_COMMIT_HEAD: Final = re.compile(rb"tree ([0-9a-f]{40})\n")
_SHA256_HEAD: Final = re.compile(rb"tree [0-9a-f]{64}\n")
_PARENT: Final = re.compile(rb"parent [0-9a-f]{40}")
_OCTAL: Final = re.compile(rb"[0-7]+")
_OID_BYTES: Final = 20
_SHA256_BYTES: Final = 32
_ONCE: Final = (b"tree", b"author", b"committer", b"encoding", b"gpgsig", b"gpgsig-sha256")
"""Headers of which a commit has at most one; `parent` and `mergetag` repeat in merges."""
_NO_NAMES: Final = frozenset({b"", b".", b".."})
_INVISIBLE: Final = re.compile("[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]")
"""What HFS+ leaves out when it compares names; git looks for a hidden `.git` behind it."""


class Entry(NamedTuple):
    """One row of a git tree: its mode as git writes it (`40000` for a folder) and object id."""

    mode: str
    oid: str


class Row(NamedTuple):
    """One row of a raw tree, as its bytes."""

    mode: bytes
    name: bytes
    oid: bytes

    @property
    def entry(self) -> Entry:
        """The row as git reads it: leading zeros of a mode mean nothing."""
        mode = self.mode.lstrip(b"0").decode("ascii", "replace")
        return Entry(mode, self.oid.hex())


def commit_tree(raw: bytes) -> str:
    """Give the id of the tree that a raw commit names.

    Raises:
        ValueError: If these bytes are no commit.
    """
    head = _COMMIT_HEAD.match(raw)
    if head is None:
        if _SHA256_HEAD.match(raw):
            raise ValueError("is a commit of a SHA-256 repository; only SHA-1 ids are understood")
        raise ValueError("is no commit: it does not begin with a tree id")
    return head[1].decode()


def tree_entries(raw: bytes) -> dict[str, Entry]:
    """Give the rows of a raw tree by name; bytes that are not UTF-8 become lone surrogates.

    Raises:
        ValueError: If these bytes are no tree.
    """
    return {row.name.decode("utf-8", "surrogateescape"): row.entry for row in _rows(raw)}


def _rows(raw: bytes, oid_bytes: int = _OID_BYTES) -> Iterator[Row]:
    position = 0
    while position < len(raw):
        space, zero = raw.find(b" ", position), raw.find(b"\0", position)
        end = zero + 1 + oid_bytes
        if not position < space < zero or end > len(raw):
            raise ValueError("is no tree: a row is cut short")
        yield Row(raw[position:space], raw[space + 1 : zero], raw[zero + 1 : end])
        position = end


def check_tree(raw: bytes) -> Iterator[str]:
    """Say what git never writes into a tree; nothing for one that it made.

    Leading zeros of a mode are passed: some programs wrote them, and repositories keep them.
    """
    try:
        rows = list(_rows(raw))
    except ValueError as error:
        yield _of_sha256(raw) or str(error)
        return
    for row in rows:
        yield from _row_problems(row)
    names = [row.name for row in rows]
    if len(set(names)) < len(names):
        yield "holds a name twice"
    elif [*map(_order, rows)] != sorted(map(_order, rows)):
        yield "is not sorted as git sorts a tree"


def _of_sha256(raw: bytes) -> str | None:
    """Recognise a tree whose ids have 32 bytes; read with 20, its rows fall apart."""
    try:
        rows = list(_rows(raw, _SHA256_BYTES))
    except ValueError:
        return None
    if all(_OCTAL.fullmatch(row.mode) for row in rows):
        return "is a tree of a SHA-256 repository; only SHA-1 ids are understood"
    return None


def _row_problems(row: Row) -> Iterator[str]:
    shown = ascii(row.name.decode("utf-8", "surrogateescape"))
    if not _OCTAL.fullmatch(row.mode) or row.entry.mode not in MODES:
        yield f"gives {shown} the mode {row.mode.decode('latin-1')!a}, which git never does"
    if row.name in _NO_NAMES or b"/" in row.name or _is_git_folder(row.name):
        yield f"holds the name {shown}, which no git tree may"


def _is_git_folder(name: bytes) -> bool:
    """Tell `.git` however some disk spells it: another case, short names, invisible characters."""
    plain = _INVISIBLE.sub("", name.decode("utf-8", "replace")).lower()
    return plain.rstrip(". ") in {".git", "git~1"}


def _order(row: Row) -> bytes:
    """Give what git sorts by: a folder's name as if it ended in a slash."""
    return row.name + b"/" if row.entry.mode == TREE_MODE else row.name


def check_commit(raw: bytes) -> Iterator[str]:
    """Say what git never writes into a commit; nothing for one that it made.

    The message is nobody's to check: lines in it that look like headers are text.
    """
    try:
        commit_tree(raw)
    except ValueError as error:
        yield str(error)
        return
    head, end, _ = raw.partition(b"\n\n")
    if not (end or raw.endswith(b"\n")):
        yield "is cut off in its headers"
    if b"\0" in head:
        yield "holds a zero byte in its headers"
    yield from _header_problems(head.removesuffix(b"\n").split(b"\n"))


def _header_problems(lines: list[bytes]) -> Iterator[str]:
    """Compare the headers with git's order: tree, parents, author, committer, then any others."""
    keys = [line.partition(b" ")[0] for line in lines]
    for key in sorted({key for key in keys if key in _ONCE and keys.count(key) > 1}):
        yield f"names its {key.decode()} twice"
    rest = [*_after_parents(lines)]
    if [line.partition(b" ")[0] for line in rest[:2]] != [b"author", b"committer"]:
        yield "does not name tree, parents, author and committer in this order"
    elif any(key in {b"tree", b"parent"} for key in _keys(rest[2:])):
        yield "names a tree or parent behind its committer"
    elif rest[2:3] and rest[2].startswith(b" "):
        yield "goes on with a header that has not begun"


def _after_parents(lines: list[bytes]) -> Iterable[bytes]:
    position = 1
    while position < len(lines) and _PARENT.fullmatch(lines[position]):
        position += 1
    return lines[position:]


def _keys(lines: list[bytes]) -> Iterator[bytes]:
    """Give the headers' names; a line that begins with a blank goes on with the one before."""
    return (line.partition(b" ")[0] for line in lines if not line.startswith(b" "))

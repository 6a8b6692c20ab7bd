"""Decision: every digest this package computes, in one place.

Integrity rests on SHA-256. SHA-1 appears only where git's object ids are recomputed for comparison
with git; no file is served because of one.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

TREE_MODE: Final = "40000"
"""Git's mode of a folder inside a tree object; written without a leading zero."""


def sha256_hex(data: bytes) -> str:
    """Return the SHA-256 of `data` as 64 lower-case hex digits."""
    return hashlib.sha256(data).hexdigest()


RECORDED_ALGORITHMS: Final = frozenset(
    name for name in hashlib.algorithms_guaranteed if not name.startswith("shake_")
)
"""Algorithms of foreign digests that can be compared: those of every Python, except `shake`, which
has no fixed length."""


def recorded_hex(algorithm: str, data: bytes) -> str:
    """Return the digest by one of `RECORDED_ALGORITHMS`, as hex, for comparison."""
    return hashlib.new(algorithm, data, usedforsecurity=False).hexdigest()


def recorded_size(algorithm: str) -> int:
    """Return the size of such a digest in bytes."""
    return hashlib.new(algorithm, usedforsecurity=False).digest_size


def dir_hash(digests: Mapping[str, str]) -> str:
    """Return Go's `dirhash` h1 of a set of files, as hex instead of base64.

    The SHA-256 over one line a file (digest, two spaces, path, line feed), sorted by the path's
    bytes. Because every digest has the same length and paths hold no line feed, two different sets
    of files cannot give the same text ({a: "bc"} and {ab: "c"} differ).

    Args:
        digests: Path (UTF-8, `/` between components) to the file's SHA-256 in hex.

    Source:
        golang.org/x/mod/sumdb/dirhash, `Hash1`.
    """
    lines = (f"{digests[path]}  {path}\n" for path in sorted(digests, key=str.encode))
    return sha256_hex("".join(lines).encode())


def git_object_id(kind: str, body: bytes) -> str:
    """Return git's object id (SHA-1) of a `blob`, `tree` or `commit` with this body."""
    head = f"{kind} {len(body)}\0".encode()
    return hashlib.sha1(head + body, usedforsecurity=False).hexdigest()


def git_blob_id(size: int, chunks: Iterable[bytes]) -> str:
    """Return git's object id of a file that is read in pieces.

    Args:
        size: Bytes in all; git hashes it first.
        chunks: The file's bytes, in order, `size` of them together.
    """
    state = hashlib.sha1(f"blob {size}\0".encode(), usedforsecurity=False)
    for chunk in chunks:
        state.update(chunk)
    return state.hexdigest()


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """A file, link or submodule in a git tree.

    Attributes:
        path: Path below the tree's root, `/` between components.
        mode: `100644`, `100755`, `120000` (link) or `160000` (submodule).
        oid: The object id, 40 lower-case hex digits.
    """

    path: str
    mode: str
    oid: str


Node: TypeAlias = "dict[str, TreeEntry | Node]"


def git_tree_id(entries: Iterable[TreeEntry]) -> str:
    """Return git's tree id of a folder with exactly these entries (the SWHID directory id).

    Folders without entries do not exist for git. No entries at all give the empty tree's id.

    Raises:
        ValueError: If one path is both a file and a folder, or appears twice.
    """
    root: Node = {}
    for entry in entries:
        node = root
        *folders, name = entry.path.split("/")
        for folder in folders:
            child = node.setdefault(folder, {})
            if isinstance(child, TreeEntry):
                message = f"{entry.path}: {folder} is both a file and a folder"
                raise ValueError(message)  # noqa: TRY004 - the entries are wrong, not their types
            node = child
        if name in node:
            raise ValueError(f"{entry.path} appears twice")
        node[name] = entry
    return _tree_id(root)


def _tree_id(node: Node) -> str:
    """Hash one folder; git sorts a folder's name as if it ended in a slash."""
    rows: list[tuple[bytes, bytes]] = []
    for name, child in node.items():
        raw = name.encode()
        if isinstance(child, TreeEntry):
            mode, oid, key = child.mode, child.oid, raw
        else:
            mode, oid, key = TREE_MODE, _tree_id(child), raw + b"/"
        rows.append((key, f"{mode} ".encode() + raw + b"\0" + bytes.fromhex(oid)))
    return git_object_id("tree", b"".join(row for _, row in sorted(rows)))

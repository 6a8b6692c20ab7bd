"""Decision: from a commit id to the bytes of the skills, by SHA-1 alone and offline.

A receipt may carry the raw commit and the raw trees on the way to the skills folder. Hashing them
again shows that the commit id it names is the id of a commit whose tree holds exactly these skills.
It does not show that the commit is in any public repository, nor that its author is who it says.
"""

from __future__ import annotations

import base64
import binascii
import re
from typing import TYPE_CHECKING, Final, NamedTuple

from skills_bundle import limits
from skills_bundle.errors import Problem
from skills_bundle.formats.digest import TREE_MODE, git_object_id

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skills_bundle.bundle.receipt import Source

_COMMIT_HEAD: Final = re.compile(rb"tree ([0-9a-f]{40})\n")
_OID_BYTES: Final = 20


class Entry(NamedTuple):
    """One row of a git tree: its mode as git writes it (`40000` for a folder) and object id."""

    mode: str
    oid: str


def commit_tree(raw: bytes) -> str:
    """Give the id of the tree that a raw commit names.

    Raises:
        ValueError: If these bytes are no commit.
    """
    head = _COMMIT_HEAD.match(raw)
    if head is None:
        raise ValueError("is no commit: it does not begin with a tree id")
    return head[1].decode()


def tree_entries(raw: bytes) -> dict[str, Entry]:
    """Give the rows of a raw tree by name; bytes that are not UTF-8 become lone surrogates.

    Raises:
        ValueError: If these bytes are no tree.
    """
    entries: dict[str, Entry] = {}
    position = 0
    while position < len(raw):
        space, zero = raw.find(b" ", position), raw.find(b"\0", position)
        end = zero + 1 + _OID_BYTES
        if not position < space < zero or end > len(raw):
            raise ValueError("is no tree: a row is cut short")
        name = raw[space + 1 : zero].decode("utf-8", "surrogateescape")
        mode = raw[position:space].decode("ascii", "replace")
        entries[name] = Entry(mode, raw[zero + 1 : end].hex())
        position = end
    return entries


def encode(objects: Sequence[bytes]) -> tuple[str, ...] | None:
    """Give a receipt's `proof`, or None if it would exceed `limits.PROOF_MAX_BYTES`.

    Args:
        objects: The raw commit, then raw trees from the root down.
    """
    if sum(map(len, objects)) > limits.PROOF_MAX_BYTES:
        return None
    return tuple(base64.b64encode(data).decode() for data in objects)


def decode(proof: Sequence[str]) -> tuple[bytes, ...]:
    """Give the raw objects of a receipt's `proof`.

    Raises:
        ValueError: If an entry is not canonical base64.
    """
    objects: list[bytes] = []
    for text in proof:
        data = base64.b64decode(text, validate=True)
        if base64.b64encode(data).decode() != text:  # several texts give the same bytes
            raise ValueError("is not canonical base64")
        objects.append(data)
    return tuple(objects)


def problems(source: Source) -> tuple[Problem, ...]:
    """Recompute the way from the commit to the skills tree.

    Returns:
        What does not follow; empty also when the receipt carries no proof, since then there is
        nothing to recompute.
    """
    if source.proof is None:
        return ()
    try:
        objects = decode(source.proof)
    except (ValueError, binascii.Error) as error:
        return (_problem("source.proof", str(error)),)
    return tuple(_chain_problems(objects, source))


def _chain_problems(objects: tuple[bytes, ...], source: Source) -> list[Problem]:
    if not objects:
        return [_problem("source.proof", "holds no commit")]
    commit, *trees = objects
    found: list[Problem] = []
    if (oid := git_object_id("commit", commit)) != source.commit:
        found.append(_problem("source.proof[0]", f"hashes to {oid}, not to source.commit"))
    try:
        reachable = {commit_tree(commit)}
        for position, tree in enumerate(trees, start=1):
            oid = git_object_id("tree", tree)
            if oid not in reachable:
                found.append(_problem(f"source.proof[{position}]", "is not in the object above it"))
            reachable = {row.oid for row in tree_entries(tree).values() if row.mode == TREE_MODE}
    except ValueError as error:
        return [*found, _problem("source.proof", str(error))]
    if source.skills_tree not in reachable:
        found.append(_problem("source.skills_tree", "is not where the proof ends"))
    return found


def _problem(path: str, message: str) -> Problem:
    return Problem(code="proof", message=message, path=path)

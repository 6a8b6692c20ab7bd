"""Decision: from a commit id to the bytes of the skills, by SHA-1 alone and offline.

A receipt may carry the raw commit and the raw trees on the way to the skills folder. Hashing them
again shows that the commit id it names is the id of a commit whose tree holds exactly these skills.
It does not show that the commit is in any public repository, nor that its author is who it says.

A proof comes from strangers. Its size is looked at before anything is decoded, every object is
held to what git writes, and each thing that is wrong is told by itself.
"""

from __future__ import annotations

import base64
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from skills_bundle.errors import Problem
from skills_bundle.formats.digest import TREE_MODE, git_object_id
from skills_bundle.git import limits
from skills_bundle.git.proof_objects import (
    Entry,
    check_commit,
    check_tree,
    commit_tree,
    tree_entries,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from skills_bundle.bundle.receipt import Source

__all__ = ["Entry", "commit_tree", "decode", "encode", "problems", "tree_entries", "way"]

_KINDS: Final = {"120000": "a link", "160000": "a submodule"}


def encode(objects: Sequence[bytes]) -> tuple[str, ...] | None:
    """Give a receipt's `proof`, or None beyond `limits.PROOF_MAX_BYTES` or `PROOF_MAX_OBJECTS`.

    Args:
        objects: The raw commit, then raw trees from the root down.
    """
    too_much = sum(map(len, objects)) > limits.PROOF_MAX_BYTES
    if too_much or len(objects) > limits.PROOF_MAX_OBJECTS:
        return None
    return tuple(base64.b64encode(data).decode() for data in objects)


def decode(proof: Sequence[str]) -> tuple[bytes, ...]:
    """Give the raw objects of a receipt's `proof`.

    Raises:
        ValueError: If an entry is not canonical base64, or there is more than the limits allow;
            that is found out without decoding any.
    """
    if len(proof) > limits.PROOF_MAX_OBJECTS:
        raise ValueError(f"holds {len(proof)} objects, more than {limits.PROOF_MAX_OBJECTS}")
    if (size := sum(map(decoded_size, proof))) > limits.PROOF_MAX_BYTES:
        raise ValueError(f"holds {size} bytes, more than {limits.PROOF_MAX_BYTES}")
    return tuple(map(_decoded, proof))


def decoded_size(text: str) -> int:
    """Give the bytes that base64 text stands for, without decoding it."""
    return len(text) // 4 * 3 - text[-2:].count("=")


def _decoded(text: str) -> bytes:
    data = base64.b64decode(text, validate=True)
    if base64.b64encode(data).decode() != text:  # several texts give the same bytes
        raise ValueError("is not canonical base64")
    return data


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
    except ValueError as error:
        return (_problem("source.proof", str(error)),)
    if not objects:
        return (_problem("source.proof", "holds no commit"),)
    return (*_form_problems(objects), *_chain_problems(objects, source))


def _form_problems(objects: Sequence[bytes]) -> Iterator[Problem]:
    """Say what git would never have written, object by object."""
    checks: list[Callable[[bytes], Iterator[str]]] = [check_commit, *[check_tree] * len(objects)]
    for position, (data, check) in enumerate(zip(objects, checks, strict=False)):
        for message in check(data):
            yield _problem(_place(position), message)


def _chain_problems(objects: Sequence[bytes], source: Source) -> Iterator[Problem]:
    """Say where one object does not lead to the next."""
    ids = _ids(objects)
    if ids[0] != source.commit:
        yield _problem(_place(0), f"hashes to {ids[0]}, not to source.commit")
    named = [_named(position, data) for position, data in enumerate(objects)]
    for position, (above, oid) in enumerate(zip(named, ids[1:], strict=False), start=1):
        if oid in ids[:position]:
            yield _problem(_place(position), "is an object that came before: no tree holds itself")
        elif oid not in _folders(above):
            yield _problem(_place(position), _why_not_reached(position, oid, named))
    if source.skills_tree not in _folders(named[-1]):
        yield _problem("source.skills_tree", _why_no_end(source.skills_tree, ids, named[-1]))


def _ids(objects: Sequence[bytes]) -> list[str]:
    kinds = ["commit", *["tree"] * (len(objects) - 1)]
    return [git_object_id(kind, data) for kind, data in zip(kinds, objects, strict=True)]


def _named(position: int, data: bytes) -> dict[str, Entry]:
    """Give what an object names; of a commit its tree, under an empty name."""
    try:
        return {"": Entry(TREE_MODE, commit_tree(data))} if position == 0 else tree_entries(data)
    except ValueError:  # told already, with the object's form
        return {}


def _folders(named: dict[str, Entry]) -> dict[str, list[str]]:
    """Give the names of each folder by its id: two folders of the same content have the same."""
    found: dict[str, list[str]] = {}
    for name, entry in named.items():
        if entry.mode == TREE_MODE:
            found.setdefault(entry.oid, []).append(name)
    return found


def _why_not_reached(position: int, oid: str, named: list[dict[str, Entry]]) -> str:
    if kind := _other_kind(oid, named[position - 1]):
        return f"is in the object above it as {kind}, not as a folder"
    elsewhere = [n for n, rows in enumerate(named) if oid in _folders(rows) and n != position]
    if elsewhere:
        return f"is out of order: it belongs below {_place(elsewhere[0])}"
    return "is not in the object above it: a tree is missing before it, or it is one too many"


def _why_no_end(tree: str | None, ids: list[str], last: dict[str, Entry]) -> str:
    if tree in ids:
        return f"is {_place(ids.index(tree))} itself: the proof goes on beyond it"
    if kind := _other_kind(tree, last):
        return f"is in the last object as {kind}, not as a folder"
    return "is not where the proof ends: a tree is missing, or this is another folder"


def _other_kind(oid: str | None, named: dict[str, Entry]) -> str | None:
    modes = [entry.mode for entry in named.values() if entry.oid == oid]
    return _KINDS.get(modes[0], "a file") if modes else None


def way(source: Source) -> tuple[tuple[str, ...], ...]:
    """Give, for each step of a proof that holds, the names under which it leads on.

    Args:
        source: One in which `problems` finds nothing, with a proof.

    Returns:
        One tuple a folder between the root and the skills, the skills folder's last; empty where
        the skills folder is the whole repository. A tuple has several names if folders beside each
        other have the same content: then nobody can tell which was meant.
    """
    objects = decode(source.proof or ())
    ids = [*_ids(objects)[1:], source.skills_tree or ""]
    named = [_named(position, data) for position, data in enumerate(objects)]
    steps = zip(named[1:], (below for _, below in pairwise(ids)), strict=True)
    return tuple(tuple(_folders(rows)[oid]) for rows, oid in steps)


def _place(position: int) -> str:
    return f"source.proof[{position}]"


def _problem(path: str, message: str) -> Problem:
    return Problem(code="proof", message=message, path=path)

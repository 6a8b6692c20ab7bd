"""Record: which commit a build was made from, or why none is named; and the proof that leads there.

A receipt may carry the raw commit and the raw trees above the skills folder. Hashing them again
shows, by SHA-1 alone and offline, that the commit id it names is the id of a commit whose tree
holds exactly these skills. It does not show that the commit is in any public repository, nor that
its author is who it says.

A proof comes from strangers. Its size is checked before anything is decoded, and every object is
checked as strictly as `git fsck` does, so that no second meaning hides behind a right hash.
"""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final, Literal, Protocol

from skills_bundle.errors import Problem
from skills_bundle.formats.digest import TREE_MODE, git_object_id
from skills_bundle.git import limits
from skills_bundle.git.commit import Entry, commit_tree, tree_entries, tree_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from skills_bundle.git.commit import TreeRow

State = Literal["clean", "dirty", "archive"]
"""`clean`; `dirty`: the folder differs from the commit; `archive`: there is no commit to compare
with."""
Reason = Literal[
    "not_git_source",
    "dirty_source",
    "git_unavailable",
    "not_owner",
    "no_commit",
    "project_not_in_repository",
    "unsupported_object_format",
    "eol_converted",
]
"""Why no commit is named; documented one by one in docs/reference/receipt-format.md."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """What a checkout was when it was inspected.

    Attributes:
        state: See `State`.
        reason: Why it is not clean, or None.
        detail: A sentence for the build log; may name local files, so it never ships.
        commit: Full id of HEAD's commit; only when clean.
        skills_tree: Id of the skills folder's tree in that commit; only when clean.
        proof: The raw commit and the raw trees down to the skills folder.
    """

    state: State
    reason: Reason | None
    detail: str = ""
    commit: str | None = None
    skills_tree: str | None = None
    proof: tuple[bytes, ...] = ()


def archive(reason: Reason, detail: str) -> Revision:
    """Return the revision of a folder that has no commit to compare with."""
    return Revision(state="archive", reason=reason, detail=detail)


def dirty(reason: Reason, detail: str) -> Revision:
    """Return the revision of a folder that differs from its commit."""
    return Revision(state="dirty", reason=reason, detail=detail)


class _SourceClaim(Protocol):
    """The part of a receipt that a proof belongs to; see `bundle.receipt.Source`."""

    @property
    def commit(self) -> str | None: ...
    @property
    def skills_tree(self) -> str | None: ...
    @property
    def proof(self) -> Sequence[str] | None: ...


MODES: Final = frozenset({TREE_MODE, "100644", "100664", "100755", "120000", "160000"})
"""What git gives an entry: folder, file (`100664` until 2005), script, link, submodule."""

_PARENT: Final = re.compile(rb"parent [0-9a-f]{40}")
_OCTAL: Final = re.compile(rb"[0-7]+")
_ONCE: Final = (b"tree", b"author", b"committer", b"encoding", b"gpgsig", b"gpgsig-sha256")
"""Headers of which a commit has at most one; `parent` and `mergetag` repeat in merges."""
_NO_NAMES: Final = frozenset({b"", b".", b".."})
_INVISIBLE: Final = re.compile("[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]")
"""What HFS+ leaves out when it compares names; git looks for a hidden `.git` behind it."""


def encode(objects: Sequence[bytes]) -> tuple[str, ...] | None:
    """Return a receipt's `proof`, or None beyond `limits.PROOF_MAX_BYTES` or `PROOF_MAX_OBJECTS`.

    Args:
        objects: The raw commit, then raw trees from the root down.
    """
    too_much = sum(map(len, objects)) > limits.PROOF_MAX_BYTES
    if too_much or len(objects) > limits.PROOF_MAX_OBJECTS:
        return None
    return tuple(base64.b64encode(data).decode() for data in objects)


def decode(proof: Sequence[str]) -> tuple[bytes, ...]:
    """Return the raw objects of a receipt's `proof`.

    Raises:
        ValueError: If an entry is not canonical base64, or there is more than the limits allow;
            that is found out without decoding any.
    """
    if len(proof) > limits.PROOF_MAX_OBJECTS:
        raise ValueError(f"has {len(proof)} objects, more than {limits.PROOF_MAX_OBJECTS}")
    if (size := sum(map(decoded_size, proof))) > limits.PROOF_MAX_BYTES:
        raise ValueError(f"has {size} bytes, more than {limits.PROOF_MAX_BYTES}")
    return tuple(map(_decoded, proof))


def decoded_size(text: str) -> int:
    """Return how many bytes base64 text encodes, without decoding it."""
    return len(text) // 4 * 3 - text[-2:].count("=")


def _decoded(text: str) -> bytes:
    data = base64.b64decode(text, validate=True)
    if base64.b64encode(data).decode() != text:  # several texts give the same bytes
        raise ValueError("is not canonical base64")
    return data


def problems(source: _SourceClaim) -> tuple[Problem, ...]:
    """Recompute the path from the commit to the skills tree.

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
        return (_problem("source.proof", "contains no commit"),)
    return (*_form_problems(objects), *_chain_problems(objects, source))


def _form_problems(objects: Sequence[bytes]) -> Iterator[Problem]:
    """Report what git would never have written, object by object."""
    checks: list[Callable[[bytes], Iterator[str]]] = [check_commit, *[check_tree] * len(objects)]
    for position, (data, check) in enumerate(zip(objects, checks, strict=False)):
        for message in check(data):
            yield _problem(_place(position), message)


def _chain_problems(objects: Sequence[bytes], source: _SourceClaim) -> Iterator[Problem]:
    """Report where one object does not lead to the next."""
    ids = _ids(objects)
    if ids[0] != source.commit:
        yield _problem(_place(0), f"hashes to {ids[0]}, not to source.commit")
    named = [_named(position, data) for position, data in enumerate(objects)]
    for position, oid in enumerate(ids[1:], start=1):
        if oid not in _folders(named[position - 1]):
            yield _problem(_place(position), f"is not a folder of {_place(position - 1)}")
    if source.skills_tree not in _folders(named[-1]):
        end = _place(len(objects) - 1)
        yield _problem("source.skills_tree", f"is not a folder of {end}, where the proof ends")


def _ids(objects: Sequence[bytes]) -> list[str]:
    kinds = ["commit", *["tree"] * (len(objects) - 1)]
    return [git_object_id(kind, data) for kind, data in zip(kinds, objects, strict=True)]


def _named(position: int, data: bytes) -> dict[str, Entry]:
    """Return what an object names; for a commit, its tree under an empty name."""
    try:
        return {"": Entry(TREE_MODE, commit_tree(data))} if position == 0 else tree_entries(data)
    except ValueError:  # reported already, with the object's form
        return {}


def _folders(named: dict[str, Entry]) -> dict[str, list[str]]:
    """Return the names of each folder by its id: folders of the same content share one."""
    found: dict[str, list[str]] = {}
    for name, entry in named.items():
        if entry.mode == TREE_MODE:
            found.setdefault(entry.oid, []).append(name)
    return found


def folder_names(source: _SourceClaim) -> tuple[tuple[str, ...], ...]:
    """Return, for each step of a proof that holds, the names of the folder it leads to.

    Args:
        source: One in which `problems` finds nothing, with a proof.

    Returns:
        One tuple a folder between the root and the skills, the skills folder's last; empty where
        the skills folder is the whole repository. A tuple has several names if folders beside each
        other have the same content: the proof does not say which was meant.
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


def check_tree(raw: bytes) -> Iterator[str]:
    """Report what git never writes into a tree; nothing for a tree that git made.

    Leading zeros of a mode are accepted: some programs wrote them, and repositories keep them.
    """
    try:
        rows = list(tree_rows(raw))
    except ValueError as error:
        yield str(error)
        return
    for row in rows:
        yield from _row_problems(row)
    names = [row.name for row in rows]
    if len(set(names)) < len(names):
        yield "lists a name twice"
    elif [*map(_order, rows)] != sorted(map(_order, rows)):
        yield "is not in the order of a git tree"


def _row_problems(row: TreeRow) -> Iterator[str]:
    shown = ascii(row.name.decode("utf-8", "surrogateescape"))
    if not _OCTAL.fullmatch(row.mode) or row.entry.mode not in MODES:
        yield f"gives {shown} the mode {row.mode.decode('latin-1')!a}, which git never uses"
    if row.name in _NO_NAMES or b"/" in row.name or _is_git_folder(row.name):
        yield f"contains the name {shown}, which git does not allow in a tree"


def _is_git_folder(name: bytes) -> bool:
    """Return whether some disk takes a name for `.git`: by case, short name, hidden characters."""
    plain = _INVISIBLE.sub("", name.decode("utf-8", "replace")).lower()
    return plain.rstrip(". ") in {".git", "git~1"}


def _order(row: TreeRow) -> bytes:
    """Return what git sorts by: a folder's name as if it ended in a slash."""
    return row.name + b"/" if row.entry.mode == TREE_MODE else row.name


def check_commit(raw: bytes) -> Iterator[str]:
    """Report what git never writes into a commit; nothing for a commit that git made.

    The message is not checked: lines in it that look like headers are text.
    """
    try:
        commit_tree(raw)
    except ValueError as error:
        yield str(error)
        return
    head, end, _ = raw.partition(b"\n\n")
    if not (end or raw.endswith(b"\n")):
        yield "is truncated in its headers"
    if b"\0" in head:
        yield "has a NUL byte in its headers"
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
        yield "names a tree or parent after its committer"
    elif rest[2:3] and rest[2].startswith(b" "):
        yield "continues a header that has not started"


def _after_parents(lines: list[bytes]) -> Iterable[bytes]:
    position = 1
    while position < len(lines) and _PARENT.fullmatch(lines[position]):
        position += 1
    return lines[position:]


def _keys(lines: list[bytes]) -> Iterator[bytes]:
    """Return the headers' names; a line that begins with a blank continues the one before."""
    return (line.partition(b" ")[0] for line in lines if not line.startswith(b" "))

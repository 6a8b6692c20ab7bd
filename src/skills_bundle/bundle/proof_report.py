"""Record: what a receipt's proof shows of the bytes that were looked at, and what it does not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final, Literal

from pydantic import Field

from skills_bundle.bundle.provenance import GAP_SENTENCES
from skills_bundle.formats import limits as format_limits
from skills_bundle.formats.digest import git_object_id
from skills_bundle.formats.record import Record
from skills_bundle.git import limits as git_limits
from skills_bundle.git import proof

if TYPE_CHECKING:
    from skills_bundle.bundle.documents import Document
    from skills_bundle.bundle.receipt import BuildReceipt, Source

ProofState = Literal["recomputed", "chain_only", "refused", "absent"]
"""What became of a proof.

`recomputed`: from the commit to the bytes of the skills. `chain_only`: from the commit to the
skills tree, which was not compared with bytes. `refused`: it does not hold. `absent`: there is
none to look at.
"""

Absence = Literal["no_receipt", "receipt_not_believed", "no_commit", "left_out"]
"""Why there is none to look at."""

_SHOWS: Final[dict[ProofState, str]] = {
    "recomputed": "These bytes are the skills folder of this commit: commit, trees and files were "
    "hashed here, and each names the next.",
    "chain_only": "This commit leads to the skills tree that the receipt names. It was not "
    "shown that these bytes form that tree: not every locked file is present and unchanged.",
    "refused": "Nothing: the receipt's proof is wrong, or git could not have produced it.",
}

_ABSENT: Final[dict[Absence, str]] = {
    "no_receipt": "Nothing: there is no receipt, and so no proof.",
    "receipt_not_believed": "Nothing: the receipt is not valid.",
    "no_commit": "Nothing: the receipt names no commit.",
    "left_out": "Nothing: the receipt contains no proof. The project disables it (`proof = "
    f"false`), or it would exceed {git_limits.PROOF_MAX_BYTES // format_limits.KIB} KiB, or the "
    "commit is not in the form that git writes.",
}

NOT_SHOWN: Final = (
    "That the commit is in the repository that the project names, or in any.",
    "That anything besides the skills, such as the package's code, comes from the commit.",
    "That author and committer are who the commit says: `verify --signed-by` checks its signature.",
    "That no other object has the same id: git ids are SHA-1, and collisions are not checked for.",
)
"""What must not be concluded from a proof, however well it holds."""


class ProofLink(Record):
    """One object of the way, hashed here.

    Attributes:
        kind: `commit` or `tree`.
        id: Its git object id.
        size: Its bytes.
        names: The folder's names in the object above; several if folders beside each other have
            the same content, none for the commit and for the repository's top.
    """

    kind: Literal["commit", "tree"]
    id: str
    size: int
    names: tuple[str, ...]


class ProofReport(Record):
    """What a proof shows and what it does not.

    Attributes:
        state: See `ProofState`.
        reason: Why it is absent, else null.
        shows: One sentence.
        not_shown: What must not be concluded; empty where nothing is shown.
        links: Every object from the commit to the skills folder's parent; empty unless they hold.
        skills_tree: Id of the skills folder, where the way ends; null unless the way holds.
        folder: Where the skills folder lies in the repository; `.` for its top, null where several
            folders of the same content leave it open, or nothing is shown.
        size: Bytes of all objects together.
        commit_object: The raw commit, for a look at its signature; in no report.
    """

    state: ProofState
    reason: Absence | None
    shows: str
    not_shown: tuple[str, ...]
    links: tuple[ProofLink, ...]
    skills_tree: str | None
    folder: str | None
    size: int
    commit_object: Annotated[bytes | None, Field(exclude=True, repr=False)] = None

    @property
    def holds(self) -> bool:
        """Whether the commit leads to the skills tree that the receipt names."""
        return self.state in {"recomputed", "chain_only"}


def describe(receipt: Document[BuildReceipt], *, compared: bool) -> ProofReport:
    """Return what a receipt's proof shows.

    Args:
        receipt: As `documents.cross_check` and `trees.check_revision` leave it.
        compared: Whether every locked file was read and is the one locked, so that the skills tree
            was recomputed from bytes.
    """
    if any(problem.code == "proof" for problem in receipt.problems):
        return _nothing("refused", None, _SHOWS["refused"])
    believed = receipt.believed
    if believed is None:
        reason: Absence = "no_receipt" if receipt.state == "missing" else "receipt_not_believed"
        return _nothing("absent", reason, _ABSENT[reason])
    source = believed.source
    if source.reason is not None:
        shows = f"{_ABSENT['no_commit']} {GAP_SENTENCES[source.reason]}"
        return _nothing("absent", "no_commit", shows)
    if source.proof is None:
        return _nothing("absent", "left_out", _ABSENT["left_out"])
    return _way(source, "recomputed" if compared else "chain_only")


def _nothing(state: ProofState, reason: Absence | None, shows: str) -> ProofReport:
    return ProofReport(
        state=state,
        reason=reason,
        shows=shows,
        not_shown=(),
        links=(),
        skills_tree=None,
        folder=None,
        size=0,
    )


def _way(source: Source, state: ProofState) -> ProofReport:
    objects = proof.decode(source.proof or ())
    steps = [tuple(map(_shown, names)) for names in proof.folder_names(source)]
    above = [(), (), *steps]  # neither commit nor top has a name; the last are the skills folder's
    links = tuple(
        _link("tree" if place else "commit", data, above[place])
        for place, data in enumerate(objects)
    )
    certain = all(len(names) == 1 for names in steps)
    return ProofReport(
        state=state,
        reason=None,
        shows=_SHOWS[state],
        not_shown=NOT_SHOWN,
        links=links,
        skills_tree=source.skills_tree,
        folder="/".join(names[0] for names in steps) or "." if certain else None,
        size=sum(map(len, objects)),
        commit_object=objects[0],
    )


def _link(kind: Literal["commit", "tree"], data: bytes, names: tuple[str, ...]) -> ProofLink:
    return ProofLink(kind=kind, id=git_object_id(kind, data), size=len(data), names=names)


def _shown(name: str) -> str:
    """Write a name as text that any JSON can hold; git's need not be UTF-8."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")

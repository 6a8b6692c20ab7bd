"""Decision: what each provenance field rests on, and what it does not prove, beside its value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from skills_bundle.formats.record import Record

if TYPE_CHECKING:
    from skills_bundle.bundle.provenance import Provenance
    from skills_bundle.bundle.verify import Verification


class Basis(NamedTuple):
    """What a field rests on: what was recomputed, what is taken on trust, what stays open."""

    checked: str
    asserted: str
    not_proved: str


class Explanation(Record):
    """One provenance field with its value and its basis.

    Attributes:
        field: Dotted name inside the provenance block.
        value: As the answers carry it; null when it is null there, or when there is no block.
        checked: What was recomputed or compared here.
        asserted: What somebody claims and nothing here can confirm.
        not_proved: What must not be concluded from it.
    """

    field: str
    value: str | None
    checked: str
    asserted: str
    not_proved: str


BASES: Final[dict[str, Basis]] = {
    "collection": Basis(
        "It is the name in the lock; see `catalog_sha256` for what the lock was compared with.",
        "The name itself: the project chose it.",
        "That no other project uses the same name.",
    ),
    "package_name": Basis(
        "It is the name in the METADATA beside the running package and, if there is one, the "
        "receipt's.",
        "The name itself: whoever built the wheel chose it.",
        "That it came from the index project of that name: an installer does not record the index.",
    ),
    "package_version": Basis(
        "It is the version in the METADATA beside the running package and, if there is one, the "
        "receipt's.",
        "The version itself: whoever built the wheel chose it.",
        "That this is the released wheel of that version; compare the wheel's own digest for that.",
    ),
    "repository": Basis(
        "The receipt's fields match the digest it has of them, and RECORD if there is one.",
        "The address: the project's configuration names it, and nothing looked it up.",
        "That the repository exists, or holds the commit.",
    ),
    "catalog_sha256": Basis(
        "SHA-256 of the lock's bytes, computed here; equal to what RECORD and receipt have, as far "
        "as these are there.",
        "Nothing.",
        "That this lock is the one its authors released: compare the digest with theirs.",
    ),
    "source_ref": Basis(
        "The receipt's fields match the digest it has of them, and RECORD if there is one.",
        "The ref: made from the project's configuration and version, never read from git.",
        "That the ref exists, or points at the commit.",
    ),
    "resolved_git_sha": Basis(
        "The skills tree that the receipt names was recomputed from the installed bytes; if the "
        "receipt carries a proof, that this commit leads to that tree was recomputed, too: see "
        "`proof`.",
        "That the wheel was built from this commit: the receipt is not signed.",
        "That the package's code, which is no part of the skills folder, is the commit's.",
    ),
    "source_provenance.status": Basis(
        "A receipt that nothing contradicts names a commit.",
        "The commit.",
        "More than that a claim was made: a coherent rewrite of everything is not noticed.",
    ),
    "source_provenance.build_verification": Basis(
        "A receipt that nothing contradicts says that the checkout was clean.",
        "The inspection: it was made by the build, on the machine that built.",
        "That the build told the truth.",
    ),
    "source_provenance.integrity": Basis(
        "Every locked file was read without following links; size and SHA-256 are the lock's.",
        "Nothing.",
        "That the lock is authentic; that cached byte code belongs to its source; that nobody "
        "writes to the files later (each read is compared again).",
    ),
    "source_provenance.reason": Basis(
        "It is the first of the gaps, in their documented order.",
        "A receipt's own reason: the build's word.",
        "That the other fields are complete: `gaps` has every reason.",
    ),
    "source_provenance.receipt_sha256": Basis(
        "SHA-256 of the receipt's bytes, computed here; equal to RECORD's, if there is one.",
        "Nothing.",
        "That the receipt is authentic: it is not signed.",
    ),
    "gaps": Basis(
        "Each gap was looked for, in receipt, RECORD, files and the way of installing.",
        "A receipt's own reason: the build's word.",
        "That nothing else is amiss.",
    ),
}
"""Every field of the provenance block, in its order."""


def explain(verification: Verification) -> tuple[Explanation, ...]:
    """Explain every field of the provenance block, with its value in this installation."""
    block = verification.provenance
    return tuple(
        Explanation(field=name, value=_value(block, name), **basis._asdict())
        for name, basis in BASES.items()
    )


def _value(block: Provenance | None, name: str) -> str | None:
    """Give a field of the block as text; of several gaps, all of them."""
    if block is None:
        return None
    if name == "gaps":
        return ", ".join(block.gaps) or None
    value: object = block
    for step in name.split("."):
        value = getattr(value, step)
    return None if value is None else str(value)

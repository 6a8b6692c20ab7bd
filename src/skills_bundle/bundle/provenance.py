"""Record: where an answer's bytes come from, as far as known, and what each field rests on.

Three claims stay apart: what is asserted, what the build recorded, and what was recomputed here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from skills_bundle.formats.record import Record

if TYPE_CHECKING:
    from collections.abc import Iterable

    from skills_bundle.bundle.receipt import BuildReceipt
    from skills_bundle.bundle.verification import Verification

GAP_SENTENCES: Final[dict[str, str]] = {
    "editable_install": "The package runs from its source: skills are served as they are now.",
    "missing_receipt": "There is no build receipt: nothing says which commit this was built from.",
    "invalid_receipt": "The build receipt is not valid: nothing says which commit this was built "
    "from.",
    "not_git_source": "It was built from files outside any git checkout.",
    "git_unavailable": "Git could not be used when it was built.",
    "not_owner": "The checkout it was built from belongs to another user.",
    "unsupported_object_format": "The checkout does not use SHA-1 object ids.",
    "no_commit": "The checkout it was built from has no commit.",
    "project_not_in_repository": "The checkout around the source does not contain this project.",
    "eol_converted": "Line endings in the checkout differ from those in the commit.",
    "dirty_source": "What was built is not exactly what the commit contains.",
    "altered_files": "Some files are not the ones that were installed; they are not served.",
    "unreadable_files": "Some locked files cannot be read, so their content is unknown; they are "
    "not served.",
    "linked_install": "The installation is made of links: the owner of the targets can change it.",
    "record_absent": "There is no RECORD to confirm the files.",
    "record_unreadable": "RECORD cannot be read, so it confirms nothing.",
    "record_mismatch": "RECORD is not valid, or does not match the installed files.",
    "extra_files": "There are unlisted files among the skills; they are not served.",
    "unseen_entries": "Some files or folders of the package cannot be inspected, so their "
    "content is unknown; they are not served.",
}
"""Every evidence gap with what it means, in the order in which `reason` picks the first."""

GAPS: Final[tuple[str, ...]] = tuple(GAP_SENTENCES)
"""The codes alone."""

INFORMATIONAL_GAPS: Final = frozenset(
    {"record_absent", "record_unreadable", "record_mismatch", "extra_files", "unseen_entries"}
)
"""Gaps that take nothing away from the bytes that are served or the revision that is named."""

UNVERIFIED_GAPS: Final = frozenset(
    {"editable_install", "altered_files", "unreadable_files", "linked_install"}
)
"""Gaps under which no state may be claimed: the bytes are not, or not surely, the ones built."""


class SourceProvenance(Record):
    """The three claims.

    Attributes:
        status: `asserted` when the receipt names a revision: that is a claim, not a proof.
        build_verification: `verified` when the build recorded that the checkout was clean.
        integrity: `verified` when the installed bytes match the lock, recomputed here.
        reason: The first gap in the order of `GAPS`, or null.
        receipt_sha256: Digest of the receipt's bytes, or null when there is none to be used.
    """

    status: Literal["asserted", "unavailable"]
    build_verification: Literal["verified", "unavailable"]
    integrity: Literal["verified", "unavailable"]
    reason: str | None
    receipt_sha256: str | None


class Provenance(Record):
    """What every answer carries; null source fields always come with a gap.

    Attributes:
        collection: The lock's collection name.
        package_name: Normalised name of the distribution the bytes were installed by.
        package_version: Its version.
        repository: Asserted by the project's configuration.
        catalog_sha256: SHA-256 of the lock's bytes.
        source_ref: Asserted ref (`source-ref` template), else the commit, else null.
        resolved_git_sha: Full id of the commit the build recorded, or null.
        source_provenance: The three claims.
        gaps: All gaps, in the order of `GAPS`.
    """

    collection: str
    package_name: str
    package_version: str
    repository: str | None
    catalog_sha256: str
    source_ref: str | None
    resolved_git_sha: str | None
    source_provenance: SourceProvenance
    gaps: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """What is known about a bundle, from which its provenance follows.

    Attributes:
        collection: The lock's collection name.
        name: Normalised distribution name.
        version: Its version.
        catalog_sha256: SHA-256 of the lock's bytes.
        receipt: A receipt that may be believed, or None.
        receipt_sha256: Digest of its bytes.
        gaps: What is known to be missing, besides the receipt's own reason; in any order.
    """

    collection: str
    name: str
    version: str
    catalog_sha256: str
    receipt: BuildReceipt | None
    receipt_sha256: str | None
    gaps: frozenset[str]


def describe(bundle: Bundle) -> Provenance:
    """Return the provenance block that every answer carries.

    A revision is named only when a believed receipt names one and every installed file is the one
    that was locked: a commit beside other bytes would be a claim about something else.
    """
    receipt = bundle.receipt
    reason = None if receipt is None else receipt.source.reason
    gaps = ordered({*bundle.gaps, *([] if reason is None else [reason])})
    intact = not UNVERIFIED_GAPS.intersection(gaps)
    asserted = None if receipt is None else receipt.asserted
    commit = receipt.source.commit if receipt is not None and intact else None
    named = commit is not None
    return Provenance(
        collection=bundle.collection,
        package_name=bundle.name,
        package_version=bundle.version,
        repository=None if asserted is None else asserted.repository,
        catalog_sha256=bundle.catalog_sha256,
        source_ref=asserted.source_ref or commit if asserted is not None and named else None,
        resolved_git_sha=commit,
        source_provenance=SourceProvenance(
            status="asserted" if named else "unavailable",
            build_verification="verified" if named else "unavailable",
            integrity="verified" if intact else "unavailable",
            reason=next(iter(gaps), None),
            receipt_sha256=bundle.receipt_sha256,
        ),
        gaps=gaps,
    )


def ordered(gaps: Iterable[str]) -> tuple[str, ...]:
    """Sort gaps into the order of `GAPS`.

    Raises:
        ValueError: If one of them has no place in it.
    """
    return tuple(sorted(gaps, key=GAPS.index))


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
        asserted: What is claimed and cannot be confirmed here.
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
        "It is the name of the metadata folder beside the running package, of the METADATA in it "
        "and, if there is one, the receipt's; where these differ, a gap says so.",
        "The name itself: the builder of the wheel chose it.",
        "That it came from the index project of that name: an installer does not record the index.",
    ),
    "package_version": Basis(
        "It is the version of the metadata folder beside the running package, of the METADATA in "
        "it and, if there is one, the receipt's; where these differ, a gap says so.",
        "The version itself: the builder of the wheel chose it.",
        "That this is the released wheel of that version: compare the wheel's digest.",
    ),
    "repository": Basis(
        "The receipt's fields match its own digest, and RECORD if there is one.",
        "The address: the project's configuration names it, and nothing looked it up.",
        "That the repository exists, or contains the commit.",
    ),
    "catalog_sha256": Basis(
        "SHA-256 of the lock's bytes, computed here; equal to the digest in RECORD and in the "
        "receipt, if they exist.",
        "Nothing.",
        "That this lock is the one its authors released: compare the digest with theirs.",
    ),
    "source_ref": Basis(
        "The receipt's fields match its own digest, and RECORD if there is one.",
        "The ref: made from the project's configuration and version, never read from git.",
        "That the ref exists, or points at the commit.",
    ),
    "resolved_git_sha": Basis(
        "The skills tree that the receipt names was recomputed from the installed bytes; if the "
        "receipt contains a proof, so was the path from this commit to that tree: see `proof`.",
        "That the wheel was built from this commit: the receipt is not signed.",
        "That the package's code, which is outside the skills folder, comes from the commit.",
    ),
    "source_provenance.status": Basis(
        "The receipt names a commit, and no check contradicts it.",
        "The commit.",
        "Anything beyond the claim itself: a consistent rewrite of everything is not detected.",
    ),
    "source_provenance.build_verification": Basis(
        "The receipt says that the checkout was clean, and no check contradicts it.",
        "The inspection: the build made it, on the machine it ran on.",
        "That the build recorded the truth.",
    ),
    "source_provenance.integrity": Basis(
        "Every locked file was read without following links; size and SHA-256 are the lock's.",
        "Nothing.",
        "That the lock is authentic; that cached byte code belongs to its source; that files "
        "are not changed later (each read is compared again).",
    ),
    "source_provenance.reason": Basis(
        "It is the first of the gaps, in their documented order.",
        "The reason in a receipt: the build recorded it.",
        "That the other fields are complete: `gaps` has every reason.",
    ),
    "source_provenance.receipt_sha256": Basis(
        "SHA-256 of the receipt's bytes, computed here; equal to RECORD's, if there is one.",
        "Nothing.",
        "That the receipt is authentic: it is not signed.",
    ),
    "gaps": Basis(
        "Each gap was checked for in the receipt, RECORD, the files and the kind of installation. "
        "A server compares the package's code with RECORD once, when it starts.",
        "The reason in a receipt: the build recorded it.",
        "That nothing else is wrong: only `verify` compares files that are neither skills nor "
        "code, and lists unlisted files outside the bundle.",
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
    """Return a field of the block as text; of several gaps, all of them."""
    if block is None:
        return None
    if name == "gaps":
        return ", ".join(block.gaps) or None
    value: object = block
    for step in name.split("."):
        value = getattr(value, step)
    return None if value is None else str(value)

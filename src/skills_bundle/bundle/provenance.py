"""Record: where an answer's bytes come from, as far as known; three claims that stay apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from skills_bundle.formats.record import Record

if TYPE_CHECKING:
    from collections.abc import Iterable

    from skills_bundle.bundle.receipt import BuildReceipt

GAP_SENTENCES: Final[dict[str, str]] = {
    "editable_install": "The package runs from its source: skills are served as they are now.",
    "missing_receipt": "There is no build receipt: nothing says which commit this was built from.",
    "invalid_receipt": "The build receipt cannot be believed: nothing says which commit this is.",
    "not_git_source": "It was built from files that no git checkout holds.",
    "git_unavailable": "Git could not be asked when it was built.",
    "not_owner": "The checkout it was built from belongs to another user.",
    "unsupported_object_format": "The checkout does not name its objects by SHA-1.",
    "no_commit": "The checkout it was built from has no commit.",
    "project_not_in_repository": "The checkout around the source does not hold this project.",
    "eol_converted": "Line ends in the checkout differ from those in the commit.",
    "dirty_source": "What was built is not exactly what the commit holds.",
    "altered_files": "Some files are not the ones that were installed; they are not served.",
    "unreadable_files": "Some locked files cannot be read, so they may hold anything; they are not "
    "served.",
    "linked_install": "The installation is made of links: whoever owns the targets can change it.",
    "record_absent": "There is no RECORD: nobody gives a second opinion.",
    "record_unreadable": "RECORD cannot be read: it gives no second opinion.",
    "record_mismatch": "RECORD is not valid, or lists other files or bytes than there are.",
    "extra_files": "There are files among the skills that nobody lists; they are not served.",
    "unseen_entries": "Some files or folders of the package cannot be looked at and may hold "
    "anything; they are not served.",
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
    """What is known of a bundle before its provenance is put into words.

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
    """Put what is known into the block that every answer carries.

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

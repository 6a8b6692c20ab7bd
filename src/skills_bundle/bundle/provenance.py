"""Record: where an answer's bytes come from, as far as known; three claims that stay apart."""

from __future__ import annotations

from typing import Final, Literal

from skills_bundle.bundle.records import Record

GAPS: Final[tuple[str, ...]] = (
    "editable_install",
    "missing_receipt",
    "invalid_receipt",
    "not_git_source",
    "git_unavailable",
    "not_owner",
    "unsupported_object_format",
    "no_commit",
    "project_not_in_repository",
    "eol_converted",
    "dirty_source",
    "altered_files",
    "linked_install",
    "record_absent",
    "extra_files",
)
"""Every evidence gap, in the order in which `reason` picks the first."""


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

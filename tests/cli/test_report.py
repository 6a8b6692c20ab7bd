"""Provenance in words: complete, and no more than was checked."""

from __future__ import annotations

import pytest

from skills_bundle.bundle.provenance import Provenance, SourceProvenance
from skills_bundle.cli.view.report import provenance_rows

COMMIT = "c" * 40
KNOWN = Provenance(
    collection="demo",
    package_name="demo-skills",
    package_version="1.2",
    repository=None,
    catalog_sha256="a" * 64,
    source_ref="refs/tags/v1.2",
    resolved_git_sha=COMMIT,
    source_provenance=SourceProvenance(
        status="asserted",
        build_verification="verified",
        integrity="verified",
        reason=None,
        receipt_sha256="b" * 64,
    ),
    gaps=(),
)


def test_a_revision_is_called_asserted_and_never_verified() -> None:
    """What the receipt claims is not what was recomputed."""
    rows = dict(provenance_rows(KNOWN))
    assert rows["commit"] == f"asserted, not proved: {COMMIT}"


def test_a_ref_is_called_configured_and_not_looked_up() -> None:
    """A clone may have no such tag: it was not looked up."""
    assert dict(provenance_rows(KNOWN))["ref"] == "configured, not looked up: refs/tags/v1.2"


def test_without_a_configured_ref_the_commit_stands_in() -> None:
    """The answers carry the commit there; that is said, not shown as a second find."""
    plain = KNOWN.model_copy(update={"source_ref": COMMIT})
    assert dict(provenance_rows(plain))["ref"] == "none configured; see the commit"


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("integrity", "verified: the bytes match the lock"),
        ("build", "recorded: a clean checkout of this commit"),
    ],
)
def test_each_claim_says_who_checked_it(row: str, words: str) -> None:
    """Integrity is recomputed here; the build's word is only recorded."""
    assert dict(provenance_rows(KNOWN))[row] == words


def test_what_is_missing_is_called_unavailable_and_why() -> None:
    """Null fields come with their gaps, in order."""
    unknown = KNOWN.model_copy(
        update={
            "resolved_git_sha": None,
            "source_ref": None,
            "gaps": ("missing_receipt", "record_absent"),
        }
    )
    rows = provenance_rows(unknown)
    assert dict(rows)["commit"] == "unavailable: not recorded"
    assert [value.rpartition("[")[2] for name, value in rows if name == "gap"] == [
        "missing_receipt]",
        "record_absent]",
    ]

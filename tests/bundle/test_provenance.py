"""The block that every answer carries: three claims that stay apart."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from skills_bundle.bundle import provenance
from skills_bundle.bundle.provenance import GAPS, Bundle, Provenance
from skills_bundle.bundle.receipt import REASONS, BuildReceipt
from tests.installed_builder import COMMIT, InstalledBuilder

CLEAN = InstalledBuilder().receipt
DIRTY = InstalledBuilder(reason="dirty_source").receipt


def _block(*gaps: str, receipt: BuildReceipt | None = CLEAN) -> Provenance:
    return provenance.describe(
        Bundle(
            collection="acme",
            name="acme-skills",
            version="1.2.0",
            catalog_sha256="a" * 64,
            receipt=receipt,
            receipt_sha256=None if receipt is None else "b" * 64,
            gaps=frozenset(gaps),
        )
    )


def _states(block: Provenance) -> tuple[str, str, str]:
    source = block.source_provenance
    return source.status, source.build_verification, source.integrity


def test_a_clean_receipt_and_whole_files_give_everything() -> None:
    """The revision is asserted, the build recorded it, the bytes match."""
    block = _block()
    assert _states(block) == ("asserted", "verified", "verified")
    assert (block.source_ref, block.resolved_git_sha) == ("refs/tags/v1.2.0", COMMIT)
    assert (block.source_provenance.reason, block.gaps) == (None, ())


def test_without_a_ref_the_commit_is_the_source() -> None:
    """A project that asserts no ref still names its commit."""
    assert _block(receipt=InstalledBuilder(source_ref=None).receipt).source_ref == COMMIT


def test_a_dirty_build_names_no_revision_and_still_matches() -> None:
    """The receipt's own reason becomes the gap."""
    block = _block(receipt=DIRTY)
    assert _states(block) == ("unavailable", "unavailable", "verified")
    assert (block.source_ref, block.resolved_git_sha) == (None, None)
    assert (block.gaps, block.source_provenance.receipt_sha256) == (("dirty_source",), "b" * 64)


@pytest.mark.parametrize("gap", ["missing_receipt", "invalid_receipt"])
def test_without_a_receipt_only_integrity_is_left(gap: str) -> None:
    """Nothing is asserted, not even the repository."""
    block = _block(gap, receipt=None)
    assert _states(block) == ("unavailable", "unavailable", "verified")
    assert (block.repository, block.source_provenance.receipt_sha256) == (None, None)
    assert block.source_provenance.reason == gap


@pytest.mark.parametrize("gap", sorted(provenance.UNVERIFIED_GAPS))
def test_other_bytes_take_every_claim_away(gap: str) -> None:
    """A commit beside bytes that are not the ones built would be about something else."""
    block = _block(gap)
    assert _states(block) == ("unavailable", "unavailable", "unavailable")
    assert (block.source_ref, block.resolved_git_sha) == (None, None)
    assert block.source_provenance.receipt_sha256 == "b" * 64


@pytest.mark.parametrize("gap", sorted(provenance.INFORMATIONAL_GAPS))
def test_some_gaps_only_inform(gap: str) -> None:
    """They are told and take nothing away."""
    block = _block(gap)
    assert _states(block) == ("asserted", "verified", "verified")
    assert (block.resolved_git_sha, block.gaps) == (COMMIT, (gap,))


def test_the_reason_is_the_first_gap_in_the_documented_order() -> None:
    """All of them are in `gaps`."""
    block = _block("extra_files", "altered_files", "record_absent", receipt=DIRTY)
    assert block.gaps == ("dirty_source", "altered_files", "record_absent", "extra_files")
    assert block.source_provenance.reason == "dirty_source"


@pytest.mark.parametrize("gap", [gap for gap in GAPS if gap not in REASONS])
@pytest.mark.parametrize("receipt", [CLEAN, DIRTY], ids=["clean", "dirty"])
def test_null_source_fields_always_come_with_a_gap(gap: str, receipt: BuildReceipt) -> None:
    """Whatever the combination."""
    block = _block(gap, receipt=receipt)
    assert (block.resolved_git_sha is None) == (block.source_ref is None)
    assert block.resolved_git_sha is not None or block.gaps


def test_every_reason_of_a_receipt_is_a_gap() -> None:
    """So that `reason` can hold it."""
    assert set(REASONS) <= set(GAPS)


def test_an_unknown_gap_is_an_error() -> None:
    """A gap without a sentence could not be explained."""
    with pytest.raises(ValueError, match="not in tuple"):
        provenance.ordered(["nonsense"])


def test_every_gap_that_is_given_anywhere_has_a_sentence() -> None:
    """The codes in `verify` are those of the table."""
    source = Path(provenance.__file__).with_name("verification.py").read_text(encoding="utf-8")
    given = set(re.findall(r'"([a-z]+_[a-z]+)"\),?\n', source))
    assert given <= set(GAPS)
    assert "altered_files" in given

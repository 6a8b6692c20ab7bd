"""What the fuzzers found worth keeping, and what they start from, tried again on every run."""

from __future__ import annotations

import pytest

from tests.fuzz.__main__ import KEPT, TARGETS, target

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", TARGETS)
def test_the_law_holds_for_every_seed(name: str) -> None:
    """`check` raises for an input that breaks it."""
    broken: list[bytes] = []
    for data in target(name).seeds():
        try:
            target(name).check(data)
        except Exception:  # noqa: BLE001 - which input it was is what one wants to know
            broken.append(data)
    assert broken == []


@pytest.mark.parametrize("name", TARGETS)
def test_the_law_holds_for_the_kept_corpus(name: str) -> None:
    """Each file reached code that no smaller one did."""
    broken: list[str] = []
    for path in sorted((KEPT / name).iterdir()):
        try:
            target(name).check(path.read_bytes())
        except Exception:  # noqa: BLE001 - as above
            broken.append(path.name)
    assert broken == []


@pytest.mark.parametrize("name", TARGETS)
def test_the_kept_corpus_is_small_enough_to_carry(name: str) -> None:
    """It ships in the sdist."""
    assert 0 < sum(path.stat().st_size for path in (KEPT / name).iterdir()) < 300 * 1024


def test_the_kept_corpora_hold_at_most_300_files() -> None:
    """Each one costs time in every run of the tests."""
    assert sum(len(list((KEPT / name).iterdir())) for name in TARGETS) <= 300

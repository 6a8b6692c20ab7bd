"""Every command sums up what it found in the same way."""

from __future__ import annotations

import pytest

from skills_bundle.bundle.verdict import EXIT_CODES, Report, Verdict, worst


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        ((), "match"),
        (("match", "cannot_tell"), "cannot_tell"),
        (("cannot_tell", "differs", "match"), "differs"),
    ],
)
def test_worst_verdict_is_that_of_the_whole(
    verdicts: tuple[Verdict, ...], expected: Verdict
) -> None:
    """A difference is certain; doubt is not."""
    assert worst(verdicts) == expected


def test_report_begins_with_verdict_and_exit_code() -> None:
    """Programs read these two first."""
    report = Report(verdict="differs", exit_code=EXIT_CODES["differs"])
    assert list(report.to_dict().items()) == [("verdict", "differs"), ("exit_code", 1)]

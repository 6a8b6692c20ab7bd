"""What a check saw, and the exit code that follows."""

from __future__ import annotations

import pytest

from skills_bundle.server.check.report import CheckReport, Step, Verdict


@pytest.mark.parametrize(
    ("verdicts", "code"),
    [
        (("ok", "ok"), 0),
        (("ok", "wrong"), 1),
        (("cannot_tell", "ok"), 3),
        (("cannot_tell", "wrong"), 1),
    ],
)
def test_the_exit_code_follows_the_worst_verdict(verdicts: tuple[Verdict, ...], code: int) -> None:
    """Wrong weighs more than unknown."""
    steps = tuple(Step(name="s", verdict=each, detail="", milliseconds=1.0) for each in verdicts)
    report = CheckReport(command=("c",), steps=steps, provenance=None, stderr_tail="")
    assert report.exit_code == code

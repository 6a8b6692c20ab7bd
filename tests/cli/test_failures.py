"""Every kind of error has its code word, exit code and next step."""

from __future__ import annotations

import click
import pytest

from skills_bundle import errors
from skills_bundle.cli import failures

PROBLEM = errors.Problem(code="c", message="m", path="p", line=3)


@pytest.mark.parametrize(
    ("error", "code", "exit_code"),
    [
        (errors.StaleLockError("stale"), "stale_lock", 1),
        (errors.InvalidSkillsError("refused"), "invalid_skills", 1),
        (errors.UnreadableSkillsError("none"), "unreadable_skills", 3),
        (errors.SettingsError("wrong"), "settings", 2),
        (errors.BundleUnavailableError("none"), "catalog_unavailable", 3),
        (errors.ToolError("resource_unavailable", "no"), "resource_unavailable", 1),
        (errors.ToolError("invalid_input", "no"), "invalid_input", 2),
        (errors.ToolError("catalog_unavailable", "no"), "catalog_unavailable", 3),
        (click.UsageError("what?"), "usage", 2),
        (PermissionError(13, "Permission denied", "x"), "system", 3),
        (ZeroDivisionError("division by zero"), "internal", 3),
    ],
)
def test_each_error_has_its_code_word_and_exit_code(
    error: Exception, code: str, exit_code: int
) -> None:
    """1 is wrong, 2 is usage or settings, 3 is that no verdict is possible."""
    failure = failures.failure_of(error)
    assert (failure.code, failure.exit_code) == (code, exit_code)


def test_all_problems_are_told_to_programs_with_their_places() -> None:
    """The JSON form loses nothing of a problem."""
    failure = failures.failure_of(errors.InvalidSkillsError("refused", (PROBLEM,)))
    assert failure.to_dict()["problems"] == [{"code": "c", "message": "m", "path": "p", "line": 3}]


def test_a_fault_names_its_place_and_where_to_report_it() -> None:
    """A crash is told in a few lines that a report can be made of."""
    with pytest.raises(ZeroDivisionError) as raised:
        divmod(1, 0)
    failure = failures.failure_of(raised.value)
    assert failure.problems[-1].path == "tests/cli/test_failures.py"
    assert failures.ISSUES_URL in (failure.next_step or "")


def test_a_file_that_cannot_be_used_is_named() -> None:
    """The system's own words and the file's name are in the message."""
    failure = failures.failure_of(FileNotFoundError(2, "No such file or directory", "lock.json"))
    assert failure.message == "lock.json: No such file or directory."

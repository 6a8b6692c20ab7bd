"""Decision: what went wrong in a check, said for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from skills_bundle import limits
from skills_bundle.errors import SkillsBundleError

if TYPE_CHECKING:
    from skills_bundle.server.check_report import Verdict

GARBAGE = "The server wrote something to standard output that is not JSON-RPC."


class StopError(SkillsBundleError):
    """A step cannot be completed, so the check ends here."""

    def __init__(self, verdict: Verdict, detail: str) -> None:
        """Keep both as the step will have them."""
        super().__init__(detail)
        self.verdict: Verdict = verdict
        self.detail = detail


def reading_of(error: BaseException, program: str) -> tuple[Verdict, str]:
    """Say what went wrong, from the innermost error of a group.

    Args:
        error: What ended the check.
        program: What was started; the system's own words do not name it.
    """
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    if isinstance(error, StopError):
        return error.verdict, error.detail
    if isinstance(error, UnicodeDecodeError):
        return "wrong", "The server wrote bytes to standard output that are not UTF-8."
    if isinstance(error, OSError):
        return "wrong", f"{program} cannot be started: {error.strerror or error}."
    if isinstance(error, MCPError):
        return "wrong", _reading_of_answer(error)
    return "wrong", f"The answer does not have its form ({type(error).__name__})."


def _reading_of_answer(error: MCPError) -> str:
    if "closed" in error.message.lower():
        return "The server ended before it answered."
    return f"The server answers error {error.code}: {error.message}"


def printed(garbage: Exception) -> str:
    """Give the beginning of a line that is no JSON-RPC, or "" if the error does not hold it."""
    if not isinstance(garbage, ValidationError):
        return ""
    line = garbage.errors(include_url=False, include_context=False)[0]["input"]
    return str(line)[: limits.CHECK_STDOUT_LINE_CHARACTERS].strip()


def count(number: int, noun: str) -> str:
    """Give a number with its noun in the right form."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"

"""Decision: what went wrong in a check, said for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from skills_bundle.errors import SkillsBundleError
from skills_bundle.files.names import shown
from skills_bundle.server import limits
from skills_bundle.server.check.codec import EndlessLineError

if TYPE_CHECKING:
    from skills_bundle.server.check.report import Verdict

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
    return "wrong", _words_for(error, program)


def _words_for(error: BaseException, program: str) -> str:
    match error:
        case EndlessLineError():
            return f"The server wrote a line of more than {limits.CHECK_LINE_MAX_BYTES:,} bytes."
        case UnicodeDecodeError():
            return "The server wrote bytes to standard output that are not UTF-8."
        case OSError():
            return f"{program} cannot be started: {error.strerror or error}."
        case MCPError():
            return _reading_of_answer(error)
        case _:
            return f"The answer does not have its form ({type(error).__name__})."


def _reading_of_answer(error: MCPError) -> str:
    if "closed" in error.message.lower():
        return "The server ended before it answered."
    return f"The server answers error {error.code}: {error.message}"


def printed(garbage: Exception) -> str:
    """Give the beginning of a line that is no JSON-RPC, or "" if the error does not hold it."""
    if not isinstance(garbage, ValidationError):
        return ""
    line = garbage.errors(include_url=False, include_context=False)[0]["input"]
    return shown(str(line)[: limits.CHECK_STDOUT_LINE_CHARACTERS].strip())


def bounded(detail: str) -> str:
    """Give what a step tells, cut and without lone surrogates: a server's words may be in it."""
    if len(detail) > limits.CHECK_DETAIL_MAX_CHARACTERS:
        detail = detail[: limits.CHECK_DETAIL_MAX_CHARACTERS - 1] + "…"
    return shown(detail)


def count(number: int, noun: str) -> str:
    """Give a number with its noun in the right form."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"

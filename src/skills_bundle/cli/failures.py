"""Decision: which exit code, code word and next step an error becomes."""

from __future__ import annotations

import re
import traceback
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

import click

from skills_bundle import __version__, errors
from skills_bundle.errors import Problem

if TYPE_CHECKING:
    from pydantic import JsonValue

ISSUES_URL: Final = "https://github.com/skills-bundle/skills-bundle/issues"
CRASH_FRAMES: Final = 4
"""Calls shown of an unexpected error."""

EXIT_OK: Final = 0
EXIT_WRONG: Final = 1
EXIT_USAGE: Final = 2
EXIT_CANNOT_TELL: Final = 3
EXIT_INTERRUPTED: Final = 130
"""128 + SIGINT, as in shells."""
EXIT_READER_GONE: Final = 141
"""128 + SIGPIPE: the reader of our output stopped early, as in `| head`."""

TOOL_EXIT_CODES: Final = {
    "catalog_unavailable": EXIT_CANNOT_TELL,
    "collection_unavailable": EXIT_CANNOT_TELL,
    "invalid_input": EXIT_USAGE,
    "ambiguous_skill": EXIT_USAGE,
}
"""Exit codes of tool errors; any other code is `EXIT_WRONG`."""

NEXT_STEPS: Final = {
    "invalid_skills": "Fix the files named above, or leave out a folder with --exclude.",
    "invalid_lock": "Run `skills-bundle lock` in the project to write the lock again.",
    "catalog_unavailable": (
        "Run `skills-bundle verify` to see what is wrong, then install the distribution again."
    ),
    "resource_unavailable": "List the skills with `skills-bundle catalog search`.",
    "invalid_input": "See `--help` for valid values.",
}
"""What to do about an error, by its code."""

NEXT_STEPS_OF_PROBLEMS: Final = {
    "unreadable": "Check that it exists and that you may read it.",
    "lock_not_a_file": "Move it away, then run `skills-bundle lock`.",
    "lock_is_link": "Remove the link, then run `skills-bundle lock`.",
    "lock_line_ends": "Otherwise every checkout converts them again.",
    "no_skills": (
        "Run this in the project's folder, or name the skills folder with `skills-bundle lock "
        "--skills DIR` or the setting `skills`."
    ),
}
"""What to do about an error with a single problem, by the problem's code."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """An error as it is reported to people and programs.

    Attributes:
        code: Stable code word: a tool's own, or the error's class in snake case.
        message: One sentence.
        problems: Every problem, each with its place.
        exit_code: The exit code of the process.
        next_step: What to do about it, if known.
        explanation: What people get instead of message and next step, where these are fixed.
    """

    code: str
    message: str
    problems: tuple[Problem, ...]
    exit_code: int
    next_step: str | None = None
    explanation: str | None = None

    def to_dict(self) -> dict[str, JsonValue]:
        """Return the object that `--json` prints under `error`."""
        return {
            "code": self.code,
            "message": self.message,
            "problems": [
                {"code": p.code, "message": p.message, "path": p.path, "line": p.line}
                for p in self.problems
            ],
            "next_step": self.next_step,
        }


def failure_of(error: Exception) -> Failure:
    """Return the report of any error that ends a command."""
    if isinstance(error, errors.ToolError):
        return _tool_failure(error)
    if isinstance(error, errors.SkillsBundleError):
        return _expected_failure(error)
    if isinstance(error, click.ClickException):
        return _usage_failure(error)
    return _system_failure(error) if isinstance(error, OSError) else _crash(error)


def _tool_failure(error: errors.ToolError) -> Failure:
    """Report a tool's error, with the problems that the tool does not show to a model."""
    cause = error.__cause__
    explanation = _notes(error)
    return Failure(
        code=error.code,
        message=error.message,
        problems=cause.problems if isinstance(cause, errors.SkillsBundleError) else (),
        exit_code=TOOL_EXIT_CODES.get(error.code, EXIT_WRONG),
        next_step=explanation or _next_step(error.code, error.message),
        explanation=explanation,
    )


def _expected_failure(error: errors.SkillsBundleError) -> Failure:
    code = code_word(type(error))
    step = None
    if len(error.problems) == 1:
        step = NEXT_STEPS_OF_PROBLEMS.get(error.problems[0].code)
    return Failure(
        code=code,
        message=error.summary,
        problems=error.problems,
        exit_code=error.exit_code,
        next_step=_notes(error) or step or _next_step(code, str(error)),
    )


def _notes(error: BaseException) -> str | None:
    """Return what a command added to an error."""
    return " ".join(getattr(error, "__notes__", ())) or None


def _next_step(code: str, message: str) -> str | None:
    """Return what to do, unless the message itself names that command."""
    step = NEXT_STEPS.get(code)
    command = step.split("`")[1] if step and "`" in step else None
    return None if command and command in message else step


def _usage_failure(error: click.ClickException) -> Failure:
    context = error.ctx if isinstance(error, click.UsageError) else None
    command = context.command_path if context else "skills-bundle"
    return Failure(
        code="usage",
        message=error.format_message(),
        problems=(),
        exit_code=EXIT_USAGE,
        next_step=f"See `{command} --help`.",
    )


def _system_failure(error: OSError) -> Failure:
    """Report a file or stream that cannot be used: nothing was decided, so exit code 3."""
    cause = error.strerror or type(error).__name__
    place = f"{error.filename}: " if isinstance(error.filename, str) else ""
    return Failure(
        code="system",
        message=f"{place}{cause}.",
        problems=(),
        exit_code=EXIT_CANNOT_TELL,
        next_step="Check that the file exists and that you may read or write it.",
    )


def _crash(error: Exception) -> Failure:
    """Report a bug in this program, with its last calls."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename[:1] != "<"]
    calls = tuple(
        Problem(
            code="traceback",
            message=f"in {frame.name}",
            path="/".join(PurePath(frame.filename).parts[-3:]),
            line=frame.lineno,
        )
        for frame in frames[-CRASH_FRAMES:]
    )
    return Failure(
        code="internal",
        message=f"Unexpected {type(error).__name__}: {error}",
        problems=calls,
        exit_code=EXIT_CANNOT_TELL,
        next_step=(
            f"This is a bug in skills-bundle {__version__}. Report it at {ISSUES_URL}, with the "
            "command and the lines above."
        ),
    )


def code_word(kind: type[errors.SkillsBundleError]) -> str:
    """Return the code word of an error class: `StaleLockError` is `stale_lock`.

    A missing bundle is `catalog_unavailable`, as in the tools.
    """
    if issubclass(kind, errors.BundleUnavailableError):
        return "catalog_unavailable"
    return re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__.removesuffix("Error")).lower()

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
"""Calls shown of an unexpected error: enough to find it, short enough to be read."""

EXIT_OK: Final = 0
EXIT_WRONG: Final = 1
EXIT_USAGE: Final = 2
EXIT_CANNOT_TELL: Final = 3
EXIT_INTERRUPTED: Final = 130
"""128 + SIGINT, as shells report it."""
EXIT_READER_GONE: Final = 141
"""128 + SIGPIPE: whoever read our output stopped before the end, as `| head` does."""

TOOL_EXIT_CODES: Final = {
    "catalog_unavailable": EXIT_CANNOT_TELL,
    "collection_unavailable": EXIT_CANNOT_TELL,
    "invalid_input": EXIT_USAGE,
    "ambiguous_skill": EXIT_USAGE,
}
"""Exit codes of a tool's "no"; any other code is `EXIT_WRONG`."""

INSTALL_AGAIN: Final = (
    "Install the distribution again; `skills-bundle verify` says what is wrong with this one."
)

NEXT_STEPS: Final = {
    "invalid_skills": "Mend the files named above, or leave a folder out with --exclude.",
    "invalid_lock": "Run `skills-bundle lock` in the project to write the lock anew.",
    "catalog_unavailable": INSTALL_AGAIN,
    "resource_unavailable": "See what there is with `skills-bundle catalog search`.",
    "invalid_input": "See what is accepted with `--help`; `catalog read` has --resources all.",
}
"""What to do about an error whose own text may not say it."""

STEPS_OF_PROBLEMS: Final = {
    "unreadable": "Check that it is there and may be read.",
    "lock_not_a_file": "Move away what lies there; `skills-bundle lock` then writes the lock.",
    "lock_line_ends": "Without that, every checkout has them again.",
    "no_skills": (
        "Run it in the project's folder, or name the skills folder: `skills-bundle lock --skills "
        "DIR`, or the setting `skills`."
    ),
}
"""What to do about an error that has one problem, of this code; goes before `NEXT_STEPS`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """An error as people and programs are told of it.

    Attributes:
        code: Stable code word: a tool's own, or the error's class in snake case.
        message: One sentence.
        problems: Every problem, each with its place.
        exit_code: What the process exits with.
        next_step: What to do about it, when we know.
        explained: What a person is told instead of message and next step, where both are for any
            program and somebody who sees the command line can be told more.
    """

    code: str
    message: str
    problems: tuple[Problem, ...]
    exit_code: int
    next_step: str | None = None
    explained: str | None = None

    def to_dict(self) -> dict[str, JsonValue]:
        """Give the object that `--json` prints under `error`."""
        return {
            "code": self.code,
            "message": self.message,
            "problems": [
                {"code": p.code, "message": p.message, "path": p.path, "line": p.line}
                for p in self.problems
            ],
            "next_step": self.next_step,
        }


def of(error: Exception) -> Failure:
    """Tell of any error that ends a command."""
    if isinstance(error, errors.SkillsBundleError):
        return of_error(error)
    if isinstance(error, click.ClickException):
        return of_usage(error)
    if isinstance(error, OSError):
        return of_system(error)
    return of_fault(error)


def of_error(error: errors.SkillsBundleError) -> Failure:
    """Tell of an error that we raised on purpose."""
    if isinstance(error, errors.ToolError):
        cause = error.__cause__  # a tool may not name files to a model; a person may know
        explained = _note(error)
        return Failure(
            code=error.code,
            message=error.message,
            problems=cause.problems if isinstance(cause, errors.SkillsBundleError) else (),
            exit_code=TOOL_EXIT_CODES.get(error.code, EXIT_WRONG),
            next_step=explained or _next_step(error.code, error.message),
            explained=explained,
        )
    code = code_word(type(error))
    return Failure(
        code=code,
        message=error.summary,
        problems=error.problems,
        exit_code=error.exit_code,
        next_step=_note(error) or _step_of(error.problems) or _next_step(code, str(error)),
    )


def _step_of(problems: tuple[Problem, ...]) -> str | None:
    return STEPS_OF_PROBLEMS.get(problems[0].code) if len(problems) == 1 else None


def _note(error: BaseException) -> str | None:
    """Give what a command noted on an error that passed it."""
    return " ".join(getattr(error, "__notes__", ())) or None


def _next_step(code: str, told: str) -> str | None:
    """Give what to do, unless the error itself names the command for it."""
    step = NEXT_STEPS.get(code)
    command = step.split("`")[1] if step and "`" in step else None
    return None if command and command in told else step


def of_usage(error: click.ClickException) -> Failure:
    """Tell of arguments that the command does not take."""
    context = error.ctx if isinstance(error, click.UsageError) else None
    command = context.command_path if context else "skills-bundle"
    return Failure(
        code="usage",
        message=error.format_message(),
        problems=(),
        exit_code=EXIT_USAGE,
        next_step=f"See `{command} --help`.",
    )


def of_system(error: OSError) -> Failure:
    """Tell of a file or stream that cannot be used: nothing was found out, hence exit code 3."""
    cause = error.strerror or type(error).__name__
    place = f"{error.filename}: " if isinstance(error.filename, str) else ""
    return Failure(
        code="system",
        message=f"{place}{cause}.",
        problems=(),
        exit_code=EXIT_CANNOT_TELL,
        next_step="Check that the file or stream is there and may be read or written.",
    )


def of_fault(error: Exception) -> Failure:
    """Tell of a fault in this program: what, where, and how to report it."""
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
            f"This is a fault in skills-bundle {__version__}. Please report it, with the command "
            f"you ran and the lines above, at {ISSUES_URL}"
        ),
    )


def code_word(kind: type[errors.SkillsBundleError]) -> str:
    """Give an error class's code word: `StaleLockError` is `stale_lock`.

    A bundle that is not there is `catalog_unavailable`, as the tools say it.
    """
    if issubclass(kind, errors.BundleUnavailableError):
        return "catalog_unavailable"
    return re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__.removesuffix("Error")).lower()

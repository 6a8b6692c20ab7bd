"""Edge: the only code that prints.

Answers go to standard output, everything about an answer (problems, progress, hints) to standard
error. Under `--json` standard output carries exactly one JSON document. Colour appears on terminals
only, and a stream that cannot carry a character gets its visible escape instead of a crash.
"""

from __future__ import annotations

import errno
import os
import shutil
import sys
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TextIO

import click

from skills_bundle.cli.view.text import safe, safe_line
from skills_bundle.formats import rendering

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import JsonValue

    from skills_bundle.cli.failures import Failure
    from skills_bundle.cli.program import Program

PIPE_WIDTH: Final = 80
"""Columns of tables that do not go to a terminal, unless COLUMNS says otherwise."""
MIN_WIDTH: Final = 40
MAX_WIDTH: Final = 120
"""Longer lines of prose are hard to read, however wide the terminal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Terminal:
    """What is known of the place that text goes to.

    Attributes:
        interactive: Whether it is a terminal, and not a file or a pipe.
        colour: Whether colour is welcome.
        unicode: Whether it can carry every character.
        width: Columns.
    """

    interactive: bool
    colour: bool
    unicode: bool
    width: int


class Output:
    """Standard output and standard error of one run.

    Args:
        stdout: Where answers go; None when it was closed before the start.
        stderr: Where problems go; likewise.
        environ: The environment; NO_COLOR, TERM and COLUMNS are looked at.
    """

    def __init__(
        self, stdout: TextIO | None, stderr: TextIO | None, environ: Mapping[str, str]
    ) -> None:
        """Look once at what the streams are."""
        self._stdout = stdout
        self._stderr = stderr
        self.terminal = _terminal(stdout, environ)
        self.error_terminal = _terminal(stderr, environ)
        self.as_json = False
        """Whether the command was asked for JSON; set by its `--json` option."""
        self.program: Program | None = None
        """Whose commands problems and hints name; `skills-bundle` has its own spelled out."""

    @classmethod
    def standard(cls, environ: Mapping[str, str]) -> Output:
        """Give the output of this process."""
        return cls(sys.stdout, sys.stderr, environ)

    def text(self, text: str) -> None:
        """Print text for people; foreign parts must have gone through `text.safe` already."""
        stream = self._answers()
        _write(stream, text if text.endswith("\n") else text + "\n", self.terminal)

    def data(self, data: bytes) -> None:
        """Print exactly these bytes."""
        stream = self._answers()
        buffer = getattr(stream, "buffer", None)
        if buffer is None:  # a text-only stand-in for standard output
            stream.write(data.decode("utf-8", "backslashreplace"))
            return
        stream.flush()
        buffer.write(data)

    def _answers(self) -> TextIO:
        """Give standard output.

        Raises:
            OSError: If it was closed before the start: a lost answer must not exit 0.
        """
        if self._stdout is None:
            raise OSError(errno.EBADF, "Standard output is closed")
        return self._stdout

    def json(self, value: JsonValue | dict[str, JsonValue]) -> None:
        """Print one JSON document: UTF-8, two spaces, final newline.

        Paths that are no text, on a disk or in a repository, get visible escapes for their bytes.
        """
        self.data(rendering.pretty(_as_text(value)))

    def note(self, text: str) -> None:
        """Say something about the answer, on standard error; the exit code tells without it."""
        if self._stderr is None:
            return
        text = text if self.program is None else self.program.spell(text)
        try:
            _write(self._stderr, text if text.endswith("\n") else text + "\n", self.error_terminal)
        except OSError:  # a full disk; the reader is gone
            _divert(self._stderr)

    def failure(self, failure: Failure) -> None:
        """Report a failure: as the JSON document under `--json`, else on standard error."""
        failure = failure if self.program is None else self.program.failure(failure)
        if self.as_json:
            self.json({"error": failure.to_dict()})
            return
        message = failure.explained or failure.message
        # Only what this program words itself may have several lines: a file's name may, too.
        own = failure.explained or failure.code in {"usage", "internal"}
        told = safe(message) if own else safe_line(message)
        lines = [f"{self.emphasis('error:', 'red')} {told}"]
        lines += [f"  {safe_line(str(problem))}" for problem in failure.problems]
        if failure.next_step and not failure.explained:
            lines.append(safe(failure.next_step))
        self.note("\n".join(lines))

    def emphasis(self, text: str, colour: str) -> str:
        """Give text for standard error in bold colour where colour is welcome."""
        return click.style(text, fg=colour, bold=True) if self.error_terminal.colour else text

    def flush(self) -> None:
        """Hand everything on.

        Raises:
            OSError: If nobody can take the answer: a lost one must not exit 0.
        """
        if self._stdout is not None:
            self._stdout.flush()

    def abandon(self) -> None:
        """Give up standard output after its reader went away, so that exiting stays silent."""
        if self._stdout is not None:
            _divert(self._stdout)


def _as_text(value: JsonValue) -> JsonValue:
    """Give a value without lone surrogates, by which Python carries bytes that are not UTF-8."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode(errors="backslashreplace").decode()
    if isinstance(value, dict):
        return {str(_as_text(key)): _as_text(row) for key, row in value.items()}
    return [_as_text(row) for row in value] if isinstance(value, list | tuple) else value


def _divert(stream: TextIO) -> None:
    """Let what a stream still holds go nowhere, so that exiting stays silent and keeps its code."""
    with suppress(OSError, ValueError, AttributeError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)


def _terminal(stream: TextIO | None, environ: Mapping[str, str]) -> Terminal:
    interactive = stream is not None and stream.isatty()
    coloured = interactive and not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"
    encoding = getattr(stream, "encoding", None) or "utf-8"
    return Terminal(
        interactive=interactive,
        colour=coloured,
        unicode=encoding.lower().replace("_", "-").startswith("utf"),
        width=_width(environ, interactive=interactive),
    )


def _width(environ: Mapping[str, str], *, interactive: bool) -> int:
    columns = environ.get("COLUMNS", "")
    if columns.isascii() and columns.isdigit() and int(columns[:6]) > 0:
        width = int(columns[:6])
    elif interactive:
        width = shutil.get_terminal_size((PIPE_WIDTH, 24)).columns
    else:
        width = PIPE_WIDTH
    return max(MIN_WIDTH, min(width, MAX_WIDTH))


def _write(stream: TextIO, text: str, terminal: Terminal) -> None:
    encoding = getattr(stream, "encoding", None) or "utf-8"
    carried = text.encode(encoding, "backslashreplace").decode(encoding)
    click.echo(carried, file=stream, nl=False, color=terminal.colour)

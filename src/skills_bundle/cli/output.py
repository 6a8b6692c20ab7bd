"""Edge: the only code that prints.

Answers go to standard output; problems, progress and hints go to standard error. With `--json`,
standard output gets exactly one JSON document. Colour is for terminals only. A character that a
stream's encoding lacks is printed as an escape.
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
from skills_bundle.formats import strict_json

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import JsonValue

    from skills_bundle.cli.console_script import Program
    from skills_bundle.cli.failures import Failure

PIPE_WIDTH: Final = 80
"""Columns of tables that do not go to a terminal, unless COLUMNS is set."""
MIN_WIDTH: Final = 40
MAX_WIDTH: Final = 120
"""Longer lines of prose are hard to read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Terminal:
    """Properties of the stream that text goes to.

    Attributes:
        interactive: Whether it is a terminal, not a file or a pipe.
        colour: Whether to use colour.
        unicode: Whether its encoding has every character.
        width: Columns.
    """

    interactive: bool
    colour: bool
    unicode: bool
    width: int


class Output:
    """Standard output and standard error of one run.

    Args:
        stdout: For answers; None if it was closed before the start.
        stderr: For problems; likewise.
        environ: The environment; NO_COLOR, TERM and COLUMNS are used.
        program: The project's console script that is running; None for `skills-bundle`.
    """

    def __init__(
        self,
        stdout: TextIO | None,
        stderr: TextIO | None,
        environ: Mapping[str, str],
        program: Program | None = None,
    ) -> None:
        """Inspect the streams."""
        self._stdout = stdout
        self._stderr = stderr
        self.terminal = _terminal(stdout, environ)
        self.error_terminal = _terminal(stderr, environ)
        self.as_json = False
        """Whether `--json` was given."""
        self.program = program
        """The program whose commands problems and hints name."""

    @classmethod
    def standard(cls, environ: Mapping[str, str], program: Program | None = None) -> Output:
        """Return the output of this process."""
        return cls(sys.stdout, sys.stderr, environ, program)

    def text(self, text: str) -> None:
        """Print text for people; untrusted parts must have gone through `text.safe`."""
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
        """Return standard output.

        Raises:
            OSError: If it was closed before the start; losing an answer is not a success.
        """
        if self._stdout is None:
            raise OSError(errno.EBADF, "Standard output is closed")
        return self._stdout

    def json(self, value: JsonValue | dict[str, JsonValue]) -> None:
        """Print one JSON document: UTF-8, two spaces, final newline.

        Bytes of paths that are not UTF-8 are printed as escapes.
        """
        self.data(strict_json.pretty(_as_text(value)))

    def note(self, text: str) -> None:
        """Print a remark on standard error, if that is possible."""
        if self._stderr is None:
            return
        text = text if self.program is None else self.program.spell(text)
        try:
            _write(self._stderr, text if text.endswith("\n") else text + "\n", self.error_terminal)
        except OSError:  # a full disk, or no reader
            _divert(self._stderr)

    def failure(self, failure: Failure) -> None:
        """Report a failure: as the JSON document with `--json`, else on standard error."""
        failure = failure if self.program is None else self.program.failure(failure)
        if self.as_json:
            self.json({"error": failure.to_dict()})
            return
        message = failure.explanation or failure.message
        # Other messages contain file names, whose line feeds must not look like ours.
        multiline = failure.explanation or failure.code in {"usage", "internal"}
        text = safe(message) if multiline else safe_line(message)
        lines = [f"{self.emphasis('error:', 'red')} {text}"]
        lines += [f"  {safe_line(str(problem))}" for problem in failure.problems]
        if failure.next_step and not failure.explanation:
            lines.append(safe(failure.next_step))
        self.note("\n".join(lines))

    def emphasis(self, text: str, colour: str) -> str:
        """Return text for standard error, in bold colour where colour is used."""
        return click.style(text, fg=colour, bold=True) if self.error_terminal.colour else text

    def flush(self) -> None:
        """Flush standard output.

        Raises:
            OSError: If the answer cannot be written; losing it is not a success.
        """
        if self._stdout is not None:
            self._stdout.flush()

    def abandon(self) -> None:
        """Drop the rest of standard output, so that exiting prints no error."""
        if self._stdout is not None:
            _divert(self._stdout)


def _as_text(value: JsonValue) -> JsonValue:
    """Escape lone surrogates, which stand for bytes that are not UTF-8."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode(errors="backslashreplace").decode()
    if isinstance(value, dict):
        return {str(_as_text(key)): _as_text(row) for key, row in value.items()}
    return [_as_text(row) for row in value] if isinstance(value, list | tuple) else value


def _divert(stream: TextIO) -> None:
    """Discard what a stream has buffered, so that exiting prints no error and keeps its code."""
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
    printable = text.encode(encoding, "backslashreplace").decode(encoding)
    click.echo(printable, file=stream, nl=False, color=terminal.colour)

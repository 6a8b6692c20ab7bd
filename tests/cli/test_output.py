"""What is printed where, and on what kinds of streams."""

from __future__ import annotations

import io
import json

import pytest

from skills_bundle.cli.failures import Failure
from skills_bundle.cli.output import MAX_WIDTH, MIN_WIDTH, PIPE_WIDTH, Output
from skills_bundle.errors import Problem

FAILURE = Failure(
    code="stale_lock",
    message="The lock is stale.",
    problems=(Problem(code="changed", message="evil \x1b[2J", path="a/SKILL.md", line=2),),
    exit_code=1,
    next_step="Run `skills-bundle lock`.",
)


class _Terminal(io.StringIO):
    """A text stream that says it is a terminal."""

    def isatty(self) -> bool:
        """Return True."""
        return True


def _pipe(encoding: str = "utf-8") -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), encoding=encoding, newline="")


def _written(stream: io.TextIOWrapper) -> bytes:
    stream.flush()
    buffer = stream.buffer
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue()


def test_problems_go_to_standard_error_with_place_code_and_next_step() -> None:
    """Standard output stays empty, so that a pipe never reads an error as an answer."""
    stdout, stderr = _pipe(), _pipe()
    Output(stdout, stderr, {}).failure(FAILURE)
    assert _written(stdout) == b""
    assert _written(stderr).decode().splitlines() == [
        "error: The lock is stale.",
        "  a/SKILL.md:2: evil \\x1b[2J [changed]",
        "Run `skills-bundle lock`.",
    ]


def test_under_json_a_failure_is_the_one_document_on_standard_output() -> None:
    """A program that asked for JSON parses one stream, whatever happened."""
    stdout, stderr = _pipe(), _pipe()
    output = Output(stdout, stderr, {})
    output.as_json = True
    output.failure(FAILURE)
    assert _written(stdout).startswith(b'{\n  "error": {\n    "code": "stale_lock"')
    assert _written(stderr) == b""


def test_bytes_that_are_no_text_are_escaped_in_json() -> None:
    """A path on a disk or in a repository need not be UTF-8; the document always is."""
    stdout = _pipe()
    Output(stdout, _pipe(), {}).json({"path\udcff": ["a\udcfe", {"b": ["\udcfdé", 1, None]}]})
    found = json.loads(_written(stdout).decode())
    assert found == {"path\\udcff": ["a\\udcfe", {"b": ["\\udcfdé", 1, None]}]}


def test_characters_a_stream_cannot_carry_are_escaped() -> None:
    """An ASCII stream gets escapes instead of a crash."""
    stdout = _pipe("ascii")
    Output(stdout, _pipe(), {}).text("café ✓")
    assert _written(stdout) == b"caf\\xe9 \\u2713\n"


def test_data_is_printed_byte_for_byte() -> None:
    """Neither line ends nor encoding touch what was asked for raw."""
    stdout = _pipe("ascii")
    Output(stdout, _pipe(), {}).data("a\r\nb é".encode())
    assert _written(stdout) == "a\r\nb é".encode()


@pytest.mark.parametrize(
    ("environ", "colour"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)]
)
def test_colour_needs_a_terminal_that_wants_it(environ: dict[str, str], *, colour: bool) -> None:
    """NO_COLOR and a dumb terminal turn colour off."""
    assert Output(_Terminal(), _Terminal(), environ).terminal.colour is colour


def test_a_pipe_gets_no_colour() -> None:
    """Escape sequences in a file or pipe are noise."""
    assert not Output(_pipe(), _pipe(), {}).terminal.colour


@pytest.mark.parametrize(
    ("columns", "width"),
    [
        ("", PIPE_WIDTH),
        ("100", 100),
        ("1", MIN_WIDTH),
        ("9999999999", MAX_WIDTH),
        ("-5", PIPE_WIDTH),
    ],
)
def test_the_width_follows_columns_within_reason(columns: str, width: int) -> None:
    """Nonsense in COLUMNS is ignored; very small and very large values are bounded."""
    assert Output(_pipe(), _pipe(), {"COLUMNS": columns}).terminal.width == width


def test_an_answer_without_a_standard_output_is_an_error() -> None:
    """With `>&-` there is no stream at all; a lost answer must not look like a success."""
    output = Output(None, _pipe(), {})
    with pytest.raises(OSError, match="closed"):
        output.text("x")
    with pytest.raises(OSError, match="closed"):
        output.data(b"x")


def test_without_a_standard_error_nothing_is_told() -> None:
    """The exit code is then the whole answer."""
    output = Output(None, None, {})
    output.failure(FAILURE)
    output.flush()
    assert not output.terminal.interactive

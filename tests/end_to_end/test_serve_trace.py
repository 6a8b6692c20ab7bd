"""`mcp serve --trace` as a process: what it writes is answered alike by the next process."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.server.commands import ENVIRONMENT
from tests.server.peer import REVISIONS, call, initialize, line
from tests.server.vectors import exchange

if TYPE_CHECKING:
    from pathlib import Path

COMMAND = [sys.executable, "-P", "-m", "skills_bundle", "mcp", "serve"]


@pytest.mark.parametrize("revision", REVISIONS)
def test_the_program_traces_and_answers_its_trace_alike(revision: str, tmp_path: Path) -> None:
    """Over real pipes and with our own tools."""
    path = tmp_path / "trace.jsonl"
    asked = [call("skill_catalog_search", {"query": "mcp"}, 1, revision), "garbage"]
    said = served(b"".join(map(line, [initialize(revision), *asked])), "--trace", str(path))
    sends = b"".join(line(message) for kind, message in exchange(path) if kind == "send")
    assert (said.count(b"\n"), served(sends)) == (3, said)


def served(given: bytes, *options: str) -> bytes:
    """Return all output of the program."""
    return subprocess.run(
        [*COMMAND, *options],
        input=given,
        stdout=subprocess.PIPE,
        check=True,
        timeout=60,
        env=ENVIRONMENT,
    ).stdout


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--trace", "/"], "exists"),
        (["--trace", ""], "name a file"),
        (["--trace", "-"], "name a file"),
        (["--trace", "x", "--http"], "not together with --http"),
    ],
)
def test_a_trace_that_cannot_be_is_said_with_exit_2(options: list[str], words: str) -> None:
    """Before anything is served."""
    done = subprocess.run(
        [*COMMAND, *options],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=60,
        env=ENVIRONMENT,
    )
    assert (done.returncode, words in done.stderr) == (2, True)

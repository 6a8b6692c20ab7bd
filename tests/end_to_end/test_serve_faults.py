"""A server whose descriptors are odd, or whose tool never returns: no answer is lost in silence."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.end_to_end.test_serve import converse, messages_of, started
from tests.server.commands import ENVIRONMENT, ODD
from tests.server.peer import call, initialize, line

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def _pipe(_: Path) -> tuple[int, int]:
    return os.pipe()


def _terminal(_: Path) -> tuple[int, int]:
    return pty.openpty()


def _file(folder: Path) -> tuple[int, int]:
    written = os.open(folder / "errors", os.O_WRONLY | os.O_CREAT)
    return os.open(folder / "errors", os.O_RDONLY), written


@pytest.mark.parametrize("make", [_pipe, _terminal, _file])
def test_the_output_may_be_a_file_whatever_standard_error_is(
    tmp_path: Path, make: Callable[[Path], tuple[int, int]]
) -> None:
    """Python knew a position in the file; what its descriptor becomes has none, or another."""
    answers = tmp_path / "answers.jsonl"
    other_end, errors = make(tmp_path)
    with answers.open("wb") as stream:
        done = subprocess.run(
            ODD,
            input=line(initialize()) + line(call("chatter")),
            stdout=stream,
            stderr=errors,
            timeout=60,
            check=False,
            env=ENVIRONMENT,
        )
    printed = os.read(other_end, 1 << 16)
    os.close(other_end)
    os.close(errors)
    ids = [json.loads(answer)["id"] for answer in answers.read_bytes().splitlines()]
    assert (ids, done.returncode, b"stray print" in printed) == ([0, 1], 0, True)


def test_an_input_that_cannot_be_read_ends_the_server_with_an_error(tmp_path: Path) -> None:
    """A descriptor that is open for writing only is no client that left."""
    with (tmp_path / "write-only").open("wb") as stream:
        done = subprocess.run(
            ODD, stdin=stream, capture_output=True, timeout=60, check=False, env=ENVIRONMENT
        )
    assert (done.returncode, b"standard input cannot be read" in done.stderr) == (1, True)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
def test_the_first_signal_ends_a_server_that_is_stuck(number: signal.Signals) -> None:
    """A tool that never returns keeps the loop from hearing of it, and not the process."""
    with started(ODD, call("sleep")) as process:
        assert process.stderr
        while process.stderr.readline() != b"asleep\n":
            pass
        process.send_signal(number)
        assert process.wait(10) == 0


def test_a_request_without_an_id_is_worth_no_word() -> None:
    """It asks for nothing, and a client that sends many must not fill standard error."""
    handshake = initialize()
    del handshake["id"]
    done = converse(ODD, initialize(), handshake, call("echo"))
    assert [message["id"] for message in messages_of(done)] == [0, 1]
    assert b"Traceback" not in done.stderr

"""Tests of debugging-an-mcp-server/scripts/drive_server.py, on servers that run."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

import pytest

from tests.skills_collection.collection import run, start

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

SCRIPT: Final = "debugging-an-mcp-server/drive_server.py"
SERVER: Final = """\
import json, sys

def answer(method, params):
    if method == "initialize":
        return {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                "serverInfo": {"name": "small", "version": "1"}}
    if method == "tools/list" and "cursor" not in params:
        return {"tools": [TOOLS[0]], "nextCursor": "more"}
    if method == "tools/list":
        return {"tools": [TOOLS[1]]}
    return {"content": [{"type": "text", "text": json.dumps(params["arguments"])}]}

TOOLS = [{"name": name, "description": "One.\\nTwo.", "inputSchema": {"type": "object"}}
         for name in ("first", "second")]
for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        result = answer(message["method"], message.get("params", {}))
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""
"""A handshake-era server of the standard library alone, with two pages of tools."""


def _server(folder: Path, text: str = SERVER) -> tuple[str, ...]:
    """Write a server and give the words that start it."""
    path = folder / "server.py"
    path.write_text(text, encoding="utf-8")
    return ("--", sys.executable, str(path))


def _problems(folder: Path, text: str, *options: str) -> list[str]:
    """Drive a server and give what was found wrong with it."""
    ran = run(SCRIPT, "--json", *options, *_server(folder, text))
    assert ran.code == 1
    return ran.json["runs"][0]["problems"]


def test_a_healthy_server_is_reported_without_a_problem(tmp_path: Path) -> None:
    """Greeting, every page of tools, one call, and the end."""
    ran = run(SCRIPT, "--call", "first", "--arguments", '{"a": 1}', *_server(tmp_path))
    words = [line.split(" ms  ", 1)[-1].strip() for line in ran.stdout.splitlines()]
    assert (ran.code, words[-1]) == (0, "handshake era: no problem found")
    assert [word for word in words if word.startswith("<-")] == [
        "<-      small 1; speaks 2025-06-18; offers tools",
        "<-      tool first: One.",
        "<-      tool second: One.",
        "<-      2 tools",
        '<-      text: {"a": 1}',
    ]


def test_a_line_that_is_no_message_is_shown_word_for_word(tmp_path: Path) -> None:
    """A print at start-up is the commonest fault of all."""
    found = _problems(tmp_path, 'print("Ready!", flush=True)\n' + SERVER)
    assert found == ["stray output, not JSON: 'Ready!'"]


def test_json_that_is_no_message_is_told_apart_from_text(tmp_path: Path) -> None:
    """A structured log line on standard output is as wrong as a banner."""
    found = _problems(tmp_path, 'print(\'{"level": "info"}\', flush=True)\n' + SERVER)
    assert found == ["JSON, but not a JSON-RPC 2.0 message: {'level': 'info'}"]


def test_a_server_that_ends_is_told_with_its_exit_code_and_its_last_words(tmp_path: Path) -> None:
    """A client says only `Connection closed`."""
    ran = run(SCRIPT, "--json", *_server(tmp_path, "import nowhere_at_all\n"))
    only = ran.json["runs"][0]
    assert only["problems"][-1] == "the server closed its output; exit code 1"
    assert only["stderr_tail"][-1] == "ModuleNotFoundError: No module named 'nowhere_at_all'"


def test_a_server_that_says_nothing_is_given_up(tmp_path: Path) -> None:
    """And killed, when it ignores the end of its input as well."""
    text = "import time\ntime.sleep(60)\n"
    found = _problems(tmp_path, text, "--startup-timeout", "0.3", "--timeout", "0.3")
    assert found == [
        "no reply to initialize within 0.3 s",
        "still running 0.3 s after its input was closed; killed",
    ]


def test_a_command_that_is_not_there_is_named() -> None:
    """What a client calls ENOENT."""
    ran = run(SCRIPT, "--json", "--", "no-such-server-anywhere")
    assert ran.json["runs"][0]["problems"] == [
        "cannot start no-such-server-anywhere: No such file or directory"
    ]


def test_both_eras_are_tried_in_processes_of_their_own(tmp_path: Path) -> None:
    """Our own server speaks both."""
    command = ("--", sys.executable, "-P", "-m", "skills_bundle", "mcp", "serve")
    ran = start(SCRIPT, "--era", "both", "--startup-timeout", "30", *command, cwd=tmp_path)
    assert ran.stdout.splitlines()[-2:] == [
        "handshake era: no problem found",
        "modern era: no problem found",
    ]


def test_a_server_of_one_era_fails_in_the_other(tmp_path: Path) -> None:
    """The small server knows nothing of `server/discover`."""
    ran = run(SCRIPT, "--era", "modern", *_server(tmp_path))
    assert ran.code == 1


def test_a_request_of_the_server_is_answered(tmp_path: Path) -> None:
    """A server that asks its client something first does not wait for ever."""
    ask = (
        "import sys\n"
        "first = sys.stdin.readline()\n"
        'print(\'{"jsonrpc": "2.0", "id": "r", "method": "ping"}\', flush=True)\n'
        "sys.stdin.readline()\n"
    )
    loop = "import itertools\nfor line in itertools.chain([first], sys.stdin):"
    text = ask + SERVER.replace("for line in sys.stdin:", loop)
    ran = run(SCRIPT, "--json", "--timeout", "2", *_server(tmp_path, text))
    texts = [event["text"] for event in ran.json["runs"][0]["events"]]
    assert (ran.code, "ping from the server" in texts, "2 tools" in texts) == (0, True, True)


def test_arguments_have_to_be_an_object() -> None:
    """Wrong usage is told before anything starts."""
    ran = run(SCRIPT, "--call", "x", "--arguments", "[1]", "--", "true")
    assert (ran.code, "must be a JSON object" in ran.stderr) == (2, True)


def test_the_short_path_hides_programs_of_the_users_shell(tmp_path: Path) -> None:
    """`--gui-path` starts the server as a desktop client would."""
    text = "import os\nraise SystemExit(os.environ['PATH'] + ' ' + os.environ['EXTRA'])\n"
    ran = run(SCRIPT, "--json", "--gui-path", "--env", "EXTRA=given", *_server(tmp_path, text))
    assert ran.json["runs"][0]["stderr_tail"] == ["/usr/bin:/bin:/usr/sbin:/sbin given"]

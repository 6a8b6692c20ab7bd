"""Framing: every line gives a message, a refusal or nothing; every answer fits on a line."""

from __future__ import annotations

import json
import tracemalloc
from typing import Any

import pytest

from skills_bundle.server import limits
from skills_bundle.server.stdio import framing
from skills_bundle.server.stdio.framing import (
    Line,
    LineBuffer,
    Notification,
    Refusal,
    Request,
    TooLong,
)
from tests.server.vectors import LineVector, lines

PLACES = [
    pytest.param(vector, first, id=f"{vector.why}{', first' * first}")
    for vector in lines()
    for first in vector.places
]


def outcome(message: framing.Message | None) -> Any:
    """Return the answer to a line in the form of the vectors."""
    if isinstance(message, Refusal):
        return {"code": message.code, "id": message.id}
    return "nothing" if message is None else "message"


@pytest.mark.parametrize(("vector", "first"), PLACES)
def test_each_line_of_the_table_is_answered_as_the_table_says(
    vector: LineVector, *, first: bool
) -> None:
    """MCP's stdio transport, read strictly; see tests/vectors/conversations/README.md."""
    buffer = LineBuffer()
    before = [] if first else buffer.feed(b"\n")
    (line,) = buffer.feed(vector.data + b"\n")
    assert (len(before), outcome(framing.parse(line))) == (int(not first), vector.answer)


def test_a_request_keeps_id_method_and_params() -> None:
    """What is parsed is what was sent."""
    data = b'{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"x"}}'
    assert framing.parse(Line(data)) == Request("a", "tools/call", {"name": "x"})


def test_absent_params_stay_absent() -> None:
    """Absent and empty are two things until the session decides."""
    data = b'{"jsonrpc":"2.0","method":"notifications/initialized"}'
    assert framing.parse(Line(data)) == Notification("notifications/initialized", None)


def test_a_refusal_repeats_nothing_of_the_line() -> None:
    """Error messages are fixed sentences."""
    messages = {
        refusal.message
        for vector in lines()
        if isinstance(refusal := framing.parse(Line(vector.data)), Refusal)
    }
    assert len(messages) <= 12


def test_a_line_that_is_too_long_is_told_before_it_ends() -> None:
    """A client that never sends a line feed still learns what is wrong."""
    assert LineBuffer(limit=4).feed(b"12345") == [TooLong()]


def test_a_line_that_is_too_long_is_told_once() -> None:
    """However many chunks it comes in."""
    buffer = LineBuffer(limit=4)
    assert [line for _ in range(9) for line in buffer.feed(b"12345")] == [TooLong()]


def test_reading_goes_on_after_a_line_that_was_too_long() -> None:
    """Up to its line feed it is skipped; the next line is a line."""
    assert LineBuffer(limit=4).feed(b"12345678\nnext\n") == [TooLong(), Line(b"next")]


def test_a_line_of_exactly_the_limit_is_a_line() -> None:
    """The limit is inclusive and does not count the line feed."""
    assert LineBuffer(limit=4).feed(b"1234\n") == [Line(b"1234", first=True)]


def test_a_last_line_without_line_feed_is_kept_back() -> None:
    """Half a message is no message."""
    assert LineBuffer().feed(b"{}\n{") == [Line(b"{}", first=True)]


def test_skipping_a_long_line_holds_none_of_it() -> None:
    """Memory stays flat: what is kept never exceeds the limit."""
    buffer = LineBuffer(limit=1000)
    tracemalloc.start()
    for _ in range(1000):
        buffer.feed(b"x" * 999)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 20_000


def big(extra: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return a response whose result is too long for a line."""
    result = {"content": [{"type": "text", "text": "x" * limits.RESPONSE_LINE_MAX_BYTES}]}
    return {"jsonrpc": "2.0", "id": "a", "result": {**result, **(extra or {})}}


def test_a_line_out_ends_in_one_line_feed() -> None:
    """The only raw line feed of a line is its end."""
    line = framing.encode({"jsonrpc": "2.0", "id": 1, "result": {"text": "a\nb"}})
    assert line == b'{"jsonrpc":"2.0","id":1,"result":{"text":"a\\nb"}}\n'


def test_text_goes_out_as_utf8() -> None:
    """Not as escapes: hosts pay for bytes."""
    line = framing.encode({"jsonrpc": "2.0", "id": 1, "result": {"text": "café 小说"}})
    assert "café 小说".encode() in line


def test_a_tool_result_that_is_too_long_becomes_a_tool_error() -> None:
    """A model can read it and ask for less."""
    answer = json.loads(framing.encode(big(), tool_call=True))
    assert answer["result"]["structuredContent"]["error"]["code"] == "response_too_large"


def test_the_tool_error_keeps_the_id() -> None:
    """The request that was too greedy is the one that is answered."""
    assert json.loads(framing.encode(big(), tool_call=True))["id"] == "a"


def test_the_tool_error_keeps_what_the_revision_demands() -> None:
    """`resultType` and the server's `_meta` stamp are required on 2026-07-28."""
    kept = {
        "resultType": "complete",
        "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "x"}},
    }
    assert json.loads(framing.encode(big(kept), tool_call=True))["result"].items() >= kept.items()


def test_a_meta_that_is_itself_too_long_is_left_out() -> None:
    """The error fits, even if the id is what made the answer long."""
    meta = {"_meta": {"x": "y" * limits.RESPONSE_LINE_MAX_BYTES}}
    line = framing.encode(big(meta), tool_call=True)
    assert len(line) < 1000


def test_another_result_that_is_too_long_becomes_a_protocol_error() -> None:
    """Only `tools/call` has tool errors."""
    answer = json.loads(framing.encode(big()))
    assert answer["error"]["message"].startswith("response_too_large")


def test_an_error_that_is_too_long_keeps_its_code() -> None:
    """The code is what clients act on."""
    error: Any = {"code": -32602, "message": "x", "data": "y" * limits.RESPONSE_LINE_MAX_BYTES}
    answer = json.loads(framing.encode({"jsonrpc": "2.0", "id": 1, "error": error}))
    assert answer["error"]["code"] == -32602


def test_exactly_the_limit_fits() -> None:
    """The limit counts the line feed."""
    empty = framing.encode({"jsonrpc": "2.0", "id": 1, "result": {"t": ""}})
    text = "x" * (limits.RESPONSE_LINE_MAX_BYTES - len(empty))
    assert len(framing.encode({"jsonrpc": "2.0", "id": 1, "result": {"t": text}})) == (
        limits.RESPONSE_LINE_MAX_BYTES
    )


@pytest.mark.parametrize("value", ["\ud800", float("nan")], ids=["lone surrogate", "NaN"])
def test_what_json_cannot_hold_becomes_an_internal_error(value: Any) -> None:
    """A fault of ours is answered, it does not end the session."""
    answer = json.loads(framing.encode({"jsonrpc": "2.0", "id": 5, "result": {"t": value}}))
    assert (answer["id"], answer["error"]["code"]) == (5, -32603)


def test_a_notification_that_is_too_long_is_dropped() -> None:
    """Nobody waits for it, and an error would answer nothing."""
    note: Any = {
        "jsonrpc": "2.0",
        "method": "n",
        "params": {"t": "x" * limits.RESPONSE_LINE_MAX_BYTES},
    }
    assert framing.encode(note) == b""

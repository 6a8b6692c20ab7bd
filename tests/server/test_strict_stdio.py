"""The strict stdio transport with the SDK's session behind it, over real pipes."""

from __future__ import annotations

import contextlib
import json
import os
import time
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCResponse

from skills_bundle.server import limits
from skills_bundle.server.stdio import transport as strict_stdio
from skills_bundle.server.stdio.wire import Wire
from tests.server.odd_server import toolbox
from tests.server.peer import Peer, call, initialize, line, request
from tests.server.vectors import LineVector, lines

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.slow

REFUSED = [vector for vector in lines() if isinstance(vector.answer, dict) and not vector.first]


ACCEPTED = [vector for vector in lines() if vector.answer == "message" and b'"id"' in vector.data]


@pytest.fixture
def peer() -> Iterator[Peer]:
    """Return an initialized connection."""
    with Peer(toolbox()) as connection:
        connection.send(initialize())
        connection.receive()
        yield connection


def ids(answers: list[Any]) -> list[Any]:
    """Return the ids of answers, in order."""
    return [answer["id"] for answer in answers]


@pytest.mark.parametrize("vector", REFUSED, ids=[vector.why for vector in REFUSED])
def test_a_refused_line_is_answered_in_its_place_and_the_session_goes_on(
    peer: Peer, vector: LineVector
) -> None:
    """Between two calls, each line of the table costs itself only."""
    peer.send(call("echo", request_id="before"), vector.data, call("echo", request_id="after"))
    assert ids(peer.answers()) == ["before", vector.answer["id"], "after"]


@pytest.mark.parametrize("vector", ACCEPTED, ids=[vector.why for vector in ACCEPTED])
def test_an_accepted_line_is_answered_with_its_own_id(vector: LineVector) -> None:
    """As the first line of a connection, where all of them are allowed."""
    with Peer(toolbox()) as connection:
        connection.send(vector.data)
        (answer,) = connection.answers()
    asked = json.loads(vector.data.decode("utf-8-sig"))["id"]
    assert (answer["id"], type(answer["id"]), "result" in answer) == (asked, type(asked), True)


def test_300_pipelined_requests_are_each_answered_once_in_order_though_the_input_ended(
    peer: Peer,
) -> None:
    """The end of input drains what was read."""
    peer.send(*(call("echo", request_id=number) for number in range(300)))
    assert ids(peer.answers()) == list(range(300))


def test_the_end_of_input_is_a_clean_end(peer: Peer) -> None:
    """Exit code 0."""
    peer.close_input()
    assert peer.join().exit_code == 0


def test_input_without_any_request_is_a_clean_end() -> None:
    """A client may change its mind."""
    with Peer(toolbox()) as connection:
        connection.close_input()
        assert connection.join() == strict_stdio.END_OF_INPUT


def test_a_last_line_without_line_feed_is_not_answered(peer: Peer) -> None:
    """It may be half a line."""
    peer.send(call("echo", request_id=1))
    peer.write(b'{"jsonrpc":"2.0","id":2,"method":"ping"}')
    assert ids(peer.answers()) == [1]


def test_a_repeated_id_in_flight_is_refused_with_id_null(peer: Peer) -> None:
    """The first request keeps its id."""
    peer.send(*(call("echo", request_id="same") for _ in range(2)))
    assert [answer.get("error", {}).get("code") for answer in peer.answers()] == [None, -32600]


def test_an_id_repeated_in_one_write_is_refused_however_far_apart(peer: Peer) -> None:
    """Its sender cannot have read the answer."""
    others = [call("echo", request_id=number) for number in range(1, 25)]
    peer.send(call("echo", request_id="same"), *others, call("echo", request_id="same"))
    assert ids(peer.answers()) == ["same", *range(1, 25), None]


def test_a_refused_line_does_not_answer_for_the_request_that_has_its_id(peer: Peer) -> None:
    """An error with that id would end the wrong request."""
    peer.send(call("echo", request_id=7), b'{"jsonrpc":"2.0","id":7,"method":1}')
    assert ids(peer.answers()) == [7, None]


def test_an_id_may_be_used_again_once_it_is_answered(peer: Peer) -> None:
    """Only ids in flight are taken."""
    received: list[Any] = []
    for _ in range(300):
        peer.send(call("echo", request_id="again"))
        received.append(peer.receive()["id"])
    assert received == ["again"] * 300


def test_a_number_and_its_text_are_two_ids_in_flight(peer: Peer) -> None:
    """Both are answered, each with its own type."""
    peer.send(call("echo", request_id=1), call("echo", request_id="1"))
    assert ids(peer.answers()) == [1, "1"]


def test_a_request_taken_back_frees_its_place(peer: Peer) -> None:
    """Cancelled or answered, none of them blocks the ones after it."""
    for number in range(3 * limits.MAX_IN_FLIGHT_REQUESTS):
        cancel = {"requestId": number, "reason": "changed my mind"}
        peer.send(
            call("echo", request_id=number),
            {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancel},
        )
    peer.send(call("echo", request_id="last"))
    assert ids(peer.answers())[-1] == "last"


def test_a_call_that_is_notification_shaped_is_not_answered(peer: Peer) -> None:
    """No id, no answer."""
    note = call("echo")
    del note["id"]
    peer.send(note, call("echo", request_id=1))
    assert ids(peer.answers()) == [1]


def test_an_unknown_notification_is_ignored(peer: Peer) -> None:
    """JSON-RPC: notifications are never answered."""
    peer.send({"jsonrpc": "2.0", "method": "notifications/whatever"}, call("echo", request_id=1))
    assert ids(peer.answers()) == [1]


def test_a_byte_order_mark_before_everything_else_is_tolerated() -> None:
    """Some shells put one there."""
    with Peer(toolbox()) as connection:
        connection.write(b"\xef\xbb\xbf")
        connection.send(initialize(request_id="first"))
        assert connection.receive()["id"] == "first"


def test_garbage_is_answered_until_the_cap_and_then_the_connection_is_closed(peer: Peer) -> None:
    """A client that answers garbage with garbage must not storm."""
    peer.send(*(["garbage"] * (limits.MAX_PARSE_ERROR_REPLIES + 50)))
    assert len(peer.answers()) == limits.MAX_PARSE_ERROR_REPLIES


def test_a_connection_closed_for_garbage_ends_with_an_error(peer: Peer) -> None:
    """Exit code 1."""
    peer.send(*(["garbage"] * limits.MAX_PARSE_ERROR_REPLIES))
    peer.answers()
    assert peer.join() == strict_stdio.GARBAGE


def test_answers_to_our_errors_are_not_answered(peer: Peer) -> None:
    """Two peers must not shout errors at each other."""
    error = {"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "?"}}
    peer.send(*([error] * 500), call("echo", request_id=1))
    assert ids(peer.answers()) == [1]


def test_a_result_that_is_too_long_leaves_the_session_alive(peer: Peer) -> None:
    """`response_too_large` answers one request."""
    peer.send(call("echo", {"times": 1_000_000}, request_id=1), call("echo", request_id=2))
    first, second = peer.answers()
    assert (first["result"]["structuredContent"]["error"]["code"], second["id"]) == (
        "response_too_large",
        2,
    )


def test_a_client_that_stops_reading_stops_our_reading(peer: Peer) -> None:
    """What it sends stays in its pipe: the server takes no more than it can answer."""
    peer.send(*(call("echo", {"times": 40_000}, request_id=n) for n in range(60)))
    time.sleep(0.2)
    os.set_blocking(peer.write_fd, False)
    written = 0
    with contextlib.suppress(BlockingIOError):
        while written < 8 << 20:
            written += os.write(peer.write_fd, b"\n" * (1 << 16))
    assert written < 1 << 20


def test_no_more_requests_reach_the_session_than_may_be_in_flight() -> None:
    """The rest stays in the pipe until one is answered."""
    reads, to_server = os.pipe()
    from_server, writes = os.pipe()
    many = limits.MAX_IN_FLIGHT_REQUESTS + 5
    os.write(to_server, b"".join(line(request("ping", None, number)) for number in range(many)))
    os.close(to_server)
    seen: list[int] = []

    async def session(incoming: Any, outbox: strict_stdio.Outbox) -> None:
        waiting: list[Any] = []
        async with outbox, incoming, anyio.create_task_group() as tasks:

            async def collect() -> None:
                async for item in incoming:
                    waiting.append(item.message.id)  # noqa: PERF401 - seen as soon as it comes

            tasks.start_soon(collect)
            while len(seen) < many:
                await anyio.wait_all_tasks_blocked()
                seen.append(len(waiting))
                answer = JSONRPCResponse(jsonrpc="2.0", id=waiting.pop(0), result={})
                await outbox.send(SessionMessage(answer))

    async def scenario() -> strict_stdio.Ending:
        wire = Wire(reads, writes)
        return await strict_stdio.StrictStdio(wire, anyio.Event()).serve(session)

    ending = anyio.run(scenario)
    for descriptor in (reads, from_server, writes):
        os.close(descriptor)
    assert (max(seen), ending) == (limits.MAX_IN_FLIGHT_REQUESTS, strict_stdio.END_OF_INPUT)


def test_a_client_that_reads_again_gets_every_answer(peer: Peer) -> None:
    """Backpressure loses nothing."""
    peer.send(*(call("echo", {"times": 40_000}, request_id=n) for n in range(30)))
    time.sleep(0.1)
    assert ids(peer.answers()) == list(range(30))


def test_a_client_that_goes_away_unread_is_a_clean_end(peer: Peer) -> None:
    """EPIPE is not an error of ours."""
    peer.close_output()
    peer.send(call("echo"))
    assert peer.join() == strict_stdio.CLIENT_GONE


def test_a_signal_ends_a_waiting_connection_cleanly(peer: Peer) -> None:
    """Nothing in flight, nothing to wait for."""
    peer.stop()
    assert peer.join() == strict_stdio.STOPPED


def test_a_signal_ends_a_connection_whose_client_does_not_read(peer: Peer) -> None:
    """A full pipe must not keep us."""
    peer.send(*(call("echo", {"times": 100_000}, request_id=n) for n in range(4)))
    time.sleep(0.1)
    peer.stop()
    assert peer.join() == strict_stdio.STOPPED


def test_answers_in_flight_are_given_up_if_unread_after_the_end(
    peer: Peer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An unread pipe holds us for a bounded time."""
    monkeypatch.setattr(limits, "DRAIN_STALL_SECONDS", 0.1)
    peer.send(call("echo", {"times": 100_000}))
    peer.close_input()
    assert peer.join() == strict_stdio.STALLED


@pytest.mark.parametrize("number", [limits.MAX_IN_FLIGHT_REQUESTS + 1, 300])
def test_requests_that_wait_are_given_up_if_answers_stay_unread_after_the_end(
    peer: Peer, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """The end of input is noticed although it is behind requests that were not read."""
    monkeypatch.setattr(limits, "DRAIN_STALL_SECONDS", 0.3)
    peer.send(*(call("echo", {"times": 100_000}, request_id=n) for n in range(number)))
    peer.close_input()
    assert peer.join() == strict_stdio.STALLED


def test_refusals_are_given_up_if_unread_after_the_end(
    peer: Peer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No request is in flight then, but the pipe is full."""
    monkeypatch.setattr(limits, "DRAIN_STALL_SECONDS", 0.3)
    bad = {"jsonrpc": "2.0", "id": "x" * 900, "method": 1}
    peer.send(*[bad] * 100, call("echo"))
    peer.close_input()
    assert peer.join() == strict_stdio.STALLED


def test_a_client_that_keeps_its_end_open_may_read_later(
    peer: Peer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It gets every answer: only the end of input starts the time limit."""
    monkeypatch.setattr(limits, "DRAIN_STALL_SECONDS", 0.1)
    peer.send(*(call("echo", {"times": 40_000}, request_id=n) for n in range(20)))
    time.sleep(0.5)
    assert ids(peer.answers()) == list(range(20))


def test_a_ping_is_answered_before_the_handshake() -> None:
    """MCP allows it at any time."""
    with Peer(toolbox()) as connection:
        connection.send(request("ping"))
        assert connection.receive() == {"jsonrpc": "2.0", "id": 1, "result": {}}

"""A connection's era is decided by the first request that belongs to one, and by nothing else."""

from __future__ import annotations

from typing import Any

import pytest
from mcp_types import JSONRPCRequest

from skills_bundle.server import session
from tests.server.odd_server import toolbox
from tests.server.peer import DISCOVERY, ENVELOPE, HANDSHAKES, Peer, call, initialize, request

VERSION = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"


def answers(*messages: dict[str, Any]) -> list[dict[str, Any]]:
    """Return every answer to these messages, written at once."""
    with Peer(toolbox()) as peer:
        peer.send(*messages)
        return peer.answers()


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (initialize(), True),
        (request("initialize"), True),
        (initialize(DISCOVERY), False),
        (request("server/discover"), False),
        (request("ping"), False),
        (request("tools/list"), False),
        (call("echo", None, 1, DISCOVERY), True),
        (request("no/such/method", None, 1, DISCOVERY), True),
        (request("tools/list", {"_meta": {**ENVELOPE, VERSION: "2099-01-01"}}), False),
        (request("tools/list", {"_meta": {**ENVELOPE, VERSION: 5}}), False),
        (request("tools/list", {"_meta": {VERSION: DISCOVERY}}), False),
        (request("tools/list", {"_meta": {CAPABILITIES: {}}}), False),
        (request("tools/list", {"_meta": None}), False),
    ],
    ids=str,
)
def test_a_request_opens_an_era_or_does_not(message: dict[str, Any], *, expected: bool) -> None:
    """A handshake does, and an accepted envelope; probes and refused envelopes do not."""
    assert session.opens(JSONRPCRequest.model_validate(message)) is expected


@pytest.mark.parametrize("revision", HANDSHAKES)
def test_a_client_that_probes_may_still_shake_hands(revision: str) -> None:
    """Probe, handshake and call in one write: all answered, in order."""
    found = answers(initialize(DISCOVERY), initialize(revision, 1), call("echo", request_id=2))
    assert [(answer["id"], "result" in answer) for answer in found] == [
        (0, True),
        (1, True),
        (2, True),
    ]


def test_requests_before_any_era_are_each_answered_in_order() -> None:
    """However many; the bound on requests in flight holds for them too."""
    found = answers(*(request("ping", None, number) for number in range(100)))
    assert [answer["id"] for answer in found] == list(range(100))


def test_a_bare_initialized_notification_is_no_handshake() -> None:
    """Only `initialize` opens the eras that have one."""
    note = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    (answer,) = answers(note, request("tools/list"))
    assert answer["error"]["code"] == -32602


def test_a_handshake_that_was_refused_can_be_repeated() -> None:
    """The first one named no revision."""
    first, second = answers(request("initialize", {}, 1), initialize(request_id=2))
    assert (first["error"]["code"], "result" in second) == (-32602, True)


def test_a_request_of_2026_closes_the_handshake() -> None:
    """The error names the revision the connection is in."""
    _, answer = answers(call("echo", None, 1, DISCOVERY), initialize(request_id=2))
    assert answer["error"]["data"] == {"supported": [DISCOVERY], "requested": HANDSHAKES[-1]}


def test_a_handshake_closes_2026() -> None:
    """Also for probes."""
    _, answer = answers(initialize(), initialize(DISCOVERY, 1))
    assert answer["error"]["code"] == -32600

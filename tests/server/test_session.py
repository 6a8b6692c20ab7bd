"""The session: five protocol revisions, coded errors, and no detail of a crash on the wire."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.server.odd_server import toolbox
from tests.server.peer import (
    DISCOVERY,
    HANDSHAKES,
    REVISIONS,
    Peer,
    call,
    initialize,
    request,
)
from tests.server.vectors import FOLDER, differences, exchange

EXCHANGES = sorted(FOLDER.glob("*.jsonl"))


def ask(message: dict[str, Any], revision: str = HANDSHAKES[-1]) -> dict[str, Any]:
    """Open a connection of this revision and give the answer to one request."""
    with Peer(toolbox()) as peer:
        peer.send(initialize(revision), message)
        peer.receive()
        return peer.receive()


def error_of(answer: dict[str, Any]) -> dict[str, str]:
    """Return the coded error of a tool's answer."""
    return answer["result"]["structuredContent"]["error"]


@pytest.mark.parametrize("path", EXCHANGES, ids=[path.stem for path in EXCHANGES])
def test_a_recorded_exchange_happens_again(path: Any) -> None:
    """Every conversation kept as data, step by step."""
    found: list[str] = []
    with Peer(toolbox()) as peer:
        for kind, message in exchange(path):
            if kind == "send":
                peer.send(message)
            else:
                found += differences(message, peer.receive())
        assert (found, peer.answers()) == ([], [])


@pytest.mark.parametrize("revision", HANDSHAKES)
def test_the_handshake_answers_in_the_revision_that_was_asked_for(revision: str) -> None:
    """Four revisions begin with `initialize`."""
    with Peer(toolbox()) as peer:
        peer.send(initialize(revision))
        assert peer.receive()["result"]["protocolVersion"] == revision


def test_an_unknown_revision_gets_the_newest_handshake() -> None:
    """MCP, lifecycle: the server answers with one it supports."""
    with Peer(toolbox()) as peer:
        peer.send(initialize("1999-01-01"))
        assert peer.receive()["result"]["protocolVersion"] == HANDSHAKES[-1]


def test_discovery_names_its_revision() -> None:
    """2026-07-28 has no handshake."""
    with Peer(toolbox()) as peer:
        peer.send(initialize(DISCOVERY))
        assert peer.receive()["result"]["supportedVersions"] == [DISCOVERY]


@pytest.mark.parametrize("revision", REVISIONS)
def test_only_tools_are_a_capability(revision: str) -> None:
    """What is not served is not declared."""
    with Peer(toolbox()) as peer:
        peer.send(initialize(revision))
        assert peer.receive()["result"]["capabilities"] == {"tools": {"listChanged": False}}


@pytest.mark.parametrize("revision", REVISIONS)
def test_the_tool_list_is_answered_in_every_revision(revision: str) -> None:
    """In declared order."""
    answer = ask(request("tools/list", None, 1, revision), revision)
    names = [tool["name"] for tool in answer["result"]["tools"]]
    assert names == [tool.name for tool in toolbox().tools]


@pytest.mark.parametrize("revision", REVISIONS)
def test_a_success_carries_its_value_as_compact_text_in_every_revision(revision: str) -> None:
    """Old clients read the text only."""
    answer = ask(call("echo", {"text": "é"}, 1, revision), revision)
    assert answer["result"]["content"][0]["text"] == '{"said":"é"}'


@pytest.mark.parametrize("revision", REVISIONS[2:])
def test_a_success_carries_the_same_value_as_structure(revision: str) -> None:
    """Structure since 2025-06-18."""
    answer = ask(call("echo", None, 1, revision), revision)["result"]
    assert answer["structuredContent"] == json.loads(answer["content"][0]["text"])


def test_a_success_has_no_error_mark() -> None:
    """`isError` appears only when it is true."""
    assert "isError" not in ask(call("echo"))["result"]


@pytest.mark.parametrize("revision", REVISIONS)
def test_a_refusal_of_a_tool_is_marked_as_error_in_every_revision(revision: str) -> None:
    """So that a model sees it."""
    assert ask(call("refuse", None, 1, revision), revision)["result"]["isError"] is True


@pytest.mark.parametrize("tool", ["crash", "crash_in_pydantic", "surrogate"])
@pytest.mark.parametrize("revision", REVISIONS)
def test_a_crash_is_an_internal_error_without_detail_in_every_revision(
    revision: str, tool: str
) -> None:
    """Whatever was raised."""
    assert ask(call(tool, None, 1, revision), revision)["error"] == {
        "code": -32603,
        "message": "Internal error.",
    }


def test_the_trace_of_a_crash_goes_to_the_log(caplog: pytest.LogCaptureFixture) -> None:
    """Whoever runs the server can find the fault."""
    ask(call("crash"))
    assert "secret detail" in caplog.text


def test_an_unknown_tool_is_a_coded_error() -> None:
    """A model can mend it; a protocol error it would never see."""
    assert error_of(ask(call("nope")))["code"] == "unknown_tool"


@pytest.mark.parametrize("arguments", [None, [], [1], "x", 1, True], ids=repr)
@pytest.mark.parametrize("revision", [HANDSHAKES[0], HANDSHAKES[-1], DISCOVERY])
def test_arguments_that_are_no_object_are_invalid_input(revision: str, arguments: Any) -> None:
    """In every era, as a tool's error."""
    message = call("echo", None, 1, revision)
    message["params"]["arguments"] = arguments
    assert "invalid_input" in json.dumps(ask(message, revision)) or revision == HANDSHAKES[0]


@pytest.mark.parametrize("arguments", [None, "x"], ids=repr)
def test_arguments_that_are_no_object_are_an_error_in_the_oldest_revision(arguments: Any) -> None:
    """There the code is not on the wire, but the mark is."""
    message = call("echo", None, 1, HANDSHAKES[0])
    message["params"]["arguments"] = arguments
    assert ask(message, HANDSHAKES[0])["result"]["isError"] is True


def test_omitted_arguments_are_no_arguments() -> None:
    """Every default applies."""
    message = call("echo")
    del message["params"]["arguments"]
    assert ask(message)["result"]["structuredContent"] == {"said": "hello"}


@pytest.mark.parametrize("revision", REVISIONS)
def test_an_unknown_method_is_not_found_and_not_repeated(revision: str) -> None:
    """-32601, whatever its name."""
    answer = ask(request("no/such/method", None, 1, revision), revision)
    assert answer["error"] == {"code": -32601, "message": "Method not found."}


def test_a_second_handshake_is_refused() -> None:
    """A connection has one."""
    assert ask(initialize(request_id=1))["error"]["code"] == -32602


def test_a_call_before_the_handshake_is_refused() -> None:
    """The session is not ready."""
    with Peer(toolbox()) as peer:
        peer.send(request("tools/list"))
        assert peer.receive()["error"]["code"] == -32602


def test_a_second_page_of_tools_does_not_exist() -> None:
    """The list is never paged; another cursor is not ours."""
    assert ask(request("tools/list", {"cursor": "2"}))["error"]["code"] == -32602


@pytest.mark.parametrize("revision", REVISIONS)
def test_cache_hints_are_of_2026_only(revision: str) -> None:
    """Older clients do not know them."""
    answer = ask(request("tools/list", None, 1, revision), revision)["result"]
    assert ("ttlMs" in answer, "cacheScope" in answer) == ((revision == DISCOVERY),) * 2


@pytest.mark.parametrize("revision", REVISIONS)
def test_every_revision_has_its_recorded_exchange(revision: str) -> None:
    """One file each, named after it."""
    assert [path.stem for path in EXCHANGES if path.stem.endswith(revision)] != []


def test_the_server_names_its_version() -> None:
    """Hosts show it."""
    with Peer(toolbox()) as peer:
        peer.send(initialize())
        assert peer.receive()["result"]["serverInfo"] == {
            "name": "skills-bundle",
            "version": "1.2.3",
        }


@pytest.mark.parametrize("revision", REVISIONS)
def test_what_a_client_puts_into_meta_does_not_come_back(revision: str) -> None:
    """It is for us to read or to leave; an answer has its own."""
    message = call("echo", None, 1, revision)
    given = {"com.example/x": 1, "progressToken": "t"}
    message["params"]["_meta"] = {**message["params"].get("_meta", {}), **given}
    found = json.dumps(ask(message, revision))
    assert "com.example" not in found


@pytest.mark.parametrize("method", ["prompts/get", "completion/complete", "subscriptions/listen"])
@pytest.mark.parametrize("revision", REVISIONS)
def test_a_method_that_is_not_served_is_not_found_whatever_its_parameters(
    revision: str, method: str
) -> None:
    """Not "invalid parameters", which would say that others might do."""
    answer = ask(request(method, {"wrong": True}, 1, revision), revision)
    assert answer["error"] == {"code": -32601, "message": "Method not found."}

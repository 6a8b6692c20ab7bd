"""The server over HTTP, on a real loopback socket: strict bodies, bounds, no secrets, every era."""

from __future__ import annotations

import json
import re
import socket
import threading
import time
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from skills_bundle.server import limits
from skills_bundle.server.http.app import Health
from tests.server.http_peer import (
    GUARDED,
    HEADERS,
    TOKEN,
    HttpPeer,
    Response,
    ask,
    exchange,
    head,
    post,
    revision_headers,
    to_the_end,
)
from tests.server.odd_server import toolbox
from tests.server.peer import DISCOVERY, HANDSHAKES, REVISIONS, call, initialize, request
from tests.server.vectors import LineVector, lines

if TYPE_CHECKING:
    from collections.abc import Generator

pytestmark = pytest.mark.slow

BODIES = [row for row in lines() if row.first is not True]


@pytest.fixture(scope="module")
def peer() -> Generator[HttpPeer]:
    """Serve the tools that misbehave."""
    with HttpPeer(toolbox()) as served:
        yield served


@pytest.fixture(scope="module")
def guarded() -> Generator[HttpPeer]:
    """Serve them to clients with the token."""
    with HttpPeer(toolbox(), GUARDED) as served:
        yield served


@pytest.mark.parametrize("revision", REVISIONS)
def test_every_revision_is_answered(peer: HttpPeer, revision: str) -> None:
    """Its first request."""
    assert "result" in peer.post(initialize(revision), revision).json()


@pytest.mark.parametrize("revision", REVISIONS)
def test_a_tool_is_called_without_a_handshake_before(peer: HttpPeer, revision: str) -> None:
    """Any replica can answer any request."""
    answer = peer.post(call("echo", {"text": "é"}, 7, revision), revision).json()
    assert (answer["id"], answer["result"]["content"][0]["text"]) == (7, '{"said":"é"}')


@pytest.mark.parametrize("revision", REVISIONS)
def test_a_crash_is_an_internal_error_without_detail(peer: HttpPeer, revision: str) -> None:
    """As over stdio."""
    answer = peer.post(call("crash", None, 1, revision), revision).json()
    assert answer["error"] == {"code": -32603, "message": "Internal error."}


def test_an_unknown_revision_is_told_which_are_known(peer: HttpPeer) -> None:
    """A client can choose again."""
    message = request("tools/list", None, 1, DISCOVERY)
    unknown = json.loads(json.dumps(message).replace(DISCOVERY, "2099-01-01"))
    answer = peer.post(unknown, "2099-01-01", {"mcp-method": "tools/list"})
    assert (answer.status, answer.json()["error"]["data"]["supported"]) == (400, [DISCOVERY])


@pytest.mark.parametrize(
    "named",
    [
        [],
        [HANDSHAKES[-1]],
        [DISCOVERY, DISCOVERY],
        [HANDSHAKES[-1], DISCOVERY],
        [DISCOVERY, HANDSHAKES[-1]],
    ],
)
def test_a_head_that_names_another_revision_is_refused(peer: HttpPeer, named: list[str]) -> None:
    """What stands between may go by the head."""
    body = json.dumps(request("tools/list", None, 1, DISCOVERY)).encode()
    versions = [f"MCP-Protocol-Version: {name}" for name in named]
    more = ["Host: 127.0.0.1", "Mcp-Method: tools/list", f"Content-Length: {len(body)}"]
    response = exchange(peer.port, head(*more, *versions, "Connection: close"), body)
    start, _, answer = response.partition(b"\r\n\r\n")
    error = json.loads(answer)
    assert (start.split()[1], error["id"], error["error"]["code"]) == (b"400", 1, -32020)


@pytest.mark.parametrize("method", ["initialize", "ping", "logging/setLevel", "no/such/method"])
def test_a_method_that_a_revision_does_not_have_is_not_found(peer: HttpPeer, method: str) -> None:
    """404 and -32601 for what SEP-2575 removed, the handshake too."""
    answer = peer.post(request(method, {}, 1, DISCOVERY), DISCOVERY)
    assert (answer.status, answer.json()["error"]["code"]) == (404, -32601)


@pytest.mark.parametrize("revision", REVISIONS)
def test_no_session_is_begun(peer: HttpPeer, revision: str) -> None:
    """Nothing ties a client to one process."""
    assert "mcp-session-id" not in peer.post(initialize(revision), revision).headers


@pytest.mark.parametrize("revision", REVISIONS)
def test_a_notification_is_accepted_without_a_body(peer: HttpPeer, revision: str) -> None:
    """202, as MCP's streamable HTTP says."""
    note = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    answer = peer.post(note, revision)
    assert (answer.status, answer.body) == (202, b"")


def expected(answer: Any) -> tuple[int, int | None]:
    """Return status and error code for what `lines.json` says of a line."""
    if answer == "nothing":  # a blank line, or an answer: here each is a request with no point
        return 400, None
    return 400, answer["code"]


@pytest.mark.parametrize("row", BODIES, ids=[row.why for row in BODIES])
def test_a_body_is_read_as_strictly_as_a_line(peer: HttpPeer, row: LineVector) -> None:
    """The same vectors as over stdio."""
    answer = peer.post(row.data)
    if len(row.data) > limits.HTTP_BODY_MAX_BYTES:
        assert answer.status == 413
    elif row.answer == "message":
        assert answer.status in {200, 202}
    else:
        status, code = expected(row.answer)
        assert (answer.status, code in {None, answer.json()["error"]["code"]}) == (status, True)


def test_a_body_may_go_over_several_lines(peer: HttpPeer) -> None:
    """It is JSON, not a line."""
    assert peer.post(json.dumps(call("echo"), indent=2).encode()).status == 200


def test_a_refused_body_names_the_request_if_it_can(peer: HttpPeer) -> None:
    """A client that waits for that id can stop."""
    answer = peer.post(b'{"jsonrpc":"2.0","id":"x","method":"ping","params":[]}')
    assert answer.json()["id"] == "x"


def test_an_answer_too_long_becomes_the_same_error_as_over_stdio(peer: HttpPeer) -> None:
    """`response_too_large`, which a model can act on."""
    answer = peer.post(call("echo", {"text": "x" * 200, "times": 10_000})).json()
    assert answer["result"]["structuredContent"]["error"]["code"] == "response_too_large"


def test_an_answer_too_long_on_the_newest_revision_says_so_too(peer: HttpPeer) -> None:
    """With the members that this revision wants."""
    message = call("echo", {"text": "x" * 200, "times": 10_000}, 1, DISCOVERY)
    result = peer.post(message, DISCOVERY).json()["result"]
    assert (result["isError"], result["resultType"]) == (True, "complete")


def test_a_body_sent_in_chunks_is_read(peer: HttpPeer) -> None:
    """Without a length, as some clients send it."""
    body = json.dumps(call("echo")).encode()
    chunks = b"".join(b"1\r\n%c\r\n" % byte for byte in body) + b"0\r\n\r\n"
    start = head("Host: 127.0.0.1", "Transfer-Encoding: chunked", "Connection: close")
    assert exchange(peer.port, start, chunks).startswith(b"HTTP/1.1 200 ")


def test_a_body_sent_in_chunks_is_bounded_too(peer: HttpPeer) -> None:
    """The length is counted, not believed."""
    chunk = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
    start = head("Host: 127.0.0.1", "Transfer-Encoding: chunked", "Connection: close")
    answer = exchange(peer.port, start, *[chunk] * 17, b"0\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 413 ")


def test_a_connection_goes_on_after_a_body_that_was_too_long(peer: HttpPeer) -> None:
    """What is left of it is skipped."""
    body = b" " * (limits.HTTP_BODY_MAX_BYTES + 1)
    start = head("Host: 127.0.0.1", f"Content-Length: {len(body)}")
    probe = b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    answer = exchange(peer.port, start, body, probe)
    assert re.findall(rb"HTTP/1.1 (\d+) ", answer) == [b"413", b"200"]


@pytest.mark.parametrize(
    "data",
    [
        b"\x00" * 100,
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"SSH-2.0-OpenSSH_9.6\r\n\r\n",
        b"POST /mcp\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: x\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: gzip\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\n Host: 127.0.0.1\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET /" + b"a" * limits.HTTP_HEAD_MAX_BYTES + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * limits.HTTP_HEAD_MAX_BYTES + b"\r\n",
    ],
)
def test_what_is_no_http_is_a_bad_request(peer: HttpPeer, data: bytes) -> None:
    """And the connection is closed."""
    assert exchange(peer.port, data).startswith(b"HTTP/1.1 4")


def test_both_a_length_and_chunks_close_the_connection(peer: HttpPeer) -> None:
    """What follows would be a request to one parser and a body to another."""
    start = head("Host: 127.0.0.1", "Content-Length: 4", "Transfer-Encoding: chunked")
    smuggled = b"0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
    answer = exchange(peer.port, start, smuggled)
    assert re.findall(rb"HTTP/1.1 (\d+) ", answer) == [b"400"]


def test_half_a_request_does_not_hold_up_others(peer: HttpPeer) -> None:
    """Neither half a head nor half a body."""
    half_body = head("Host: 127.0.0.1", "Content-Length: 100") + b"{"
    halves = [b"POST /mcp HTTP/1.1\r\nHo", half_body]
    waiting = [socket.create_connection(("127.0.0.1", peer.port)) for _ in halves]
    try:
        for connection, half in zip(waiting, halves, strict=True):
            connection.sendall(half)
        assert peer.post(call("echo")).status == 200
    finally:
        for connection in waiting:
            connection.close()


@pytest.mark.parametrize("start", [b"", b"POST /mcp HTTP/1.1\r\nHo"])
def test_a_head_that_does_not_come_ends_its_connection(
    peer: HttpPeer, start: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An idle client cannot hold a connection."""
    monkeypatch.setattr(limits, "HTTP_HEAD_SECONDS", 0.2)
    with socket.create_connection(("127.0.0.1", peer.port), timeout=10) as connection:
        connection.sendall(start)
        assert to_the_end(connection) == b""


def test_the_rest_of_a_pipelined_head_has_the_same_time_limit(
    peer: HttpPeer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It started when the answer to the request before it was complete."""
    monkeypatch.setattr(limits, "HTTP_HEAD_SECONDS", 0.2)
    body = json.dumps(call("echo")).encode()
    first = head("Host: 127.0.0.1", f"Content-Length: {len(body)}") + body
    with socket.create_connection(("127.0.0.1", peer.port), timeout=10) as connection:
        connection.sendall(first + b"POST /mcp HTTP/1.1\r\nHo")
        assert to_the_end(connection).count(b"HTTP/1.1 200 ") == 1


def test_a_connection_beyond_the_limit_is_refused_and_closed(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """503, while those that were accepted before are served; the log has one line about it."""
    monkeypatch.setattr(limits, "HTTP_MAX_CONNECTIONS", 1)
    probe = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
    with (
        HttpPeer(toolbox()) as peer,
        socket.create_connection(("127.0.0.1", peer.port), timeout=10) as served,
    ):
        refused = [exchange(peer.port, probe) for _ in range(2)]
        served.sendall(probe.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
        assert to_the_end(served).startswith(b"HTTP/1.1 200 ")
    assert [answer[:13] for answer in refused] == [b"HTTP/1.1 503 "] * 2
    assert capfd.readouterr().err.count("connections are refused") == 1


def test_connections_beyond_the_refused_ones_are_closed_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """They cannot take file descriptors, although they never send a request."""
    monkeypatch.setattr(limits, "HTTP_MAX_CONNECTIONS", 1)
    with HttpPeer(toolbox()) as peer:
        address = ("127.0.0.1", peer.port)
        with socket.create_connection(address), socket.create_connection(address):
            assert exchange(peer.port) == b""


def test_a_body_that_does_not_come_is_a_timeout(
    peer: HttpPeer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """408, and the connection is closed."""
    monkeypatch.setattr(limits, "HTTP_BODY_SECONDS", 0.2)
    with socket.create_connection(("127.0.0.1", peer.port), timeout=10) as connection:
        connection.sendall(head("Host: 127.0.0.1", "Content-Length: 9") + b"{")
        assert to_the_end(connection).startswith(b"HTTP/1.1 408 ")


def test_answers_that_are_not_read_end_their_connection(
    peer: HttpPeer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A client cannot hold their memory, however many it pipelined."""
    monkeypatch.setattr(limits, "HTTP_ANSWER_SECONDS", 0.2)
    body = json.dumps(call("echo", {"text": "x" * 200, "times": 2000})).encode()
    asked = (head("Host: 127.0.0.1", f"Content-Length: {len(body)}") + body) * 20
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 13)
        connection.settimeout(10)
        connection.connect(("127.0.0.1", peer.port))
        connection.sendall(asked)
        time.sleep(1)
        assert len(to_the_end(connection)) < 20 * 400_000


def test_more_requests_than_can_be_held_are_told_to_come_again(
    peer: HttpPeer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bodies in memory are bounded by their number."""
    monkeypatch.setattr(limits, "HTTP_MAX_REQUESTS", 0)
    answer = peer.post(call("echo"))
    assert (answer.status, answer.headers["retry-after"]) == (503, "1")


def test_a_client_that_leaves_in_the_middle_of_its_body_is_only_logged(
    peer: HttpPeer, capfd: pytest.CaptureFixture[str]
) -> None:
    """It gets no answer and makes no trace."""
    half = head("Host: 127.0.0.1", "Content-Length: 9") + b"{"
    assert exchange(peer.port, half, leave=True) == b""
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.parametrize("path", ["/mcp", "/nothing", "/healthz?x"])
def test_a_rebound_name_reaches_nothing_but_the_probe(peer: HttpPeer, path: str) -> None:
    """DNS rebinding: the page's own name stands in Host."""
    headers = {**HEADERS, "Host": "evil.example"}
    wanted = 421 if path != "/healthz?x" else 405
    assert ask(peer.port, path=path, headers=headers).status == wanted


@pytest.mark.parametrize("scheme", ["http:", "http%3a"])
@pytest.mark.parametrize(("host", "status"), [("evil.example", b"421"), ("127.0.0.1", b"404")])
def test_a_name_in_the_target_does_not_replace_the_host(
    peer: HttpPeer, scheme: str, host: str, status: bytes
) -> None:
    """An absolute target is never served, not even one that names this server."""
    start = head(f"Host: {host}", "Connection: close", path=f"{scheme}//localhost/mcp")
    assert exchange(peer.port, start).split()[1] == status


@pytest.mark.parametrize("path", ["/%6dcp", "/mcp?token=x"])
def test_a_path_is_decoded_and_its_query_ignored(peer: HttpPeer, path: str) -> None:
    """RFC 3986, section 6.2.2."""
    body = json.dumps(call("echo")).encode()
    assert ask(peer.port, path=path, body=body).status == 200


@pytest.mark.parametrize(
    ("token", "status"), [(None, 401), ("wrong", 401), (TOKEN + "x", 401), (TOKEN, 200)]
)
def test_only_the_token_opens(guarded: HttpPeer, token: str | None, status: int) -> None:
    """The whole of it."""
    headers = {} if token is None else {"authorization": f"Bearer {token}"}
    assert guarded.post(call("echo"), headers=headers).status == status


def test_a_stranger_cannot_tell_a_tool_from_none(guarded: HttpPeer) -> None:
    """The answer does not depend on the body."""
    answers = {guarded.post(body).body for body in (b"", b"{", b'{"jsonrpc":"2.0"}')}
    assert len(answers) == 1


def test_a_stranger_is_refused_before_a_body_is_read(guarded: HttpPeer) -> None:
    """The head is enough."""
    start = head("Host: 127.0.0.1", "Content-Length: 1000000", "Connection: close")
    assert exchange(guarded.port, start).startswith(b"HTTP/1.1 401 ")


@pytest.mark.parametrize("header", ["authorization", "cookie", "x-made-up"])
def test_no_header_and_no_query_is_logged(header: str, capfd: pytest.CaptureFixture[str]) -> None:
    """Whether it is right or wrong."""
    headers = {**HEADERS, "authorization": f"Bearer {TOKEN}", header: f"Bearer {TOKEN}"}
    with HttpPeer(toolbox(), GUARDED) as guarded:
        ask(guarded.port, path=f"/mcp?{TOKEN}", body=b"{", headers=headers)
        ask(guarded.port, path=f"/{TOKEN}", headers=headers)
        ask(guarded.port, method=TOKEN.upper(), headers=headers)
    logged = capfd.readouterr().err
    assert (logged.count("\n"), TOKEN in logged.lower()) == (3, False)


def test_a_request_is_one_line_of_the_log(
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Method, path, status, milliseconds."""
    with HttpPeer(toolbox()) as peer:
        peer.post(call("echo"))
    form = r"skills-bundle: POST /mcp 200 \d+\.\d ms\n"
    assert re.fullmatch(form, capfd.readouterr().err)


def test_a_forged_line_cannot_get_into_the_log(
    capfd: pytest.CaptureFixture[str],
) -> None:
    """A path decodes to anything."""
    with HttpPeer(toolbox()) as peer:
        ask(peer.port, method="GET", path="/%0askills-bundle:%20POST%20/mcp%20200")
    assert re.fullmatch(r"skills-bundle: GET other 404 \d+\.\d ms\n", capfd.readouterr().err)


def test_a_crash_is_traced_without_the_token(
    guarded: HttpPeer, caplog: pytest.LogCaptureFixture
) -> None:
    """A person sees what went wrong, and no secret."""
    guarded.post(call("crash"), headers={"authorization": f"Bearer {TOKEN}"})
    assert ("secret detail" in caplog.text, TOKEN in caplog.text) == (True, False)


@pytest.mark.parametrize("state", ["200 ok", "503 unavailable"])
def test_a_probe_learns_one_word(state: str) -> None:
    """Without a token, and no detail."""
    with HttpPeer(toolbox(), GUARDED) as peer:
        peer.healthy = state.startswith("200")
        given = ask(peer.port, "GET", "/healthz", headers={})
    assert f"{given.status} {given.body.decode()}" == f"{state}\n"


def test_many_probes_share_one_check_in_a_thread() -> None:
    """Anyone may probe, and a check takes time."""
    checks: list[int] = []

    def healthy() -> bool:
        checks.append(threading.get_ident())
        return True

    async def probe() -> None:
        """Ask twenty times at once."""
        health = Health(healthy)
        async with anyio.create_task_group() as group:
            for _ in range(20):
                group.start_soon(health.current)

    anyio.run(probe)
    assert (len(checks), threading.get_ident() in checks) == (1, False)


@pytest.mark.parametrize(
    "written", ["Application/JSON", "application/json;charset=UTF-8", "application/json ; "]
)
def test_the_content_type_may_be_written_in_any_way(peer: HttpPeer, written: str) -> None:
    """Whatever passes our rules passes further in."""
    assert peer.post(call("echo"), headers={"content-type": written}).status == 200


@pytest.mark.parametrize("ask_for", ["/healthz", "/mcp", "/nothing"])
def test_no_answer_is_kept_by_a_cache_or_guessed_at_by_a_browser(
    peer: HttpPeer, ask_for: str
) -> None:
    """Whatever is answered."""
    headers = ask(peer.port, "GET", ask_for).headers
    given = (headers["cache-control"], headers["x-content-type-options"], headers.get("server"))
    assert given == ("no-store", "nosniff", None)


@pytest.mark.parametrize("revision", [HANDSHAKES[-1], DISCOVERY])
@pytest.mark.parametrize(
    "accept",
    [[], [""], ["*/*"], ["application/*;q=0.5"], ["text/event-stream", "Application/JSON"]],
)
def test_a_client_that_takes_json_is_answered(
    peer: HttpPeer, accept: list[str], revision: str
) -> None:
    """Without Accept it takes anything (RFC 9110, 12.5.1); the header may be repeated."""
    message = call("echo", None, 1, revision)
    body = json.dumps(message).encode()
    headers = {**revision_headers(message, revision), "host": "127.0.0.1", "connection": "close"}
    headers |= {"content-length": str(len(body))}
    rows = [(name, text) for name, text in headers.items() if name != "accept"]
    rows += [("accept", text) for text in accept]
    start = "\r\n".join(["POST /mcp HTTP/1.1", *(f"{n}: {t}" for n, t in rows), "", ""])
    assert exchange(peer.port, start.encode() + body).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize("accept", ["text/html", "text/event-stream"])
def test_a_client_that_does_not_take_json_is_refused(peer: HttpPeer, accept: str) -> None:
    """The server opens no streams."""
    assert peer.post(call("echo"), headers={"accept": accept}).status == 406


def test_a_page_of_this_machine_can_use_the_server_from_a_browser(peer: HttpPeer) -> None:
    """A browser asks first, and lets the page read the answer only with this header."""
    headers = {
        "Origin": "http://localhost:6274",
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "content-type,mcp-protocol-version",
    }
    preflight = ask(peer.port, "OPTIONS", headers=headers)
    allowed = preflight.headers["access-control-allow-headers"].split(", ")
    assert (preflight.status, preflight.body) == (204, b"")
    assert {"content-type", "mcp-protocol-version"} <= set(allowed)
    answer = peer.post(call("echo"), headers={"origin": headers["Origin"]})
    for given in (preflight.headers, answer.headers):
        assert given["access-control-allow-origin"] == headers["Origin"]


def test_two_servers_answer_one_client_in_turn() -> None:
    """Replicas share nothing and need not."""
    messages = [initialize(), request("tools/list"), call("echo"), call("echo", {"text": "b"})]
    with HttpPeer(toolbox()) as one, HttpPeer(toolbox()) as other:
        ports = [one.port, other.port] * 2
        answers: list[Response] = [post(port, m) for port, m in zip(ports, messages, strict=True)]
    assert ["result" in answer.json() for answer in answers] == [True] * 4

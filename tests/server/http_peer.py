"""A client of the real HTTP server, which runs in a thread and on a real loopback socket.

```python
with HttpPeer(toolbox()) as peer:
    peer.post(call("echo", {"text": "hi"})).json()
```
"""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import socket
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from skills_bundle.formats.digest import sha256_hex
from skills_bundle.server import session
from skills_bundle.server.http.access import HostName, Rules
from skills_bundle.server.http.app import App
from skills_bundle.server.http.serve import Server, listen
from tests.server.peer import DISCOVERY, HANDSHAKES

if TYPE_CHECKING:
    from skills_bundle.server.tools.base import Toolbox

TOKEN = "a-token-that-is-hard-to-guess"  # noqa: S105 - not one
HEADERS = {
    "content-type": "application/json",
    "accept": "application/json, text/event-stream",
}
OPEN = Rules(token_sha256=None, hosts=frozenset({HostName("127.0.0.1")}))
"""Rules of a server that only this machine can reach: no token."""
GUARDED = Rules(token_sha256=sha256_hex(TOKEN.encode()), hosts=frozenset({HostName("127.0.0.1")}))


@dataclass(frozen=True)
class Response:
    """What was answered."""

    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        """Read the body."""
        return json.loads(self.body)


def revision_headers(message: Any, revision: str = HANDSHAKES[-1]) -> dict[str, str]:
    """Return the headers that this revision wants beside a message."""
    headers = {**HEADERS, "mcp-protocol-version": revision}
    if revision == DISCOVERY:
        headers["mcp-method"] = message["method"]
        name = message.get("params", {}).get("name")
        headers |= {} if name is None else {"mcp-name": name}
    return headers


def ask(
    port: int,
    method: str = "POST",
    path: str = "/mcp",
    body: bytes = b"",
    headers: dict[str, str] | None = None,
) -> Response:
    """Send one request on a connection of its own."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request(method, path, body, HEADERS if headers is None else headers)
        answer = connection.getresponse()
        names = {name.lower(): value for name, value in answer.getheaders()}
        return Response(answer.status, names, answer.read())
    finally:
        connection.close()


def post(
    port: int, message: Any, revision: str = HANDSHAKES[-1], headers: dict[str, str] | None = None
) -> Response:
    """Send one message; `headers` come on top of what the revision wants."""
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    wanted = HEADERS if isinstance(message, bytes) else revision_headers(message, revision)
    return ask(port, body=body, headers={**wanted, **(headers or {})})


def head(*lines: str, method: str = "POST", path: str = "/mcp") -> bytes:
    """Return a request's head, valid, with these header lines added."""
    usual = [f"{name}: {value}" for name, value in HEADERS.items()]
    return "\r\n".join([f"{method} {path} HTTP/1.1", *usual, *lines, "", ""]).encode()


def exchange(port: int, *pieces: bytes, leave: bool = False) -> bytes:
    """Write raw bytes, then perhaps close our end, and read until the server closes its own."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        for piece in pieces:
            connection.sendall(piece)
        if leave:
            connection.shutdown(socket.SHUT_WR)
        return to_the_end(connection)


def to_the_end(connection: socket.socket) -> bytes:
    """Read until the other end closes or resets the connection."""
    pieces: list[bytes] = []
    with contextlib.suppress(ConnectionResetError):
        while piece := connection.recv(1 << 16):
            pieces.append(piece)
    return b"".join(pieces)


class HttpPeer:
    """One server.

    Attributes:
        port: Where it listens.
        healthy: What it thinks of its catalog.
    """

    def __init__(self, toolbox: Toolbox, rules: Rules = OPEN) -> None:
        """Start it."""
        self.healthy = True
        listener = listen("127.0.0.1", 0)
        self.port: int = listener.getsockname()[1]
        server = session.build(toolbox, version="1.2.3", notify=False)
        self._server = Server(App(server, rules, lambda: self.healthy))
        self._thread = threading.Thread(target=self._serve, args=[listener])
        self._thread.start()

    def _serve(self, listener: socket.socket) -> None:
        with listener:
            asyncio.run(self._server.run_on(listener))

    def post(
        self, message: Any, revision: str = HANDSHAKES[-1], headers: dict[str, str] | None = None
    ) -> Response:
        """Send one message."""
        return post(self.port, message, revision, headers)

    def __enter__(self) -> Self:
        """Return this peer."""
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the server."""
        self._server.should_exit = True
        self._thread.join(30)

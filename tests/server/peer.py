"""A host that talks to the real transport and session over real pipes, in this process.

`Peer` is the fixture to know first: three lines make a conversation.

```python
with Peer(toolbox()) as peer:
    peer.send(initialize(), call("echo", {"text": "hi"}))
    peer.answers()  # closes the input and gives every answer
```
"""

from __future__ import annotations

import json
import os
import threading
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import anyio
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, LATEST_HANDSHAKE_VERSION

from skills_bundle.server import session
from skills_bundle.server.stdio.transport import STALLED, STOPPED, Ending, StrictStdio
from skills_bundle.server.stdio.wire import Wire

if TYPE_CHECKING:
    from skills_bundle.catalog.service import Catalog
    from skills_bundle.server.tools.base import Toolbox
    from skills_bundle.server.trace import Trace

HANDSHAKES = HANDSHAKE_PROTOCOL_VERSIONS
DISCOVERY = "2026-07-28"
REVISIONS = (*HANDSHAKES, DISCOVERY)

CLIENT = {"name": "peer", "version": "1"}
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": DISCOVERY,
    "io.modelcontextprotocol/clientInfo": CLIENT,
    "io.modelcontextprotocol/clientCapabilities": {},
}

Json = dict[str, Any]

LEFT_WRITING = {STALLED.reason, STOPPED.reason}
"""Endings that may leave a thread in a write: its descriptor must not be closed under it."""


def request(
    method: str, params: Json | None = None, request_id: Any = 1, revision: str = HANDSHAKES[-1]
) -> Json:
    """Make a request; on 2026-07-28 with its envelope."""
    message: Json = {"jsonrpc": "2.0", "id": request_id, "method": method}
    if revision == DISCOVERY:
        params = {**(params or {}), "_meta": ENVELOPE}
    return message if params is None else {**message, "params": params}


def initialize(revision: str = LATEST_HANDSHAKE_VERSION, request_id: Any = 0) -> Json:
    """Make the first request of a connection, of any revision."""
    if revision == DISCOVERY:
        return request("server/discover", {}, request_id, revision)
    params = {"protocolVersion": revision, "capabilities": {}, "clientInfo": CLIENT}
    return request("initialize", params, request_id)


def call(
    name: str, arguments: Any = None, request_id: Any = 1, revision: str = HANDSHAKES[-1]
) -> Json:
    """Make a tool call."""
    return request("tools/call", {"name": name, "arguments": arguments or {}}, request_id, revision)


def line(message: Json | str | bytes) -> bytes:
    """Return the bytes of a line: a message rendered, text and bytes as they are."""
    if isinstance(message, dict):
        message = json.dumps(message)
    return (message.encode() if isinstance(message, str) else message) + b"\n"


class Peer:
    """One connection to a server that runs in a thread.

    Attributes:
        ending: Why the connection ended, once it did.
    """

    def __init__(
        self, toolbox: Toolbox, catalog: Catalog | None = None, trace: Trace | None = None
    ) -> None:
        """Connect."""
        server_reads, self.write_fd = os.pipe()
        self.read_fd, server_writes = os.pipe()
        self._server = (server_reads, server_writes)
        self._toolbox = toolbox
        self._catalog = catalog
        self._trace = trace
        self._buffer = b""
        self.ending: Ending | None = None
        self._stop: Any = None
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()
        self._ready.wait(30)

    def _serve(self) -> None:
        async def serve() -> Ending:
            stop = anyio.Event()
            token = anyio.lowlevel.current_token()
            self._stop = lambda: anyio.from_thread.run_sync(stop.set, token=token)
            self._ready.set()
            server = session.build(self._toolbox, version="1.2.3", catalog=self._catalog)
            transport = StrictStdio(Wire(*self._server), stop, self._trace)
            return await transport.serve(partial(session.serve, server))

        self.ending = anyio.run(serve)
        if self.ending.reason not in LEFT_WRITING:
            self._close_server_output()

    def _close_server_output(self) -> None:
        if self._server[1] >= 0:
            os.close(self._server[1])
            self._server = (self._server[0], -1)

    def send(self, *messages: Json | str | bytes) -> None:
        """Write lines."""
        self.write(b"".join(map(line, messages)))

    def write(self, data: bytes) -> None:
        """Write bytes, all of them."""
        view = memoryview(data)
        while view:
            view = view[os.write(self.write_fd, view) :]

    def receive(self) -> Json:
        """Wait for one answer."""
        while b"\n" not in self._buffer:
            chunk = os.read(self.read_fd, 1 << 16)
            assert chunk, "the connection ended before the answer came"
            self._buffer += chunk
        answer, _, self._buffer = self._buffer.partition(b"\n")
        return json.loads(answer)

    def answers(self) -> list[Json]:
        """Close the input and give every answer there is until the server closes its end."""
        self.close_input()
        pieces = [self._buffer]
        while chunk := os.read(self.read_fd, 1 << 16):
            pieces.append(chunk)
        self._buffer = b""
        return [json.loads(answer) for answer in b"".join(pieces).splitlines()]

    def stop(self) -> None:
        """Do what a signal does."""
        self._stop()

    def close_input(self) -> None:
        """End the server's input."""
        if self.write_fd >= 0:
            os.close(self.write_fd)
            self.write_fd = -1

    def close_output(self) -> None:
        """Go away without reading."""
        if self.read_fd >= 0:
            os.close(self.read_fd)
            self.read_fd = -1

    def join(self) -> Ending:
        """Wait until the server is done and say why it ended."""
        self._thread.join(30)
        assert self.ending is not None, "the server still runs"
        return self.ending

    def __enter__(self) -> Self:
        """Return this peer."""
        return self

    def __exit__(self, *_: object) -> None:
        """Leave: close both ends and wait for the server."""
        self.close_input()
        self.close_output()
        self.join()
        # The number of a descriptor that is closed during a read or write can be reused.
        names = {
            f"skills-bundle reader {self._server[0]}",
            f"skills-bundle writer {self._server[1]}",
        }
        for thread in threading.enumerate():
            if thread.name in names:
                thread.join(30)
        self._close_server_output()
        os.close(self._server[0])

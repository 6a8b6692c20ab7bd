"""Decision: which era a connection is in, decided by the first request that belongs to one.

`initialize` opens the eras with a handshake; a request with the envelope of 2026-07-28 opens that
one. The SDK lets the very first request decide, whatever it is. That shuts out the clients the
specification has in mind when it lets a client probe: one that asks `server/discover` for a
revision we do not serve, is refused, and falls back to `initialize`; or one that pings first. So
what belongs to no era, is only a probe, or is refused for its envelope decides nothing here: it is
answered on an SDK connection of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, cast

import anyio
from anyio.abc import AsyncResource
from mcp.shared.inbound import InboundLadderRejection, classify_inbound_request
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCRequest, JSONRPCResponse

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp.server.lowlevel import Server
    from mcp.shared._stream_protocols import ReadStream, WriteStream

    Incoming = SessionMessage | Exception

PROBE = "server/discover"


async def serve(
    server: Server[Any],
    incoming: MemoryObjectReceiveStream[Incoming],
    outgoing: WriteStream[SessionMessage],
) -> None:
    """Serve one connection until its input ends; the session that `StrictStdio` wants.

    Args:
        server: Answers, in any era.
        incoming: What the client says.
        outgoing: Where answers go; a message is written when `send` returns. Closed at the end.
    """
    options = server.create_initialization_options()
    async with outgoing, incoming:
        async for item in incoming:
            request = _request(item)
            if request is None:
                # Before a connection has an era, no notification means anything. The SDK would
                # take a bare `notifications/initialized` for a handshake.
                continue
            if opens(request):
                first_to_last = cast("ReadStream[Incoming]", _Replay(item, incoming))
                await server.run(first_to_last, outgoing, options)
                return
            send, receive = anyio.create_memory_object_stream["Incoming"](1)
            send.send_nowait(item)
            await server.run(receive, _OneAnswer(outgoing, send), options)


def _request(item: Incoming) -> JSONRPCRequest | None:
    message = item.message if isinstance(item, SessionMessage) else None
    return message if isinstance(message, JSONRPCRequest) else None


def opens(request: JSONRPCRequest) -> bool:
    """Tell whether this request decides the era of its connection."""
    if request.method in {"initialize", PROBE}:
        return request.method == "initialize"
    body = {"method": request.method, "params": request.params}
    return not isinstance(classify_inbound_request(body), InboundLadderRejection)


class _Replay(AsyncResource):
    """The stream as if the message that was taken from it were still in it."""

    def __init__(self, first: Incoming, rest: MemoryObjectReceiveStream[Incoming]) -> None:
        self._first: Incoming | None = first
        self._rest = rest

    async def receive(self) -> Incoming:
        first, self._first = self._first, None
        return await self._rest.receive() if first is None else first

    async def aclose(self) -> None:
        await self._rest.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Incoming:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None


class _OneAnswer(AsyncResource):
    """Ends a connection's input once its one request is answered; never closes the real output."""

    def __init__(
        self, outgoing: WriteStream[SessionMessage], input_: MemoryObjectSendStream[Incoming]
    ) -> None:
        self._outgoing = outgoing
        self._input = input_

    async def send(self, item: SessionMessage, /) -> None:
        await self._outgoing.send(item)
        if isinstance(item.message, JSONRPCResponse | JSONRPCError):
            await self._input.aclose()

    async def aclose(self) -> None:
        await self._input.aclose()

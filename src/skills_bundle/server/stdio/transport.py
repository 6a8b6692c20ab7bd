"""Edge: the strict stdio transport: one connection, from its first byte to a clean end.

Joins the wire, the framing and the SDK's session, through the session's public streams. It adds to
the SDK's own transport: limits on lines and memory, strict JSON, exact accounting of requests, an
answer to every line that is due one, backpressure in both directions, and no lost answers at the
end.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import anyio
from anyio.abc import AsyncResource
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from mcp_types import JSONRPCNotification, JSONRPCRequest

from skills_bundle.server import limits
from skills_bundle.server.stdio import framing
from skills_bundle.server.stdio.framing import LineBuffer, Notification, Refusal, Request
from skills_bundle.server.stdio.wire import Wire, Worker, has_ended, read_some, write_all

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine

    from anyio.streams.memory import MemoryObjectReceiveStream

    from skills_bundle.server.trace import Trace

    Session = Callable[
        [MemoryObjectReceiveStream[SessionMessage | Exception], "Outbox"], Coroutine[Any, Any, None]
    ]
    """Serves one connection until its first stream ends: `mcp.server.lowlevel.Server.run`."""


@dataclass(frozen=True, slots=True)
class Ending:
    """Why a connection ended, and the exit code of the process."""

    reason: str
    exit_code: int


END_OF_INPUT: Final = Ending("the client closed its end", 0)
STOPPED: Final = Ending("a signal stopped the server", 0)
CLIENT_GONE: Final = Ending("the client stopped reading answers", 0)
UNREADABLE: Final = Ending("standard input cannot be read", 1)
UNWRITABLE: Final = Ending("standard output cannot be written to", 1)
GARBAGE: Final = Ending(f"{limits.MAX_PARSE_ERROR_REPLIES} lines could not be read", 1)
STALLED: Final = Ending("the client did not read the remaining answers", 1)


_UNREAD_CHECKS: Final = 30
"""Looks at the end of input until an unread line ends the connection."""

NOTIFICATIONS: Final = "notifications/"
"""The start of every MCP notification's method."""


class InFlight:
    """Requests from the moment they are read until their answer is written, or will never come.

    A client may use an id again once it has read the answer, and that can happen before our own
    write call returns. So what decides is which came first: the bytes that use the id again were
    read, or the answer began to be written. Before that, no client can have read it.

    Args:
        limit: Most requests at once; further ones wait in the pipe, where they take none of our
            memory.
    """

    def __init__(self, limit: int = limits.MAX_IN_FLIGHT_REQUESTS) -> None:
        """Start with no requests."""
        self._limit = limit
        self._methods: dict[framing.RequestId, str] = {}
        self._answer_began: dict[framing.RequestId, int] = {}
        self._read_at = 0
        self._answered_after_read: set[framing.RequestId] = set()
        self._changed = anyio.Event()

    def __len__(self) -> int:
        """Return the number of unfinished requests."""
        return len(self._methods)

    def method(self, request_id: framing.RequestId) -> str | None:
        """Return the method of an unfinished request, or None if there is none with this id."""
        return self._methods.get(request_id)

    def begin_chunk(self, read_at: int) -> None:
        """Note when the bytes of the next requests were read.

        Args:
            read_at: Of a monotonic clock, the same as for `begin_answer`.
        """
        self._read_at = read_at
        self._answered_after_read.clear()

    def is_taken(self, request_id: framing.RequestId | None) -> bool:
        """Return whether this chunk was read before the client can have read this id's answer.

        `1` and `"1"` are two ids.
        """
        if request_id is None:
            return False
        if request_id in self._methods:
            began = self._answer_began.get(request_id)
            return began is None or began >= self._read_at
        return request_id in self._answered_after_read

    async def admit(self, request_id: framing.RequestId, method: str) -> None:
        """Wait for room, then count this request; its id must not be taken."""
        while len(self._methods) >= self._limit or request_id in self._methods:
            await self._changed.wait()
        self._methods[request_id] = method

    def begin_answer(self, request_id: framing.RequestId, at: int) -> None:
        """Note that the first byte of a request's answer is about to be written."""
        self._answer_began[request_id] = at

    def settle(self, request_id: framing.RequestId) -> None:
        """Count this request as finished; does nothing if it already is."""
        if self._methods.pop(request_id, None) is None:
            return
        if self._answer_began.pop(request_id, -1) >= self._read_at:
            self._answered_after_read.add(request_id)
        self._changed.set()
        self._changed = anyio.Event()

    async def empty(self) -> None:
        """Wait until every request is finished."""
        while self._methods:
            await self._changed.wait()


@dataclass(slots=True)
class _Outgoing:
    """A line to write."""

    line: bytes
    answers: framing.RequestId | None
    written: anyio.Event = field(default_factory=anyio.Event)


class Outbox(AsyncResource):
    """The stream that the session writes to: whole lines in the order of sending, each once.

    Implements the SDK's `WriteStream[SessionMessage]`.
    """

    def __init__(self, in_flight: InFlight) -> None:
        """Start empty; a sender waits until `drain` has written its line."""
        self._in_flight = in_flight
        # Unbounded, but each sender waits, and the number of requests is limited.
        self._send, self._receive = anyio.create_memory_object_stream[_Outgoing](float("inf"))

    async def send(self, item: SessionMessage, /) -> None:
        """Send a message of the session; return when it is written.

        A cancelled sender does not take its line back: half a line would break the framing, and a
        second answer would break JSON-RPC.
        """
        message: dict[str, Any] = item.message.model_dump(
            by_alias=True, mode="json", exclude_unset=True
        )
        answers = None if "method" in message else message["id"]
        tool_call = answers is not None and self._in_flight.method(answers) == "tools/call"
        await self.write(framing.encode(message, tool_call=tool_call), answers)

    async def write(self, line: bytes, answers: framing.RequestId | None = None) -> None:
        """Send a line; return when it is written and its request is counted as finished."""
        outgoing = _Outgoing(line, answers)
        self._send.send_nowait(outgoing)
        await outgoing.written.wait()

    async def drain(self, write: Callable[[bytes], Awaitable[None]]) -> None:
        """Write lines until the outbox is closed and empty.

        Raises:
            OSError: If the client cannot read any more.
        """
        async with self._receive:
            async for outgoing in self._receive:
                if outgoing.answers is not None:
                    self._in_flight.begin_answer(outgoing.answers, time.perf_counter_ns())
                await write(outgoing.line)
                if outgoing.answers is not None:
                    self._in_flight.settle(outgoing.answers)
                outgoing.written.set()

    async def aclose(self) -> None:
        """Let `drain` end once everything sent is written."""
        await self._send.aclose()


class StrictStdio:
    """One connection over two descriptors.

    Args:
        wire: Where to read and write.
        stop: Set from outside, once, to end early: unfinished requests have
            `limits.STOP_GRACE_SECONDS`.
        trace: Receives every line of both directions, if given.
    """

    def __init__(self, wire: Wire, stop: anyio.Event, trace: Trace | None = None) -> None:
        """Prepare; `serve` does the work."""
        self._wire = wire
        self._trace = trace
        self._stop = stop
        self._in_flight = InFlight()
        self._outbox = Outbox(self._in_flight)
        self._to_session, self._session_reads = anyio.create_memory_object_stream[
            SessionMessage | Exception
        ](0)
        self._unreadable_lines = 0
        self._ending = END_OF_INPUT
        self._read_all = False
        self._unread_check: asyncio.TimerHandle | None = None
        self._reading = anyio.CancelScope()
        self._everything = anyio.CancelScope()

    async def serve(self, session: Session) -> Ending:
        """Serve until the input ends, the client is gone, or `stop` is set.

        Raises:
            Exception: From the session's own loop: a fault in the program, never caused by input.
        """
        with self._everything:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._watch_stop)
                async with anyio.create_task_group() as connection:
                    connection.start_soon(self._write)
                    connection.start_soon(session, self._session_reads, self._outbox)
                    await self._read_and_drain()
                tasks.cancel_scope.cancel()
        return self._ending

    async def _watch_stop(self) -> None:
        await self._stop.wait()
        self._ending = STOPPED
        self._reading.cancel()
        await anyio.sleep(limits.STOP_GRACE_SECONDS)
        self._everything.cancel()

    async def _write(self) -> None:
        with closing(Worker(f"skills-bundle writer {self._wire.write_fd}")) as worker:
            try:
                await self._outbox.drain(partial(self._write_line, worker))
            except OSError as error:
                self._ending = _ending(error, UNWRITABLE)
                self._everything.cancel()

    async def _write_line(self, worker: Worker, line: bytes) -> None:
        if self._trace is not None and line:
            self._trace.received(line)
        self._check_unread_later()
        try:
            await worker.run(write_all, self._wire.write_fd, line)
        finally:
            if self._unread_check is not None:
                self._unread_check.cancel()

    def _check_unread_later(self, ended_for: float = 0.0) -> None:
        """Arrange to end the connection if nothing reads the current line after the end of input.

        The end of input may be unread as well: behind more requests than may be in flight.

        Args:
            ended_for: Seconds since the end of input was seen, during the current line.
        """
        interval = limits.DRAIN_STALL_SECONDS / _UNREAD_CHECKS

        def check() -> None:
            if not (self._read_all or has_ended(self._wire.read_fd)):
                self._check_unread_later()
            elif ended_for + interval < limits.DRAIN_STALL_SECONDS:
                self._check_unread_later(ended_for + interval)
            else:
                self._ending = STALLED
                self._everything.cancel()

        self._unread_check = asyncio.get_running_loop().call_later(interval, check)

    async def _read_and_drain(self) -> None:
        """Read to the end, then close the session's input when every answer is written.

        The SDK cancels unfinished requests when its input ends, so it must not end earlier.
        """
        async with self._to_session:
            with self._reading:
                await self._read()
            self._read_all = True
            await self._in_flight.empty()

    async def _read(self) -> None:
        buffer = LineBuffer()
        with closing(Worker(f"skills-bundle reader {self._wire.read_fd}")) as worker:
            while True:
                try:
                    chunk, read_at = await worker.run(_read_chunk, self._wire.read_fd)
                except OSError as error:
                    self._ending = _ending(error, UNREADABLE)
                    return
                if not chunk:
                    return
                self._in_flight.begin_chunk(read_at)
                for line in buffer.feed(chunk):
                    if self._trace is not None:
                        self._trace.sent(line)
                    await self._handle(framing.parse(line))
                    if self._unreadable_lines >= limits.MAX_PARSE_ERROR_REPLIES:
                        self._ending = GARBAGE
                        return

    async def _handle(self, message: framing.Message | None) -> None:
        match message:
            case Request():
                await self._handle_request(message)
            case Notification(method, params) if method.startswith(NOTIFICATIONS):
                note = JSONRPCNotification(jsonrpc="2.0", method=method, params=params)
                await self._to_session.send(SessionMessage(note))
            case Refusal():
                await self._refuse(message)
            case Notification() | None:  # a request's method without an id is due no answer
                pass

    async def _handle_request(self, request: Request) -> None:
        if self._in_flight.is_taken(request.id):
            await self._refuse(framing.REPEATED_ID)
            return
        await self._in_flight.admit(request.id, request.method)

        async def unanswered() -> None:  # the client cancelled the request
            self._in_flight.settle(request.id)

        await self._to_session.send(
            SessionMessage(
                JSONRPCRequest(
                    jsonrpc="2.0", id=request.id, method=request.method, params=request.params
                ),
                ServerMessageMetadata(on_request_unanswered=unanswered),
            )
        )

    async def _refuse(self, refusal: Refusal) -> None:
        """Refuse a line after the answers to all lines before it.

        Clients can match an error without an id only by its place, so its place is kept.
        """
        if self._in_flight.is_taken(refusal.id):  # the earlier request keeps the id
            refusal = Refusal(refusal.code, None, refusal.message)
        self._unreadable_lines += refusal.id is None
        await self._in_flight.empty()
        await self._outbox.write(framing.encode(refusal.answer()))


def _read_chunk(fd: int) -> tuple[bytes, int]:
    """Read what there is, blocking, and return it with the time."""
    chunk = read_some(fd, limits.READ_CHUNK_BYTES)
    return chunk, time.perf_counter_ns()


def _ending(error: OSError, otherwise: Ending) -> Ending:
    """Return `CLIENT_GONE` if the client left, else the ending for a broken descriptor."""
    left = isinstance(error, BrokenPipeError | ConnectionResetError)
    return CLIENT_GONE if left else otherwise

"""Edge: the strict stdio transport: one connection, from its first byte to a clean end.

Joins the wire, the framing and the SDK's session, through the session's public streams. What it
adds to the SDK's own transport: bounded lines and memory, strict JSON, exact accounting of
requests, an answer to everything that is due one, backpressure in both directions, and every reply
written before the end.
"""

from __future__ import annotations

import time
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import anyio
import anyio.lowlevel
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from mcp_types import JSONRPCNotification, JSONRPCRequest

from skills_bundle.server import limits
from skills_bundle.server.stdio import framing
from skills_bundle.server.stdio.closing_stream import ClosingStream
from skills_bundle.server.stdio.framing import LineBuffer, Notification, Refusal, Request
from skills_bundle.server.stdio.in_flight import InFlight
from skills_bundle.server.stdio.wire import Wire, Worker, read_some, write_all

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine

    from anyio.streams.memory import MemoryObjectReceiveStream

    from skills_bundle.server.trace.trace import Trace

    Session = Callable[
        [MemoryObjectReceiveStream[SessionMessage | Exception], "Outbox"], Coroutine[Any, Any, None]
    ]
    """Serves one connection until its first stream ends: `mcp.server.lowlevel.Server.run`."""


@dataclass(frozen=True, slots=True)
class Ending:
    """Why a connection ended, and what the process then exits with."""

    reason: str
    exit_code: int


END_OF_INPUT: Final = Ending("the client closed its end", 0)
STOPPED: Final = Ending("a signal asked us to stop", 0)
CLIENT_GONE: Final = Ending("nobody reads our answers any more", 0)
UNREADABLE: Final = Ending("standard input cannot be read", 1)
UNWRITABLE: Final = Ending("standard output cannot be written to", 1)
GARBAGE: Final = Ending(f"{limits.MAX_PARSE_ERROR_REPLIES} lines could not be read", 1)
STALLED: Final = Ending("answers were left in a pipe that nobody reads", 1)


NOTIFICATIONS: Final = "notifications/"
"""What the method of every MCP notification begins with."""


@dataclass(slots=True)
class _Outgoing:
    """A line on its way out."""

    line: bytes
    answers: framing.RequestId | None
    written: anyio.Event = field(default_factory=anyio.Event)


class Outbox(ClosingStream):
    """The stream the session writes to: lines in the order of sending, each whole, none twice.

    Implements the SDK's `WriteStream[SessionMessage]`.
    """

    def __init__(self, in_flight: InFlight) -> None:
        """Start empty; whoever sends waits for `drain` to have written its line."""
        self._in_flight = in_flight
        # Unbounded in name only: each sender waits, and there are at most so many requests.
        self._send, self._receive = anyio.create_memory_object_stream[_Outgoing](float("inf"))

    async def send(self, item: SessionMessage, /) -> None:
        """Take a message of the session; return when it is written.

        A sender that is cancelled meanwhile does not take its line back: half a line would break
        the framing, and an answer given twice would break JSON-RPC.
        """
        message: dict[str, Any] = item.message.model_dump(
            by_alias=True, mode="json", exclude_unset=True
        )
        answers = None if "method" in message else message["id"]
        tool_call = answers is not None and self._in_flight.method(answers) == "tools/call"
        await self.write(framing.encode(message, tool_call=tool_call), answers)

    async def write(self, line: bytes, answers: framing.RequestId | None = None) -> None:
        """Take a line; return when it is written and its request is counted as settled."""
        outgoing = _Outgoing(line, answers)
        self._send.send_nowait(outgoing)
        await outgoing.written.wait()

    async def drain(self, write: Callable[[bytes], Awaitable[None]]) -> None:
        """Write what is sent until the outbox is closed and empty.

        Raises:
            OSError: If nobody can read any more.
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
        stop: Set from outside, once, to end early: what is being answered gets
            `limits.STOP_GRACE_SECONDS`.
        trace: Where every line is written down, if anywhere.
    """

    def __init__(self, wire: Wire, stop: anyio.Event, trace: Trace | None = None) -> None:
        """Prepare; `serve` does everything."""
        self._wire = wire
        self._trace = trace
        self._stop = stop
        self._in_flight = InFlight()
        self._outbox = Outbox(self._in_flight)
        self._to_session, self._session_reads = anyio.create_memory_object_stream[
            SessionMessage | Exception
        ](0)
        self._unanswerable = 0
        self._ending = END_OF_INPUT
        self._reading = anyio.CancelScope()
        self._everything = anyio.CancelScope()

    async def serve(self, session: Session) -> Ending:
        """Serve until the input ends, the client is gone, or we are told to stop.

        Raises:
            Exception: Only what the session raises out of its own loop: a fault, never an input.
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
        with closing(Worker("skills-bundle writer")) as worker:
            try:
                await self._outbox.drain(partial(self._write_line, worker))
            except OSError as error:
                self._ending = _ending_of(error, UNWRITABLE)
                self._everything.cancel()

    async def _write_line(self, worker: Worker, line: bytes) -> None:
        if self._trace is not None and line:
            self._trace.received(line)
        await worker.run(write_all, self._wire.write_fd, line)

    async def _read_and_drain(self) -> None:
        """Read to the end, then close the session's input only when every answer is written.

        The SDK cancels what is in flight when its input ends; so it must not end before.
        """
        async with self._to_session:
            with self._reading:
                await self._read()
            while len(self._in_flight):
                settled = self._in_flight.settled
                with anyio.move_on_after(limits.DRAIN_STALL_SECONDS):
                    await self._in_flight.empty()
                if len(self._in_flight) and self._in_flight.settled == settled:
                    self._ending = STALLED
                    self._everything.cancel()
                    await anyio.lowlevel.checkpoint()

    async def _read(self) -> None:
        buffer = LineBuffer()
        with closing(Worker("skills-bundle reader")) as worker:
            while True:
                try:
                    chunk, read_at = await worker.run(_read_chunk, self._wire.read_fd)
                except OSError as error:
                    self._ending = _ending_of(error, UNREADABLE)
                    return
                if not chunk:
                    return
                self._in_flight.begin_chunk(read_at)
                for line in buffer.feed(chunk):
                    if self._trace is not None:
                        self._trace.sent(line)
                    await self._take(framing.parse(line))
                    if self._unanswerable >= limits.MAX_PARSE_ERROR_REPLIES:
                        self._ending = GARBAGE
                        return

    async def _take(self, message: framing.Message | None) -> None:
        match message:
            case Request():
                await self._take_request(message)
            case Notification(method, params) if method.startswith(NOTIFICATIONS):
                note = JSONRPCNotification(jsonrpc="2.0", method=method, params=params)
                await self._to_session.send(SessionMessage(note))
            case Refusal():
                await self._refuse(message)
            case Notification() | None:  # a request's method without an id asks for nothing
                pass

    async def _take_request(self, request: Request) -> None:
        if self._in_flight.is_taken(request.id):
            await self._refuse(framing.REPEATED_ID)
            return
        await self._in_flight.admit(request.id, request.method)

        async def unanswered() -> None:  # the client took the request back
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
        """Answer a line that never became a request, after the answers of all lines before it.

        An error without an id can be told from others by its place only, so the place is kept.
        """
        if self._in_flight.is_taken(refusal.id):  # that id belongs to the request that came first
            refusal = Refusal(refusal.code, None, refusal.message)
        self._unanswerable += refusal.id is None
        await self._in_flight.empty()
        await self._outbox.write(framing.encode(refusal.answer()))


def _read_chunk(fd: int) -> tuple[bytes, int]:
    """Read what there is, blocking, and say when."""
    chunk = read_some(fd, limits.READ_CHUNK_BYTES)
    return chunk, time.perf_counter_ns()


def _ending_of(error: OSError, otherwise: Ending) -> Ending:
    """Tell a client that left, to whom nobody can say so, from what is wrong with a descriptor."""
    left = isinstance(error, BrokenPipeError | ConnectionResetError)
    return CLIENT_GONE if left else otherwise

"""Edge: uvicorn's HTTP/1.1 connection, with limits on the number of connections and on time.

uvicorn limits the bytes of a request's head but not the time it may take: a client that sends a
head byte by byte, or never reads its answer, would keep a connection forever. And it counts
connections only when a request is complete, so idle ones could take every file descriptor.
"""

from __future__ import annotations

import errno
import sys
import time
from typing import TYPE_CHECKING, Any, Final

from uvicorn.protocols.http.h11_impl import H11Protocol

from skills_bundle.server import limits
from skills_bundle.server.run import say

if TYPE_CHECKING:
    import asyncio

    from skills_bundle.server.http.app import Event, Receive, Send

_NO_RESOURCES: Final = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}


class Room:
    """How many connections one process serves and refuses.

    Attributes:
        served: Most connections that are served.
        known: Most connections that are served or refused; further ones are closed at once.
    """

    def __init__(self) -> None:
        """Measure this process: descriptors that no connection takes stay for everything else."""
        descriptors = _descriptor_limit()
        fitting = max(descriptors // 4, descriptors - limits.HTTP_OTHER_DESCRIPTORS)
        self.served = min(limits.HTTP_MAX_CONNECTIONS, fitting)
        self.known = self.served + min(limits.HTTP_MAX_REFUSALS, self.served // 4 or 1)
        self._silent_until = 0.0

    def report(self) -> None:
        """Log that connections are refused, unless the log says so already."""
        if time.monotonic() >= self._silent_until:
            self._silent_until = time.monotonic() + limits.HTTP_REFUSALS_LOG_SECONDS
            say(f"connections are refused: this process serves at most {self.served} at once")

    def handle_loop_error(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Report that the system cannot accept a connection; pass other errors on.

        asyncio would log a traceback for each attempt.
        """
        error = context.get("exception")
        if isinstance(error, OSError) and error.errno in _NO_RESOURCES:
            self.report()
        else:
            loop.default_exception_handler(context)


def _descriptor_limit() -> int:
    """Return the number of files that this process may open."""
    if sys.platform == "win32":  # there, sockets are not file descriptors
        return sys.maxsize
    import resource  # noqa: PLC0415 - does not exist on Windows

    soft, _hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    return sys.maxsize if soft == resource.RLIM_INFINITY else soft


async def _refuse(_scope: Event, _receive: Receive, send: Send) -> None:
    """Answer a connection for which there is no room, and close it."""
    text = b"Too many connections."
    await send(
        {
            "type": "http.response.start",
            "status": 503,
            "headers": [
                (b"content-type", b"text/plain; charset=utf-8"),
                (b"content-length", b"%d" % len(text)),
                (b"retry-after", b"1"),
                (b"connection", b"close"),
            ],
        }
    )
    await send({"type": "http.response.body", "body": text, "more_body": False})


class BoundedProtocol(H11Protocol):
    """One connection; a subclass sets `room`."""

    room: Room
    _head_timer: asyncio.TimerHandle | None = None
    _write_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the time limit of the first head, if there is room."""
        super().connection_made(transport)
        if len(self.connections) > self.room.served:
            self.room.report()
            self.app = _refuse
        if len(self.connections) > self.room.known:
            transport.abort()
        else:
            self._limit_head()

    def on_response_complete(self) -> None:
        """Start the time limit of the next head if the client has begun to send it."""
        super().on_response_complete()
        if self.conn.trailing_data[0] and not self.transport.is_closing():
            self._limit_head()

    def data_received(self, data: bytes) -> None:
        """Take bytes; the limit of a head starts with its first byte and ends with its last."""
        super().data_received(data)
        self._limit_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timers."""
        self._cancel_head_timer()
        self._cancel_write_timer()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Start the time limit of a client that does not read its answer."""
        self._write_timer = self.loop.call_later(limits.HTTP_ANSWER_SECONDS, self.transport.abort)
        super().pause_writing()

    def resume_writing(self) -> None:
        """Stop that time limit: the client reads again."""
        self._cancel_write_timer()
        super().resume_writing()

    def timeout_keep_alive_handler(self) -> None:
        """Close an idle connection; abort it if its last answer was not read."""
        if self.transport.get_write_buffer_size():
            self.transport.abort()
        else:
            super().timeout_keep_alive_handler()

    def _limit_head(self) -> None:
        # uvicorn's annotation does not say that there is no cycle before the first request.
        waiting = self.cycle is None or self.cycle.response_complete  # pyright: ignore[reportUnnecessaryComparison]
        if not waiting:
            self._cancel_head_timer()
        elif self._head_timer is None:
            self._head_timer = self.loop.call_later(limits.HTTP_HEAD_SECONDS, self.transport.abort)

    def _cancel_head_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _cancel_write_timer(self) -> None:
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None

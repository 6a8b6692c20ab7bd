"""Edge: uvicorn's HTTP/1.1 connection, with an end to all waiting.

uvicorn bounds a request's head in bytes but not in time: a client that sends a head byte by byte
would hold its connection for good, and so would one that never reads its answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from uvicorn.protocols.http.h11_impl import H11Protocol

from skills_bundle import limits

if TYPE_CHECKING:
    import asyncio


class BoundedProtocol(H11Protocol):
    """One connection."""

    _deadline: asyncio.TimerHandle | None = None
    _patience: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the first head, so long and no longer."""
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        """Take bytes; the wait for a head begins with its first byte, or is over."""
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the waits."""
        self._unwatch()
        self._relax()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Begin to wait for a client that does not read what it asked for."""
        self._patience = self.loop.call_later(limits.HTTP_ANSWER_SECONDS, self.transport.abort)
        super().pause_writing()

    def resume_writing(self) -> None:
        """Go on with a client that reads again."""
        self._relax()
        super().resume_writing()

    def timeout_keep_alive_handler(self) -> None:
        """End an idle connection; one whose last answer nobody has read, at once."""
        if self.transport.get_write_buffer_size():
            self.transport.abort()
        else:
            super().timeout_keep_alive_handler()

    def _watch(self) -> None:
        # uvicorn's annotation does not say that there is no cycle before the first request.
        answering = self.cycle is not None and not self.cycle.response_complete  # pyright: ignore[reportUnnecessaryComparison]
        if answering:
            self._unwatch()
        elif self._deadline is None:
            self._deadline = self.loop.call_later(limits.HTTP_HEAD_SECONDS, self.transport.abort)

    def _relax(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

    def _unwatch(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

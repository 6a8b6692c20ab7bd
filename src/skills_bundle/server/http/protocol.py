"""Edge: uvicorn's HTTP/1.1 connection, with an end to all waiting.

uvicorn bounds a request's head in bytes but not in time: a client that sends a head byte by byte
would hold its connection for good, and so would one that never reads its answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from uvicorn.protocols.http.h11_impl import H11Protocol

from skills_bundle.server import limits

if TYPE_CHECKING:
    import asyncio


GONE: Final = "skills_bundle.gone"
"""Key of an ASGI scope that says that its client is gone, before all of an answer was sent."""


class BoundedProtocol(H11Protocol):
    """One connection."""

    _deadline: asyncio.TimerHandle | None = None
    _patience: asyncio.TimerHandle | None = None
    _no_more = False

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
        if self._answering():
            self.cycle.scope[GONE] = True  # type: ignore[typeddict-unknown-key]
        super().connection_lost(exc)

    def eof_received(self) -> bool:  # type: ignore[override]
        """Keep a connection whose client only has no more to ask, until it is answered."""
        self._no_more = True
        return self._answering() and not self.cycle.more_body

    def on_response_complete(self) -> None:
        """Go on with the next request; after the last one of a client, end."""
        super().on_response_complete()
        whole = self._answering() and not self.cycle.more_body
        if self._no_more and not whole:
            self.transport.close()

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
        if self._answering():
            self._unwatch()
        elif self._deadline is None:
            self._deadline = self.loop.call_later(limits.HTTP_HEAD_SECONDS, self.transport.abort)

    def _answering(self) -> bool:
        # uvicorn's annotation does not say that there is no cycle before the first request.
        return self.cycle is not None and not self.cycle.response_complete  # pyright: ignore[reportUnnecessaryComparison]

    def _relax(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

    def _unwatch(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

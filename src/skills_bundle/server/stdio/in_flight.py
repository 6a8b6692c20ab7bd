"""Decision: which requests are being answered on one connection, exactly.

An id may be used again by whoever has read its answer, and that can be known here before our own
writer learns that its write is over. So what decides is which came first: the bytes that use the id
again were read, or the answer began to be written. Nobody can have read an answer before that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio

from skills_bundle.server import limits

if TYPE_CHECKING:
    from skills_bundle.server.stdio.framing import RequestId


class InFlight:
    """Requests from the moment they are read until their answer is written, or known not to come.

    Args:
        limit: Most requests at once; further ones wait in the pipe, where they cost us nothing.
    """

    def __init__(self, limit: int = limits.MAX_IN_FLIGHT_REQUESTS) -> None:
        """Start with none."""
        self._limit = limit
        self._methods: dict[RequestId, str] = {}
        self._answer_began: dict[RequestId, int] = {}
        self._read_at = 0
        self._spent: set[RequestId] = set()
        self._changed = anyio.Event()
        self.settled = 0
        """Requests that are over, since the connection began."""

    def __len__(self) -> int:
        """Give the number of requests being answered."""
        return len(self._methods)

    def method(self, request_id: RequestId) -> str | None:
        """Give what a request asked for, or None if there is none with this id."""
        return self._methods.get(request_id)

    def begin_chunk(self, read_at: int) -> None:
        """Note when the bytes were read that the next requests come from.

        Args:
            read_at: On any clock that never runs backwards; `begin_answer` uses the same.
        """
        self._read_at = read_at
        self._spent.clear()

    def is_taken(self, request_id: RequestId | None) -> bool:
        """Tell whether bytes of this chunk use an id whose answer nobody can have read by then.

        `1` and `"1"` are two ids.
        """
        if request_id is None:
            return False
        if request_id in self._methods:
            began = self._answer_began.get(request_id)
            return began is None or began >= self._read_at
        return request_id in self._spent

    async def admit(self, request_id: RequestId, method: str) -> None:
        """Wait for room, then count this request; its id must not be taken."""
        while len(self._methods) >= self._limit or request_id in self._methods:
            await self._changed.wait()
        self._methods[request_id] = method

    def begin_answer(self, request_id: RequestId, at: int) -> None:
        """Note that the first byte of a request's answer is about to be written."""
        self._answer_began[request_id] = at

    def settle(self, request_id: RequestId) -> None:
        """Count this request as over; no harm if it already was."""
        if self._methods.pop(request_id, None) is None:
            return
        if self._answer_began.pop(request_id, -1) >= self._read_at:
            self._spent.add(request_id)
        self.settled += 1
        self._changed.set()
        self._changed = anyio.Event()

    async def empty(self) -> None:
        """Wait until every request is over."""
        while self._methods:
            await self._changed.wait()

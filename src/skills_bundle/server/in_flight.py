"""Decision: which requests are being answered on one connection, exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio

from skills_bundle import limits

if TYPE_CHECKING:
    from skills_bundle.server.framing import RequestId


class InFlight:
    """Requests from the moment they are read until their answer is written, or known not to come.

    Args:
        limit: Most requests at once; further ones wait in the pipe, where they cost us nothing.
    """

    def __init__(self, limit: int = limits.MAX_IN_FLIGHT_REQUESTS) -> None:
        """Start with none."""
        self._limit = limit
        self._methods: dict[RequestId, str] = {}
        self._changed = anyio.Event()
        self.settled = 0
        """Requests that are over, since the connection began."""

    def __contains__(self, request_id: RequestId | None) -> bool:
        """Tell whether a request with this id is being answered; `1` and `"1"` are two ids."""
        return request_id in self._methods

    def __len__(self) -> int:
        """Give the number of requests being answered."""
        return len(self._methods)

    def method(self, request_id: RequestId) -> str | None:
        """Give what a request asked for, or None if there is none with this id."""
        return self._methods.get(request_id)

    async def admit(self, request_id: RequestId, method: str) -> None:
        """Wait for room, then count this request; its id must not be in flight."""
        while len(self._methods) >= self._limit:
            await self._changed.wait()
        self._methods[request_id] = method

    def settle(self, request_id: RequestId) -> None:
        """Count this request as over; no harm if it already was."""
        if self._methods.pop(request_id, None) is None:
            return
        self.settled += 1
        self._changed.set()
        self._changed = anyio.Event()

    async def empty(self) -> None:
        """Wait until every request is over."""
        while self._methods:
            await self._changed.wait()

"""Edge: whether the catalog can be served, for probes: anybody may ask, at no cost for others.

A look at the catalog takes as long as its files are many. So it is taken in a thread, by one probe
for all that wait, and its answer is kept for a moment.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from skills_bundle.server import limits

if TYPE_CHECKING:
    from collections.abc import Callable


class Health:
    """The latest look.

    Args:
        healthy: Looks at the catalog.
    """

    def __init__(self, healthy: Callable[[], bool]) -> None:
        """Look at nothing yet."""
        self._healthy = healthy
        self._looking = anyio.Lock()
        self._answer = False
        self._until = 0.0

    async def current(self) -> bool:
        """Give an answer that is at most `limits.HTTP_HEALTH_SECONDS` old."""
        async with self._looking:
            if time.monotonic() >= self._until:
                self._answer = await anyio.to_thread.run_sync(self._healthy)
                self._until = time.monotonic() + limits.HTTP_HEALTH_SECONDS
            return self._answer

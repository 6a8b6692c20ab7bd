"""Decision: what every stream that we hand to the SDK does at the end of an `async with`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from types import TracebackType


class ClosingStream(ABC):
    """A stream that is closed where its `async with` ends; the SDK's own streams do the same."""

    @abstractmethod
    async def aclose(self) -> None:
        """Close the stream."""

    async def __aenter__(self) -> Self:
        """Give this stream."""
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        """Close it, however the block ended."""
        await self.aclose()

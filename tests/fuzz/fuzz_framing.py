"""Any bytes, cut anywhere, give the same messages, refusals or nothing, and nothing raises."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skills_bundle.server.stdio import framing
from tests.server.vectors import lines

if TYPE_CHECKING:
    from collections.abc import Iterator

LIMIT = 512


def check(data: bytes) -> None:
    """Feed the bytes whole and in two parts, and answer every line."""
    cut, stream = (data[0], data[1:]) if data else (0, b"")
    buffer = framing.LineBuffer(LIMIT)
    parts = [*buffer.feed(stream[:cut]), *buffer.feed(stream[cut:])]
    if parts != framing.LineBuffer(LIMIT).feed(stream):
        raise AssertionError("the cut made a difference")
    for line in parts:
        message = framing.parse(line)
        if isinstance(message, framing.Refusal):
            framing.encode(message.answer())
        elif isinstance(message, framing.Request) and not framing.valid_id(message.id):
            raise AssertionError("an id that we would not accept")


def seeds() -> Iterator[bytes]:
    """Return the lines of the table, each with a place to cut it."""
    return (b"\x10" + row.data + b"\n" for row in lines() if len(row.data) <= LIMIT)

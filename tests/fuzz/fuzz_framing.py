"""Any bytes, cut anywhere, give the same messages, refusals or nothing, and nothing raises.

Run by itself: `python tests/fuzz/fuzz_framing.py -max_total_time=60`.
"""

from __future__ import annotations

import sys
from typing import Any, cast

import atheris as _atheris

atheris = cast("Any", _atheris)  # carries no types

with atheris.instrument_imports():
    from skills_bundle.formats import strict_json as _  # noqa: F401 - instrumented with the framing
    from skills_bundle.server import framing

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


if __name__ == "__main__":
    atheris.Setup(sys.argv, check)
    atheris.Fuzz()

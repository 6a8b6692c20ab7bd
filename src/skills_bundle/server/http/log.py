"""Edge: what a server over HTTP tells the person who runs it, on standard error.

Nothing that a client chose is repeated: methods and paths that we do not know are `other`, and
queries, headers and bodies never appear. So no token and no forged line can get in.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import Final, TextIO, cast

from skills_bundle.server.http.rules import HEALTH_PATH, MCP_PATH

_METHODS: Final = frozenset({"DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"})
_PATHS: Final = frozenset({HEALTH_PATH, MCP_PATH})


def say(text: str) -> None:
    """Write one line, if there is a standard error that can be written to."""
    stream = cast("TextIO | None", sys.stderr)
    if stream is not None:
        with suppress(OSError, ValueError):
            # One write, so that the lines of several processes do not mix.
            stream.write(f"skills-bundle: {text}\n")
            stream.flush()


def access(method: str, path: str, status: int, milliseconds: float) -> None:
    """Write one line about one request."""
    known_method = method if method in _METHODS else "other"
    known_path = path if path in _PATHS else "other"
    say(f"{known_method} {known_path} {status} {milliseconds:.1f} ms")

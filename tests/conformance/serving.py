"""Edge: the installed server over HTTP, on a port of its own choice."""

from __future__ import annotations

import re
import subprocess
import threading
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator

    from tests.conformance.room import Room


@contextmanager
def served(room: Room) -> Generator[str]:
    """Return the URL of a running server.

    Raises:
        RuntimeError: If it does not say where it listens.
    """
    command = [str(room.server), "mcp", "serve", "--http", "127.0.0.1:0"]
    with subprocess.Popen(
        command,
        cwd=room.folder,
        env=room.environment(),
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    ) as process:
        try:
            assert process.stderr is not None
            url = _announced(process.stderr)
            threading.Thread(target=_keep, args=(process.stderr, room), daemon=True).start()
            yield url
        finally:
            process.terminate()
            process.wait(30)


def _announced(stream: IO[str]) -> str:
    said = ""
    for line in stream:
        said += line
        found = re.search(r"http://\S+/mcp\b", line)
        if found:
            return found.group()
    raise RuntimeError(f"The server did not say where it listens: {said}")


def _keep(stream: IO[str], room: Room) -> None:
    """Write the server's log to a file; a full pipe would stop it."""
    with (room.folder / "http.log").open("w", encoding="utf-8") as file:
        file.writelines(stream)

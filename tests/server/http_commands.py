"""Starts HTTP servers as processes and knows where they listen."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from tests.server.commands import ENVIRONMENT

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

ODD_HTTP = [sys.executable, "-P", str(Path(__file__).parent / "odd_http_server.py")]
"""The server whose tools misbehave."""

COMMAND = [sys.executable, "-P", "-m", "skills_bundle", "mcp", "serve"]
"""The program of this checkout."""


class HttpProcess:
    """A server that listens.

    Attributes:
        process: It.
        host: Where it listens.
        port: Likewise.
    """

    def __init__(self, process: subprocess.Popen[str]) -> None:
        """Read what it says until it says where it listens, and go on reading."""
        self.process = process
        self._lines: list[str] = []
        assert process.stderr
        for text in process.stderr:
            self._lines.append(text)
            found = re.search(r"on http://(\S+):(\d+)/mcp ", text)
            if found:
                self.host, self.port = found[1], int(found[2])
                break
        else:
            raise AssertionError("".join(self._lines))
        self._reader = threading.Thread(target=self._lines.extend, args=[process.stderr])
        self._reader.start()

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Signal it and give its exit code."""
        self.process.send_signal(number)
        return self.process.wait(30)

    def said(self) -> str:
        """Return all of its standard error; it must have ended."""
        self._reader.join(30)
        return "".join(self._lines)


@contextlib.contextmanager
def listening(
    command: Sequence[str], environment: dict[str, str] | None = None
) -> Generator[HttpProcess]:
    """Start a server; at the end, kill its process group."""
    process = subprocess.Popen(
        command,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env={**ENVIRONMENT, **(environment or {})},
        start_new_session=True,
    )
    try:
        yield HttpProcess(process)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if process.stderr:
            process.stderr.close()

"""Edge: the file in which `mcp serve --trace` writes both directions of a conversation down.

Whatever happens to the file, the conversation goes on.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from skills_bundle.errors import MalformedJsonError, SkillsBundleError
from skills_bundle.server.trace.steps import Recorder, UntraceableError, noted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from skills_bundle.server.stdio.framing import Line, TooLong

PROCESS_ID: Final = "{pid}"
"""Stands for the number of our process in a file's name: a host starts us more than once."""

_OWNER_ONLY: Final = 0o600


class TraceError(SkillsBundleError):
    """The file for a trace cannot be made, or exists."""

    exit_code = 2


class Trace:
    """One connection's file.

    Args:
        path: Of a file that does not exist yet.
        tell: Tells a person one line.

    Raises:
        TraceError: If the file cannot be made. An existing one is neither overwritten, since it may
            be something else, nor continued, since two conversations in one cannot be replayed.
    """

    def __init__(self, path: str, tell: Callable[[str], None]) -> None:
        """Make the file, for its owner only."""
        name = path.replace(PROCESS_ID, str(os.getpid()))
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        try:
            self._fd: int | None = os.open(name, flags, _OWNER_ONLY)
        except FileExistsError:
            raise TraceError(
                f"{name} exists; a trace has a file of its own, and {PROCESS_ID} in its name makes "
                "it one for each start."
            ) from None
        except (OSError, ValueError) as error:
            cause = error.strerror if isinstance(error, OSError) else "not a path"
            raise TraceError(f"{name} cannot be made: {cause}.") from None
        self._tell = tell
        self._recorder = Recorder()
        self._size = 0

    def begin(self, told: Iterable[str]) -> None:
        """Write down what is served, before the first line.

        Args:
            told: The lines that somebody who starts the server is told.
        """
        for text in told:
            if self._fd is not None:
                self._write(self._fd, noted(text))

    def sent(self, line: Line | TooLong) -> None:
        """Write down a line of the client's."""
        if self._fd is None:
            return
        try:
            step = self._recorder.sent(line)
        except UntraceableError as error:
            self._give_up(str(error))
        else:
            self._write(self._fd, step)

    def received(self, line: bytes) -> None:
        """Write down a line that the client will receive."""
        if self._fd is None:
            return
        try:
            step = self._recorder.received(line)
        except MalformedJsonError:  # a fault of ours, but not one to end a conversation for
            self._give_up("an answer cannot be read again")
        except UntraceableError as error:
            self._give_up(str(error))
        else:
            self._write(self._fd, step)

    def _write(self, fd: int, step: bytes) -> None:
        view = memoryview(step)
        try:
            while view:
                view = view[os.write(fd, view) :]
        except OSError as error:
            with suppress(OSError):  # half a step would spoil the steps before it
                os.ftruncate(fd, self._size)
            self._give_up(error.strerror or type(error).__name__)
        self._size += len(step)

    def _give_up(self, cause: str) -> None:
        fd, self._fd = self._fd, None
        if fd is not None:
            with suppress(OSError):  # a network file system may refuse the last bytes only now
                os.close(fd)
        self._tell(f"the trace ends here, serving goes on: {cause}.")

"""Edge: standard input and output, taken for the protocol so that nothing else can use them.

Imports only the standard library, so that `claim` can run before the SDK is imported: from the
first byte on, standard output holds only protocol messages.
"""

from __future__ import annotations

import asyncio
import io
import os
import queue
import select
import selectors
import stat
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from skills_bundle.errors import SkillsBundleError

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

_STANDARD_INPUT: Final = 0
_STANDARD_OUTPUT: Final = 1
_STANDARD_ERROR: Final = 2


class NoWireError(SkillsBundleError):
    """Standard input or output is closed, so there is no client."""

    exit_code = 2


@dataclass(frozen=True, slots=True)
class Wire:
    """Two descriptors for the transport alone: not inherited by children, never 0, 1 or 2."""

    read_fd: int
    write_fd: int


def claim() -> Wire:
    """Move descriptors 0 and 1 to the wire, permanently.

    Afterwards prints, C libraries and child processes write to standard error (or to the null
    device if that is closed) and read end of input. This is never undone: what prints at exit must
    not reach the client either.

    Raises:
        NoWireError: If standard input or output is closed.
    """
    # Python leaves these None when a descriptor was closed at start; the types do not say so.
    stdin, stdout, stderr = cast("tuple[Any, Any, Any]", (sys.stdin, sys.stdout, sys.stderr))
    if stdin is None or stdout is None:
        raise NoWireError("mcp serve uses standard input and output, and one of them is closed.")
    diversion = _STANDARD_ERROR if stderr is not None else _open_null(os.O_WRONLY)
    wire = Wire(_duplicate(_STANDARD_INPUT), _duplicate(_STANDARD_OUTPUT))
    # Not flushed first: text that was printed earlier goes to stderr with the next flush.
    os.dup2(_open_null(os.O_RDONLY), _STANDARD_INPUT)
    os.dup2(diversion, _STANDARD_OUTPUT)
    if isinstance(stdout, io.TextIOWrapper):
        _loosen(cast("io.TextIOWrapper[Any]", stdout))
    return wire


def _loosen(stdout: io.TextIOWrapper[Any]) -> None:
    """Keep a stray print from raising under an ASCII locale, which would fail the tool call."""
    try:
        stdout.reconfigure(errors="backslashreplace", line_buffering=True)
    except OSError:
        # It was opened on a file and knows its position; the new descriptor has no position.
        descriptor = io.FileIO(_STANDARD_OUTPUT, "w", closefd=False)
        sys.stdout = io.TextIOWrapper(
            io.BufferedWriter(descriptor),
            encoding=stdout.encoding,
            errors="backslashreplace",
            line_buffering=True,
        )


def _open_null(flags: int) -> int:
    """Open the null device; if standard error was closed, this may take descriptor 2."""
    return os.open(os.devnull, flags)


def _duplicate(fd: int) -> int:
    """Duplicate to a descriptor above 2, in binary mode; children do not inherit it."""
    copy = os.dup(fd)
    low: list[int] = []
    while copy <= _STANDARD_ERROR:  # with stderr closed, the lowest free descriptor is 2
        low.append(copy)
        copy = os.dup(fd)
    for number in low:
        os.close(number)
    if sys.platform == "win32":
        import msvcrt  # noqa: PLC0415 - exists on Windows only

        msvcrt.setmode(copy, os.O_BINARY)
    return copy


def read_some(fd: int, size: int) -> bytes:
    """Read what there is, blocking until there is something; b"" at the end.

    Raises:
        OSError: If the descriptor cannot be read.
    """
    while True:
        try:
            return os.read(fd, size)
        except BlockingIOError:
            _wait(fd, selectors.EVENT_READ)


def write_all(fd: int, data: bytes) -> None:
    """Write every byte, blocking.

    Raises:
        OSError: If the client cannot read any more.
    """
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(fd, view) :]
        except BlockingIOError:
            _wait(fd, selectors.EVENT_WRITE)


def has_ended(fd: int) -> bool:
    """Return whether no more input will come, although some may still be unread.

    A file is never extended by a client that waits for answers. Where the system cannot tell, for
    example on Windows, the answer is no.
    """
    if stat.S_ISREG(os.fstat(fd).st_mode):
        return True
    if not hasattr(select, "poll"):
        return False
    poll = select.poll()
    poll.register(fd, getattr(select, "POLLRDHUP", 0))  # a hang-up is always reported
    return bool(poll.poll(0))


def _wait(fd: int, event: int) -> None:
    """Wait for a descriptor that is non-blocking.

    The flag belongs to the open file, which the host may share, so it is neither set nor cleared.
    """
    with selectors.DefaultSelector() as selector:
        selector.register(fd, event)
        selector.select()


class Worker:
    """A thread that runs blocking calls, one at a time, and can be abandoned in one of them.

    Not anyio's worker threads: they are joined at exit, and a read that never returns would block
    the exit. Not a non-blocking descriptor: the flag belongs to the open file and would change it
    for the program at the other end, and on a terminal even for the shell.
    """

    def __init__(self, name: str) -> None:
        """Start the thread."""
        self._calls: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        threading.Thread(target=self._work, name=name, daemon=True).start()

    def _work(self) -> None:
        while (call := self._calls.get()) is not None:
            call()

    def close(self) -> None:
        """Let the thread end after its current call."""
        self._calls.put(None)

    async def run(self, function: Callable[..., T], *arguments: object) -> T:
        """Run a blocking call in the thread; if cancelled, abandon it.

        Raises:
            Exception: From the call.
        """
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()

        def call() -> None:
            try:
                result = function(*arguments)
            except BaseException as error:  # noqa: BLE001 - raised again where it is awaited
                settle: Callable[[], None] = lambda error=error: _settle(future, error=error)  # noqa: E731
            else:
                settle = lambda: _settle(future, result=result)  # noqa: E731
            with suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(settle)

        self._calls.put(call)
        return await future


def _settle(
    future: asyncio.Future[T], *, result: T | None = None, error: BaseException | None = None
) -> None:
    if future.done():  # cancelled meanwhile
        return
    if error is None:
        future.set_result(cast("T", result))
    else:
        future.set_exception(error)

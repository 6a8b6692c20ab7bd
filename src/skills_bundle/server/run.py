"""Edge: `mcp serve`: from a process to a served connection to an exit code.

The SDK takes half a second to import, so this module imports it only after standard output is ours
and the installation is known to be one.
"""

from __future__ import annotations

import gc
import logging
import os
import signal
import sys
import threading
import time
import traceback
import warnings
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Final, TextIO, cast

from skills_bundle import __version__
from skills_bundle.catalog import Catalogs
from skills_bundle.errors import SkillsBundleError
from skills_bundle.installed import location as installed
from skills_bundle.server import ahead, limits
from skills_bundle.server.stdio import wire as wires

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable
    from types import FrameType

    from skills_bundle.catalog import Source
    from skills_bundle.catalog.shelves import Shelved
    from skills_bundle.server.stdio.transport import Ending
    from skills_bundle.server.tools.base import Toolbox
    from skills_bundle.server.trace import Trace

TOOLSETS: Final = ("catalog",)
"""Names of the tool groups; `all` means each of them."""

DEFAULT_TOOLSETS: Final = ("catalog",)

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


class UnknownToolsetError(SkillsBundleError):
    """A tool group that does not exist."""

    exit_code = 2


def parse_toolsets(text: str) -> tuple[str, ...]:
    """Read `NAME[,NAME...]` or `all`; order and repetition do not matter.

    Raises:
        UnknownToolsetError: Naming every unknown name and all known ones.
    """
    names = {name.strip() for name in text.split(",")} - {""}
    unknown = sorted(names - {*TOOLSETS, "all"})
    if unknown or not names:
        given = ", ".join(unknown) or "an empty list"
        raise UnknownToolsetError(f"Unknown toolset: {given}. Known: {', '.join(TOOLSETS)}, all.")
    return tuple(name for name in TOOLSETS if name in names or "all" in names)


def serve_stdio(
    open_catalog: Callable[[], Source],
    toolsets: tuple[str, ...] = DEFAULT_TOOLSETS,
    identify: Callable[[], object] = installed.locate,
    trace_file: str | None = None,
    check_command: str = "skills-bundle mcp check",
) -> int:
    """Serve one client on standard input and output, until it leaves.

    Takes the standard descriptors for good: call it last in a process.

    Args:
        open_catalog: Gives the catalog. One that cannot be served right now does not stop the
            server: its tools say so at each call, and a client can be told.
        toolsets: Names from `TOOLSETS`.
        identify: Finds out what we are; what it raises stops the server before it starts, since
            no answer could say where it comes from.
        trace_file: Path of a file to be made, in which both directions are written down.
        check_command: What to run, as told to somebody who waits at a terminal.

    Returns:
        The exit code: 0 when the input ended, the client left or a signal asked us to stop; 1 when
        too many lines were garbage, answers were left unread, or the server itself failed; the
        error's own for a bad installation; 2 if standard input or output is closed, or the trace's
        file cannot be made.
    """
    # Somebody's PYTHONWARNINGS=error must not turn a library's deprecation into a failed call.
    warnings.simplefilter("ignore")
    for number in _SIGNALS:  # until there is a loop to stop, nothing has begun that needs an end
        signal.signal(number, _leave_at_once)
    try:
        stdin = cast("TextIO | None", sys.stdin)
        waits_at_terminal = stdin is not None and stdin.isatty()
        wire = wires.claim()
        identify()
        catalog = open_catalog()
        trace = None if trace_file is None else _open_trace(trace_file)
    except SkillsBundleError as error:
        say(error.summary)
        return error.exit_code
    told = _told(catalog, trace)
    _tell_what_is_ahead(told, check_command if waits_at_terminal else None)

    def make_toolbox() -> Toolbox:
        from skills_bundle.server.tools import toolsets as groups  # noqa: PLC0415 - see serve_tools

        return groups.toolbox(toolsets, catalog)

    return serve_tools(wire, make_toolbox, catalog.shelf, trace)


def _tell_what_is_ahead(told: Iterable[str], check_command: str | None) -> None:
    """Say what is served if that is not plain, and to somebody at a terminal what is waited for."""
    for text in told:
        say(text)
    if check_command is not None:
        say(
            "waiting for an MCP client: JSON-RPC on standard input, one message a line "
            f"(Ctrl-D ends). To see that the server works, run `{check_command}`."
        )


def _told(catalog: Source, trace: Trace | None) -> list[str]:
    """Give the lines about what is served; of several, a trace begins with them."""
    told = ahead.told(catalog)
    if trace is not None and isinstance(catalog, Catalogs):  # of one, every answer says it
        trace.begin(told)
    return told


def _open_trace(path: str) -> Trace:
    from skills_bundle.server.trace import Trace  # noqa: PLC0415 - hardly anybody asks for one

    return Trace(path, say)


def _leave_at_once(_number: int, _frame: FrameType | None) -> None:
    os._exit(0)


def serve_tools(
    wire: wires.Wire,
    make_toolbox: Callable[[], Toolbox],
    shelf: Shelved | None = None,
    trace: Trace | None = None,
) -> int:
    """Serve one client over a wire.

    Args:
        wire: Descriptors that are ours alone.
        make_toolbox: Imports and builds the tools; called once, before the first message is read.
        shelf: What is offered as MCP resources and skills, if anything.
        trace: Where every line is written down, if anywhere.

    Returns:
        The exit code, as `serve_stdio` says.
    """
    with _collector_paused():
        import anyio  # noqa: PLC0415 - half a second, and only once the wire is ours

        from skills_bundle.server import eras, session  # noqa: PLC0415 - likewise
        from skills_bundle.server.stdio import transport as strict_stdio  # noqa: PLC0415 - likewise

        server = session.build(make_toolbox(), version=__version__, shelf=shelf)
    # The SDK warns of what a client sent; a client that does not read standard error could fill
    # that pipe so, and stop us for good. Faults are errors and still told.
    logging.getLogger("mcp").setLevel(logging.ERROR)

    async def converse() -> Ending:
        stop = anyio.Event()
        _stop_on_signal(stop.set)
        return await strict_stdio.StrictStdio(wire, stop, trace).serve(partial(eras.serve, server))

    try:
        ending = anyio.run(converse, backend="asyncio")
    except Exception:  # noqa: BLE001 - the last net: a trace on stderr and an exit code
        traceback.print_exc(file=_stderr())
        return 1
    if ending.exit_code:
        say(f"connection closed: {ending.reason}.")
    return ending.exit_code


@contextmanager
def _collector_paused() -> Generator[None]:
    """Spare the collector the walk over half a million fresh objects that imports make."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def _stop_on_signal(stop: Callable[[], None]) -> None:
    """Make the first signal end us cleanly and the next one kill us.

    A tool that waits for something keeps the loop from ever hearing of the signal; so a thread of
    its own sees to it that the process ends.
    """
    import asyncio  # noqa: PLC0415 - see serve_tools

    loop = asyncio.get_running_loop()
    asked = threading.Lock()
    asked.acquire()
    threading.Thread(target=_end_after, args=(asked,), daemon=True).start()

    def handle(*_: object) -> None:
        # The thread waits already: starting one here might need a lock that was interrupted.
        with suppress(RuntimeError):  # of two signals at once, one has released it
            asked.release()
        for number in _SIGNALS:
            signal.signal(number, signal.SIG_DFL)
        with suppress(RuntimeError):  # the loop has ended by itself meanwhile
            loop.call_soon_threadsafe(stop)  # also wakes a loop that waits for input

    for number in _SIGNALS:
        signal.signal(number, handle)


def _end_after(asked: threading.Lock) -> None:
    """End the process a while after the lock was released, whatever it is in."""
    with asked:
        time.sleep(limits.STOP_FORCED_SECONDS)
        os._exit(0)


def _stderr() -> TextIO | None:
    return cast("TextIO | None", sys.stderr)


def say(text: str) -> None:
    """Write one line to standard error, if there is one that can be written to."""
    stream = _stderr()
    if stream is not None:
        with suppress(OSError):
            print(f"skills-bundle: {text}", file=stream, flush=True)

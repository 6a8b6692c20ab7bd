"""Edge: `mcp serve` over stdio: from a process to a served connection to an exit code.

The SDK takes half a second to import, so this module imports it only after standard output is
claimed and the installation is identified.
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
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final, TextIO, cast

from skills_bundle import __version__
from skills_bundle.errors import BundleUnavailableError, SkillsBundleError
from skills_bundle.installed import location as installed
from skills_bundle.server import limits
from skills_bundle.server.stdio import wire as wires
from skills_bundle.server.tools import DEFAULT_TOOLSETS, ToolContext, toolbox

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from types import FrameType

    from skills_bundle.catalog.service import Catalog
    from skills_bundle.catalog.sources import Source
    from skills_bundle.server.stdio.transport import Ending
    from skills_bundle.server.tools.base import Toolbox
    from skills_bundle.server.trace import Trace

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeOptions:
    """What a server reports about itself.

    Attributes:
        name: The name in `serverInfo`: ours, or that of the collection whose own command runs.
        version: The version in `serverInfo`; a collection's has ours beside it.
        quiet: Whether nothing is printed at start about collections without a problem.
        check_command: The command suggested to a person who waits at a terminal.
    """

    name: str = "skills-bundle"
    version: str = __version__
    quiet: bool = False
    check_command: str = "skills-bundle mcp check"


_DEFAULT: Final = ServeOptions()


def serve_stdio(
    open_catalog: Callable[[], Catalog],
    toolsets: tuple[str, ...] = DEFAULT_TOOLSETS,
    identify: Callable[[], object] = installed.locate,
    trace_file: str | None = None,
    options: ServeOptions = _DEFAULT,
) -> int:
    """Serve one client on standard input and output until it leaves.

    Takes over the standard descriptors for good: call it last in a process.

    Args:
        open_catalog: Returns the catalog; if it cannot be served now, the tools answer so.
        toolsets: Names from `tools.TOOLSETS`.
        identify: Finds the installation; an error stops the server before it starts.
        trace_file: Path of a file to create, to which both directions are written.
        options: What the server reports about itself.

    Returns:
        The exit code: 0 when the input ended, the client left or a signal asked us to stop; 1 when
        too many lines were garbage, answers were left unread, or the server itself failed; the
        error's own for a bad installation; 2 if standard input or output is closed, or the trace
        file cannot be created.
    """
    # PYTHONWARNINGS=error must not turn a library's deprecation into a failed call.
    warnings.simplefilter("ignore")
    for number in _SIGNALS:  # until there is a loop to stop, there is nothing to clean up
        signal.signal(number, _leave_at_once)
    try:
        stdin = cast("TextIO | None", sys.stdin)
        at_terminal = stdin is not None and stdin.isatty()
        wire = wires.claim()
        identify()
        catalog = open_catalog()
        trace = None if trace_file is None else _open_trace(trace_file)
    except SkillsBundleError as error:
        say(error.summary)
        return error.exit_code
    lines = startup_lines(catalog, quiet=options.quiet)
    if trace is not None and catalog.several:  # with one collection, every answer has the facts
        trace.begin(lines)
    for line in lines:
        say(line)
    if at_terminal:
        say(
            "waiting for an MCP client: JSON-RPC on standard input, one message a line "
            f"(Ctrl-D ends). To check that the server works, run `{options.check_command}`."
        )
    context = ToolContext(catalog=catalog)
    return serve_tools(wire, lambda: toolbox(toolsets, context), catalog, trace, options)


def startup_lines(catalog: Catalog, *, quiet: bool = False) -> list[str]:
    """Check everything that will be served and return the lines to print at the start.

    For one collection there are none, unless all or some of it cannot be served. For several there
    is one line each, because a person did not name them; with `quiet` only for those of which not
    all can be served.
    """
    problem = None if catalog.several else catalog.problem()
    if problem is not None:
        return [f"nothing can be served, and every call will say so: {problem.summary}"]
    lines = [_startup_line(source) for source in catalog.sources]
    every = catalog.several and not quiet
    return [line for line, is_complete in lines if every or not is_complete]


def _startup_line(source: Source) -> tuple[str, bool]:
    """Return a source's line, and whether all of it can be served."""
    try:
        view = source.view()
    except BundleUnavailableError as error:
        text = f"collection {source.name} cannot be served, and answers will say so: "
        return _printable(text + error.summary), False
    block, number = view.provenance, len(view.lock.skills)
    gaps = f" ({', '.join(block.gaps)})" if block.gaps else ""
    text = (
        f"collection {source.name}: {block.package_name} {block.package_version}, "
        f"{number} skill{'' if number == 1 else 's'}, "
        f"integrity {block.source_provenance.integrity}{gaps}"
    )
    return _printable(text), not view.altered


def _printable(text: str) -> str:
    """Return text without anything that could end the line or drive a terminal."""
    return text if text.isprintable() else ascii(text)[1:-1]


def _open_trace(path: str) -> Trace:
    from skills_bundle.server.trace import Trace  # noqa: PLC0415 - rarely needed

    return Trace(path, say)


def _leave_at_once(_number: int, _frame: FrameType | None) -> None:
    os._exit(0)


def serve_tools(
    wire: wires.Wire,
    make_toolbox: Callable[[], Toolbox],
    catalog: Catalog | None = None,
    trace: Trace | None = None,
    options: ServeOptions = _DEFAULT,
) -> int:
    """Serve one client over a wire.

    Args:
        wire: The claimed descriptors.
        make_toolbox: Imports and builds the tools; called once, before the first message is read.
        catalog: Answers MCP resources and the skills extension, if they are offered.
        trace: Records every line, if given.
        options: What the server reports about itself.

    Returns:
        The exit code, as `serve_stdio` says.
    """
    with _collector_paused():
        import anyio  # noqa: PLC0415 - half a second, and only once the wire is ours

        from skills_bundle.server import session  # noqa: PLC0415 - likewise
        from skills_bundle.server.stdio import transport as strict_stdio  # noqa: PLC0415 - likewise

        server = session.build(
            make_toolbox(), version=options.version, name=options.name, catalog=catalog
        )
    # The SDK logs warnings about a client's messages. A client that never reads standard error
    # could fill that pipe with them and block us. Our own faults are errors and are still logged.
    logging.getLogger("mcp").setLevel(logging.ERROR)

    async def converse() -> Ending:
        stop = anyio.Event()
        _stop_on_signal(stop.set)
        transport = strict_stdio.StrictStdio(wire, stop, trace)
        return await transport.serve(partial(session.serve, server))

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
    """End the process a while after the lock was released, even in a blocking call."""
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

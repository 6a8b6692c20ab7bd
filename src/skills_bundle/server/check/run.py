"""Edge: `mcp check`: an MCP client that starts a server as a host would, and reports each step."""

from __future__ import annotations

import logging
import os
import shutil
import signal
import sys
import tempfile
import time
import zipfile
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, TypeAlias, cast

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client.client import Client
from mcp.client.stdio import get_default_environment
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from skills_bundle.files.paths import shown
from skills_bundle.server import limits
from skills_bundle.server.check import steps
from skills_bundle.server.check.report import CheckReport, Step, StepError, Verdict
from skills_bundle.server.check.steps import count, read_lock
from skills_bundle.server.stdio.framing import Line, LineBuffer, TooLong

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Mapping, Sequence
    from contextlib import AbstractAsyncContextManager

    from anyio.abc import ByteReceiveStream, ByteSendStream, Process

    from skills_bundle.server.check.steps import ExpectedLocks, ServedCollection

CANNOT_RESTART: Final = (
    "This program cannot start itself again, because another Python does not find its packages; "
    "name the command that starts it with --command."
)

EXPECTED_TOOLS: Final = (
    "skill_catalog_search",
    "skill_resource_read",
    "skill_catalog_overview",
)

_MODULE: Final = (sys.executable, "-P", "-m", "skills_bundle")
"""Starts an installed package; `-P` ignores the working folder."""

_Incoming: TypeAlias = SessionMessage | Exception
_Streams: TypeAlias = tuple[
    MemoryObjectReceiveStream[_Incoming], MemoryObjectSendStream[SessionMessage]
]


class BadOutputError(Exception):
    """The server wrote something to standard output that is not JSON-RPC.

    Attributes:
        line: The start of the line, if it is text.
    """

    def __init__(self, message: str, line: str = "") -> None:
        """Store the message and the line."""
        super().__init__(message)
        self.line = line


def default_command(collections: Sequence[str] = ()) -> list[str]:
    """Return the command that serves this installation.

    Args:
        collections: The installed collections to serve; by default all of them.
    """
    options = [word for name in collections for word in ("--collection", name)]
    return [*(packed_program() or _MODULE), "mcp", "serve", *options]


def packed_program() -> list[str] | None:
    """Return the command that starts this program again if it carries its packages with it.

    What a frozen program (PyInstaller) or an archive (zipapp, shiv, PEX) carries is found by no
    other Python. None for a program that is installed.
    """
    if getattr(sys, "frozen", False):
        return [sys.executable]
    script = os.path.abspath(sys.argv[0])  # noqa: PTH100 - resolving links could change its name
    is_folder = (Path(script) / "__main__.py").is_file()
    return [sys.executable, script] if is_folder or zipfile.is_zipfile(script) else None


def run_check(
    command: Sequence[str] | None = None,
    progress: Callable[[Step], None] = lambda _: None,
    *,
    lock: ExpectedLocks | None = None,
    environment: Mapping[str, str] | None = None,
    collections: Sequence[str] = (),
) -> CheckReport:
    """Start a server, use it as a host would, and report.

    Args:
        command: The program and its arguments; by default the server of this installation, started
            in an empty folder.
        progress: Called with each finished step.
        lock: What to compare the server with; by default the lock of this installation, and then a
            server of another catalog is not wrong.
        environment: Variables for the server besides the few that hosts pass on.
        collections: What the server of this installation serves, if no command is given; by default
            every installed collection.

    Returns:
        The report, which includes every error. Each step ends within `limits.CHECK_STEP_SECONDS`.
    """
    started = list(command) if command else default_command(collections)
    variables = {**get_default_environment(), **(environment or {})}
    with _quiet_sdk(), tempfile.TemporaryFile() as stderr, tempfile.TemporaryDirectory() as empty:
        check = _Check(started[0], progress, lock)
        streams = server_process(started, variables, None if command else empty, stderr)
        anyio.run(check.run, streams, backend="asyncio")
        tail = _tail(stderr)
        if not command and "No module named skills_bundle" in tail:
            check.cannot_restart()
        went_well = all(step.verdict == "ok" for step in check.steps)
        named = [each for each in check.served if each.name is not None]
        return CheckReport(
            command=tuple(started),
            steps=tuple(check.steps),
            provenance=next((one.provenance for one in check.served if one.name is None), None),
            collections=tuple(
                {"collection": each.name, "provenance": each.provenance} for each in named
            )
            or None,
            stderr_tail="" if went_well else tail,
            stdout_line="" if check.bad_output is None else check.bad_output.line,
            environment=tuple(sorted(variables)),
        )


@contextmanager
def _quiet_sdk() -> Generator[None]:
    """Silence the SDK's log about a broken server: the report says the same."""
    logger = logging.getLogger("mcp")
    before = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        logger.setLevel(before)


def _tail(stderr: IO[bytes]) -> str:
    """Read the end only: a server can write more than fits in memory."""
    size = stderr.seek(0, os.SEEK_END)
    stderr.seek(max(0, size - limits.CHECK_STDERR_TAIL_BYTES))
    return stderr.read(limits.CHECK_STDERR_TAIL_BYTES).decode(errors="replace").strip()


class _Check:
    """One check: the steps so far, and what later steps need of earlier ones."""

    def __init__(
        self, program: str, progress: Callable[[Step], None], lock: ExpectedLocks | None
    ) -> None:
        self.steps: list[Step] = []
        self.served: list[ServedCollection] = []
        self.bad_output: BadOutputError | None = None
        self._program = program
        self._progress = progress
        self._lock = lock
        self._name, self._began = "", 0.0

    async def run(self, streams: AbstractAsyncContextManager[_Streams]) -> None:
        """Run the steps until one fails.

        Args:
            streams: The transport to the server.
        """
        self._scope = anyio.CancelScope()
        with self._scope:
            try:
                await self._converse(streams)
            except Exception as error:  # noqa: BLE001 - a server may fail in any way; each is reported
                self._end(*_describe(self.bad_output or error, self._program))
        if self._scope.cancelled_caught and self._name:
            late = f"No answer within {limits.CHECK_STEP_SECONDS:g} seconds."
            self._end("wrong", late if self.bad_output is None else str(self.bad_output))

    def cannot_restart(self) -> None:
        """Replace the failed start by the reason that it shows nothing about the server."""
        self.steps = [replace(self.steps[-1], verdict="cannot_tell", detail=CANNOT_RESTART)]

    async def _converse(self, streams: AbstractAsyncContextManager[_Streams]) -> None:
        self._begin("start")
        async with Client(streams, message_handler=self._on_message, cache=None) as client:
            server = client.server_info
            name = f"{server.name} {server.version}" if server else "a server without a name"
            self._end("ok", f"{name}, protocol {client.protocol_version}")
            await self._step("tools", _list_tools(client))
            await self._step("search", self._search(client))
            await self._step("read", self._with_each(steps.read, client))
            self._begin("lock")
            locks = self._lock or await anyio.to_thread.run_sync(read_lock)
            self._end(*steps.compare_all(self.served, locks))
            await self._step("skills", self._with_each(steps.load_as_host, client))
            await self._step("overview", _overview(client))
            self._scope.deadline = float("inf")  # the end of the connection has time limits anyway

    async def _on_message(self, message: object) -> None:
        """End the check at a line that is not JSON-RPC."""
        if isinstance(message, BadOutputError):
            self.bad_output = message
            self._scope.cancel()

    async def _step(self, name: str, work: Awaitable[str]) -> None:
        self._begin(name)
        self._end("ok", await work)

    def _begin(self, name: str) -> None:
        self._name, self._began = name, time.perf_counter()
        self._scope.deadline = anyio.current_time() + limits.CHECK_STEP_SECONDS

    def _end(self, verdict: Verdict, detail: str) -> None:
        if not self._name:
            return
        if len(detail) > limits.CHECK_DETAIL_MAX_CHARACTERS:  # a server's words may be in it
            detail = detail[: limits.CHECK_DETAIL_MAX_CHARACTERS - 1] + "…"
        elapsed = round((time.perf_counter() - self._began) * 1000, 1)
        step = Step(name=self._name, verdict=verdict, detail=shown(detail), milliseconds=elapsed)
        self._name = ""
        self.steps.append(step)
        self._progress(step)

    async def _search(self, client: Client) -> str:
        self.served = await steps.search(client)
        steps.check_intact(self.served)
        return "; ".join(map(steps.describe, self.served))

    async def _with_each(
        self, act: Callable[[Client, ServedCollection], Awaitable[str]], client: Client
    ) -> str:
        """Run a step for each collection that has a skill."""
        return "; ".join([await act(client, each) for each in self.served if each.skill])


async def _list_tools(client: Client) -> str:
    names = [tool.name for tool in (await client.list_tools()).tools]
    missing = [name for name in EXPECTED_TOOLS if name not in names]
    if missing:
        raise StepError("wrong", f"Not offered: {', '.join(missing)}.")
    return ", ".join(names)


async def _overview(client: Client) -> str:
    answer = await steps.call_tool(client, "skill_catalog_overview", {})
    return count(len(cast("str", answer["overview"])), "character")


def _describe(error: BaseException, program: str) -> tuple[Verdict, str]:
    """Return the verdict and detail for the error that ended a check, or for the first of a group.

    Args:
        error: The error.
        program: The program that was started; the system's messages do not name it.
    """
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    if isinstance(error, StepError):
        return error.verdict, error.detail
    return "wrong", _detail(error, program)


def _detail(error: BaseException, program: str) -> str:
    match error:
        case BadOutputError():
            return str(error)
        case OSError():
            return f"{program} cannot be started: {error.strerror or error}."
        case MCPError() if "closed" in error.message.lower():
            return "The server ended before it answered."
        case MCPError():
            return f"The server answers error {error.code}: {error.message}"
        case _:
            return f"The answer is not valid ({type(error).__name__})."


@asynccontextmanager
async def server_process(
    command: Sequence[str], environment: Mapping[str, str], folder: str | None, stderr: IO[bytes]
) -> AsyncGenerator[_Streams]:
    """Start a server and connect to its standard input and output; stop it at the end.

    Not the SDK's stdio client, which buffers a line until it is complete, however long it is. Here
    a line beyond `limits.CHECK_LINE_MAX_BYTES` is a `BadOutputError`, and its bytes are dropped.

    Args:
        command: The program and its arguments.
        environment: All variables of the server.
        folder: Its working directory; None for ours.
        stderr: Receives its standard error.

    Raises:
        OSError: If the program cannot be started.
    """
    program = shutil.which(command[0]) or command[0]  # Windows starts `npx` only as npx.cmd
    process = await anyio.open_process(
        [program, *command[1:]],
        env=environment,
        cwd=folder,
        stderr=stderr,
        start_new_session=True,
    )
    to_client, incoming = anyio.create_memory_object_stream[_Incoming](0)
    outgoing, from_client = anyio.create_memory_object_stream[SessionMessage](0)
    stdin, stdout = cast("ByteSendStream", process.stdin), cast("ByteReceiveStream", process.stdout)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_receive, stdout, to_client)
        tasks.start_soon(_send, from_client, stdin)
        try:
            yield incoming, outgoing
        finally:
            with anyio.CancelScope(shield=True):
                incoming.close()
                outgoing.close()
                await _stop(process, stdin)
            tasks.cancel_scope.cancel()


async def _receive(stdout: ByteReceiveStream, to_client: MemoryObjectSendStream[_Incoming]) -> None:
    """Pass each line on; read on after the client has left, so that the server can end."""
    buffer = LineBuffer(limits.CHECK_LINE_MAX_BYTES)
    async with to_client:
        async for chunk in stdout:
            for line in buffer.feed(chunk):
                with suppress(anyio.BrokenResourceError):
                    await to_client.send(_parse(line))


def _parse(line: Line | TooLong) -> _Incoming:
    if isinstance(line, TooLong):
        longest = f"{limits.CHECK_LINE_MAX_BYTES:,}"
        return BadOutputError(f"The server wrote a line of more than {longest} bytes.")
    try:
        text = line.data.decode()
    except UnicodeDecodeError:
        return BadOutputError("The server wrote bytes to standard output that are not UTF-8.")
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(text, by_name=False))
    except ValueError:
        start = shown(text[: limits.CHECK_STDOUT_LINE_CHARACTERS].strip())
        message = "The server wrote something to standard output that is not JSON-RPC."
        return BadOutputError(message, start)


async def _send(
    from_client: MemoryObjectReceiveStream[SessionMessage], stdin: ByteSendStream
) -> None:
    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):  # the server has ended
        async with from_client:
            async for item in from_client:
                text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
                await stdin.send(text.encode() + b"\n")


async def _stop(process: Process, stdin: ByteSendStream) -> None:
    """End a server's input, and kill it with all it has started if it does not exit in time."""
    with suppress(anyio.BrokenResourceError, OSError):
        await stdin.aclose()
    with anyio.move_on_after(limits.CHECK_EXIT_SECONDS):
        await process.wait()
    if process.returncode is None:
        with suppress(ProcessLookupError):
            if sys.platform == "win32":
                process.kill()
            else:
                os.killpg(process.pid, signal.SIGKILL)
    with anyio.move_on_after(limits.CHECK_EXIT_SECONDS, shield=True):
        await process.aclose()

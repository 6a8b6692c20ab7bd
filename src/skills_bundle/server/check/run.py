"""Edge: `mcp check`: a client that starts the server as a host would, and says what it saw.

It trusts nothing the server says of itself: it hashes, and reads the lock, with code of its own.
"""

from __future__ import annotations

import logging
import os
import sys
import tempfile
import time
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Final, TextIO, cast

import anyio
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, get_default_environment, stdio_client

from skills_bundle.server import limits
from skills_bundle.server.check import codec as check_codec
from skills_bundle.server.check import served as check_served
from skills_bundle.server.check.answers import ask
from skills_bundle.server.check.lock import read_lock
from skills_bundle.server.check.report import CheckReport, Step, Verdict
from skills_bundle.server.check.skills import Disagreement, load_as_host
from skills_bundle.server.check.words import (
    GARBAGE,
    StopError,
    bounded,
    count,
    printed,
    reading_of,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence

    from skills_bundle.server.check.answers import JsonObject
    from skills_bundle.server.check.served import Demand, Served

EXPECTED_TOOLS: Final = (
    "skill_catalog_search",
    "skill_resource_read",
    "skill_catalog_overview",
)


def default_command(collections: Sequence[str] = ()) -> list[str]:
    """Give the command that serves this very installation; `-P` keeps the caller's folder out.

    Args:
        collections: The installed collections to serve; by default all of them.
    """
    options = [word for name in collections for word in ("--collection", name)]
    return [sys.executable, "-P", "-m", "skills_bundle", "mcp", "serve", *options]


def run_check(
    command: Sequence[str] | None = None,
    progress: Callable[[Step], None] = lambda _: None,
    *,
    lock: Demand | None = None,
    environment: Mapping[str, str] | None = None,
    collections: Sequence[str] = (),
) -> CheckReport:
    """Start a server, talk to it as a host would, and report.

    Args:
        command: The program and its arguments; by default the server of this installation, started
            in an empty folder.
        progress: Told of each step when it is over.
        lock: What the server must serve; by default the lock of this installation, and then a
            server of another catalog is not wrong.
        environment: Variables for the server besides the few that hosts pass on.
        collections: What the server of this installation serves, if no command is given; by
            default every installed collection.

    Returns:
        The report; whatever goes wrong is in it. Every step ends within
        `limits.CHECK_STEP_SECONDS`.
    """
    with (
        _quiet_sdk(),
        tempfile.TemporaryFile() as errors,
        tempfile.TemporaryDirectory() as empty,
    ):
        started = list(command) if command else default_command(collections)
        parameters = StdioServerParameters(
            command=started[0],
            args=started[1:],
            env=dict(environment or {}),
            cwd=None if command else empty,
            encoding=check_codec.register(),
        )
        # Only its descriptor is used, by the server alone.
        stderr = cast("TextIO", errors)
        check = anyio.run(_checked, parameters, stderr, progress, lock, backend="asyncio")
        return CheckReport(
            command=tuple(started),
            steps=tuple(check.steps),
            provenance=check.provenance,
            collections=check.collections,
            stderr_tail="" if check.went_well else _tail(errors),
            stdout_line=check.printed,
            environment=tuple(sorted({**get_default_environment(), **(environment or {})})),
        )


@contextmanager
def _quiet_sdk() -> Generator[None]:
    """Keep the SDK's own remarks about a broken server out of the way; the report tells it."""
    logger = logging.getLogger("mcp")
    before = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        logger.setLevel(before)


def _tail(errors: IO[bytes]) -> str:
    """Read the end alone: a server can write more than memory holds."""
    size = errors.seek(0, os.SEEK_END)
    errors.seek(max(0, size - limits.CHECK_STDERR_TAIL_BYTES))
    return errors.read(limits.CHECK_STDERR_TAIL_BYTES).decode(errors="replace").strip()


async def _checked(
    parameters: StdioServerParameters,
    errors: TextIO,
    progress: Callable[[Step], None],
    lock: Demand | None,
) -> _Check:
    check = _Check(parameters, errors, progress, lock)
    await check.run()
    return check


class _Check:
    """One run: the steps so far, and what later steps need of earlier ones."""

    def __init__(
        self,
        parameters: StdioServerParameters,
        errors: TextIO,
        progress: Callable[[Step], None],
        lock: Demand | None,
    ) -> None:
        self.steps: list[Step] = []
        self.printed = ""
        self._parameters = parameters
        self._errors = errors
        self._progress = progress
        self._lock = lock
        self._name, self._began = "", 0.0
        self._scope = anyio.CancelScope()
        self._garbage = False
        self._served: list[Served] = []

    @property
    def provenance(self) -> JsonObject | None:
        """What a server of one collection says of it."""
        return next((one.provenance for one in self._served if one.name is None), None)

    @property
    def collections(self) -> tuple[JsonObject, ...] | None:
        """What a server of several says of each."""
        named = [one for one in self._served if one.name is not None]
        if not named:
            return None
        return tuple({"collection": one.name, "provenance": one.provenance} for one in named)

    @property
    def _tried(self) -> list[Served]:
        return [one for one in self._served if one.skill is not None]

    @property
    def went_well(self) -> bool:
        return all(step.verdict == "ok" for step in self.steps)

    async def run(self) -> None:
        """Take the steps until one cannot be completed."""
        with self._scope:
            try:
                await self._converse()
            except Exception as error:  # noqa: BLE001 - a server may fail in any way; all of them are reported
                self._end(*self._reading_of(error))
        if self._scope.cancelled_caught and self._name:
            self._end("wrong", self._why_cancelled())

    async def _converse(self) -> None:
        self._begin("start")
        transport = stdio_client(self._parameters, errlog=self._errors)
        async with Client(transport, message_handler=self._notice, cache=None) as client:
            server = client.server_info
            name = f"{server.name} {server.version}" if server else "a server without a name"
            self._end("ok", f"{name}, protocol {client.protocol_version}")
            await self._step("tools", self._list_tools, client)
            await self._step("search", self._search, client)
            await self._step("read", self._read, client)
            self._begin("lock")
            self._end(*await anyio.to_thread.run_sync(self._compare_with_lock))
            await self._step("skills", self._load_skills, client)
            await self._step("overview", self._overview, client)
            self._scope.deadline = float("inf")  # the client's own goodbye is bounded

    async def _notice(self, message: object) -> None:
        """Hear what is no answer; a line that is no JSON-RPC ends the check at once."""
        if isinstance(message, Exception):
            self._garbage = True
            self.printed = printed(message)
            self._scope.cancel()

    def _reading_of(self, error: Exception) -> tuple[Verdict, str]:
        """Say what went wrong; what ends a connection may have been a line that is no JSON-RPC."""
        return ("wrong", GARBAGE) if self._garbage else reading_of(error, self._parameters.command)

    def _why_cancelled(self) -> str:
        if self._garbage:
            return GARBAGE
        return f"No answer within {limits.CHECK_STEP_SECONDS:g} seconds."

    async def _step(
        self, name: str, act: Callable[[Client], Awaitable[str]], client: Client
    ) -> None:
        self._begin(name)
        self._end("ok", await act(client))

    def _begin(self, name: str) -> None:
        self._name, self._began = name, time.perf_counter()
        self._scope.deadline = anyio.current_time() + limits.CHECK_STEP_SECONDS

    def _end(self, verdict: Verdict, detail: str) -> None:
        if not self._name:
            return
        elapsed = (time.perf_counter() - self._began) * 1000
        step = Step(
            name=self._name,
            verdict=verdict,
            detail=bounded(detail),
            milliseconds=round(elapsed, 1),
        )
        self._name = ""
        self.steps.append(step)
        self._progress(step)

    async def _list_tools(self, client: Client) -> str:
        names = [tool.name for tool in (await client.list_tools()).tools]
        missing = [name for name in EXPECTED_TOOLS if name not in names]
        if missing:
            raise StopError("wrong", f"Not offered: {', '.join(missing)}.")
        return ", ".join(names)

    async def _search(self, client: Client) -> str:
        self._served = await check_served.search(client)
        return check_served.searched(self._served)

    async def _read(self, client: Client) -> str:
        return "; ".join([one.said(await check_served.read(client, one)) for one in self._tried])

    def _compare_with_lock(self) -> tuple[Verdict, str]:
        """Compare what was read with the lock on disk; not knowing does not end the check."""
        return check_served.compare_all(self._served, self._lock or read_lock())

    async def _load_skills(self, client: Client) -> str:
        return "; ".join([await self._load_skill(client, one) for one in self._tried])

    async def _load_skill(self, client: Client, one: Served) -> str:
        try:
            return one.said(await load_as_host(client, one.path, one.digest, one.base))
        except Disagreement as error:
            raise StopError("wrong", one.said(str(error))) from error

    async def _overview(self, client: Client) -> str:
        answer = await ask(client, "skill_catalog_overview", {})
        return count(len(cast("str", answer["overview"])), "character")

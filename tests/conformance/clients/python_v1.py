"""The official Python SDK, 1.x: the revisions with a handshake, each with a release of its time."""

from __future__ import annotations

import base64
import json
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

import anyio
from common import TOOLS, attempt, report, same, task, try_tools
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from pydantic import AnyUrl

if TYPE_CHECKING:
    from common import Task


async def connect(asked: Task, stack: AsyncExitStack) -> ClientSession:
    """Open a connection, not yet greeted."""
    if asked.transport == "http":
        from mcp.client.streamable_http import streamablehttp_client  # noqa: PLC0415 - not in 1.6

        streams = await stack.enter_async_context(streamablehttp_client(asked.url))
    else:
        program, *arguments = asked.command
        parameters = StdioServerParameters(command=program, args=arguments)
        streams = await stack.enter_async_context(stdio_client(parameters))
    return await stack.enter_async_context(ClientSession(streams[0], streams[1]))


class Scenarios:
    """What is tried over one connection."""

    def __init__(self, session: ClientSession, asked: Task) -> None:
        """Take a connection that was greeted."""
        self.session = session
        self.lock = asked.lock

    async def call(self, tool: str, arguments: dict[str, Any]) -> tuple[bool, dict[str, Any]]:
        """Call a tool; releases before 2025-06-18 know its answer as text only."""
        result = await self.session.call_tool(tool, arguments)
        structured = getattr(result, "structuredContent", None)
        text = getattr(result.content[0], "text", "")
        return bool(result.isError), structured or self._parsed(text)

    @staticmethod
    def _parsed(text: str) -> dict[str, Any]:
        return json.loads(text) if text.startswith("{") else {}

    async def tools(self) -> None:
        """List the tools."""
        assert {tool.name for tool in (await self.session.list_tools()).tools} == TOOLS

    async def ping(self) -> None:
        """Ping."""
        await self.session.send_ping()

    async def resources(self) -> None:
        """List every page of resources."""
        page = await self.session.list_resources()
        found = list(page.resources)
        while page.nextCursor is not None:
            page = await self.session.list_resources(page.nextCursor)
            found += page.resources
        assert {str(each.uri) for each in found} == set(self.lock.digests)

    async def templates(self) -> None:
        """List the templates, of which there are none."""
        assert (await self.session.list_resource_templates()).resourceTemplates == []

    async def read(self) -> None:
        """Read every file."""
        for uri, digest in self.lock.digests.items():
            (content,) = (await self.session.read_resource(AnyUrl(uri))).contents
            blob = getattr(content, "blob", None)
            same(base64.b64decode(blob) if blob else getattr(content, "text", "").encode(), digest)


async def main() -> None:
    """Try everything over one connection."""
    asked = task()
    async with AsyncExitStack() as stack:
        session = await connect(asked, stack)
        greeting = await session.initialize()
        agreed = greeting.protocolVersion == asked.era
        report("connect", "" if agreed else f"agreed on {greeting.protocolVersion}")
        scenarios = Scenarios(session, asked)
        await attempt("ping", scenarios.ping())
        await attempt("tools/list", scenarios.tools())
        await try_tools(scenarios.call, asked.lock)
        await attempt("resources/list", scenarios.resources())
        await attempt("resources/templates/list", scenarios.templates())
        await attempt("resources/read: every file", scenarios.read())


if __name__ == "__main__":
    anyio.run(main)

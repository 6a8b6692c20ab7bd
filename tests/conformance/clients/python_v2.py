"""The official Python SDK, release 2.x, in each of its modes."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import anyio
from common import TOOLS, attempt, report, same, task, try_tools
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters

if TYPE_CHECKING:
    from common import Task

AGREED = {"legacy": "2025-11-25", "auto": "2026-07-28", "2026-07-28": "2026-07-28"}


def connect(asked: Task) -> Client:
    """Prepare a connection."""
    if asked.transport == "http":
        return Client(asked.url, mode=asked.era)
    program, *arguments = asked.command
    return Client(StdioServerParameters(command=program, args=arguments), mode=asked.era)


class Scenarios:
    """What is tried over one connection."""

    def __init__(self, client: Client, asked: Task) -> None:
        """Take an open connection."""
        self.client = client
        self.lock = asked.lock

    async def call(self, tool: str, arguments: dict[str, Any]) -> tuple[bool, dict[str, Any]]:
        """Call a tool."""
        result = await self.client.call_tool(tool, arguments)
        return bool(result.is_error), result.structured_content or {}

    async def tools(self) -> None:
        """List the tools."""
        assert {tool.name for tool in (await self.client.list_tools()).tools} == TOOLS

    async def resources(self) -> None:
        """List every page of resources."""
        page = await self.client.list_resources()
        found = list(page.resources)
        while page.next_cursor is not None:
            page = await self.client.list_resources(cursor=page.next_cursor)
            found += page.resources
        assert {str(each.uri) for each in found} == set(self.lock.digests)

    async def templates(self) -> None:
        """List the templates, of which there are none."""
        assert (await self.client.list_resource_templates()).resource_templates == []

    async def read(self) -> None:
        """Read every file."""
        for uri, digest in self.lock.digests.items():
            (content,) = (await self.client.read_resource(uri)).contents
            blob = getattr(content, "blob", None)
            same(base64.b64decode(blob) if blob else getattr(content, "text", "").encode(), digest)


async def main() -> None:
    """Try everything over one connection."""
    asked = task()
    async with connect(asked) as client:
        agreed = client.protocol_version
        report("connect", "" if agreed == AGREED[asked.era] else f"agreed on {agreed}")
        scenarios = Scenarios(client, asked)
        await attempt("tools/list", scenarios.tools())
        await try_tools(scenarios.call, asked.lock)
        await attempt("resources/list", scenarios.resources())
        await attempt("resources/templates/list", scenarios.templates())
        await attempt("resources/read: every file", scenarios.read())


if __name__ == "__main__":
    anyio.run(main)

"""fastmcp's client with its skills extension, which it uses on 2026-07-28 only."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import anyio
from common import TOOLS, attempt, report, same, task, try_tools
from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from fastmcp.skills.client import SkillsClientExtension

if TYPE_CHECKING:
    from common import Task


def connect(asked: Task) -> Client[Any]:
    """Prepare a connection."""
    program, *arguments = asked.command
    stdio = StdioTransport(command=program, args=arguments, keep_alive=False)
    target = asked.url if asked.transport == "http" else stdio
    extensions = [SkillsClientExtension()]
    return Client(target, mode=asked.era, extensions=extensions)


class Scenarios:
    """What is tried over one connection."""

    def __init__(self, client: Client[Any], asked: Task) -> None:
        """Take an open connection."""
        self.client = client
        self.lock = asked.lock

    async def call(self, tool: str, arguments: dict[str, Any]) -> tuple[bool, dict[str, Any]]:
        """Call a tool."""
        result = await self.client.call_tool(tool, arguments, raise_on_error=False)
        return bool(result.is_error), result.structured_content or {}

    async def tools(self) -> None:
        """List the tools."""
        assert {tool.name for tool in await self.client.list_tools()} == TOOLS

    async def resources(self) -> None:
        """List the resources."""
        found = await self.client.list_resources()
        assert {str(each.uri) for each in found} == set(self.lock.digests)

    async def read(self) -> None:
        """Read every file."""
        for uri, digest in self.lock.digests.items():
            (content,) = await self.client.read_resource(uri)
            blob = getattr(content, "blob", None)
            same(base64.b64decode(blob) if blob else getattr(content, "text", "").encode(), digest)

    async def list_skills(self) -> None:
        """List the skills and compare every digest."""
        skills = await self.client.list_skills()
        found = {each.uri: each.digest for skill in skills for each in skill.resources}
        expected = {uri: f"sha256:{digest}" for uri, digest in self.lock.digests.items()}
        assert found == expected

    async def get_skills(self) -> None:
        """Get each skill's entry."""
        for skill in self.lock.skills:
            uri = f"skill://{skill}/SKILL.md"
            assert (await self.client.get_skill(uri)).uri == uri

    async def read_skills(self) -> None:
        """Let the client fetch every file of every skill and verify it."""
        for skill in self.lock.skills:
            fetched = await self.client.read_skill(f"skill://{skill}/SKILL.md")
            assert fetched.name == skill


async def main() -> None:
    """Try everything over one connection."""
    asked = task()
    async with connect(asked) as client:
        agreed = client.protocol_version
        expected = {"auto": "2026-07-28", "legacy": "2025-11-25"}[asked.era]
        report("connect", "" if agreed == expected else f"agreed on {agreed}")
        scenarios = Scenarios(client, asked)
        await attempt("tools/list", scenarios.tools())
        await try_tools(scenarios.call, asked.lock)
        await attempt("resources/list", scenarios.resources())
        await attempt("resources/read: every file", scenarios.read())
        await attempt("skills/list", scenarios.list_skills())
        await attempt("skills/get", scenarios.get_skills())
        await attempt("skills/get and every file, verified", scenarios.read_skills())


if __name__ == "__main__":
    anyio.run(main)

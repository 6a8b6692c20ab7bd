"""Edge: the command line of MCP Inspector."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from tests.conformance.attempts import attempt
from tests.conformance.clients.common import TOOLS, Lock
from tests.conformance.room import node_packages

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from tests.conformance.room import Room
    from tests.conformance.rows import Seen

CLIENT: Final = "@modelcontextprotocol/inspector"
ERAS: Final = {"default": (), "auto": ("--protocol-era", "auto")}


def run(room: Room, target: Sequence[str], transport: str) -> Generator[Seen]:
    """Run every method in both eras.

    Args:
        room: Where it is installed.
        target: The server's command, or its URL.
        transport: `stdio` or `http`.
    """
    for era, options in ERAS.items():
        inspector = Inspector(room, (*target, "--format", "json", *options), Lock.load(room.lock()))
        for scenario, action in inspector.scenarios().items():
            yield attempt(CLIENT, node_packages()[CLIENT], (era, transport), scenario, action)


@dataclass(frozen=True, slots=True)
class Inspector:
    """The program, always with the same target."""

    room: Room
    target: tuple[str, ...]
    lock: Lock

    def scenarios(self) -> dict[str, Callable[[], None]]:
        """Return the cases by name."""
        return {
            "tools/list": self.list_tools,
            "tools/list --strict": self.list_tools_strictly,
            "tools/call": self.call_tool,
            "tools/call: refused": self.call_wrongly,
            "resources/list": self.list_resources,
            "resources/templates/list": self.list_templates,
            "resources/read": self.read_resource,
            "resources/directory/read": self.read_directory,
            "skills/list --verify": self.verify_all,
            "skills/get --verify": self.verify_one,
        }

    def ask(self, method: str, *options: str, status: int = 0) -> list[Any]:
        """Call a method and give the JSON values that were printed."""
        command = (self.room.program("mcp-inspector"), "--cli", *self.target)
        done = self.room.run(*command, "--method", method, *options)
        assert done.returncode == status, f"exit {done.returncode}: {done.stderr[-300:]}"
        return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]

    def list_tools(self) -> None:
        """Find the tools."""
        (said,) = self.ask("tools/list")
        assert {tool["name"] for tool in said["result"]["tools"]} == TOOLS

    def list_tools_strictly(self) -> None:
        """Have every schema of a tool checked for what clients cannot do with it."""
        self.ask("tools/list", "--strict")

    def call_tool(self) -> None:
        """Search for everything."""
        (said,) = self.ask("tools/call", "--tool-name", "skill_catalog_search")
        assert said["result"]["structuredContent"]["total"] == len(self.lock.skills)

    def call_wrongly(self) -> None:
        """Ask for a skill that is not there; exit 5 is the Inspector's for a tool's error."""
        arguments = ("--tool-name", "skill_resource_read", "--tool-arg", "skill=no-such-skill")
        (said,) = self.ask("tools/call", *arguments, status=5)
        assert said["result"]["structuredContent"]["error"]["code"] == "resource_unavailable"

    def list_resources(self) -> None:
        """Find every file."""
        (said,) = self.ask("resources/list")
        assert {each["uri"] for each in said["result"]["resources"]} == set(self.lock.digests)

    def list_templates(self) -> None:
        """Find no template."""
        (said,) = self.ask("resources/templates/list")
        assert said["result"]["resourceTemplates"] == []

    def read_resource(self) -> None:
        """Read a file whose bytes are the locked ones."""
        uri, digest = next(iter(self.lock.digests.items()))
        file = self.room.folder / "read"
        to_file = ("--output", str(file), "--output-format", "raw")
        self.ask("resources/read", "--uri", uri, *to_file)
        assert hashlib.sha256(file.read_bytes()).hexdigest() == digest

    def read_directory(self) -> None:
        """List a folder."""
        (said,) = self.ask("resources/directory/read", "--uri", self.lock.folder)
        assert {each["uri"] for each in said["result"]["resources"]} == self.lock.children

    def verify_all(self) -> None:
        """Have every file of every skill read and compared with its entry."""
        reports = self.ask("skills/list", "--verify")
        assert [report["outcome"] for report in reports] == ["verified"] * len(self.lock.skills)
        assert {
            file["uri"]: file["actualDigest"].removeprefix("sha256:")
            for report in reports
            for file in report["files"]
        } == self.lock.digests

    def verify_one(self) -> None:
        """Have one skill compared."""
        (report,) = self.ask("skills/get", "--verify", "--uri", f"{self.lock.folder}/SKILL.md")
        assert report["outcome"] == "verified"

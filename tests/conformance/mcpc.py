"""Edge: `mcpc`, a command-line client that keeps a connection open between its commands."""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from tests.conformance.attempts import attempt
from tests.conformance.clients.common import TOOLS, Lock
from tests.conformance.room import node_packages

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from tests.conformance.room import Room
    from tests.conformance.rows import Seen

CLIENT: Final = "@apify/mcpc"
ERA: Final = "2025-11-25"


def run(room: Room, target: str, transport: str) -> Generator[Seen]:
    """Connect, run every command, and disconnect.

    Args:
        room: Where it is installed.
        target: The server's URL, or `FILE:NAME` of an entry in a configuration file.
        transport: `stdio` or `http`.
    """
    mcpc = Mcpc(room, target, f"@{transport}", Lock.load(room.lock()))
    for scenario, action in mcpc.scenarios().items():
        yield attempt(CLIENT, node_packages()[CLIENT], (ERA, transport), scenario, action)


@dataclass(frozen=True, slots=True)
class Mcpc:
    """The program with one session."""

    room: Room
    target: str
    session: str
    lock: Lock

    def scenarios(self) -> dict[str, Callable[[], None]]:
        """Return the cases by name."""
        return {
            "connect": self.connect,
            "ping": self.ping,
            "tools-list": self.list_tools,
            "tools-call": self.call_tool,
            "tools-call: refused": self.call_wrongly,
            "resources-list": self.list_resources,
            "resources-templates-list": self.list_templates,
            "resources-read": self.read_resources,
            "close": self.close,
        }

    def ask(self, *words: str) -> Any:
        """Run a command and give the JSON value that it printed."""
        done = self.room.run(self.room.program("mcpc"), "--json", *words)
        assert done.returncode == 0, f"exit {done.returncode}: {done.stderr[-300:]}"
        return json.loads(done.stdout) if done.stdout.strip() else None

    def connect(self) -> None:
        """Connect, and be told of the skills extension."""
        said = self.ask("connect", self.target, self.session)
        assert "io.modelcontextprotocol/skills" in said["capabilities"]["extensions"]

    def ping(self) -> None:
        """Ping."""
        assert self.ask(self.session, "ping")["success"]

    def list_tools(self) -> None:
        """Find the tools."""
        assert {tool["name"] for tool in self.ask(self.session, "tools-list")} == TOOLS

    def call_tool(self) -> None:
        """Search for everything."""
        said = self.ask(self.session, "tools-call", "skill_catalog_search")
        assert said["structuredContent"]["total"] == len(self.lock.skills)

    def call_wrongly(self) -> None:
        """Ask for a skill that is not there."""
        said = self.ask(self.session, "tools-call", "skill_resource_read", "skill:=no-such-skill")
        assert said["structuredContent"]["error"]["code"] == "resource_unavailable"

    def list_resources(self) -> None:
        """Find every file."""
        said = self.ask(self.session, "resources-list")
        assert {each["uri"] for each in said} == set(self.lock.digests)

    def list_templates(self) -> None:
        """Find no template."""
        assert self.ask(self.session, "resources-templates-list") == []

    def read_resources(self) -> None:
        """Read one file of each kind whose bytes are the locked ones."""
        for uri in self.lock.one_a_kind():
            (content,) = self.ask(self.session, "resources-read", uri)["contents"]
            blob = content.get("blob")
            data = base64.b64decode(blob) if blob else content["text"].encode()
            assert hashlib.sha256(data).hexdigest() == self.lock.digests[uri]

    def close(self) -> None:
        """Disconnect."""
        self.ask("close", self.session)

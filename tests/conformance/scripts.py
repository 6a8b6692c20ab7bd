"""Edge: the programs in `clients/`, each in its library's environment."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from tests.conformance.attempts import seen
from tests.conformance.room import HERE, node_packages, python_clients

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from tests.conformance.room import Room
    from tests.conformance.rows import Seen

BOTH: Final = ("stdio", "http")


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """A program and how it is tried.

    Attributes:
        client: Who tries, as shown.
        version: Of the client.
        file: Name below `clients/`.
        environment: Name of its environment; "" if it runs on Node.
        eras: Protocol revisions or ways to negotiate one.
        transports: Which of `stdio` and `http`.
    """

    client: str
    version: str
    file: str
    environment: str = ""
    eras: tuple[str, ...]
    transports: tuple[str, ...] = BOTH

    def program(self, room: Room) -> tuple[str | Path, ...]:
        """Return the command without its argument."""
        if not self.environment:
            return room.program("node"), room.folder / "node" / self.file
        return room.python(self.environment), HERE / "clients" / self.file


def scripts() -> tuple[Script, ...]:
    """Return every program."""
    node = node_packages()
    sdk, client = "@modelcontextprotocol/sdk", "@modelcontextprotocol/client"
    modes = ("legacy", "auto", "2026-07-28")
    return (
        *(_python(name, pins) for name, pins in python_clients().items()),
        Script(client=sdk, version=node[sdk], file="typescript_v1.mjs", eras=("2025-11-25",)),
        Script(client=client, version=node[client], file="typescript_v2.mjs", eras=modes),
    )


def _python(name: str, pins: dict[str, Any]) -> Script:
    library, version = name.split()
    if library == "fastmcp":
        file, eras = "fastmcp_skills.py", ("auto",)
    elif version.startswith("1."):
        file, eras = "python_v1.py", (pins["era"],)
    else:
        file, eras = "python_v2.py", ("legacy", "auto", pins["era"])
    return Script(
        client=library,
        version=version,
        file=file,
        environment=name,
        eras=eras,
        # 2024-11-05 had another HTTP transport, which is not offered.
        transports=("stdio",) if pins["era"] == "2024-11-05" else BOTH,
    )


def run(room: Room, script: Script, url: str) -> Generator[Seen]:
    """Run a program in each era over each transport."""
    for era in script.eras:
        for transport in script.transports:
            yield from _run_once(room, script, (era, transport), url)


def _run_once(room: Room, script: Script, way: tuple[str, str], url: str) -> Generator[Seen]:
    asked = {
        "era": way[0],
        "transport": way[1],
        "command": [str(room.server), "mcp", "serve"],
        "url": url,
        "lock": str(room.lock()),
    }
    done = room.run(*script.program(room), json.dumps(asked))
    for line in done.stdout.splitlines():
        said = json.loads(line)
        scenario, problem = said["scenario"], said.get("error", "")
        yield seen(script.client, script.version, way, scenario, problem)
    # A program that ends early has not said what it did not try.
    ended = f"exit {done.returncode}: {done.stderr[-300:]}" if done.returncode else ""
    yield seen(script.client, script.version, way, "close", ended)

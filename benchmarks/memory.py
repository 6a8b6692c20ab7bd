"""Measure how much memory a hostile or a slow client costs: ours beside the SDK's own stdio server.

Two clients. One sends a line of 50 MB without a line feed, then a `ping`. The other sends many
reads at once, reads no answer for a while, then all of them. Printed: how far the server's resident
memory rose above what it was just before (the kernel's own high-water mark, Linux only), and how
many requests were answered. Run it where skills-bundle is installed; the peer needs nothing more.
"""

from __future__ import annotations

import argparse
import json
import os
import select
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Self

from skills_bundle.wiring import open_catalog

if TYPE_CHECKING:
    from collections.abc import Callable

OURS = [sys.executable, "-P", "-m", "skills_bundle", "mcp", "serve"]
PEER = """
import sys, anyio
from pathlib import Path
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp_types import CallToolResult, ListToolsResult, TextContent, Tool

text = Path(sys.argv[1]).read_text(encoding="utf-8")
tool = Tool(name="skill_resource_read", description="Read it.", inputSchema={"type": "object"})

async def list_tools(context, params):
    return ListToolsResult(tools=[tool])

async def call_tool(context, params):
    return CallToolResult(content=[TextContent(type="text", text=text)],
                          structuredContent={"content": text})

async def main():
    server = Server("peer", on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (reads, writes):
        await server.run(reads, writes, server.create_initialization_options())

anyio.run(main)
"""
PATIENCE = 20.0
"""Seconds to wait for answers that may never come."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What one client cost one server."""

    growth_kib: int
    answered: int


class Server:
    """A server process that has answered the handshake."""

    def __init__(self, command: list[str], log: IO[bytes]) -> None:
        """Start it and shake hands."""
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, bufsize=0
        )
        client = {"name": "benchmark", "version": "0"}
        params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}
        self.write(line("initialize", params, 0))
        self.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
        assert self.count_answers(1) == 1

    def write(self, data: bytes) -> None:
        """Write all of it, or as much as the server takes before it leaves."""
        assert self.process.stdin is not None
        view = memoryview(data)
        with suppress(BrokenPipeError, ValueError):  # it left, or was ended by us
            while view:
                view = view[os.write(self.process.stdin.fileno(), view) :]

    def count_answers(self, most: int) -> int:
        """Read until so many answers came, none comes any more, or patience ends."""
        assert self.process.stdout is not None
        seen = 0
        deadline = time.monotonic() + PATIENCE
        while seen < most and (left := deadline - time.monotonic()) > 0:
            if not select.select([self.process.stdout], [], [], left)[0]:
                break
            chunk = os.read(self.process.stdout.fileno(), 1 << 20)
            if not chunk:
                break
            seen += chunk.count(b"\n")
        return seen

    def memory_kib(self, field: str) -> int:
        """Return VmRSS (now) or VmHWM (the most since `forget_peak`)."""
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        (row,) = [row for row in status.splitlines() if row.startswith(field)]
        return int(row.split()[1])

    def forget_peak(self) -> None:
        """Make the kernel count the peak anew."""
        Path(f"/proc/{self.process.pid}/clear_refs").write_text("5", encoding="ascii")

    def __enter__(self) -> Self:
        """Return this server."""
        return self

    def __exit__(self, *_: object) -> None:
        """End it, also one that would not end."""
        self.process.kill()
        self.process.communicate()


def line(method: str, params: dict[str, Any], request_id: int) -> bytes:
    """Return one request."""
    message = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}
    return json.dumps(message).encode() + b"\n"


def measure(command: list[str], client: Callable[[Server], int]) -> Cost:
    """Start a server, let a client at it, and see how far its memory rose."""
    with tempfile.TemporaryFile() as log, Server(command, log) as server:
        before = server.memory_kib("VmRSS")
        server.forget_peak()
        answered = client(server)
        return Cost(server.memory_kib("VmHWM") - before, answered)


def endless_line(megabytes: int) -> Callable[[Server], int]:
    """Make the client that forgets its line feed."""

    def send(server: Server) -> int:
        for _ in range(megabytes):
            server.write(b"x" * 1_000_000)
        server.write(b"\n" + line("ping", {}, 1))
        return server.count_answers(2)  # one that refuses the line, one for the ping

    return send


def stalled_reader(reads: int, seconds: float, skill: str) -> Callable[[Server], int]:
    """Make the client that asks for much and does not read for a while."""

    def send(server: Server) -> int:
        call = {"name": "skill_resource_read", "arguments": {"skill": skill}}
        requests = b"".join(line("tools/call", call, number) for number in range(1, reads + 1))
        # In a thread: a server that stops reading stops this write, and that is the point.
        writer = threading.Thread(target=server.write, args=(requests,), daemon=True)
        writer.start()
        time.sleep(seconds)
        return server.count_answers(reads)

    return send


def row(name: str, asked: int, ours: Cost, peer: Cost) -> None:
    """Print one comparison."""
    mib = (f"{cost.growth_kib / 1024:.1f}" for cost in (ours, peer))
    ratio = ours.growth_kib / peer.growth_kib if peer.growth_kib else float("nan")
    answers = (f"{cost.answered}/{asked}" for cost in (ours, peer))
    print("{:<28} {:>9} {:>9} {:>7.3f}   {:>11} {:>11}".format(name, *mib, ratio, *answers))


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=50, help="of the line without a line feed")
    parser.add_argument("--reads", type=int, default=3000, help="that the stalled client asks for")
    parser.add_argument("--stall", type=float, default=5.0, help="seconds it does not read")
    options = parser.parse_args()
    if not Path("/proc/self/clear_refs").exists():
        print("Needs Linux's /proc.", file=sys.stderr)
        return 2
    skill = open_catalog().search(limit=1).skills[0].path
    text = open_catalog().read(skill).content
    with tempfile.TemporaryDirectory() as folder:
        script, document = Path(folder, "peer.py"), Path(folder, "SKILL.md")
        script.write_text(PEER, encoding="utf-8")
        document.write_text(text, encoding="utf-8")
        peer = [sys.executable, "-P", str(script), str(document)]
        print(f"Most resident memory above the start, MiB; reads of {len(text.encode()):,} bytes\n")
        head = ("client", "ours", "peer", "ratio", "answers", "peer's")
        print("{:<28} {:>9} {:>9} {:>7}   {:>11} {:>11}".format(*head))
        for name, asked, client in (
            (f"{options.megabytes} MB without line feed", 2, endless_line(options.megabytes)),
            (
                f"{options.reads} reads, {options.stall:g} s unread",
                options.reads,
                stalled_reader(options.reads, options.stall, skill),
            ),
        ):
            row(name, asked, measure(OURS, client), measure(peer, client))
    print(
        "\npeer: mcp.server.lowlevel behind mcp.server.stdio, one tool that returns the same text"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Hold load on our HTTP server and on the plain SDK's, on loopback, and print how they compare.

Both serve one tool call from the same catalog: the search that a client begins with. The peer is
the SDK's own application on uvicorn, without sessions and with JSON answers, as its documentation
has it; it checks neither tokens nor arguments, and reads JSON as Python does. Run it in an
environment that holds the wheel (`nox -s benchmarks` makes one): a source checkout looks at every
file again at each call.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

TOKEN = "a-token-for-load-on-loopback"  # noqa: S105 - not one
OURS = [sys.executable, "-P", "-m", "skills_bundle", "mcp", "serve", "--http", "127.0.0.1:0"]
PEER = """
import socket, uvicorn
from mcp.server.lowlevel import Server
from mcp_types import CallToolResult, ListToolsResult, TextContent, Tool
from skills_bundle.wiring import open_catalog
catalog = open_catalog()
tool = Tool(name="skill_catalog_search", input_schema={"type": "object"})
async def list_tools(context, params):
    return ListToolsResult(tools=[tool])
async def call_tool(context, params):
    found = catalog.search(**params.arguments)
    text = TextContent(type="text", text=found.model_dump_json())
    return CallToolResult(content=[text], structured_content=found.model_dump(mode="json"))
server = Server("peer", on_list_tools=list_tools, on_call_tool=call_tool)
app = server.streamable_http_app(stateless_http=True, json_response=True)
listener = socket.create_server(("127.0.0.1", 0))
print(f"on http://127.0.0.1:{listener.getsockname()[1]}/mcp ", flush=True)
uvicorn.Server(uvicorn.Config(app, log_level="error")).run([listener])
"""
CALL = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "skill_catalog_search", "arguments": {"query": "mcp", "limit": 5}},
}


@dataclass(frozen=True, slots=True)
class Load:
    """What one server bore.

    Attributes:
        rate: Answers a second.
        median: Milliseconds that half of the answers took at most.
        slow: Milliseconds that 99 of 100 answers took at most.
        megabytes: Memory of all its processes together, what they share counted once.
    """

    rate: float
    median: float
    slow: float
    megabytes: float


def request(port: int) -> bytes:
    """Return the bytes of one call."""
    body = json.dumps(CALL).encode()
    head = (
        f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
        "Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2025-11-25\r\n"
        f"Authorization: Bearer {TOKEN}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


async def client(port: int, until: float, spent: list[float]) -> None:
    """Ask again and again on one connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    data = request(port)
    while (began := time.perf_counter()) < until:
        writer.write(data)
        head = await reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"(?i)content-length: (\d+)", head)
        assert head.startswith(b"HTTP/1.1 200 "), head
        assert length, head
        answer = await reader.readexactly(int(length[1]))
        assert b'"structuredContent"' in answer, answer
        spent.append((time.perf_counter() - began) * 1000)
    writer.close()


async def hold(port: int, connections: int, seconds: float) -> list[float]:
    """Ask on several connections side by side; give the milliseconds of each answer."""
    spent: list[float] = []
    until = time.perf_counter() + seconds
    await asyncio.gather(*(client(port, until, spent) for _ in range(connections)))
    return sorted(spent)


def processes(pid: int) -> Iterator[int]:
    """Return a process and everything it started."""
    yield pid
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii")
    for child in children.split():
        yield from processes(int(child))


def megabytes(pid: int) -> float:
    """Return the proportional memory of a process and everything it started."""
    kilobytes = 0
    for each in processes(pid):
        rollup = Path(f"/proc/{each}/smaps_rollup").read_text(encoding="ascii")
        kilobytes += int(rollup.split("Pss:")[1].split()[0])
    return kilobytes / 1024


def listening_port(log: IO[str], process: subprocess.Popen[bytes]) -> int:
    """Wait until a server says where it listens."""
    while process.poll() is None:
        log.seek(0)
        if found := re.search(r"on http://127\.0\.0\.1:(\d+)/mcp ", log.read()):
            return int(found[1])
        time.sleep(0.05)
    log.seek(0)
    raise SystemExit(log.read())


def measure(command: list[str], connections: int, seconds: float) -> Load:
    """Start a server, warm it, hold load on it, and stop it."""
    with tempfile.TemporaryFile("w+", encoding="utf-8") as log:
        environment = {**os.environ, "LOAD_TOKEN": TOKEN}
        process = subprocess.Popen(command, stdout=log, stderr=log, env=environment)
        try:
            port = listening_port(log, process)
            asyncio.run(hold(port, connections, min(1.0, seconds)))
            spent = asyncio.run(hold(port, connections, seconds))
            memory = megabytes(process.pid)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(30)
    rate = len(spent) / seconds
    return Load(rate, spent[len(spent) // 2], spent[len(spent) * 99 // 100], memory)


def main() -> None:
    """Measure each server and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=5.0, help="load on each server")
    parser.add_argument("--connections", type=int, default=16, help="side by side")
    given = parser.parse_args()
    ours = [*OURS, "--token-env", "LOAD_TOKEN"]
    servers = {
        "plain SDK": [sys.executable, "-P", "-c", PEER],
        "ours": ours,
    }
    loads = {name: measure(one, given.connections, given.seconds) for name, one in servers.items()}
    peer = loads["plain SDK"]
    print(f"{given.connections} connections, {given.seconds:g} s each, {os.cpu_count()} cores\n")
    print(f"{'server':16}{'answers/s':>11}{'p50 ms':>9}{'p99 ms':>9}{'MB':>7}{'rate':>8}{'MB':>7}")
    for name, load in loads.items():
        print(
            f"{name:16}{load.rate:11.0f}{load.median:9.1f}{load.slow:9.1f}{load.megabytes:7.0f}"
            f"{load.rate / peer.rate:7.2f}x{load.megabytes / peer.megabytes:6.2f}x"
        )


if __name__ == "__main__":
    main()

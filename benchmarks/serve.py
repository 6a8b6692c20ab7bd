"""Time our server beside fastmcp's skills provider, and verification beside raw SHA-256.

Both servers are started as an MCP client starts them, spoken to over pipes by the same few lines
below, and serve the same files: the skills of the installed wheel. Prints medians in milliseconds
and the ratio ours / peer. Run it in an environment that holds the wheel and fastmcp
(`nox -s benchmarks` makes one).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import statistics
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

import skills_bundle
from skills_bundle.wiring import verify_installation

if TYPE_CHECKING:
    from collections.abc import Callable

AGENTS = Path(skills_bundle.__file__).parent / ".agents"
OURS = [sys.executable, "-P", "-m", "skills_bundle", "mcp", "serve"]
PEER = """
import sys
from fastmcp import FastMCP
from fastmcp.skills.provider import SkillsDirectoryProvider
server = FastMCP("peer", providers=[SkillsDirectoryProvider(roots=sys.argv[1])])
server.run(transport="stdio", show_banner=False)
"""


class Session:
    """A server process and the few lines of JSON-RPC that both servers are asked."""

    def __init__(self, command: list[str], log: IO[bytes]) -> None:
        """Start the server; the clock of `initialize` starts here."""
        self.started = time.perf_counter()
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log
        )
        self.next_id = 0

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Send one request and wait for its answer."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.next_id += 1
        line = {"jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params}
        self.process.stdin.write(json.dumps(line).encode() + b"\n")
        self.process.stdin.flush()
        while True:
            answer = cast("dict[str, Any]", json.loads(self.process.stdout.readline()))
            if answer.get("id") == self.next_id:
                if "error" in answer:
                    raise RuntimeError(answer["error"])
                return answer["result"]

    def initialize(self) -> None:
        """Do the handshake of 2025-11-25."""
        client = {"name": "benchmark", "version": "0"}
        params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}
        self.ask("initialize", params)
        assert self.process.stdin is not None
        ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        self.process.stdin.write(json.dumps(ready).encode() + b"\n")

    def close(self) -> None:
        """End the server the way the protocol says: close its input."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(timeout=30)


def milliseconds(since: float) -> float:
    """Return the time since `since`, in milliseconds."""
    return (time.perf_counter() - since) * 1000


def measure(
    command: list[str], request: tuple[str, dict[str, Any]], starts: int, reads: int
) -> dict[str, float]:
    """Start the server several times, read once each time, and many times in the last one."""
    times: dict[str, list[float]] = {"start": [], "first read": [], "warm read": []}
    with tempfile.TemporaryFile() as log:
        for number in range(starts):
            session = Session(command, log)
            session.initialize()
            times["start"].append(milliseconds(session.started))
            session.ask(*request)
            times["first read"].append(milliseconds(session.started))
            for _ in range(reads if number == starts - 1 else 0):
                asked = time.perf_counter()
                session.ask(*request)
                times["warm read"].append(milliseconds(asked))
            session.close()
    return {name: statistics.median(values) for name, values in times.items()}


def median_of(action: Callable[[], object], repeat: int) -> float:
    """Return the median time of an action, in milliseconds."""
    times: list[float] = []
    for _ in range(repeat):
        begun = time.perf_counter()
        action()
        times.append(milliseconds(begun))
    return statistics.median(times)


def hash_everything() -> None:
    """Hash every installed skill file with nothing around it: the floor of any verification."""
    for path in (AGENTS / "skills").rglob("*"):
        if path.is_file():
            hashlib.sha256(path.read_bytes()).hexdigest()


def row(name: str, ours: float, peer: float, peer_name: str) -> None:
    """Print one comparison."""
    print(f"{name:<24} {ours:>10.2f} {peer:>10.2f}   {ours / peer:>6.2f}   {peer_name}")


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--starts", type=int, default=7, help="starts of each server")
    parser.add_argument("--reads", type=int, default=200, help="warm reads of each server")
    options = parser.parse_args()
    if find_spec("fastmcp") is None or not AGENTS.is_dir():
        print("Needs an installed skills-bundle wheel and fastmcp; see --help.", file=sys.stderr)
        return 2
    skill = min(path.parent.name for path in (AGENTS / "skills").glob("*/SKILL.md"))
    tool = ("tools/call", {"name": "skill_resource_read", "arguments": {"skill": skill}})
    resource = ("resources/read", {"uri": f"skill://{skill}/SKILL.md"})
    ours = measure(OURS, tool, options.starts, options.reads)
    with tempfile.NamedTemporaryFile("w", suffix=".py", encoding="utf-8") as script:
        script.write(PEER)
        script.flush()
        command = [sys.executable, script.name, str(AGENTS / "skills")]
        peer = measure(command, resource, options.starts, options.reads)
    print(f"{'median, milliseconds':<24} {'ours':>10} {'peer':>10}   {'ratio':>6}   peer")
    for name, value in ours.items():
        row(name, value, peer[name], "fastmcp SkillsDirectoryProvider")
    verify = median_of(verify_installation, 15)
    row(
        "verify installation",
        verify,
        median_of(hash_everything, 15),
        "SHA-256 of skill files alone",
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())

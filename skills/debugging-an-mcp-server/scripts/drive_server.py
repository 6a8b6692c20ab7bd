#!/usr/bin/env python3
"""Start a stdio MCP server as a client would, talk to it, and print everything that was seen.

Needs Python 3.10 or later and nothing else. The server's own words decide nothing here: each
line of its standard output is looked at as bytes, so what a client would stumble over shows.

Examples:
    drive_server.py -- python my_server.py
    drive_server.py --era both -- uvx some-server==1.2.3
    drive_server.py --call add --arguments '{"a": 1, "b": 2}' -- python my_server.py
    drive_server.py --gui-path -- uvx some-server==1.2.3

Exit codes: 0 the conversation went well; 1 at least one problem was found; 2 wrong usage.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import shlex
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from typing import Any

HANDSHAKE_VERSION = "2025-11-25"
MODERN_VERSION = "2026-07-28"
GUI_PATH = os.pathsep.join(["/usr/bin", "/bin", "/usr/sbin", "/sbin"])
SHOWN_CHARACTERS = 160
"""How much of one line is printed; the rest is counted."""
CLIENT = {"name": "drive-server", "version": "1"}


@dataclass
class Report:
    """What was seen in one run of the server, in order, and what was wrong with it."""

    command: list[str]
    era: str
    quiet: bool
    started: float = field(default_factory=time.monotonic)
    events: list[dict[str, Any]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    stderr_tail: list[str] = field(default_factory=list)

    def note(self, kind: str, text: str) -> None:
        """Keep one event with its time in milliseconds since the start, and print it."""
        elapsed = round((time.monotonic() - self.started) * 1000)
        self.events.append({"ms": elapsed, "kind": kind, "text": text})
        if not self.quiet:
            print(f"{elapsed:7d} ms  {kind:<7} {text}", flush=True)

    def problem(self, text: str) -> None:
        """Keep something that a client would fail on."""
        self.problems.append(text)
        self.note("PROBLEM", text)


def short(text: str) -> str:
    """Cut a line for the screen and say how much is missing."""
    if len(text) <= SHOWN_CHARACTERS:
        return text
    return f"{text[:SHOWN_CHARACTERS]}... ({len(text)} characters)"


class Server:
    """A running server: its pipes, and two threads that never let it block on them."""

    def __init__(self, command: list[str], report: Report, options: argparse.Namespace) -> None:
        """Start the process; a command that cannot be started raises OSError."""
        self.report = report
        self.lines: queue.Queue[bytes | None] = queue.Queue()
        self.next_id = 0
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=options.cwd,
            env=environment(options),
        )
        self.ended = False
        self.readers = [
            threading.Thread(target=target, daemon=True)
            for target in (self._read_stdout, self._read_stderr)
        ]
        for reader in self.readers:
            reader.start()

    def _read_stdout(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as stream:
            for line in stream:
                self.lines.put(line)
        self.lines.put(None)

    def _read_stderr(self) -> None:
        assert self.process.stderr is not None
        with self.process.stderr as stream:
            for raw in stream:
                self._note_stderr(raw)

    def _note_stderr(self, raw: bytes) -> None:
        text = raw.decode("utf-8", "backslashreplace").rstrip("\r\n")
        self.report.stderr_tail = [*self.report.stderr_tail[-19:], text]
        self.report.note("stderr", short(text))

    def send(self, message: dict[str, Any]) -> bool:
        """Write one message as one line; False when the server no longer reads."""
        assert self.process.stdin is not None
        data = json.dumps(message, ensure_ascii=False).encode() + b"\n"
        try:
            self.process.stdin.write(data)
            self.process.stdin.flush()
        except OSError as error:
            self.report.problem(f"writing {message.get('method')} failed: {error.strerror}")
            return False
        return True

    def notify(self, method: str) -> None:
        """Send a notification: no id, no answer."""
        self.report.note("->", method)
        self.send({"jsonrpc": "2.0", "method": method})

    def ask(self, method: str, params: dict[str, Any], timeout: float) -> dict[str, Any] | None:
        """Send a request and wait for the reply with its id.

        Returns:
            The whole reply, or None when there was none; the problem is then in the report.
        """
        self.next_id += 1
        self.report.note("->", f"{method} (id {self.next_id})")
        request = {"jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params}
        if not self.send(request):
            self._ended()
            return None
        deadline = time.monotonic() + timeout
        while (left := deadline - time.monotonic()) > 0:
            try:
                line = self.lines.get(timeout=left)
            except queue.Empty:
                break
            if line is None:
                self._ended()
                return None
            message = self._understand(line)
            if message is not None and self._is_reply(message, self.next_id):
                return message
        self.report.problem(f"no reply to {method} within {timeout:g} s")
        return None

    def _join(self) -> None:
        """Let the readers take what is left; a grandchild may hold the pipes open for longer."""
        for reader in self.readers:
            reader.join(timeout=2)

    def _ended(self) -> None:
        """Tell that the output is closed, with the exit code if the server is gone as well."""
        self.ended = True
        try:
            code = f"exit code {self.process.wait(timeout=10)}"
        except subprocess.TimeoutExpired:
            code = "still running"
        self._join()
        self.report.problem(f"the server closed its output; {code}")

    def _understand(self, line: bytes) -> dict[str, Any] | None:
        """Turn a line into a message, or report why no client could."""
        if not line.strip():
            self.report.problem("stray empty line on standard output")
            return None
        if not line.endswith(b"\n"):
            self.report.problem("last line on standard output has no line feed")
        try:
            value = json.loads(line)
        except ValueError:
            shown = line.decode("utf-8", "backslashreplace").rstrip("\r\n")
            self.report.problem(f"stray output, not JSON: {short(shown)!r}")
            return None
        if not isinstance(value, dict) or value.get("jsonrpc") != "2.0":
            self.report.problem(f"JSON, but not a JSON-RPC 2.0 message: {short(repr(value))}")
            return None
        return value

    def _is_reply(self, message: dict[str, Any], wanted: int) -> bool:
        """Tell whether this is the awaited reply; deal with everything else."""
        if "method" in message:
            self._from_server(message)
            return False
        if message.get("id") != wanted:
            self.report.problem(f"reply with an id nobody waits for: {message.get('id')!r}")
            return False
        return True

    def _from_server(self, message: dict[str, Any]) -> None:
        """Answer a request of the server, so that it does not wait for ever; note the rest."""
        method = message["method"]
        self.report.note("<-", f"{method} from the server")
        if "id" not in message:
            return
        reply: dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"]}
        if method == "ping":
            reply["result"] = {}
        else:
            reply["error"] = {"code": -32601, "message": "this client offers nothing"}
        self.send(reply)

    def close(self, timeout: float) -> None:
        """Close its input, as a client does at the end, and see whether it ends by itself."""
        assert self.process.stdin is not None
        try:
            self.process.stdin.close()
        except OSError:
            pass
        try:
            code = self.process.wait(timeout=timeout)
        except subprocess.TimeoutExpired:
            self.report.problem(f"still running {timeout:g} s after its input was closed; killed")
            self.process.kill()
            self.process.wait()
            self._join()
            return
        self._join()
        self._drain()
        self.report.note("end", f"exit code {code}")
        if code != 0 and not self.report.problems:
            self.report.problem(f"exit code {code} after its input was closed")

    def _drain(self) -> None:
        """Look at what was written after the last reply."""
        while not self.ended:
            try:
                line = self.lines.get(timeout=0.5)
            except queue.Empty:
                return
            self.ended = line is None
            message = None if line is None else self._understand(line)
            if message is not None:
                self._is_reply(message, -1)


def environment(options: argparse.Namespace) -> dict[str, str]:
    """Give the server this environment, or the poor one of a program started from a menu."""
    result = dict(os.environ)
    if options.gui_path:
        kept = ("HOME", "USER", "LOGNAME", "TMPDIR", "SYSTEMROOT", "APPDATA", "LOCALAPPDATA")
        result = {key: value for key, value in result.items() if key in kept}
        result["PATH"] = GUI_PATH
    for pair in options.env:
        key, _, value = pair.partition("=")
        result[key] = value
    return result


def params_for(era: str, params: dict[str, Any], version: str) -> dict[str, Any]:
    """Add what the modern era wants on every request."""
    if era != "modern":
        return params
    meta = {
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientInfo": CLIENT,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    return {**params, "_meta": meta}


def result_of(reply: dict[str, Any] | None, what: str, report: Report) -> dict[str, Any] | None:
    """Take the result out of a reply, or report its error."""
    if reply is None:
        return None
    if "error" in reply:
        error = reply["error"]
        report.problem(f"{what}: error {error.get('code')}: {short(str(error.get('message')))}")
        if error.get("data") is not None:
            report.note("", f"data: {short(json.dumps(error['data']))}")
        return None
    result = reply.get("result")
    if not isinstance(result, dict):
        report.problem(f"{what}: a reply with neither result nor error")
        return None
    return result


def open_session(server: Server, era: str, options: argparse.Namespace) -> bool:
    """Do what an era does first, and note who answered."""
    report = server.report
    version = options.version or (MODERN_VERSION if era == "modern" else HANDSHAKE_VERSION)
    if era == "modern":
        method, params = "server/discover", params_for(era, {}, version)
    else:
        method = "initialize"
        params = {"protocolVersion": version, "capabilities": {}, "clientInfo": CLIENT}
    result = result_of(server.ask(method, params, options.startup_timeout), method, report)
    if result is None:
        return False
    meta = result.get("_meta") or {}
    info = result.get("serverInfo") or meta.get("io.modelcontextprotocol/serverInfo") or {}
    spoken = result.get("protocolVersion") or ", ".join(result.get("supportedVersions") or [])
    offers = ", ".join(sorted(result.get("capabilities") or {})) or "nothing"
    report.note("<-", f"{info.get('name')} {info.get('version')}; speaks {spoken}; offers {offers}")
    if era != "modern":
        if result.get("protocolVersion") != version:
            report.note("", f"asked for {version}, was answered {spoken}")
        server.notify("notifications/initialized")
    return True


def list_tools(server: Server, era: str, options: argparse.Namespace) -> None:
    """List every page of tools, and look at each as a client would."""
    report = server.report
    version = options.version or MODERN_VERSION
    cursor: str | None = None
    seen: list[str] = []
    while True:
        page = {} if cursor is None else {"cursor": cursor}
        reply = server.ask("tools/list", params_for(era, page, version), options.timeout)
        result = result_of(reply, "tools/list", report)
        if result is None:
            return
        for tool in result.get("tools") or []:
            seen.append(str(tool.get("name")))
            text = str(tool.get("description") or "").strip().split("\n")[0]
            report.note("<-", f"tool {tool.get('name')}: {short(text) or '(no description)'}")
            if (tool.get("inputSchema") or {}).get("type") != "object":
                report.problem(f"tool {tool.get('name')}: inputSchema is not of type object")
        cursor = result.get("nextCursor")
        if cursor is None:
            break
    report.note("<-", f"{len(seen)} tools")
    for name in sorted({name for name in seen if seen.count(name) > 1}):
        report.problem(f"two tools are called {name}")


def call_tool(server: Server, era: str, options: argparse.Namespace) -> None:
    """Call the tool that was named, and show its answer."""
    report = server.report
    params = {"name": options.call, "arguments": json.loads(options.arguments)}
    version = options.version or MODERN_VERSION
    reply = server.ask("tools/call", params_for(era, params, version), options.timeout)
    result = result_of(reply, "tools/call", report)
    if result is None:
        return
    for block in result.get("content") or []:
        report.note("<-", f"{block.get('type')}: {short(str(block.get('text', '(not text)')))}")
    if result.get("isError"):
        report.problem(f"the tool {options.call} answered with isError")


def drive(command: list[str], era: str, options: argparse.Namespace) -> Report:
    """Run one conversation from start to end."""
    report = Report(command, era, quiet=options.json)
    report.note("start", f"{shlex.join(command)}  [{era} era]")
    try:
        server = Server(command, report, options)
    except OSError as error:
        report.problem(f"cannot start {command[0]}: {error.strerror}")
        return report
    report.note("", f"process {server.process.pid}")
    if open_session(server, era, options):
        list_tools(server, era, options)
        if options.call:
            call_tool(server, era, options)
    server.close(options.timeout)
    return report


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Read the command line; everything after `--` starts the server."""
    parser = argparse.ArgumentParser(
        description="Start a stdio MCP server, talk to it, print everything that was seen.",
        epilog="Exit codes: 0 well; 1 problems were found; 2 wrong usage.",
    )
    add = parser.add_argument
    add("--era", choices=["handshake", "modern", "both"], default="handshake")
    add("--version", help="protocol revision to ask for, for example 2025-06-18")
    add("--call", metavar="TOOL", help="also call this tool")
    add("--arguments", default="{}", metavar="JSON", help="its arguments (default: {})")
    add("--startup-timeout", type=float, default=10, metavar="S", help="first reply (default: 10)")
    add("--timeout", type=float, default=10, metavar="S", help="later replies (default: 10)")
    add("--cwd", metavar="DIR", help="folder to start the server in")
    add("--env", action="append", default=[], metavar="KEY=VALUE", help="set a variable")
    add(
        "--gui-path",
        action="store_true",
        help="the short PATH of a program started from a menu (macOS, Linux)",
    )
    add("--json", action="store_true", help="print one JSON document instead of lines")
    add("command", nargs="+", metavar="-- COMMAND", help="what starts the server")
    options = parser.parse_args(arguments)
    try:
        if not isinstance(json.loads(options.arguments), dict):
            parser.error("--arguments: must be a JSON object")
    except ValueError as error:
        parser.error(f"--arguments: {error}")
    return options


def main(arguments: list[str] | None = None) -> int:
    """Run as a command."""
    options = parse(arguments)
    eras = ["handshake", "modern"] if options.era == "both" else [options.era]
    reports = [drive(options.command, era, options) for era in eras]
    if options.json:
        keys = ("era", "events", "problems", "stderr_tail")
        runs = [{key: getattr(report, key) for key in keys} for report in reports]
        print(json.dumps({"command": options.command, "runs": runs}, indent=2))
    else:
        for report in reports:
            count = len(report.problems)
            print(f"{report.era} era: {'no problem found' if not count else f'{count} problem(s)'}")
    return 1 if any(report.problems for report in reports) else 0


if __name__ == "__main__":
    sys.exit(main())

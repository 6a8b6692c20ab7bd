#!/usr/bin/env python3
"""Print the configuration of an MCP client for one stdio server, or check one that exists.

Needs Python 3.11 or later and nothing else. It never writes a file.

Examples:
    client_config.py list
    client_config.py show codex --name demo -- uvx demo-server==1.2.3
    client_config.py show vscode --name demo --env TOKEN=abc -- /opt/bin/demo-server
    client_config.py check ~/.codex/config.toml

Exit codes: 0 done, nothing to complain of; 1 `check` found something; 2 wrong usage.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

GUI_PATH = os.pathsep.join(["/usr/bin", "/bin", "/usr/sbin", "/sbin"])
"""What a program started from a menu may rely on."""
LAUNCHERS = {"uvx", "uv", "pipx", "npx", "bunx", "pnpm"}
"""Programs that may download before the server starts."""
START_UP_SECONDS = 60


@dataclass(frozen=True)
class Client:
    """How one client wants to be told about a stdio server."""

    title: str
    files: tuple[str, ...]
    keys: tuple[str, ...]
    kind: str | None
    style: str
    next_step: str


CLIENTS = {
    "claude-code": Client(
        "Claude Code",
        (".mcp.json (project)", "~/.claude.json (user; $CLAUDE_CONFIG_DIR)"),
        ("mcpServers",),
        "stdio",
        "plain",
        "run `claude` in the project once and approve the server; then `claude mcp list`",
    ),
    "claude-desktop": Client(
        "Claude Desktop",
        (
            "~/Library/Application Support/Claude/claude_desktop_config.json (macOS)",
            "%APPDATA%\\Claude\\claude_desktop_config.json (Windows)",
        ),
        ("mcpServers",),
        None,
        "plain",
        "quit the app completely and start it again",
    ),
    "codex": Client(
        "Codex",
        ("~/.codex/config.toml ($CODEX_HOME)", ".codex/config.toml (trusted project)"),
        ("mcp_servers",),
        None,
        "codex",
        "`codex mcp list`; a project file needs the folder to be trusted",
    ),
    "copilot-cli": Client(
        "Copilot CLI",
        ("~/.copilot/mcp-config.json ($COPILOT_HOME)",),
        ("mcpServers",),
        "local",
        "copilot",
        "`copilot mcp list`",
    ),
    "vscode": Client(
        "VS Code",
        (".vscode/mcp.json (workspace)", "mcp.json of the profile (MCP: Open User Configuration)"),
        ("servers",),
        "stdio",
        "plain",
        "command palette: MCP: List Servers, then start and trust it",
    ),
    "cursor": Client(
        "Cursor",
        ("~/.cursor/mcp.json", ".cursor/mcp.json (project)"),
        ("mcpServers",),
        "stdio",
        "plain",
        "Cursor Settings, MCP: the server must be switched on",
    ),
    "gemini-cli": Client(
        "Gemini CLI",
        ("~/.gemini/settings.json", ".gemini/settings.json (project)"),
        ("mcpServers",),
        None,
        "plain",
        "`gemini mcp list`; in an untrusted folder every server shows as Disabled",
    ),
    "opencode": Client(
        "OpenCode (V1)",
        ("opencode.json (project)", "~/.config/opencode/opencode.json"),
        ("mcp",),
        "local",
        "opencode",
        "`opencode mcp list`",
    ),
    "windsurf": Client(
        "Windsurf",
        ("~/.codeium/windsurf/mcp_config.json",),
        ("mcpServers",),
        None,
        "plain",
        "press refresh in the MCP panel",
    ),
    "kiro": Client(
        "Kiro",
        (".kiro/settings/mcp.json (project)", "~/.kiro/settings/mcp.json"),
        ("mcpServers",),
        None,
        "plain",
        "look at the MCP panel",
    ),
    "jetbrains-copilot": Client(
        "Copilot in JetBrains IDEs",
        ("$XDG_CONFIG_HOME/github-copilot/intellij/mcp.json",),
        ("servers",),
        None,
        "plain",
        "restart the IDE",
    ),
}


def entry(client: Client, command: list[str], env: dict[str, str]) -> dict[str, Any]:
    """Build the server's entry in the client's own field names."""
    result: dict[str, Any] = {} if client.kind is None else {"type": client.kind}
    if client.style == "opencode":
        result["command"] = command
        if env:
            result["environment"] = env
        return {**result, "enabled": True, "timeout": START_UP_SECONDS * 1000}
    result |= {"command": command[0], "args": command[1:]}
    if env:
        result["env"] = env
    if client.style == "copilot":
        result["tools"] = ["*"]
    if client.style == "codex":
        result["startup_timeout_sec"] = START_UP_SECONDS
    return result


def as_toml(name: str, table: dict[str, Any]) -> str:
    """Write a flat table; JSON's strings, lists and numbers are TOML's as well."""
    key = name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name)
    lines = [f"[mcp_servers.{key}]"]
    inner = table.get("env", {})
    lines += [f"{k} = {json.dumps(v, ensure_ascii=False)}" for k, v in table.items() if k != "env"]
    if inner:
        lines += ["", f"[mcp_servers.{key}.env]"]
        lines += [
            f"{json.dumps(k)} = {json.dumps(v, ensure_ascii=False)}" for k, v in inner.items()
        ]
    return "\n".join(lines)


def show(options: argparse.Namespace) -> int:
    """Print where the entry goes, the entry, and what to do next."""
    client = CLIENTS[options.client]
    command = [absolute(options.command[0]) if options.absolute else options.command[0]]
    command += options.command[1:]
    table = entry(client, command, dict(pair.split("=", 1) for pair in options.env))
    if options.bare:
        print(rendered(client, options.name, table))
        return 0
    print(f"{client.title}: put this into one of")
    for file in client.files:
        print(f"  {file}")
    print(f"\n{rendered(client, options.name, table)}\n\nthen: {client.next_step}")
    for remark in [*faults(command), *notes(command, has_limit(table))]:
        print(f"note: {remark}")
    return 0


def rendered(client: Client, name: str, table: dict[str, Any]) -> str:
    """Write the entry inside the keys it belongs under."""
    if client.style == "codex":
        return as_toml(name, table)
    value: Any = {name: table}
    for key in reversed(client.keys):
        value = {key: value}
    return json.dumps(value, indent=2, ensure_ascii=False)


def absolute(program: str) -> str:
    """Find a program as this shell does; leave it alone when it cannot be found."""
    found = shutil.which(program)
    return os.path.abspath(found) if found else program


def faults(command: list[str]) -> list[str]:
    """Say what will go wrong with this command in a client."""
    found: list[str] = []
    program = command[0]
    if not os.path.isabs(program) and shutil.which(program, path=GUI_PATH) is None:
        found.append(
            f"{program} is not on the short PATH of a desktop client: write {where(program)}"
        )
    if os.path.isabs(program) and not os.access(program, os.X_OK):
        found.append(f"{program} does not exist or is not executable")
    package = launched(command) if Path(program).stem in LAUNCHERS else None
    if package and not pinned(package):
        found.append(f"{package} is not pinned: another version may start tomorrow")
    return found


def notes(command: list[str], limited: bool) -> list[str]:
    """Say what is worth knowing, though it need not go wrong."""
    program = Path(command[0]).stem
    if program not in LAUNCHERS or limited:
        return []
    return [f"{program} may download at the first start: run the command once by hand before"]


def has_limit(table: dict[str, Any]) -> bool:
    """Tell whether the entry gives the server more time to start than the client would."""
    return any(key in table for key in ("startup_timeout_sec", "startup_timeout_ms", "timeout"))


def pinned(package: str) -> bool:
    """Tell whether name==version, name@version, or an address that ends in @commit is given."""
    if package.endswith("@latest"):
        return False
    return "==" in package or re.search(r"[^/]@[^/@]+$", package) is not None


def where(program: str) -> str:
    """Name the absolute path to write, or admit that there is none."""
    found = shutil.which(program)
    return f"the absolute path, here {os.path.abspath(found)}" if found else "its absolute path"


def launched(command: list[str]) -> str | None:
    """Find the package that a launcher is told to run: the first plain word, or --from/--spec."""
    words = command[1:]
    for option in ("--from", "--spec", "--package", "-p"):
        if option in words[:-1]:
            return words[words.index(option) + 1]
    plain = [word for word in words if not word.startswith("-")]
    skipped = {"run", "tool", "dlx", "exec", "x"}
    return next((word for word in plain if word not in skipped), None)


def check(options: argparse.Namespace) -> int:
    """Read a configuration and say what is wrong with each server in it."""
    path = Path(options.file).expanduser()
    try:
        servers = servers_of(read(path))
    except (OSError, ValueError) as error:
        print(f"{path}: {error}")
        return 1
    if not servers:
        print(f"{path}: no servers under any key that a known client reads")
        return 1
    problems = 0
    for name, table in servers.items():
        found, remarks = complaints(table)
        problems += len(found)
        print(f"{name}: {'ok' if not found else f'{len(found)} fault(s)'}")
        for text in found:
            print(f"  - {text}")
        for text in remarks:
            print(f"  note: {text}")
    return 1 if problems else 0


def read(path: Path) -> dict[str, Any]:
    """Parse TOML or JSON; comments in JSON are taken out first."""
    text = path.read_text(encoding="utf-8-sig")
    value = tomllib.loads(text) if path.suffix == ".toml" else json.loads(without_comments(text))
    if not isinstance(value, dict):
        raise ValueError("the file is not an object")
    return value


def without_comments(text: str) -> str:
    """Take // and /* */ comments and trailing commas out, but never out of a string."""
    string = r'"(?:[^"\\]|\\.)*"'
    text = re.sub(rf"({string})|//[^\n]*|/\*.*?\*/", lambda m: m[1] or " ", text, flags=re.DOTALL)
    return re.sub(rf"({string})|,(?=\s*[}}\]])", lambda m: m[1] or "", text, flags=re.DOTALL)


def servers_of(value: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Collect the entries under every key that some client reads."""
    found: dict[str, dict[str, Any]] = {}
    for key in ("mcpServers", "servers", "mcp_servers", "mcp"):
        group = value.get(key)
        if key == "mcp" and isinstance(group, dict) and isinstance(group.get("servers"), dict):
            group = group["servers"]
        if isinstance(group, dict):
            found |= {k: v for k, v in group.items() if isinstance(v, dict)}
    return found


def complaints(table: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Say what is wrong with one entry, and what is worth knowing."""
    if any(key in table for key in ("url", "httpUrl", "serverUrl")):
        return [], ["reached over HTTP: nothing is started, nothing was checked"]
    command = table.get("command")
    words = command if isinstance(command, list) else [command, *table.get("args", [])]
    if not words or not all(isinstance(word, str) and word for word in words):
        return ["command and args must be strings, and command must not be empty"], []
    if isinstance(command, str) and " " in command and not Path(command).exists():
        return [f"command holds a space ({command!r}): arguments belong into args"], []
    if any(word.startswith("~") or "$HOME" in word for word in words):
        return ["~ and $HOME are not expanded by every client: write the path out"], []
    return faults(words), notes(words, has_limit(table))


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description="Print or check an MCP client's configuration. Never writes a file.",
        epilog="Exit codes: 0 well; 1 `check` found something; 2 wrong usage.",
    )
    commands = parser.add_subparsers(dest="verb", required=True)
    commands.add_parser("list", help="the clients it knows, with their files")
    shown = commands.add_parser("show", help="print the entry for one client")
    shown.add_argument("client", choices=sorted(CLIENTS))
    shown.add_argument("--name", required=True, help="the server's name in the client")
    shown.add_argument("--env", action="append", default=[], metavar="KEY=VALUE")
    shown.add_argument("--absolute", action="store_true", help="replace the program by its path")
    shown.add_argument("--bare", action="store_true", help="print the entry and nothing else")
    shown.add_argument("command", nargs="+", metavar="-- COMMAND", help="what starts the server")
    checked = commands.add_parser("check", help="look for the usual faults in a configuration")
    checked.add_argument("file")
    options = parser.parse_args(arguments)
    if options.verb == "show" and any("=" not in pair for pair in options.env):
        parser.error("--env wants KEY=VALUE")
    return options


def main(arguments: list[str] | None = None) -> int:
    """Run as a command."""
    options = parse(arguments)
    if options.verb == "list":
        for name, client in CLIENTS.items():
            print(f"{name:<18} {client.title}: {'; '.join(client.files)}")
        return 0
    return show(options) if options.verb == "show" else check(options)


if __name__ == "__main__":
    sys.exit(main())

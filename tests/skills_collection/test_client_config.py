"""Tests of setting-up-an-mcp-client/scripts/client_config.py."""

from __future__ import annotations

import json
import sys
import tomllib
from typing import TYPE_CHECKING, Any, Final

import pytest

from tests.skills_collection.collection import run

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT: Final = "setting-up-an-mcp-client/client_config.py"
CLIENTS: Final = tuple(line.split()[0] for line in run(SCRIPT, "list").stdout.splitlines())
COMMAND: Final = ("--", sys.executable, "-m", "demo")


def _shown(client: str, *options: str) -> Any:
    """Return the configuration to paste for a client, parsed."""
    ran = run(SCRIPT, "show", client, "--bare", "--name", "demo", *options, *COMMAND)
    return tomllib.loads(ran.stdout) if client == "codex" else json.loads(ran.stdout)


def test_eleven_clients_are_known() -> None:
    """The rest of this file would be empty if the list broke."""
    assert len(CLIENTS) == 11


@pytest.mark.parametrize("client", CLIENTS)
def test_what_is_shown_for_a_client_passes_its_own_check(client: str, tmp_path: Path) -> None:
    """The entry can be parsed, and no known fault is in it."""
    path = tmp_path / ("config.toml" if client == "codex" else "config.json")
    ran = run(SCRIPT, "show", client, "--bare", "--name", "demo", *COMMAND)
    path.write_text(ran.stdout, encoding="utf-8")
    assert run(SCRIPT, "check", path).stdout == "demo: ok\n"


def test_codex_gets_toml_with_a_start_up_limit() -> None:
    """Its own limit is 10 seconds, less than a download takes."""
    assert _shown("codex", "--env", "KEY=v=1") == {
        "mcp_servers": {
            "demo": {
                "command": sys.executable,
                "args": ["-m", "demo"],
                "startup_timeout_sec": 60,
                "env": {"KEY": "v=1"},
            }
        }
    }


def test_opencode_gets_one_list_and_milliseconds() -> None:
    """Its fields have names of their own."""
    assert _shown("opencode", "--env", "KEY=value") == {
        "mcp": {
            "demo": {
                "type": "local",
                "command": [sys.executable, "-m", "demo"],
                "environment": {"KEY": "value"},
                "enabled": True,
                "timeout": 60_000,
            }
        }
    }


def test_copilot_is_told_to_offer_every_tool() -> None:
    """Its list of tools is an allow-list."""
    assert _shown("copilot-cli")["mcpServers"]["demo"]["tools"] == ["*"]


def test_vs_code_has_another_top_key() -> None:
    """`servers`, where most say `mcpServers`."""
    assert list(_shown("vscode")) == ["servers"]


@pytest.mark.parametrize(
    ("entry", "fault"),
    [
        ({"command": "uvx demo"}, "command holds a space ('uvx demo'): arguments belong into args"),
        ({"command": "~/bin/demo"}, "~ and $HOME are not expanded by every client"),
        ({"command": "/no/such/program"}, "does not exist or is not executable"),
        ({"command": "no-such-program"}, "is not on the short PATH of a desktop client"),
        ({"args": ["x"]}, "command and args must be strings"),
        ({"command": "/usr/bin/npx", "args": ["-y", "@org/pkg"]}, "@org/pkg is not pinned"),
        ({"command": "/usr/bin/npx", "args": ["pkg@latest"]}, "pkg@latest is not pinned"),
        ({"command": "/usr/bin/uvx", "args": ["--from", "pkg", "prog"]}, "pkg is not pinned"),
    ],
    ids=["space", "home", "missing", "path", "shape", "scoped", "latest", "from"],
)
def test_a_usual_fault_is_named(entry: dict[str, Any], fault: str, tmp_path: Path) -> None:
    """Each makes a client fail with a message that does not say why."""
    path = tmp_path / "mcp.json"
    path.write_text(json.dumps({"mcpServers": {"demo": entry}}), encoding="utf-8")
    ran = run(SCRIPT, "check", path)
    assert (ran.code, fault in ran.stdout) == (1, True)


@pytest.mark.parametrize("package", ["pkg==1.2", "pkg@1.2.0", "@org/pkg@1.2.0"])
def test_a_pinned_package_is_no_fault(package: str, tmp_path: Path) -> None:
    """Python's and npm's ways to pin are both known."""
    path = tmp_path / "mcp.json"
    launcher = tmp_path / "uvx"
    launcher.write_text("#!/bin/sh\n", encoding="utf-8")
    launcher.chmod(0o755)
    entry = {"command": str(launcher), "args": [package]}
    path.write_text(json.dumps({"servers": {"demo": entry}}), encoding="utf-8")
    assert run(SCRIPT, "check", path).code == 0


def test_comments_in_json_are_read_over_and_strings_are_not(tmp_path: Path) -> None:
    """VS Code and OpenCode allow comments and trailing commas."""
    path = tmp_path / "opencode.jsonc"
    path.write_text(
        '{ // say "why"\n /* and\n how */ "mcp": {"demo": {"url": "https://a//b",},},}\n',
        encoding="utf-8",
    )
    assert run(SCRIPT, "check", path).stdout.splitlines()[0] == "demo: ok"


def test_a_file_without_servers_is_a_fault(tmp_path: Path) -> None:
    """The commonest reason that a server is not listed at all."""
    path = tmp_path / "mcp.json"
    path.write_text('{"mcp_server": {}}', encoding="utf-8")
    assert run(SCRIPT, "check", path).code == 1

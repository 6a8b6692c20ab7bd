"""`mcp serve` and `mcp check`, as processes over real pipes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.runner import ARGUMENTS, call, on_terminal, spawn

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.cli.installed import OwnInstallation
    from tests.cli.runner import Ran

    Ask = Callable[..., Ran]

pytestmark = pytest.mark.slow

MESSAGES: tuple[dict[str, Any], ...] = (
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    },
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {
        "jsonrpc": "2.0",
        "id": 2,
        "method": "tools/call",
        "params": {"name": "skill_resource_read", "arguments": {"skill": "alpha"}},
    },
)


def _serve(place: OwnInstallation, *options: str, arguments: dict[str, str] | None = None) -> Any:
    """Serve one conversation and give the answer to its last request."""
    messages = json.loads(json.dumps(MESSAGES))
    messages[-1]["params"]["arguments"].update(arguments or {})
    done = subprocess.run(
        [place.python, *ARGUMENTS, "mcp", "serve", *options],
        input="".join(json.dumps(message) + "\n" for message in messages).encode(),
        capture_output=True,
        timeout=60,
        check=True,
    )
    assert done.stderr == b""
    return json.loads(done.stdout.splitlines()[-1])["result"]["structuredContent"]


def test_serve_answers_with_what_is_installed(whole: OwnInstallation) -> None:
    """The file's text, and where it comes from."""
    answer = _serve(whole)
    assert answer["content"] == (whole.skills / "alpha/SKILL.md").read_text(encoding="utf-8")
    assert answer["provenance"]["source_provenance"]["integrity"] == "verified"


@pytest.mark.parametrize(
    ("options", "readable"), [(["--resources", "markdown"], False), ([], True)]
)
def test_serve_lets_scripts_be_read_unless_narrowed(
    whole: OwnInstallation, options: list[str], *, readable: bool
) -> None:
    """`--resources markdown` reaches the tool."""
    answer = _serve(whole, *options, arguments={"resource": "scripts/run.py"})
    assert ("content" in answer) is readable


@pytest.mark.parametrize(
    "arguments",
    [["--toolsets", "nonsense"], ["--resources", "some"], ["--json"], ["surplus"]],
)
def test_bad_arguments_leave_standard_output_empty(arguments: list[str]) -> None:
    """Exit 2: a host never reads prose where protocol belongs."""
    ran = spawn("mcp", "serve", *arguments)
    assert (ran.code, ran.stdout) == (2, "")
    assert ran.stderr != ""


def test_what_serving_needs_is_all_that_is_imported() -> None:
    """A host waits for every import: neither tables nor git, YAML, hatchling or HTTP."""
    code = (
        "import sys\n"
        "import skills_bundle.cli.main, skills_bundle.cli.commands.mcp_serve\n"
        "heavy = {'rich', 'pygit2', 'yaml', 'hatchling', 'jsonschema', 'httpx', 'mcp'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stdout.strip() == b"[]"


@pytest.mark.skipif(os.name == "nt", reason="needs a pseudo-terminal")
def test_on_a_terminal_serve_says_what_it_waits_for(whole: OwnInstallation) -> None:
    """Users who try it by hand see `mcp check`; end of input ends it."""
    ran = on_terminal("mcp", "serve", python=whole.python, typed=b"\x04")
    assert ran.code == 0
    assert "skills-bundle mcp check" in ran.stdout


def test_check_shows_in_one_screen_that_it_works(ask_whole: Ask) -> None:
    """Each step with its time, the provenance, and a last line that says so."""
    ran = ask_whole("mcp", "check")
    assert (ran.code, ran.stderr) == (0, "")
    lines = ran.stdout.splitlines()
    assert len(lines) <= 24
    assert sum(line.startswith("✓") for line in lines) == 8
    assert lines[-1].startswith("✓ The server works. All steps passed in ")


def test_check_gives_programs_its_report(ask_whole: Ask) -> None:
    """Steps with verdict and milliseconds, and the provenance as the server gave it."""
    report = ask_whole("mcp", "check", "--json").json
    assert report["ok"] is True
    assert [step["name"] for step in report["steps"]] == [
        "start",
        "tools",
        "search",
        "read",
        "lock",
        "skills",
        "overview",
    ]
    assert report["provenance"]["collection"] == "acme-skills"


def test_check_of_an_altered_installation_fails(place: OwnInstallation) -> None:
    """Exit 1, and what to look at next."""
    (place.skills / "alpha/SKILL.md").write_text("changed", encoding="utf-8")
    ran = place.ask("mcp", "check")
    assert ran.code == 1
    assert "The server does not work." in ran.stdout
    assert "skills-bundle verify" in " ".join(ran.stdout.split())


def test_check_tries_another_launch_command_and_shows_its_last_words() -> None:
    """What a broken server printed on standard error is on the same screen."""
    code = "import sys; sys.exit('no such module: acme')"
    ran = call("mcp", "check", "--command", f'"{sys.executable}" -c "{code}"')
    assert ran.code == 1
    assert "no such module: acme" in ran.stdout


def test_check_shows_what_a_program_that_is_no_server_printed() -> None:
    """The words themselves, what was run, and no advice about another installation."""
    ran = call("mcp", "check", "--command", f'"{sys.executable}" -c "print(\'Welcome!\')"')
    assert ran.code == 1
    assert "\nWelcome!\n" in ran.stdout
    assert "skills-bundle verify" not in ran.stdout


def test_check_names_the_program_that_is_not_there() -> None:
    """The system's words alone would leave one guessing."""
    ran = call("mcp", "check", "--command", "no-such-program x")
    assert "no-such-program cannot be started" in ran.stdout


def test_check_of_a_failing_command_says_which_variables_it_had() -> None:
    """A tool that needs another one is the likeliest cause; the option for it is named."""
    ran = call("mcp", "check", "--env", "A_B=1", "--command", f'"{sys.executable}" -c "exit(1)"')
    told = " ".join(ran.stdout.split())
    assert "with only these variables: A_B, " in told
    assert "--env NAME=VALUE" in told


@pytest.mark.parametrize("variable", ["NAME", "=value"])
def test_a_variable_that_is_none_is_a_usage_error(variable: str) -> None:
    """Exit 2, naming what was given."""
    ran = call("mcp", "check", "--env", variable)
    assert (ran.code, ran.stdout) == (2, "")
    assert "--env takes NAME=VALUE" in ran.stderr


def test_check_compares_a_foreign_server_with_the_lock_that_is_named(
    whole: OwnInstallation,
) -> None:
    """Exit 0 with its lock; without it there is no verdict, and the option is named."""
    command = ("mcp", "check", "--command", f'"{whole.python}" -P -m skills_bundle mcp serve')
    assert call(*command, "--lock", str(whole.lock)).code == 0
    unnamed = call(*command)
    assert unnamed.code == 3
    assert "--lock FILE" in unnamed.stdout


def test_a_lock_that_is_none_is_told_before_anything_is_started(tmp_path: Path) -> None:
    """Exit 1 with the file's own name."""
    file = tmp_path / "mine.json"
    file.write_text("[]", encoding="utf-8")
    ran = call("mcp", "check", "--lock", str(file))
    assert (ran.code, ran.stdout) == (1, "")
    assert f"  {file}: " in ran.stderr


@pytest.mark.parametrize("line", ["", "'unclosed"])
def test_a_command_line_that_is_none_is_a_usage_error(line: str) -> None:
    """Exit 2 before anything is started."""
    ran = call("mcp", "check", "--command", line)
    assert (ran.code, ran.stdout) == (2, "")
    assert "--command" in ran.stderr


def test_a_foreign_servers_words_are_shown_harmless() -> None:
    """A server under test cannot act on the terminal of who tests it."""
    code = "import sys; sys.exit(chr(27) + ']0;owned')"
    ran = call("mcp", "check", "--command", f'"{sys.executable}" -c "{code}"')
    assert "\x1b" not in ran.stdout
    assert "\\x1b]0;owned" in ran.stdout

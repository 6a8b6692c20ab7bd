"""The program as a whole: help, version, errors, and how it ends."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import click
import pytest

from skills_bundle import __version__
from skills_bundle.cli import failures
from skills_bundle.cli.framework import Command, Group
from skills_bundle.cli.main import commands
from tests.cli.installed import OwnInstallation, install_beside
from tests.cli.runner import PROGRAM, call, spawn

pytestmark = pytest.mark.slow

DEV_FULL = Path("/dev/full")
COMMANDS = commands()
IDS = [" ".join(path) for path, _ in COMMANDS]


@pytest.mark.parametrize(("path", "command"), COMMANDS, ids=IDS)
def test_every_command_explains_itself(path: tuple[str, ...], command: click.Command) -> None:
    """`--help` exits 0 and explains every option, with examples of this command."""
    ran = call(*path[1:], "--help")
    assert ran.code == 0
    assert ran.stdout.startswith(f"Usage: {' '.join(path)} ")
    assert "Examples:" in ran.stdout
    assert isinstance(command, (Command, Group))
    assert all(example.line in ran.stdout for example in command.examples)
    assert any(f"{' '.join(path)}" in example.line for example in command.examples)
    options = [p for p in command.params if isinstance(p, click.Option)]
    assert all(option.help for option in options)


@pytest.mark.parametrize(("path", "command"), COMMANDS, ids=IDS)
def test_every_command_documents_its_exit_codes(
    path: tuple[str, ...], command: click.Command
) -> None:
    """A script's author finds in the help what each code means."""
    ran = call(*path[1:], "-h")
    if isinstance(command, Command):
        assert {0, 2} <= set(command.exit_codes)
        assert "Exit codes:" in ran.stdout


@pytest.mark.parametrize(("path", "command"), COMMANDS, ids=IDS)
def test_every_help_fits_80_ascii_columns(path: tuple[str, ...], command: click.Command) -> None:
    """Help is readable on the plainest terminal; only an example may be longer, to stay whole."""
    examples = [e.line for e in command.examples] if isinstance(command, (Command, Group)) else []
    text = call(*path[1:], "--help").stdout
    assert text.isascii()
    assert [
        line for line in text.splitlines() if len(line) > 80 and line.strip() not in examples
    ] == []


def test_summaries_in_a_groups_help_are_the_commands_first_lines() -> None:
    """The table that spares the imports says what the commands say."""
    for _, group in COMMANDS:
        if isinstance(group, Group):
            for name, entry in group.entries.items():
                command = group.get_command(click.Context(group), name)
                assert command is not None
                assert (command.help or "").splitlines()[0] == entry.summary


def test_without_arguments_the_help_is_printed() -> None:
    """A newcomer who types the bare name is shown what there is."""
    ran = call()
    assert (ran.code, ran.stdout, ran.stderr) == (0, call("--help").stdout, "")


def test_the_version_is_printed() -> None:
    """`--version` gives the distribution's version, and so does `-V`."""
    printed = [call(option).stdout for option in ("--version", "-V")]
    assert printed == [f"skills-bundle {__version__}\n"] * 2


@pytest.mark.parametrize("flags", [["-m"], ["-P", "-m"]])
def test_the_package_runs_as_a_module(flags: list[str]) -> None:
    """With and without the safe path, `python -m skills_bundle` is the program."""
    done = subprocess.run(
        [sys.executable, *flags, "skills_bundle", "--version"], capture_output=True, check=True
    )
    assert done.stdout.decode().strip() == f"skills-bundle {__version__}"


def test_a_mistyped_command_is_answered_with_the_likely_one() -> None:
    """Exit 2, nothing on standard output, and what to do next."""
    ran = call("lokc")
    assert (ran.code, ran.stdout) == (2, "")
    assert "Did you mean `skills-bundle lock`?" in ran.stderr
    assert "See `skills-bundle --help`." in ran.stderr


@pytest.mark.parametrize(
    "arguments", [["lock", "--skills"], ["verify", "--nope"], ["catalog", "read"], ["diff", "a"]]
)
def test_wrong_arguments_are_answered_with_the_help_of_their_command(arguments: list[str]) -> None:
    """Whatever is wrong with them; the help of the whole program would not name the option."""
    ran = call(*arguments)
    command = " ".join(word for word in arguments if word.isalpha() and len(word) > 1)
    assert (ran.code, ran.stderr.splitlines()[-1]) == (2, f"See `skills-bundle {command} --help`.")


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("serve", "skills-bundle mcp serve"),
        ("check", "skills-bundle mcp check"),
        ("search", "skills-bundle catalog search"),
        ("read", "skills-bundle catalog read"),
        ("preview", "skills-bundle receipt preview"),
        ("list", "skills-bundle catalog search"),
        ("help", "skills-bundle --help"),
        ("serch", "skills-bundle catalog search"),
        ("mcp search", "skills-bundle catalog search"),
        ("mcp verify", "skills-bundle verify"),
        ("mcp srve", "skills-bundle mcp serve"),
        ("catalog list", "skills-bundle catalog search"),
        ("receipt shw", "skills-bundle receipt show"),
    ],
)
def test_a_command_looked_for_in_the_wrong_place_is_named_with_all_its_words(
    words: str, meant: str
) -> None:
    """What a newcomer guesses leads to what there is, from any group."""
    ran = call(*words.split())
    assert (ran.code, ran.stdout) == (2, "")
    assert f"Did you mean `{meant}`?" in ran.stderr


def test_a_name_like_no_command_is_answered_without_a_guess() -> None:
    """A wrong guess would be worse than none."""
    assert "Did you mean" not in call("frobnicate").stderr


def test_looking_for_the_command_that_was_meant_loads_no_heavy_library() -> None:
    """Only the groups are imported."""
    code = (
        "import sys\n"
        "from skills_bundle.cli.main import run\n"
        "run(['serve'], {})\n"
        "print(sorted({'rich', 'pygit2', 'pydantic', 'mcp'} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stdout.strip() == b"[]"


def test_usage_errors_are_json_where_json_was_asked_for() -> None:
    """A program gets the same document for a wrong option as for a wrong file."""
    ran = call("verify", "--json", "--nonsense")
    assert ran.code == 2
    assert ran.json["error"]["code"] == "usage"
    assert ran.stderr == ""


@pytest.mark.parametrize(
    "arguments",
    [["serve", "--json"], ["--json"], ["--json", "verify"], ["mcp", "nope", "--json"]],
    ids=" ".join,
)
def test_a_command_that_is_not_found_is_json_where_json_was_asked_for(
    arguments: list[str],
) -> None:
    """Also when there is no command that could have taken the option."""
    ran = call(*arguments)
    assert (ran.code, ran.stderr) == (2, "")
    assert ran.json["error"]["code"] == "usage"


def test_exit_codes_are_listed_in_order() -> None:
    """Whoever looks one up finds it at its place."""
    for _, command in COMMANDS:
        if isinstance(command, Command):
            assert list(command.exit_codes) == sorted(command.exit_codes)


def test_a_word_after_two_dashes_is_no_request_for_json() -> None:
    """`--` ends the options, so `--json` behind it is a word like any other."""
    ran = call("verify", "--nonsense", "--", "--json")
    assert (ran.code, ran.stdout) == (2, "")


def test_hostile_arguments_are_shown_harmless() -> None:
    """An argument that is echoed cannot act on the terminal."""
    assert "\x1b" not in call("\x1b[2J").stderr


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX pipes")
def test_a_reader_that_stops_early_ends_the_program_quietly() -> None:
    """Like other programs under `| head`: no trace, and the shell's code for it."""
    reader, writer = os.pipe()
    os.close(reader)
    with subprocess.Popen([*PROGRAM, "--help"], stdout=writer, stderr=subprocess.PIPE) as process:
        os.close(writer)
        _, stderr = process.communicate(timeout=60)
    assert (process.returncode, stderr) == (failures.EXIT_READER_GONE, b"")


@pytest.mark.skipif(not DEV_FULL.exists(), reason="needs /dev/full")
def test_a_full_disk_is_not_a_success() -> None:
    """An answer that could not be written is reported and exits 3."""
    with DEV_FULL.open("wb") as full:
        done = subprocess.run(
            [*PROGRAM, "completion", "bash"], stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert done.returncode == 3
    assert done.stderr.decode().startswith("error: No space left on device.")


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell")
@pytest.mark.parametrize("arguments", ["completion bash", "--help", "--version"])
def test_an_answer_that_goes_nowhere_is_not_a_success(arguments: str) -> None:
    """With standard output closed from the start, as with a full disk: exit 3."""
    line = " ".join([*PROGRAM, arguments, ">&-", "2>&-"])
    assert subprocess.run(["sh", "-c", line], check=False).returncode == 3


@pytest.mark.skipif(not DEV_FULL.exists(), reason="needs /dev/full")
def test_an_error_that_cannot_be_told_keeps_its_code() -> None:
    """Standard error takes nothing: the exit code alone tells."""
    with DEV_FULL.open("wb") as full:
        done = subprocess.run([*PROGRAM, "--typo"], stderr=full, check=False)
    assert done.returncode == failures.EXIT_USAGE


def test_help_needs_no_docstrings() -> None:
    """`python -OO` strips them."""
    command = [sys.executable, "-OO", "-B", "-P", "-m", "skills_bundle", "verify", "--help"]
    done = subprocess.run(command, capture_output=True, check=True)
    assert b"Every installed file is hashed" in done.stdout


def test_help_and_completion_load_no_heavy_library() -> None:
    """What only some commands need is not paid for by all."""
    code = (
        "import sys\n"
        "from skills_bundle.cli.main import run\n"
        "run(['--help'], {}); run(['mcp', '--help'], {}); run(['completion', 'bash'], {})\n"
        "heavy = {'rich', 'pygit2', 'yaml', 'pydantic', 'mcp', 'jsonschema', 'hatchling'}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stderr.decode().strip() == "[]"


def test_an_ascii_locale_is_enough() -> None:
    """The C locale with UTF-8 mode off is the plainest place to run."""
    ran = spawn("--help", environ={"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"})
    assert ran.code == 0


def test_entry_points_of_others_are_no_concern_of_ours(place: OwnInstallation) -> None:
    """Neither one that cannot be read, nor a plugin for the library that reads our records."""
    other = install_beside(place)
    plugin = "[pydantic]\nplugin = acme_skills\n[broken\n]!\n"
    (other.dist_info / "entry_points.txt").write_text(plugin, encoding="utf-8")
    ran = place.ask("verify")
    assert (ran.code, ran.stderr) == (0, "")

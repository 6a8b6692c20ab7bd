"""A project's own console script: our commands, for one collection, under its own name."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

import pytest

from skills_bundle.cli.console_script import COMMANDS, Program
from skills_bundle.cli.framework import Command, Group, walk
from tests.cli.installed import install, install_beside
from tests.cli.runner import Ran

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.installed import OwnInstallation

pytestmark = pytest.mark.slow

SCRIPT = 'from skills_bundle import command_line\ncommand_line("acme", program="acme-tool")()\n'
PROGRAM = Program("acme-tool", "acme")


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> OwnInstallation:
    """Return our installation with Acme's beside it; no test may change it."""
    made = install(tmp_path_factory.mktemp("own") / "environment")
    install_beside(made)
    return made


def ask(both: OwnInstallation, *arguments: str, environ: dict[str, str] | None = None) -> Ran:
    """Run Acme's script in a process of its own."""
    ran = subprocess.run(
        [both.python, "-P", "-c", SCRIPT, *arguments],
        cwd=both.environment,
        env=environ,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    return Ran(ran.returncode, ran.stdout, ran.stderr)


@pytest.mark.parametrize(
    ("words", "place"),
    [
        (["verify", "--json"], ["package_name"]),
        (["receipt", "show", "--json"], ["package", "name"]),
        (["catalog", "search", "--json"], ["provenance", "package_name"]),
        (["catalog", "read", "alpha", "--json"], ["provenance", "package_name"]),
        (["mcp", "check", "--json"], ["provenance", "package_name"]),
    ],
    ids=" ".join,
)
def test_each_command_answers_for_the_one_collection(
    both: OwnInstallation, words: list[str], place: list[str]
) -> None:
    """Without being told which."""
    ran = ask(both, *words)
    found = json.loads(ran.stdout)
    for key in place:
        found = found[key]
    assert (ran.code, found) == (0, "acme-skills")


def test_there_is_no_other_collection(both: OwnInstallation) -> None:
    """The option that would choose one does not exist."""
    ran = ask(both, "verify", "--collection", "skills-bundle")
    assert (ran.code, "No such option '--collection'" in ran.stderr) == (2, True)


def test_it_has_the_commands_that_use_a_collection() -> None:
    """And none that makes one."""
    found = [
        " ".join(words[1:])
        for words, command in walk(PROGRAM.commands(), ("acme-tool",))
        if not isinstance(command, Group)
    ]
    assert sorted(found) == sorted(COMMANDS)


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("lock", "skills-bundle lock"),
        ("verify-wheel", "skills-bundle verify-wheel"),
        ("serve", "acme-tool mcp serve"),
        ("veriy", "acme-tool verify"),
    ],
)
def test_a_command_that_it_has_not_is_named_with_the_program_that_has(
    both: OwnInstallation, words: str, meant: str
) -> None:
    """Its own commands go first where only the spelling is wrong."""
    ran = ask(both, words)
    assert (ran.code, f"Did you mean `{meant}`?" in ran.stderr) == (2, True)


def test_the_word_of_an_example_search_is_not_one_of_our_skills() -> None:
    """Theirs may not have it, and a first search that finds nothing is a bad one."""
    lines = [example.line for example in PROGRAM.commands().examples]
    assert "acme-tool catalog search WORD" in lines


@pytest.mark.parametrize("command", ["", "mcp", "catalog", "receipt", *COMMANDS])
def test_help_speaks_of_the_own_program_alone(both: OwnInstallation, command: str) -> None:
    """Examples too; and of no option that it does not have."""
    ran = ask(both, *command.split(), "--help")
    assert ran.code == 0
    assert "skills-bundle" not in ran.stdout
    assert "--collection" not in ran.stdout


def test_every_example_of_help_is_a_command_of_its_own() -> None:
    """So each can be typed as it stands, but for the name of a skill."""
    lines = [
        example.line
        for _, command in walk(PROGRAM.commands(), ("acme-tool",))
        if isinstance(command, (Command, Group))
        for example in command.examples
    ]
    assert lines
    assert [line for line in lines if "acme-tool " not in line] == []


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["catalog", "read", "nothing"], "`acme-tool catalog search`"),
        (["catalog", "search", "nothing"], "`acme-tool catalog search`"),
        (["list"], "`acme-tool catalog search`"),
        (["verfy"], "`acme-tool verify`"),
        (["verify", "--nothing"], "`acme-tool verify --help`"),
    ],
    ids=["no skill", "no match", "guess", "typo", "no option"],
)
def test_hints_name_commands_of_the_own_program(
    both: OwnInstallation, words: list[str], hint: str
) -> None:
    """Whoever runs it knows no other."""
    ran = ask(both, *words)
    assert hint in ran.stderr
    assert "skills-bundle" not in ran.stderr


def test_hints_under_json_name_them_too(both: OwnInstallation) -> None:
    """As one document."""
    ran = ask(both, "catalog", "read", "nothing", "--json")
    assert "`acme-tool catalog search`" in json.loads(ran.stdout)["error"]["next_step"]


def test_the_version_is_that_of_the_collections_distribution(both: OwnInstallation) -> None:
    """With ours behind it, which a report of a fault needs."""
    ran = ask(both, "--version")
    assert ran.stdout.startswith("acme-tool 1.2.0 (skills-bundle ")


def test_the_version_of_a_missing_collection_is_an_error(whole: OwnInstallation) -> None:
    """There is no distribution to name one."""
    ran = ask(whole, "--version")
    assert (ran.code, "declares the collection 'acme'" in ran.stderr) == (2, True)


def test_its_completion_script_asks_the_own_program(both: OwnInstallation) -> None:
    """Through a variable of its own, beside which ours can be installed."""
    ran = ask(both, "completion", "bash")
    assert "_ACME_TOOL_COMPLETE=bash_complete" in ran.stdout
    assert "skills" not in ran.stdout


def test_completion_offers_its_skills_alone(both: OwnInstallation, tmp_path: Path) -> None:
    """And not ours."""
    del tmp_path
    asked = {
        "_ACME_TOOL_COMPLETE": "bash_complete",
        "COMP_WORDS": "acme-tool catalog read ",
        "COMP_CWORD": "3",
    }
    ran = ask(both, environ=asked)
    assert ran.stdout.split() == ["plain,alpha", "plain,group/beta", "plain,beta"]


def test_words_of_skills_are_not_touched(both: OwnInstallation) -> None:
    """Only problems and hints are spelled; an answer is data."""
    ran = ask(both, "catalog", "read", "alpha")
    assert ran.stdout.startswith("---\nname: alpha\n")


@pytest.mark.parametrize(
    ("said", "spelled"),
    [
        ("run `skills-bundle verify`", "run `acme-tool verify`"),
        ("run `skills-bundle mcp check --collection acme`", "run `acme-tool mcp check`"),
        ("run `skills-bundle lock`", "run `skills-bundle lock`"),
        ("run `skills-bundle verify-source x`", "run `skills-bundle verify-source x`"),
        ("built by skills-bundle 1.0", "built by skills-bundle 1.0"),
    ],
)
def test_only_commands_it_has_are_spelled_its_way(said: str, spelled: str) -> None:
    """What only `skills-bundle` can do keeps its name."""
    assert PROGRAM.spell(said) == spelled

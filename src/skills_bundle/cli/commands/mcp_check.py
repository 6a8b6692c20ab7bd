"""Edge: `mcp check`, for a person who wants to see that the server works."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click
from pydantic import ValidationError

from skills_bundle.bundle.provenance import Provenance
from skills_bundle.cli import failures
from skills_bundle.cli.collection import collections_option, command_line
from skills_bundle.cli.framework import Command, Example, json_option, pass_output
from skills_bundle.cli.view import claims, pretty
from skills_bundle.cli.view.progress import patience
from skills_bundle.formats import rendering
from skills_bundle.server.check.run import run_check
from skills_bundle.server.check.steps import LockOnDisk, read_lock, read_named
from skills_bundle.wiring import choose

if TYPE_CHECKING:
    from pydantic import JsonValue
    from rich.console import RenderableType
    from rich.text import Text

    from skills_bundle.cli.output import Output, Terminal
    from skills_bundle.cli.view.pretty import Mark
    from skills_bundle.server.check.report import CheckReport, Step, Verdict
    from skills_bundle.server.check.steps import ExpectedLocks

MARKS: Final[dict[Verdict, Mark]] = {"ok": "good", "wrong": "bad", "cannot_tell": "unsure"}
DOES: Final = {
    "start": "start and greet",
    "tools": "list tools",
    "search": "search",
    "read": "read a skill",
    "lock": "compare with lock",
    "skills": "load as a host",
    "overview": "overview",
}
"""Steps in words; one that is not here is called by its name."""
FOREIGN_ADVICE: Final = (
    "What was run, with which variables, and what it printed is shown above; a variable that it "
    "needs is given to it with --env NAME=VALUE."
)


@click.command(
    cls=Command,
    help="""Start the server as a host would, and try it.

    Lists the tools, searches, reads a skill page by page, hashes what came back, and compares it
    with the lock on disk, which is read here by other code than the server's; of several
    collections each. Each step shows how long it took, in milliseconds.

    As under many hosts, the server is given a few variables of this environment only, such as HOME
    and PATH (--verbose lists them); name further ones with --env.
    """,
    examples=[
        Example("Try the server of this installation:", "skills-bundle mcp check"),
        Example(
            "Try exactly what a host's configuration runs:",
            'skills-bundle mcp check --command "skills-bundle mcp serve"',
        ),
        Example(
            "Compare what a server serves with a lock of yours:",
            "skills-bundle mcp check --lock catalog.lock.json",
        ),
        Example(
            "Give the server a variable, as a host's configuration can:",
            "skills-bundle mcp check --env LANG=C.UTF-8",
        ),
        Example(
            "Try a server of one installed collection alone:",
            "skills-bundle mcp check --collection skills-bundle",
        ),
        Example("For programs:", "skills-bundle mcp check --json"),
    ],
    exit_codes={
        0: "it works",
        1: "something is wrong, or (--lock) the server serves another catalog",
        2: "wrong arguments",
        3: "it answers, but what it serves could not be compared with a lock",
    },
)
@click.option(
    "--command",
    metavar="LINE",
    help="What to start instead, quoted as one word; run as it is, not by a shell.",
)
@click.option(
    "--lock",
    metavar="FILE",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="The lock of what the server must serve.",
    show_default="the lock of each collection",
)
@collections_option
@click.option(
    "--env",
    "variables",
    metavar="NAME=VALUE",
    multiple=True,
    help="A variable for the server's environment; may be repeated.",
)
@click.option("--verbose", is_flag=True, help="Also show what was run and what the server printed.")
@json_option
@pass_output
def check(  # noqa: PLR0913 - one parameter an option
    output: Output,
    *,
    command: str | None,
    lock: Path | None,
    collection: tuple[str, ...],
    variables: tuple[str, ...],
    verbose: bool,
) -> int:
    """Start the server as a host would, and try it."""
    words, environment = _words(command), _environment(variables)
    expected = _expected_locks(lock, collection, foreign=command is not None)
    with patience(output, "Talking to the server ..."):
        report = run_check(words, lock=expected, environment=environment, collections=collection)
    if output.as_json:
        output.json(report.to_dict())
        return report.exit_code
    parts = [_steps(report, output.terminal), *_provenance(report)]
    if verbose or report.exit_code == failures.EXIT_WRONG:
        parts += _circumstances(report)
    mark, verdict = _conclusion(report, collection, foreign=command is not None)
    parts.append(pretty.line(""))
    parts.append(pretty.marked(mark, verdict, output.terminal))
    output.text(pretty.render(parts, output.terminal))
    return report.exit_code


def _expected_locks(
    lock: Path | None, collections: tuple[str, ...], *, foreign: bool
) -> ExpectedLocks | None:
    """Return what the server is compared with; None for the default.

    Args:
        lock: The lock that was named, if one was.
        collections: The collections that were named.
        foreign: Whether the user named the server; then it need not serve what ours would.
    """
    # Also when a lock is named: an unknown collection is a usage error, and no server's failure.
    finders = choose(collections).finders
    if lock is not None:
        return read_named(lock)
    if len(finders) == 1:
        return read_lock(*finders.values()) if collections else None
    locks = {name: read_lock(find) for name, find in finders.items()}
    if foreign and not collections:
        return {name: _not_required(each) for name, each in locks.items()}
    return locks


def _not_required(lock: LockOnDisk | str) -> LockOnDisk | str:
    return lock if isinstance(lock, str) else replace(lock, required=False)


def _words(command: str | None) -> list[str] | None:
    """Split a command line as a POSIX shell would, expanding nothing."""
    if command is None:
        return None
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise click.UsageError(f"--command cannot be split into words: {error}.") from error
    if not words:
        raise click.UsageError("--command names no program.")
    return words


def _environment(variables: tuple[str, ...]) -> dict[str, str]:
    pairs = [variable.partition("=") for variable in variables]
    wrong = [name for name, sign, _ in pairs if not name or not sign]
    if wrong:
        given = ", ".join(repr(name) for name in wrong)
        raise click.UsageError(f"--env takes NAME=VALUE, and there is {given}.")
    return {name: value for name, _, value in pairs}


def _circumstances(report: CheckReport) -> list[RenderableType]:
    """Show what was run, with what, and what it printed."""
    parts: list[RenderableType] = [
        pretty.heading("What was run"),
        pretty.unbroken(shlex.join(report.command)),
        pretty.line(f"with these variables alone: {', '.join(report.environment)}"),
    ]
    if report.stdout_line:
        parts += [
            pretty.heading("What the server printed on standard output"),
            pretty.line(report.stdout_line),
        ]
    return [
        *parts,
        pretty.heading("What the server printed on standard error"),
        pretty.line(report.stderr_tail or "nothing that was kept"),
    ]


def _steps(report: CheckReport, terminal: Terminal) -> RenderableType:
    columns = [
        pretty.Column(""),
        pretty.Column("Step"),
        pretty.Column("ms", justify="right"),
        pretty.Column("Seen", ratio=1),
    ]
    return pretty.table(columns, [_row(step, terminal) for step in report.steps], terminal)


def _row(step: Step, terminal: Terminal) -> tuple[Text | str, ...]:
    return (
        pretty.sign(MARKS[step.verdict], terminal),
        DOES.get(step.name, step.name),
        f"{step.milliseconds:,.0f}",
        step.detail,
    )


def _provenance(report: CheckReport) -> list[RenderableType]:
    title = "What the server says of its source"
    if report.provenance is not None:
        return _claims(title, report.provenance)
    return [
        part
        for state in report.collections or ()
        if state["provenance"] is not None
        for part in _claims(f"{title}: {state['collection']}", state["provenance"])
    ]


def _claims(title: str, claimed: JsonValue) -> list[RenderableType]:
    try:
        provenance = Provenance.model_validate_json(rendering.compact(claimed))
    except ValidationError:
        told = pretty.line("nothing in a form that this version knows; see --json")
        return [pretty.heading(title), told]
    return [pretty.heading(title), pretty.facts(claims.rows(provenance))]


def _conclusion(
    report: CheckReport, collections: tuple[str, ...], *, foreign: bool
) -> tuple[Mark, str]:
    if report.exit_code == 0:
        spent = sum(step.milliseconds for step in report.steps)
        return "good", f"It works: every step was right, {spent:,.0f} ms in all."
    problems = " ".join(report.problems)
    if report.exit_code == failures.EXIT_WRONG:
        advice = FOREIGN_ADVICE if foreign else _advice(report, collections)
        return "bad", f"It does not work. {problems} {advice}"
    advice = " Name its lock with --lock FILE." if foreign else ""
    return "unsure", f"It answers; whether with what was locked cannot be told. {problems}{advice}"


def _advice(report: CheckReport, collections: tuple[str, ...]) -> str:
    """Name the command that looks at what is installed."""
    if len(collections) > 1 or report.collections is not None:
        return "`skills-bundle catalog collections` looks at what is installed."
    return f"`{command_line('verify', collections)}` looks at the installation."

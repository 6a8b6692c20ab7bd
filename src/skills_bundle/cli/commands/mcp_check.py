"""Edge: `mcp check`, which shows whether the server works."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click
from pydantic import ValidationError

from skills_bundle.bundle.provenance import Provenance
from skills_bundle.cli.failures import EXIT_WRONG
from skills_bundle.cli.framework import Command, Example, pass_output
from skills_bundle.cli.options import collections_option, command_line, json_option
from skills_bundle.cli.view import pretty
from skills_bundle.cli.view.report import provenance_rows
from skills_bundle.formats import strict_json
from skills_bundle.server.check.run import packed_program, run_check
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
STEPS: Final = {
    "start": "start the server",
    "tools": "list tools",
    "search": "search",
    "read": "read a skill",
    "lock": "compare with lock",
    "skills": "load as a host",
    "overview": "overview",
}
"""Titles of steps."""
COMMAND_HINT: Final = (
    "See above for the command, its variables and what it printed. To pass another variable, "
    "add --env NAME=VALUE."
)


@click.command(
    cls=Command,
    help="""Start the server as a host would, and test it.

    The test lists the tools, searches, reads a skill page by page, and compares what it got with
    the lock on disk, for each collection. Every step shows its time in milliseconds.

    Like many hosts, it gives the server only a few variables of this environment, such as HOME and
    PATH; --verbose lists them. Add others with --env.
    """,
    examples=[
        Example("Test the server of this installation:", "skills-bundle mcp check"),
        Example(
            "Test the command from a host's configuration:",
            'skills-bundle mcp check --command "skills-bundle mcp serve"',
        ),
        Example(
            "Compare what a server serves with your lock:",
            "skills-bundle mcp check --lock catalog.lock.json",
        ),
        Example(
            "Set a variable, as a host's configuration can:",
            "skills-bundle mcp check --env LANG=C.UTF-8",
        ),
        Example(
            "Test a server of one installed collection:",
            "skills-bundle mcp check --collection skills-bundle",
        ),
        Example("Print JSON:", "skills-bundle mcp check --json"),
    ],
    exit_codes={
        0: "the server works",
        1: "the server does not work, reports altered files, or does not serve what the lock has",
        2: "wrong arguments",
        3: "the server cannot be started again, or what it serves cannot be compared with a lock",
    },
)
@click.option(
    "--command",
    "line",
    metavar="LINE",
    help="Start this command instead. Quote it as one argument; no shell is used.",
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
    help="A variable for the server's environment; can be repeated.",
)
@click.option("--verbose", is_flag=True, help="Also show the command and what the server printed.")
@json_option
@pass_output
def command(  # noqa: PLR0913 - one parameter an option
    output: Output,
    *,
    line: str | None,
    lock: Path | None,
    collection: tuple[str, ...],
    variables: tuple[str, ...],
    verbose: bool,
) -> int:
    """Start the server as a host would, and test it."""
    words, environment = _words(line), _environment(variables)
    expected = _expected(lock, collection, custom=line is not None)
    with pretty.progress(output, "Testing the server ..."):
        report = run_check(
            words,
            lock=expected,
            environment=environment,
            collections=() if packed_program() and _is_bound() else collection,
        )
    if output.as_json:
        output.json(report.to_dict())
        return report.exit_code
    parts = [_steps(report, output.terminal), *_provenance(report)]
    if verbose or report.exit_code == EXIT_WRONG:
        parts += _process(report)
    mark, text = _conclusion(report, collection, custom=line is not None)
    pretty.show(output, [*parts, pretty.line(""), pretty.marked(mark, text, output.terminal)])
    return report.exit_code


def _expected(
    lock: Path | None, collections: tuple[str, ...], *, custom: bool
) -> ExpectedLocks | None:
    """Return what the server must serve, as far as that is known.

    Args:
        lock: The value of `--lock`.
        collections: The value of `--collection`.
        custom: Whether `--command` was given; its server need not serve what ours would.
    """
    # Before the lock is read: an unknown collection is a usage error.
    finders = choose(collections).finders
    if lock is not None:
        return read_named(lock)
    if len(finders) == 1:
        return read_lock(*finders.values()) if collections else None
    locks = {name: read_lock(find) for name, find in finders.items()}
    if custom and not collections:
        return {name: _optional(one) for name, one in locks.items()}
    return locks


def _is_bound() -> bool:
    """Return whether this is a collection's own program, which has no `--collection`."""
    rows = click.get_current_context().command.params
    return all(row.name != "collection" for row in rows)


def _optional(lock: LockOnDisk | str) -> LockOnDisk | str:
    return lock if isinstance(lock, str) else replace(lock, required=False)


def _words(line: str | None) -> list[str] | None:
    """Split a command line as a POSIX shell would, without expansion."""
    if line is None:
        return None
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise click.UsageError(f"--command cannot be split into words: {error}.") from error
    if not words:
        raise click.UsageError("--command is empty.")
    return words


def _environment(variables: tuple[str, ...]) -> dict[str, str]:
    pairs = [variable.partition("=") for variable in variables]
    wrong = [name for name, sign, _ in pairs if not name or not sign]
    if wrong:
        given = ", ".join(repr(name) for name in wrong)
        raise click.UsageError(f"--env takes NAME=VALUE, not {given}.")
    return {name: value for name, _, value in pairs}


def _process(report: CheckReport) -> list[RenderableType]:
    """Return the command, its environment, and what the server printed."""
    parts: list[RenderableType] = [
        pretty.heading("Command"),
        pretty.unbroken(shlex.join(report.command)),
        pretty.line(f"with only these variables: {', '.join(report.environment)}"),
    ]
    if report.stdout_line:
        parts += [
            pretty.heading("Printed by the server on standard output"),
            pretty.line(report.stdout_line),
        ]
    return [
        *parts,
        pretty.heading("Printed by the server on standard error"),
        pretty.line(report.stderr_tail or "nothing"),
    ]


def _steps(report: CheckReport, terminal: Terminal) -> RenderableType:
    columns = [
        pretty.Column(""),
        pretty.Column("Step"),
        pretty.Column("ms", justify="right"),
        pretty.Column("Result", ratio=1),
    ]
    return pretty.table(columns, [_cells(step, terminal) for step in report.steps], terminal)


def _cells(step: Step, terminal: Terminal) -> tuple[Text | str, ...]:
    return (
        pretty.sign(MARKS[step.verdict], terminal),
        STEPS.get(step.name, step.name),
        f"{step.milliseconds:,.0f}",
        step.detail,
    )


def _provenance(report: CheckReport) -> list[RenderableType]:
    title = "Provenance, as the server reports it"
    if report.provenance is not None:
        return _claims(title, report.provenance)
    return [
        part
        for state in report.collections or ()
        if state["provenance"] is not None
        for part in _claims(f"{title}: {state['collection']}", state["provenance"])
    ]


def _claims(title: str, claims: JsonValue) -> list[RenderableType]:
    try:
        provenance = Provenance.model_validate_json(strict_json.compact(claims))
    except ValidationError:
        unknown = pretty.line("in a format that this version does not know; see --json")
        return [pretty.heading(title), unknown]
    return [pretty.heading(title), pretty.facts(provenance_rows(provenance))]


def _conclusion(
    report: CheckReport, collections: tuple[str, ...], *, custom: bool
) -> tuple[Mark, str]:
    problems = " ".join(report.problems)
    if report.exit_code == 0:
        milliseconds = sum(step.milliseconds for step in report.steps)
        return "good", f"The server works. All steps passed in {milliseconds:,.0f} ms."
    if report.exit_code == EXIT_WRONG:
        hint = COMMAND_HINT if custom else _hint(report, collections)
        return "bad", f"The server does not work. {problems} {hint}"
    if len(report.steps) == 1:
        return "unsure", f"The server could not be tested. {problems}"
    hint = " Name its lock with --lock FILE." if custom else ""
    return "unsure", f"The server answers, but cannot be compared with a lock. {problems}{hint}"


def _hint(report: CheckReport, collections: tuple[str, ...]) -> str:
    """Return which command inspects the installation."""
    if len(collections) > 1 or report.collections is not None:
        return "To inspect the installed collections, run `skills-bundle catalog collections`."
    return f"To inspect the installation, run `{command_line('verify', collections)}`."

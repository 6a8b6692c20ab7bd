"""Edge: `mcp check`, for a person who wants to see that the server works."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Final

import click
from pydantic import ValidationError

from skills_bundle.bundle.provenance import Provenance
from skills_bundle.cli import claims, pretty
from skills_bundle.cli.framework import Command, Example, json_option, pass_output
from skills_bundle.cli.progress import patience
from skills_bundle.formats import rendering
from skills_bundle.server.check import run_check

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

    from skills_bundle.cli.output import Output, Terminal
    from skills_bundle.cli.pretty import Mark
    from skills_bundle.server.check_report import CheckReport, Step, Verdict

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


@click.command(
    cls=Command,
    examples=[
        Example("Try the server of this installation:", "skills-bundle mcp check"),
        Example(
            "Try exactly what a host's configuration runs:",
            'skills-bundle mcp check --command "skills-bundle mcp serve"',
        ),
        Example("For programs:", "skills-bundle mcp check --json"),
    ],
    exit_codes={
        0: "it works",
        1: "something is wrong",
        2: "wrong arguments",
        3: "it answers, but what it serves could not be compared with a lock",
    },
)
@click.option(
    "--command",
    metavar="LINE",
    help="What to start instead, quoted as one word; run as it is, not by a shell.",
)
@click.option("--verbose", is_flag=True, help="Also show what was run and what the server printed.")
@json_option
@pass_output
def check(output: Output, *, command: str | None, verbose: bool) -> int:
    """Start the server as a host would, and try it.

    Lists the tools, searches, reads a skill page by page, hashes what came back, and compares it
    with the lock on disk, which is read here by other code than the server's. Each step shows how
    long it took, in milliseconds.
    """
    with patience(output, "Talking to the server ..."):
        report = run_check(_words(command))
    if output.as_json:
        output.json(report.to_dict())
        return report.exit_code
    parts = [_steps(report, output.terminal), *_provenance(report)]
    if verbose or report.stderr_tail:
        parts += [
            pretty.heading("What was run"),
            pretty.unbroken(shlex.join(report.command)),
            pretty.heading("What the server printed on standard error"),
            pretty.line(report.stderr_tail or "nothing that was kept"),
        ]
    mark, verdict = _conclusion(report)
    parts.append(pretty.line(""))
    parts.append(pretty.marked(mark, verdict, output.terminal))
    output.text(pretty.render(parts, output.terminal))
    return report.exit_code


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
    if report.provenance is None:
        return []
    title = pretty.heading("What the server says of its source")
    try:
        provenance = Provenance.model_validate_json(rendering.compact(report.provenance))
    except ValidationError:
        return [title, pretty.line("nothing in a form that this version knows; see --json")]
    return [title, pretty.facts(claims.rows(provenance))]


def _conclusion(report: CheckReport) -> tuple[Mark, str]:
    if report.exit_code == 0:
        spent = sum(step.milliseconds for step in report.steps)
        return "good", f"It works: every step was right, {spent:,.0f} ms in all."
    problems = " ".join(report.problems)
    if report.exit_code == 1:
        advice = "Look at `skills-bundle verify`, and at what the server printed."
        return "bad", f"It does not work. {problems} {advice}"
    return "unsure", f"It answers; whether with what was locked cannot be told. {problems}"

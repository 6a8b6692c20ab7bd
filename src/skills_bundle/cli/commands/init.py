"""Edge: `init`, a project that ships its skills: made, or given what it lacks."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from skills_bundle.cli.framework import Command, Example, json_option, pass_output
from skills_bundle.cli.view import pretty
from skills_bundle.cli.view.init_report import Report, run
from skills_bundle.cli.view.progress import patience
from skills_bundle.cli.view.text import safe, safe_line
from skills_bundle.project.plan import InitOptions

if TYPE_CHECKING:
    from rich.console import RenderableType

    from skills_bundle.cli.output import Output

SKILLS_NAMED: Final = 8
"""Skills elsewhere that are named; the rest are counted."""
HEADLINES: Final = {
    "written": "ready to be committed",
    "unchanged": "nothing to change",
    "planned": "nothing written (--dry-run)",
}


@click.command(
    cls=Command,
    help="""Make a project that ships its skills, or add the build hook to one.

    DIR is the working directory by default; it need not be there. Without a pyproject.toml that
    builds something, a whole project is made around the skills that are there, or around one to
    begin with. A project that is built with hatchling gets the hook, the entry point and a pinned
    requirement; every other line of its files stays as it is. Other build backends are refused,
    with what would have to change.

    Everything is decided before anything is written, no file is replaced but those it names, and
    nothing is committed. A second run changes nothing.
    """,
    examples=[
        Example("Begin a project:", "skills-bundle init acme-skills"),
        Example("Look first, from inside of one:", "skills-bundle init --dry-run --skills skills"),
        Example(
            "With a command of its own:",
            "skills-bundle init acme-tool --console-script acme-tool",
        ),
    ],
    exit_codes={
        0: "the project is ready, or nothing was left to do",
        1: "all files were written but the lock: a skill is refused, for the reasons named",
        2: "wrong arguments, or a project that cannot take the hook; nothing was written",
        3: "a file or folder cannot be read or written; nothing was written",
    },
)
@click.argument("folder", metavar="[DIR]", default=".", type=click.Path(path_type=Path))
@click.option("--name", metavar="NAME", help="The project's name.", show_default="the folder's")
@click.option(
    "--collection",
    metavar="NAME",
    help="The collection's name.",
    show_default="the project's, normalised",
)
@click.option(
    "--package",
    metavar="NAME",
    help="Dotted name of the import package that receives the skills; made if it is not there.",
    show_default="the one there is, else called as the project",
)
@click.option(
    "--skills",
    metavar="FOLDER",
    help="The skills folder, relative to DIR.",
    show_default="the folder that holds every skill there is, else skills",
)
@click.option(
    "--exclude",
    metavar="PATH",
    multiple=True,
    help="A folder below the skills folder to leave out; may be repeated.",
)
@click.option("--repository", metavar="URL", help="Asserted address of the repository.")
@click.option("--source-ref", metavar="REF", help="Asserted ref, such as refs/tags/v{version}.")
@click.option(
    "--console-script",
    metavar="NAME",
    help="Also make a command that serves only this collection.",
)
@click.option("--dry-run", is_flag=True, help="Write nothing; print what would change as a diff.")
@json_option
@pass_output
def init(output: Output, *, folder: Path, dry_run: bool, **options: object) -> int:
    """Make a project that ships its skills, or add the build hook to one."""
    with patience(output, "Looking at the project ..."):
        report = run(folder, InitOptions(**options), dry_run=dry_run)  # type: ignore[arg-type]
    if output.as_json:
        output.json({**report.to_dict(), "diff": diff(report) if dry_run else None})
        return report.exit_code
    if dry_run and report.changes:
        output.text(safe(diff(report)))
    _tell(output, report)
    return report.exit_code


def diff(report: Report) -> str:
    """Give every change as a unified diff."""
    parts: list[str] = []
    for row in report.changes:
        old = (row.old or b"").decode("utf-8", "backslashreplace").splitlines(keepends=True)
        new = row.new.decode("utf-8", "backslashreplace").splitlines(keepends=True)
        before = "/dev/null" if row.old is None else f"a/{row.path}"
        for line in difflib.unified_diff(old, new, before, f"b/{row.path}"):
            end = "" if line.endswith("\n") else "\n\\ No newline at end of file\n"
            parts.append(line + end)
    return "".join(parts)


def _tell(output: Output, report: Report) -> None:
    chosen = report.chosen
    headline = f"{report.folder}: {HEADLINES[report.status]}"
    rows = [
        ("project", chosen.name),
        ("collection", chosen.collection),
        ("package", f"{chosen.package} in {chosen.package_folder}"),
        ("skills", f"{report.total} in {chosen.skills}"),
        ("lock", report.lock),
        *((("written" if report.status == "written" else "change"), row) for row in report.files),
    ]
    mark = "bad" if report.exit_code else "good"
    parts: list[RenderableType] = [
        pretty.marked(mark, headline, output.terminal),
        pretty.facts(rows),
    ]
    output.text(pretty.render(parts, output.terminal))
    if chosen.left_out:
        named = ", ".join(chosen.left_out[:SKILLS_NAMED])
        more = len(chosen.left_out) - SKILLS_NAMED
        rest = f" and {more:,} more" if more > 0 else ""
        output.note(safe_line(f"note: skills elsewhere are left out: {named}{rest}"))
    if report.refusal is not None:
        output.failure(report.refusal)
    elif report.next_steps and report.status != "planned":
        output.note("Next: " + "; ".join(f"`{step}`" for step in report.next_steps))

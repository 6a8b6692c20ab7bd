"""Edge: `init`: a new project that ships its skills, or the build hook for an existing one."""

from __future__ import annotations

import difflib
import shlex
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

import click

from skills_bundle.bundle.lock import LOCK_FILE_NAME
from skills_bundle.cli.failures import EXIT_OK, EXIT_WRONG, failure_of
from skills_bundle.cli.framework import Command, Example, pass_output
from skills_bundle.cli.options import allow_option, exclude_option, json_option
from skills_bundle.cli.view import pretty
from skills_bundle.cli.view.report import summary
from skills_bundle.cli.view.text import count, safe, safe_line
from skills_bundle.errors import InvalidSkillsError
from skills_bundle.project import existing, project, writing
from skills_bundle.project.plan import FileChange, InitOptions, choose_layout, plan_changes

if TYPE_CHECKING:
    from pydantic import JsonValue

    from skills_bundle.cli.failures import Failure
    from skills_bundle.cli.output import Output
    from skills_bundle.project.plan import Layout

Status = Literal["written", "unchanged", "planned"]

MAX_SKILLS: Final = 8
"""Skills in other folders that a note names."""
HEADLINES: Final = {
    "written": "ready to commit",
    "unchanged": "nothing to change",
    "planned": "nothing written (--dry-run)",
}

INCOMPLETE: Final = "written, except the lock"
MAX_PROBLEMS: Final = 20
"""Reasons against a lock that are printed; `lock` prints the rest."""


@click.command(
    cls=Command,
    help="""Create a project that ships its skills, or add the build hook to one.

    DIR is the working directory by default; it need not exist. If it is not a Python project yet,
    `init` creates one for the skills in it, or with an example skill if there are none.

    A project that is built with hatchling gets the hook, the entry point and a pinned requirement.
    The rest of its files does not change. For another build backend, `init` reports what to change.

    If the project cannot take the changes, nothing is written. Nothing is ever committed. A second
    run changes nothing.
    """,
    examples=[
        Example("Create a project:", "skills-bundle init acme-skills"),
        Example(
            "In a project, show what would change:", "skills-bundle init --dry-run --skills skills"
        ),
        Example(
            "Create a project with its own command:",
            "skills-bundle init acme-tool --console-script acme-tool",
        ),
    ],
    exit_codes={
        0: "the project is ready, or there was nothing to do",
        1: "everything was written except the lock: a skill was refused, for the reasons shown",
        2: "wrong arguments, or a project that cannot use the hook; nothing was written",
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
    help="Dotted name of the import package that gets the skills; created if it does not exist.",
    show_default="the existing one, else the project's name",
)
@click.option(
    "--skills",
    metavar="FOLDER",
    help="The skills folder, relative to DIR.",
    show_default="the folder that has all skills, else skills",
)
@exclude_option
@allow_option
@click.option("--repository", metavar="URL", help="The repository's address, for receipts.")
@click.option("--source-ref", metavar="REF", help="A ref for receipts: refs/tags/v{version}.")
@click.option(
    "--console-script",
    metavar="NAME",
    help="Also add a command that serves only this collection.",
)
@click.option("--dry-run", is_flag=True, help="Write nothing; print the changes as a diff.")
@json_option
@pass_output
def command(output: Output, *, folder: Path, dry_run: bool, **options: object) -> int:
    """Create a project that ships its skills, or add the build hook to one."""
    with pretty.progress(output, "Reading the project ..."):
        report = _run(folder, InitOptions(**options), dry_run=dry_run)  # type: ignore[arg-type]
    if output.as_json:
        output.json({**report.to_dict(), "diff": _diff(report) if dry_run else None})
        return report.exit_code
    if dry_run and report.changes:
        output.text(safe(_diff(report)))
    _show(output, report)
    return report.exit_code


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What one run of `init` did.

    Attributes:
        folder: The project's folder, as it was typed.
        layout: Names and places.
        changes: Every file that was written, or would be.
        status: Whether files were written.
        found: Number of skills in the skills folder.
        lock: What happened to the lock, in words.
        refusal: Why there is no lock, if a skill was refused.
    """

    folder: str
    layout: Layout
    changes: tuple[FileChange, ...]
    status: Status = "planned"
    found: int = 0
    lock: str = ""
    refusal: Failure | None = None

    @property
    def exit_code(self) -> int:
        """0, or 1 if there is no lock."""
        return EXIT_OK if self.refusal is None else EXIT_WRONG

    @property
    def locks_itself(self) -> bool:
        """Whether a first lock covers new files other than skills."""
        made, skills = {row.path for row in self.changes}, self.layout.skills
        inside = {path for path in made if skills == "." or path.startswith(f"{skills}/")}
        return LOCK_FILE_NAME in made and any(
            not path.endswith("/SKILL.md") for path in inside - {LOCK_FILE_NAME}
        )

    @property
    def next_steps(self) -> tuple[str, ...]:
        """Commands from here to a wheel."""
        if self.status == "unchanged":
            return ()
        place = () if self.folder == "." else (f"cd {shlex.quote(self.folder)}",)
        start = () if self.layout.existing.in_repository else ("git init",)
        if start and self.locks_itself:  # only git knows which files belong to the project
            start = (*start, "skills-bundle lock")
        return (*place, *start, "git add .", 'git commit -m "Ship our skills"', "uv build")

    def to_dict(self) -> dict[str, JsonValue]:
        """Return the document that `--json` prints; it has `error` only without a lock."""
        layout = self.layout
        made: dict[str, JsonValue] = {
            "status": self.status,
            "project": self.folder,
            "name": layout.name,
            "collection": layout.collection,
            "package": layout.package,
            "skills_folder": layout.skills,
            "found": self.found,
            "left_out": [*layout.left_out],
            "lock": self.lock,
            "files": [
                {"path": row.path, "action": "created" if row.old is None else "changed"}
                for row in self.changes
            ],
        }
        if self.refusal is not None:
            made["error"] = self.refusal.to_dict()
        return made


def _run(folder: Path, options: InitOptions, *, dry_run: bool) -> Report:
    """Read the project, plan the changes and write them.

    Raises:
        SettingsError: With every conflict; nothing was written.
        OSError: If something cannot be read or written; nothing was written.
    """
    files = existing.read_files(folder)
    configuration = existing.parse_configuration(
        files.files.get("pyproject.toml"), files.files.get("hatch.toml")
    )
    layout = choose_layout(files, configuration, options)
    planned = _with_lock(Report(folder=str(folder), layout=layout, changes=plan_changes(layout)))
    writing.check_places(files.folder, planned.changes)
    if planned.changes and not dry_run:
        writing.write_changes(files.folder, planned.changes)
        if planned.locks_itself:
            project.write_lock(project.with_settings(files.folder, layout.settings))
    status: Status = "planned" if dry_run else "written" if planned.changes else "unchanged"
    return replace(planned, status=status)


def _with_lock(report: Report) -> Report:
    """Add the first lock to the changes, or the reason why there is none."""
    layout, changes = report.layout, report.changes
    files = layout.existing
    skills = len(files.skill_folders) - len(layout.left_out)
    if LOCK_FILE_NAME in files.present:
        text = "exists; check it with `skills-bundle lock --check`"
        return replace(report, found=skills, lock=text)
    starter = next((row for row in changes if row.path.endswith("/SKILL.md")), None)
    try:
        data, result = writing.first_lock(files.folder, layout.settings, starter)
    except InvalidSkillsError as error:
        text = "none: a skill was refused"
        return replace(report, found=skills, lock=text, refusal=failure_of(error))
    return replace(
        report,
        found=result.found,
        lock=f"locks {count(result.found, 'skill')}",
        changes=(*changes, FileChange(LOCK_FILE_NAME, None, data)),
    )


def _diff(report: Report) -> str:
    """Return every change as a unified diff."""
    parts: list[str] = []
    for row in report.changes:
        old = (row.old or b"").decode("utf-8", "backslashreplace").splitlines(keepends=True)
        new = row.new.decode("utf-8", "backslashreplace").splitlines(keepends=True)
        before = "/dev/null" if row.old is None else f"a/{row.path}"
        for line in difflib.unified_diff(old, new, before, f"b/{row.path}"):
            end = "" if line.endswith("\n") else "\n\\ No newline at end of file\n"
            parts.append(line + end)
    return "".join(parts)


def _show(output: Output, report: Report) -> None:
    layout = report.layout
    action = "written" if report.status == "written" else "change"
    rows = [
        ("project", layout.name),
        ("collection", layout.collection),
        ("package", f"{layout.package} in {layout.package_folder}"),
        ("skills", f"{count(report.found, 'skill')} in {layout.skills}"),
        ("lock", report.lock),
        *(
            (action, f"{row.path} ({'new' if row.old is None else 'changed'})")
            for row in report.changes
        ),
    ]
    incomplete = report.refusal is not None and report.status == "written"
    headline = f"{report.folder}: {INCOMPLETE if incomplete else HEADLINES[report.status]}"
    pretty.show(output, summary(report.exit_code, headline, rows, output.terminal))
    if layout.left_out:
        named = ", ".join(layout.left_out[:MAX_SKILLS])
        more = len(layout.left_out) - MAX_SKILLS
        rest = f" and {more:,} more" if more > 0 else ""
        output.note(safe_line(f"note: skills in other folders are left out: {named}{rest}"))
    if report.refusal is not None:
        problems = report.refusal.problems
        output.failure(replace(report.refusal, problems=problems[:MAX_PROBLEMS]))
        if len(problems) > MAX_PROBLEMS:
            more = len(problems) - MAX_PROBLEMS
            output.note(f"and {more:,} more; `skills-bundle lock` summarizes them")
    elif report.next_steps and report.status != "planned":
        output.note("Next: " + "; ".join(f"`{step}`" for step in report.next_steps))

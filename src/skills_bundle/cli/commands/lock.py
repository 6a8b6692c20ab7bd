"""Edge: `lock`, for this project and any other folder of skills."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

import click

from skills_bundle.bundle.changes import are_line_ends_alone
from skills_bundle.bundle.lock import LOCK_FILE_NAME, catalog_sha256
from skills_bundle.cli import failures
from skills_bundle.cli.framework import (
    Command,
    Example,
    given_arguments,
    json_option,
    pass_output,
)
from skills_bundle.cli.view import pretty
from skills_bundle.cli.view.lock_report import Report
from skills_bundle.cli.view.progress import patience
from skills_bundle.cli.view.text import safe_line
from skills_bundle.errors import (
    InvalidLockError,
    InvalidSkillsError,
    SettingsError,
    StaleLockError,
)
from skills_bundle.files.writing import replace_file
from skills_bundle.project import project

if TYPE_CHECKING:
    from skills_bundle.bundle.lock import CatalogLock
    from skills_bundle.cli.output import Output
    from skills_bundle.cli.view.lock_report import Status
    from skills_bundle.errors import Problem
    from skills_bundle.project.project import Project


@click.command(
    cls=Command,
    help="""Write or check the lock of a folder of skills.

    PROJECT is the working directory by default. With a pyproject.toml its settings count; options
    override them. Every skill is locked or refused, with all reasons in one run. The lock is put
    in place at once, and only if no skill was refused; one that is current is not touched.
    """,
    examples=[
        Example("Write the lock of the project in this folder:", "skills-bundle lock"),
        Example("In CI, fail if the committed lock is stale:", "skills-bundle lock --check"),
        Example(
            "Of another folder of skills, into another file:",
            "skills-bundle lock --skills skills --output elsewhere.lock.json",
        ),
    ],
    exit_codes={
        0: "the lock was written, or is what the skills give",
        1: "a skill was refused and nothing was written, or (--check) the lock is stale",
        2: "wrong arguments or settings",
        3: "a file or folder cannot be read or written",
    },
)
@click.argument("folder", metavar="[PROJECT]", default=".", type=click.Path(path_type=Path))
@click.option("--check", is_flag=True, help="Write nothing; fail if the lock is stale.")
@click.option(
    "--strict/--no-strict",
    default=None,
    help="Refuse skills that have warnings.",
    show_default="the project's setting, else no",
)
@click.option(
    "--skills",
    metavar="DIR",
    help="The skills folder, relative to PROJECT.",
    show_default="the project's setting, else skills if there is one, else PROJECT itself",
)
@click.option(
    "--output",
    "target",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The lock file.",
    show_default="catalog.lock.json in PROJECT",
)
@click.option(
    "--collection",
    metavar="NAME",
    help="The collection's name, as the lock carries it.",
    show_default="the project's setting, else its name",
)
@click.option(
    "--exclude",
    metavar="PATH",
    multiple=True,
    help="A folder below the skills folder to leave out, too; may be repeated.",
)
@json_option
@click.pass_context
@pass_output
def lock(  # noqa: PLR0913 - one parameter an option
    output: Output,
    context: click.Context,
    *,
    folder: Path,
    check: bool,
    strict: bool | None,
    skills: str | None,
    target: Path | None,
    collection: str | None,
    exclude: tuple[str, ...],
) -> int:
    """Write or check the lock of a folder of skills."""
    given = {"strict": strict, "skills": skills, "collection": collection}
    overrides = cast(
        "project.Overrides", {name: value for name, value in given.items() if value is not None}
    )
    found = _load(folder, overrides)
    if exclude:
        overrides["exclude"] = (*found.settings.exclude, *exclude)
        found = _load(folder, overrides)
    if target is not None:
        found = replace(found, old_bytes=project.read_lock_file(target))
    with patience(output, "Reading the skills ..."):
        report = _run(found, target or found.lock_path, check=check)
    if output.as_json:
        output.json(report.to_dict())
    else:
        _tell(output, report, folder)
        if _mending(report):
            output.note(f"{_mending(report)} {_mending_command(context)}")
    return 0 if report.error is None else failures.of(report.error).exit_code


def _load(folder: Path, overrides: project.Overrides) -> Project:
    try:
        return project.load(folder, **overrides)
    except SettingsError as error:
        problems = tuple(_as_option(problem) for problem in error.problems)
        raise SettingsError(error.summary, problems) from error


def _as_option(problem: Problem) -> Problem:
    """Spell a setting that was given on the command line as the option that gave it."""
    where, _, name = (problem.path or "").rpartition(".")
    return replace(problem, path=f"--{name}") if where == project.COMMAND_LINE else problem


def _run(found: Project, path: Path, *, check: bool) -> Report:
    result = project.find_skills(found)
    base = Report(
        status="refused", path=str(path), settings=found.settings, result=result, lock=None
    )
    try:
        made = project.lock_of(found, result)
    except InvalidSkillsError as error:
        return replace(base, error=error)
    base = replace(base, lock=made)
    if check:
        return _checked(base, found, made)
    if made.to_bytes() == found.old_bytes:
        return replace(base, status="unchanged")
    replace_file(path, made.to_bytes())
    return replace(base, status="written")


def _checked(base: Report, found: Project, made: CatalogLock) -> Report:
    try:
        project.demand_current(found, made, base.result)
    except StaleLockError as error:
        status: Status = "stale" if found.old_bytes is not None else "missing"
        return replace(base, status=status, error=error)
    except InvalidLockError as error:
        return replace(base, status="invalid", error=error)
    return replace(base, status="fresh")


COLOURS: Final = {"refused": "red", "warning": "yellow"}
HEADLINES: Final[dict[Status, str]] = {
    "written": "written",
    "unchanged": "unchanged; the skills give what it holds",
    "fresh": "fresh; the skills give what it holds",
    "stale": "stale; the skills give another lock",
    "missing": "missing",
    "invalid": "cannot be read as a lock",
    "refused": "no lock can be made",
}


MENDING: Final[dict[Status, str]] = {
    "stale": "To mend it:",
    "missing": "To write it:",
    "invalid": "To write it anew:",
}


def _mending(report: Report) -> str:
    """Introduce the command that writes the lock, or "": line ends are mended otherwise."""
    problems = () if report.error is None else report.error.problems
    codes = {problem.code for problem in problems}
    if "lock_line_ends" in codes:
        return ""
    if are_line_ends_alone(codes):
        return "Only if the new line ends are meant:"
    return MENDING.get(report.status, "")


def _mending_command(context: click.Context) -> str:
    """Give this very command without --check: other arguments would give another lock."""
    arguments = [word for word in given_arguments(context) if word != "--check"]
    return shlex.join(["skills-bundle", "lock", *arguments])


def _from_here(problem: Problem, folder: Path) -> Problem:
    """Spell a path from the working directory, where an editor can jump to it."""
    if problem.path is None or problem.code == "whole":
        return problem
    return replace(problem, path=(folder / problem.path).as_posix())


def _of_the_lock(problem: Problem, report: Report) -> Problem:
    """Name the lock file as it was asked for; a place inside the document stays one."""
    inside = "" if problem.path in {None, LOCK_FILE_NAME} else f": {problem.path}"
    return replace(problem, path=f"{report.path}{inside}")


def _placed(report: Report, problem: Problem, folder: Path) -> Problem:
    if report.status in {"missing", "invalid"}:
        return _of_the_lock(problem, report)
    return _from_here(problem, folder)


def _tell(output: Output, report: Report, folder: Path) -> None:
    """Print what there is: remarks and errors on standard error, the sum on standard output."""
    for row in report.remarks:
        weight = output.emphasis(f"{row.weight}:", COLOURS[row.weight])
        output.note(f"{weight} {safe_line(str(_from_here(row.problem, folder)))}")
    for path in report.result.without_skill_md:
        output.note(f"note: {safe_line(path)} holds files and no SKILL.md, so it is no skill")
    if report.error is not None:
        failure = failures.of(report.error)
        told = report.status == "refused" and bool(report.remarks)
        places = () if told else tuple(_placed(report, row, folder) for row in failure.problems)
        step = None if _mending(report) else failure.next_step
        output.failure(replace(failure, problems=places, next_step=step))
    rows = [("skills", report.total)]
    if report.lock is not None:
        rows.append(("files", f"{len(report.lock.files()):,}"))
    if report.in_place is not None:
        made = report.in_place
        rows += [
            ("sha256", catalog_sha256(made.to_bytes())),
            ("git tree", made.digests.git_tree),
        ]
    headline = f"{report.path}: {HEADLINES[report.status]}"
    mark = pretty.marked("good" if report.error is None else "bad", headline, output.terminal)
    output.text(pretty.render([mark, pretty.facts(rows)], output.terminal))

"""Edge: `lock`, for the project in a folder or any other folder of skills."""

from __future__ import annotations

import shlex
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, cast

import click

from skills_bundle.bundle.assemble import are_line_ends_alone
from skills_bundle.bundle.lock import LOCK_FILE_NAME, catalog_sha256
from skills_bundle.cli.failures import EXIT_OK, EXIT_WRONG, failure_of
from skills_bundle.cli.framework import Command, Example, given_arguments, pass_output
from skills_bundle.cli.options import allow_option, exclude_option, json_option
from skills_bundle.cli.view import pretty
from skills_bundle.cli.view.report import summary
from skills_bundle.cli.view.text import count, safe_line
from skills_bundle.errors import (
    InvalidLockError,
    InvalidSkillsError,
    Problem,
    SettingsError,
    StaleLockError,
)
from skills_bundle.files.writing import replace_file
from skills_bundle.project import project
from skills_bundle.project.project import from_project
from skills_bundle.skills.codes import ALLOWABLE
from skills_bundle.skills.model import Level
from skills_bundle.skills.rules import Policy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic import JsonValue

    from skills_bundle.bundle.lock import CatalogLock
    from skills_bundle.cli.output import Output
    from skills_bundle.errors import SkillsBundleError
    from skills_bundle.project.project import Project
    from skills_bundle.project.settings import Settings
    from skills_bundle.skills.model import ScanResult

Status = Literal["written", "unchanged", "fresh", "stale", "missing", "invalid", "refused"]
"""What happened to the lock file.

`--check` gives `fresh`, `stale`, `missing` (no file) or `invalid` (a file that is not a lock).
`refused` means that no lock can be made.
"""

COLOURS: Final = {"refused": "red", "warning": "yellow"}
HEADLINES: Final[dict[Status, str]] = {
    "written": "written",
    "unchanged": "unchanged; it matches the skills",
    "fresh": "up to date; it matches the skills",
    "stale": "stale; it does not match the skills",
    "missing": "missing",
    "invalid": "not a valid lock",
    "refused": "not written, because a skill was refused",
}
MAX_DIAGNOSTICS: Final = 20
"""Refusals, and likewise warnings, that are printed one by one without --verbose."""
LOCK_HEAD_BYTES: Final = 4096
LOCK_KEY: Final = b'"lock_version"'
"""What the start of every lock holds."""
REPAIRS: Final[dict[Status, str]] = {
    "stale": "To update it, run:",
    "missing": "To write it, run:",
    "invalid": "To write it again, run:",
}
"""Introductions to the command that writes the lock."""


@click.command(
    cls=Command,
    help="""Write or check the lock of a skills folder.

    PROJECT is the working directory by default. Settings come from its pyproject.toml, if there is
    one; options override them. Every skill is locked or refused, with all reasons in one run. If a
    skill is refused, nothing is written. A lock that is up to date is not written again.
    """,
    examples=[
        Example("Write the lock of the project in this folder:", "skills-bundle lock"),
        Example("In CI, fail if the committed lock is stale:", "skills-bundle lock --check"),
        Example(
            "Lock another skills folder, in another file:",
            "skills-bundle lock --skills skills --output elsewhere.lock.json",
        ),
    ],
    exit_codes={
        0: "the lock was written, or is up to date",
        1: "a skill was refused and nothing was written; with --check, the lock is stale",
        2: "wrong arguments or settings",
        3: "a file or folder cannot be read or written",
    },
)
@click.argument("folder", metavar="[PROJECT]", default=".", type=click.Path(path_type=Path))
@click.option("--check", is_flag=True, help="Write nothing; fail if the lock is stale.")
@click.option(
    "--strict/--no-strict",
    default=None,
    help="Refuse skills with warnings.",
    show_default="the project's setting, else no",
)
@click.option(
    "--skills",
    metavar="DIR",
    help="The skills folder, relative to PROJECT.",
    show_default="the project's setting, else skills if it exists, else PROJECT itself",
)
@click.option(
    "--output",
    "target",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The lock file.",
    show_default="catalog.lock.json in PROJECT",
)
@click.option("--force", is_flag=True, help="With --output, replace a file that is not a lock.")
@click.option(
    "--collection",
    metavar="NAME",
    help="The collection's name in the lock.",
    show_default="the project's setting, else its name",
)
@exclude_option
@allow_option
@click.option(
    "--verbose",
    is_flag=True,
    help=f"Print every diagnostic; else more than {MAX_DIAGNOSTICS} are summarized.",
)
@json_option
@click.pass_context
@pass_output
def command(  # noqa: PLR0913 - one parameter an option
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
    allow: tuple[str, ...],
    verbose: bool,
    force: bool,
) -> int:
    """Write or check the lock of a skills folder."""
    given = {"strict": strict, "skills": skills, "collection": collection}
    overrides = cast(
        "project.Overrides", {name: value for name, value in given.items() if value is not None}
    )
    if target is not None:
        _check_target(target, force=force or check)
    loaded = _load(folder, overrides)
    if exclude or allow:
        overrides["exclude"] = (*loaded.settings.exclude, *exclude)
        overrides["allow"] = (*loaded.settings.allow, *allow)
        loaded = _load(folder, overrides)
    if target is not None:
        loaded = replace(loaded, old_bytes=project.read_lock_file(target))
    with pretty.progress(output, "Reading the skills ..."):
        report = _run(loaded, target or loaded.lock_path, check=check)
    if output.as_json:
        output.json(report.to_dict())
    else:
        _show(output, report, folder, verbose=verbose)
        if repair := _repair(report):
            # The same arguments: others would give another lock.
            words = [word for word in given_arguments(context) if word != "--check"]
            output.note(f"{repair} {shlex.join(['skills-bundle', 'lock', *words])}")
    return EXIT_OK if report.error is None else failure_of(report.error).exit_code


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostic:
    """A diagnostic of a skill, with its effect.

    Attributes:
        weight: `refused` if the lock cannot have its skill, else `warning`.
        problem: Its path is relative to the project's folder.
    """

    weight: Literal["refused", "warning"]
    problem: Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What one run of `lock` did; skills found = locked + refused.

    Attributes:
        status: What happened to the lock file.
        path: The lock file, as it was typed.
        settings: The settings that applied.
        result: The skills.
        lock: The lock that the skills give; None if one is refused.
        error: Why the run failed, or None.
    """

    status: Status
    path: str
    settings: Settings
    result: ScanResult
    lock: CatalogLock | None
    error: SkillsBundleError | None = None

    @property
    def lock_in_file(self) -> CatalogLock | None:
        """The lock, if the file has it: other digests would be mistaken for the file's."""
        return self.lock if self.status in {"written", "unchanged", "fresh"} else None

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Every diagnostic: refusals first, then by place."""
        rows = sorted(
            dict.fromkeys(self._diagnostics()),  # two skills that collide share one
            key=lambda row: (row.weight, row.problem.path or "", row.problem.line or 0),
        )
        return tuple(rows)

    def _diagnostics(self) -> Iterator[Diagnostic]:
        result = self.result
        policy = Policy(self.settings.strict, self.settings.allow)
        refused = [(row, policy.refuses(row)) for s in result.refused for row in s.diagnostics]
        good = [(row, False) for skill in result.skills for row in skill.diagnostics]
        for row, refuses in (*refused, *good, *((row, False) for row in result.problems)):
            problem = Problem(code=row.code, message=row.message, path=row.path, line=row.line)
            yield Diagnostic(
                weight="refused" if refuses or row.level is Level.REFUSE else "warning",
                problem=from_project(problem, self.settings.skills),
            )

    @property
    def total(self) -> str:
        """The number of skills, locked and refused."""
        result = self.result
        excluded = f"; {len(result.excluded):,} more excluded" if result.excluded else ""
        kept = "locked" if self.lock is not None else "good"
        return (
            f"{count(result.found, 'skill')} = {len(result.skills):,} {kept} + "
            f"{len(result.refused):,} refused{excluded}"
        )

    def to_dict(self) -> dict[str, JsonValue]:
        """Return the document that `--json` prints; it has `error` only if the run failed."""
        lock = self.lock_in_file
        document: dict[str, JsonValue] = {
            "status": self.status,
            "lock": self.path,
            "skills_folder": self.settings.skills,
            "collection": self.settings.collection,
            "found": self.result.found,
            "good": len(self.result.skills),
            "refused": [row.path for row in self.result.refused],
            "excluded": [*self.result.excluded],
            "without_skill_md": [*self.result.without_skill_md],
            "diagnostics": [
                {
                    "weight": row.weight,
                    "code": row.problem.code,
                    "message": row.problem.message,
                    "path": row.problem.path,
                    "line": row.problem.line,
                }
                for row in self.diagnostics
            ],
            "files": None if self.lock is None else len(self.lock.files()),
            "catalog_sha256": None if lock is None else catalog_sha256(lock.to_bytes()),
            "dir_hash": None if lock is None else lock.digests.dir_hash,
            "git_tree": None if lock is None else lock.digests.git_tree,
        }
        if self.error is not None:
            document["error"] = failure_of(self.error).to_dict()
        return document


def _check_target(target: Path, *, force: bool) -> None:
    """Check that `--output` replaces nothing but a lock.

    Args:
        target: Where the lock goes.
        force: Whether another regular file may be replaced, or none is written.

    Raises:
        click.UsageError: If something else is there.
    """
    if target.is_symlink():
        message = "is a link, which is not followed or replaced; name the file itself"
        raise click.UsageError(f"{target} {message}.")
    if not force and target.is_file() and not _may_be_lock(target):
        raise click.UsageError(f"{target} exists and is not a lock. To replace it, add --force.")


def _may_be_lock(path: Path) -> bool:
    """Return whether a file is empty, or a lock, which a conflict or an edit may have damaged."""
    with path.open("rb") as file:
        start = file.read(LOCK_HEAD_BYTES)
    return path.name == LOCK_FILE_NAME or not start or LOCK_KEY in start


def _load(folder: Path, overrides: project.Overrides) -> Project:
    try:
        return project.load(folder, **overrides)
    except SettingsError as error:
        problems = tuple(_as_option(problem) for problem in error.problems)
        raise SettingsError(error.summary, problems) from error


def _as_option(problem: Problem) -> Problem:
    """Name the option, if the wrong setting came from one."""
    place, _, name = (problem.path or "").rpartition(".")
    return replace(problem, path=f"--{name}") if place == project.COMMAND_LINE else problem


def _run(loaded: Project, path: Path, *, check: bool) -> Report:
    result = project.find_skills(loaded)
    report = Report(
        status="refused", path=str(path), settings=loaded.settings, result=result, lock=None
    )
    try:
        lock = project.lock_of(loaded, result)
    except InvalidSkillsError as error:
        return replace(report, error=error)
    report = replace(report, lock=lock)
    if check:
        return _checked(report, loaded, lock)
    if lock.to_bytes() == loaded.old_bytes:
        return replace(report, status="unchanged")
    replace_file(path, lock.to_bytes())
    return replace(report, status="written")


def _checked(report: Report, loaded: Project, lock: CatalogLock) -> Report:
    try:
        project.demand_current(loaded, lock, report.result)
    except StaleLockError as error:
        status: Status = "stale" if loaded.old_bytes is not None else "missing"
        return replace(report, status=status, error=error)
    except InvalidLockError as error:
        return replace(report, status="invalid", error=error)
    return replace(report, status="fresh")


def _repair(report: Report) -> str:
    """Return the introduction to the command that repairs the lock, or "" if it would not."""
    problems = () if report.error is None else report.error.problems
    codes = {problem.code for problem in problems}
    if "lock_line_ends" in codes:
        return ""
    if are_line_ends_alone(codes):
        return "Only if you want the new line endings, run:"
    return REPAIRS.get(report.status, "")


def _from_here(problem: Problem, folder: Path) -> Problem:
    """Make a path relative to the working directory, so that editors can open it."""
    if problem.path is None or problem.code == "whole":
        return problem
    return replace(problem, path=(folder / problem.path).as_posix())


def _placed(report: Report, problem: Problem, folder: Path) -> Problem:
    """Return a problem of the lock with the file's name, any other with its path from here."""
    if report.status not in {"missing", "invalid"}:
        return _from_here(problem, folder)
    inside = "" if problem.path in {None, LOCK_FILE_NAME} else f": {problem.path}"
    return replace(problem, path=f"{report.path}{inside}")


def _show_diagnostics(output: Output, report: Report, folder: Path, *, verbose: bool) -> None:
    """Print refusals, then warnings: one by one if they are few, else a line for each code."""
    cut = False
    for weight, colour in COLOURS.items():
        problems = [row.problem for row in report.diagnostics if row.weight == weight]
        lines = [str(_from_here(problem, folder)) for problem in problems]
        if len(lines) > MAX_DIAGNOSTICS and not verbose:
            cut, lines = True, _by_code(problems, folder)
        for line in lines:
            output.note(f"{output.emphasis(f'{weight}:', colour)} {safe_line(line)}")
    if cut:
        output.note("To print every diagnostic, add --verbose; for programs, --json.")


def _by_code(problems: list[Problem], folder: Path) -> list[str]:
    """Return a line for each code, with its number and first place; the most frequent first."""
    first: dict[str, Problem] = {}
    for problem in problems:
        first.setdefault(problem.code, problem)
    counted = Counter(problem.code for problem in problems)
    places = {code: str(_from_here(problem, folder)) for code, problem in first.items()}
    return [
        f"{code} ({number:,}), first {places[code].removesuffix(f' [{code}]')}"
        for code, number in sorted(counted.items(), key=lambda row: (-row[1], row[0]))
    ]


def _show(output: Output, report: Report, folder: Path, *, verbose: bool) -> None:
    """Print diagnostics and errors on standard error, the result on standard output."""
    _show_diagnostics(output, report, folder, verbose=verbose)
    for path in report.result.without_skill_md:
        output.note(f"note: {safe_line(path)} has files but no SKILL.md, so it is not a skill")
    if report.error is not None:
        failure = failure_of(report.error)
        is_printed = report.status == "refused" and bool(report.diagnostics)
        problems = failure.problems if not is_printed else ()
        placed = tuple(_placed(report, row, folder) for row in problems)
        step = None if _repair(report) else failure.next_step
        output.failure(replace(failure, problems=placed, next_step=step))
    _suggest_allow(output, report)
    rows = [("skills", report.total)]
    if report.lock is not None:
        rows.append(("files", f"{len(report.lock.files()):,}"))
    if report.lock_in_file is not None:
        lock = report.lock_in_file
        rows += [
            ("sha256", catalog_sha256(lock.to_bytes())),
            ("git tree", lock.digests.git_tree),
        ]
    headline = f"{report.path}: {HEADLINES[report.status]}"
    code = EXIT_OK if report.error is None else EXIT_WRONG
    pretty.show(output, summary(code, headline, rows, output.terminal))


def _suggest_allow(output: Output, report: Report) -> None:
    """Print how to lock skills that are refused for a diagnostic that can be allowed."""
    codes = {row.problem.code for row in report.diagnostics if row.weight == "refused"}
    for code in ALLOWABLE:
        if code in codes:
            output.note(
                f'To lock skills with {code} as well, put `allow = ["{code}"]` into the settings, '
                f"or add `--allow {code}`."
            )

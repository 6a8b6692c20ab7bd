"""Edge: `rebuild`: the commit of an archive is built again and the results are compared."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn, cast

import click

from skills_bundle.cli.framework import Command, Example, environment, pass_output
from skills_bundle.cli.options import (
    archive_argument,
    json_option,
    project_option,
    repository_option,
    verbose_option,
)
from skills_bundle.cli.view import pretty
from skills_bundle.cli.view.report import FileLine, file_table, summary
from skills_bundle.supply_chain import limits
from skills_bundle.supply_chain.rebuild import front_end as front_ends
from skills_bundle.supply_chain.rebuild.front_end import FRONT_ENDS, Order
from skills_bundle.supply_chain.rebuild.rebuild import Options, rebuild

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from types import FrameType

    from rich.console import RenderableType

    from skills_bundle.archives.model import ArchiveKind
    from skills_bundle.cli.output import Output, Terminal
    from skills_bundle.supply_chain.rebuild.front_end import FrontEnd
    from skills_bundle.supply_chain.rebuild.rebuild import Rebuild, RebuildVerdict

HEADLINES: Final[dict[RebuildVerdict, str]] = {
    "identical": "identical: the commit builds this archive, bit for bit",
    "same_content_different_archive": "the same content in a different archive",
    "different_content": "different content: the commit builds another archive",
    "not_rebuildable": "not rebuildable: nothing was compared",
}
DIFFERENCES: Final = {
    "added": "only in the rebuilt archive",
    "removed": "only in the given archive",
    "executable": "mode",
}
PAGE: Final = "docs/how-to/rebuild-a-release.md"
"""Creates the files of the examples."""


@click.command(
    cls=Command,
    help="""Build the commit of a wheel or sdist again and compare the results.

    The commit that the receipt in FILE names is cloned from a local repository into a temporary
    folder and built there. The results must be equal, bit for bit.

    THIS RUNS THE COMMIT'S CODE, and the code of its build requirements, with your permissions. The
    build front end can download build requirements from an index. `skills-bundle verify-source`
    compares without running code.
    """,
    examples=[
        Example(
            "Build with the first front end that is installed:",
            "skills-bundle rebuild acme_skills-1.2.0-py3-none-any.whl --repo clone",
            PAGE,
        ),
        Example(
            "Choose a front end, and keep what it builds:",
            "skills-bundle rebuild acme/dist/acme_skills-1.2.0.tar.gz --repo clone --front-end uv "
            "--keep rebuilt",
            PAGE,
        ),
        Example(
            "Pin the build environment:",
            "skills-bundle rebuild dist/skills_bundle-0.1.0-py3-none-any.whl --repo . "
            "--build-constraint build-constraints.txt",
            "docs/how-to/release.md",
        ),
    ],
    exit_codes={
        0: "identical, bit for bit",
        1: "the commit builds another archive, or the archive is refused",
        2: "wrong arguments",
        3: "not rebuildable: no commit is named, the repository lacks it, or the build failed",
    },
)
@archive_argument
@repository_option
@project_option
@click.option(
    "--front-end",
    type=click.Choice(FRONT_ENDS),
    help="The build front end.",
    show_default="the first that is installed",
)
@click.option(
    "--no-isolation",
    is_flag=True,
    help="Build with the packages in the interpreter's environment.",
)
@click.option(
    "--build-constraint",
    "constraint",
    metavar="FILE",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Constraints for build requirements, for the front end.",
)
@click.option(
    "--python",
    metavar="PYTHON",
    help="The interpreter to build with.",
    show_default="the one that runs this program",
)
@click.option(
    "--timeout",
    "seconds",
    metavar="SECONDS",
    type=click.FloatRange(min=1),
    default=limits.REBUILD_SECONDS,
    help="The time limit for the build.",
)
@click.option(
    "--keep",
    metavar="DIR",
    type=click.Path(path_type=Path, file_okay=False),
    help="Save the rebuilt archive in this folder, which must be new or empty.",
)
@verbose_option
@json_option
@click.pass_context
@pass_output
def command(  # noqa: PLR0913 - one parameter an option
    output: Output,
    context: click.Context,
    *,
    file: Path,
    repo: Path,
    project: str | None,
    front_end: str | None,
    no_isolation: bool,
    constraint: Path | None,
    python: str | None,
    seconds: float,
    keep: Path | None,
    verbose: bool,
) -> int:
    """Build the commit of a wheel or sdist again and compare the results."""
    options = Options(
        environ=environment(context),
        front_end=cast("FrontEnd | None", front_end),
        isolated=not no_isolation,
        constraint=constraint,
        python=python,
        project=project,
        keep=keep,
        seconds=seconds,
        phase=lambda message: pretty.progress(output, message),
    )
    _check(options, file)
    with _cleaning_up_after_signals():
        report = rebuild(file, repo, options)
    if output.as_json:
        output.json(report.to_dict())
        return report.exit_code
    pretty.show(output, _parts(report, output.terminal, everything=verbose))
    if report.exit_code:
        output.note(_next_step(report))
    return report.exit_code


def _check(options: Options, file: Path) -> None:
    """Refuse options that cannot work before a build that can take minutes.

    Raises:
        click.UsageError: If an option is not supported by the front end, or --keep is not empty.
    """
    if options.keep is not None and options.keep.exists() and any(options.keep.iterdir()):
        raise click.UsageError(f"--keep: {options.keep} is not empty.")
    if options.keep is not None:
        options.keep.mkdir(parents=True, exist_ok=True)
    if options.front_end is None:
        return
    kind: ArchiveKind = "sdist" if file.name.endswith(".tar.gz") else "wheel"
    order = Order(
        kind=kind,
        project="",
        out="",
        python=options.python,
        isolated=options.isolated,
        constraint=None if options.constraint is None else str(options.constraint),
    )
    wrong = front_ends.problems(options.front_end, order)
    if wrong:
        text = "; ".join(f"{problem.path}: {problem.message}" for problem in wrong)
        raise click.UsageError(f"{text}. Choose another --front-end.")


@contextmanager
def _cleaning_up_after_signals() -> Generator[None]:
    """Turn signals that end the process into exceptions, so that the clone is removed."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    names = [name for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    numbers = [signal.Signals[name] for name in names]
    old = {number: signal.signal(number, _leave) for number in numbers}
    try:
        yield
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)


def _leave(number: int, _frame: FrameType | None) -> NoReturn:
    raise SystemExit(128 + number)


def _parts(report: Rebuild, terminal: Terminal, *, everything: bool) -> Iterator[RenderableType]:
    rows = [("sha256", report.sha256)]
    if report.rebuilt is not None and report.verdict != "identical":
        rows.append(("rebuilt", f"{report.rebuilt.sha256} {report.rebuilt.file_name}"))
    rows += [
        ("repository", report.repository or "-"),
        ("commit", report.commit or "-"),
        ("project", report.project or "-"),
        ("front end", _front_end(report)),
        *(("because", cause.message) for cause in report.causes),
    ]
    headline = f"{report.file_name}: {HEADLINES[report.verdict]}"
    yield from summary(report.exit_code, headline, rows, terminal)
    if report.log:
        yield pretty.heading("The end of the build log")
        yield from (pretty.unbroken(f"  {line}") for line in report.log)
    files = [
        FileLine(
            ", ".join(DIFFERENCES.get(kind, kind) for kind in row.kinds),
            f"{row.path} {row.before_sha256 or '-'}, rebuilt {row.after_sha256 or '-'}",
        )
        for row in (() if report.diff is None else report.diff.members)
    ]
    title = "1 file differs" if len(files) == 1 else f"{len(files):,} files differ"
    yield from file_table(title, files, terminal, everything=everything)


def _front_end(report: Rebuild) -> str:
    return "-" if report.front_end is None else f"{report.front_end}, which ran the commit's code"


def _next_step(report: Rebuild) -> str:
    if report.verdict == "same_content_different_archive":
        return "The files are the same, but this is not the archive that the commit builds."
    if report.verdict == "different_content":
        return "Do not use this archive as a build of the commit before you know each cause."
    codes = {cause.code for cause in report.causes}
    if report.commit is None and "no_source_commit" not in codes:
        return "Nothing was compared."  # verify-source would find no commit, either
    return "Nothing was compared. `skills-bundle verify-source` compares without a build."

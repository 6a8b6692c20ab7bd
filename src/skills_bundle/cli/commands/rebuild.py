"""Edge: `rebuild`, the commit of an archive built again."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn, cast

import click

from skills_bundle.cli.framework import Command, Example, environment, json_option, pass_output
from skills_bundle.cli.view import pretty
from skills_bundle.cli.view.progress import patience
from skills_bundle.cli.view.text import count, safe
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
    from skills_bundle.cli.view.pretty import Mark
    from skills_bundle.supply_chain.rebuild.front_end import FrontEnd
    from skills_bundle.supply_chain.rebuild.rebuild import Rebuild, RebuildVerdict

ROWS_SHOWN: Final = 12
"""Rows of the difference shown without --verbose."""

MARKS: Final[dict[RebuildVerdict, Mark]] = {
    "identical": "good",
    "same_content_different_archive": "bad",
    "different_content": "bad",
    "not_rebuildable": "unsure",
}
HEADLINES: Final[dict[RebuildVerdict, str]] = {
    "identical": "identical; the commit gives this archive, bit for bit",
    "same_content_different_archive": "the same content in a different archive",
    "different_content": "different content; the commit gives another archive",
    "not_rebuildable": "not rebuildable; nothing could be compared",
}


PAGE: Final = "docs/how-to/rebuild-a-release.md"
"""Has the files that the examples are about."""


@click.command(
    cls=Command,
    help="""Build the commit of an archive again and compare bit for bit.

    FILE is a wheel or an sdist. The commit that its receipt names is cloned from a repository of
    yours into a temporary folder and built there.

    THIS RUNS THE COMMIT'S CODE, and that of whatever its build requires, with your rights: build
    scripts can do all that you can. The front end may fetch what the build requires from an index.
    For a comparison that runs nobody's code there is `skills-bundle verify-source`.
    """,
    examples=[
        Example(
            "With the first front end that is there:",
            "skills-bundle rebuild acme_skills-1.2.0-py3-none-any.whl --repo clone",
            PAGE,
        ),
        Example(
            "With a front end that you choose, and keep what it makes:",
            "skills-bundle rebuild acme/dist/acme_skills-1.2.0.tar.gz --repo clone --front-end uv "
            "--keep rebuilt",
            PAGE,
        ),
        Example(
            "With a build environment that was written down:",
            "skills-bundle rebuild dist/skills_bundle-0.1.0-py3-none-any.whl --repo . "
            "--build-constraint build-constraints.txt",
            "docs/how-to/release.md",
        ),
    ],
    exit_codes={
        0: "identical, bit for bit",
        1: "another archive: the same content packed otherwise, or different content; or the "
        "archive is refused",
        2: "wrong arguments",
        3: "not rebuildable: no commit is named, the repository lacks it, or the build failed",
    },
)
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.option(
    "--repo",
    metavar="DIR",
    required=True,
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="A folder of a git repository, or a bare repository; it is only read.",
)
@click.option(
    "--project",
    metavar="PATH",
    help="The project's folder in the repository, if there are several.",
    show_default="the folder that holds the lock of the archive",
)
@click.option(
    "--front-end",
    type=click.Choice(FRONT_ENDS),
    help="What builds.",
    show_default="the first that is there",
)
@click.option(
    "--no-isolation",
    is_flag=True,
    help="Build with what is installed in the interpreter's environment.",
)
@click.option(
    "--build-constraint",
    "constraint",
    metavar="FILE",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Constraints for what the build requires, handed to the front end.",
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
    help="How long the build may take.",
)
@click.option(
    "--keep",
    metavar="DIR",
    type=click.Path(path_type=Path, file_okay=False),
    help="Keep the rebuilt archive in this folder, which must be new or empty.",
)
@click.option("--verbose", is_flag=True, help="Show the whole difference.")
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
    """Build the commit of an archive again and compare bit for bit."""
    options = Options(
        environ=environment(context),
        front_end=cast("FrontEnd | None", front_end),
        isolated=not no_isolation,
        constraint=constraint,
        python=python,
        project=project,
        keep=keep,
        seconds=seconds,
        phase=lambda doing: patience(output, doing),
    )
    _check(options, file)
    with _ended_by_signals():
        found = rebuild(file, repo, options)
    if output.as_json:
        output.json(found.to_dict())
        return found.exit_code
    output.text(pretty.render(_parts(found, output.terminal, everything=verbose), output.terminal))
    if found.exit_code:
        output.note(_next_step(found))
    return found.exit_code


def _check(options: Options, file: Path) -> None:
    """Refuse what the front end does not know, before anything is read."""
    if options.keep is not None and options.keep.exists() and any(options.keep.iterdir()):
        raise click.UsageError(f"--keep: {options.keep} is not empty.")
    if options.keep is not None:  # before a build of minutes, not after it
        options.keep.mkdir(parents=True, exist_ok=True)
    if options.front_end is None:
        return
    kind: ArchiveKind = "sdist" if file.name.endswith(".tar.gz") else "wheel"
    constraint = None if options.constraint is None else str(options.constraint)
    order = Order(
        kind=kind,
        project="",
        out="",
        python=options.python,
        isolated=options.isolated,
        constraint=constraint,
    )
    wrong = front_ends.problems(options.front_end, order)
    if wrong:
        told = "; ".join(f"{problem.path}: {problem.message}" for problem in wrong)
        raise click.UsageError(f"{told}. Choose another --front-end.")


@contextmanager
def _ended_by_signals() -> Generator[None]:
    """Let signals that end a process end this one as Ctrl-C does: the clone has to be removed."""
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


def _parts(found: Rebuild, terminal: Terminal, *, everything: bool) -> Iterator[RenderableType]:
    yield pretty.marked(
        MARKS[found.verdict], f"{found.file_name}: {HEADLINES[found.verdict]}", terminal
    )
    rows = [("sha256", found.sha256)]
    if found.rebuilt is not None and found.verdict != "identical":
        rows.append(("rebuilt", f"{found.rebuilt.sha256} {found.rebuilt.file_name}"))
    rows += [
        ("repository", found.repository or "-"),
        ("commit", found.commit or "-"),
        ("project", found.project or "-"),
        ("built by", f"{found.front_end}, by the commit's own code" if found.front_end else "-"),
        *(("because", cause.message) for cause in found.causes),
    ]
    yield pretty.facts(rows)
    if found.log:
        yield pretty.heading("The end of the build's log")
        yield from (pretty.unbroken(f"  {line}") for line in found.log)
    yield from _difference(found, terminal, everything=everything)


def _difference(
    found: Rebuild, terminal: Terminal, *, everything: bool
) -> Iterator[RenderableType]:
    if found.diff is None or not found.diff.members:
        return
    members = found.diff.members
    shown = members if everything else members[:ROWS_SHOWN]
    yield pretty.heading(f"{count(len(members), 'file')} not the same")
    columns = [
        pretty.Column("Difference", style="bold"),
        pretty.Column("File, SHA-256 given and rebuilt", ratio=1),
    ]
    words = {"added": "only rebuilt", "removed": "only given", "executable": "mode"}
    table = [
        (
            ", ".join(words.get(kind, kind) for kind in row.kinds),
            f"{row.path} {row.before_sha256 or '-'} {row.after_sha256 or '-'}",
        )
        for row in shown
    ]
    yield pretty.table(columns, table, terminal)
    if len(shown) < len(members):
        yield pretty.line(f"and {len(members) - len(shown):,} more; --verbose shows all")


def _next_step(found: Rebuild) -> str:
    if found.verdict == "same_content_different_archive":
        return safe("Its files are the commit's. It is not the archive that the commit gives.")
    if found.verdict == "different_content":
        return "Do not take this archive for the commit's before each cause above is explained."
    codes = {cause.code for cause in found.causes}
    if found.commit is None and "no_source_commit" not in codes:
        # verify-source would find no commit to compare with, either; of one that no receipt names
        # it can be told.
        return "Nothing was compared."
    return "Nothing was compared; `skills-bundle verify-source` compares without a build."

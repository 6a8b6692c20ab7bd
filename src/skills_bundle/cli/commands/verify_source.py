"""Edge: `verify-source`, an archive against the commit it says it was built from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from skills_bundle.cli.framework import Command, Example, json_option, pass_output
from skills_bundle.cli.view import pretty
from skills_bundle.cli.view.progress import patience
from skills_bundle.cli.view.text import count
from skills_bundle.supply_chain.source.verify import Wanted, verify_source

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType

    from skills_bundle.cli.output import Output, Terminal
    from skills_bundle.cli.view.pretty import Mark
    from skills_bundle.supply_chain.source.report import (
        CheckState,
        FileState,
        SourceFile,
        SourceVerification,
        Verdict,
    )

ROWS_SHOWN: Final = 12
"""Rows of files shown without --verbose, so that the summary stays on one screen."""

MARKS: Final[dict[Verdict, Mark]] = {"match": "good", "differs": "bad", "cannot_tell": "unsure"}
HEADLINES: Final[dict[Verdict, str]] = {
    "match": "every file is the commit's, or made by the build as far as that can be checked",
    "differs": "this is not what the commit holds",
    "cannot_tell": "cannot tell whether this is what the commit holds",
}
WORDS: Final[dict[CheckState, str]] = {
    "holds": "verified",
    "fails": "WRONG",
    "cannot_tell": "cannot tell",
    "remark": "not checked",
}
STATES: Final[dict[FileState, str]] = {
    "equals_blob": "equal to a blob",
    "generated": "made by the build",
    "unchecked": "made by the build, unchecked",
    "moved": "elsewhere in the commit",
    "missing_object": "not in this clone",
    "differs": "different",
    "not_in_commit": "not in the commit",
}


PAGE: Final = "docs/how-to/compare-with-the-source.md"
"""Has the files that the examples are about."""


@click.command(
    cls=Command,
    help="""Compare an archive with the commit it says it was built from.

    FILE is a wheel or an sdist. Each file in it is accounted for against the blobs of the commit
    that its receipt names, read from a repository of yours. No code of anybody's runs: no build,
    no git hook, no filter. Nothing is fetched or written.
    """,
    examples=[
        Example(
            "Against a clone of the project:",
            "skills-bundle verify-source acme_skills-1.2.0-py3-none-any.whl --repo clone",
            PAGE,
        ),
        Example(
            "Against a commit that you name yourself, for programs:",
            "skills-bundle verify-source acme/dist/acme_skills-1.2.0.tar.gz --repo clone "
            "--commit HEAD --json",
            PAGE,
        ),
    ],
    exit_codes={
        0: "every file is the commit's, or made by the build and right as far as can be checked",
        1: "something is not as the commit has it, or the archive is refused",
        2: "wrong arguments",
        3: "cannot tell: no commit is named, or the repository lacks something of it",
    },
)
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.option(
    "--repo",
    metavar="DIR",
    required=True,
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="A folder of a git repository, or a bare repository.",
)
@click.option(
    "--commit",
    "revision",
    metavar="REV",
    help="Compare with this commit; it is also compared with the receipt's.",
    show_default="the commit that the receipt names",
)
@click.option(
    "--project",
    metavar="PATH",
    help="The project's folder in the repository, if there are several.",
    show_default="the folder that holds the lock of the archive",
)
@click.option("--verbose", is_flag=True, help="List every file with what it is.")
@json_option
@pass_output
def command(  # noqa: PLR0913 - one parameter an option
    output: Output,
    *,
    file: Path,
    repo: Path,
    revision: str | None,
    project: str | None,
    verbose: bool,
) -> int:
    """Compare an archive with the commit it says it was built from."""
    with patience(output, "Comparing with the commit ..."):
        found = verify_source(file, repo, Wanted(revision, project))
    if output.as_json:
        output.json(found.to_dict())
        return found.exit_code
    parts = [*_summary(found, output.terminal), *_files(found, output.terminal, everything=verbose)]
    parts.append(pretty.heading("Not proved"))
    parts += [pretty.line(f"  {text}") for text in found.not_proved]
    output.text(pretty.render(parts, output.terminal))
    if found.exit_code:
        output.note(_next_step(found))
    return found.exit_code


def _summary(found: SourceVerification, terminal: Terminal) -> list[RenderableType]:
    headline = f"{found.file_name}: {HEADLINES[found.verdict]}"
    files = ", ".join(f"{number:,} {_state(state)}" for state, number in found.counts.items())
    rows = [
        ("sha256", found.sha256),
        ("repository", found.repository),
        ("commit", found.commit),
        ("project", found.project),
        ("files", files),
        *(
            (row.name.replace("_", " "), f"{WORDS[row.state]}: {row.detail}")
            for row in found.checks[1:]
        ),
    ]
    rows.insert(3, ("", f"{WORDS[found.checks[0].state]}: {found.checks[0].detail}"))
    return [pretty.marked(MARKS[found.verdict], headline, terminal), pretty.facts(rows)]


def _state(state: str) -> str:
    return next((words for key, words in STATES.items() if key == state), state)


def _files(
    found: SourceVerification, terminal: Terminal, *, everything: bool
) -> Iterator[RenderableType]:
    """Give what keeps the verdict from being a match, what the build made, and on demand all."""
    wrong = found.differences
    if wrong and not everything:
        yield pretty.heading(f"{count(len(wrong), 'file')} not as the commit has them")
        yield _table(wrong[:ROWS_SHOWN], terminal)
        if len(wrong) > ROWS_SHOWN:
            yield pretty.line(f"and {len(wrong) - ROWS_SHOWN:,} more; --verbose lists all")
    made = [row for row in found.files if row.state == "generated"]
    if everything:
        yield pretty.heading("Every file")
        yield _table(found.files, terminal)
    elif made:
        yield pretty.heading("Made by the build, and what was checked instead")
        yield pretty.facts((row.path.rpartition("/")[2], row.detail) for row in made)


def _table(rows: Sequence[SourceFile], terminal: Terminal) -> RenderableType:
    columns = [
        pretty.Column("State", style="bold"),
        pretty.Column("File, blob and detail", ratio=1),
    ]
    return pretty.table(columns, [(_state(row.state), _row(row)) for row in rows], terminal)


def _row(row: SourceFile) -> str:
    blob = "" if row.blob_path is None else f" <- {row.blob_path} {row.blob}"
    return f"{row.path}{blob}{': ' + row.detail if row.detail else ''}"


def _next_step(found: SourceVerification) -> str:
    if found.verdict == "differs":
        return "Do not use this archive before you know why; `skills-bundle rebuild` tells more."
    if any(row.state == "missing_object" for row in found.files):
        return "Fetch all objects of the commit into the repository, and run this again."
    return "`skills-bundle rebuild` builds the commit again, with the code that places these files."

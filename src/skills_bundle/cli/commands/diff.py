"""Edge: `diff`: two locks, wheels, sdists, installations or folders compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from skills_bundle.bundle.lock import BUNDLE_FOLDER, SKILLS_FOLDER
from skills_bundle.cli.framework import Command, Example, pass_output
from skills_bundle.cli.options import json_option
from skills_bundle.cli.view import pretty
from skills_bundle.cli.view.report import MAX_ROWS, FileLine, file_table, more, summary
from skills_bundle.cli.view.text import count, shortened, size
from skills_bundle.formats.metadata_files import DIST_INFO_SUFFIX
from skills_bundle.supply_chain.diff import compare_inputs
from skills_bundle.supply_chain.diff_inputs import open_input

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import RenderableType

    from skills_bundle.cli.output import Output, Terminal
    from skills_bundle.supply_chain.diff import (
        ArchiveDiff,
        Change,
        Difference,
        FileChange,
        Scope,
        TextDifference,
    )

MAX_LINES: Final = 60
"""Lines of all unified diffs without --verbose."""
MAX_VALUE: Final = 100
"""Characters of one value without --verbose."""
SCOPES: Final[dict[Scope, str]] = {
    "archive": "all files, and how they are stored",
    "distribution": "the installed files",
    "skills": "the skills",
    "files": "all files",
}
STYLES: Final = {"+": "green", "-": "red", "@": "cyan"}
PAGE: Final = "docs/how-to/compare-two-versions.md"
"""Creates the files of the examples."""


@click.command(
    cls=Command,
    help="""Compare two locks, wheels, sdists, installations or folders.

    A and B are each the path of a lock, wheel, sdist or folder, or the name of an installed
    collection. A folder is an installation if it is a package with a bundle, its `.dist-info`
    folder, or a site-packages folder with one bundle. It is a project if it has a lock at its top.
    Any other folder is compared file by file.

    Two wheels or two sdists are compared in full, a wheel and an installation in what is installed,
    and anything else in its skills. Nothing is run or written.
    """,
    examples=[
        Example(
            "Show what a new version changes:",
            "skills-bundle diff old/acme_skills-1.0-py3-none-any.whl "
            "new/acme_skills-1.1-py3-none-any.whl",
            PAGE,
        ),
        Example(
            "Compare a wheel with what is installed:",
            "skills-bundle diff skills_bundle-0.1.0-py3-none-any.whl skills-bundle",
            PAGE,
        ),
        Example(
            "Compare two locks, without text differences:",
            "skills-bundle diff before.lock.json acme/catalog.lock.json --no-text",
            PAGE,
        ),
    ],
    exit_codes={
        0: "A and B are the same",
        1: "A and B differ, or an archive is refused",
        2: "wrong arguments, or a collection that is not installed",
        3: "cannot tell: A or B does not exist, or part of it cannot be read",
    },
)
@click.argument("before", metavar="A", type=click.Path())
@click.argument("after", metavar="B", type=click.Path())
@click.option("--text/--no-text", default=True, help="Show the lines in which text files differ.")
@click.option("--verbose", is_flag=True, help="Show every difference in full.")
@json_option
@pass_output
def command(output: Output, *, before: str, after: str, text: bool, verbose: bool) -> int:
    """Compare two locks, wheels, sdists, installations or folders."""
    with pretty.progress(output, "Reading A and B ..."):
        difference = compare_inputs(open_input(before), open_input(after), text=text)
    if output.as_json:
        output.json(difference.to_dict())
    else:
        pretty.show(output, _parts(difference, output.terminal, everything=verbose))
    return difference.exit_code


def _parts(difference: Difference, terminal: Terminal, *, everything: bool) -> list[RenderableType]:
    """Return the report; without `everything`, each part is cut."""
    skills = [
        ("skills added", difference.skills_added),
        ("skills removed", difference.skills_removed),
        ("skills changed", difference.skills_changed),
    ]
    rows = [
        ("A", f"{difference.before.kind} {difference.before.place}"),
        ("B", f"{difference.after.kind} {difference.after.place}"),
        ("compared", SCOPES[difference.compared]),
        *((name, ", ".join(paths)) for name, paths in skills if paths),
    ]
    parts = summary(difference.exit_code, _headline(difference), rows, terminal)
    files = [_file_line(row) for row in sorted(difference.files, key=_importance)]
    title = "1 file differs" if len(files) == 1 else f"{len(files):,} files differ"
    parts += file_table(title, files, terminal, everything=everything)
    limit = None if everything else MAX_ROWS
    parts += _texts(difference.texts, None if everything else MAX_LINES)
    parts += _changes("Lock", difference.lock, limit)
    parts += _changes("Build receipt", difference.receipt, limit)
    parts += _changes("Metadata", difference.metadata, limit)
    if difference.packing is not None and not difference.packing.identical:
        parts += _packing(difference.packing, limit)
    if difference.unread:
        parts.append(pretty.heading("Not read"))
        parts += [pretty.line(f"  {one.path}: {one.message}") for one in difference.unread]
    return parts


def _headline(difference: Difference) -> str:
    if difference.verdict == "same":
        return "A and B are the same"
    if difference.verdict == "cannot_tell":
        return "A and B are the same as far as they can be read"
    if difference.packing is not None and difference.packing.same_content:
        return "A and B have the same files, stored differently"
    return "A and B differ"


def _importance(row: FileChange) -> tuple[bool, bool]:
    """Sort skills first, then other files, then files that the build generates."""
    folders = row.path.split("/")[:-1]
    generated = bool(folders) and folders[0].endswith(DIST_INFO_SUFFIX)
    is_skill = f"/{SKILLS_FOLDER}/" in f"/{row.path}"
    return generated or folders[-1:] == [BUNDLE_FOLDER], not is_skill


def _file_line(row: FileChange) -> FileLine:
    sizes = [size(one) for one in (row.before_size, row.after_size) if one is not None]
    text = f"{row.path} {row.after_sha256 or row.before_sha256}"
    if "changed" in row.kinds:
        text += f", was {row.before_sha256}"
    mode = "now executable" if row.after_executable else "no longer executable"
    kinds = [mode if kind == "executable" else kind for kind in row.kinds]
    return FileLine(", ".join(kinds), text, " to ".join(dict.fromkeys(sizes)))


def _changes(title: str, changes: Sequence[Change], limit: int | None) -> list[RenderableType]:
    if not changes:
        return []
    parts: list[RenderableType] = [pretty.heading(title)]
    for change in changes[:limit]:
        parts.append(pretty.unbroken(f"  {change.name}:"))
        for mark, value in (("-", change.before), ("+", change.after)):
            whole = "none" if value is None else value
            text = whole if limit is None else shortened(whole, MAX_VALUE)
            parts.append(pretty.unbroken(f"  {mark} {text}", style=STYLES[mark]))
    return [*parts, *more(0 if limit is None else len(changes) - limit)]


def _packing(packing: ArchiveDiff, limit: int | None) -> list[RenderableType]:
    """Return how two archives store their files: one row for each property, with an example."""
    parts = _changes("Archive", packing.wrapping, limit)
    properties: dict[str, list[tuple[str, Change]]] = {}
    for entry in packing.entries:
        for change in entry.changes:
            properties.setdefault(change.name, []).append((entry.path, change))
    if properties:
        parts.append(pretty.heading("How files are stored"))
    for name, rows in properties.items():
        path, change = rows[0]
        entries = count(len(rows), "entry", "entries")
        values = f"{change.before or '-'} to {change.after or '-'}"
        parts.append(pretty.line(f"  {name}: {entries}, for example {path}: {values}"))
    if packing.folders:
        rows_of_folders = [
            (row.name, "B" if row.before is None else "A") for row in packing.folders
        ]
        listed = ", ".join(f"{path} ({side})" for path, side in rows_of_folders[:limit])
        parts.append(pretty.line(f"  folders listed on one side only: {listed}"))
    return parts


def _texts(texts: Iterable[TextDifference], limit: int | None) -> list[RenderableType]:
    """Return the unified diffs."""
    lines = [line for text in texts for line in (*text.lines, *(["..."] if text.cut else []))]
    if not lines:
        return []
    return [
        pretty.heading("Lines"),
        *(pretty.unbroken(line, style=STYLES.get(line[:1], "")) for line in lines[:limit]),
        *more(0 if limit is None else len(lines) - limit, "lines"),
    ]

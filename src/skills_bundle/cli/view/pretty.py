"""Decision: tables, Markdown and progress for a terminal; the only user of rich.

Everything is built from `Text`, never from rich's markup, so that brackets in untrusted text stay
brackets. Nothing is cut: what is too long for a line is folded.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from io import StringIO
from threading import Timer
from typing import TYPE_CHECKING, Final, Literal

from rich import box
from rich.cells import cell_len
from rich.console import Console, Group
from rich.markdown import Markdown
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from skills_bundle.cli.view.text import safe, safe_line, split_frontmatter

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Sequence

    from rich.console import RenderableType

    from skills_bundle.cli.output import Output, Terminal

Mark = Literal["good", "bad", "unsure"]

PROGRESS_AFTER_SECONDS: Final = 1.0
"""Shorter work shows no progress."""
MIN_PROSE_WIDTH: Final = 24
"""Columns that prose in a table needs; with fewer, each row becomes a list."""
GAP: Final = 3
"""Columns between two columns of a table."""

MARKS: Final[dict[Mark, tuple[str, str, str]]] = {
    "good": ("✓", "ok", "bold green"),
    "bad": ("✗", "NO", "bold red"),
    "unsure": ("?", "??", "bold yellow"),
}
"""Sign, sign in ASCII, style."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    Attributes:
        title: Its heading.
        style: A rich style, for terminals with colour.
        justify: `right` for numbers.
        ratio: Share of the remaining width, for columns of prose; None for the content's width.
    """

    title: str
    style: str = ""
    justify: Literal["left", "right"] = "left"
    ratio: int | None = None


def render(parts: Iterable[RenderableType], terminal: Terminal) -> str:
    """Return the parts, one below the other, as text for this terminal."""
    console = Console(
        file=StringIO(),
        width=terminal.width,
        force_terminal=terminal.colour,
        color_system="standard" if terminal.colour else None,
        no_color=not terminal.colour,
        legacy_windows=False,
        highlight=False,
        markup=False,
        emoji=False,
    )
    with console.capture() as capture:
        console.print(Group(*parts), crop=False)
    lines = "\n".join(line.rstrip() for line in capture.get().splitlines())
    return lines.lstrip("\n") + "\n"


def show(output: Output, parts: Iterable[RenderableType]) -> None:
    """Print the parts on standard output."""
    output.text(render(parts, output.terminal))


@contextmanager
def progress(output: Output, message: str) -> Generator[None]:
    """Show a message on standard error while work takes long; only on a terminal."""
    if not output.error_terminal.interactive:
        yield
        return
    console = Console(stderr=True, no_color=not output.error_terminal.colour, highlight=False)
    status = console.status(Text(message), spinner="line")
    timer = Timer(PROGRESS_AFTER_SECONDS, status.start)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()  # it may be starting the status right now
        status.stop()


def line(text: str, style: str = "") -> Text:
    """Return one paragraph of untrusted text."""
    return Text(safe(text), style=style, overflow="fold")


def unbroken(text: str, style: str = "") -> Text:
    """Return one line that is never folded, for what people copy or search for."""
    return Text(safe_line(text), style=style, no_wrap=True, overflow="ignore")


def heading(text: str) -> Text:
    """Return a heading, after an empty line."""
    return Text("\n" + safe_line(text), style="bold", overflow="fold")


def marked(mark: Mark, text: str, terminal: Terminal) -> RenderableType:
    """Return a line that starts with a sign for good, bad or unsure."""
    return _grid([(sign(mark, terminal), text)], gap=1)


def sign(mark: Mark, terminal: Terminal) -> Text:
    """Return the sign for good, bad or unsure, in ASCII where the terminal needs it."""
    unicode, ascii_only, style = MARKS[mark]
    return Text(unicode if terminal.unicode else ascii_only, style=style)


def table(
    columns: Sequence[Column], rows: Iterable[Sequence[str | Text]], terminal: Terminal
) -> RenderableType:
    """Return a table of untrusted text; on a narrow terminal, a list for each row."""
    listed = [[_cell(cell) for cell in row] for row in rows]
    if _needed_width(columns, listed) > terminal.width:
        return _stacked(columns, listed)
    grid = Table(
        box=box.SIMPLE_HEAD if terminal.unicode else None,
        show_edge=False,
        pad_edge=False,
        header_style="bold",
        expand=any(column.ratio for column in columns),
    )
    for column in columns:
        grid.add_column(
            column.title,
            style=column.style,
            justify=column.justify,
            ratio=column.ratio,
            # Prose needs room; long names fold instead.
            min_width=terminal.width // 2 if column.ratio else None,
            overflow="fold",
        )
    for row in listed:
        grid.add_row(*row)
    return grid


def _needed_width(columns: Sequence[Column], rows: Sequence[Sequence[Text]]) -> int:
    widths = [
        MIN_PROSE_WIDTH
        if column.ratio
        else max(cell_len(text) for text in (column.title, *(row[place].plain for row in rows)))
        for place, column in enumerate(columns)
    ]
    return sum(widths) + GAP * (len(widths) - 1)


def _stacked(columns: Sequence[Column], rows: Sequence[Sequence[Text]]) -> RenderableType:
    """Return each row as a list of its cells; an untitled sign goes before the next cell."""
    parts: list[RenderableType] = []
    for row in rows:
        cells: list[tuple[str, str | Text]] = []
        prefix = Text(overflow="fold")
        for column, cell in zip(columns, row, strict=True):
            if not column.title:
                prefix = Text(overflow="fold").append(cell).append(" ")
            elif cell.plain:
                cells.append((column.title, prefix.append(cell)))
                prefix = Text(overflow="fold")
        parts += [_grid(cells), Text()]
    return Group(*parts[:-1])


def facts(rows: Iterable[tuple[str, str | Text]]) -> RenderableType:
    """Return names with their values, indented, values aligned."""
    return Padding(_grid(rows), (0, 0, 0, 2))


def _grid(rows: Iterable[tuple[str | Text, str | Text]], *, gap: int = 2) -> Table:
    grid = Table.grid(padding=(0, gap, 0, 0))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, value in rows:
        grid.add_row(name if isinstance(name, Text) else Text(name), _cell(value))
    return grid


def markdown(text: str, terminal: Terminal) -> RenderableType:
    """Return formatted Markdown; on an ASCII terminal, the source text."""
    if not terminal.unicode:
        return line(text)
    frontmatter, body = split_frontmatter(text)
    formatted = Markdown(safe(body), code_theme="ansi_dark", hyperlinks=False)
    return Group(line(frontmatter, style="dim"), formatted) if frontmatter else formatted


def _cell(cell: str | Text) -> Text:
    return cell if isinstance(cell, Text) else Text(safe_line(cell), overflow="fold")

"""Decision: tables and Markdown as text of a given width; the only user of rich besides progress.

Everything is built from `Text`, never from rich's markup, so that brackets in foreign text stay
brackets. Nothing is cut: what does not fit in a line is folded onto the next, paths behind a slash.
"""

from __future__ import annotations

from dataclasses import dataclass
from io import StringIO
from typing import TYPE_CHECKING, Final, Literal

from rich import box
from rich.cells import cell_len
from rich.console import Console, Group
from rich.containers import Lines
from rich.markdown import Markdown
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from skills_bundle.cli.view.text import breaks, safe, safe_line, split_head

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import JustifyMethod, OverflowMethod, RenderableType

    from skills_bundle.cli.output import Terminal

Mark = Literal["good", "bad", "unsure"]

LEAST_PROSE: Final = 24
"""Columns that prose in a table needs to be readable; with fewer, each row is a list of its own."""
GAP: Final = 3
"""Columns between two of a table."""

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
        title: Its head.
        style: A rich style, for terminals with colour.
        justify: `right` for numbers.
        ratio: Share of the width left over, for columns of prose; None for as wide as its content.
    """

    title: str
    style: str = ""
    justify: Literal["left", "right"] = "left"
    ratio: int | None = None


def render(parts: Iterable[RenderableType], terminal: Terminal) -> str:
    """Give the parts, one below the other, as text for this terminal."""
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
    shown = "\n".join(line.rstrip() for line in capture.get().splitlines())
    return shown.lstrip("\n") + "\n"


class Prose(Text):
    """Text whose paths break behind a slash, so that each line of them can be read."""

    def wrap(  # noqa: PLR0913 - rich's signature
        self,
        console: Console,
        width: int,
        *,
        justify: JustifyMethod | None = None,
        overflow: OverflowMethod | None = None,
        tab_size: int = 8,
        no_wrap: bool | None = None,
    ) -> Lines:
        """Break lines that hold a word longer than the width here, and leave the rest to rich."""
        lines = Lines()
        for row in self.split(allow_blank=True):
            longest = max((cell_len(word) for word in row.plain.split()), default=0)
            parts = row.divide(breaks(row.plain, width, cell_len)) if longest > width else [row]
            for part in parts:
                part.rstrip()
                lines.extend(
                    Text.wrap(
                        part,
                        console,
                        width,
                        justify=justify,
                        overflow=overflow,
                        tab_size=tab_size,
                        no_wrap=no_wrap,
                    )
                )
        return lines


def line(text: str, style: str = "") -> Text:
    """Give one paragraph; foreign text is made harmless."""
    return Prose(safe(text), style=style, overflow="fold")


def unbroken(text: str, style: str = "") -> Text:
    """Give one line that stays one however long it is: for what people copy or search for."""
    return Text(safe_line(text), style=style, no_wrap=True, overflow="ignore")


def heading(text: str) -> Text:
    """Give a heading over the part that follows, set off by an empty line."""
    return Prose("\n" + safe_line(text), style="bold", overflow="fold")


def marked(mark: Mark, text: str, terminal: Terminal) -> Text:
    """Give a line that starts with a sign for good, bad or unsure."""
    return Prose(overflow="fold").append(sign(mark, terminal)).append(f" {safe_line(text)}")


def sign(mark: Mark, terminal: Terminal) -> Text:
    """Give the sign for good, bad or unsure, in ASCII where there is nothing better."""
    unicode, ascii_only, style = MARKS[mark]
    return Text(unicode if terminal.unicode else ascii_only, style=style)


def table(
    columns: Sequence[Column], rows: Iterable[Sequence[str | Text]], terminal: Terminal
) -> RenderableType:
    """Give a table with a head; text cells are made harmless and kept whole.

    Where the terminal is too narrow for columns, each row is told line by line instead.
    """
    listed = [[_cell(cell) for cell in row] for row in rows]
    if _needed(columns, listed) > terminal.width:
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
            # Prose in a narrow column is unreadable; long names fold instead.
            min_width=terminal.width // 2 if column.ratio else None,
            overflow="fold",
        )
    for row in listed:
        grid.add_row(*row)
    return grid


def _needed(columns: Sequence[Column], rows: Sequence[Sequence[Text]]) -> int:
    """Give the columns of a terminal that a table needs to be readable."""
    widths = [
        LEAST_PROSE
        if column.ratio
        else max(cell_len(text) for text in (column.title, *(row[place].plain for row in rows)))
        for place, column in enumerate(columns)
    ]
    return sum(widths) + GAP * (len(widths) - 1)


def _stacked(columns: Sequence[Column], rows: Sequence[Sequence[Text]]) -> RenderableType:
    """Give each row as a list of its cells, set off by an empty line."""
    parts: list[RenderableType] = []
    for row in rows:
        grid = Table(box=None, show_header=False, pad_edge=False, show_edge=False)
        grid.add_column(style="dim", no_wrap=True)
        grid.add_column(overflow="fold")
        sign_before = Prose(overflow="fold")
        for column, cell in zip(columns, row, strict=True):
            if not column.title:  # a sign; beside a name of its own it would say nothing
                sign_before = Prose(overflow="fold").append(cell).append(" ")
            elif cell.plain:
                grid.add_row(Text(column.title), sign_before.append(cell))
                sign_before = Prose(overflow="fold")
        parts += [grid, Text()]
    return Group(*parts[:-1])


def facts(rows: Iterable[tuple[str, str | Text]]) -> Padding:
    """Give names with their values, indented, values aligned."""
    grid = Table(box=None, show_header=False, pad_edge=False, show_edge=False)
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, value in rows:
        grid.add_row(Text(name), _cell(value))
    return Padding(grid, (0, 0, 0, 2))


def markdown(text: str, terminal: Terminal) -> RenderableType:
    """Give Markdown laid out for reading; where only ASCII can be shown, the text as it is."""
    if not terminal.unicode:
        return line(text)
    head, body = split_head(text)
    laid_out = Markdown(safe(body), code_theme="ansi_dark", hyperlinks=False)
    return Group(line(head, style="dim"), laid_out) if head else laid_out


def _cell(cell: str | Text) -> Text:
    return cell if isinstance(cell, Text) else Prose(safe_line(cell), overflow="fold")

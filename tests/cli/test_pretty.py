"""Tables and Markdown as text: whole, harmless, and plain where they must be."""

from __future__ import annotations

import pytest

from skills_bundle.cli.output import Terminal
from skills_bundle.cli.view import pretty

PIPE = Terminal(interactive=False, colour=False, unicode=True, width=40)
ASCII = Terminal(interactive=False, colour=False, unicode=False, width=40)
COLOUR = Terminal(interactive=True, colour=True, unicode=True, width=40)
COLUMNS = [pretty.Column("Name", style="bold"), pretty.Column("Text", ratio=1)]


def _table(terminal: Terminal, *row: str) -> str:
    return pretty.render([pretty.table(COLUMNS, [row], terminal)], terminal)


def test_a_long_cell_is_folded_and_never_cut() -> None:
    """Every character of a cell is shown, however narrow the terminal."""
    word = "w" * 200
    assert _table(PIPE, "a", word).count("w") == 200


def test_brackets_in_foreign_text_are_not_markup() -> None:
    """A description in brackets is shown as it is."""
    assert "[red]not red[/red]" in _table(PIPE, "a", "[red]not red[/red]")


def test_control_characters_in_cells_are_shown_harmless() -> None:
    """A name cannot retitle the terminal, also where colour is on."""
    assert "\x1b]0" not in _table(COLOUR, "\x1b]0;owned\x07", "t")


def test_a_pipe_gets_no_escape_sequences() -> None:
    """What goes to a file is text alone."""
    assert "\x1b" not in _table(PIPE, "a", "b")


def test_a_terminal_with_colour_gets_them() -> None:
    """Heads and names stand out where that helps."""
    assert "\x1b[1m" in _table(COLOUR, "a", "b")


def test_an_ascii_stream_gets_ascii_tables() -> None:
    """No line-drawing characters where they cannot be shown."""
    assert _table(ASCII, "a", "b").isascii()


@pytest.mark.parametrize(("terminal", "shown"), [(PIPE, "✓ works"), (ASCII, "ok works")])
def test_signs_have_ascii_forms(terminal: Terminal, shown: str) -> None:
    """A check mark where it can be shown, a word where not."""
    line = pretty.marked("good", "works", terminal)
    assert pretty.render([line], terminal) == shown + "\n"


def test_markdown_is_laid_out() -> None:
    """Lists get bullets instead of dashes."""
    assert " • one" in pretty.render([pretty.markdown("- one\n- two\n", PIPE)], PIPE)


def test_markdown_stays_as_written_on_an_ascii_stream() -> None:
    """Rather the source than question marks."""
    assert pretty.render([pretty.markdown("- one\n", ASCII)], ASCII).startswith("- one")


def test_markdown_cannot_smuggle_escape_sequences() -> None:
    """Nor can a link hide its address behind one."""
    text = "[a](https://example.org)\x1b]8;;https://evil.example\x07"
    assert "\x1b]8" not in pretty.render([pretty.markdown(text, COLOUR)], COLOUR)


def test_lines_carry_no_trailing_spaces() -> None:
    """Output that is compared or copied has none."""
    assert all(line == line.rstrip() for line in _table(PIPE, "a", "b").splitlines())


def test_frontmatter_is_shown_as_it_is() -> None:
    """Not as a heading, which is what Markdown would make of it."""
    shown = pretty.render([pretty.markdown("---\nname: a\n---\n\n- one\n", PIPE)], PIPE)
    assert shown.startswith("---\nname: a\n---\n")


def test_prose_keeps_half_the_width_beside_a_long_name() -> None:
    """A column of single letters is no column."""
    shown = _table(PIPE, "n" * 64, "some words that are prose")
    assert "some words" in shown


NARROW = Terminal(interactive=False, colour=False, unicode=True, width=40)


def test_a_narrow_terminal_gets_each_row_line_by_line() -> None:
    """Beside a long name there would be a column of single letters, or one beyond the edge."""
    shown = _table(NARROW, "n" * 24, "some words that are prose")
    assert shown.splitlines() == [f"Name  {'n' * 24}", "Text  some words that are prose"]


def test_short_columns_stay_columns_on_a_narrow_terminal() -> None:
    """There is room for them."""
    assert _table(NARROW, "n", "some words").splitlines()[-1].split() == ["n", "some", "words"]


def test_a_sign_stands_before_what_it_is_about_where_rows_are_told_line_by_line() -> None:
    """A line of its own, without a name, would say nothing."""
    columns = [pretty.Column(""), pretty.Column("Step"), pretty.Column("Seen", ratio=1)]
    row = (pretty.sign("good", NARROW), "a step with a long name", "some words")
    shown = pretty.render([pretty.table(columns, [row], NARROW)], NARROW)
    assert shown.splitlines() == ["Step  ✓ a step with a long name", "Seen  some words"]

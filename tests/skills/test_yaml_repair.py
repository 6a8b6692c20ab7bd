"""The one repair: which values get quotes, and which are left alone."""

from __future__ import annotations

import pytest

from skills_bundle.skills import yaml_repair


def test_a_value_with_a_colon_gets_quotes() -> None:
    """On the same line."""
    mended = yaml_repair.quote_colons("name: x\ndescription: Use when: asked")
    assert mended.text == "name: x\ndescription: 'Use when: asked'"
    assert mended.lines == (1,)


def test_quotes_in_the_value_are_doubled() -> None:
    """As single quotes want them."""
    assert yaml_repair.quote_colons("a: it's: so").text == "a: 'it''s: so'"


def test_the_closing_quote_is_put_after_the_last_line() -> None:
    """Trailing blank lines stay behind it."""
    assert yaml_repair.quote_colons("a: b: c\n  d\n\nx: y").text == "a: 'b: c\n  d'\n\nx: y"


def test_trailing_blanks_are_no_part_of_a_plain_value() -> None:
    """So they do not come into the quoted one."""
    assert yaml_repair.quote_colons("a: b: c  ").text == "a: 'b: c'"


def test_a_colon_on_a_further_line_counts() -> None:
    """Such a value is not YAML either."""
    assert yaml_repair.quote_colons("a: b\n  Then: c").lines == (0,)


@pytest.mark.parametrize(
    "text",
    [
        "a: b",
        "a: b:c",
        "a: http://x",
        'a: "b: c"',
        "a: 'b: c'",
        "a: [b: c]",
        "a: {b: c}",
        "a: |\n  b: c",
        "a: >\n  b: c",
        "a: &x b: c",
        "a: *x : c",
        "a: !t b: c",
        "a: - b: c",
        "a: `b: c`",
        "a: @b: c",
        "a: %b: c",
        "a:\n  b: c",
        "- a: b: c",
        " a: b: c",
        "a b: c: d",
        "? a: b",
        "# a: b: c",
        "a: b: c # or not",
        "a: b: c\n  # d",
        "a: #b: c",
        "name: x\n  description: d",
    ],
)
def test_what_is_fine_or_could_mean_something_else_is_left_alone(text: str) -> None:
    """Byte for byte."""
    assert yaml_repair.quote_colons(text) == yaml_repair.Mended(text, ())


def test_lines_are_as_many_as_before() -> None:
    """So that every later message names the right line."""
    text = "a: b: c\r\n\r\nd: e\rf: g: h\n"
    assert len(yaml_repair.quote_colons(text).text.split("\n")) == 5

"""Foreign text is made harmless, and numbers readable."""

from __future__ import annotations

import pytest

from skills_bundle.cli.view import text


@pytest.mark.parametrize(
    ("foreign", "shown"),
    [
        ("\x1b[2J", "\\x1b[2J"),
        ("\x07", "\\x07"),
        ("a\rb", "a\\rb"),
        ("\x9b31m", "\\x9b31m"),
        ("abc\u202edef", "abc\\u202edef"),
        ("\u2028", "\\u2028"),
        ("\ufeffhead", "\\ufeffhead"),
        ("\ud800", "\\ud800"),
    ],
)
def test_characters_that_act_on_a_terminal_become_visible(foreign: str, shown: str) -> None:
    """A skill's text can neither move the cursor nor reorder what is read."""
    assert text.safe(foreign) == shown


@pytest.mark.parametrize("harmless", ["café", "公众号", "a\tb\nc", "👩\u200d🔬", "क्\u200dष"])
def test_ordinary_text_of_any_script_stays_as_it_is(harmless: str) -> None:
    """Line feeds, tabs and the joiners that scripts and emoji need are kept."""
    assert text.safe(harmless) == harmless


def test_names_stay_on_one_line() -> None:
    """A line feed in a name cannot forge a second row of a table."""
    assert text.safe_line("a\nb\tc") == "a\\nb\\tc"


@pytest.mark.parametrize(
    ("number", "words"), [(0, "0 skills"), (1, "1 skill"), (2400, "2,400 skills")]
)
def test_numbers_agree_with_their_nouns(number: int, words: str) -> None:
    """One is singular, everything else plural."""
    assert text.count(number, "skill") == words


@pytest.mark.parametrize(
    ("number", "words"), [(1023, "1023 B"), (1024, "1.0 KiB"), (1024 * 1024, "1.0 MiB")]
)
def test_sizes_use_the_unit_people_read(number: int, words: str) -> None:
    """Units change at powers of 1,024."""
    assert text.size(number) == words


@pytest.mark.parametrize(
    ("text_", "parts"),
    [
        ("---\nname: a\n---\n# A\n", ("---\nname: a\n---\n", "# A\n")),
        ("# A\n\n---\n", ("", "# A\n\n---\n")),
        ("---\nno end\n", ("", "---\nno end\n")),
        ("", ("", "")),
    ],
)
def test_frontmatter_is_parted_from_the_body(text_: str, parts: tuple[str, str]) -> None:
    """Only a closed block at the very start is frontmatter."""
    assert text.split_frontmatter(text_) == parts


@pytest.mark.parametrize(
    ("long", "short"),
    [("a bc", "a bc"), ("one two three", "one ..."), ("x" * 20, "xxxxxx ...")],
)
def test_long_text_is_cut_at_a_word_and_marked(long: str, short: str) -> None:
    """What is missing is never missing silently."""
    assert text.shortened(long, 10) == short

"""The collection at a glance."""

from __future__ import annotations

import json
import re

import pytest

from skills_bundle.catalog import limits, overview
from skills_bundle.catalog.model import SkillRow
from skills_bundle.catalog.overview import Collection, locator, plain, render
from skills_bundle.errors import ToolError


def _row(path: str, description: str = "Does it.") -> SkillRow:
    return SkillRow(
        name=path.rsplit("/", 1)[-1],
        path=path,
        description=description,
        tags=(),
        parse_mode="strict",
        diagnostics=(),
        collection="acme-skills",
    )


ROWS = [_row("alpha"), _row("beta"), _row("group/gamma")]

WHOLE = """\
# Skills overview

A skill listed here is available in one sense: its metadata could be read. Its setup, its \
lifecycle, whether this host can use it and whether it is active are unverified.
Which skills fit (the selected route): unassessed, since no task was given.
A skill that helps to choose (the routing entry point): none found here.
With a task there are four choices: single (one skill fits), sequence (several, one after the \
other), ambiguous (up to 3 candidates, not yet decided), none (no skill fits).
How to use this list: take it as an untrusted shortlist. Pick a row, read the file that its JSON \
string names, and verify that it fits the task before following it.

## Skills
- alpha [bundled]: Does it. | SKILL.md: "alpha/SKILL.md" (relative to the collection)
(2 more skills not shown here; search finds them too.)

Total: 3 distinct skills.
Sources: bundled. Skills of one name at different paths are listed apart.
"""


def test_the_whole_text() -> None:
    """One of three shown: ten parts in their order."""
    assert render([Collection(skills=ROWS)], 1) == WHOLE


def test_everything_shown_hides_nothing() -> None:
    """No line about more."""
    text = render([Collection(skills=ROWS)], 24)
    assert text.count("\n- ") == 3
    assert "not shown here" not in text


def test_one_is_told_in_the_singular() -> None:
    """In every line with a number."""
    text = render([Collection(skills=[_row("a/skill-routing")], warnings=1)], 0)
    assert "(1 more skill not shown here" in text
    assert "Total: 1 distinct skill." in text
    assert "Warnings: 1 skill cannot" in text
    assert "1 skill named skill-routing" in text


def test_an_empty_collection_says_so() -> None:
    """Rather than showing an empty list."""
    text = render([Collection(skills=[])], 24)
    assert "(No skills in this collection.)" in text
    assert "Total: 0 distinct skills." in text


def test_warnings_are_counted() -> None:
    """The list is incomplete then, and says so."""
    assert "; this list is incomplete." in render([Collection(skills=ROWS, warnings=2)], 3)
    assert "Warnings: 2 skills" in render([Collection(skills=ROWS, warnings=2)], 3)


def test_skills_without_an_entry_are_named_with_the_reason() -> None:
    """Whoever misses them in `skills/list` finds out why here."""
    text = render(
        [Collection(skills=ROWS, unlisted={"alpha": "bom", "group/gamma": "name_form"})], 3
    )
    line = (
        "Not in MCP skills/list, but served by the tools: alpha (bom), group/gamma (name_form).\n"
    )
    assert line in text


def test_many_skills_without_an_entry_are_counted() -> None:
    """The line stays short."""
    unlisted = {f"skill-{number}": "bom" for number in range(10)}
    text = render([Collection(skills=ROWS, unlisted=unlisted)], 3)
    assert "skill-7 (bom) and 2 more.\n" in text


def test_a_name_in_that_line_cannot_open_a_tag() -> None:
    """As in every other line."""
    assert "<b>" not in render([Collection(skills=ROWS, unlisted={"<b>": "name_form"})], 3)


def test_routing_skills_are_candidates() -> None:
    """Named, counted, and not believed."""
    rows = [_row("a/skill-routing"), _row("b/skill-routing")]
    text = render([Collection(skills=rows)], 2)
    assert "entry point): 2 skills named skill-routing, unverified candidates." in text


def test_rows_are_left_out_from_the_end_until_the_text_fits() -> None:
    """Each shown row is whole, and the number left out is right."""
    rows = [_row(f"skill-{number:02}", "🦊" * 200) for number in range(24)]
    text = render([Collection(skills=rows)], 24)
    shown = re.findall(r"^- (skill-\d\d) .*\)$", text, flags=re.MULTILINE)
    assert len(text.encode("utf-16-le")) // 2 <= limits.OVERVIEW_MAX_CHARACTERS
    assert shown == [row.name for row in rows[: len(shown)]]
    assert 0 < len(shown) < 24
    assert f"({24 - len(shown)} more skills not shown here" in text


def test_one_more_row_would_not_have_fitted() -> None:
    """As many as fit are shown."""
    rows = [_row(f"skill-{number:02}", "x" * 200) for number in range(24)]
    text = render([Collection(skills=rows)], 24)
    shown = text.count("\n- ")
    more = render([Collection(skills=rows)], shown + 1, cap=10**6)
    assert len(more) > limits.OVERVIEW_MAX_CHARACTERS


def test_a_text_that_does_not_fit_at_all_is_too_large() -> None:
    """Even without a single row."""
    with pytest.raises(ToolError) as refused:
        render([Collection(skills=ROWS)], 3, cap=100)
    assert refused.value.code == "response_too_large"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\n- b\tc\r\nd", "a - b c d"),
        ("  a   b  ", "a b"),
        ("<script>`x`</script>", "scriptx/script"),
        ("a\x00b\x1b[31mc\x85d", "a b [31mc d"),
        ("x" * 140, "x" * 140),
        ("x" * 141, "x" * 139 + "…"),
        ("🦊" * 141, "🦊" * 139 + "…"),
        ("a\u2028b", "a b"),
        ("", ""),
    ],
)
def test_descriptions_stay_on_their_line(text: str, shown: str) -> None:
    """Nothing in them ends the row, opens a tag or runs on."""
    assert plain(text, 140) == shown


def test_a_label_is_shortened_likewise() -> None:
    """At 64 code points."""
    text = render([Collection(skills=ROWS, label="l" * 70)], 1)
    assert f"[{'l' * 63}…]" in text


@pytest.mark.parametrize(
    "path", ["plain", 'quo"te', "back\\slash", "a[b](c)", "`x`", "<b>", "café/小说", "a\u202eb"]
)
def test_decoding_a_locator_gives_exactly_the_path(path: str) -> None:
    """And nothing of it looks like markup."""
    quoted, _, note = locator(path).partition(" (")
    assert json.loads(quoted) == f"{path}/SKILL.md"
    assert note == "relative to the collection)"
    assert not re.search(r"[!#&()*:<>\[\]_`|~\u202a-\u202e]", quoted)


@pytest.mark.parametrize("character", [*"!#&()*:<>[]_`|~", "\x7f", "\x9f", "\u2028", "\u2066"])
def test_a_locator_escapes_what_could_be_markup(character: str) -> None:
    """As four hex digits."""
    assert f"\\u{ord(character):04x}" in locator(f"a{character}b")


def test_a_locator_that_is_too_long_is_left_out_whole() -> None:
    """Half a path would be another path."""
    fits = "x" * (limits.OVERVIEW_LOCATOR_MAX_CHARACTERS - len('"/SKILL.md"'))
    assert fits in locator(fits)
    assert locator(fits + "x") == "(path too long to show; search for the name)"


def test_the_title_comes_first() -> None:
    """A model that reads only the first line knows what this is."""
    assert render([Collection(skills=ROWS)], 1).startswith(f"{overview.TITLE}\n\n")

"""The overview of one collection and of several."""

from __future__ import annotations

import json
import re

import pytest

from skills_bundle.catalog import limits, overview
from skills_bundle.catalog.model import SkillRow
from skills_bundle.catalog.overview import Collection, locator, plain, render
from skills_bundle.errors import ToolError
from skills_bundle.installed import limits as installed_limits


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

Available means only that a skill's metadata could be read. Its setup, its lifecycle, whether \
this host can use it and whether it is active are unverified.
Selected route: unassessed, because no task was given.
Routing entry point (a skill that helps to choose): none found here.
Choices once there is a task: single (one skill fits), sequence (several, one after the \
other), ambiguous (up to 3 candidates, not yet decided), none (no skill fits).
How to use this list: treat it as an untrusted shortlist. Pick a row, read the file that its JSON \
string names, and verify that it fits the task before following it.

## Skills
- alpha [bundled]: Does it. | SKILL.md: "alpha/SKILL.md" (relative to the collection)
(2 more skills not shown here; search finds them too.)

Total: 3 distinct skills.
Sources: bundled. Skills with the same name at different paths are listed separately.
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
    assert (
        "(a skill that helps to choose): 2 skills named skill-routing, unverified candidates."
        in text
    )


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


def collection(
    name: str, number: int, description: str = "Does it.", warnings: int = 0
) -> Collection:
    """Return a collection of so many skills."""
    rows = [
        SkillRow(
            name=f"{name}-{index:03}",
            path=f"{name}-{index:03}",
            description=description,
            tags=(),
            parse_mode="strict",
            diagnostics=(),
            collection=name,
        )
        for index in range(number)
    ]
    return Collection(skills=rows, label=name, warnings=warnings)


def render_several(
    collections: list[Collection],
    unavailable: list[str],
    max_entries: int,
    cap: int = limits.OVERVIEW_MAX_CHARACTERS,
) -> str:
    """Render several collections."""
    return overview.render(collections, max_entries, unavailable=unavailable, several=True, cap=cap)


def shown(text: str) -> dict[str, int]:
    """Count the rows of each collection."""
    labels = [line.split("[")[1].split("]")[0] for line in text.splitlines() if line[:2] == "- "]
    return {label: labels.count(label) for label in dict.fromkeys(labels)}


def test_a_large_collection_leaves_room_for_a_small_one() -> None:
    """Each has its turn; what one does not use the other gets."""
    text = render_several([collection("big", 100), collection("small", 2)], [], 10)
    assert shown(text) == {"big": 8, "small": 2}


def test_what_is_hidden_is_counted_by_collection() -> None:
    """Never left out silently."""
    text = render_several([collection("big", 100), collection("small", 5)], [], 6)
    assert "(99 more skills not shown here: 97 in big, 2 in small. Search finds them too.)" in text


def test_what_is_shown_whole_is_not_counted_as_hidden() -> None:
    """The line names only collections that have more."""
    text = render_several([collection("big", 9), collection("small", 1)], [], 4)
    assert "(6 more skills not shown here: 6 in big. Search finds them too.)" in text


def test_the_total_is_that_of_all() -> None:
    """And says of how many."""
    text = render_several([collection("a", 3), collection("b", 2)], [], 1)
    assert "Total: 5 distinct skills in 2 collections.\n" in text


def test_collections_without_skills_are_said_to_have_none() -> None:
    """An empty list is no fault of the reader's."""
    assert "(No skills in these collections.)" in render_several([collection("a", 0)], [], 24)


def test_skills_that_are_not_whole_are_told_with_their_collection() -> None:
    """So that somebody can look there."""
    text = render_several([collection("a", 3, warnings=2), collection("b", 1)], [], 24)
    assert "Warnings: 2 skills cannot be served in full (in a); this list is incomplete." in text


def test_long_descriptions_drop_rows_in_turn() -> None:
    """The text keeps its size, and nobody loses all of theirs."""
    text = render_several([collection("a", 24, "x" * 500), collection("b", 24, "x" * 500)], [], 24)
    assert len(text) <= limits.OVERVIEW_MAX_CHARACTERS
    assert max(shown(text).values()) - min(shown(text).values()) <= 1


@pytest.mark.parametrize("letter", ["n", "\N{FACE WITH TEARS OF JOY}"])
def test_the_most_collections_with_the_longest_names_fit(letter: str) -> None:
    """Also when each is long, damaged, unlisted and hidden, and as many are gone."""
    names = [f"{letter * 200}{index}" for index in range(installed_limits.COLLECTIONS_MAX)]
    every = [
        Collection(
            skills=collection(name, 30, "x" * 500).skills,
            label=name,
            warnings=3,
            unlisted={f"{letter * 200}{index}": "name_form" for index in range(20)},
        )
        for name in names
    ]
    text = render_several(every, names, 24)
    assert len(text.encode("utf-16-le")) // 2 <= limits.OVERVIEW_MAX_CHARACTERS
    assert "Total: 1920 distinct skills in 64 collections." in text


def test_names_are_other_peoples_words() -> None:
    """They end no line and open no tag."""
    text = render_several([collection("<b>\n# Do `this`", 1)], ["<i>\n"], 24)
    assert "[b # Do this]" in text
    assert "Not available now: i." in text


def test_a_cap_that_nothing_fits_is_refused() -> None:
    """Coded, as for one collection."""
    with pytest.raises(ToolError) as caught:
        render_several([collection("a", 1)], [], 1, cap=100)
    assert caught.value.code == "response_too_large"

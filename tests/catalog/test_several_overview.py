"""Several collections at a glance, within the bounds of one."""

from __future__ import annotations

import pytest

from skills_bundle.catalog import limits, overview
from skills_bundle.catalog.model import SkillRow
from skills_bundle.catalog.overview import Collection
from skills_bundle.errors import ToolError
from skills_bundle.installed import limits as installed_limits


def collection(
    name: str, number: int, description: str = "Does it.", warnings: int = 0
) -> Collection:
    """Give a collection of so many skills."""
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


def render(
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
    text = render([collection("big", 100), collection("small", 2)], [], 10)
    assert shown(text) == {"big": 8, "small": 2}


def test_what_is_hidden_is_counted_by_collection() -> None:
    """Never left out silently."""
    text = render([collection("big", 100), collection("small", 5)], [], 6)
    assert "(99 more skills not shown here: 97 in big, 2 in small. Search finds them too.)" in text


def test_what_is_shown_whole_is_not_counted_as_hidden() -> None:
    """The line names only collections that have more."""
    text = render([collection("big", 9), collection("small", 1)], [], 4)
    assert "(6 more skills not shown here: 6 in big. Search finds them too.)" in text


def test_the_total_is_that_of_all() -> None:
    """And says of how many."""
    text = render([collection("a", 3), collection("b", 2)], [], 1)
    assert "Total: 5 distinct skills in 2 collections.\n" in text


def test_collections_without_skills_are_said_to_have_none() -> None:
    """An empty list is no fault of the reader's."""
    assert "(No skills in these collections.)" in render([collection("a", 0)], [], 24)


def test_skills_that_are_not_whole_are_told_with_their_collection() -> None:
    """So that somebody can look there."""
    text = render([collection("a", 3, warnings=2), collection("b", 1)], [], 24)
    assert "Warnings: 2 skills cannot be served whole (in a); this list is incomplete." in text


def test_long_descriptions_drop_rows_in_turn() -> None:
    """The text keeps its size, and nobody loses all of theirs."""
    text = render([collection("a", 24, "x" * 500), collection("b", 24, "x" * 500)], [], 24)
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
    text = render(every, names, 24)
    assert len(text.encode("utf-16-le")) // 2 <= limits.OVERVIEW_MAX_CHARACTERS
    assert "Total: 1920 distinct skills in 64 collections." in text


def test_names_are_other_peoples_words() -> None:
    """They end no line and open no tag."""
    text = render([collection("<b>\n# Do `this`", 1)], ["<i>\n"], 24)
    assert "[b # Do this]" in text
    assert "Not served now: i." in text


def test_a_cap_that_nothing_fits_is_refused() -> None:
    """Coded, as for one collection."""
    with pytest.raises(ToolError) as caught:
        render([collection("a", 1)], [], 1, cap=100)
    assert caught.value.code == "response_too_large"

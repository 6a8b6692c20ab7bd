"""Which skills a query finds."""

from __future__ import annotations

import unicodedata

import pytest

from skills_bundle.catalog import search
from tests.installed_builder import lock_of

TEXT = {"SKILL.md": b"# x\n"}
FIELDS: dict[str, dict[str, object]] = {
    "Zoo": {"description": "Animals [.*] in cages."},
    "a/zoo": {"description": "Other animals.", "tags": ("beasts", "catalog")},
    "cafe": {"name": "café", "description": "Coffee, CATALOG of beans."},
    "split": {"name": "小说拆条", "description": "公众号文章 and 초과근무."},
    "turk": {"description": "İstanbul.", "diagnostics": ("yaml_repaired",)},
}
INDEX = search.index(lock_of(dict.fromkeys(FIELDS, TEXT), FIELDS), "acme-skills")


def _paths(query: str) -> list[str]:
    return [row.path for row in search.matches(INDEX, query)]


def test_skills_are_in_the_order_of_name_and_path() -> None:
    """By code points, so that the order is the same everywhere."""
    assert _paths("") == ["Zoo", "cafe", "turk", "a/zoo", "split"]


@pytest.mark.parametrize(
    ("query", "paths"),
    [
        ("zoo", ["Zoo", "a/zoo"]),
        ("ZOO", ["Zoo", "a/zoo"]),
        ("catalog", ["cafe", "a/zoo"]),
        ("beasts catalog", ["a/zoo"]),
        ("zoo other", ["a/zoo"]),
        ("animals. beasts", ["a/zoo"]),
        ("[.*]", ["Zoo"]),
        ("^.*$", []),
        ("?", []),
        ("公众号", ["split"]),
        ("초과근무", ["split"]),
        ("拆条", ["split"]),
        ("İSTANBUL", ["turk"]),
        ("CAFÉ", ["cafe"]),
    ],
)
def test_a_query_is_text_to_look_for(query: str, paths: list[str]) -> None:
    """In name, description and tags joined by spaces; letter case does not count."""
    assert _paths(query) == paths


@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize("query", ["café", "초과근무"])
def test_both_spellings_of_one_text_find_it(query: str, form: str) -> None:
    """Keyboards compose, some file systems decompose."""
    spelled = unicodedata.normalize(form, query)  # type: ignore[arg-type]
    assert len(_paths(spelled)) == 1


def test_a_row_says_how_its_frontmatter_was_read() -> None:
    """Strictly, or mended; with every code the lock has."""
    rows = {row.path: row for row in search.matches(INDEX, "")}
    assert (rows["turk"].parse_mode, rows["turk"].diagnostics) == ("repaired", ("yaml_repaired",))
    assert (rows["Zoo"].parse_mode, rows["Zoo"].diagnostics) == ("strict", ())

"""Search, read and overview of an installed bundle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from skills_bundle.catalog import limits
from skills_bundle.catalog.model import ReadArguments, SearchArguments
from skills_bundle.errors import ToolError
from skills_bundle.formats import limits as format_limits
from skills_bundle.formats.digest import sha256_hex
from tests import odd_files
from tests.installed_builder import SAMPLE, InstalledBuilder

if TYPE_CHECKING:
    from pathlib import Path

    from skills_bundle.catalog.reading import Resources
    from skills_bundle.catalog.service import Catalog
    from tests.installed_builder import Installation

ABC = {name: {"SKILL.md": f"# {name}\n".encode()} for name in ("a", "b", "c")}


def _code(ask: object, *arguments: object, **named: object) -> str:
    assert callable(ask)
    with pytest.raises(ToolError) as refused:
        ask(*arguments, **named)
    return refused.value.code


@pytest.fixture
def made(tmp_path: Path) -> Installation:
    """A valid installation."""
    return InstalledBuilder().install(tmp_path)


@pytest.fixture
def catalog(made: Installation) -> Catalog:
    """Its catalog."""
    return made.catalog()


@pytest.fixture
def everything(made: Installation) -> Catalog:
    """The same, with every text file readable."""
    return made.catalog(resources="all")


# --- search -----------------------------------------------------------------------------------


def test_an_empty_search_lists_everything(catalog: Catalog) -> None:
    """By name, with all that is known of each."""
    found = catalog.search()
    assert [(row.name, row.path) for row in found.skills] == [
        ("alpha", "alpha"),
        ("beta", "group/beta"),
    ]
    assert (found.total, found.offset, found.limit, found.next_offset) == (2, 0, 20, None)
    assert found.provenance.source_provenance.integrity == "verified"


def test_pages_follow_each_other(tmp_path: Path) -> None:
    """`next_offset` is null after the last one."""
    catalog = InstalledBuilder(skills=ABC).install(tmp_path).catalog()
    pages = [catalog.search(limit=2, offset=offset) for offset in (0, 2)]
    assert [[row.name for row in page.skills] for page in pages] == [["a", "b"], ["c"]]
    assert [page.next_offset for page in pages] == [2, None]
    assert [page.total for page in pages] == [3, 3]


@pytest.mark.parametrize("offset", [3, 257, format_limits.JSON_MAX_SAFE_INTEGER])
def test_an_offset_beyond_the_end_gives_an_empty_page(tmp_path: Path, offset: int) -> None:
    """With the right total, up to the largest number that every JSON reader has."""
    found = InstalledBuilder(skills=ABC).install(tmp_path).catalog().search(offset=offset)
    assert (found.skills, found.total, found.next_offset) == ((), 3, None)


def test_nothing_found_is_an_empty_answer(catalog: Catalog) -> None:
    """Not a list of bad guesses."""
    found = catalog.search("nothing like this")
    assert (found.total, found.skills, found.next_offset) == (0, (), None)


@pytest.mark.parametrize(
    "arguments",
    [
        {"query": "x" * 201},
        {"query": "a\nb"},
        {"query": "a\0b"},
        {"query": "a\x7fb"},
        {"query": "a\x85b"},
        {"query": "\ud800"},
        {"query": None},
        {"query": 1},
        {"limit": 0},
        {"limit": 51},
        {"limit": True},
        {"limit": 1.5},
        {"limit": "1"},
        {"limit": None},
        {"offset": -1},
        {"offset": float("inf")},
        {"offset": float("nan")},
    ],
)
def test_a_search_outside_its_bounds_is_invalid(
    catalog: Catalog, arguments: dict[str, object]
) -> None:
    """One code, one sentence, nothing of the input in it."""
    assert _code(catalog.search, **arguments) == "invalid_input"


@pytest.mark.parametrize("query", ["x" * 200, "🦊" * 200, "a\tb".replace("\t", " "), "[.*]"])
def test_a_search_at_its_bounds_is_answered(catalog: Catalog, query: str) -> None:
    """Two hundred code points, whatever they are."""
    assert catalog.search(query).query == query


def test_a_whole_number_may_be_written_with_a_point() -> None:
    """JSON has one kind of number, and hosts write either."""
    assert SearchArguments.model_validate({"limit": 20.0, "offset": -0.0}).limit == 20
    assert ReadArguments.model_validate({"skill": "a", "offset": 4.0}).offset == 4


# --- read -------------------------------------------------------------------------------------


def test_a_read_gives_the_file_with_its_digest(catalog: Catalog) -> None:
    """SKILL.md unless another one is named."""
    found = catalog.read("alpha")
    data = SAMPLE["alpha"]["SKILL.md"]
    assert found.content.encode() == data
    assert (found.byte_length, found.content_sha256) == (len(data), sha256_hex(data))
    assert (found.skill, found.path, found.resource) == ("alpha", "alpha", "SKILL.md")
    assert (found.media_type, found.offset, found.next_offset, found.remaining) == (
        "text/markdown",
        0,
        None,
        0,
    )


@pytest.mark.parametrize("key", ["beta", "group/beta"])
def test_a_skill_answers_to_its_name_and_its_path(catalog: Catalog, key: str) -> None:
    """Both are in every search result."""
    found = catalog.read(key)
    assert (found.skill, found.path) == ("beta", "group/beta")


def test_two_skills_of_one_name_are_both_reachable(tmp_path: Path) -> None:
    """By path; the name alone is refused unless it is the path of one, never the first."""
    skills = {path: {"SKILL.md": path.encode()} for path in ("a/x", "b/x", "c/y", "y")}
    catalog = InstalledBuilder(skills=skills).install(tmp_path).catalog()
    answers = {key: catalog.read(key).content for key in ("a/x", "b/x", "y", "c/y")}
    assert _code(catalog.read, "x") == "ambiguous_skill"
    assert answers == {"a/x": "a/x", "b/x": "b/x", "y": "y", "c/y": "c/y"}


@pytest.mark.parametrize("skill", ["Alpha", "alpha ", "alph", "../alpha", "alpha/", "%61lpha", "*"])
def test_an_unknown_skill_is_unavailable(catalog: Catalog, skill: str) -> None:
    """Names are looked up, never interpreted."""
    assert _code(catalog.read, skill) == "resource_unavailable"


@pytest.mark.parametrize(
    "resource",
    [
        "../beta/SKILL.md",
        "references/../SKILL.md",
        "./SKILL.md",
        "references//guide.md",
        "/etc/passwd",
        "C:/x.md",
        "c:x.md",
        "references\\guide.md",
        "references/gui\0de.md",
        "references/\ud800.md",
        "x" * 1025,
        "references/" + "a/" * 24 + "x.md",
        "",
        None,
        7,
    ],
)
@pytest.mark.parametrize("resources", ["markdown", "all"])
def test_a_path_that_is_none_is_invalid(
    made: Installation, resource: object, resources: Resources
) -> None:
    """Whatever may be read."""
    assert _code(made.catalog(resources).read, "alpha", resource) == "invalid_input"


@pytest.mark.parametrize(
    "resource",
    [
        "references/none.md",
        "references/Guide.md",
        "references/%67uide.md",
        "references/guide.md%00.md",
        "references/*.md",
        "references/guide?.md",
        "references/guide.md#top.md",
    ],
)
def test_a_path_that_is_not_locked_is_unavailable(catalog: Catalog, resource: str) -> None:
    """Other case, escapes, patterns and fragments are other names."""
    assert _code(catalog.read, "alpha", resource) == "resource_unavailable"


@pytest.mark.parametrize(
    "resource", ["scripts/run.py", "skill.md", "README.md", "other/references/x.md", "references"]
)
def test_only_markdown_below_references_is_read_by_default(catalog: Catalog, resource: str) -> None:
    """The rest cannot even be asked for."""
    assert _code(catalog.read, "alpha", resource) == "invalid_input"


def test_every_locked_text_is_read_when_allowed(everything: Catalog) -> None:
    """With its media type."""
    found = everything.read("alpha", "scripts/run.py")
    assert (found.content, found.media_type) == ("print('alpha')\n", "text/x-python")
    assert _code(everything.read, "alpha", "scripts/none.py") == "resource_unavailable"


def test_a_file_that_is_not_text_is_unavailable(everything: Catalog) -> None:
    """There is nothing to show of it here."""
    assert _code(everything.read, "beta", "assets/logo.bin") == "resource_unavailable"


@pytest.mark.parametrize("resource", [".hidden.md", "references/.draft.MD"])
def test_dot_files_that_are_locked_answer(tmp_path: Path, resource: str) -> None:
    """What ships can be read."""
    skills = {"a": {"SKILL.md": b"# a\n", resource: b"# x\n"}}
    catalog = InstalledBuilder(skills=skills).install(tmp_path).catalog(resources="all")
    assert catalog.read("a", resource).content == "# x\n"


def test_a_long_file_is_read_in_pages(tmp_path: Path) -> None:
    """Each page has the whole file's digest and says how much is left."""
    data = ("Grüße, 世界 🦊\n" * 20_000).encode()
    catalog = InstalledBuilder(skills={"a": {"SKILL.md": data}}).install(tmp_path).catalog()
    pages, offset = [catalog.read("a")], None
    while (offset := pages[-1].next_offset) is not None:
        pages.append(catalog.read("a", offset=offset))
    assert "".join(page.content for page in pages).encode() == data
    assert {(page.byte_length, page.content_sha256) for page in pages} == {
        (len(data), sha256_hex(data))
    }
    assert all(len(page.content.encode()) <= limits.READ_DEFAULT_LIMIT for page in pages)
    assert pages[-1].remaining == 0


def test_a_byte_order_mark_is_kept(tmp_path: Path) -> None:
    """So that text and digest agree."""
    data = b"\xef\xbb\xbf# a\n"
    catalog = InstalledBuilder(skills={"a": {"SKILL.md": data}}).install(tmp_path).catalog()
    found = catalog.read("a")
    assert found.content == "\ufeff# a\n"
    assert sha256_hex(found.content.encode()) == found.content_sha256


@pytest.mark.parametrize(
    "arguments",
    [
        {"offset": 10**6},
        {"offset": -1},
        {"limit": 3},
        {"limit": 0},
        {"limit": limits.READ_MAX_LIMIT + 1},
        {"limit": None},
    ],
)
def test_a_page_outside_the_file_is_invalid(catalog: Catalog, arguments: dict[str, object]) -> None:
    """Bounds of the arguments, and of the file."""
    assert _code(catalog.read, "alpha", **arguments) == "invalid_input"


# --- overview ---------------------------------------------------------------------------------


@pytest.mark.parametrize("most", [0, 25, True, "1", None])
def test_an_overview_outside_its_bounds_is_invalid(catalog: Catalog, most: object) -> None:
    """1 to 24."""
    assert _code(catalog.overview, most) == "invalid_input"


def test_an_overview_says_how_many_skills_are_damaged(made: Installation, catalog: Catalog) -> None:
    """It is incomplete then."""
    assert "Warnings" not in catalog.overview().overview
    odd_files.remove(made.skills / "alpha/scripts/run.py")
    odd_files.remove(made.skills / "alpha/references/guide.md")
    found = catalog.overview()
    assert "Warnings: 1 skill cannot be served in full; this list is incomplete." in found.overview
    assert found.provenance.gaps == ("altered_files",)


def test_answers_are_json_objects(catalog: Catalog) -> None:
    """Every answer carries the same provenance block."""
    answers = [catalog.search(), catalog.read("alpha"), catalog.overview()]
    blocks: list[Any] = [catalog.to_dict(answer)["provenance"] for answer in answers]
    assert blocks[0] == blocks[1] == blocks[2]
    assert blocks[0]["catalog_sha256"]


def test_an_overview_names_skills_that_have_no_entry(tmp_path: Path) -> None:
    """Served by the tools all the same."""
    fields: dict[str, dict[str, object]] = {"b": {"diagnostics": ("yaml_repaired",)}}
    asked = InstalledBuilder(skills=ABC, fields=fields).install(tmp_path).catalog()
    assert "served by the tools: b (yaml_repaired)." in asked.overview().overview
    assert asked.read("b").content == "# b\n"

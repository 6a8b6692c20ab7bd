"""Several collections asked at once: nothing shadows, nothing takes the others away."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from skills_bundle.catalog import limits
from skills_bundle.errors import ToolError
from tests.several_builder import ACME, OTHER, Several, install_several

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from skills_bundle.catalog.service import Catalog
    from tests.installed_builder import Files


@pytest.fixture
def made(tmp_path: Path) -> Several:
    """Return two installed collections."""
    return install_several(tmp_path)


@pytest.fixture
def both(made: Several) -> Catalog:
    """Return what is asked of both."""
    return made.catalog()


def code_of(ask: Callable[[], object]) -> str:
    """Return the code of a refusal."""
    with pytest.raises(ToolError) as caught:
        ask()
    return caught.value.code


def test_a_search_lists_by_name_then_collection_then_path(both: Catalog) -> None:
    """One order over all of them."""
    rows = both.search().skills
    assert [(row.name, row.collection, row.path) for row in rows] == [
        ("alpha", ACME, "alpha"),
        ("beta", ACME, "group/beta"),
        ("beta", OTHER, "beta"),
        ("gamma", OTHER, "gamma"),
    ]


def test_skills_of_one_name_are_both_found(both: Catalog) -> None:
    """Neither hides the other."""
    found = both.search("beta")
    assert (found.total, [row.collection for row in found.skills]) == (2, [ACME, OTHER])


def test_a_search_carries_the_provenance_of_each_collection(both: Catalog) -> None:
    """Also of one in which nothing was found: that nothing was is said of it, too."""
    states = both.search("gamma").collections
    found = [
        (one.collection, one.total, one.provenance and one.provenance.package_name)
        for one in states
    ]
    assert found == [(ACME, 0, "dist-0"), (OTHER, 1, "dist-1")]


def test_pages_joined_are_the_whole(both: Catalog) -> None:
    """Offsets count over all collections."""
    pages = [both.search(limit=1)]
    while pages[-1].next_offset is not None:
        pages.append(both.search(limit=1, offset=pages[-1].next_offset))
    rows = tuple(row for page in pages for row in page.skills)
    assert (rows, len(rows)) == (both.search().skills, pages[0].total)


def test_a_search_in_one_collection_touches_that_alone(both: Catalog) -> None:
    """Rows and provenance."""
    found = both.search(collection=OTHER)
    names = {row.collection for row in found.skills}, [one.collection for one in found.collections]
    assert (found.total, *names) == (2, {OTHER}, [OTHER])


@pytest.mark.parametrize("name", ["", "acme", "ACME-SKILLS", "acme-skills ", "skills-bundle"])
def test_a_collection_that_there_is_not_is_invalid_input(both: Catalog, name: str) -> None:
    """The name is exact, in every tool."""
    asks: list[Callable[[], object]] = [
        lambda: both.search(collection=name),
        lambda: both.overview(collection=name),
        lambda: both.read("alpha", collection=name),
    ]
    assert [code_of(ask) for ask in asks] == ["invalid_input"] * 3


def test_a_name_in_one_collection_needs_no_other_word(both: Catalog) -> None:
    """And the answer says where it is from."""
    page = both.read("gamma")
    assert (page.collection, page.provenance.package_name) == (OTHER, "dist-1")


def test_a_name_in_two_collections_is_refused_without_one(both: Catalog) -> None:
    """Never picked silently."""
    assert code_of(lambda: both.read("beta")) == "ambiguous_skill"


@pytest.mark.parametrize(("name", "text"), [(ACME, "# Beta\n"), (OTHER, "# Other beta\n")])
def test_each_of_them_is_read_with_its_collection(both: Catalog, name: str, text: str) -> None:
    """By the name they share."""
    page = both.read("beta", collection=name)
    assert (page.collection, page.content.endswith(text)) == (name, True)


def test_every_row_of_a_search_leads_to_its_skill(both: Catalog) -> None:
    """With collection and path nothing is ambiguous."""
    for row in both.search().skills:
        page = both.read(row.path, collection=row.collection)
        assert (page.skill, page.path, page.collection) == (row.name, row.path, row.collection)


def test_a_path_that_is_anothers_name_is_ambiguous_too(tmp_path: Path) -> None:
    """A path goes before a name inside one collection, not across them."""
    text = b"---\nname: x\ndescription: X.\n---\n"
    skills: dict[str, dict[str, Files]] = {
        "a": {"x": {"SKILL.md": text}},
        "b": {"deep/x": {"SKILL.md": text}},
    }
    assert code_of(lambda: install_several(tmp_path, skills).catalog().read("x")) == (
        "ambiguous_skill"
    )


def test_a_skill_that_nobody_has_is_unavailable(both: Catalog) -> None:
    """As in one collection."""
    assert code_of(lambda: both.read("nobody")) == "resource_unavailable"


def lose_lock(made: Several) -> None:
    """Take the lock away."""
    made[OTHER].lock.unlink()


def alter_lock(made: Several) -> None:
    """Change one byte of it."""
    data = bytearray(made[OTHER].lock.read_bytes())
    data[len(data) // 2] ^= 1
    made[OTHER].lock.write_bytes(data)


def lose_package(made: Several) -> None:
    """Take all of it away, as an uninstallation does."""
    shutil.rmtree(made[OTHER].site)


@pytest.mark.parametrize("harm", [lose_lock, alter_lock, lose_package])
def test_a_collection_that_goes_takes_nothing_from_the_others(
    made: Several, both: Catalog, harm: Callable[[Several], None]
) -> None:
    """They are served as before, and every answer tells of it."""
    both.search()
    harm(made)
    found = both.search()
    gone = found.collections[1]
    assert ([row.collection for row in found.skills], both.read("alpha").collection) == (
        [ACME, ACME],
        ACME,
    )
    assert (gone.collection, gone.total, gone.provenance, gone.problem) == (
        OTHER,
        None,
        None,
        "catalog_unavailable",
    )


def test_what_a_lost_collection_may_hold_is_not_said_to_be_nowhere(
    made: Several, both: Catalog
) -> None:
    """Whether asked for by name or looked for everywhere."""
    lose_lock(made)
    asks: list[Callable[[], object]] = [
        lambda: both.read("gamma"),
        lambda: both.read("gamma", collection=OTHER),
        lambda: both.search(collection=OTHER),
        lambda: both.overview(collection=OTHER),
    ]
    assert [code_of(ask) for ask in asks] == ["collection_unavailable"] * 4


def test_a_collection_that_comes_back_is_served_again(made: Several, both: Catalog) -> None:
    """Without a restart."""
    data = made[OTHER].lock.read_bytes()
    lose_lock(made)
    before = both.search().total
    made[OTHER].lock.write_bytes(data)
    assert (before, both.search().total, both.read("gamma").collection) == (2, 4, OTHER)


def test_without_any_collection_the_catalog_is_unavailable(made: Several, both: Catalog) -> None:
    """For every tool; whoever starts the server is told of each."""
    for place in made.values():
        place.lock.unlink()
    assert [code_of(both.search), code_of(both.overview), code_of(lambda: both.read("alpha"))] == [
        "catalog_unavailable"
    ] * 3
    assert f"{ACME}: Nothing can be served: the lock is missing. {OTHER}:" in str(both.problem())


def test_one_served_collection_is_enough_to_be_well(made: Several, both: Catalog) -> None:
    """For whoever asks whether to send requests here."""
    lose_lock(made)
    assert both.problem() is None


def test_an_altered_file_is_a_gap_of_its_collection_alone(made: Several, both: Catalog) -> None:
    """It is not served, its neighbours are, and the other collection's claims stand."""
    (made[OTHER].skills / "gamma/SKILL.md").write_bytes(b"other")
    states = both.search().collections
    gaps = [one.provenance.gaps for one in states if one.provenance is not None]
    assert gaps == [(), ("altered_files",)]
    assert code_of(lambda: both.read("gamma")) == "resource_unavailable"
    assert both.read("beta", collection=OTHER).collection == OTHER


def test_a_name_that_two_distributions_claim_is_told_as_such(made: Several) -> None:
    """Its own problem: nothing is wrong with a lock."""
    made[OTHER].lock.unlink()
    catalogs = made.catalog(ambiguous={OTHER})
    assert catalogs.search().collections[1].problem == "ambiguous_collection"


def test_more_than_markdown_is_read_of_every_collection_when_asked(made: Several) -> None:
    """One choice for all."""
    page = made.catalog().read("alpha", "scripts/run.py")
    assert page.content == "print('alpha')\n"


@pytest.mark.parametrize("resource", ["../x", "scripts//run.py", "/etc/passwd"])
def test_what_may_not_be_asked_for_is_invalid_input(both: Catalog, resource: str) -> None:
    """Whether or not a skill of the name is there."""
    assert code_of(lambda: both.read("nobody", resource)) == "invalid_input"


def test_the_overview_is_of_all_collections(both: Catalog) -> None:
    """Each row names its own, and the answer carries their provenance."""
    result = both.overview()
    assert [line.split(":")[0] for line in result.overview.splitlines() if line[:2] == "- "] == [
        '- "alpha" ("acme-skills")',
        '- "group/beta" ("acme-skills")',
        '- "beta" ("other-skills")',
        '- "gamma" ("other-skills")',
    ]
    assert [one.total for one in result.collections] == [2, 2]


def test_the_overview_of_one_is_of_that_alone(both: Catalog) -> None:
    """By `collection`."""
    result = both.overview(collection=ACME)
    assert ("gamma" in result.overview, len(result.collections)) == (False, 1)


def test_the_overview_names_what_is_gone(made: Several, both: Catalog) -> None:
    """A list that lacks something says so."""
    lose_lock(made)
    result = both.overview()
    assert 'Not served now: "other-skills"; ' in result.overview
    assert result.collections[1].problem == "catalog_unavailable"


@pytest.mark.parametrize("limit", [0, limits.SEARCH_MAX_LIMIT + 1])
def test_limits_are_those_of_one_collection(both: Catalog, limit: int) -> None:
    """Outside them is invalid input."""
    assert code_of(lambda: both.search(limit=limit)) == "invalid_input"

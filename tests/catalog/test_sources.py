"""Several collections as MCP sees them: whose a URI is, and what changes a listing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from skills_bundle.catalog import limits, resources
from skills_bundle.errors import ToolError
from tests.installed_builder import SAMPLE, InstalledBuilder
from tests.several_builder import ACME, OTHER, Several, install_several

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def made(tmp_path: Path) -> Several:
    """Give two installed collections."""
    return install_several(tmp_path)


def test_every_uri_begins_with_its_collection_and_ends_with_the_path(made: Several) -> None:
    """The last folder of a skill is still its name."""
    found = [str(item.value["uri"]) for item in made.catalog().snapshot().entries()]
    assert found == [
        "skill://acme-skills/alpha/SKILL.md",
        "skill://acme-skills/group/beta/SKILL.md",
        "skill://other-skills/beta/SKILL.md",
        "skill://other-skills/gamma/SKILL.md",
    ]


def test_every_listed_resource_is_found_by_its_uri(made: Several) -> None:
    """In its collection, at its path."""
    shown = made.catalog().snapshot()
    for item in shown.resources():
        place: Any = shown.locate(str(item.value["uri"]))
        assert place.rendered.files[place.path] is item


@pytest.mark.parametrize(
    "uri",
    [
        "skill://alpha/SKILL.md",
        "skill://acme-skill/alpha/SKILL.md",
        "skill://Acme-skills/alpha/SKILL.md",
        "skill://acme%2Dskills/alpha/SKILL.md",
        "skill://",
        "skill:///alpha/SKILL.md",
        "acme-skills/alpha/SKILL.md",
    ],
)
def test_no_other_spelling_leads_anywhere(made: Several, uri: str) -> None:
    """Hosts tell skills apart by URI."""
    assert made.catalog().snapshot().locate(uri) is None


def test_the_folder_of_a_collection_holds_its_direct_children(made: Several) -> None:
    """Skills and the folders above them."""
    place: Any = made.catalog().snapshot().locate("skill://acme-skills")
    children = place.rendered.folders[place.path]
    assert [item.value["uri"] for item in children] == [
        "skill://acme-skills/alpha",
        "skill://acme-skills/group",
    ]


NAMES = ["a", "a/b", "a b", "小说", "..", "%61", "A", "a%2Fb"]


def test_names_that_need_quoting_stay_apart(tmp_path: Path) -> None:
    """No collection's URIs begin like another's, whatever it is called."""
    shown = install_several(tmp_path, dict.fromkeys(NAMES, SAMPLE)).catalog().snapshot()
    for name in NAMES:
        place: Any = shown.locate(resources.uri_of("alpha/SKILL.md", resources.base_of(name)))
        assert place.source.name == name


def test_a_collection_has_one_uri() -> None:
    """Encoded like the rest, and the slash as well."""
    assert [resources.base_of(name) for name in ("acme-skills", "a/b", "a b", "é")] == [
        "skill://acme-skills/",
        "skill://a%2Fb/",
        "skill://a%20b/",
        "skill://%C3%A9/",
    ]


@pytest.mark.parametrize("path", ["", "/beta/SKILL.md", "/nobody"])
def test_what_lies_in_a_lost_collection_is_unavailable_not_unknown(
    made: Several, path: str
) -> None:
    """It may be there again in a moment."""
    made[OTHER].lock.unlink()
    with pytest.raises(ToolError) as caught:
        made.catalog().snapshot().locate(f"skill://other-skills{path}")
    assert caught.value.code == "collection_unavailable"


def test_what_was_seen_changes_when_a_collection_goes_and_comes(made: Several) -> None:
    """So that clients are told of both."""
    catalog = made.catalog()
    seen = [catalog.seen]
    data = made[OTHER].lock.read_bytes()
    for act in (lambda: None, made[OTHER].lock.unlink, lambda: made[OTHER].lock.write_bytes(data)):
        act()
        catalog.snapshot()
        seen.append(catalog.seen)
    assert (seen[0], seen[1] == seen[3], seen[1] == seen[2]) == (None, True, False)


def test_a_look_at_one_collection_is_no_look_at_all(made: Several) -> None:
    """Until each was looked at once, nothing is known of the whole."""
    catalogs = made.catalog()
    catalogs.search(collection=ACME)
    assert catalogs.seen is None


def test_a_file_that_no_read_surely_gives_is_not_listed(tmp_path: Path) -> None:
    """A listing promises that what it lists can be read."""
    large = b"x" * (limits.RESOURCE_FILE_MAX_BYTES + 1)
    skills = {"alpha": {**SAMPLE["alpha"], "large.bin": large}}
    found = InstalledBuilder(skills=skills).install(tmp_path).catalog().snapshot()
    listed = [item.value["uri"] for item in found.resources()]
    assert "skill://alpha/large.bin" not in listed
    assert len(listed) == len(SAMPLE["alpha"])

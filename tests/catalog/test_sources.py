"""A source, its rendered lock, and all sources at one moment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from skills_bundle.catalog import limits, resources
from skills_bundle.catalog.sources import RenderedLock
from skills_bundle.errors import ToolError, UnsafeFileError
from tests.installed_builder import SAMPLE, InstalledBuilder, lock_of
from tests.several_builder import ACME, OTHER, Several, install_several

if TYPE_CHECKING:
    from pathlib import Path

    from skills_bundle.bundle.lock import CatalogLock


@pytest.fixture
def made(tmp_path: Path) -> Several:
    """Return two installed collections."""
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


def render(lock: CatalogLock) -> RenderedLock:
    """Render a lock for a server of one collection."""
    return RenderedLock(lock, "acme-skills", resources.SCHEME)


def children(folder: str) -> list[Any]:
    """Return the URIs of a folder's children."""
    return [item.value["uri"] for item in render(lock_of(SAMPLE)).folders[folder]]


def test_every_locked_file_is_a_resource() -> None:
    """In the order of the lock."""
    lock = lock_of(SAMPLE)
    assert list(render(lock).files) == list(lock.files())


def test_a_skill_md_is_named_and_described_by_its_frontmatter() -> None:
    """Whole and as written, not as trimmed for search."""
    fields: Any = {"alpha": {"frontmatter": {"name": "alpha", "description": " First. \n"}}}
    resource = render(lock_of(SAMPLE, fields)).files["alpha/SKILL.md"].value
    assert resource == {
        "uri": "skill://alpha/SKILL.md",
        "name": "alpha",
        "description": " First. \n",
        "mimeType": "text/markdown",
        "size": len(SAMPLE["alpha"]["SKILL.md"]),
    }


def test_another_file_is_named_by_its_own_name() -> None:
    """With size and, where the ending tells it, media type."""
    resource = render(lock_of(SAMPLE)).files["alpha/scripts/run.py"].value
    assert resource == {
        "uri": "skill://alpha/scripts/run.py",
        "name": "run.py",
        "mimeType": "text/x-python",
        "size": len(SAMPLE["alpha"]["scripts/run.py"]),
    }


def test_a_file_whose_ending_tells_nothing_is_listed_without_a_media_type() -> None:
    """Its bytes were not looked at."""
    assert "mimeType" not in render(lock_of(SAMPLE)).files["group/beta/assets/logo.bin"].value


def test_a_folder_holds_its_direct_children_only() -> None:
    """Files and folders, by the bytes of their paths, without a slash at the end."""
    assert children("alpha") == [
        "skill://alpha/SKILL.md",
        "skill://alpha/references",
        "skill://alpha/scripts",
    ]


def test_a_folder_of_skills_is_a_folder_too() -> None:
    """Every level above a locked file can be listed."""
    assert children("group") == ["skill://group/beta"]


def test_a_child_folder_has_the_media_type_of_folders() -> None:
    """So that clients know where they can descend."""
    (folder,) = render(lock_of(SAMPLE)).folders["group"]
    assert folder.value == {
        "uri": "skill://group/beta",
        "name": "beta",
        "mimeType": "inode/directory",
    }


def test_walking_the_folders_finds_every_file_once() -> None:
    """Nothing is reached twice or not at all."""
    rendering = render(lock_of(SAMPLE))
    found = [
        item.value["uri"]
        for inside in rendering.folders.values()
        for item in inside
        if item.value.get("mimeType") != "inode/directory"
    ]
    assert sorted(map(str, found)) == sorted(
        str(item.value["uri"]) for item in rendering.files.values()
    )


def test_the_rendering_is_kept_as_long_as_the_lock_stays_the_same(tmp_path: Path) -> None:
    """A listing of thousands of files is not made anew for each request."""
    (source,) = InstalledBuilder().install(tmp_path).catalog().sources
    assert source.rendered(source.view()) is source.rendered(source.view())


def test_nothing_was_seen_before_the_first_snapshot(tmp_path: Path) -> None:
    """Afterwards it is what listings are made of."""
    catalog = InstalledBuilder().install(tmp_path).catalog()
    before = catalog.seen
    assert (before, catalog.snapshot().digest) == (None, catalog.seen)


def test_a_missing_lock_is_a_coded_refusal(tmp_path: Path) -> None:
    """As for the tools."""
    place = InstalledBuilder().install(tmp_path)
    place.lock.unlink()
    with pytest.raises(ToolError) as caught:
        place.catalog().snapshot()
    assert caught.value.code == "catalog_unavailable"


def test_an_altered_file_is_not_read(tmp_path: Path) -> None:
    """Compared as it is read, also after a look that found it whole."""
    place = InstalledBuilder().install(tmp_path)
    (source,) = place.catalog().sources
    source.view()
    (place.skills / "alpha/SKILL.md").write_bytes(b"x" * len(SAMPLE["alpha"]["SKILL.md"]))
    with pytest.raises(UnsafeFileError):
        source.read("alpha/SKILL.md")

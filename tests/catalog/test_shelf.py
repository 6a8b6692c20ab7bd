"""The shelf: a lock as resources and folders, over a real installation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from skills_bundle.catalog import resources
from skills_bundle.catalog.sources import RenderedLock
from skills_bundle.errors import ToolError, UnsafeFileError
from tests.installed_builder import SAMPLE, InstalledBuilder, lock_of

if TYPE_CHECKING:
    from pathlib import Path

    from skills_bundle.bundle.lock import CatalogLock


def render(lock: CatalogLock) -> RenderedLock:
    """Render a lock for a server of one collection."""
    return RenderedLock(lock, "acme-skills", resources.SCHEME)


def children(folder: str) -> list[Any]:
    """Give the URIs of a folder's children."""
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

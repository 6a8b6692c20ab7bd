"""The step of `mcp check` that loads a skill as a host: what it sees, what it does not let by."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import anyio
import pytest
from mcp.client.client import Client

from skills_bundle.catalog import limits as catalog_limits
from skills_bundle.catalog import resources
from skills_bundle.catalog.sources import RenderedLock, Source
from skills_bundle.formats.digest import sha256_hex
from skills_bundle.server import limits, session
from skills_bundle.server.check.report import StepError
from skills_bundle.server.check.steps import ServedCollection, load_as_host
from tests.installed_builder import SAMPLE, Installation, InstalledBuilder
from tests.server.host import tools_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from skills_bundle.catalog.service import Catalog
    from skills_bundle.installed.bundle import BundleState

DIGEST = sha256_hex(SAMPLE["alpha"]["SKILL.md"])


@pytest.fixture
def place(tmp_path: Path) -> Installation:
    """Return an installation."""
    return InstalledBuilder().install(tmp_path)


def load(place: Installation, catalog: Catalog | None, digest: str = DIGEST) -> str:
    """Connect to a server of this catalog, take the step, and give what it says either way."""
    server = session.build(tools_of(place.catalog()), version="1", catalog=catalog, notify=False)

    async def converse() -> str:
        async with Client(server) as client:
            try:
                alpha = ServedCollection(None, {}, 2, {"path": "alpha"}, digest)
                return await load_as_host(client, alpha)
            except StepError as error:
                return f"WRONG: {error}"

    return anyio.run(converse)


class Lying(Source):
    """A source that alters what it says about alpha's SKILL.md."""

    def __init__(self, place: Installation, alter: Callable[[Any], Any]) -> None:
        """Keep how."""
        super().__init__("acme-skills", place.open())
        self._alter = alter

    def rendered(self, view: BundleState) -> RenderedLock:
        """Return the rendered lock with alpha's entry altered."""
        whole = RenderedLock(view.lock, self.name, self.base)
        listed = dict(whole.entries.listed)
        uri = "skill://alpha/SKILL.md"
        entry = listed[uri].value
        first, *rest = cast("list[Any]", entry["resources"])
        listed[uri] = resources.item({**entry, "resources": [self._alter(first), *rest]})
        whole.entries = resources.Entries(listed, {})
        return whole


def lying(place: Installation, alter: Callable[[Any], Any]) -> Catalog:
    """Return a catalog whose only source lies."""
    catalog = place.catalog()
    catalog.sources = (Lying(place, alter),)
    return catalog


def test_a_server_that_keeps_its_word_passes(place: Installation) -> None:
    """Entry, resource and tool agree."""
    seen = load(place, place.catalog())
    assert seen == "2 listed; the same SKILL.md has its entry's digest"


def test_a_skill_without_an_entry_is_stood_in_for_by_another(tmp_path: Path) -> None:
    """Not being listed is no fault."""
    fields: dict[str, dict[str, object]] = {"alpha": {"diagnostics": ("bom",)}}
    place = InstalledBuilder(fields=fields).install(tmp_path)
    seen = load(place, place.catalog())
    assert seen == "1 listed; skill://group/beta/SKILL.md has its entry's digest"


def test_a_collection_without_entries_passes(tmp_path: Path) -> None:
    """There is nothing to load, and that is said."""
    fields: dict[str, dict[str, object]] = {one: {"diagnostics": ("bom",)} for one in SAMPLE}
    place = InstalledBuilder(fields=fields).install(tmp_path)
    assert load(place, place.catalog()) == "no skill is listed; the overview says why"


def test_a_server_without_the_extension_is_wrong(place: Installation) -> None:
    """Hosts of the extension would find nothing."""
    assert load(place, None).startswith("WRONG: The server does not declare")


@pytest.mark.parametrize(
    "change", [{"digest": "sha256:" + "0" * 64}, {"size": 1}, {"uri": "skill://alpha/other.md"}]
)
def test_an_entry_that_does_not_fit_the_bytes_is_wrong(
    place: Installation, change: dict[str, object]
) -> None:
    """Wherever it differs."""
    said = load(place, lying(place, lambda row: {**row, **change}))
    assert said == "WRONG: skill://alpha/SKILL.md does not have the size and digest of its entry."


def test_bytes_other_than_the_tools_are_wrong(place: Installation) -> None:
    """Even if entry and resource agree with each other."""
    said = load(place, place.catalog(), digest="0" * 64)
    assert said == "WRONG: skill://alpha/SKILL.md has other bytes than the tool returned."


def test_a_listing_without_end_is_wrong(
    place: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody waits forever."""
    monkeypatch.setattr(catalog_limits, "LISTING_PAGE_MAX_BYTES", 1)
    monkeypatch.setattr(limits, "CHECK_MAX_PAGES", 1)
    assert load(place, place.catalog()) == "WRONG: skills/list has no end after 1 pages."

"""Who is told that the skills are other ones than they listed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from skills_bundle.installed import location as installed
from skills_bundle.wiring import open_catalog
from tests.builders import SkillsFolder
from tests.installed_builder import SAMPLE, Installation, InstalledBuilder
from tests.server.host import Host
from tests.server.peer import DISCOVERY, HANDSHAKES, call

if TYPE_CHECKING:
    from pathlib import Path

    from skills_bundle.catalog.service import Catalog

PYPROJECT = """
[project]
name = "acme-skills"
version = "1.0"
[tool.hatch.build.hooks.skills-bundle]
"""

LIST_CHANGED = {"jsonrpc": "2.0", "method": "notifications/resources/list_changed"}
SEARCH = call("skill_catalog_search")


@pytest.fixture
def place(tmp_path: Path) -> Installation:
    """Return an installation."""
    return InstalledBuilder().install(tmp_path)


def upgrade(place: Installation) -> None:
    """Install another version over it."""
    InstalledBuilder(skills={**SAMPLE, "gamma": SAMPLE["alpha"]}).install(place.site)


@pytest.mark.parametrize("revision", HANDSHAKES)
def test_who_listed_the_old_skills_is_told_before_the_next_answer(
    place: Installation, revision: str
) -> None:
    """By whatever request it is noticed."""
    with Host(place, revision) as host:
        host.result("skills/list")
        upgrade(place)
        host.ask(SEARCH)
        assert host.notes == [LIST_CHANGED]


@pytest.mark.parametrize("method", ["resources/list", "skills/list"])
def test_a_client_is_told_once(place: Installation, method: str) -> None:
    """Not before every answer from then on."""
    with Host(place) as host:
        host.result(method)
        upgrade(place)
        host.ask(SEARCH)
        host.ask(SEARCH)
        assert len(host.notes) == 1


def test_who_is_refused_an_old_cursor_is_told_why(
    place: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The notification comes with the error."""
    monkeypatch.setattr("skills_bundle.catalog.limits.LISTING_PAGE_MAX_BYTES", 1)
    with Host(place) as host:
        cursor = host.result("skills/list")["nextCursor"]
        upgrade(place)
        host.error("skills/list", cursor=cursor)
        assert host.notes == [LIST_CHANGED]


def test_who_lists_anew_has_nothing_to_be_told(place: Installation) -> None:
    """The answer is the news."""
    with Host(place) as host:
        host.result("skills/list")
        upgrade(place)
        host.result("skills/list")
        host.ask(SEARCH)
        assert host.notes == []


def test_who_never_listed_anything_is_told_nothing(place: Installation) -> None:
    """There is nothing that could be outdated."""
    with Host(place) as host:
        host.ask(SEARCH)
        upgrade(place)
        host.ask(SEARCH)
        assert host.notes == []


def test_an_altered_file_changes_no_listing(place: Installation) -> None:
    """The lock is what is listed, and it is the same."""
    with Host(place) as host:
        host.result("skills/list")
        (place.skills / "alpha/SKILL.md").write_bytes(b"x")
        host.ask(SEARCH)
        assert host.notes == []


def test_on_2026_nobody_is_told_without_a_subscription(place: Installation) -> None:
    """The revision forbids it; results say how long they stay fresh."""
    with Host(place, DISCOVERY) as host:
        host.result("skills/list")
        upgrade(place)
        host.ask(call("skill_catalog_search", None, 1, DISCOVERY))
        assert host.notes == []


def test_two_connections_are_told_apart(place: Installation) -> None:
    """What one was told, the other was not."""
    catalog = place.catalog()
    with Host(catalog) as one, Host(catalog) as other:
        one.result("skills/list")
        other.result("skills/list")
        upgrade(place)
        one.ask(SEARCH)
        other.ask(SEARCH)
        assert (len(one.notes), len(other.notes)) == (1, 1)


@pytest.fixture
def edited(tmp_path: Path) -> Catalog:
    """Return the catalog of a source checkout that is being edited."""
    package = tmp_path / "src/acme_skills"
    package.mkdir(parents=True)
    (package / "__init__.py").write_bytes(b"")
    (tmp_path / "pyproject.toml").write_text(PYPROJECT, encoding="utf-8")
    SkillsFolder(tmp_path).skill("alpha")
    return open_catalog(
        find=lambda: installed.locate(
            str(package / "__init__.py"),
            import_name="acme_skills",
            name="acme-skills",
            version="1.0",
        )
    )


def test_an_edit_in_a_source_checkout_is_told(edited: Catalog, tmp_path: Path) -> None:
    """Whoever writes a skill sees it in a host that is connected."""
    with Host(edited) as host:
        host.result("resources/list")
        SkillsFolder(tmp_path).skill("beta")
        host.ask(SEARCH)
        assert host.notes == [LIST_CHANGED]


def test_what_is_being_edited_is_never_fresh(edited: Catalog) -> None:
    """A client on 2026-07-28 asks again each time."""
    with Host(edited, DISCOVERY) as host:
        assert host.result("skills/list")["ttlMs"] == 0

"""The running installation joined into a catalog, and what a start of it costs."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from skills_bundle import wiring
from skills_bundle.errors import BundleUnavailableError, ToolError, UnsafeFileError
from skills_bundle.installed import location as installed
from skills_bundle.installed.collections import UnknownCollectionError
from tests import odd_files
from tests.installed_builder import InstalledBuilder

if TYPE_CHECKING:
    from pathlib import Path

    from skills_bundle.installed.location import Installed

HEAVY = (
    "click",
    "hatchling",
    "http",
    "httpx",
    "jsonschema",
    "mcp",
    "pygit2",
    "rich",
    "sqlite3",
    "ssl",
    "subprocess",
    "urllib.request",
    "yaml",
)
"""What no start of an installed catalog may import. (pydantic looks for plugins of its own through
`importlib.metadata`, which brings `email` and `socket` along; that is not ours to leave out.)"""

PROBE = """
import sys
from skills_bundle import wiring
from skills_bundle.installed import location as installed

def find():
    return installed.locate(sys.argv[1], import_name="acme_skills", name="acme-skills", version="0")

catalog = wiring.open_catalog(find=find)
assert catalog.search("alpha").total == 1
catalog.read("alpha")
catalog.overview()
assert wiring.verify_installation(find=find).exit_code == 0
print(*sorted(sys.modules))
"""


def test_serving_an_installed_bundle_imports_nothing_heavy(tmp_path: Path) -> None:
    """A host waits for the first answer; git, YAML, network and command line are not needed."""
    made = InstalledBuilder().install(tmp_path)
    file = str(made.folder / "__init__.py")
    out = subprocess.run(
        [sys.executable, "-P", "-c", PROBE, file],
        check=True,
        capture_output=True,
        encoding="utf-8",
        cwd=tmp_path,
    )
    assert set(HEAVY).intersection(out.stdout.split()) == set()


def test_only_a_named_collection_is_looked_for() -> None:
    """A host that starts our own server does not wait for metadata to be read."""
    code = (
        "import sys\n"
        "from skills_bundle import wiring\n"
        "wiring.finder(None)\n"
        "print('skills_bundle.installed.collections' in sys.modules)\n"
        "wiring.finder('skills-bundle')\n"
        "print('skills_bundle.installed.collections' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], check=True, capture_output=True, encoding="utf-8"
    )
    assert done.stdout.split() == ["False", "True"]


def test_an_installed_bundle_is_opened(tmp_path: Path) -> None:
    """Search, read and verification are of the place that was found."""
    made = InstalledBuilder().install(tmp_path)
    catalog = wiring.open_catalog(find=made.locate)
    assert catalog.problem() is None
    assert catalog.read("alpha").provenance.package_name == "acme-skills"
    assert wiring.verify_installation(find=made.locate).exit_code == 0


def test_more_than_markdown_is_read_when_asked(tmp_path: Path) -> None:
    """The choice is made when the catalog is opened."""
    made = InstalledBuilder().install(tmp_path)
    catalog = wiring.open_catalog(resources="all", find=made.locate)
    assert catalog.read("alpha", "scripts/run.py").content == "print('alpha')\n"


def test_opening_never_fails(tmp_path: Path) -> None:
    """A server starts and says `catalog_unavailable`; the operator is told why."""

    def nowhere() -> Installed:
        raise BundleUnavailableError("No bundle can be read from here.")

    catalog = wiring.open_catalog(find=nowhere)
    assert str(catalog.problem()) == "No bundle can be read from here."
    with pytest.raises(ToolError) as refused:
        catalog.search()
    assert refused.value.code == "catalog_unavailable"
    made = InstalledBuilder().install(tmp_path)
    odd_files.remove(made.lock)
    assert wiring.open_catalog(find=made.locate).problem() is not None


def test_a_missing_skill_is_no_reason_to_read(tmp_path: Path) -> None:
    """A bundle that nobody looked at yet gives no bytes."""
    made = InstalledBuilder().install(tmp_path)
    with pytest.raises(UnsafeFileError):
        wiring.DeferredBundle(made.locate).read("alpha/SKILL.md")


def test_the_running_package_is_the_default() -> None:
    """From its source, which these tests run from, everything is served with the gap."""
    found = wiring.verify_installation()
    assert found.package_name == "skills-bundle"
    catalog = wiring.open_catalog()
    assert catalog.search().provenance.package_name == "skills-bundle"


def test_one_chosen_collection_is_opened_as_if_there_were_no_others(tmp_path: Path) -> None:
    """And what says where it is can stop a start."""
    made = InstalledBuilder().install(tmp_path)
    chosen = wiring.ChosenCollections(finders={"acme-skills": made.locate})
    source = wiring.open_chosen(chosen)
    assert (source.several, chosen.identify()) == (False, made.locate())


def test_several_chosen_collections_are_opened_together(tmp_path: Path) -> None:
    """An installed one and one that runs from its source: each with its own claims."""
    made = InstalledBuilder().install(tmp_path / "site")
    chosen = wiring.ChosenCollections(
        finders={"acme-skills": made.locate, "skills-bundle": installed.locate}
    )
    source = wiring.open_chosen(chosen)
    assert source.several
    states = source.search().collections
    assert chosen.identify() is None
    assert [one.provenance and one.provenance.gaps for one in states] == [(), ("editable_install",)]


def test_one_that_cannot_be_found_leaves_the_others(tmp_path: Path) -> None:
    """Opening never fails, and the other is served."""

    def nowhere() -> Installed:
        raise BundleUnavailableError("No bundle can be read from here.")

    made = InstalledBuilder().install(tmp_path)
    source = wiring.open_chosen(
        wiring.ChosenCollections(
            finders={"acme-skills": made.locate, "gone": nowhere}, ambiguous=frozenset({"gone"})
        )
    )
    assert source.several
    assert [one.problem for one in source.search().collections] == [None, "ambiguous_collection"]
    assert source.problem() is None


def test_an_unknown_name_among_several_is_refused() -> None:
    """Before anything is opened."""
    with pytest.raises(UnknownCollectionError):
        wiring.choose(["skills-bundle", "nobody"])


def test_a_name_given_twice_is_one_collection() -> None:
    """And so it is served alone."""
    assert list(wiring.choose(["skills-bundle", "skills-bundle"]).finders) == ["skills-bundle"]

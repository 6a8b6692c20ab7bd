"""The recorded results, which the documentation shows, are of this version and these clients."""

from __future__ import annotations

import json

from skills_bundle import __version__
from tests.conformance.room import HERE, node_packages, python_clients
from tests.conformance.rows import exemptions, load
from tests.conformance.walkthrough import PAGE
from tests.repository.pages import ROOT, page

FACTS, ROWS = load((HERE / "results.json").read_text(encoding="utf-8"))
AGAIN = "run `nox -s conformance` again"


def test_results_are_of_the_current_version() -> None:
    """A release is tried before it is made."""
    assert FACTS["server"] == __version__, AGAIN


def test_results_are_of_the_pinned_clients() -> None:
    """Every client is there, in the version that is pinned."""
    pinned = {tuple(name.split()) for name in python_clients()} | set(node_packages().items())
    found = {(row.client, row.version) for row in ROWS} | {("node", FACTS["node"])}
    assert found == pinned, AGAIN


def test_no_recorded_scenario_failed() -> None:
    """The session writes nothing then; nobody else should."""
    assert [row for row in ROWS if row.result == "failed"] == []


def test_what_did_not_pass_has_exactly_its_exemption() -> None:
    """Kind and reason as they stand in `exemptions.toml` now."""
    known = exemptions((HERE / "exemptions.toml").read_text(encoding="utf-8"))
    recorded = {
        (row.client, row.era, row.transport, row.scenario): (row.result, row.reason)
        for row in ROWS
        if row.result != "passed"
    }
    assert recorded == {each.key: (each.kind, each.reason) for each in known}, AGAIN


def test_the_walk_shows_as_many_skills_and_files_as_there_are() -> None:
    """What the Inspector says at the end of the tutorial."""
    lock = json.loads((ROOT / "catalog.lock.json").read_text(encoding="utf-8"))
    files = sum(len(skill["files"]) for skill in lock["skills"])
    assert f"Verified {len(lock['skills'])} skills and {files} files:" in page(PAGE).text

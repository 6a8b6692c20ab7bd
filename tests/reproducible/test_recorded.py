"""The recorded results, which the documentation shows, are of this version and all variations."""

from __future__ import annotations

import json

from skills_bundle import __version__
from tests.reproducible.__main__ import RESULTS, every_variation

RECORDED = json.loads(RESULTS.read_text(encoding="utf-8"))
AGAIN = "run `nox -s reproducible -- --record` again"


def test_results_are_of_the_current_version() -> None:
    """A release is built under every circumstance before it is made."""
    assert RECORDED["version"] == __version__, AGAIN


def test_every_variation_is_among_the_results_for_both_projects() -> None:
    """What reprotest leaves out depends on the machine."""
    expected = {
        (project, each.group, each.name)
        for each in every_variation(())
        for project in ("skills-bundle", "foreign")
        if (each.group, each.name) == ("reprotest", "all it can vary here")
        or each.group != "reprotest"
    }
    found = {(row["project"], row["group"], row["variation"]) for row in RECORDED["rows"]}
    assert {row for row in found if row[1] != "reprotest"} | {
        row for row in expected if row[1] == "reprotest"
    } == expected, AGAIN


def test_no_recorded_row_is_unexpected() -> None:
    """The session writes nothing then; nobody else should."""
    assert {row["result"] for row in RECORDED["rows"]} <= {"as expected", "not run"}

"""The changelog can be read by a program, and knows the current version."""

from __future__ import annotations

import datetime as dt
import re

from skills_bundle import __version__
from tests.repository.pages import page

HEADING = re.compile(r"## \[(?P<version>[^\]]+)\](?: - (?P<date>\d{4}-\d{2}-\d{2}))?")
KINDS = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def _versions() -> list[tuple[str, str | None]]:
    lines = page("docs/changelog.md").text.splitlines()
    rows = [HEADING.fullmatch(line) for line in lines if line.startswith("## ")]
    return [(row["version"], row["date"]) for row in rows if row is not None]


def test_every_second_level_heading_is_a_version() -> None:
    """The form of Keep a Changelog: `## [version] - date`, and nothing else on that level."""
    lines = page("docs/changelog.md").text.splitlines()
    assert len(_versions()) == sum(line.startswith("## ") for line in lines)


def test_the_unreleased_section_comes_first_and_has_no_date() -> None:
    """Changes collect on top."""
    assert _versions()[0] == ("Unreleased", None)


def test_releases_are_dated_and_newest_first() -> None:
    """Every release has a real date, and dates never rise further down."""
    dates = [dt.date.fromisoformat(date or "") for _, date in _versions()[1:]]
    assert dates == sorted(dates, reverse=True)


def test_the_current_version_has_an_entry() -> None:
    """A version that can be installed is described."""
    assert __version__ in [version for version, _ in _versions()]


def test_changes_are_sorted_into_the_six_kinds() -> None:
    """The form names six kinds of change."""
    lines = page("docs/changelog.md").text.splitlines()
    assert {line[4:] for line in lines if line.startswith("### ")} <= KINDS

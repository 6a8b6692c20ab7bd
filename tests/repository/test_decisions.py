"""Decision records have one form, are numbered without a gap, and are all in the index."""

from __future__ import annotations

import re

from tests.repository.pages import DOCS, Page, pages

HEAD = re.compile(
    r"^\* Status: (accepted|proposed|superseded by \d{4})\n\* Date: \d{4}-\d\d-\d\d$", re.MULTILINE
)
NUMBERED = re.compile(r"docs/decisions/(\d{4})-[a-z0-9-]+\.md")


def _records() -> list[Page]:
    return [each for each in pages() if NUMBERED.fullmatch(each.name)]


def _outline(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("## ")]


def test_records_are_numbered_without_a_gap() -> None:
    """A number is never used twice and never freed."""
    numbers = [int(each.name.split("/")[-1][:4]) for each in _records()]
    assert numbers == list(range(1, len(numbers) + 1))


def test_every_record_has_the_outline_of_the_template() -> None:
    """A reader finds options, reason, cost and check at the same place everywhere."""
    wanted = _outline((DOCS / "decisions" / "template.md").read_text(encoding="utf-8"))
    assert [each.name for each in _records() if _outline(each.text) != wanted] == []


def test_every_record_has_a_status_and_a_date() -> None:
    """Whether a decision holds can be seen without reading it."""
    assert [each.name for each in _records() if not HEAD.search(each.text)] == []

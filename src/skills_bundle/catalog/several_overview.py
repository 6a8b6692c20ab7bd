"""Decision: several collections at a glance, as one text within the bounds of one.

Each collection gets its share of the rows, one after the other in turn, so that a large one does
not crowd out a small one. What does not fit is counted by collection.
"""

from __future__ import annotations

from collections import Counter
from itertools import chain, islice, zip_longest
from typing import TYPE_CHECKING, Final

from skills_bundle.catalog import limits, overview
from skills_bundle.catalog.errors import refusal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skills_bundle.catalog.overview import Overview

HOW_TO_READ: Final = (
    "To read a row, give its name in brackets as `collection` and its path or name as `skill`."
)
NAMED_AT_MOST: Final = (limits.OVERVIEW_MAX_COLLECTIONS, 1, 0)
"""Collections that one line names; fewer if the text would be too long without a single skill."""


def render(
    collections: Sequence[Overview],
    gone: Sequence[str],
    max_entries: int,
    cap: int = limits.OVERVIEW_MAX_CHARACTERS,
) -> str:
    """Write the overview, with as many skills as fit, shared out fairly.

    Args:
        collections: Those that can be served, each with its name as its label, in order.
        gone: Names of those that cannot be served.
        max_entries: Most skills to show, of all collections together.
        cap: Most UTF-16 units of the whole text.

    Raises:
        ToolError: `response_too_large` if it does not fit even without a single skill or name.
    """
    turns = _turns(collections, max_entries)
    for shown in range(len(turns), -1, -1):
        text = _text(collections, gone, Counter(turns[:shown]), NAMED_AT_MOST[0])
        if _fits(text, cap):
            return text
    for named in NAMED_AT_MOST[1:]:
        text = _text(collections, gone, Counter(), named)
        if _fits(text, cap):
            return text
    raise refusal("response_too_large")


def _fits(text: str, cap: int) -> bool:
    return len(text.encode("utf-16-le")) // 2 <= cap


def _turns(collections: Sequence[Overview], most: int) -> list[int]:
    """Give whose row is shown first, second, and so on: each collection's in turn."""
    places = ([index] * len(one.skills) for index, one in enumerate(collections))
    rounds = chain.from_iterable(zip_longest(*places))
    return list(islice((index for index in rounds if index is not None), most))


def _text(
    collections: Sequence[Overview], gone: Sequence[str], shown: Mapping[int, int], named: int
) -> str:
    rows = [row for one in collections for row in one.skills]
    lines = [*overview.head(rows), HOW_TO_READ, "", "## Skills"]
    for index, one in enumerate(collections):
        lines += [overview.entry(row, one.label) for row in one.skills[: shown.get(index, 0)]]
    hidden = {
        one.label: len(one.skills) - shown.get(index, 0) for index, one in enumerate(collections)
    }
    lines += _hidden({name: number for name, number in hidden.items() if number}, named)
    if not rows:
        lines.append("(No skills in these collections.)")
    total = overview.count(len(rows), "distinct skill")
    among = overview.count(len(collections), "collection")
    lines += ["", f"Total: {total} in {among}."]
    lines += _warnings(collections, named)
    if gone:
        lines.append(
            f"Not served now: {_names(gone, named)}. This list is without what they hold; the "
            "field `collections` says why."
        )
    sources = _names([one.label for one in collections], named)
    lines.append(
        f"Sources: {sources}. Skills of one name in different collections, or at different paths, "
        "are listed apart."
    )
    return "\n".join(lines) + "\n"


def _hidden(hidden: Mapping[str, int], named: int) -> list[str]:
    if not hidden:
        return []
    told = [f"{number} in {_label(name)}" for name, number in islice(hidden.items(), named)]
    rest = list(hidden.values())[named:]
    if rest:
        told.append(f"{sum(rest)} in {overview.count(len(rest), 'other collection')}")
    number = overview.count(sum(hidden.values()), "more skill")
    return [f"({number} not shown here: {', '.join(told)}. Search finds them too.)"]


def _warnings(collections: Sequence[Overview], named: int) -> list[str]:
    lines: list[str] = []
    damaged = {one.label: one.warnings for one in collections if one.warnings}
    if damaged:
        skills = overview.count(sum(damaged.values()))
        lines.append(
            f"Warnings: {skills} cannot be served whole (in {_names(list(damaged), named)}); this "
            "list is incomplete."
        )
    unlisted = {
        f"{one.label}: {path}": reason
        for one in collections
        for path, reason in one.unlisted.items()
    }
    if unlisted:
        lines.append(overview.unlisted_line(unlisted, min(named, limits.OVERVIEW_MAX_UNLISTED)))
    return lines


def _names(names: Sequence[str], most: int) -> str:
    told = [_label(name) for name in names[:most]]
    rest = len(names) - len(told)
    if rest:
        told.append(overview.count(rest, "other collection" if told else "collection"))
    return ", ".join(told) or "none"


def _label(name: str) -> str:
    return overview.plain(name, limits.OVERVIEW_LABEL_MAX_CHARACTERS)

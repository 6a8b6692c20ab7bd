"""Decision: which skills a query matches, and in which order they are listed."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from skills_bundle.catalog import limits
from skills_bundle.catalog.model import SkillRow
from skills_bundle.formats import strict_json
from skills_bundle.formats.hidden_characters import neutral

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skills_bundle.bundle.lock import CatalogLock, LockedSkill

REPAIRED: Final = "yaml_repaired"
"""The diagnostic that a lock holds for frontmatter that had to be repaired."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A skill and the text in which queries are searched."""

    row: SkillRow
    text: str


def index(lock: CatalogLock, collection: str) -> tuple[Entry, ...]:
    """Return the skills of a lock ready for searching, by name and then path, by code points."""
    entries = [Entry(_row(skill, collection), _text(skill)) for skill in lock.skills]
    return tuple(sorted(entries, key=lambda entry: (entry.row.name, entry.row.path)))


def matches(entries: tuple[Entry, ...], query: str) -> tuple[SkillRow, ...]:
    """Return the skills whose text contains the query, in the order of the index.

    The query is text, not a pattern: `.*` matches a dot and an asterisk.
    """
    wanted = folded(query)
    return tuple(entry.row for entry in entries if wanted in entry.text)


def page(rows: Sequence[SkillRow], offset: int, limit: int) -> tuple[SkillRow, ...]:
    """Return the rows of one page: at most the limit, and fewer if they are long.

    Args:
        rows: Every row.
        offset: Rows to skip.
        limit: Maximum rows.
    """
    most = limits.SEARCH_PAGE_MAX_BYTES * max(1, limit / limits.SEARCH_DEFAULT_LIMIT)
    kept: list[SkillRow] = []
    for row in rows[offset : offset + limit]:
        most -= len(strict_json.compact(row.model_dump(mode="json")))
        if kept and most < 0:
            break
        kept.append(row)
    return tuple(kept)


def folded(text: str) -> str:
    """Return the form in which texts are compared: lower case, composed (NFC).

    Composed, because a file from macOS spells `é` with two characters and a keyboard with one;
    composed again after lowering, which can decompose a character.
    """
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).lower())


def _text(skill: LockedSkill) -> str:
    return folded(f"{skill.name} {skill.description} {' '.join(skill.tags)}")


def _row(skill: LockedSkill, collection: str) -> SkillRow:
    return SkillRow(
        name=neutral(skill.name),
        path=neutral(skill.path),
        description=neutral(skill.description),
        tags=tuple(map(neutral, skill.tags)),
        parse_mode="repaired" if REPAIRED in skill.diagnostics else "strict",
        diagnostics=skill.diagnostics,
        collection=collection,
    )

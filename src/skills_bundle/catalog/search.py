"""Decision: which skills a query finds, and in which order they are listed."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from skills_bundle.catalog.model import SkillRow

if TYPE_CHECKING:
    from skills_bundle.bundle.lock import CatalogLock, LockedSkill

REPAIRED: Final = "yaml_repaired"
"""The diagnostic a lock holds for frontmatter that had to be mended."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A skill and the text that queries are looked for in."""

    row: SkillRow
    text: str


def index(lock: CatalogLock) -> tuple[Entry, ...]:
    """Prepare a lock for searching: by name, then path, both by code points."""
    entries = [Entry(_row(skill), _text(skill)) for skill in lock.skills]
    return tuple(sorted(entries, key=lambda entry: (entry.row.name, entry.row.path)))


def matches(entries: tuple[Entry, ...], query: str) -> tuple[SkillRow, ...]:
    """Give the skills whose text holds the query, in the order of the index.

    The query is text, not a pattern: `.*` looks for a dot and an asterisk.
    """
    wanted = folded(query)
    return tuple(entry.row for entry in entries if wanted in entry.text)


def folded(text: str) -> str:
    """Give the form in which texts are compared: lower case, composed.

    Composed, since a file from macOS spells `é` in two characters and a keyboard in one; composed
    again after lowering, which can take a character apart.
    """
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).lower())


def _text(skill: LockedSkill) -> str:
    return folded(f"{skill.name} {skill.description} {' '.join(skill.tags)}")


def _row(skill: LockedSkill) -> SkillRow:
    return SkillRow(
        name=skill.name,
        path=skill.path,
        description=skill.description,
        tags=skill.tags,
        parse_mode="repaired" if REPAIRED in skill.diagnostics else "strict",
        diagnostics=skill.diagnostics,
    )

"""Decision: the lock as entries of the MCP skills extension, and which skills have none.

An entry promises that a host which reads SKILL.md with a YAML reader of its own finds exactly the
`frontmatter` given here. A skill for which that cannot be promised, or whose entry would make a
strict host throw away the whole page, gets no entry and a reason; it is served by the tools.

Source: MCP skills extension (SEP-2640), "Skill Entries"; Agent Skills specification.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from skills_bundle.catalog import limits, uris
from skills_bundle.formats import strict_json
from skills_bundle.skills import limits as skill_limits
from skills_bundle.skills.model import SKILL_MD

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pydantic import JsonValue

    from skills_bundle.bundle.lock import CatalogLock, LockedSkill

    JsonObject: TypeAlias = dict[str, JsonValue]

REASONS: Final[dict[str, str]] = {
    "yaml_repaired": "The frontmatter had to be mended to be read; other readers refuse it.",
    "yaml_ambiguous": "A plain value of the frontmatter reads otherwise in YAML 1.1 than in 1.2.",
    "bom": "SKILL.md starts with a byte order mark; not every reader skips it.",
    "fence_blanks": "A line `---` of the frontmatter ends in blanks; not every reader allows them.",
    "name_form": "The name has not the form that the Agent Skills specification demands.",
    "description_too_long": "The description is longer than the specification allows.",
    "field_type": "A field of the specification has not the type that hosts demand of it.",
    "reserved_key": "A key of the frontmatter is `__proto__`, which JavaScript hosts refuse.",
    "file_too_large": "A file is larger than RESOURCE_FILE_MAX_BYTES; not every read gives it.",
    "entry_too_large": "The entry is longer than SKILL_ENTRY_MAX_BYTES.",
}
"""Why a skill has no entry, in the order in which the first is given."""

_BY_DIAGNOSTIC: Final = ("yaml_repaired", "yaml_ambiguous", "bom", "fence_blanks")
_NAME: Final = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")


@dataclass(frozen=True, slots=True)
class Item:
    """Something a listing holds.

    Attributes:
        value: Its form on the wire.
        size: Bytes of its compact rendering.
    """

    value: JsonObject
    size: int


@dataclass(frozen=True, slots=True)
class Entries:
    """What a lock gives the skills extension.

    Attributes:
        listed: URI of SKILL.md to entry, in the order of the lock.
        unlisted: Path of each skill without an entry to its reason, in the order of the lock.
    """

    listed: Mapping[str, Item]
    unlisted: Mapping[str, str]


def item(value: JsonObject) -> Item:
    """Measure a value."""
    return Item(value, len(strict_json.compact(value)))


def build(lock: CatalogLock, base: str = uris.SCHEME) -> Entries:
    """Render a lock: every skill is either listed or has a reason.

    Args:
        lock: The lock.
        base: What the URIs of its collection begin with.
    """
    listed: dict[str, Item] = {}
    unlisted: dict[str, str] = {}
    for skill in lock.skills:
        entry = item(_entry(skill, base))
        reason = unlisted_reason(skill, entry.size)
        if reason is None:
            listed[uris.of(f"{skill.path}/{SKILL_MD}", base)] = entry
        else:
            unlisted[skill.path] = reason
    return Entries(listed, unlisted)


def _entry(skill: LockedSkill, base: str) -> JsonObject:
    resources: list[JsonValue] = [
        {
            "uri": uris.of(f"{skill.path}/{file.path}", base),
            "digest": f"sha256:{file.sha256}",
            "size": file.size,
        }
        for file in skill.files
    ]
    return {
        "uri": uris.of(f"{skill.path}/{SKILL_MD}", base),
        "frontmatter": skill.frontmatter,
        "resources": resources,
    }


def unlisted_reason(skill: LockedSkill, entry_size: int = 0) -> str | None:
    """Give the first of `REASONS` for which a skill has no entry, or None if it has one.

    Args:
        skill: As locked.
        entry_size: Bytes of its entry.
    """
    fields = skill.frontmatter
    description = str(fields.get("description"))
    holds = {code: code in skill.diagnostics for code in _BY_DIAGNOSTIC} | {
        "name_form": not _NAME.fullmatch(skill.name)
        or len(skill.name) > skill_limits.SKILL_NAME_MAX_CHARACTERS,
        # Not the diagnostic of this name: that one does not count white space around the text.
        "description_too_long": len(description) > skill_limits.SKILL_DESCRIPTION_MAX_CHARACTERS,
        "field_type": not all(_has_type(key, value) for key, value in fields.items()),
        "reserved_key": _has_reserved_key(fields),
        "file_too_large": any(file.size > limits.RESOURCE_FILE_MAX_BYTES for file in skill.files),
        "entry_too_large": entry_size > limits.SKILL_ENTRY_MAX_BYTES,
    }
    return next((code for code in REASONS if holds[code]), None)


def _has_type(key: str, value: JsonValue) -> bool:
    """Tell whether a field has a type that every known host takes.

    `metadata` is looked at no further: its values pass through as the author wrote them.
    """
    match key:
        case "license":
            return isinstance(value, str)
        case "compatibility":
            most = skill_limits.SKILL_COMPATIBILITY_MAX_CHARACTERS
            return isinstance(value, str) and 0 < len(value) <= most
        case "allowed-tools":
            words = value if isinstance(value, list) else [value]
            return all(isinstance(word, str) for word in words)
        case "metadata":
            return isinstance(value, dict)
        case _:
            return True


def _has_reserved_key(value: JsonValue) -> bool:
    if isinstance(value, dict):
        return "__proto__" in value or any(map(_has_reserved_key, value.values()))
    return isinstance(value, list) and any(map(_has_reserved_key, value))


def page(items: Sequence[Item], start: int) -> tuple[list[JsonValue], int | None]:
    """Cut a page: whole items, as many as `limits.LISTING_PAGE_MAX_BYTES` holds, at least one.

    Args:
        items: The whole listing.
        start: Index of the page's first item.

    Returns:
        The page, and the index of the next one's first item, or None after the last page.
    """
    values: list[JsonValue] = []
    size = 0
    for index in range(start, len(items)):
        size += items[index].size + 1  # the comma
        if values and size > limits.LISTING_PAGE_MAX_BYTES:
            return values, index
        values.append(items[index].value)
    return values, None

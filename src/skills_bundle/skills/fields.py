"""Decision: the fields of frontmatter by the Agent Skills specification."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Final

from skills_bundle.skills import limits
from skills_bundle.skills.codes import clip

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pydantic import JsonValue

KNOWN_FIELDS: Final = (
    "name",
    "description",
    "license",
    "compatibility",
    "metadata",
    "allowed-tools",
)
"""Every field the specification knows."""

Row = tuple[str, str, str]
"""Code, field, sentence."""


def problems(fields: Mapping[str, JsonValue], folder: str) -> Iterator[Row]:
    """Give everything wrong with the fields of one skill.

    Args:
        fields: As read from the frontmatter.
        folder: Name of the skill's folder, in NFC.
    """
    yield from _name(fields.get("name"), folder)
    yield from _description(fields.get("description"))
    yield from _optional(fields)
    for key in fields:
        if key not in KNOWN_FIELDS:
            yield "unknown_field", key, f"field {clip(key)!r}: hosts ignore it or refuse the skill"


def _name(value: JsonValue, folder: str) -> Iterator[Row]:
    if value is None or value == "":
        yield "no_name", "name", "there is no name"
        return
    if not isinstance(value, str):
        yield "name_not_text", "name", "name is not text"
        return
    name = unicodedata.normalize("NFC", value)
    if name != folder:
        message = f"name {clip(name)!r} is not the folder's name {clip(folder)!r}"
        yield "name_mismatch", "name", message
    if not _well_formed(name):
        message = f"name {clip(name)!r}: use lower-case letters, digits and single hyphens"
        yield "name_form", "name", message
    if not name.isascii():
        yield "name_not_ascii", "name", f"name {clip(name)!r} is not ASCII"
    yield from _length("name", name, limits.SKILL_NAME_MAX_CHARACTERS)


def _well_formed(name: str) -> bool:
    """Apply the specification's rule, letters of any script counting as letters."""
    hyphens = name.startswith("-") or name.endswith("-") or "--" in name
    return name == name.lower() and not hyphens and name.replace("-", "").isalnum()


def _description(value: JsonValue) -> Iterator[Row]:
    if value is None or (isinstance(value, str) and not value.strip()):
        yield "no_description", "description", "there is no description"
    elif not isinstance(value, str):
        yield "description_not_text", "description", "description is not text"
    else:
        limit = limits.SKILL_DESCRIPTION_MAX_CHARACTERS
        yield from _length("description", value.strip(), limit)


def _length(key: str, text: str, limit: int) -> Iterator[Row]:
    if len(text) > limit:
        yield f"{key}_too_long", key, f"{key} has {len(text)} characters, more than {limit}"


def _optional(fields: Mapping[str, JsonValue]) -> Iterator[Row]:
    for key in ("license", "compatibility", "allowed-tools"):
        value = fields.get(key, "")
        if not isinstance(value, str):
            yield "field_type", key, f"{key} is not text"
        elif key == "compatibility":
            yield from _length(key, value, limits.SKILL_COMPATIBILITY_MAX_CHARACTERS)
    metadata = fields.get("metadata", {})
    if not isinstance(metadata, dict):
        yield "field_type", "metadata", "metadata is not a mapping"
    elif odd := sorted(key for key, value in metadata.items() if not isinstance(value, str)):
        yield "field_type", "metadata", f"metadata values are not text: {clip(', '.join(odd))}"


def tags(fields: Mapping[str, JsonValue]) -> tuple[str, ...]:
    """Give the tags of `metadata.tags` and of a top-level `tags`: NFC, each once, sorted.

    Both may be a list or text with commas; what is neither text nor number there is no tag.
    """
    metadata = fields.get("metadata")
    found = [*_words(fields.get("tags"))]
    if isinstance(metadata, dict):
        found += _words(metadata.get("tags"))
    words = {unicodedata.normalize("NFC", word.strip()) for word in found}
    return tuple(sorted(words - {""}, key=str.encode))


def _words(value: JsonValue) -> Iterator[str]:
    if isinstance(value, str):
        yield from value.split(",")
    elif isinstance(value, list):
        for item in value:
            if isinstance(item, str):
                yield item
            elif isinstance(item, int | float) and not isinstance(item, bool):
                yield str(item)

"""Decision: a lock as MCP sees it: URIs, resources, folders, and entries of the skills extension.

**URIs.** `skill://` and the path below the skills folder, with every UTF-8 byte except the
unreserved characters of RFC 3986 (letters, digits, `-._~`) and the slash percent-encoded in
capitals. No URI library changes this spelling: nothing in it can be decoded, lowered or resolved
away. Hosts tell skills apart by URI, so no second spelling is accepted: no lower-case hex digits,
no `%2E`, no plain space. Where several collections are served, the collection's name comes before
the path as one more component. A slash in the name is encoded, so the URIs of two collections never
share a start.

**Entries.** An entry promises that a host which parses SKILL.md with its own YAML reader gets
exactly this `frontmatter`. A skill for which that cannot be promised, or whose entry would make a
strict host discard the whole page, gets no entry but a reason; the tools still serve it.

Source: MCP skills extension (SEP-2640), "Skill Entries"; Agent Skills specification.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from skills_bundle.catalog import limits, reading
from skills_bundle.files import limits as file_limits
from skills_bundle.files import paths
from skills_bundle.formats import strict_json
from skills_bundle.formats.hidden_characters import neutral
from skills_bundle.skills import limits as skill_limits
from skills_bundle.skills.model import SKILL_MD

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pydantic import JsonValue

    from skills_bundle.bundle.lock import CatalogLock, LockedFile, LockedSkill

    JsonObject: TypeAlias = dict[str, JsonValue]

# --- URIs -------------------------------------------------------------------------------------

SCHEME: Final = "skill://"

_ESCAPED_IN_NAME: Final = re.compile(rb"[^A-Za-z0-9._~-]")
_ESCAPED: Final = re.compile(rb"[^A-Za-z0-9._~/-]")
_ESCAPE: Final = re.compile(rb"%([0-9A-F]{2})")
_SPELLED: Final = re.compile(r"skill://((?:[A-Za-z0-9._~/-]|%[0-9A-F]{2})+)")
_MAX_CHARACTERS: Final = len(SCHEME) + 9 * file_limits.PATH_MAX_CHARACTERS
"""A UTF-16 unit takes at most three bytes of UTF-8, and a byte three characters of a URI."""


def base_of(collection: str) -> str:
    """Return the start of a collection's URIs where several collections are served.

    Args:
        collection: Its name; any text that is not empty.
    """
    return f"{SCHEME}{_quoted(_ESCAPED_IN_NAME, collection)}/"


def uri_of(path: str, base: str = SCHEME) -> str:
    """Return the URI of a path below the skills folder; a folder's URI has no slash at its end.

    Args:
        path: The path.
        base: The start of its collection's URIs.
    """
    return base + _quoted(_ESCAPED, path)


def _quoted(escaped: re.Pattern[bytes], text: str) -> str:
    return escaped.sub(lambda match: b"%%%02X" % match[0][0], text.encode()).decode("ascii")


def path_of(uri: str, base: str = SCHEME) -> str | None:
    """Return the path that has exactly this URI, or None if no path has it.

    The path may still be one that no lock can hold.

    Args:
        uri: As received.
        base: The start of the collection's URIs.
    """
    if len(uri) > _MAX_CHARACTERS + len(base) or not uri.startswith(base):
        return None
    spelled = _SPELLED.fullmatch(SCHEME + uri.removeprefix(base))
    if spelled is None:
        return None
    raw = _ESCAPE.sub(lambda match: bytes((int(match[1], 16),)), spelled[1].encode("ascii"))
    try:
        path = raw.decode()
    except UnicodeDecodeError:
        return None
    return path if uri_of(path, base) == uri else None


# --- listings ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Item:
    """An item of a listing.

    Attributes:
        value: Its form on the wire.
        size: Bytes of its compact rendering.
    """

    value: JsonObject
    size: int


def item(value: JsonObject) -> Item:
    """Return a value with its size."""
    return Item(value, len(strict_json.compact(value)))


def page(items: Sequence[Item], start: int) -> tuple[list[JsonValue], int | None]:
    """Return one page: at least one item, and no more than `limits.LISTING_PAGE_MAX_BYTES` hold.

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


# --- resources and folders --------------------------------------------------------------------

FOLDER_TYPE: Final = "inode/directory"
"""Media type of a folder, as the skills extension calls it."""


def resources(lock: CatalogLock, base: str = SCHEME) -> dict[str, Item]:
    """Return the resource of every locked file by its path, in the order of the lock.

    Args:
        lock: The lock.
        base: The start of its collection's URIs.
    """
    return {
        f"{skill.path}/{file.path}": item(_resource(skill, file, base))
        for skill in lock.skills
        for file in skill.files
    }


def _resource(skill: LockedSkill, file: LockedFile, base: str) -> JsonObject:
    value: JsonObject = {"uri": uri_of(f"{skill.path}/{file.path}", base)}
    if file.path == SKILL_MD:
        description = str(skill.frontmatter["description"])
        value |= {"name": neutral(skill.name), "description": neutral(description)}
    else:
        value["name"] = neutral(file.path.rsplit("/", 1)[-1])
    kind = reading.type_by_name(file.path)
    if kind is not None:
        value["mimeType"] = kind
    return {**value, "size": file.size}


def folders(files: Mapping[str, Item], base: str = SCHEME) -> dict[str, tuple[Item, ...]]:
    """Return the direct children of every folder that holds a locked file at any depth.

    Args:
        files: The resource of every locked file by its path.
        base: The start of the collection's URIs.

    Returns:
        By path, sorted by the bytes of the children's paths. The collection's own folder has the
        empty path; it has a URI only where several collections are served.
    """
    children: defaultdict[str, dict[str, Item]] = defaultdict(dict)
    for path, resource in files.items():
        for child, parent in _steps(path):
            entry = resource if child == path else _folder(child, base)
            children[parent].setdefault(child, entry)
    return {
        folder: tuple(inside[path] for path in sorted(inside, key=str.encode))
        for folder, inside in children.items()
    }


def _steps(path: str) -> Iterator[tuple[str, str]]:
    """Yield each ancestor of a path, and the path, with the folder above it."""
    chain = ["", *paths.parents(path), path]
    return zip(chain[1:], chain, strict=False)


def _folder(path: str, base: str) -> Item:
    name = neutral(path.rsplit("/", 1)[-1])
    return item({"uri": uri_of(path, base), "name": name, "mimeType": FOLDER_TYPE})


# --- entries of the skills extension ----------------------------------------------------------

REASONS: Final[dict[str, str]] = {
    "yaml_repaired": "The frontmatter had to be repaired to be parsed; other readers refuse it.",
    "yaml_ambiguous": "A plain frontmatter value means different things in YAML 1.1 and 1.2.",
    "bom": "SKILL.md starts with a byte order mark, which some readers do not skip.",
    "fence_blanks": "A `---` line of the frontmatter ends in spaces, which some readers refuse.",
    "name_form": "The name does not have the form that the Agent Skills specification requires.",
    "name_mismatch": "The name is not the folder's name, which the extension requires.",
    "description_too_long": "The description is longer than the specification allows.",
    "field_type": "A field defined by the specification has a type that hosts refuse.",
    "reserved_key": "The frontmatter has a key `__proto__`, which JavaScript hosts refuse.",
    "file_too_large": "A file exceeds RESOURCE_FILE_MAX_BYTES, so `resources/read` may refuse it.",
    "entry_too_large": "The entry is longer than SKILL_ENTRY_MAX_BYTES.",
}
"""Why a skill has no entry. The first reason that applies is reported."""

_BY_DIAGNOSTIC: Final = (
    "yaml_repaired",
    "yaml_ambiguous",
    "bom",
    "fence_blanks",
    "name_mismatch",
)
_NAME: Final = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")


@dataclass(frozen=True, slots=True)
class Entries:
    """The entries that a lock provides for the skills extension.

    Attributes:
        listed: Entry by the URI of SKILL.md, in the order of the lock.
        unlisted: The reason for each skill without an entry by its path, in the order of the lock.
    """

    listed: Mapping[str, Item]
    unlisted: Mapping[str, str]


def entries(lock: CatalogLock, base: str = SCHEME) -> Entries:
    """Return the entries of a lock; every skill has either an entry or a reason.

    Args:
        lock: The lock.
        base: The start of its collection's URIs.
    """
    listed: dict[str, Item] = {}
    unlisted: dict[str, str] = {}
    for skill in lock.skills:
        entry = item(_entry(skill, base))
        reason = unlisted_reason(skill, entry.size)
        if reason is None:
            listed[uri_of(f"{skill.path}/{SKILL_MD}", base)] = entry
        else:
            unlisted[skill.path] = reason
    return Entries(listed, unlisted)


def _entry(skill: LockedSkill, base: str) -> JsonObject:
    rows: list[JsonValue] = [
        {
            "uri": uri_of(f"{skill.path}/{file.path}", base),
            "digest": f"sha256:{file.sha256}",
            "size": file.size,
        }
        for file in skill.files
    ]
    return {
        "uri": uri_of(f"{skill.path}/{SKILL_MD}", base),
        "frontmatter": skill.frontmatter,
        "resources": rows,
    }


def unlisted_reason(skill: LockedSkill, entry_size: int = 0) -> str | None:
    """Return the first of `REASONS` that applies, or None if the skill has an entry.

    Args:
        skill: The locked skill.
        entry_size: Bytes of its entry.
    """
    fields = skill.frontmatter
    description = str(fields.get("description"))
    holds = {code: code in skill.diagnostics for code in _BY_DIAGNOSTIC} | {
        "name_form": not _NAME.fullmatch(skill.name)
        or len(skill.name) > skill_limits.SKILL_NAME_MAX_CHARACTERS,
        # Not the diagnostic of this name, which ignores white space around the text.
        "description_too_long": len(description) > skill_limits.SKILL_DESCRIPTION_MAX_CHARACTERS,
        "field_type": not all(_has_type(key, value) for key, value in fields.items()),
        "reserved_key": _has_reserved_key(fields),
        "file_too_large": any(file.size > limits.RESOURCE_FILE_MAX_BYTES for file in skill.files),
        "entry_too_large": entry_size > limits.SKILL_ENTRY_MAX_BYTES,
    }
    return next((code for code in REASONS if holds[code]), None)


def _has_type(key: str, value: JsonValue) -> bool:
    """Return whether every known host accepts the type of a field.

    The values in `metadata` are not checked: they are passed on unchanged.
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

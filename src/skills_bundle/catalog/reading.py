"""Decision: what may be read of a skill, and how a long file is cut into pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from skills_bundle.catalog import limits
from skills_bundle.catalog.errors import refusal
from skills_bundle.files import paths
from skills_bundle.formats import strict_json

if TYPE_CHECKING:
    from skills_bundle.bundle.lock import CatalogLock, LockedSkill

Resources = Literal["markdown", "all"]
"""What may be read: SKILL.md and Markdown below `references/`, or every locked text file."""

REFUSED_FORMS: Final = frozenset(
    {
        "path_too_long",
        "path_too_deep",
        "path_empty_component",
        "path_dot_component",
        "path_backslash",
        "path_control_character",
        "path_not_utf8",
    }
)
"""Rules of paths that a request must keep to; a path that breaks another one is just not there."""


class Page(NamedTuple):
    """A piece of a file: its text, the byte after it, and the bytes left."""

    content: str
    next_offset: int | None
    remaining: int


def find_skill(lock: CatalogLock, key: str) -> LockedSkill:
    """Look a skill up by path, else by name; of several with one name, the first by path bytes.

    The path first: it is unique, so that a skill whose path is another one's name can be reached.

    Raises:
        ToolError: `resource_unavailable` if there is none.
    """
    by_path = next((skill for skill in lock.skills if skill.path == key), None)
    found = by_path or next((skill for skill in lock.skills if skill.name == key), None)
    if found is None:
        raise refusal("resource_unavailable")
    return found


def holds(lock: CatalogLock, key: str) -> bool:
    """Tell whether `find_skill` would find one."""
    return any(key in {skill.path, skill.name} for skill in lock.skills)


def check_resource(resource: str, resources: Resources) -> None:
    """Refuse what cannot be asked for, whatever the lock holds.

    Raises:
        ToolError: `invalid_input` for a path that is not one, or that this server may not read.
    """
    if any(code in REFUSED_FORMS for code, _ in paths.problems(resource)) or _is_drive(resource):
        raise refusal("invalid_input")
    if resources == "markdown" and not is_markdown_resource(resource):
        raise refusal("invalid_input")


def is_markdown_resource(resource: str) -> bool:
    """Tell whether a path is SKILL.md or Markdown below `references/`."""
    below_references = resource.startswith("references/") and resource.lower().endswith(".md")
    return resource == "SKILL.md" or below_references


def _is_drive(resource: str) -> bool:
    """Tell whether Windows would take this for a path on a drive."""
    return resource[1:2] == ":" and resource[:1].isalpha()


def page(data: bytes, offset: int, limit: int) -> Page:
    """Cut a page of whole UTF-8 characters.

    Args:
        data: The whole file.
        offset: First byte; at most the length, and never inside a character.
        limit: Most bytes of the page, at least `limits.READ_MIN_LIMIT`. It is cut shorter if it
            would have more than `limits.READ_PAGE_MAX_JSON_BYTES` in a response.

    Raises:
        ToolError: `resource_unavailable` if the file is not UTF-8; `invalid_input` for an offset
            beyond the end or inside a character.
    """
    try:
        data.decode()
    except UnicodeDecodeError as error:
        raise refusal("resource_unavailable") from error
    if offset > len(data) or _inside_character(data, offset):
        raise refusal("invalid_input")
    end = _whole(data, min(offset + limit, len(data)))
    while (cost := _cost(data[offset:end])) > limits.READ_PAGE_MAX_JSON_BYTES:
        kept = (end - offset) * limits.READ_PAGE_MAX_JSON_BYTES // cost
        end = _whole(data, offset + kept)  # fewer each time; one character costs far less than that
    remaining = len(data) - end
    return Page(data[offset:end].decode(), end if remaining else None, remaining)


def _whole(data: bytes, end: int) -> int:
    """Move an end back to the end of a character."""
    while _inside_character(data, end):
        end -= 1
    return end


def _cost(content: bytes) -> int:
    """Give the bytes that a page takes in a response: as JSON, and as JSON in a JSON text."""
    structured = strict_json.compact(content.decode())
    return len(structured) + len(strict_json.compact(structured.decode()))


def _inside_character(data: bytes, position: int) -> bool:
    """Tell whether a position lies between the bytes of one character (they begin with bits 10)."""
    return position < len(data) and data[position] & 0b1100_0000 == 0b1000_0000

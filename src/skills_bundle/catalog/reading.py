"""Decision: which files of a skill may be read, as which media type, and in which pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from skills_bundle.catalog import limits
from skills_bundle.catalog.model import refusal
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
"""Path rules that a request must keep. A path that breaks another rule is just not in any lock."""


# --- media types: our own tables, since the system's differ between machines ------------------

MARKDOWN: Final = "text/markdown"
TEXT: Final = "text/plain"
BINARY: Final = "application/octet-stream"

BY_SUFFIX: Final[dict[str, str]] = {
    ".bash": "text/x-shellscript",
    ".c": "text/x-c",
    ".cfg": TEXT,
    ".css": "text/css",
    ".csv": "text/csv",
    ".go": "text/x-go",
    ".h": "text/x-c",
    ".htm": "text/html",
    ".html": "text/html",
    ".ini": TEXT,
    ".java": "text/x-java",
    ".js": "text/javascript",
    ".json": "application/json",
    ".jsonl": "application/jsonl",
    ".markdown": MARKDOWN,
    ".md": MARKDOWN,
    ".mjs": "text/javascript",
    ".py": "text/x-python",
    ".rb": "text/x-ruby",
    ".rs": "text/x-rust",
    ".rst": "text/x-rst",
    ".sh": "text/x-shellscript",
    ".sql": "application/sql",
    ".svg": "image/svg+xml",
    ".tex": "text/x-tex",
    ".toml": "application/toml",
    ".ts": "text/x-typescript",
    ".tsv": "text/tab-separated-values",
    ".txt": TEXT,
    ".xml": "application/xml",
    ".yaml": "application/yaml",
    ".yml": "application/yaml",
}
"""File extensions of text, in lower case. Any other UTF-8 text is plain text."""

BINARY_BY_SUFFIX: Final[dict[str, str]] = {
    ".bmp": "image/bmp",
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ".gif": "image/gif",
    ".gz": "application/gzip",
    ".ico": "image/vnd.microsoft.icon",
    ".jpeg": "image/jpeg",
    ".jpg": "image/jpeg",
    ".mp3": "audio/mpeg",
    ".mp4": "video/mp4",
    ".otf": "font/otf",
    ".pdf": "application/pdf",
    ".png": "image/png",
    ".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    ".tar": "application/x-tar",
    ".ttf": "font/ttf",
    ".wasm": "application/wasm",
    ".wav": "audio/wav",
    ".webp": "image/webp",
    ".woff": "font/woff",
    ".woff2": "font/woff2",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ".zip": "application/zip",
}
"""File extensions of binary formats, in lower case."""


def text_type(path: str) -> str:
    """Return the media type of a text file by its extension, in any letter case."""
    return BY_SUFFIX.get(_suffix(path), TEXT)


def type_by_name(path: str) -> str | None:
    """Return the media type that a file's extension implies, or None if it implies none."""
    suffix = _suffix(path)
    return BY_SUFFIX.get(suffix) or BINARY_BY_SUFFIX.get(suffix)


def type_of(path: str, *, is_text: bool) -> str:
    """Return the media type of a file whose bytes are known to be UTF-8 text or not."""
    return type_by_name(path) or (TEXT if is_text else BINARY)


def _suffix(path: str) -> str:
    """Return the lower-case extension with its dot; a leading dot starts no extension."""
    name = path.rsplit("/", 1)[-1].lower()
    stem, dot, suffix = name.rpartition(".")
    return dot + suffix if stem else ""


# --- what may be read -------------------------------------------------------------------------


def find_skills(lock: CatalogLock, key: str) -> tuple[LockedSkill, ...]:
    """Return the skill with this path, else every skill with this name.

    The path goes first because it is unique: a skill whose path is the name of another one stays
    reachable.
    """
    by_path = tuple(skill for skill in lock.skills if skill.path == key)
    return by_path or tuple(skill for skill in lock.skills if skill.name == key)


def check_allowed(resource: str, resources: Resources) -> None:
    """Refuse a path that this server may not read, before any lock is consulted.

    Raises:
        ToolError: `invalid_input`.
    """
    if resources == "markdown" and not is_markdown_resource(resource):
        raise refusal("invalid_input")
    if _is_malformed(resource):
        raise refusal("invalid_input")


def is_markdown_resource(resource: str) -> bool:
    """Return whether a path is SKILL.md or Markdown below `references/`."""
    below_references = resource.startswith("references/") and resource.lower().endswith(".md")
    return resource == "SKILL.md" or below_references


def _is_malformed(resource: str) -> bool:
    """Return whether a path breaks a rule for requests, or is one on a Windows drive."""
    on_drive = resource[1:2] == ":" and resource[:1].isalpha()
    return on_drive or any(code in REFUSED_FORMS for code, _ in paths.problems(resource))


# --- pages ------------------------------------------------------------------------------------


class Page(NamedTuple):
    """A page of a file: its text, the offset of the next page, and the bytes after this one."""

    content: str
    next_offset: int | None
    remaining: int


def page(data: bytes, offset: int, limit: int) -> Page:
    """Return one page of whole UTF-8 characters.

    Args:
        data: The whole file.
        offset: First byte; at most the length, and never inside a character.
        limit: Maximum bytes of the page, at least `limits.READ_MIN_LIMIT`. The page ends sooner if
            it would take more than `limits.READ_PAGE_MAX_JSON_BYTES` of a response.

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
        end = _whole(data, offset + kept)  # shrinks each time; one character always fits
    remaining = len(data) - end
    return Page(data[offset:end].decode(), end if remaining else None, remaining)


def _whole(data: bytes, end: int) -> int:
    """Return the end moved back to the end of a character."""
    while _inside_character(data, end):
        end -= 1
    return end


def _cost(content: bytes) -> int:
    """Return the bytes of a page in a response: once as JSON, once as JSON inside a JSON string."""
    structured = strict_json.compact(content.decode())
    return len(structured) + len(strict_json.compact(structured.decode()))


def _inside_character(data: bytes, position: int) -> bool:
    """Return whether a position lies inside a character: its later bytes start with bits 10."""
    return position < len(data) and data[position] & 0b1100_0000 == 0b1000_0000

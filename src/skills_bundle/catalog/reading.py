"""Decision: which files of a skill may be read, as which media type, and in which pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from skills_bundle.catalog import limits
from skills_bundle.catalog.model import FileRow, refusal
from skills_bundle.files import paths
from skills_bundle.formats import strict_json
from skills_bundle.formats.hidden_characters import neutral, quoted
from skills_bundle.skills.model import SKILL_MD

if TYPE_CHECKING:
    from collections.abc import Iterable

    from skills_bundle.bundle.lock import CatalogLock, LockedFile, LockedSkill
    from skills_bundle.errors import ToolError, UnsafeFileError

Resources = Literal["markdown", "all"]
"""What may be read: every locked text file, or SKILL.md and Markdown below `references/`."""

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
    """Return the skill with this path, else every one with this name.

    The path goes first because it is unique: a skill whose path is the name of another one stays
    reachable. Path and name are also found as answers spell them, without hidden characters.
    """
    for spelled in (_path, _neutral_path, _name, _neutral_name):
        found = tuple(skill for skill in lock.skills if spelled(skill) == key)
        if found:
            return found
    return ()


def _path(skill: LockedSkill) -> str:
    return skill.path


def _neutral_path(skill: LockedSkill) -> str:
    return neutral(skill.path)


def _name(skill: LockedSkill) -> str:
    return skill.name


def _neutral_name(skill: LockedSkill) -> str:
    return neutral(skill.name)


def check_allowed(resource: str, resources: Resources) -> None:
    """Refuse a path that this server may not read, before any lock is consulted.

    Raises:
        ToolError: `invalid_input`.
    """
    if resources == "markdown" and not is_markdown_resource(resource):
        rule = "only SKILL.md and Markdown below references/ (the server has --resources markdown)"
        raise refusal("invalid_input", f'"resource": {rule}.')
    if _is_malformed(resource):
        rule = "not a path inside a skill; `files` in the answer about SKILL.md lists the paths"
        raise refusal("invalid_input", f'"resource": {rule}.')


def find_file(skill: LockedSkill, resource: str, resources: Resources) -> LockedFile:
    """Return a file of a skill by its path, exactly or as answers spell it.

    Raises:
        ToolError: `resource_unavailable` if it is not in the lock.
    """
    by_path = {neutral(file.path): file for file in skill.files}
    by_path |= {file.path: file for file in skill.files}
    file = by_path.get(resource)
    if file is None:
        files = _files(skill, resource, resources)
        message = f'Not in the lock: "resource" is not a file of this skill; {files}'
        raise refusal("resource_unavailable", message)
    return file


def _files(skill: LockedSkill, resource: str, resources: Resources) -> str:
    """Return the files of a skill that may be read, those with a similar path first."""
    allowed = [
        file.path for file in skill.files if resources == "all" or is_markdown_resource(file.path)
    ]
    ordered = dict.fromkeys([*similar(resource, allowed), *allowed])
    shown = _short(ordered)[: limits.ERROR_MAX_FILES]
    rest = len(allowed) - len(shown)
    more = f" and {rest} more" if rest else ""
    return f"its files: {', '.join(shown)}{more}."


def unknown_skill(locks: Iterable[CatalogLock], key: str) -> str:
    """Return the message about a skill that no lock has: names a few that are similar.

    Args:
        locks: Every lock that was searched.
        key: As requested; never repeated.
    """
    known = [name for lock in locks for skill in lock.skills for name in (skill.path, skill.name)]
    near = _short(similar(key, known))
    guess = f" Similar: {', '.join(near)}." if near else ""
    return f'Not in the lock: no such "skill".{guess} Search to see which skills there are.'


def similar(key: str, known: Iterable[str]) -> list[str]:
    """Return at most `limits.ERROR_MAX_NAMES` of the known names, the most similar first."""
    from difflib import get_close_matches  # noqa: PLC0415 - only a refused read needs it

    return get_close_matches(key, dict.fromkeys(known), n=limits.ERROR_MAX_NAMES)


def _short(names: Iterable[str]) -> list[str]:
    """Return names as JSON strings, without those that would make a message long."""
    literals = map(quoted, names)
    return [one for one in literals if len(one) <= limits.ERROR_NAME_MAX_CHARACTERS]


def unreadable(error: UnsafeFileError) -> ToolError:
    """Return the refusal of a locked file that cannot be served as locked."""
    if error.kind == "unreadable":
        message = (
            "Not readable here: the file is in the lock, but the system does not let this server "
            "read it. Ask the person to check its permissions."
        )
    else:
        message = (
            "Altered since installation: the file is in the lock, but is missing or differs from "
            "it, so it is not served. Ask the person to run `skills-bundle verify` and to install "
            "the package again."
        )
    return refusal("resource_unavailable", message)


def other_files(skill: LockedSkill) -> tuple[tuple[FileRow, ...], int]:
    """Return the files of a skill besides SKILL.md, and how many are left out."""
    rows: list[FileRow] = []
    room = limits.READ_FILES_MAX_BYTES
    others = [file for file in skill.files if file.path != SKILL_MD]
    for file in others[: limits.READ_MAX_FILES]:
        row = FileRow(path=neutral(file.path), size=file.size)
        room -= len(strict_json.compact(row.model_dump()))
        if room < 0:
            break
        rows.append(row)
    return tuple(rows), len(others) - len(rows)


def is_markdown_resource(resource: str) -> bool:
    """Return whether a path is SKILL.md or Markdown below `references/`."""
    below_references = resource.startswith("references/") and resource.lower().endswith(".md")
    return resource == SKILL_MD or below_references


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


def text_problem(path: str, data: bytes) -> ToolError | None:
    """Return `binary_resource` with size and media type for bytes that are not UTF-8."""
    try:
        data.decode()
    except UnicodeDecodeError:
        message = (
            f"Not text: {len(data)} bytes of {type_of(path, is_text=False)}. No tool returns it. "
            "A person gets the file with `skills-bundle export`; a host can read it as an MCP "
            "resource."
        )
        return refusal("binary_resource", message)
    return None


def page(data: bytes, offset: int, limit: int) -> Page:
    """Return one page of whole UTF-8 characters.

    Args:
        data: The whole file; UTF-8.
        offset: First byte; at most the length, and never inside a character.
        limit: Maximum bytes of the page, at least `limits.READ_MIN_LIMIT`. The page ends sooner if
            it would take more than `limits.READ_PAGE_MAX_JSON_BYTES` of a response.

    Raises:
        ToolError: `invalid_input` for an offset beyond the end or inside a character.
    """
    if offset > len(data):
        raise refusal("invalid_input", f'"offset": at most {len(data)}, the size of the file.')
    if _inside_character(data, offset):
        start = _whole(data, offset)
        message = f'"offset": inside a character; the character starts at {start}.'
        raise refusal("invalid_input", message)
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

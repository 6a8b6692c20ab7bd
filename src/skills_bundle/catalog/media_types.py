"""Record: media types by file ending. Ours, since the system's table differs between machines."""

from __future__ import annotations

from typing import Final

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
"""Endings of text files, in lower case. Anything else that is UTF-8 text is plain text."""


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
"""Endings of files that are not text, in lower case."""


def of(path: str) -> str:
    """Give the media type of a text file by its ending, in any letter case."""
    return BY_SUFFIX.get(_suffix(path), TEXT)


def listed(path: str) -> str | None:
    """Give the media type that the name of a file alone tells, or None if it tells none."""
    suffix = _suffix(path)
    return BY_SUFFIX.get(suffix) or BINARY_BY_SUFFIX.get(suffix)


def served(path: str, *, is_text: bool) -> str:
    """Give the media type of a file whose bytes are known to be UTF-8 text, or not to be."""
    return listed(path) or (TEXT if is_text else BINARY)


def _suffix(path: str) -> str:
    """Give the ending in lower case with its dot; a name that only starts with a dot has none."""
    name = path.rsplit("/", 1)[-1].lower()
    stem, dot, suffix = name.rpartition(".")
    return dot + suffix if stem else ""

"""Record: media types by file ending. Ours, since the system's table differs between machines."""

from __future__ import annotations

from typing import Final

MARKDOWN: Final = "text/markdown"
TEXT: Final = "text/plain"

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


def of(path: str) -> str:
    """Give the media type of a text file by its ending, in any letter case."""
    name = path.rsplit("/", 1)[-1].lower()
    stem, dot, suffix = name.rpartition(".")
    return BY_SUFFIX.get(dot + suffix, TEXT) if stem else TEXT

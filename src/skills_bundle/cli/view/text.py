"""Decision: text for people, made safe for a terminal and short."""

from __future__ import annotations

import unicodedata
from typing import Final

_KEPT: Final = frozenset("\n\t")
_HIDDEN_CATEGORIES: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_JOINERS: Final = frozenset("\u200c\u200d\ufe0f")
"""Format characters that words and emoji need."""


def safe(text: str) -> str:
    """Escape characters of untrusted text that could affect a terminal.

    Names, descriptions and contents of skills come from others. A control character could move the
    cursor or retitle the terminal; a bidirectional override could disguise a path. Line feeds and
    tabs stay.
    """
    return "".join(character if _harmless(character) else _escape(character) for character in text)


def safe_line(text: str) -> str:
    """Escape untrusted text and keep it on one line, for names and paths."""
    return safe(text).replace("\n", "\\n").replace("\t", "\\t")


def _harmless(character: str) -> bool:
    if character in _KEPT or character in _JOINERS:
        return True
    return unicodedata.category(character) not in _HIDDEN_CATEGORIES


def _escape(character: str) -> str:
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")


def count(number: int, noun: str, plural: str | None = None) -> str:
    """Return a number with its noun: `1 skill`, `2,400 files`."""
    word = noun if number == 1 else plural or f"{noun}s"
    return f"{number:,} {word}"


def size(number: int) -> str:
    """Return bytes in a readable unit: `812 B`, `47.3 KiB`, `1.2 MiB`."""
    if number < 1024:
        return f"{number} B"
    kib = number / 1024
    return f"{kib:.1f} KiB" if kib < 1024 else f"{kib / 1024:.1f} MiB"


def shortened(text: str, limit: int) -> str:
    """Return at most `limit` characters of a text, cut at a word and marked with `...`."""
    if len(text) <= limit:
        return text
    kept = text[: limit - 4]
    return f"{kept.rsplit(None, 1)[0] if ' ' in kept else kept} ..."


def split_frontmatter(text: str) -> tuple[str, str]:
    """Split a Markdown text, because a Markdown reader would show frontmatter as a heading.

    Returns:
        The frontmatter with its two lines `---`, or "" if there is none, and the rest.
    """
    lines = text.splitlines(keepends=True)
    if not lines or lines[0].strip() != "---":
        return "", text
    for number, line in enumerate(lines[1:], start=2):
        if line.strip() == "---":
            return "".join(lines[:number]), "".join(lines[number:])
    return "", text

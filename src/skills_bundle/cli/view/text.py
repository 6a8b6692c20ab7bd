"""Decision: text for people, made safe to show and short to read."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_WORDS: Final = re.compile(r"\s*\S+\s*")
_PATH_PARTS: Final = re.compile(r"[^/\\]*[/\\]+|[^/\\]+")
_KEPT: Final = frozenset("\n\t")
_HIDDEN_CATEGORIES: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_JOINERS: Final = frozenset("\u200c\u200d\ufe0f")
"""Zero-width joiners: format characters that real words and emoji need."""


def safe(text: str) -> str:
    """Make foreign text harmless on a terminal.

    Names, descriptions and contents of skills are written by others. A control character could move
    the cursor, colour or retitle the terminal; a bidirectional override could make a path read as
    another. Each becomes its visible escape; line feeds and tabs stay.
    """
    return "".join(character if _harmless(character) else _escape(character) for character in text)


def safe_line(text: str) -> str:
    """Make foreign text harmless and keep it on one line, for names and paths."""
    return safe(text).replace("\n", "\\n").replace("\t", "\\t")


def _harmless(character: str) -> bool:
    if character in _KEPT or character in _JOINERS:
        return True
    return unicodedata.category(character) not in _HIDDEN_CATEGORIES


def _escape(character: str) -> str:
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")


def count(number: int, noun: str, plural: str | None = None) -> str:
    """Give a number with its noun in the right form: `1 skill`, `2,400 files`."""
    word = noun if number == 1 else plural or f"{noun}s"
    return f"{number:,} {word}"


def size(number: int) -> str:
    """Give bytes in the unit people read: `812 B`, `47.3 KiB`, `1.2 MiB`."""
    if number < 1024:
        return f"{number} B"
    kib = number / 1024
    return f"{kib:.1f} KiB" if kib < 1024 else f"{kib / 1024:.1f} MiB"


def shortened(text: str, most: int) -> str:
    """Give text of at most `most` code points, cut at a word and marked where something is cut."""
    if len(text) <= most:
        return text
    kept = text[: most - 4]
    return f"{kept.rsplit(None, 1)[0] if ' ' in kept else kept} ..."


def breaks(line: str, width: int, measure: Callable[[str], int] = len) -> list[int]:
    """Say where to break a line that holds a word too long for it, such as a path.

    Lines are filled word by word; a word that does not fit a line of its own is broken behind a
    slash or backslash, and only where even that does not help, anywhere.

    Args:
        line: Without line feeds.
        width: Columns.
        measure: Gives the columns of a text.

    Returns:
        Offsets at which a new line begins.
    """
    found: list[int] = []
    start = used = 0
    for piece in _pieces(line, width, measure):
        if used and used + measure(piece.rstrip()) > width:
            found.append(start)
            used = 0
        start, used = start + len(piece), used + measure(piece)
    return found


def _pieces(line: str, width: int, measure: Callable[[str], int]) -> Iterator[str]:
    """Give the parts that stay whole: words, parts of paths, else as much as a line holds."""
    for word in _WORDS.findall(line):
        whole = len(word) <= width and measure(word.strip()) <= width
        for part in [word] if whole else _PATH_PARTS.findall(word):
            yield from _chunks(part, max(1, width), measure)


def _chunks(part: str, width: int, measure: Callable[[str], int]) -> Iterator[str]:
    """Cut what no line holds, in time linear in its length; space behind it does not count."""
    body = part.rstrip()
    start = 0
    while len(body) - start > width or measure(body[start:]) > width:
        cut = min(start + width, len(body))
        while cut > start + 1 and measure(body[start:cut]) > width:
            cut -= 1
        yield body[start:cut]
        start = cut
    yield part[start:]


def split_head(text: str) -> tuple[str, str]:
    """Part frontmatter from body for display; a Markdown reader would take it for a heading.

    Returns:
        The frontmatter with its two lines `---`, or "" when there is none, and the rest.
    """
    lines = text.splitlines(keepends=True)
    if not lines or lines[0].strip() != "---":
        return "", text
    for number, line in enumerate(lines[1:], start=2):
        if line.strip() == "---":
            return "".join(lines[:number]), "".join(lines[number:])
    return "", text

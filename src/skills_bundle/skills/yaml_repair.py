"""Decision: the one fault of frontmatter that is mended: a plain top-level value that holds `: `.

`description: Use when: the user asks` is not YAML, and by far the commonest reason why a skill
vanishes. There is one thing it can mean, so it is read as if the value stood in single quotes, over
all of its lines. Where something else could be meant nothing is mended: ` #` may start a comment,
and a further line that starts with a lower-case key may be a field that slipped.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_ENTRY: Final = re.compile(r"([A-Za-z0-9_][A-Za-z0-9_.-]*:[ \t]+)(\S.*)")
_NOT_PLAIN: Final = re.compile(r"[\"'\[\]{},|>&*!%@`#]|[-?:](?:[ \t]|$)")
_COLON: Final = re.compile(r":(?:[ \t]|$)")
_COMMENT: Final = re.compile(r"(?:^|[ \t])#")
_SLIPPED_FIELD: Final = re.compile(r"[ \t]+[a-z][a-z0-9_-]*:(?:[ \t]|$)")
_LINE_END: Final = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class Mended:
    """A text with quotes put in.

    Attributes:
        text: As many lines as before.
        lines: Index of each line, from 0, whose value was put in quotes.
    """

    text: str
    lines: tuple[int, ...]


def quote_colons(text: str) -> Mended:
    """Put every plain top-level value that holds `: ` (or ends in `:`) in single quotes."""
    rows = _LINE_END.split(text)
    lines: list[int] = []
    index = 0
    while index < len(rows):
        end = index + 1
        while end < len(rows) and _continues(rows[end]):
            end += 1
        quoted = _quoted(rows[index:end])
        if quoted is not None:
            lines.append(index)
            rows[index:end] = quoted
        index = end
    return Mended("\n".join(rows), tuple(lines))


def _continues(row: str) -> bool:
    """Tell whether a line belongs to the entry above: it is indented or blank."""
    return not row.strip() or row[0] in " \t"


def _quoted(rows: list[str]) -> list[str] | None:
    """Give the lines of one entry with its value in quotes, or None if it needs or allows none."""
    entry = _ENTRY.fullmatch(rows[0])
    if entry is None or _NOT_PLAIN.match(entry[2]):
        return None
    value = [entry[2], *rows[1:]]
    if not any(_COLON.search(row.rstrip()) for row in value):
        return None
    if any(map(_COMMENT.search, value)) or any(map(_SLIPPED_FIELD.match, rows[1:])):
        return None
    last = max(number for number, row in enumerate(value) if row.strip())
    value = [row.replace("'", "''") for row in value]
    value[0] = f"{entry[1]}'{value[0]}"
    value[last] = f"{value[last].rstrip()}'"
    return value

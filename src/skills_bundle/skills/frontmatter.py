"""Decision: the YAML head of a SKILL.md becomes JSON values, or diagnostics that say why not.

```text
---                     the first line, exactly this (blanks after it are allowed)
name: pdf-forms         one YAML document, a mapping
description: ...
---                     the next line that is exactly this; `...` does not close
The body.
```

Only PyYAML's scanner and parser are used, always the pure-Python ones: libyaml reads some texts
otherwise, and a lock must not depend on how PyYAML was built. Values are built here from the
events, so nothing is ever constructed, and each event is paid for once.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from skills_bundle.skills import limits
from skills_bundle.skills import yaml_repair
from skills_bundle.skills.codes import diagnose
from skills_bundle.skills.model import Diagnostic, Level
from skills_bundle.skills.yaml_builder import build

if TYPE_CHECKING:
    from pydantic import JsonValue

BOM: Final = b"\xef\xbb\xbf"
SKILL_MD: Final = "SKILL.md"

_FENCE: Final = re.compile(rb"---[ \t]*(?:\r?\n|\Z)")
_CLOSING_FENCE: Final = re.compile(rb"^---[ \t]*(?:\r?\n|\Z)", re.MULTILINE)
_CONTROL: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]")
_OTHER_LINE_BREAK: Final = re.compile("[\x85\u2028\u2029]|\r(?!\n)")
_STRAY: Final = re.compile(r"(?!#|\.\.\.|[-?:](?:[ \t\r]|$))[^ \t\r\n]")
"""A line in the first column that starts neither a key, an item nor a comment."""
_HIDDEN: Final = re.compile(
    "[\u061c\u200e\u200f\u202a-\u202e\u2060-\u2069\u00ad\ufeff\U000e0000-\U000e007f]"
)

_SHIFT: Final = 2
"""From a line of the YAML, counted from 0, to one of the file, counted from 1, past the fence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frontmatter:
    """What the head of a SKILL.md says.

    Attributes:
        fields: Every field in the author's order; incomplete if a diagnostic refuses.
        lines: Top-level key to its line in the file, from 1.
        body_offset: Byte at which the body starts; the file's length if there is none.
        parse_mode: `strict`, or `repaired` if a plain value had to be quoted to be read.
        diagnostics: In the order of lines; their path is `SKILL.md`.
    """

    fields: dict[str, JsonValue]
    lines: dict[str, int] = field(default_factory=dict[str, int])
    body_offset: int
    parse_mode: str = "strict"
    diagnostics: tuple[Diagnostic, ...]

    @property
    def refused(self) -> bool:
        """Tell whether the fields are not to be relied on."""
        return any(row.level is Level.REFUSE for row in self.diagnostics)


def parse(data: bytes) -> Frontmatter:
    """Read the frontmatter of a whole SKILL.md.

    Takes time in proportion to `limits.FRONTMATTER_MAX_BYTES` at most, whatever the bytes are.

    Args:
        data: The file's bytes.
    """
    start = len(BOM) if data.startswith(BOM) else 0
    found = [] if start == 0 else [_row("bom", "starts with a byte order mark", 1)]
    found += _text_problems(data)
    head = _split(data, start)
    if isinstance(head, Diagnostic):
        return Frontmatter(fields={}, body_offset=len(data), diagnostics=(*found, head))
    first, last, body = head
    found += _fence_warnings(data[start:first], data[last:body], data.count(b"\n", 0, last) + 1)
    if any(row.level is Level.REFUSE for row in found):
        return Frontmatter(fields={}, body_offset=body, diagnostics=tuple(found))
    text = data[first:last].decode("utf-8")
    found += _character_warnings(text)
    return _read(text, body, found)


def _row(code: str, message: str, line: int | None) -> Diagnostic:
    return diagnose(code, SKILL_MD, message, line)


def _text_problems(data: bytes) -> list[Diagnostic]:
    """Refuse what is not text: it can be neither shown nor answered with."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        hint = "; it looks like UTF-16" if data[:2] in {b"\xff\xfe", b"\xfe\xff"} else ""
        return [_row("not_utf8", f"byte {error.start} is not UTF-8{hint}", line)]
    return [
        _row("control_character", f"holds the character U+{ord(hit[0]):04X}", line)
        for line, hit in _first_hit(_CONTROL, text)
    ]


def _first_hit(pattern: re.Pattern[str], text: str) -> list[tuple[int, re.Match[str]]]:
    """Give the first match with its line; one is enough to act on, and a binary has thousands."""
    hit = pattern.search(text)
    return [] if hit is None else [(text.count("\n", 0, hit.start()) + 1, hit)]


def _split(data: bytes, start: int) -> tuple[int, int, int] | Diagnostic:
    """Give where the YAML starts, where it ends and where the body starts, in bytes."""
    opening = _FENCE.match(data, start)
    if opening is None:
        return _row("no_frontmatter", "does not start with a line `---`", 1)
    end = opening.end() + limits.FRONTMATTER_MAX_BYTES
    closing = _CLOSING_FENCE.search(data, opening.end(), min(len(data), end + len("---\r\n")))
    if closing is not None and closing.start() <= end:
        return opening.end(), closing.start(), closing.end()
    if len(data) > end:
        limit = limits.FRONTMATTER_MAX_BYTES
        return _row("frontmatter_too_large", f"no line `---` within {limit} bytes", 1)
    return _row("frontmatter_unclosed", "no second line `---` closes the frontmatter", 1)


def _fence_warnings(opening: bytes, closing: bytes, last_line: int) -> list[Diagnostic]:
    """Tell of blanks after the dashes, which other readers take for "no frontmatter"."""
    fences = ((opening, 1), (closing, last_line))
    return [
        _row("fence_blanks", "blanks after `---`; remove them", line)
        for fence, line in fences
        if fence.rstrip(b"\r\n") != b"---"
    ]


def _column_warnings(text: str, keys: set[int]) -> list[Diagnostic]:
    """Tell of a value that goes on in the first column, which YAML forbids and PyYAML allows.

    Args:
        text: The YAML.
        keys: Lines on which a top-level key starts, from 0.
    """
    if text.lstrip().startswith("{"):  # a flow mapping needs no indentation
        return []
    message = "a value goes on in the first column; indent it"
    rows = enumerate(text.split("\n"))
    at = next((line for line, row in rows if line not in keys and _STRAY.match(row)), None)
    return [] if at is None else [_row("yaml_ambiguous", message, at + _SHIFT)]


def _character_warnings(text: str) -> list[Diagnostic]:
    rows = [
        _row("yaml_ambiguous", f"U+{ord(hit[0]):04X} ends a line for some readers only", line + 1)
        for line, hit in _first_hit(_OTHER_LINE_BREAK, text)
    ]
    return rows + [
        _row("hidden_characters", f"holds the invisible character U+{ord(hit[0]):04X}", line + 1)
        for line, hit in _first_hit(_HIDDEN, text)
    ]


def _read(text: str, body: int, found: list[Diagnostic]) -> Frontmatter:
    """Read strictly; where the grammar is broken, mend the one fault we know and read again.

    Never half: a mended text is read whole, or the first reading's error stands.
    """
    built, mode = build(text), "strict"
    if built.syntax_error is not None:
        mended = yaml_repair.quote_colons(text)
        again = build(mended.text)
        if mended.lines and again.syntax_error is None and again.quoted_at(mended.lines):
            built, mode = again, "repaired"
            message = "an unquoted value holds `: `; it was read as text. Quote it"
            lines = mended.lines[: limits.FRONTMATTER_MAX_PROBLEMS]
            found += [_row("yaml_repaired", message, line + _SHIFT) for line in lines]
    found += [_row(code, message, line + _SHIFT) for code, message, line in built.problems]
    if not any(row.level is Level.REFUSE for row in found):
        found += _column_warnings(text, set(built.lines.values()))
    return Frontmatter(
        fields=built.fields,
        lines={key: line + _SHIFT for key, line in built.lines.items()},
        body_offset=body,
        parse_mode=mode,
        diagnostics=tuple(sorted(found, key=lambda row: (row.line or 0, row.code))),
    )

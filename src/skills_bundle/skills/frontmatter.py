"""Decision: the YAML head of a SKILL.md becomes JSON values, or diagnostics that say why not.

```text
---                     the first line, exactly this (blanks after it are allowed)
name: pdf-forms         one YAML document, a mapping
description: ...
---                     the next line that is exactly this; `...` does not close
The body.
```

One fault is repaired: a plain top-level value that holds `: `. `description: Use when: the user
asks` is not YAML, and it is by far the most common reason why hosts skip a skill. The value can
mean one thing only, so it is read as if it were in single quotes, over all of its lines. Where
something else could be meant nothing is repaired: ` #` may start a comment, and a further line that
starts with a lower-case key may be a field with the wrong indentation.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from skills_bundle.formats.hidden_characters import first_hidden
from skills_bundle.skills import limits, yaml_document
from skills_bundle.skills.codes import clip, diagnose
from skills_bundle.skills.model import SKILL_MD, Diagnostic, Level

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pydantic import JsonValue

BOM: Final = b"\xef\xbb\xbf"
KNOWN_FIELDS: Final = (
    "name",
    "description",
    "license",
    "compatibility",
    "metadata",
    "allowed-tools",
)
"""Every field of the Agent Skills specification."""

FieldProblem = tuple[str, str, str]
"""Code, field, message."""

_FENCE: Final = re.compile(rb"---[ \t]*(?:\r?\n|\Z)")
_TAG: Final = re.compile(r"<[/!?]?[A-Za-z][^<>]*>")
"""An XML-like tag; hosts put descriptions into prompts that use such tags."""
_CLOSING_FENCE: Final = re.compile(rb"^---[ \t]*(?:\r?\n|\Z)", re.MULTILINE)
_CONTROL: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]")
_OTHER_LINE_BREAK: Final = re.compile("[\x85\u2028\u2029]|\r(?!\n)")
_UNINDENTED: Final = re.compile(r"(?!#|\.\.\.|[-?:](?:[ \t\r]|$))[^ \t\r\n]")
"""A line that starts in the first column with neither a key, an item nor a comment."""

_ENTRY: Final = re.compile(r"([A-Za-z0-9_][A-Za-z0-9_.-]*:[ \t]+)(\S.*)")
_NOT_PLAIN: Final = re.compile(r"[\"'\[\]{},|>&*!%@`#]|[-?:](?:[ \t]|$)")
_COLON: Final = re.compile(r":(?:[ \t]|$)")
_COMMENT: Final = re.compile(r"(?:^|[ \t])#")
_INDENTED_FIELD: Final = re.compile(r"[ \t]+[a-z][a-z0-9_-]*:(?:[ \t]|$)")
_LINE_END: Final = re.compile(r"\r\n|\r|\n")

_SHIFT: Final = 2
"""From a line of the YAML, counted from 0, to one of the file, counted from 1, past the fence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frontmatter:
    """The frontmatter of a SKILL.md.

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
        """Whether a diagnostic refuses the skill, so that the fields may be wrong."""
        return any(row.level is Level.REFUSE for row in self.diagnostics)


def parse(data: bytes) -> Frontmatter:
    """Read the frontmatter of a whole SKILL.md.

    Time is linear in the file's size, and bounded by `limits.FRONTMATTER_MAX_BYTES` for the YAML.

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
    """Refuse what is not text: it cannot be shown or sent in an answer."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        hint = "; it looks like UTF-16" if data[:2] in {b"\xff\xfe", b"\xfe\xff"} else ""
        return [_row("not_utf8", f"byte {error.start} is not UTF-8{hint}", line)]
    return [
        _row("control_character", f"contains the character U+{ord(hit[0]):04X}", line)
        for line, hit in _first_hit(_CONTROL, text)
    ]


def _first_hit(
    pattern: re.Pattern[str], text: str
) -> list[tuple[int, re.Match[str]]]:
    """Return the first match with its line; a binary file has thousands."""
    return _with_line(pattern.search(text), text)


def _with_line(hit: re.Match[str] | None, text: str) -> list[tuple[int, re.Match[str]]]:
    return [] if hit is None else [(text.count("\n", 0, hit.start()) + 1, hit)]


def _split(data: bytes, start: int) -> tuple[int, int, int] | Diagnostic:
    """Return the offsets, in bytes, of the start and end of the YAML and of the body."""
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
    """Warn about blanks after the dashes; some readers then find no frontmatter."""
    fences = ((opening, 1), (closing, last_line))
    return [
        _row("fence_blanks", "spaces after `---`; remove them", line)
        for fence, line in fences
        if fence.rstrip(b"\r\n") != b"---"
    ]


def _column_warnings(text: str, keys: set[int]) -> list[Diagnostic]:
    """Warn about a value that continues in the first column: PyYAML allows it, YAML does not.

    Args:
        text: The YAML.
        keys: Lines on which a top-level key starts, from 0.
    """
    if text.lstrip().startswith("{"):  # a flow mapping needs no indentation
        return []
    message = "a value continues in the first column; indent it"
    rows = enumerate(text.split("\n"))
    at = next((line for line, row in rows if line not in keys and _UNINDENTED.match(row)), None)
    return [] if at is None else [_row("yaml_ambiguous", message, at + _SHIFT)]


def _character_warnings(text: str) -> list[Diagnostic]:
    rows = [
        _row("yaml_ambiguous", f"U+{ord(hit[0]):04X} ends a line for some readers only", line + 1)
        for line, hit in _first_hit(_OTHER_LINE_BREAK, text)
    ]
    return rows + [
        _row("hidden_characters", f"contains the invisible character U+{ord(hit[0]):04X}", line + 1)
        for line, hit in _with_line(first_hidden(text), text)
    ]


def _read(text: str, body: int, found: list[Diagnostic]) -> Frontmatter:
    """Read strictly; if the YAML is broken, repair the one known fault and read again.

    A repaired text is read whole, or the first reading's error stands.
    """
    document, mode = yaml_document.read(text), "strict"
    if document.syntax_error is not None:
        quoted, lines = quote_colons(text)
        again = yaml_document.read(quoted) if lines else document
        if again.syntax_error is None and again.single_quoted.issuperset(lines):
            document, mode = again, "repaired"
            message = "an unquoted value contains `: `; it was read as text. Quote it"
            lines = lines[: limits.FRONTMATTER_MAX_PROBLEMS]
            found += [_row("yaml_repaired", message, line + _SHIFT) for line in lines]
    found += [_row(code, message, line + _SHIFT) for code, message, line in document.problems]
    if not any(row.level is Level.REFUSE for row in found):
        found += _column_warnings(text, set(document.lines.values()))
    return Frontmatter(
        fields=document.fields,
        lines={key: line + _SHIFT for key, line in document.lines.items()},
        body_offset=body,
        parse_mode=mode,
        diagnostics=tuple(sorted(found, key=lambda row: (row.line or 0, row.code))),
    )


def quote_colons(text: str) -> tuple[str, tuple[int, ...]]:
    """Put every plain top-level value that holds `: ` (or ends in `:`) in single quotes.

    Returns:
        The text, with as many lines as before, and the indexes of the lines whose value was quoted.
    """
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
    return "\n".join(rows), tuple(lines)


def _continues(row: str) -> bool:
    """Return whether a line belongs to the entry above: it is indented or blank."""
    return not row.strip() or row[0] in " \t"


def _quoted(rows: list[str]) -> list[str] | None:
    """Return one entry's lines with its value in quotes; None if not needed or not clear."""
    entry = _ENTRY.fullmatch(rows[0])
    if entry is None or _NOT_PLAIN.match(entry[2]):
        return None
    value = [entry[2], *rows[1:]]
    if not any(_COLON.search(row.rstrip()) for row in value):
        return None
    if any(map(_COMMENT.search, value)) or any(map(_INDENTED_FIELD.match, rows[1:])):
        return None
    last = max(number for number, row in enumerate(value) if row.strip())
    value = [row.replace("'", "''") for row in value]
    value[0] = f"{entry[1]}'{value[0]}"
    value[last] = f"{value[last].rstrip()}'"
    return value


def field_problems(fields: Mapping[str, JsonValue], folder: str) -> Iterator[FieldProblem]:
    """Check the fields of one skill by the Agent Skills specification.

    Args:
        fields: As read from the frontmatter.
        folder: Name of the skill's folder, in NFC.
    """
    yield from _name(fields.get("name"), folder)
    yield from _description(fields.get("description"))
    yield from _optional(fields)
    for key in fields:
        if key not in KNOWN_FIELDS:
            yield "unknown_field", key, f"field {clip(key)!r}: hosts ignore it or refuse the skill"


def _name(value: JsonValue, folder: str) -> Iterator[FieldProblem]:
    if value is None or value == "":
        yield "no_name", "name", "there is no name"
        return
    if not isinstance(value, str):
        yield "name_not_text", "name", "name is not text"
        return
    name = unicodedata.normalize("NFC", value)
    if name != folder:
        message = f"name {clip(name)!r} is not the folder's name {clip(folder)!r}"
        yield "name_mismatch", "name", message
    if not _well_formed(name):
        message = f"name {clip(name)!r}: use lower-case letters, digits and single hyphens"
        yield "name_form", "name", message
    if not name.isascii():
        yield "name_not_ascii", "name", f"name {clip(name)!r} is not ASCII"
    yield from _length("name", name, limits.SKILL_NAME_MAX_CHARACTERS)


def _well_formed(name: str) -> bool:
    """Apply the specification's rule, letters of any script counting as letters."""
    hyphens = name.startswith("-") or name.endswith("-") or "--" in name
    return name == name.lower() and not hyphens and name.replace("-", "").isalnum()


def _description(value: JsonValue) -> Iterator[FieldProblem]:
    if value is None or (isinstance(value, str) and not value.strip()):
        yield "no_description", "description", "there is no description"
    elif not isinstance(value, str):
        yield "description_not_text", "description", "description is not text"
    else:
        limit = limits.SKILL_DESCRIPTION_MAX_CHARACTERS
        yield from _length("description", value.strip(), limit)
        if (tag := _TAG.search(value)) is not None:
            message = f"{clip(tag[0])!r} looks like a tag; hosts may refuse it or read it as one"
            yield "description_tag", "description", message


def _length(key: str, text: str, limit: int) -> Iterator[FieldProblem]:
    if len(text) > limit:
        yield f"{key}_too_long", key, f"{key} has {len(text)} characters, more than {limit}"


def _optional(fields: Mapping[str, JsonValue]) -> Iterator[FieldProblem]:
    for key in ("license", "compatibility", "allowed-tools"):
        value = fields.get(key, "")
        if not isinstance(value, str):
            yield "field_type", key, f"{key} is not text"
        elif key == "compatibility":
            yield from _length(key, value, limits.SKILL_COMPATIBILITY_MAX_CHARACTERS)
    metadata = fields.get("metadata", {})
    if not isinstance(metadata, dict):
        yield "field_type", "metadata", "metadata is not a mapping"
    elif odd := sorted(key for key, value in metadata.items() if not isinstance(value, str)):
        yield "field_type", "metadata", f"metadata values are not text: {clip(', '.join(odd))}"


def tags(fields: Mapping[str, JsonValue]) -> tuple[str, ...]:
    """Return the tags of `metadata.tags` and of a top-level `tags`: NFC, each once, sorted.

    Both may be a list or text with commas; items that are neither text nor numbers are ignored.
    """
    metadata = fields.get("metadata")
    found = [*_tag_words(fields.get("tags"))]
    if isinstance(metadata, dict):
        found += _tag_words(metadata.get("tags"))
    words = {unicodedata.normalize("NFC", word.strip()) for word in found}
    return tuple(sorted(words - {""}, key=str.encode))


def _tag_words(value: JsonValue) -> Iterator[str]:
    if isinstance(value, str):
        yield from value.split(",")
    elif isinstance(value, list):
        for item in value:
            if isinstance(item, str):
                yield item
            elif isinstance(item, int | float) and not isinstance(item, bool):
                yield str(item)

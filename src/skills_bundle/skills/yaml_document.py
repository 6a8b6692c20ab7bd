"""Decision: one YAML document becomes JSON values, or problems with their lines.

PyYAML's parser supplies the events, always the pure-Python one: libyaml reads some texts
differently, and a lock must not depend on how PyYAML was built. The values are built here from
those events, so nothing is constructed that JSON cannot hold, and every bound is checked while
reading.

Plain scalars get the types of YAML 1.2's core schema. Many hosts still follow YAML 1.1, where `no`
is false, `017` is fifteen and `12:30:00` is a number, so a value that the two versions read
differently is a warning.

Source: YAML 1.2.2, section 10.3.2; for YAML 1.1 PyYAML's own resolver, and `y` and `n` from
yaml.org/type/bool.html, which it leaves out.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, cast

import yaml
from yaml.resolver import Resolver

from skills_bundle.formats import limits as json_limits
from skills_bundle.formats.hidden_characters import first_hidden
from skills_bundle.skills import limits
from skills_bundle.skills.codes import clip

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pydantic import JsonValue

ALWAYS_TEXT: Final = frozenset({"name", "description"})
"""Top-level fields whose plain value stays text, even if YAML gives it another type."""

_BLANKS: Final = " \t\r\n"
_STRUCTURE: Final = re.compile(r"\r\n?|\n|#[^\r\n]*|\?|(?<![^\r\n])\.\.\.")
"""What to look at between two scalars: line ends, comments, `?` and `...` in the first column."""
_COMMENT: Final = re.compile(r"[ \t]+#")
_INDICATORS: Final = re.compile(r"[ \t\r\n,:\[\]{}]*(?:#[^\r\n]*)?")
_UNSAFE: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff]")
_LONG_ESCAPE: Final = re.compile(r"U([0-9A-Fa-f]{8})")
_YAML_1_1_BREAKS: Final = "\x85\u2028\u2029"

_CORE_SCHEMA: Final = (
    ("null", re.compile(r"~|null|Null|NULL|")),
    ("bool", re.compile(r"true|True|TRUE|false|False|FALSE")),
    ("int", re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")),
    (
        "float",
        re.compile(
            r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"
            r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
        ),
    ),
)
_RESOLVE_YAML_1_1: Final = cast("Callable[..., str]", Resolver().resolve)  # pyright: ignore[reportUnknownMemberType] -- untyped
_parse: Final = cast("Callable[..., Iterator[yaml.Event]]", yaml.parse)  # pyright: ignore[reportUnknownMemberType] -- untyped
_OCTAL_OF_YAML_1_1: Final = re.compile(r"[-+]?0[0-7]+")


class NotJsonError(ValueError):
    """A number that JSON readers do not agree on."""


def core_type(text: str) -> str:
    """Return the YAML 1.2 type of a plain scalar: null, bool, int, float or str."""
    return next((name for name, pattern in _CORE_SCHEMA if pattern.fullmatch(text)), "str")


def yaml_1_1_type(text: str) -> str:
    """Return the YAML 1.1 type of a plain scalar, such as bool, timestamp or merge."""
    if text in {"y", "Y", "n", "N"}:
        return "bool"
    tag = _RESOLVE_YAML_1_1(yaml.ScalarNode, text, (True, False))
    return tag.rsplit(":", 1)[-1]


def plain_value(text: str) -> JsonValue:
    """Return the value of a plain scalar by YAML 1.2's core schema.

    Raises:
        NotJsonError: If it is infinite, not a number, an integer beyond
            `JSON_MAX_SAFE_INTEGER`, or longer than `JSON_MAX_NUMBER_CHARACTERS`.
    """
    kind = core_type(text)
    if kind == "str":
        return text
    if kind == "null":
        return None
    if kind == "bool":
        return text.lower() == "true"
    if len(text) > json_limits.JSON_MAX_NUMBER_CHARACTERS:
        raise NotJsonError("a number with too many digits")
    return _integer(text) if kind == "int" else _real(text)


def _integer(text: str) -> int:
    number = int(text, {"0o": 8, "0x": 16}.get(text[:2], 10))
    if abs(number) > json_limits.JSON_MAX_SAFE_INTEGER:
        raise NotJsonError("an integer above 2^53 - 1")
    return number


def _real(text: str) -> float:
    number = math.inf if text.lower().endswith((".inf", ".nan")) else float(text)
    if math.isinf(number):
        raise NotJsonError("not a finite number")
    return number


def is_ambiguous(text: str) -> bool:
    """Return whether YAML 1.1 and 1.2 give a plain scalar another type or another number."""
    kind = core_type(text)
    return kind != yaml_1_1_type(text) or (kind == "int" and _is_other_octal(text))


def _is_other_octal(text: str) -> bool:
    """Return whether a leading zero changes the number: YAML 1.1 reads `017` as 15."""
    if len(text) > json_limits.JSON_MAX_NUMBER_CHARACTERS:
        return False
    return bool(_OCTAL_OF_YAML_1_1.fullmatch(text)) and int(text, 8) != int(text)


@dataclass(slots=True)
class YamlDocument:
    """What was read from one text.

    Attributes:
        fields: The top-level mapping; incomplete if there are problems.
        lines: Top-level key to its line, from 0.
        problems: Code, message and line from 0, in the order found.
        syntax_error: PyYAML's message if the text is not YAML; also one of the problems.
        single_quoted: Lines, from 0, on which a single-quoted top-level value starts.
    """

    fields: dict[str, JsonValue] = field(default_factory=dict[str, "JsonValue"])
    lines: dict[str, int] = field(default_factory=dict[str, int])
    problems: list[tuple[str, str, int]] = field(default_factory=list[tuple[str, str, int]])
    syntax_error: str | None = None
    single_quoted: set[int] = field(default_factory=set[int])


def read(text: str) -> YamlDocument:
    """Read one YAML document that has to be a mapping.

    Time is linear in the text. Reads at most `limits.FRONTMATTER_MAX_NODES` nodes, nested
    `limits.FRONTMATTER_MAX_DEPTH` deep.
    """
    text, restored = _without_yaml_1_1_breaks(text)
    reader = _Reader(text, restored)
    try:
        reader.read()
    except yaml.MarkedYAMLError as error:
        reader.check_after_last_scalar()
        reader.not_yaml(_syntax_message(error, reader.last_quoted), _syntax_line(error))
    except yaml.YAMLError as error:  # pragma: no cover - characters were checked before
        reader.not_yaml(str(error), reader.line)
    except (ValueError, OverflowError):  # PyYAML lets `"\\UFFFFFFFF"` through to `chr`
        reader.not_yaml("an escape above U+10FFFF", reader.line)
    except _StopReadingError:
        pass
    return reader.document


def _without_yaml_1_1_breaks(text: str) -> tuple[str, dict[int, int]]:
    """Replace characters that end a line in YAML 1.1 only; YAML 1.2 reads them as text.

    PyYAML breaks lines at them. Each becomes a private-use character that the text neither holds
    nor writes as an escape.

    Returns:
        The text, and a translation that puts the characters back into values.
    """
    breaks = [ord(character) for character in _YAML_1_1_BREAKS if character in text]
    if not breaks:
        return text, {}
    taken = {*map(ord, set(text)), *(int(digits, 16) for digits in _LONG_ESCAPE.findall(text))}
    free = (code for code in range(0xF0000, 0xFFFFE) if code not in taken)
    replaced = dict(zip(breaks, free, strict=False))
    return text.translate(replaced), {new: old for old, new in replaced.items()}


def _is_unclosed(error: yaml.MarkedYAMLError) -> bool:
    problem = error.problem or ""
    return "end of stream" in problem or "document separator" in problem


def _syntax_line(error: yaml.MarkedYAMLError) -> int:
    """Return the line, from 0, to look at: for what is never closed, where it was opened."""
    mark = error.problem_mark or error.context_mark
    if error.context_mark is not None and _is_unclosed(error):
        mark = error.context_mark
    return 0 if mark is None else int(mark.line)


def _syntax_message(error: yaml.MarkedYAMLError, quoted: tuple[int, int]) -> str:
    """Return PyYAML's message, made concrete where it is about quotes.

    Args:
        error: As PyYAML raised it.
        quoted: First and last line, from 0, of the last quoted value.
    """
    opened = error.context_mark
    if error.context == "while scanning a quoted scalar" and _is_unclosed(error) and opened:
        quote = (opened.buffer or "")[opened.pointer : opened.pointer + 1]
        return f"the quote {quote} in column {opened.column + 1} is never closed"
    message = clip(error.problem or error.context or "unreadable")
    first, last = quoted
    if last > first and error.problem_mark is not None and error.problem_mark.line == last:
        above = "the line above" if last == first + 1 else f"a line {last - first} above"
        message += f"; the quote that closes on this line was opened on {above}"
    return message


class _StopReadingError(Exception):
    """A bound is exceeded and its problem noted."""


class _Reader:
    """Builds one document from PyYAML's events; recursion is bounded by the depth limit."""

    def __init__(self, text: str, restored: dict[int, int]) -> None:
        self.document = YamlDocument()
        self.line = 0
        self.last_quoted = (0, 0)
        self._text = text
        self._restored = restored
        self._nodes = self._depth = self._document_ends = 0
        self._checked, self._checked_line = 0, 0  # the end of the last scalar
        # Event by event: what comes behind a bound is not even scanned.
        self._events = _parse(text, Loader=yaml.SafeLoader)

    def note(self, code: str, message: str, line: int) -> None:
        """Keep a problem; of very many, at least one of each code."""
        problems = self.document.problems
        many = len(problems) >= limits.FRONTMATTER_MAX_PROBLEMS
        if not many or code not in {known for known, _, _ in problems}:
            problems.append((code, message, line))

    def not_yaml(self, message: str, line: int) -> None:
        """Note that the text is not YAML."""
        self.document.syntax_error = message
        self.note("yaml_syntax", f"not YAML: {message}", line)

    def read(self) -> None:
        """Read the whole stream: exactly one document."""
        documents = 0
        for event in self._events:
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    line = event.start_mark.line
                    self.note("yaml_multiple_documents", "a second YAML document starts", line)
                    return
            elif isinstance(event, yaml.NodeEvent):
                self._root(event)
        self._check_structure(len(self._text))
        if documents == 0:
            self.note("yaml_not_mapping", "the frontmatter is empty", 0)

    def _root(self, event: yaml.NodeEvent) -> None:
        value = self._node(event)
        if isinstance(value, dict):
            self.document.fields = value
        else:
            line = event.start_mark.line
            self.note("yaml_not_mapping", "the frontmatter is not a mapping of fields", line)

    # --- nodes ---

    def _node(self, event: yaml.NodeEvent) -> JsonValue:
        self._start(event)
        if isinstance(event, yaml.ScalarEvent):
            return self._scalar(event)
        if isinstance(event, yaml.MappingStartEvent):
            return self._mapping()
        if isinstance(event, yaml.SequenceStartEvent):
            return self._sequence()
        return None

    def _start(self, event: yaml.NodeEvent) -> None:
        """Count a node, and report an anchor, alias or tag."""
        self._nodes += 1
        self.line = line = event.start_mark.line
        if self._nodes > limits.FRONTMATTER_MAX_NODES:
            self._stop("yaml_too_many_nodes", f"more than {limits.FRONTMATTER_MAX_NODES} values")
        if isinstance(event, yaml.AliasEvent):
            self.note("yaml_anchor", f"alias *{clip(event.anchor)}: write the value out", line)
        elif event.anchor is not None:
            self.note("yaml_anchor", f"anchor &{clip(event.anchor)}: write the value out", line)
        tag = getattr(event, "tag", None)
        if tag is not None:
            self.note("yaml_tag", f"tag {clip(tag)}: write the value without it", line)
        if isinstance(event, yaml.ScalarEvent):
            self._check_structure(event.start_mark.index)
            self._checked, self._checked_line = event.end_mark.index, event.end_mark.line
            if event.style in {"'", '"'}:
                self.last_quoted = (line, event.end_mark.line)

    def _stop(self, code: str, message: str) -> None:
        self.note(code, message, self.line)
        raise _StopReadingError

    def _enter(self) -> None:
        self._depth += 1
        if self._depth > limits.FRONTMATTER_MAX_DEPTH:
            self._stop("yaml_too_deep", f"nested deeper than {limits.FRONTMATTER_MAX_DEPTH}")

    def _sequence(self) -> list[JsonValue]:
        self._enter()
        values: list[JsonValue] = []
        for event in self._events:
            if isinstance(event, yaml.SequenceEndEvent):
                break
            if isinstance(event, yaml.NodeEvent):
                values.append(self._node(event))
        self._depth -= 1
        return values

    def _mapping(self) -> dict[str, JsonValue]:
        self._enter()
        values: dict[str, JsonValue] = {}
        for event in self._events:
            if isinstance(event, yaml.MappingEndEvent):
                break
            if isinstance(event, yaml.NodeEvent):
                self._pair(event, values)
        self._depth -= 1
        return values

    def _pair(self, event: yaml.NodeEvent, values: dict[str, JsonValue]) -> None:
        line = event.start_mark.line
        key = self._key(event)
        value_event = next(self._events)
        if not isinstance(value_event, yaml.NodeEvent):  # the parser's grammar rules this out
            return
        if self._depth == 1 and key is not None:
            value = self._field(key, value_event)
            self.document.lines.setdefault(key, line)
        else:
            value = self._node(value_event)
        if key is None:
            return
        if key in values:
            self.note("yaml_duplicate_key", f"key {clip(key)!r} appears twice", line)
        values.setdefault(key, value)

    def _key(self, event: yaml.NodeEvent) -> str | None:
        """Return a key; None, and note a problem, unless it is text."""
        value = self._node(event)
        line = event.start_mark.line
        if isinstance(value, str) and isinstance(event, yaml.ScalarEvent):
            if value == "<<" and event.style is None:
                self.note("yaml_merge_key", "the key `<<`: write the fields out, or quote it", line)
            return value
        if not isinstance(event, yaml.AliasEvent):
            self.note("yaml_key_not_text", "a key that is not text: quote it", line)
        return None

    def _field(self, key: str, event: yaml.NodeEvent) -> JsonValue:
        """Return a top-level value; `name` and `description` stay text."""
        if not isinstance(event, yaml.ScalarEvent):
            return self._node(event)
        if event.style == "'":
            self.document.single_quoted.add(event.start_mark.line)
        self._check_end(key, event)
        if key not in ALWAYS_TEXT or event.style is not None or not event.value:
            return self._node(event)
        self._start(event)
        if {core_type(event.value), yaml_1_1_type(event.value)} != {"str"}:
            message = f"{key} {clip(event.value)!r} is not text for every YAML reader; quote it"
            self.note("yaml_ambiguous", message, event.start_mark.line)
        return self._string(event)

    def _check_end(self, key: str, event: yaml.ScalarEvent) -> None:
        """Report a top-level value that ends where its author or another reader does not expect."""
        if event.style in {"|", ">"} and event.value.endswith("\n"):
            message = (
                f"{clip(key)} ends in a line break that some clients cut; write `{event.style}-`"
            )
            self.note("final_line_break", message, event.start_mark.line)
        cut = _COMMENT.match(self._text, event.end_mark.index)
        if key == "description" and event.style is None and cut is not None:
            message = "` #` starts a comment, so description ends before it; quote the value"
            self.note("description_comment", message, event.end_mark.line)

    def _scalar(self, event: yaml.ScalarEvent) -> JsonValue:
        if event.style is not None:
            return self._string(event)
        line = event.start_mark.line
        if is_ambiguous(event.value):
            message = f"{clip(event.value)!r} is read differently by YAML 1.1 and 1.2; quote it"
            self.note("yaml_ambiguous", message, line)
        try:
            value = plain_value(event.value)
        except NotJsonError as error:
            self.note("yaml_number_not_json", f"{clip(event.value)} is {error}; quote it", line)
            return None
        return self._string(event) if isinstance(value, str) else value

    def _string(self, event: yaml.ScalarEvent) -> str:
        """Return a text value; an escape can add characters that the file itself may not hold."""
        text = str(event.value).translate(self._restored)
        unsafe = _UNSAFE.search(text)
        if unsafe is not None:
            code = "lone_surrogate" if "\ud800" <= unsafe[0] <= "\udfff" else "control_character"
            message = f"an escape gives the character U+{ord(unsafe[0]):04X}"
            self.note(code, message, event.start_mark.line)
        self._check_hidden(event, text)
        return text

    def _check_hidden(self, event: yaml.ScalarEvent, text: str) -> None:
        """Report a hidden character that an escape writes; the file's own are reported already."""
        hidden = first_hidden(text) if event.style == '"' else None
        if hidden is None:
            return
        source = self._text[event.start_mark.index : event.end_mark.index]
        if first_hidden(source) is None:
            message = f"an escape gives the invisible character U+{ord(hidden[0]):04X}"
            self.note("hidden_characters", message, event.start_mark.line)

    # --- between scalars ---

    def _check_structure(self, end: int) -> None:
        """Report what PyYAML accepts between scalars and other readers do not.

        PyYAML reads a comment without a space before it, takes any `?` in a flow collection for a
        key, and skips a second `...`. In block collections it demands the blank behind `?` itself.

        Args:
            end: Index of the next scalar, or of the end of the text.
        """
        line = self._checked_line
        for match in _STRUCTURE.finditer(self._text, self._checked, end):
            start = match.start()
            if match[0] == "...":
                self._document_ends += 1
                if self._document_ends > 1:
                    self.note("yaml_ambiguous", "a second `...`; remove it", line)
            elif match[0] == "?":
                if self._text[start + 1 : start + 2].strip(_BLANKS):
                    message = "`?` without a space after it is ambiguous; quote the value"
                    self.note("yaml_syntax", message, line)
            elif match[0].startswith("#"):
                if start and self._text[start - 1] not in _BLANKS:
                    self.note("yaml_ambiguous", "a comment without a space before it", line)
            else:
                line += 1

    def check_after_last_scalar(self) -> None:
        """Check the indicators behind the last scalar, the likely cause of a syntax error."""
        match = _INDICATORS.match(self._text, self._checked)
        self._check_structure(match.end() if match else self._checked)

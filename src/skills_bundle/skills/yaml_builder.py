"""Decision: YAML events become JSON values; whatever JSON cannot say is a problem with its line."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import yaml

from skills_bundle.skills import limits
from skills_bundle.skills import yaml_scalars, yaml_source
from skills_bundle.skills.codes import clip
from skills_bundle.skills.yaml_source import Source

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic import JsonValue

AUTHORS_TEXT: Final = frozenset({"name", "description"})
"""Top-level fields whose value stays the author's text, whatever type it would resolve to."""

_UNSAFE: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff]")


@dataclass(slots=True)
class Built:
    """What was read of one text.

    Attributes:
        fields: The top-level mapping; incomplete if there are problems.
        lines: Top-level key to its line, from 0.
        problems: Code, sentence and line from 0, in the order found.
        syntax_error: PyYAML's complaint, if the text is not YAML; also one of the problems.
        quotes: Lines on which a single-quoted top-level value starts.
    """

    fields: dict[str, JsonValue] = field(default_factory=dict[str, "JsonValue"])
    lines: dict[str, int] = field(default_factory=dict[str, int])
    problems: list[tuple[str, str, int]] = field(default_factory=list[tuple[str, str, int]])
    syntax_error: str | None = None
    quotes: set[int] = field(default_factory=set[int])

    def quoted_at(self, lines: tuple[int, ...]) -> bool:
        """Tell whether each of these lines was read as a top-level value in single quotes."""
        return self.quotes.issuperset(lines)


class _StopReadingError(Exception):
    """There is no point in reading on: a bound is passed, and its problem noted."""


def build(text: str) -> Built:
    """Read one YAML document that has to be a mapping.

    Reads at most `limits.FRONTMATTER_MAX_NODES` nodes, nested `limits.FRONTMATTER_MAX_DEPTH` deep.
    """
    stand_ins = yaml_source.stand_ins(text)
    builder = _Builder({ord(new): old for old, new in stand_ins.items()})
    source = Source(text.translate(str.maketrans(stand_ins)))
    try:
        builder.document(source.events())
    except yaml.MarkedYAMLError as error:
        builder.broken(yaml_source.sentence(error, source.quoted), yaml_source.line(error))
    except yaml.YAMLError as error:  # pragma: no cover - characters were checked before
        builder.broken(str(error), builder.line)
    except (ValueError, OverflowError):  # PyYAML lets `"\\UFFFFFFFF"` through to `chr`
        builder.broken("an escape beyond Unicode", builder.line)
    except _StopReadingError:
        pass
    for code, message, line in source.lax:
        builder.note(code, message, line)
    return builder.built


class _Builder:
    """Walks the events of one text; recursion is bounded by `limits.FRONTMATTER_MAX_DEPTH`."""

    def __init__(self, given_back: dict[int, str]) -> None:
        self.built = Built()
        self.given_back = given_back
        self.nodes = 0
        self.line = 0
        self.depth = 0

    def note(self, code: str, message: str, line: int) -> None:
        """Keep a problem; of very many, at least one of each code."""
        many = len(self.built.problems) >= limits.FRONTMATTER_MAX_PROBLEMS
        if many and code in {known for known, _, _ in self.built.problems}:
            return
        self.built.problems.append((code, message, line))

    def broken(self, sentence: str, line: int) -> None:
        """Note that the text is not YAML."""
        self.built.syntax_error = sentence
        self.note("yaml_syntax", f"not YAML: {sentence}", line)

    def document(self, events: Iterator[yaml.Event]) -> None:
        """Read the whole stream: exactly one document."""
        documents = 0
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    line = event.start_mark.line
                    self.note("yaml_multiple_documents", "a second YAML document starts", line)
                    return
            elif isinstance(event, yaml.NodeEvent):
                self._root(event, events)
        if documents == 0:
            self.note("yaml_not_mapping", "the frontmatter is empty", 0)

    def _root(self, event: yaml.NodeEvent, events: Iterator[yaml.Event]) -> None:
        value = self._node(event, events)
        if isinstance(value, dict):
            self.built.fields = value
        else:
            line = event.start_mark.line
            self.note("yaml_not_mapping", "the frontmatter is not a mapping of fields", line)

    def _node(self, event: yaml.NodeEvent, events: Iterator[yaml.Event]) -> JsonValue:
        self._count(event)
        self._properties(event)
        if isinstance(event, yaml.ScalarEvent):
            return self._scalar(event)
        if isinstance(event, yaml.MappingStartEvent):
            return self._mapping(events)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._sequence(events)
        return None

    def _count(self, event: yaml.NodeEvent) -> None:
        self.nodes += 1
        self.line = event.start_mark.line
        if self.nodes > limits.FRONTMATTER_MAX_NODES:
            message = f"more than {limits.FRONTMATTER_MAX_NODES} values"
            self.note("yaml_too_many_nodes", message, event.start_mark.line)
            raise _StopReadingError

    def _properties(self, event: yaml.NodeEvent) -> None:
        line = event.start_mark.line
        if isinstance(event, yaml.AliasEvent):
            self.note("yaml_anchor", f"alias *{clip(event.anchor)}: write the value out", line)
        elif event.anchor is not None:
            self.note("yaml_anchor", f"anchor &{clip(event.anchor)}: write the value out", line)
        tag = getattr(event, "tag", None)
        if tag is not None:
            self.note("yaml_tag", f"tag {clip(tag)}: write the value without it", line)

    def _sequence(self, events: Iterator[yaml.Event]) -> list[JsonValue]:
        self._enter()
        values: list[JsonValue] = []
        for event in events:
            if isinstance(event, yaml.SequenceEndEvent):
                break
            if isinstance(event, yaml.NodeEvent):
                values.append(self._node(event, events))
        self.depth -= 1
        return values

    def _mapping(self, events: Iterator[yaml.Event]) -> dict[str, JsonValue]:
        self._enter()
        values: dict[str, JsonValue] = {}
        for event in events:
            if isinstance(event, yaml.MappingEndEvent):
                break
            if isinstance(event, yaml.NodeEvent):
                self._pair(event, events, values)
        self.depth -= 1
        return values

    def _enter(self) -> None:
        self.depth += 1
        if self.depth > limits.FRONTMATTER_MAX_DEPTH:
            message = f"nested deeper than {limits.FRONTMATTER_MAX_DEPTH}"
            self.note("yaml_too_deep", message, self.line)
            raise _StopReadingError

    def _pair(
        self, event: yaml.NodeEvent, events: Iterator[yaml.Event], values: dict[str, JsonValue]
    ) -> None:
        line = event.start_mark.line
        key = self._key(event, events)
        value_event = next(events)
        if not isinstance(value_event, yaml.NodeEvent):  # the parser's grammar rules this out
            return
        if self.depth == 1 and key is not None:
            value = self._field(key, value_event, events)
            self.built.lines.setdefault(key, line)
        else:
            value = self._node(value_event, events)
        if key is None:
            return
        if key in values:
            self.note("yaml_duplicate_key", f"key {clip(key)!r} appears twice", line)
        values.setdefault(key, value)

    def _key(self, event: yaml.NodeEvent, events: Iterator[yaml.Event]) -> str | None:
        """Read a key; None, and a problem, unless it is text."""
        value = self._node(event, events)
        line = event.start_mark.line
        if isinstance(value, str) and isinstance(event, yaml.ScalarEvent):
            if value == "<<" and event.style is None:
                self.note("yaml_merge_key", "the key `<<`: write the fields out, or quote it", line)
            return value
        if not isinstance(event, yaml.AliasEvent):
            self.note("yaml_key_not_text", "a key that is not text: quote it", line)
        return None

    def _field(self, key: str, event: yaml.NodeEvent, events: Iterator[yaml.Event]) -> JsonValue:
        """Read a top-level value; that of `name` and `description` is not resolved."""
        if not isinstance(event, yaml.ScalarEvent):
            return self._node(event, events)
        if event.style == "'":
            self.built.quotes.add(event.start_mark.line)
        if key not in AUTHORS_TEXT or event.style is not None or not event.value:
            return self._node(event, events)
        self._count(event)
        self._properties(event)
        if not yaml_scalars.is_text_everywhere(event.value):
            message = f"{key} {clip(event.value)!r} is not text for every reader; quote it"
            self.note("yaml_ambiguous", message, event.start_mark.line)
        return self._text(event)

    def _scalar(self, event: yaml.ScalarEvent) -> JsonValue:
        if event.style is not None:
            return self._text(event)
        line = event.start_mark.line
        if yaml_scalars.is_ambiguous(event.value):
            message = f"{clip(event.value)!r} is read differently by YAML 1.1 and 1.2; quote it"
            self.note("yaml_ambiguous", message, line)
        try:
            value = yaml_scalars.value(event.value)
        except yaml_scalars.NotJsonError as error:
            self.note("yaml_number_not_json", f"{clip(event.value)} is {error}; quote it", line)
            return None
        return self._text(event) if isinstance(value, str) else value

    def _text(self, event: yaml.ScalarEvent) -> str:
        """Check what escapes can bring in that the text itself could not hold."""
        text = str(event.value).translate(self.given_back)
        unsafe = _UNSAFE.search(text)
        if unsafe is not None:
            code = "lone_surrogate" if "\ud800" <= unsafe[0] <= "\udfff" else "control_character"
            message = f"an escape gives the character U+{ord(unsafe[0]):04X}"
            self.note(code, message, event.start_mark.line)
        return text

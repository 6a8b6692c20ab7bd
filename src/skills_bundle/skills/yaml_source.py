"""Decision: PyYAML's events of one text, with what PyYAML lets pass and other readers do not.

PyYAML reads a comment glued to what is before it, takes a `?` in a flow collection for a mark of a
key wherever it stands, and passes over a second `...`. Whoever reads the same frontmatter with
another library gets an error or another value, so each is told with its line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import yaml

from skills_bundle.skills.codes import clip

if TYPE_CHECKING:
    from collections.abc import Iterator

_BREAKS_OF_YAML_1_1: Final = "\x85\u2028\u2029"
_BLANK: Final = " \t\r\n\0"
_GLUED: Final = ("yaml_ambiguous", "a comment without a blank before it")
_TWO_ENDS: Final = ("yaml_ambiguous", "a second `...`; remove it")
_MARK: Final = ("yaml_syntax", "`?` without a blank after it means two things; quote the value")


if TYPE_CHECKING:

    class _Reader:
        """The part of PyYAML's loader used here; its stubs leave the types out."""

        buffer: str
        pointer: int
        line: int
        flow_level: int

        def __init__(self, stream: str) -> None: ...
        def check_event(self) -> bool: ...
        def get_event(self) -> yaml.Event: ...
        def peek(self, index: int = 0) -> str: ...
        def scan_to_next_token(self) -> None: ...
        def fetch_key(self) -> None: ...
        def fetch_document_end(self) -> None: ...
        def scan_flow_scalar(self, style: str) -> yaml.ScalarToken: ...
else:
    _Reader = yaml.SafeLoader


class Source(_Reader):
    """PyYAML's pure-Python reader.

    Attributes:
        lax: Code, sentence and line from 0 of everything that only it allows.
        quoted: First and last line, from 0, of the last quoted value.
    """

    def __init__(self, text: str) -> None:
        """Read nothing yet."""
        super().__init__(text)
        self.lax: list[tuple[str, str, int]] = []
        self.quoted: tuple[int, int] = (0, 0)
        self._ends = 0

    def events(self) -> Iterator[yaml.Event]:
        """Give the events one by one: what is not asked for is not even scanned."""
        while self.check_event():
            yield self.get_event()

    def scan_to_next_token(self) -> None:
        """Look for a comment right where the last token ended."""
        if self.peek() == "#" and self.pointer and self.buffer[self.pointer - 1] not in _BLANK:
            self.lax.append((*_GLUED, self.line))
        super().scan_to_next_token()

    def fetch_key(self) -> None:
        """Look at what follows a `?`."""
        if self.flow_level and self.peek(1) not in _BLANK:
            self.lax.append((*_MARK, self.line))
        super().fetch_key()

    def fetch_document_end(self) -> None:
        """Count the `...`."""
        self._ends += 1
        if self._ends > 1:
            self.lax.append((*_TWO_ENDS, self.line))
        super().fetch_document_end()

    def scan_flow_scalar(self, style: str) -> yaml.ScalarToken:
        """Remember where a quoted value lies."""
        token = super().scan_flow_scalar(style)
        self.quoted = (token.start_mark.line, token.end_mark.line)
        return token


def stand_ins(text: str) -> dict[str, str]:
    """Give, for each character that ends a line in YAML 1.1 only, one that no value can hold.

    PyYAML breaks lines at them; for YAML 1.2 they are text. So it is shown a character of a
    private use area in their place, and the values get them back. It is one that is neither in the
    text nor, by its number, in an escape.
    """
    found = [character for character in _BREAKS_OF_YAML_1_1 if character in text]
    small = text.lower() if found else ""
    codes = (code for code in range(0xF0000, 0xFFFFE) if f"{code:x}" not in small)
    free = (chr(code) for code in codes if chr(code) not in small)
    return dict(zip(found, free, strict=False))


def line(error: yaml.MarkedYAMLError) -> int:
    """Give the line, from 0, to look at: for what is never closed, where it was opened."""
    mark = error.problem_mark or error.context_mark
    if error.context_mark is not None and _is_unclosed(error):
        mark = error.context_mark
    return 0 if mark is None else int(mark.line)


def _is_unclosed(error: yaml.MarkedYAMLError) -> bool:
    problem = error.problem or ""
    return "end of stream" in problem or "document separator" in problem


def sentence(error: yaml.MarkedYAMLError, quoted: tuple[int, int]) -> str:
    """Say what PyYAML found, in words of the text's author where it is about quotes.

    Args:
        error: As PyYAML raised it.
        quoted: Where the last quoted value lies; see `Source`.
    """
    opened = error.context_mark
    if error.context == "while scanning a quoted scalar" and _is_unclosed(error) and opened:
        quote = (opened.buffer or "")[opened.pointer : opened.pointer + 1]
        return f"the quote {quote} in column {opened.column + 1} is never closed"
    said = clip(error.problem or error.context or "unreadable")
    first, last = quoted
    if last > first and error.problem_mark is not None and error.problem_mark.line == last:
        above = "the line above" if last == first + 1 else f"a line {last - first} above"
        said += f"; the quote that closes on this line was opened on {above}"
    return said

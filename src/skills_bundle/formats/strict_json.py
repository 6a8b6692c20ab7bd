"""Decision: JSON is read strictly and written in one way.

RFC 8259 leaves open what a reader does with repeated keys, huge numbers, lone surrogates or bytes
before and after the value, and readers differ there. A check of one reading says nothing about
another, so all of these are refused. Nothing is guessed or repaired.
"""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Final, NoReturn

from skills_bundle.errors import MalformedJsonError, Problem
from skills_bundle.formats import limits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic import JsonValue

SUMMARY: Final = "These bytes are not strict JSON."
BOM: Final = b"\xef\xbb\xbf"

# Possessive (`*+`): an unclosed string is consumed once, never retried from each of its quotes.
_STRUCTURE: Final = re.compile(r'"(?:[^"\\]|\\.)*+"?|[\[{]|[\]}]', re.DOTALL)
_TOKEN: Final = re.compile(
    r'"(?:[^"\\]|\\.)*+"|[\[\]{}:,]|-?[0-9][0-9.eE+-]*+|-?[A-Za-z]++', re.DOTALL
)
_SURROGATE_ESCAPE: Final = re.compile(r"\\u[dD][89a-fA-F]")
_LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")


class _Faulty(Exception):  # noqa: N818 - a signal between two functions here, never an error of ours
    """The decoder met something that is refused; `_faults` finds where, and everything else."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.problem = Problem(code=code, message=message)


def loads(data: bytes, *, limit: int, allow_bom: bool = False) -> JsonValue:
    """Read one JSON value; linear time on any input.

    Args:
        data: The bytes of the whole document.
        limit: Maximum size in bytes.
        allow_bom: Skip one byte order mark at the start instead of refusing it.

    Raises:
        MalformedJsonError: With code, message and line of what is wrong: `json_too_large`,
            `json_bom`, `json_encoding`, `json_too_deep` (`limits.JSON_MAX_DEPTH`), `json_syntax`,
            `json_duplicate_key`, `json_number`, `json_surrogate`.
    """
    if len(data) > limit:
        _refuse("json_too_large", f"longer than {limit} bytes", None)
    text = _decode(data, allow_bom=allow_bom)
    _refuse_depth(text)
    try:
        value: JsonValue = _DECODER.decode(text)
    except _Faulty as fault:
        # If the grammar is broken too (`NaNa]`), the walk may read another word there.
        raise MalformedJsonError(SUMMARY, tuple(_faults(text)) or (fault.problem,)) from None
    except json.JSONDecodeError as error:
        _refuse("json_syntax", f"column {error.colno}: {error.msg}", error.lineno)
    if _SURROGATE_ESCAPE.search(text) and (problems := tuple(_faults(text))):
        raise MalformedJsonError(SUMMARY, problems)
    return value


def pretty(value: JsonValue | dict[str, JsonValue]) -> bytes:
    """Write JSON for files that people review: UTF-8, indent 2, keys as given, final newline.

    Raises:
        ValueError: If the value holds NaN or an infinity, or text with lone surrogates.
    """
    return (json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False) + "\n").encode()


def compact(value: JsonValue | dict[str, JsonValue]) -> bytes:
    """Write JSON for the wire and for digests: UTF-8, no white space, keys as given.

    Raises:
        ValueError: If the value holds NaN or an infinity, or text with lone surrogates.
    """
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


def _refuse(code: str, message: str, line: int | None) -> NoReturn:
    raise MalformedJsonError(SUMMARY, (Problem(code=code, message=message, line=line),))


def _decode(data: bytes, *, allow_bom: bool) -> str:
    if data.startswith(BOM):
        if not allow_bom:
            _refuse("json_bom", "starts with a byte order mark", 1)
        data = data[len(BOM) :]
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        _refuse("json_encoding", f"byte {error.start} is not UTF-8", line)


def _refuse_depth(text: str) -> None:
    """Bound nesting before the decoder recurses into it."""
    depth = 0
    for token in _STRUCTURE.finditer(text):
        sign = text[token.start()]
        if sign in "[{":
            depth += 1
            # The outermost container has depth 0, so `depth` containers reach depth - 1.
            if depth > limits.JSON_MAX_DEPTH + 1:
                line = text.count("\n", 0, token.start()) + 1
                _refuse("json_too_deep", f"nested deeper than {limits.JSON_MAX_DEPTH}", line)
        elif sign in "]}":
            depth -= 1


def _pairs(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise _Faulty("json_duplicate_key", "a key appears twice")
    return value


def _integer(text: str) -> int:
    if len(text) > limits.JSON_MAX_NUMBER_CHARACTERS:
        raise _Faulty("json_number", "a number is too long")
    return int(text)


def _real(text: str) -> float:
    if len(text) > limits.JSON_MAX_NUMBER_CHARACTERS or math.isinf(value := float(text)):
        raise _Faulty("json_number", "a number is out of range or too long")
    return value


def _constant(name: str) -> NoReturn:
    raise _Faulty("json_number", f"{name} is not JSON")


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_pairs, parse_int=_integer, parse_float=_real, parse_constant=_constant
)
_STRING: Final = json.JSONDecoder()


def _faults(text: str) -> Iterator[Problem]:
    """Find every refused thing in text that the decoder gave up on, each with its line.

    The decoder's hooks know no positions; this walk does, and only bad input pays for it. The
    decoder stops at the first fault, so the rest may break the grammar: any token may be missing.
    """
    keys: list[set[str]] = []
    line, position, previous = 1, 0, ""
    for match in _TOKEN.finditer(text):
        word = match[0]
        line, position = line + text.count("\n", position, match.start()), match.start()
        if word in "{[":
            keys.append(set())
        elif word in "}]" and keys:
            keys.pop()
        elif word == ":" and previous.startswith('"') and keys:
            yield from _repeated(_unescape(previous), keys[-1], line)
        else:
            yield from _bad_scalar(word, line)
        previous = word


def _repeated(key: str, keys: set[str], line: int) -> Iterator[Problem]:
    if key in keys:
        yield Problem(code="json_duplicate_key", message=f"key {key!r} appears twice", line=line)
    keys.add(key)


def _bad_scalar(word: str, line: int) -> Iterator[Problem]:
    if word.startswith('"'):
        if _LONE_SURROGATE.search(_unescape(word)):
            message = "a \\u escape is a lone surrogate"
            yield Problem(code="json_surrogate", message=message, line=line)
    elif word in {"NaN", "Infinity", "-Infinity"}:
        yield Problem(code="json_number", message=f"{word} is not JSON", line=line)
    elif word[-1].isdigit() and not _is_usable_number(word):
        shown = word if len(word) <= 24 else f"{word[:20]}..."
        message = f"number {shown} is out of range or too long"
        yield Problem(code="json_number", message=message, line=line)


def _is_usable_number(word: str) -> bool:
    try:
        _real(word)
    except (_Faulty, ValueError):
        return False
    return True


def _unescape(word: str) -> str:
    try:
        return str(_STRING.decode(word))
    except json.JSONDecodeError:
        return word

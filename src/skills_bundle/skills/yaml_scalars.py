"""Decision: what a plain YAML scalar means, in YAML 1.2 and in 1.1.

Frontmatter is read by YAML 1.2's core schema. Hosts read it with whatever library they have, and
half of those follow YAML 1.1, where `no` is false, `017` is fifteen and `12:30:00` is a number. We
cannot know which; we can tell the author which values mean two things.

Source: YAML 1.2.2, section 10.3.2; the types of YAML 1.1 at yaml.org/type, with the closer
patterns of PyYAML where it departs from them.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Final

from skills_bundle.formats import limits

if TYPE_CHECKING:
    from pydantic import JsonValue

_CORE: Final = (
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

_YAML_1_1: Final = (
    ("null", re.compile(r"~|null|Null|NULL|")),
    (
        "bool",
        re.compile(
            r"y|Y|yes|Yes|YES|n|N|no|No|NO|true|True|TRUE|false|False|FALSE"
            r"|on|On|ON|off|Off|OFF"
        ),
    ),
    (
        "int",
        re.compile(
            r"[-+]?0b[01_]+|[-+]?0[0-7_]+|[-+]?(?:0|[1-9][0-9_]*)|[-+]?0x[0-9a-fA-F_]+"
            r"|[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+"
        ),
    ),
    (
        "float",
        re.compile(
            r"[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?|\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?"
            r"|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*"
            r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
        ),
    ),
    ("merge", re.compile(r"<<")),
    ("value", re.compile(r"=")),
    (
        "timestamp",
        re.compile(
            r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
            r"|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt]|[ \t]+)[0-9]{1,2}:[0-9]{2}:[0-9]{2}"
            r"(?:\.[0-9]*)?(?:[ \t]*(?:Z|[-+][0-9]{1,2}(?::[0-9]{2})?))?"
        ),
    ),
)

_LEADING_ZERO: Final = re.compile(r"[-+]?0[0-7]+")


class NotJsonError(ValueError):
    """A number that no JSON reader gives back unchanged."""


def kind(text: str, *, yaml_1_1: bool = False) -> str:
    """Name the type of a plain scalar: `str` where no other pattern matches all of it."""
    for name, pattern in _YAML_1_1 if yaml_1_1 else _CORE:
        if pattern.fullmatch(text):
            return name
    return "str"


def value(text: str) -> JsonValue:
    """Give a plain scalar's value by YAML 1.2's core schema.

    Raises:
        NotJsonError: If it is infinite, not a number, an integer beyond
            `limits.JSON_MAX_SAFE_INTEGER`, or longer than `limits.JSON_MAX_NUMBER_CHARACTERS`.
    """
    match kind(text):
        case "null":
            return None
        case "bool":
            return text.lower() == "true"
        case "int":
            return _integer(text)
        case "float":
            return _real(text)
        case _:
            return text


def _integer(text: str) -> int:
    if len(text) > limits.JSON_MAX_NUMBER_CHARACTERS:
        raise NotJsonError("an integer of that many digits")
    base = {"0o": 8, "0x": 16}.get(text[:2], 10)
    number = int(text, base)
    if abs(number) > limits.JSON_MAX_SAFE_INTEGER:
        raise NotJsonError("an integer beyond 2^53 - 1")
    return number


def _real(text: str) -> float:
    if len(text) > limits.JSON_MAX_NUMBER_CHARACTERS:
        raise NotJsonError("a number of that many digits")
    number = math.inf if text.lower().endswith((".inf", ".nan")) else float(text)
    if math.isinf(number):
        raise NotJsonError("not a finite number")
    return number


def is_ambiguous(text: str) -> bool:
    """Tell whether YAML 1.1 and 1.2 give a plain scalar another type or another number."""
    new = kind(text)
    return new != kind(text, yaml_1_1=True) or (new == "int" and _is_other_octal(text))


def _is_other_octal(text: str) -> bool:
    """Tell whether a leading zero changes the number: `017` is 15 for YAML 1.1, 17 for 1.2."""
    if len(text) > limits.JSON_MAX_NUMBER_CHARACTERS or not _LEADING_ZERO.fullmatch(text):
        return False
    return int(text, 8) != int(text)


def is_text_everywhere(text: str) -> bool:
    """Tell whether a plain scalar is text in both versions, as a name has to be."""
    return kind(text) == "str" and kind(text, yaml_1_1=True) == "str"

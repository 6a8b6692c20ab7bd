"""Decision: keys and values as TOML spells them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence

_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")
Value: TypeAlias = str | bool | tuple[str, ...]
"""What is ever written."""


def dotted(path: Sequence[str]) -> str:
    """Give a path as TOML writes it."""
    return ".".join(bare(name) for name in path)


def bare(key: str) -> str:
    """Give a key, quoted if it has to be."""
    return key if _BARE.fullmatch(key) else written(key)


def written(value: Value) -> str:
    """Give a value as TOML writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return f"[{', '.join(written(row) for row in value)}]"
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{"".join(_escaped(character) for character in escaped)}"'


def _escaped(character: str) -> str:
    is_control = ord(character) < 0x20 or ord(character) == 0x7F
    return f"\\u{ord(character):04x}" if is_control else character

"""Decision: how JSON is written: one rendering for files that people review, one for the wire."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import JsonValue


def pretty(value: JsonValue | dict[str, JsonValue]) -> bytes:
    """Render for files people review: UTF-8, 2-space indent, keys as given, final newline.

    Raises:
        ValueError: If the value holds NaN or an infinity, or text with lone surrogates.
    """
    return (json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False) + "\n").encode()


def compact(value: JsonValue | dict[str, JsonValue]) -> bytes:
    """Render for the wire and for digests of values: UTF-8, no white space, keys as given.

    Raises:
        ValueError: If the value holds NaN or an infinity, or text with lone surrogates.
    """
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()

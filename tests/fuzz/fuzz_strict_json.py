"""Any bytes give a value the standard library gives too, or our own error with a reason."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from skills_bundle.errors import MalformedJsonError
from skills_bundle.formats import strict_json

if TYPE_CHECKING:
    from collections.abc import Iterator

LIMIT = 1 << 16
VECTORS = Path(__file__).parent.parent / "vectors" / "strict_json"


def check(data: bytes) -> None:
    """Read the bytes; compare with the standard library what was accepted."""
    try:
        value = strict_json.loads(data, limit=LIMIT)
    except MalformedJsonError as error:
        if not error.problems:
            raise AssertionError("refused without a reason") from error
        return
    if repr(value) != repr(json.loads(data)):
        raise AssertionError("strictness changed a value")


def seeds() -> Iterator[bytes]:
    """Return the vectors, accepted and refused."""
    return (path.read_bytes() for path in sorted(VECTORS.rglob("*.json")))

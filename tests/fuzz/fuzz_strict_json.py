"""Any bytes give a value the standard library gives too, or our own error with a reason.

Run by itself: `python tests/fuzz/fuzz_strict_json.py -max_total_time=60`.
"""

from __future__ import annotations

import json
import sys
from typing import Any, cast

import atheris as _atheris

atheris = cast("Any", _atheris)  # carries no types

with atheris.instrument_imports():
    from skills_bundle.errors import MalformedJsonError
    from skills_bundle.formats import strict_json

LIMIT = 1 << 16


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


if __name__ == "__main__":
    atheris.Setup(sys.argv, check)
    atheris.Fuzz()

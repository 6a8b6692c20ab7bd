"""Any bytes give a report; what is accepted fits a lock; what is called clean PyYAML reads alike.

Run by itself: `python tests/fuzz/fuzz_frontmatter.py -max_total_time=60`.
"""

from __future__ import annotations

import sys
from typing import Any, cast

import atheris as _atheris
import yaml

atheris = cast("Any", _atheris)  # carries no types

with atheris.instrument_imports():
    from skills_bundle.formats import rendering, strict_json
    from skills_bundle.skills import frontmatter

LIMIT = 1 << 20


def check(data: bytes) -> None:
    """Read the bytes as a whole SKILL.md, and as the head of one."""
    for document in (data, b"---\n" + data + b"\n---\n"):
        head = frontmatter.parse(document)
        if head.refused:
            continue
        text = rendering.compact(head.fields)
        if repr(strict_json.loads(text, limit=LIMIT)) != repr(head.fields):
            raise AssertionError("a lock would give other values back")
        if not head.diagnostics and repr(_pyyaml(document, head.body_offset)) != repr(head.fields):
            raise AssertionError("called clean, and read otherwise by PyYAML")


def _pyyaml(document: bytes, body: int) -> object:
    text = document[:body].decode().split("\n", 1)[1].rstrip().removesuffix("---")
    return yaml.safe_load(text)


if __name__ == "__main__":
    atheris.Setup(sys.argv, check)
    atheris.Fuzz()

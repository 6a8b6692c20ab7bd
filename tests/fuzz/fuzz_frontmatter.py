"""Any bytes give a report; what is accepted fits a lock; what is clean PyYAML reads alike."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from skills_bundle.formats import strict_json
from skills_bundle.skills import frontmatter

if TYPE_CHECKING:
    from collections.abc import Iterator

LIMIT = 1 << 20
VECTORS = Path(__file__).parent.parent / "vectors" / "frontmatter"


def check(data: bytes) -> None:
    """Read the bytes as a whole SKILL.md, and as the head of one."""
    for document in (data, b"---\n" + data + b"\n---\n"):
        head = frontmatter.parse(document)
        if head.refused:
            continue
        text = strict_json.compact(head.fields)
        if repr(strict_json.loads(text, limit=LIMIT)) != repr(head.fields):
            raise AssertionError("a lock would give other values back")
        if not head.diagnostics and repr(_pyyaml(document, head.body_offset)) != repr(head.fields):
            raise AssertionError("called clean, and read otherwise by PyYAML")


def _pyyaml(document: bytes, body: int) -> object:
    text = document[:body].decode().split("\n", 1)[1].rstrip().removesuffix("---")
    return yaml.safe_load(text)


def seeds() -> Iterator[bytes]:
    """Return the vectors, whole."""
    return (path.read_bytes() for path in sorted(VECTORS.rglob("*.md")))

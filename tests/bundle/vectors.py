"""The published vectors of lock and receipt, with what their manifests say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

VECTORS = Path(__file__).parent.parent / "vectors"


class Vector(NamedTuple):
    """One file: is it read, by which code not, and can a schema tell?"""

    path: Path
    accept: bool
    code: str | None
    structural: bool

    @property
    def data(self) -> bytes:
        """The file's bytes."""
        return self.path.read_bytes()


def vectors(kind: str) -> list[Vector]:
    """Return all vectors of `lock` or `receipt`, in the manifest's order."""
    rows = json.loads((VECTORS / kind / "manifest.json").read_text(encoding="utf-8"))
    return [
        Vector(VECTORS / kind / row["file"], row["accept"], row["code"], row["structural"])
        for row in rows
    ]


def name(vector: Vector) -> str:
    """Return a vector's name for pytest."""
    return vector.path.stem

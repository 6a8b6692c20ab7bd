"""The rows of `matrix.toml`, read for the test that runs them."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

DATA: dict[str, list[dict[str, Any]]] = tomllib.loads(
    Path(__file__).with_name("matrix.toml").read_text(encoding="utf-8")
)


@dataclass(frozen=True, kw_only=True)
class Row:
    """One change of an installation, and what must come of it.

    Attributes:
        id: Its name; also of the change.
        area: `file`, `lock`, `receipt`, `record` or `code`.
        what: In words.
        exit: Exit code of `verify`.
        lock: State of the lock.
        receipt: State of the receipt.
        record: State of RECORD.
        sbom: State of the bill of materials.
        file: State of the changed file, if it has something against it.
        gaps: Every gap that `verify` tells.
        server_gaps: Every gap that answers have, if these are others.
        read: Of the changed file, or of one beside the change: `served`, `refused`, `unavailable`
            with everything else, or `rewritten`: what somebody made of it is what its lock wants.
    """

    id: str
    area: str
    what: str
    exit: int = 1
    lock: str = "ok"
    receipt: str = "ok"
    record: str = "ok"
    sbom: str = "follows"
    file: str | None = None
    gaps: tuple[str, ...] = ()
    server_gaps: tuple[str, ...] | None = None
    read: Literal["served", "refused", "unavailable", "rewritten"] = "served"

    @property
    def answered_gaps(self) -> tuple[str, ...]:
        """The gaps that answers have."""
        return self.gaps if self.server_gaps is None else self.server_gaps


def _row(values: dict[str, Any]) -> Row:
    lists = {name: tuple(values[name]) for name in ("gaps", "server_gaps") if name in values}
    merged: dict[str, Any] = {**values, **lists}
    return Row(**merged)


ROWS: tuple[Row, ...] = tuple(map(_row, DATA["row"]))

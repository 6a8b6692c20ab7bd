"""Reads the data files below tests/vectors/conversations."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

FOLDER = Path(__file__).parent.parent / "vectors" / "conversations"


@dataclass(frozen=True)
class LineVector:
    """One input line and what is answered.

    Attributes:
        why: What is special about it.
        data: The line's bytes without the line feed.
        first: Whether it is the first of its connection; None if that makes no difference.
        answer: `message`, `nothing`, or the error's code and id.
    """

    why: str
    data: bytes
    first: bool | None
    answer: Any

    @property
    def places(self) -> tuple[bool, ...]:
        """Return the values of `Line.first` under which the answer is this one."""
        return (True, False) if self.first is None else (self.first,)


def lines() -> list[LineVector]:
    """Return every line of `lines.json`."""
    rows = json.loads((FOLDER / "lines.json").read_text(encoding="utf-8"))
    return [LineVector(row["why"], _data(row), row.get("first"), row["answer"]) for row in rows]


def _data(row: dict[str, Any]) -> bytes:
    if "hex" in row:
        return bytes.fromhex(row["hex"])
    pieces: list[tuple[str, int]] = row["pieces"] if "pieces" in row else [(row["line"], 1)]
    return "".join(text * times for text, times in pieces).encode()


def exchange(path: Path) -> list[tuple[str, Any]]:
    """Return the steps of a whole exchange: (`send` or `receive`, message)."""
    return [step(kind, message) for kind, message in _steps(path) if kind != "note"]


def step(kind: str, message: Any) -> tuple[str, Any]:
    """Read the two ways in which a line is kept that is neither a message nor text."""
    form = kind.removeprefix("send_")
    return (kind, message) if form == kind else ("send", _data({form: message}))


def _steps(path: Path) -> list[tuple[str, Any]]:
    steps = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return [next(iter(step.items())) for step in steps]


def differences(expected: Any, found: Any, place: str = "$") -> list[str]:
    """Compare as the README says: objects may have more members, the rest is exact."""
    if isinstance(expected, dict) and isinstance(found, dict):
        members = cast("dict[str, Any]", found)
        pairs = [
            (f"{place}.{key}", value, members.get(key))
            for key, value in cast("dict[str, Any]", expected).items()
        ]
        return [row for name, one, other in pairs for row in differences(one, other, name)]
    if expected == found:
        return []
    return [f"{place}: {expected!r} expected, {found!r} found"]

"""What is done to an installation and what must come of it, from the rows that a test runs."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from facts.markdown import code, table

MATRIX = Path(__file__).parents[2] / "tests" / "tamper" / "matrix.toml"

READS = {
    "served": "served",
    "refused": "refused; others served",
    "unavailable": "nothing is served",
    "rewritten": "**served as rewritten**",
}
"""What is answered to a read, in words."""

DOCUMENTS = {
    "lock": "lock",
    "receipt": "receipt",
    "record": "RECORD",
    "sbom": "bill of materials",
}


def files() -> str:
    """Return the changes of skill files."""
    return _rows("file")


def lock() -> str:
    """Return the changes of the lock."""
    return _rows("lock")


def receipt() -> str:
    """Return the changes of the build receipt."""
    return _rows("receipt")


def record() -> str:
    """Return the changes of RECORD and metadata, and rewrites of everything."""
    return _rows("record")


def package() -> str:
    """Return the changes of the package's own code."""
    return _rows("code")


def not_run() -> str:
    """Return what no test of this project does, why, and what replaces it."""
    rows = [(row["what"], row["why"], row["instead"]) for row in _data()["not_run"]]
    return table(("What", "Why it is not run", "Instead"), rows)


def _data() -> dict[str, list[dict[str, Any]]]:
    return tomllib.loads(MATRIX.read_text(encoding="utf-8"))


def _rows(area: str) -> str:
    rows = [
        (code(row["id"]), row["what"], _states(row), str(row.get("exit", 1)), _answer(row))
        for row in _data()["row"]
        if row["area"] == area
    ]
    head = ("Row", "What is done", "States, and gaps of `verify`", "Exit", "Server answers")
    return table(head, rows)


def _states(row: dict[str, Any]) -> str:
    """Return every state but `ok`, then the gaps."""
    told = [f"file {code(row['file'])}"] if "file" in row else []
    told += [f"{name} {code(row[key])}" for key, name in DOCUMENTS.items() if key in row]
    return "; ".join([*told, *_codes(row.get("gaps", ()))]) or "nothing"


def _answer(row: dict[str, Any]) -> str:
    """Return what a read gets, and the gaps that answers have."""
    read = READS[row.get("read", "served")]
    if row.get("read") == "unavailable":
        return f"{read}: `catalog_unavailable`"
    return "; ".join([read, *_codes(row.get("server_gaps", row.get("gaps", ())))])


def _codes(gaps: list[str] | tuple[str, ...]) -> list[str]:
    return [code(gap) for gap in gaps]

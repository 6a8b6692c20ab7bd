"""How builds fared under other circumstances, from what `nox -s reproducible` recorded."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any, cast

from facts.markdown import code, table
from skills_bundle.formats import strict_json

RESULTS = Path(__file__).parents[2] / "tests" / "reproducible" / "results.json"
MAX_BYTES = 1 << 20
HEAD = ("Varied", "How", "Wheel", "Sdist", "Receipt")
NOT_RUN = "not run"


def summary() -> str:
    """Return what was tried, where, and how it ended, in one sentence."""
    results = _results()
    counted = Counter(row["result"] for row in _rows())
    totals = ", ".join(f"{number} {result}" for result, number in counted.items())
    return (
        f"Version {results['version']} with hatchling {results['hatchling']} on Python "
        f"{results['python']}, {results['system']}: {len(_rows())} rows, {totals}."
    )


def varied() -> str:
    """Return one row for each group and outcome; a variation that only one project has says so."""
    found: dict[tuple[str, ...], dict[str, list[str]]] = {}
    for row in _rows():
        if row["result"] != NOT_RUN:
            outcome = (_short(row["wheel"]), _short(row["sdist"]), row["receipt"])
            names = found.setdefault((row["group"], *outcome), {})
            names.setdefault(row["variation"], []).append(row["project"])
    return table(HEAD, [_line(key, names) for key, names in found.items()])


def missing() -> str:
    """Return what was not run, and why."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for row in _rows():
        if row["result"] == NOT_RUN:
            key = (row["group"], row["variation"], row["note"])
            found.setdefault(key, []).append(row["project"])
    return table(("Varied", "How", "Not run, since"), list(found))


def _line(key: tuple[str, ...], names: dict[str, list[str]]) -> tuple[str, ...]:
    group, wheel, sdist, said = key
    told = [
        code(name) if len(projects) > 1 else f"{code(name)} ({projects[0]})"
        for name, projects in names.items()
    ]
    return group, ", ".join(told), wheel, sdist, said


def _short(cell: str) -> str:
    """Leave out which members differ."""
    return "; ".join(dict.fromkeys(part.partition(": ")[0] for part in cell.split("; ")))


def _results() -> dict[str, Any]:
    return cast("dict[str, Any]", strict_json.loads(RESULTS.read_bytes(), limit=MAX_BYTES))


def _rows() -> list[dict[str, str]]:
    return cast("list[dict[str, str]]", _results()["rows"])

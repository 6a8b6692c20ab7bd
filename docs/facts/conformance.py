"""How others' clients and suites fared, from the results that `nox -s conformance` recorded."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from facts.markdown import code, table
from skills_bundle.formats import strict_json

if TYPE_CHECKING:
    from collections.abc import Iterable

    Row = dict[str, str]

RESULTS = Path(__file__).parents[2] / "tests" / "conformance" / "results.json"
MAX_BYTES = 1 << 20

MODES = {
    "default": "the Inspector's default, a handshake",
    "legacy": "2025-11-25, asked for as `legacy`",
    "auto": "2026-07-28, found by `auto`",
    "both": "each in turn",
}
"""Ways to negotiate a revision, in words."""


def summary() -> str:
    """Return what was tried with what, in one sentence."""
    results = _results()
    clients = len({(row["client"], row["version"]) for row in _rows()})
    return (
        f"Version {results['server']}, tried with {clients} releases of clients and suites on "
        f"Node {results['node']} and Python: {_totals(_rows())}."
    )


def clients() -> str:
    """Return one row for each client, revision and transport: how many scenarios ended how."""
    lines = [
        (code(client), version, MODES.get(era, era), transport, _totals(group))
        for (client, version, era, transport), group in groupby(_rows(), _way)
    ]
    return table(("Client", "Version", "Revision", "Transport", "Scenarios"), lines)


def passed() -> str:
    """Return the scenarios that passed, one row for each client and set of scenarios."""
    lines: dict[tuple[str, str], list[str]] = {}
    for (client, version, era, transport), group in groupby(_rows(), _way):
        names = ", ".join(row["scenario"] for row in group if row["result"] == "passed")
        lines.setdefault((f"{code(client)} {version}", names), []).append(f"{era} {transport}")
    cells = [(client, names, ", ".join(ways)) for (client, names), ways in lines.items()]
    return table(("Client", "Passed", "Over"), cells)


def exempt() -> str:
    """Return every scenario that did not pass, with its reason; same reasons together."""
    found: dict[tuple[str, str, str], dict[str, None]] = {}
    for row in _rows():
        if row["result"] != "passed":
            key = (row["client"], row["result"].replace("_", " "), row["reason"])
            found.setdefault(key, {})[code(row["scenario"])] = None
    cells = [(", ".join(names), result, reason) for (_, result, reason), names in found.items()]
    return table(("Scenarios", "Result", "Reason"), cells)


def _results() -> dict[str, Any]:
    return cast("dict[str, Any]", strict_json.loads(RESULTS.read_bytes(), limit=MAX_BYTES))


def _rows() -> list[Row]:
    return cast("list[Row]", _results()["rows"])


def _way(row: Row) -> tuple[str, str, str, str]:
    return row["client"], row["version"], row["era"], row["transport"]


def _totals(rows: Iterable[Row]) -> str:
    counted = Counter(row["result"].replace("_", " ") for row in rows)
    return ", ".join(f"{number} {result}" for result, number in counted.items())

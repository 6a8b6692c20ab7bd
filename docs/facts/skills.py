"""The MCP skills extension: methods, refusals, and why a skill has no entry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from facts.markdown import code, table
from skills_bundle.catalog.resources import REASONS
from skills_bundle.server.resources import METHODS, REFUSALS

if TYPE_CHECKING:
    from mcp_types import RequestParams


def methods() -> str:
    """Return one row for each method, and what it answers."""
    rows = [(code(method.name), _parameters(method.params), method.summary) for method in METHODS]
    return table(("Method", "Parameters", "Answer"), rows)


def _parameters(params: type[RequestParams]) -> str:
    """Name the parameters; a cursor may always be left out, a URI never."""
    names = [name for name in ("uri", "cursor") if name in params.model_fields]
    return ", ".join(map(code, names))


def refusals() -> str:
    """Return one row for each code: its two numbers and its sentence."""
    rows = [
        (code(name), str(one.handshake_number or one.number), str(one.number), one.message)
        for name, one in REFUSALS.items()
    ]
    return table(("Code", "With a handshake", "On 2026-07-28", "Message"), rows)


def reasons() -> str:
    """Return one row for each reason why a skill has no entry."""
    return table(("Reason", "Meaning"), [(code(name), text) for name, text in REASONS.items()])

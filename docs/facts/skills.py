"""The MCP skills extension: methods, refusals, and why a skill has no entry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from facts.markdown import code, table
from skills_bundle.catalog.entries import REASONS
from skills_bundle.server.resources import resources, skills_extension
from skills_bundle.server.resources.errors import REFUSALS
from skills_bundle.wiring import open_catalog

if TYPE_CHECKING:
    from mcp_types import RequestParams


def methods() -> str:
    """Give one row a method, and what it answers."""
    shelf = open_catalog().shelf
    known = (*skills_extension.methods(shelf), *resources.methods(shelf))
    rows = [(code(method.name), _parameters(method.params), method.summary) for method in known]
    return table(("Method", "Parameters", "Answer"), rows)


def _parameters(params: type[RequestParams]) -> str:
    """Name the parameters; a cursor may always be left out, a URI never."""
    names = [name for name in ("uri", "cursor") if name in params.model_fields]
    return ", ".join(map(code, names))


def refusals() -> str:
    """Give one row a code: its two numbers and its sentence."""
    rows = [
        (code(name), str(told.handshake_number), str(told.number), told.message)
        for name, told in REFUSALS.items()
    ]
    return table(("Code", "With a handshake", "On 2026-07-28", "Message"), rows)


def reasons() -> str:
    """Give one row a reason why a skill has no entry."""
    return table(("Reason", "Meaning"), [(code(name), text) for name, text in REASONS.items()])

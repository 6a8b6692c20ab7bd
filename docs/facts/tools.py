"""Every tool: description, arguments, results and coded errors, from what hosts are given."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast, get_args

from facts.docstrings import attributes
from facts.markdown import code, sentences, table
from skills_bundle.bundle.provenance import Provenance
from skills_bundle.catalog.model import MESSAGES, hidden
from skills_bundle.formats.record import Record
from skills_bundle.installed.location import locate
from skills_bundle.server.tools import ToolContext, catalog
from skills_bundle.wiring import ChosenCollections, open_chosen

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import JsonValue

    from skills_bundle.server.tools.base import Tool


def render() -> str:
    """Return one section for each tool."""
    return "\n\n".join(_section(tool) for tool in _tools("skills-bundle"))


def of_several() -> str:
    """Return what the answers about several collections hold, tool by tool, and one row of each."""
    rows: list[tuple[str, str, str]] = []
    for tool in _tools("acme-skills", "other-skills"):
        rows += [(code(tool.name), *row) for row in _results(tool)]
    return table(("Tool", "Result", "Meaning"), rows)


def errors() -> str:
    """Return every code a tool can answer with, and its fixed sentence."""
    return table(("Code", "Message"), [(code(key), text) for key, text in MESSAGES.items()])


def _section(tool: Tool[Any]) -> str:
    hints = ", ".join(code(name) for name, given in tool.annotations.items() if given)
    return "\n\n".join(
        (
            f"## `{tool.name}`",
            sentences(tool.description),
            f"Hints: {hints}.",
            _arguments(tool.input_schema),
            table(("Result", "Meaning"), _results(tool)),
        )
    )


def _tools(*collections: str) -> tuple[Tool[Any], ...]:
    """Return the tools of a server of these collections; none of them is opened."""
    chosen = ChosenCollections(finders=dict.fromkeys(collections, locate))
    return catalog.tools(ToolContext(catalog=open_chosen(chosen)))


def _results(tool: Tool[Any]) -> list[tuple[str, str]]:
    """Return one row a field; the fields of a list's items follow. Provenance has its own page."""
    rows: list[tuple[str, str]] = []
    fields = hidden(tool.result, several=tool.several)
    for name, text in attributes(tool.result).items():
        if fields.get(name) is True:
            continue
        rows.append((code(name), text))
        for item in get_args(tool.result.model_fields[name].annotation):
            if isinstance(item, type) and issubclass(item, Record) and item is not Provenance:
                below = hidden(item, several=tool.several)
                rows += [
                    (code(f"{name}[].{key}"), of)
                    for key, of in attributes(item).items()
                    if key not in below
                ]
    return rows


def _arguments(schema: Mapping[str, JsonValue]) -> str:
    properties = cast("dict[str, dict[str, JsonValue]]", schema["properties"])
    required = cast("list[str]", schema.get("required", []))
    rows = [
        (
            code(name),
            "required" if name in required else code(json.dumps(value.get("default"))),
            _bounds(value),
            str(value.get("description", "")),
        )
        for name, value in properties.items()
    ]
    return table(("Argument", "Default", "Accepted", "Meaning"), rows)


def _bounds(value: dict[str, JsonValue]) -> str:
    words = {"minimum": "≥ ", "maximum": "≤ ", "minLength": "length ≥ ", "maxLength": "length ≤ "}
    bounds = [f"{word}{value[key]}" for key, word in words.items() if key in value]
    return ", ".join([str(value.get("type", "")), *bounds])

"""Every limit of the package: name, value, and the docstring below the assignment."""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path

import skills_bundle
from facts.markdown import code, sentences, table

SECTION = re.compile(r"^# --- (?P<title>.+?) -+$", re.MULTILINE)
NAME = re.compile(r"^([A-Z][A-Z_0-9]+): Final", re.MULTILINE)
UNITS = {"KIB", "MIB"}


def modules() -> list[str]:
    """Return the dotted names of all modules called `limits`, sorted."""
    root = Path(skills_bundle.__file__).parent
    found = (path.relative_to(root.parent).with_suffix("") for path in root.rglob("limits.py"))
    return sorted(".".join(path.parts) for path in found)


def values() -> dict[str, object]:
    """Return every limit by its name."""
    return {
        name: value
        for module in modules()
        for name, value in vars(importlib.import_module(module)).items()
        if name.isupper() and name not in UNITS
    }


def sections() -> dict[str, str]:
    """Return one Markdown table for each section of those modules, by the section's title."""
    found: dict[str, str] = {}
    for module in modules():
        loaded = importlib.import_module(module)
        source = Path(str(loaded.__file__)).read_text(encoding="utf-8")
        meaning = _meanings(source)
        _, *parts = SECTION.split(source)
        for title, text in zip(parts[::2], parts[1::2], strict=True):
            rows = [
                (code(name), _number(getattr(loaded, name)), meaning[name])
                for name in NAME.findall(text)
            ]
            found[title] = table(("Limit", "Value", "Meaning"), rows)
    return found


def render() -> str:
    """Return all limits, one table a section."""
    return "\n\n".join(f"## {title}\n\n{rows}" for title, rows in sorted(sections().items()))


def _meanings(source: str) -> dict[str, str]:
    """Return each name of a module with the docstring that follows it.

    A name without one shares the docstring of the next name that has one.
    """
    found: dict[str, str] = {}
    waiting: list[str] = []
    for statement in ast.parse(source).body:
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            waiting.append(statement.target.id)
        elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            text = sentences(str(statement.value.value))
            found |= dict.fromkeys(waiting, text)
            waiting = []
    return found


def _number(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)

"""Every bound of `skills_bundle.limits`: name, value, and the docstring below the assignment."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from facts.markdown import code, sentences, table
from skills_bundle import limits

SECTION = re.compile(r"^# --- (?P<title>.+?) -+$", re.MULTILINE)
UNITS = {"KIB", "MIB"}


def table_of(names: dict[str, str]) -> str:
    """Give one table: name, value, meaning."""
    rows = [(code(name), _number(getattr(limits, name)), text) for name, text in names.items()]
    return table(("Limit", "Value", "Meaning"), rows)


def meanings(source: str) -> dict[str, str]:
    """Give each name of a module with the docstring that follows it.

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


def render() -> str:
    """Give all limits, one table a section of the module."""
    source = Path(limits.__file__).read_text(encoding="utf-8")
    named = meanings(source)
    parts: list[str] = []
    titles = list(SECTION.finditer(source))
    ends = [title.start() for title in titles[1:]] + [len(source)]
    for title, end in zip(titles, ends, strict=True):
        names = re.findall(r"^([A-Z][A-Z_0-9]+)\b", source[title.end() : end], re.MULTILINE)
        rows = {name: named[name] for name in names if name not in UNITS}
        parts.append(f"## {_heading(title['title'])}\n\n{table_of(rows)}")
    return "\n\n".join(parts)


def _heading(text: str) -> str:
    return text if text.isupper() else text[0].upper() + text[1:]


def _number(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)

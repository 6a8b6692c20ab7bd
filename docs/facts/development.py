"""The developer's menu, from the docstrings of the noxfile."""

from __future__ import annotations

import ast
from pathlib import Path

from facts.markdown import code, sentences, table

NOXFILE = Path(__file__).parents[2] / "noxfile.py"


def sessions() -> str:
    """Return one row for each session, in the order of the menu."""
    tree = ast.parse(NOXFILE.read_text(encoding="utf-8"))
    rows = [
        (code(f"nox -s {name}"), sentences(ast.get_docstring(node) or ""))
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and (name := _session_name(node))
    ]
    return table(("Command", "Does"), rows)


def _session_name(node: ast.FunctionDef) -> str | None:
    """Return the name under which nox knows a function, or None if it is not a session."""
    for decorator in node.decorator_list:
        if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "nox.session":
            for keyword in decorator.keywords:
                if keyword.arg == "name" and isinstance(keyword.value, ast.Constant):
                    return str(keyword.value.value)
            return node.name
    return None

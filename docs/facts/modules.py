"""The map of the package: every module with the first sentence of its docstring."""

from __future__ import annotations

import ast
from pathlib import Path

import skills_bundle

ROOT = Path(skills_bundle.__file__).parent
ORDER = (
    *("formats", "files", "git", "skills", "archives", "bundle", "project", "installed"),
    *("catalog", "supply_chain", "hatch_plugin", "server", "cli"),
)
"""Packages from the bottom layer to the top."""


def render() -> str:
    """Return one table per package, bottom layer first, then the modules at the top level."""
    parts: list[str] = []
    for package in ORDER:
        parts += [f"### `{package}`", _sentence(ROOT / package / "__init__.py"), _table(package)]
    single = [path for path in sorted(ROOT.glob("*.py")) if path.stem != "__init__"]
    parts += ["### Top level", "Modules that belong to no package.", _rows(single, ROOT)]
    return "\n\n".join(parts)


def _table(package: str) -> str:
    folder = ROOT / package
    return _rows(sorted(path for path in folder.rglob("*.py") if path.stem != "__init__"), folder)


def _rows(paths: list[Path], folder: Path) -> str:
    rows = [
        f"| `{path.relative_to(folder).with_suffix('').as_posix()}` | {_sentence(path)} |"
        for path in paths
    ]
    return "\n".join(["| Module | Contents |", "| --- | --- |", *rows])


def _sentence(path: Path) -> str:
    """Return the first paragraph of a module's docstring on one line."""
    doc = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return " ".join(doc.split("\n\n", maxsplit=1)[0].split()).replace("|", "\\|")

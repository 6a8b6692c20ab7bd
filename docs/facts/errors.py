"""Every code an error carries: error classes, and the exit codes they end a command with."""

from __future__ import annotations

import pkgutil
from importlib import import_module

import skills_bundle
from facts.docstrings import attributes, first_line
from facts.markdown import code, table
from skills_bundle import errors
from skills_bundle.bundle.assemble import Changes
from skills_bundle.cli import failures


def classes() -> str:
    """Return one row for each error class: its code on the command line, exit code, meaning."""
    rows = [
        (code(failures.code_word(kind)), str(kind.exit_code), first_line(kind))
        for kind in _kinds(errors.SkillsBundleError)
    ]
    return table(("Code", "Exit code", "Meaning"), sorted(rows))


def _kinds(above: type[errors.SkillsBundleError]) -> list[type[errors.SkillsBundleError]]:
    """Return every public error class of the package; tool errors have separate codes."""
    for module in pkgutil.walk_packages(skills_bundle.__path__, "skills_bundle."):
        if not module.name.endswith("__main__"):
            import_module(module.name)
    return [
        kind
        for child in above.__subclasses__()
        for kind in (child, *_kinds(child))
        if not kind.__name__.startswith("_") and kind is not errors.ToolError
    ]


def changes() -> str:
    """Return one row for each kind of difference between a lock and the skills."""
    rows = [(code(name), text) for name, text in attributes(Changes).items()]
    return table(("Code", "Meaning"), rows)

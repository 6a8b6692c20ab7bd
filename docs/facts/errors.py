"""Every code an error carries: error classes, and the exit codes they end a command with."""

from __future__ import annotations

import inspect

from facts.docstrings import attributes, first_line
from facts.markdown import code, table
from skills_bundle import errors
from skills_bundle.bundle.changes import Changes
from skills_bundle.cli import failures


def classes() -> str:
    """Give one row an error class: its code word on the command line, exit code, meaning."""
    kinds = [
        kind
        for _, kind in inspect.getmembers(errors, inspect.isclass)
        if issubclass(kind, errors.SkillsBundleError)
        and kind not in (errors.SkillsBundleError, errors.ToolError)
    ]
    rows = [
        (code(failures.code_word(kind)), str(kind.exit_code), first_line(kind)) for kind in kinds
    ]
    return table(("Code", "Exit code", "Meaning"), sorted(rows))


def changes() -> str:
    """Give one row a kind of difference between a lock and the skills."""
    rows = [(code(name), text) for name, text in attributes(Changes).items()]
    return table(("Code", "Meaning"), rows)

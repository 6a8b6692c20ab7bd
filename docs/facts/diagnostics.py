"""Every code a skill can be given, one table a level."""

from __future__ import annotations

from facts.markdown import code, table
from skills_bundle.skills.codes import CODES
from skills_bundle.skills.model import Level

TITLES = {Level.REFUSE: "Refused", Level.WARN: "Warned about"}


def render() -> str:
    """Return both tables: code, the rule that was broken, whose rule it is."""
    return "\n\n".join(f"## {TITLES[level]}\n\n{_table(level)}" for level in Level)


def _table(level: Level) -> str:
    rows = [
        (code(name), known.sentence, known.source)
        for name, known in sorted(CODES.items())
        if known.level is level
    ]
    return table(("Code", "Rule", "Rule of"), rows)

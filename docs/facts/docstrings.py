"""Read the `Attributes:` section of a Google-style docstring."""

from __future__ import annotations

import inspect
import re

from facts.markdown import sentences

ENTRY = re.compile(r"^    (?P<name>\w+): (?P<text>.*(?:\n     +\S.*)*)", re.MULTILINE)


def attributes(kind: type) -> dict[str, str]:
    """Return each attribute a class documents with its text, in the docstring's order."""
    _, _, section = inspect.getdoc(kind).partition("Attributes:\n")  # type: ignore[union-attr]
    return {entry["name"]: sentences(entry["text"]) for entry in ENTRY.finditer(section)}


def first_line(kind: type) -> str:
    """Return the first paragraph of a docstring on one line."""
    return sentences((inspect.getdoc(kind) or "").split("\n\n", maxsplit=1)[0])

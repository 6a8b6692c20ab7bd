"""The build hook's settings: key, default, meaning, from the record that holds them."""

from __future__ import annotations

import json

from facts.docstrings import attributes
from facts.markdown import code, table
from skills_bundle.project import settings

DERIVED = {
    "package": "the normalised project name, `-` and `.` as `_`",
    "collection": "the normalised project name",
}


def render() -> str:
    """Return one row for each setting."""
    meanings = attributes(settings.Settings)
    defaults = settings.defaults("example")
    rows: list[tuple[str, str, str]] = []
    for key in settings.KEYS:
        name = key.replace("-", "_")
        value = getattr(defaults, name)
        default = DERIVED.get(key) or ("none" if value is None else code(json.dumps(value)))
        rows.append((code(key), default, meanings[name]))
    return table(("Key", "Default", "Meaning"), rows)

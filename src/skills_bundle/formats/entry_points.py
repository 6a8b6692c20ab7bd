"""Decision: entry_points.txt, read so strictly that no two tools can read it differently.

Tools disagree on comments, continued lines and on what ends a line: for `importlib.metadata` U+2028
and a form feed do, so that an entry point can stand behind what others take for a comment. Build
backends write none of that; a file with any of it is not read at all.
"""

from __future__ import annotations

import re
from typing import Final

_GROUP: Final = re.compile(r"\[([^\[\]\s]+)\]")


def parse(data: bytes) -> dict[str, dict[str, str]] | None:
    """Give name to object reference, by group.

    Args:
        data: The file's bytes.

    Returns:
        None unless every line is empty, a group in brackets or a name with its reference, each
        group and each name there once.

    Source:
        PyPA, Entry points specification.
    """
    try:
        text = data.decode().replace("\r\n", "\n")
    except UnicodeDecodeError:
        return None
    lines = text.removesuffix("\n").split("\n")
    return _grouped(lines) if text.splitlines() == lines or not text else None


def _grouped(lines: list[str]) -> dict[str, dict[str, str]] | None:
    groups: dict[str, dict[str, str]] = {}
    rows: dict[str, str] | None = None
    for line in filter(None, lines):
        if group := _GROUP.fullmatch(line):
            if group[1] in groups:
                return None
            rows = groups[group[1]] = {}
            continue
        name, sign, value = line.partition("=")
        name, value = name.rstrip(" "), value.strip(" ")
        if rows is None or name in rows or not (sign and _is_plain(name) and _is_plain(value)):
            return None
        rows[name] = value
    return groups


def _is_plain(text: str) -> bool:
    """Tell whether no tool takes a text for a comment, a group or less than it is."""
    return bool(text) and text == text.strip() and text[0] not in "#;["

"""Decision: a difference in words and tables, the most important first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from skills_bundle.cli.view import pretty
from skills_bundle.cli.view.text import count, shortened, size
from skills_bundle.formats.metadata_files import DIST_INFO_SUFFIX
from skills_bundle.installed.location import BUNDLE_FOLDER, SKILLS_FOLDER

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import RenderableType

    from skills_bundle.cli.output import Terminal
    from skills_bundle.cli.view.pretty import Mark
    from skills_bundle.supply_chain.diff import (
        ArchiveDiff,
        Change,
        Difference,
        DiffVerdict,
        FileChange,
        Scope,
        TextDifference,
    )

ROWS_SHOWN: Final = 12
"""Rows of one part without --verbose."""
LINES_SHOWN: Final = 60
"""Lines of all unified diffs without --verbose."""
SHORT_CHARACTERS: Final = 50
"""Characters of two values that share a line."""
VALUE_CHARACTERS: Final = 100
"""Characters of one value of a fact without --verbose."""

MARKS: Final[dict[DiffVerdict, Mark]] = {
    "same": "good",
    "different": "bad",
    "cannot_tell": "unsure",
}
SCOPES: Final[dict[Scope, str]] = {
    "archive": "everything they hold, and how they keep it",
    "distribution": "what is installed",
    "skills": "their skills",
    "files": "all files",
}
STYLES: Final = {"+": "green", "-": "red", "@": "cyan"}


def told(found: Difference, terminal: Terminal, *, everything: bool) -> list[RenderableType]:
    """Give everything about a difference, each part cut unless all of it is wanted."""
    rows = [
        ("A", f"{found.before.kind} {found.before.place}"),
        ("B", f"{found.after.kind} {found.after.place}"),
        ("compared", SCOPES[found.compared]),
        *_skills(found),
    ]
    parts: list[RenderableType] = [
        pretty.marked(MARKS[found.verdict], _headline(found), terminal),
        pretty.facts(rows),
    ]
    most = None if everything else ROWS_SHOWN
    parts += _files(sorted(found.files, key=_weight), terminal, most)
    parts += _texts(found.texts, None if everything else LINES_SHOWN)
    for title, changes in (
        ("Lock", found.lock),
        ("Build receipt", found.receipt),
        ("Metadata", found.metadata),
    ):
        parts += _changes(title, changes, most)
    if found.packing is not None and not found.packing.identical:
        parts += _packing(found.packing, most)
    if found.unread:
        parts.append(pretty.heading("Not read"))
        parts += [pretty.line(f"  {one.path}: {one.message}") for one in found.unread]
    return parts


def _headline(found: Difference) -> str:
    if found.verdict == "same":
        return "A and B are the same"
    if found.verdict == "cannot_tell":
        return "A and B are the same as far as they can be read"
    if found.packing is not None and found.packing.same_content:
        return "A and B hold the same, and keep it differently"
    return "A and B differ"


def _skills(found: Difference) -> list[tuple[str, str]]:
    rows = [
        ("skills added", found.skills_added),
        ("skills removed", found.skills_removed),
        ("skills changed", found.skills_changed),
    ]
    return [(name, ", ".join(paths)) for name, paths in rows if paths]


def _weight(row: FileChange) -> tuple[bool, bool]:
    """Order by what a reader looks for: skills, other files, and last what the build makes."""
    folders = row.path.split("/")[:-1]
    made = bool(folders) and folders[0].endswith(DIST_INFO_SUFFIX)
    return made or folders[-1:] == [BUNDLE_FOLDER], f"/{SKILLS_FOLDER}/" not in f"/{row.path}"


def _files(
    rows: Sequence[FileChange], terminal: Terminal, most: int | None
) -> list[RenderableType]:
    if not rows:
        return []
    columns = [
        pretty.Column("Change", style="bold"),
        pretty.Column("Size", justify="right"),
        pretty.Column("File and SHA-256", ratio=1),
    ]
    table = pretty.table(columns, [_file(row) for row in rows[:most]], terminal)
    return [pretty.heading(count(len(rows), "file")), table, *_more(len(rows), most)]


def _file(row: FileChange) -> tuple[str, str, str]:
    sizes = [size(one) for one in (row.before_size, row.after_size) if one is not None]
    told = f"{row.path} {row.after_sha256 or row.before_sha256}"
    if "changed" in row.kinds:
        told += f", was {row.before_sha256}"
    kinds = [_kind(kind, row) for kind in row.kinds]
    return ", ".join(kinds), " to ".join(dict.fromkeys(sizes)), told


def _kind(kind: str, row: FileChange) -> str:
    if kind != "executable":
        return kind
    return "made executable" if row.after_executable else "no longer executable"


def _more(number: int, most: int | None) -> list[RenderableType]:
    if most is None or number <= most:
        return []
    return [pretty.line(f"and {number - most:,} more; --verbose lists all")]


def _changes(title: str, changes: Sequence[Change], most: int | None) -> list[RenderableType]:
    if not changes:
        return []
    parts: list[RenderableType] = [pretty.heading(title)]
    for change in changes[:most]:
        before, after = (_value(one, most) for one in (change.before, change.after))
        if len(before) + len(after) <= SHORT_CHARACTERS:
            parts.append(pretty.unbroken(f"  {change.name}: {before} to {after}"))
            continue
        rows = [f"  {change.name}:", f"  - {before}", f"  + {after}"]
        parts += [pretty.unbroken(row, style=STYLES.get(row[2], "")) for row in rows]
    return [*parts, *_more(len(changes), most)]


def _value(value: str | None, most: int | None) -> str:
    if value is None:
        return "none"
    return value if most is None else shortened(value, VALUE_CHARACTERS)


def _packing(packing: ArchiveDiff, most: int | None) -> list[RenderableType]:
    """Tell how two archives keep what they hold: facts of many files in one row each."""
    parts = _changes("Archive", packing.wrapping, most)
    facts: dict[str, list[tuple[str, Change]]] = {}
    for entry in packing.entries:
        for change in entry.changes:
            facts.setdefault(change.name, []).append((entry.path, change))
    if facts:
        parts.append(pretty.heading("How files are kept"))
        parts += [pretty.line(f"  {_kept(name, rows)}") for name, rows in facts.items()]
    if packing.folders:
        listed = [(row.name, "B" if row.before is None else "A") for row in packing.folders]
        only = ", ".join(f"{path} ({side})" for path, side in listed[:most])
        parts.append(pretty.line(f"  folders that one of them lists: {only}"))
    return parts


def _kept(name: str, rows: Sequence[tuple[str, Change]]) -> str:
    path, change = rows[0]
    before, after = (change.before or "-", change.after or "-")
    return f"{name}: {count(len(rows), 'entry', 'entries')}, as {path}: {before} to {after}"


def _texts(texts: Iterable[TextDifference], most: int | None) -> list[RenderableType]:
    """Give the unified diffs."""
    lines = [line for text in texts for line in (*text.lines, *(["..."] if text.cut else []))]
    if not lines:
        return []
    parts: list[RenderableType] = [pretty.heading("Lines")]
    parts += [pretty.unbroken(line, style=STYLES.get(line[:1], "")) for line in lines[:most]]
    if most is not None and len(lines) > most:
        parts.append(pretty.line(f"and {len(lines) - most:,} more lines; --verbose shows them"))
    return parts

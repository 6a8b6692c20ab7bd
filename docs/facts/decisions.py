"""The list of decision records, from their headings."""

from __future__ import annotations

from pathlib import Path

RECORDS = Path(__file__).parent.parent / "decisions"


def index() -> str:
    """Return one line for each record: number, title, link."""
    return "\n".join(_line(file) for file in sorted(RECORDS.glob("[0-9]*.md")))


def _line(file: Path) -> str:
    title = file.read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")
    return f"* {file.name[:4]}: [{title}]({file.name})"

"""Decision: words and tables that every command shares which verifies a bundle."""

from __future__ import annotations

from itertools import starmap
from typing import TYPE_CHECKING, Final, TypeAlias

from skills_bundle.cli.view import claims, pretty, proof_words
from skills_bundle.cli.view.text import count, size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

    from skills_bundle.bundle.document_report import DocumentReport
    from skills_bundle.bundle.file_rows import FileRow
    from skills_bundle.bundle.sbom import SbomState
    from skills_bundle.bundle.verify import Verdict, Verification
    from skills_bundle.cli.output import Terminal
    from skills_bundle.cli.view.pretty import Mark
    from skills_bundle.supply_chain.archive.verify import ArchiveVerification

    Verified: TypeAlias = Verification | ArchiveVerification

ROWS_SHOWN: Final = 12
"""Differing files shown without --verbose, so that the summary stays on one screen."""

MARKS: Final[dict[Verdict, Mark]] = {"match": "good", "differs": "bad", "cannot_tell": "unsure"}

SBOM_WORDS: Final[dict[SbomState, str]] = {
    "follows": "ok: lock and receipt give the same bytes",
    "differs": "altered: lock and receipt give other bytes",
    "not_compared": "not compared: nothing to compare it with, or another version's form",
}
"""What to say of a bill of materials; nothing if there is none."""


def every_file(found: Verified) -> list[RenderableType]:
    """List every file with its digest, as `sha256sum` does."""
    parts: list[RenderableType] = [pretty.heading("SHA-256, path and state of every file")]
    parts += [pretty.unbroken(_listed(row)) for row in found.files if row.state != "tolerated"]
    if "tolerated" in found.counts:
        cached = counted("tolerated", found.counts["tolerated"])
        parts.append(pretty.line(f"and {cached}, which --json lists"))
    return parts


def claim_rows(found: Verified) -> list[tuple[str, str]]:
    """Give the claims, after the commit what the proof makes of it; without a lock, the gaps."""
    if found.provenance is None:
        return list(zip(["gap"] * len(found.gaps), found.notes, strict=True))
    rows: list[tuple[str, str]] = []
    for row in claims.rows(found.provenance):  # the lock's digest has its row above
        rows += [] if row[0] == claims.LOCK_ROW else [row]
        rows += [proof_words.row(found.proof)] if row[0] == "commit" else []
    return rows


def files_row(found: Verified) -> tuple[str, str]:
    """Give the number of files in each state."""
    return "files", ", ".join(starmap(counted, found.counts.items())) or "none"


def counted(state: str, number: int) -> str:
    """Give a number of files with their state in words."""
    if state == "tolerated":
        return count(number, "byte-code cache")
    return f"{number:,} {state.replace('_', ' ')}"


def document_rows(name: str, report: DocumentReport) -> list[tuple[str, str]]:
    """Give rows for lock, receipt or RECORD: the state, the digest, and why it is not `ok`."""
    confirmed = report.sha256 is not None and report.sha256 == report.recorded_sha256
    rows = [(name, f"{report.state}{', as RECORD has it' if confirmed else ''}")]
    if report.sha256 is not None:
        rows.append(("  sha256", report.sha256))
    return [*rows, *(("  because", problem.message) for problem in report.problems)]


def bill_rows(found: Verified) -> list[tuple[str, str]]:
    """Give a row for the bill of materials, if there is one."""
    words = SBOM_WORDS.get(found.sbom)
    return [] if words is None else [("SBOM", words)]


def differences(found: Verified, terminal: Terminal, *, everything: bool) -> list[RenderableType]:
    """Give a table of the files that somebody has something against, or nothing."""
    rows = found.differences
    if not rows:
        return []
    shown = rows if everything else rows[:ROWS_SHOWN]
    parts: list[RenderableType] = [
        pretty.heading(f"{count(len(rows), 'file')} with something against"),
        _file_table(shown, terminal),
    ]
    if len(shown) < len(rows):
        parts.append(pretty.line(f"and {len(rows) - len(shown):,} more; --verbose lists all"))
    return parts


def _file_table(rows: Sequence[FileRow], terminal: Terminal) -> RenderableType:
    columns = [
        pretty.Column("State", style="bold"),
        pretty.Column("Size", justify="right"),
        pretty.Column("File and SHA-256", ratio=1),
    ]
    return pretty.table(columns, [_file_row(row) for row in rows], terminal)


def _file_row(row: FileRow) -> tuple[str, str, str]:
    against = f" (says {' and '.join(row.contradicted_by)})" if row.contradicted_by else ""
    digest = row.found_sha256 or "-"
    if row.expected_sha256 not in {None, row.found_sha256}:
        digest = f"{digest}, not {row.expected_sha256}"
    sizes = "-" if row.found_size is None else size(row.found_size)
    return row.state + against, sizes, f"{row.path} {digest}"


def _listed(row: FileRow) -> str:
    """Give a file as `sha256sum` lists it, followed by its state unless all is well."""
    state = "" if row.state == "ok" else f"  [{row.state}]"
    return f"{row.found_sha256 or '-' * 64}  {row.path}{state}"

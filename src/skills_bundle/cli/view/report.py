"""Decision: the report that all commands share which compare files: lines, tables, wording.

Wording claims no more than was checked: *verified* was recomputed here, *recorded* and *asserted*
are what a receipt or a setting says.
"""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import starmap
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from skills_bundle.bundle.provenance import GAP_SENTENCES
from skills_bundle.cli.failures import EXIT_CANNOT_TELL, EXIT_OK, EXIT_WRONG
from skills_bundle.cli.view import pretty
from skills_bundle.cli.view.text import count, size

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import RenderableType

    from skills_bundle.bundle.documents import DocumentReport
    from skills_bundle.bundle.proof_report import Absence, ProofLink, ProofReport
    from skills_bundle.bundle.provenance import Provenance
    from skills_bundle.bundle.sbom import SbomState
    from skills_bundle.bundle.verification import FileRow, Verification
    from skills_bundle.cli.output import Terminal
    from skills_bundle.cli.view.pretty import Mark
    from skills_bundle.supply_chain.archive.verify import ArchiveVerification
    from skills_bundle.supply_chain.signature import SignatureReport

    BundleReport: TypeAlias = Verification | ArchiveVerification

MAX_ROWS: Final = 12
"""Rows of a table without --verbose, so that the report fits on one screen."""

MARKS: Final[dict[int, Mark]] = {EXIT_OK: "good", EXIT_WRONG: "bad", EXIT_CANNOT_TELL: "unsure"}
"""The sign before a headline, by the exit code."""

_SBOM: Final[dict[SbomState, str]] = {
    "follows": "ok: lock and receipt give the same bytes",
    "differs": "changed: lock and receipt give different bytes",
    "not_compared": "not compared: lock or receipt is missing, or it has another version's format",
}
_NO_PROOF: Final[dict[Absence, str]] = {
    "no_receipt": "none: there is no receipt",
    "receipt_not_believed": "none: the receipt is not valid",
    "no_commit": "none: the receipt names no commit",
    "left_out": "none in the receipt: disabled by a setting, or too long",
}


class FileLine(NamedTuple):
    """One file in a table.

    Attributes:
        state: What was found, in words.
        text: Path, digests and details.
        size: Its size in words, "" where it is not known.
    """

    state: str
    text: str
    size: str = ""


def summary(
    exit_code: int, headline: str, rows: Iterable[tuple[str, str]], terminal: Terminal
) -> list[RenderableType]:
    """Return the first part of a report: the headline, and what it is based on."""
    return [pretty.marked(MARKS[exit_code], headline, terminal), pretty.facts(rows)]


def file_table(
    title: str, rows: Sequence[FileLine], terminal: Terminal, *, everything: bool
) -> list[RenderableType]:
    """Return a table of files, cut unless everything is wanted; nothing if there are none."""
    if not rows:
        return []
    with_sizes = any(row.size for row in rows)
    columns = [
        pretty.Column("State", style="bold"),
        *([pretty.Column("Size", justify="right")] if with_sizes else []),
        pretty.Column("File and digest", ratio=1),
    ]
    kept = rows if everything else rows[:MAX_ROWS]
    cells = [(row.state, row.size, row.text) if with_sizes else row[:2] for row in kept]
    return [
        pretty.heading(title),
        pretty.table(columns, cells, terminal),
        *more(len(rows) - len(kept)),
    ]


def more(number: int, noun: str = "") -> list[RenderableType]:
    """Return the line about rows that were left out; nothing if there are none."""
    if number <= 0:
        return []
    return [pretty.line(f"and {number:,} more{noun and f' {noun}'}; --verbose shows all")]


def bundle_rows(report: BundleReport) -> list[tuple[str, str]]:
    """Return the lines about lock, receipt, RECORD, files and provenance."""
    return [
        *_document_rows("lock", report.lock),
        *_document_rows("receipt", report.receipt),
        *([] if report.record is None else _document_rows("RECORD", report.record)),
        *([("SBOM", _SBOM[report.sbom])] if report.sbom in _SBOM else []),
        ("files", ", ".join(starmap(_counted, report.counts.items())) or "none"),
        *_claim_rows(report),
    ]


def _document_rows(name: str, report: DocumentReport) -> list[tuple[str, str]]:
    confirmed = report.sha256 is not None and report.sha256 == report.recorded_sha256
    rows = [(name, f"{report.state}{', matches RECORD' if confirmed else ''}")]
    if report.sha256 is not None:
        rows.append(("  sha256", report.sha256))
    return [*rows, *(("  because", problem.message) for problem in report.problems)]


def _counted(state: str, number: int) -> str:
    if state == "tolerated":
        return count(number, "byte-code cache")
    return f"{number:,} {state.replace('_', ' ')}"


def _claim_rows(report: BundleReport) -> list[tuple[str, str]]:
    """Return the provenance, with the proof after the commit; without a lock, the gaps."""
    if report.provenance is None:
        return [("gap", note) for note in report.notes]
    rows: list[tuple[str, str]] = []
    for row in provenance_rows(report.provenance)[2:]:  # package and lock have rows above
        rows += [row, *([("proof", _proof(report.proof))] if row[0] == "commit" else [])]
    return [("package", _package(report.provenance)), *rows]


def differing_files(
    report: BundleReport, terminal: Terminal, *, everything: bool
) -> list[RenderableType]:
    """Return a table of the files that differ from lock, RECORD or receipt."""
    rows = [_file_line(row) for row in report.differences]
    noun = "file differs" if len(rows) == 1 else "files differ"
    return file_table(f"{len(rows):,} {noun}", rows, terminal, everything=everything)


def _file_line(row: FileRow) -> FileLine:
    by = f" (from {' and '.join(row.contradicted_by)})" if row.contradicted_by else ""
    digest = row.found_sha256 or "-"
    if row.expected_sha256 not in {None, row.found_sha256}:
        digest = f"{digest}, expected {row.expected_sha256}"
    found = "-" if row.found_size is None else size(row.found_size)
    return FileLine(row.state.replace("_", " ") + by, f"{row.path} {digest}", found)


def every_file(report: BundleReport) -> list[RenderableType]:
    """Return every file with its digest, as `sha256sum` prints them, and its state if not ok."""
    parts: list[RenderableType] = [pretty.heading("SHA-256, path and state of every file")]
    for row in report.files:
        if row.state != "tolerated":
            state = "" if row.state == "ok" else f"  [{row.state}]"
            parts.append(pretty.unbroken(f"{row.found_sha256 or '-' * 64}  {row.path}{state}"))
    if "tolerated" in report.counts:
        caches = _counted("tolerated", report.counts["tolerated"])
        parts.append(pretty.line(f"and {caches}; --json lists them"))
    return parts


def provenance_rows(provenance: Provenance) -> list[tuple[str, str]]:
    """Return what is known about an answer's source, one claim a row."""
    claims = provenance.source_provenance
    commit = provenance.resolved_git_sha
    return [
        ("package", _package(provenance)),
        ("lock sha256", provenance.catalog_sha256),
        (
            "integrity",
            "verified: the bytes match the lock"
            if claims.integrity == "verified"
            else "unavailable: the bytes were not shown to match a lock",
        ),
        ("commit", "unavailable: not recorded" if commit is None else asserted(commit)),
        ("ref", ref(provenance.source_ref, commit)),
        (
            "build",
            "recorded: a clean checkout of this commit"
            if claims.build_verification == "verified"
            else "unavailable: no record of a clean checkout",
        ),
        *(("gap", f"{GAP_SENTENCES[code]} [{code}]") for code in provenance.gaps),
    ]


def _package(provenance: Provenance) -> str:
    package = f"{provenance.package_name} {provenance.package_version}"
    return f"{package}, collection {provenance.collection}"


def asserted(commit: str) -> str:
    """Return a commit with its standing."""
    return f"asserted, not proved: {commit}"


def ref(name: str | None, commit: str | None) -> str:
    """Return a ref with its origin.

    Args:
        name: The ref; without a configured one, the commit or None.
        commit: The commit beside it.
    """
    if name is not None and name != commit:
        return f"configured, not looked up: {name}"
    return "unavailable: not recorded" if commit is None else "none configured; see the commit"


def _proof(report: ProofReport) -> str:
    if report.reason is not None:
        return _NO_PROOF[report.reason]
    if report.state == "refused":
        return "refused: it is not valid"
    folder = "the skills folder" if report.folder is None else report.folder
    extent = f"{count(len(report.links), 'git object')}, {size(report.size)}"
    if report.state == "chain_only":
        return f"from the commit to the tree of {folder}, but not to these files; {extent}"
    return f"verified from the commit to the files in {folder}; {extent}"


def proof_section(report: ProofReport) -> list[RenderableType]:
    """Return everything about a proof: each object with its id, and what is not proved."""
    rows = [(_link_name(link), f"{link.id}, {size(link.size)}") for link in report.links]
    if report.skills_tree is not None:
        folder = "skills" if report.folder is None else f"skills, {report.folder}"
        rows.append((folder, report.skills_tree))
    texts = [("proved", report.shows), *(("not proved", text) for text in report.not_shown)]
    title = pretty.heading("What the receipt's proof shows")
    return [title, *([pretty.facts(rows)] if rows else []), pretty.facts(texts)]


def _link_name(link: ProofLink) -> str:
    if not link.names:
        return "commit" if link.kind == "commit" else "top folder"
    return f"folder {' or '.join(link.names)}"


def signature_section(
    report: SignatureReport, terminal: Terminal, subject: str = "signature of the commit"
) -> list[RenderableType]:
    """Return the result of a signature check: one line, and what it is based on."""
    rows: list[tuple[str, str]] = []
    if report.principal is not None:
        rows.append(("signer", f"{report.principal}, from the file of allowed signers"))
    if report.fingerprint is not None:
        rows.append(("key", f"{report.key_type} {report.fingerprint}"))
    if report.committed is not None and report.fingerprint is not None:
        rows.append(("valid at", f"{_time(report.committed)}, the commit's own date"))
    rows += [("because" if report.exit_code else "note", note) for note in report.notes]
    says = report.says[0].lower() + report.says[1:].rstrip(".")
    line = pretty.marked(MARKS[report.exit_code], f"{subject}: {says}", terminal)
    return [line, *([pretty.facts(rows)] if rows else [])]


def _time(seconds: int) -> str:
    """Return a time for people; one that no calendar has, as a number."""
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    except (OverflowError, ValueError, OSError):
        return f"{seconds} seconds after 1970"

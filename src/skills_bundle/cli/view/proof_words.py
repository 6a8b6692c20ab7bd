"""Decision: what a receipt's proof shows, in words for people; for every command that tells it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from skills_bundle.cli.view import pretty
from skills_bundle.cli.view.text import count, size

if TYPE_CHECKING:
    from rich.console import RenderableType

    from skills_bundle.bundle.proof_report import Absence, ProofLink, ProofReport

_NONE: Final[dict[Absence, str]] = {
    "no_receipt": "none: there is no receipt",
    "receipt_not_believed": "none: the receipt cannot be believed",
    "no_commit": "none: the receipt names no commit",
    "left_out": "none in the receipt: by setting, or too long",
}


def row(report: ProofReport) -> tuple[str, str]:
    """Give name and value of the one row of a summary."""
    return "proof", _summary(report)


def _summary(report: ProofReport) -> str:
    if report.reason is not None:
        return _NONE[report.reason]
    if report.state == "refused":
        return "refused: it does not hold"
    where = "the skills folder" if report.folder is None else report.folder
    extent = f"{count(len(report.links), 'git object')}, {size(report.size)}"
    if report.state == "chain_only":
        return f"from the commit to the tree of {where}, not to these files; {extent}"
    return f"recomputed here from the commit to the files of {where}; {extent}"


def section(report: ProofReport) -> list[RenderableType]:
    """Give everything about a proof: each object with its id, and what does not follow."""
    rows = [(_name(link), f"{link.id}, {size(link.size)}") for link in report.links]
    if report.skills_tree is not None:
        where = "skills" if report.folder is None else f"skills, {report.folder}"
        rows.append((where, report.skills_tree))
    words = [("shows", report.shows), *(("not shown", text) for text in report.not_shown)]
    title = pretty.heading("What the receipt's proof shows")
    return [title, *([pretty.facts(rows)] if rows else []), pretty.facts(words)]


def _name(link: ProofLink) -> str:
    if not link.names:
        return "commit" if link.kind == "commit" else "its top"
    return f"folder {' or '.join(link.names)}"

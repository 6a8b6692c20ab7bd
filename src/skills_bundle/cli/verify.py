"""Edge: `verify`, the installation compared with its lock, on one screen or as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

from skills_bundle.bundle.explain import explain as explanations
from skills_bundle.cli import claims, installers, pretty, proof_words, signed_by
from skills_bundle.cli.collection import collection_option
from skills_bundle.cli.framework import Command, Example, json_option, pass_output
from skills_bundle.cli.text import count, size
from skills_bundle.wiring import finder, verify_installation

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from rich.console import RenderableType

    from skills_bundle.bundle.document_report import DocumentReport
    from skills_bundle.bundle.file_rows import FileRow
    from skills_bundle.bundle.sbom import SbomState
    from skills_bundle.bundle.verify import Verdict, Verification
    from skills_bundle.cli.output import Output, Terminal
    from skills_bundle.cli.pretty import Mark
    from skills_bundle.supply_chain.commit_signature import SignatureReport

ROWS_SHOWN: Final = 12
"""Differing files shown without --verbose, so that the summary stays on one screen."""

MARKS: Final[dict[Verdict, Mark]] = {"match": "good", "differs": "bad", "cannot_tell": "unsure"}
HEADLINES: Final[dict[Verdict, str]] = {
    "match": "every file is the one that was locked",
    "differs": "this is not what was installed",
    "cannot_tell": "cannot tell whether this is what was locked",
}

SBOM_WORDS: Final[dict[SbomState, str]] = {
    "follows": "ok: lock and receipt give the same bytes",
    "differs": "altered: lock and receipt give other bytes",
    "not_compared": "not compared: nothing to compare it with, or another version's form",
}
"""What to say of a bill of materials; nothing if there is none."""


@click.command(
    cls=Command,
    help="""Compare this installation with its lock.

    Every installed file is hashed and compared with the lock and with RECORD. Only the running
    environment is looked at, never the working directory; nothing is written, no network is used.
    With --collection it is the installation of the package that carries this collection.
    With --signed-by, `ssh-keygen` is asked whether an allowed signer signed the receipt's commit.
    """,
    examples=[
        Example("One screen, and the exit code:", "skills-bundle verify"),
        Example("What each claim rests on:", "skills-bundle verify --explain"),
        Example("Another installed collection:", "skills-bundle verify --collection skills-bundle"),
        Example("Every file with its digest, for programs:", "skills-bundle verify --json"),
    ],
    exit_codes={
        0: "the bytes match, also when their source is not known; signed, if asked for",
        1: "something changed, is missing, became a link, or nobody lists it; or not so signed",
        2: "wrong arguments, or a collection that is not installed",
        3: "cannot tell: lock or receipt missing, something unreadable, or no plain installation; "
        "or a signature that cannot be checked",
    },
)
@click.option("--explain", is_flag=True, help="Say what each claim rests on and does not prove.")
@click.option("--verbose", is_flag=True, help="List every file with its size and digest.")
@signed_by.signed_by_option
@collection_option
@json_option
@pass_output
def verify(
    output: Output, *, explain: bool, verbose: bool, collection: str | None, signers: Path | None
) -> int:
    """Compare this installation with its lock."""
    found = verify_installation(find=finder(collection))
    signature = None if signers is None else signed_by.check(found.proof, signers)
    code = signed_by.worst(found.exit_code, 0 if signature is None else signature.exit_code)
    if output.as_json:
        output.json(_document_of(found, signature, explain=explain))
        return code
    terminal = output.terminal
    parts = [*_summary(found, terminal), *_differences(found, terminal, everything=verbose)]
    if signature is not None:
        parts += signed_by.section(signature, terminal)
    if verbose:
        parts += _every_file(found)
    if explain:
        parts += _explanation(found)
    output.text(pretty.render(parts, terminal))
    if found.exit_code:
        output.note(_next_step(found))
    return code


def _document_of(
    found: Verification, signature: SignatureReport | None, *, explain: bool
) -> dict[str, Any]:
    document = found.to_dict()
    if signature is not None:
        document["signature"] = signature.model_dump(mode="json")
    if explain:
        document["explanations"] = [row.model_dump(mode="json") for row in explanations(found)]
    return document


def _every_file(found: Verification) -> list[RenderableType]:
    parts: list[RenderableType] = [pretty.heading("SHA-256, path and state of every file")]
    parts += [pretty.unbroken(_listed(row)) for row in found.files if row.state != "tolerated"]
    if "tolerated" in found.counts:
        cached = _counted("tolerated", found.counts["tolerated"])
        parts.append(pretty.line(f"and {cached}, which --json lists"))
    return parts


def _summary(found: Verification, terminal: Terminal) -> list[RenderableType]:
    headline = f"{found.package_name} {found.package_version}: {HEADLINES[found.verdict]}"
    files = ", ".join(_counted(state, number) for state, number in found.counts.items())
    rows = [
        ("folder", found.location),
        *_document("lock", found.lock),
        *_document("receipt", found.receipt),
        *_document("RECORD", found.record),
        *_bill(found),
        ("files", files or "none"),
    ]
    if found.provenance is None:
        rows += list(zip(["gap"] * len(found.gaps), found.notes, strict=True))
    else:  # the lock's digest has its row above
        rows += _claims(found)
    return [pretty.marked(MARKS[found.verdict], headline, terminal), pretty.facts(rows)]


def _claims(found: Verification) -> list[tuple[str, str]]:
    """Give the claims of the provenance block, and after the commit what the proof makes of it."""
    rows: list[tuple[str, str]] = []
    for row in () if found.provenance is None else claims.rows(found.provenance):
        rows += [] if row[0] == claims.LOCK_ROW else [row]
        rows += [proof_words.row(found.proof)] if row[0] == "commit" else []
    return rows


def _counted(state: str, number: int) -> str:
    """Give a number of files with their state in words."""
    if state == "tolerated":
        return count(number, "byte-code cache")
    return f"{number:,} {state.replace('_', ' ')}"


def _document(name: str, report: DocumentReport) -> list[tuple[str, str]]:
    confirmed = report.sha256 is not None and report.sha256 == report.recorded_sha256
    rows = [(name, f"{report.state}{', as RECORD has it' if confirmed else ''}")]
    if report.sha256 is not None:
        rows.append(("  sha256", report.sha256))
    return [*rows, *(("  because", problem.message) for problem in report.problems)]


def _bill(found: Verification) -> list[tuple[str, str]]:
    """Give a row for the bill of materials, if there is one."""
    words = SBOM_WORDS.get(found.sbom)
    return [] if words is None else [("SBOM", words)]


def _differences(
    found: Verification, terminal: Terminal, *, everything: bool
) -> list[RenderableType]:
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


def _explanation(found: Verification) -> list[RenderableType]:
    parts: list[RenderableType] = [pretty.heading("What each field rests on")]
    for row in explanations(found):
        parts.append(pretty.unbroken(f"{row.field}: {row.value or '-'}", style="bold"))
        basis = [
            ("checked", row.checked),
            ("asserted", row.asserted),
            ("not proved", row.not_proved),
        ]
        parts.append(pretty.facts(basis))
    return [*parts, *proof_words.section(found.proof)]


def _next_step(found: Verification) -> str:
    if found.verdict == "differs":
        wanted = f"{found.package_name}=={found.package_version}"
        return f"To mend it: {installers.reinstall_command(wanted, installers.here())}"
    if found.layout == "source":
        return "This is a source checkout; install a wheel to have something that can be verified."
    if found.layout == "linked":
        return "Install without links (uv: --link-mode copy) to have files that can be verified."
    unread = {"unreadable_files", "unseen_entries", "record_unreadable"}.intersection(found.gaps)
    if unread or "unreadable" in {found.lock.state, found.receipt.state}:
        return "Verify it as a user who may read and list everything in the folder named above."
    return "Install the distribution again to have a lock and a receipt that can be read."

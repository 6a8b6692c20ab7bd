"""Edge: `verify`, the installation compared with its lock, on one screen or as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

from skills_bundle.bundle.explain import explain as explanations
from skills_bundle.cli import installers, signed_by
from skills_bundle.cli.collection import collection_option
from skills_bundle.cli.framework import Command, Example, json_option, pass_output
from skills_bundle.cli.view import pretty, proof_words
from skills_bundle.cli.view.verification import (
    MARKS,
    bill_rows,
    claim_rows,
    differences,
    document_rows,
    every_file,
    files_row,
)
from skills_bundle.wiring import finder, verify_installation

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import RenderableType

    from skills_bundle.bundle.verify import Verdict, Verification
    from skills_bundle.cli.output import Output, Terminal
    from skills_bundle.supply_chain.signature import SignatureReport

HEADLINES: Final[dict[Verdict, str]] = {
    "match": "every file is the one that was locked",
    "differs": "this is not what was installed",
    "cannot_tell": "cannot tell whether this is what was locked",
}


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
    parts = [*_summary(found, terminal), *differences(found, terminal, everything=verbose)]
    if signature is not None:
        parts += signed_by.section(signature, terminal)
    if verbose:
        parts += every_file(found)
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


def _summary(found: Verification, terminal: Terminal) -> list[RenderableType]:
    headline = f"{found.package_name} {found.package_version}: {HEADLINES[found.verdict]}"
    rows = [
        ("folder", found.location),
        *document_rows("lock", found.lock),
        *document_rows("receipt", found.receipt),
        *document_rows("RECORD", found.record),
        *bill_rows(found),
        files_row(found),
        *claim_rows(found),
    ]
    return [pretty.marked(MARKS[found.verdict], headline, terminal), pretty.facts(rows)]


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

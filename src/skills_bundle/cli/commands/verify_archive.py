"""Edge: `verify-wheel` and `verify-sdist`, a file compared with the lock and receipt it carries."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from skills_bundle.archives.reading import open_archive
from skills_bundle.cli import signed_by
from skills_bundle.cli.framework import Command, Example, json_option, pass_output
from skills_bundle.cli.view import pretty, proof_words
from skills_bundle.cli.view.progress import patience
from skills_bundle.cli.view.text import size
from skills_bundle.cli.view.verification import (
    MARKS,
    bill_rows,
    claim_rows,
    differences,
    document_rows,
    every_file,
    files_row,
)
from skills_bundle.supply_chain.archive.contents import contents_of
from skills_bundle.supply_chain.archive.verify import verify

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import RenderableType

    from skills_bundle.archives.model import ArchiveKind
    from skills_bundle.bundle.verify import Verdict
    from skills_bundle.cli.output import Output, Terminal
    from skills_bundle.supply_chain.archive.verify import ArchiveVerification, Form

HEADLINES: Final[dict[Verdict, str]] = {
    "match": "every file is the one that was locked and recorded",
    "differs": "this is not what was built",
    "cannot_tell": "cannot tell whether this is what was built",
}
FORMS: Final[dict[Form, str]] = {
    "canonical": "as the build writes it",
    "other": "packed by another tool: modes, dates and order are confirmed by nobody",
    "partly": "changed after the build: some members are kept otherwise than the rest",
}
PAGE: Final = "docs/how-to/verify-a-release.md"
"""Where the files of the examples are made."""
EXIT_CODES: Final = {
    0: "the bytes match, also when their source is not known; signed, if asked for",
    1: "something changed, is missing, or nobody lists it; it is refused; or not so signed",
    2: "wrong arguments",
    3: "cannot tell: no such archive, no lock or receipt in it, or a signature that cannot be "
    "checked",
}


def _options(function: Callable[..., int]) -> Callable[..., int]:
    """Give a command the argument and the options that both have."""
    for add in (
        pass_output,
        json_option,
        signed_by.signed_by_option,
        click.option("--verbose", is_flag=True, help="List every file with its size and digest."),
        click.argument("file", metavar="FILE", type=click.Path(path_type=Path)),
    ):
        function = add(function)
    return function


@click.command(
    cls=Command,
    name="verify-wheel",
    help="""Compare a wheel with the lock and the receipt it carries.

    Every member is compared with RECORD, every skill with the lock, the receipt with lock, metadata
    and its own proof. A wheel in which two tools could see two things is refused, with every
    member that is to blame. Nothing is unpacked to disk, and none of its code runs.
    """,
    examples=[
        Example(
            "Before installing it:",
            "skills-bundle verify-wheel skills_bundle-0.1.0-py3-none-any.whl",
            PAGE,
        ),
        Example(
            "Every file with its digest, for programs:",
            "skills-bundle verify-wheel skills_bundle-0.1.0-py3-none-any.whl --json",
            PAGE,
        ),
    ],
    exit_codes=EXIT_CODES,
)
@_options
def verify_wheel(output: Output, *, file: Path, verbose: bool, signers: Path | None) -> int:
    """Compare a wheel with the lock and the receipt it carries."""
    return _verify(output, file, "wheel", verbose=verbose, signers=signers)


@click.command(
    cls=Command,
    name="verify-sdist",
    help="""Compare an sdist with the lock and the receipt it carries.

    The receipt's digest of everything the build read is recomputed from the members, every skill is
    compared with the lock. An sdist in which two tools could see two things is refused, with every
    member that is to blame. Nothing is unpacked to disk, and none of its code runs.
    """,
    examples=[
        Example("Before building it:", "skills-bundle verify-sdist acme_skills-1.2.tar.gz", PAGE),
        Example("For programs:", "skills-bundle verify-sdist acme_skills-1.2.tar.gz --json", PAGE),
    ],
    exit_codes=EXIT_CODES,
)
@_options
def verify_sdist(output: Output, *, file: Path, verbose: bool, signers: Path | None) -> int:
    """Compare an sdist with the lock and the receipt it carries."""
    return _verify(output, file, "sdist", verbose=verbose, signers=signers)


def _verify(
    output: Output, file: Path, kind: ArchiveKind, *, verbose: bool, signers: Path | None
) -> int:
    with patience(output, "Reading the archive ..."):
        found = verify(contents_of(open_archive(file, kind=kind)))
    signature = None if signers is None else signed_by.check(found.proof, signers)
    code = signed_by.worst(found.exit_code, 0 if signature is None else signature.exit_code)
    if output.as_json:
        document: dict[str, Any] = found.to_dict()
        if signature is not None:
            document["signature"] = signature.model_dump(mode="json")
        output.json(document)
        return code
    terminal = output.terminal
    parts = [*_summary(found, terminal), *_against(found, terminal, everything=verbose)]
    if signature is not None:
        parts += signed_by.section(signature, terminal)
    if verbose:
        parts += [*every_file(found), *proof_words.section(found.proof)]
    output.text(pretty.render(parts, terminal))
    if found.exit_code:
        output.note(_next_step(found))
    return code


def _summary(found: ArchiveVerification, terminal: Terminal) -> list[RenderableType]:
    headline = f"{found.file_name}: {HEADLINES[found.verdict]}"
    rows = [
        ("sha256", found.sha256),
        ("size", size(found.size)),
        ("form", FORMS[found.form]),
        *document_rows("lock", found.lock),
        *document_rows("receipt", found.receipt),
        *([] if found.record is None else document_rows("RECORD", found.record)),
        *bill_rows(found),
        files_row(found),
        *claim_rows(found),
    ]
    return [pretty.marked(MARKS[found.verdict], headline, terminal), pretty.facts(rows)]


def _against(
    found: ArchiveVerification, terminal: Terminal, *, everything: bool
) -> list[RenderableType]:
    """Give what speaks against the archive, then against its files."""
    parts: list[RenderableType] = []
    if found.problems:
        parts.append(pretty.heading("What is wrong besides"))
        parts += [
            pretty.line(f"  {one.path}: {one.message} [{one.code}]") for one in found.problems
        ]
    if found.verdict == "cannot_tell" and not (everything or _is_readable(found)):
        return parts  # every file would be listed as confirmed by nobody
    return [*parts, *differences(found, terminal, everything=everything)]


def _is_readable(found: ArchiveVerification) -> bool:
    return found.lock.state == found.receipt.state == "ok"


def _next_step(found: ArchiveVerification) -> str:
    if found.verdict == "differs":
        return (
            "Do not install it. Get it again from where it was released, and compare the sha256 "
            "above with the one named there."
        )
    if found.lock.state == "missing":
        return (
            "Build it again with the skills-bundle build hook and without HATCH_BUILD_NO_HOOKS, or "
            "get a released one."
        )
    if _is_readable(found):
        return (
            "The build makes the unconfirmed files for an sdist alone, and no receipt speaks of "
            "them. Compare the sha256 above with the one named where it was released."
        )
    return "Get a released one: what this one carries cannot be read."

"""Edge: `verify`, `verify-wheel`, `verify-sdist`: bytes compared with their lock and receipt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

from skills_bundle.archives.reading import open_archive
from skills_bundle.bundle.provenance import explain as explanations
from skills_bundle.cli.failures import EXIT_CANNOT_TELL, EXIT_OK, EXIT_WRONG
from skills_bundle.cli.framework import Command, Example, environment, pass_output
from skills_bundle.cli.installers import current_installer, reinstall_command
from skills_bundle.cli.options import (
    archive_argument,
    collection_option,
    json_option,
    read_option_file,
    signers_option,
    verbose_option,
)
from skills_bundle.cli.view import pretty
from skills_bundle.cli.view.report import (
    bundle_rows,
    differing_files,
    every_file,
    proof_section,
    signature_section,
    summary,
)
from skills_bundle.cli.view.text import size
from skills_bundle.supply_chain import limits
from skills_bundle.supply_chain.archive.contents import contents_of
from skills_bundle.supply_chain.archive.verify import verify as verify_contents
from skills_bundle.supply_chain.signature import check_commit
from skills_bundle.wiring import finder, verify_installation

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from rich.console import RenderableType

    from skills_bundle.archives.model import ArchiveKind
    from skills_bundle.bundle.proof_report import ProofReport
    from skills_bundle.bundle.verdict import Verdict
    from skills_bundle.bundle.verification import Verification
    from skills_bundle.cli.output import Output
    from skills_bundle.supply_chain.archive.verify import ArchiveVerification, Form
    from skills_bundle.supply_chain.signature import SignatureReport

INSTALLATION_HEADLINES: Final[dict[Verdict, str]] = {
    "match": "every file matches the lock",
    "differs": "does not match what was installed",
    "cannot_tell": "cannot tell whether this matches the lock",
}
ARCHIVE_HEADLINES: Final[dict[Verdict, str]] = {
    "match": "every file matches what the build locked and recorded",
    "differs": "does not match what was built",
    "cannot_tell": "cannot tell whether this is what was built",
}
FORMS: Final[dict[Form, str]] = {
    "canonical": "as the build writes it",
    "other": "repacked by another tool; modes, dates and order are not verified",
    "partly": "changed after the build; some members are stored differently from the rest",
}
PAGE: Final = "docs/how-to/verify-a-release.md"
"""Creates the files of the examples."""
EXIT_CODES: Final = {
    0: "every file matches, even if the source is not known; with --signed-by, an allowed signer "
    "signed the commit",
    1: "a file differs, is missing or is not listed, or the archive is refused; with --signed-by, "
    "no allowed signer signed the commit",
    2: "wrong arguments",
    3: "cannot tell: there is no such archive, it has no lock or receipt, or the signature cannot "
    "be checked",
}


@click.command(
    cls=Command,
    help="""Compare this installation with its lock.

    Every installed file is hashed and compared with the lock and with RECORD. The command looks
    only at the environment it runs in, not at the working directory. It writes nothing.

    With --signed-by, `ssh-keygen` checks who signed the commit in the receipt.
    """,
    about_collections="""With --collection, it verifies the package that has this collection.""",
    examples=[
        Example("Print a report:", "skills-bundle verify"),
        Example("Show what each claim is based on:", "skills-bundle verify --explain"),
        Example(
            "Verify another installed collection:",
            "skills-bundle verify --collection skills-bundle",
        ),
        Example("Print JSON, with every file and its digest:", "skills-bundle verify --json"),
    ],
    exit_codes={
        **EXIT_CODES,
        1: "a file differs, is missing, is a link or is not listed; with --signed-by, no allowed "
        "signer signed the commit",
        2: "wrong arguments, or a collection that is not installed",
        3: "cannot tell: lock or receipt is missing, a file cannot be read, this is not a plain "
        "installation, or the signature cannot be checked",
    },
)
@click.option("--explain", is_flag=True, help="Show what each claim is based on.")
@verbose_option
@signers_option
@collection_option
@json_option
@pass_output
def verify(
    output: Output, *, explain: bool, verbose: bool, collection: str | None, signers: Path | None
) -> int:
    """Compare this installation with its lock."""
    report = verify_installation(find=finder(collection))
    signature = check_signature(report.proof, signers)
    code = worst(report.exit_code, signature)
    if output.as_json:
        document = _document(report, signature)
        if explain:
            document["explanations"] = [row.model_dump(mode="json") for row in explanations(report)]
        output.json(document)
        return code
    headline = INSTALLATION_HEADLINES[report.verdict]
    rows = [("folder", report.location), *bundle_rows(report)]
    name = f"{report.package_name} {report.package_version}"
    parts = summary(report.exit_code, f"{name}: {headline}", rows, output.terminal)
    parts += differing_files(report, output.terminal, everything=verbose)
    parts += [] if signature is None else signature_section(signature, output.terminal)
    parts += every_file(report) if verbose else []
    parts += _explanations(report) if explain else []
    pretty.show(output, parts)
    if report.exit_code:
        output.note(_next_step(report))
    return code


def check_signature(proof: ProofReport, signers: Path | None) -> SignatureReport | None:
    """Check who signed the commit of a proof; None without a file of allowed signers.

    Raises:
        click.BadParameter: If the file is too large.
        OSError: If it cannot be read.
    """
    if signers is None:
        return None
    data = read_option_file(signers, limits.ALLOWED_SIGNERS_MAX_BYTES, "--signed-by")
    return check_commit(proof, data, environment(click.get_current_context()))


def worst(code: int, signature: SignatureReport | None) -> int:
    """Return the exit code of a report together with a signature's: 1 before 3 before 0."""
    codes = {code, EXIT_OK if signature is None else signature.exit_code}
    return next((code for code in (EXIT_WRONG, EXIT_CANNOT_TELL) if code in codes), EXIT_OK)


def _document(
    report: Verification | ArchiveVerification, signature: SignatureReport | None
) -> dict[str, Any]:
    document = report.to_dict()
    if signature is not None:
        document["signature"] = signature.model_dump(mode="json")
    return document


def _explanations(report: Verification) -> list[RenderableType]:
    parts: list[RenderableType] = [pretty.heading("What each field is based on")]
    for row in explanations(report):
        parts.append(pretty.unbroken(f"{row.field}: {row.value or '-'}", style="bold"))
        basis = [
            ("checked", row.checked),
            ("asserted", row.asserted),
            ("not proved", row.not_proved),
        ]
        parts.append(pretty.facts(basis))
    return [*parts, *proof_section(report.proof)]


def _next_step(report: Verification) -> str:
    if report.verdict == "differs":
        requirement = f"{report.package_name}=={report.package_version}"
        return f"To repair it, run: {reinstall_command(requirement, current_installer())}"
    if report.layout == "source":
        return "This runs from a source checkout. To verify an installation, install a wheel."
    if report.layout == "linked":
        return "The files are links. Install without links (uv: --link-mode copy) to verify them."
    unread = {"unreadable_files", "unseen_entries", "record_unreadable"}.intersection(report.gaps)
    if unread or "unreadable" in {report.lock.state, report.receipt.state}:
        return "Run this as a user who may read and list everything in the folder named above."
    return "Install the distribution again to get a valid lock and receipt."


def _archive_options(function: Callable[..., int]) -> Callable[..., int]:
    """Add the argument and options of `verify-wheel` and `verify-sdist`."""
    for add in (pass_output, json_option, signers_option, verbose_option, archive_argument):
        function = add(function)
    return function


@click.command(
    cls=Command,
    name="verify-wheel",
    help="""Compare a wheel with its lock and receipt.

    Every member is compared with RECORD, every skill with the lock, and the receipt with the lock,
    the metadata and its proof. A wheel that two tools could read differently is refused. Nothing is
    unpacked to disk, and no code of the wheel runs.
    """,
    examples=[
        Example(
            "Verify a wheel before you install it:",
            "skills-bundle verify-wheel skills_bundle-0.1.0-py3-none-any.whl",
            PAGE,
        ),
        Example(
            "Print JSON, with every file and its digest:",
            "skills-bundle verify-wheel skills_bundle-0.1.0-py3-none-any.whl --json",
            PAGE,
        ),
    ],
    exit_codes=EXIT_CODES,
)
@_archive_options
def verify_wheel(output: Output, *, file: Path, verbose: bool, signers: Path | None) -> int:
    """Compare a wheel with its lock and receipt."""
    return _verify_archive(output, file, "wheel", verbose=verbose, signers=signers)


@click.command(
    cls=Command,
    name="verify-sdist",
    help="""Compare an sdist with its lock and receipt.

    Every skill is compared with the lock, and all other files with the digest in the receipt of
    everything the build read. An sdist that two tools could read differently is refused. Nothing is
    unpacked to disk, and no code of the sdist runs.
    """,
    examples=[
        Example(
            "Verify an sdist before you build it:",
            "skills-bundle verify-sdist acme_skills-1.2.tar.gz",
            PAGE,
        ),
        Example("Print JSON:", "skills-bundle verify-sdist acme_skills-1.2.tar.gz --json", PAGE),
    ],
    exit_codes=EXIT_CODES,
)
@_archive_options
def verify_sdist(output: Output, *, file: Path, verbose: bool, signers: Path | None) -> int:
    """Compare an sdist with its lock and receipt."""
    return _verify_archive(output, file, "sdist", verbose=verbose, signers=signers)


def _verify_archive(
    output: Output, file: Path, kind: ArchiveKind, *, verbose: bool, signers: Path | None
) -> int:
    with pretty.progress(output, "Reading the archive ..."):
        report = verify_contents(contents_of(open_archive(file, kind=kind)))
    signature = check_signature(report.proof, signers)
    code = worst(report.exit_code, signature)
    if output.as_json:
        output.json(_document(report, signature))
        return code
    rows = [
        ("sha256", report.sha256),
        ("size", size(report.size)),
        ("form", FORMS[report.form]),
        *bundle_rows(report),
    ]
    headline = f"{report.file_name}: {ARCHIVE_HEADLINES[report.verdict]}"
    parts = summary(report.exit_code, headline, rows, output.terminal)
    if report.problems:
        parts.append(pretty.heading("Other problems"))
        parts += [
            pretty.line(f"  {one.path}: {one.message} [{one.code}]") for one in report.problems
        ]
    # Without a valid lock and receipt no file is confirmed; a list of all of them would not help.
    if verbose or _has_documents(report) or report.verdict != "cannot_tell":
        parts += differing_files(report, output.terminal, everything=verbose)
    parts += [] if signature is None else signature_section(signature, output.terminal)
    parts += [*every_file(report), *proof_section(report.proof)] if verbose else []
    pretty.show(output, parts)
    if report.exit_code:
        output.note(_archive_next_step(report))
    return code


def _has_documents(report: ArchiveVerification) -> bool:
    return report.lock.state == report.receipt.state == "ok"


def _archive_next_step(report: ArchiveVerification) -> str:
    if report.verdict == "differs":
        return (
            "Do not install it. Download it again from where it was released, and compare the "
            "sha256 above with the published one."
        )
    if report.lock.state == "missing":
        return (
            "It was built without the skills-bundle build hook. Build it again with the hook and "
            "without HATCH_BUILD_NO_HOOKS, or download a release."
        )
    if _has_documents(report) and report.kind == "wheel":
        return (
            "Nothing confirms the unconfirmed files: RECORD cannot list signatures of itself. "
            "Compare the sha256 above with the published one."
        )
    if _has_documents(report):
        return (
            "The unconfirmed files are generated for an sdist only, so no receipt covers them. "
            "Compare the sha256 above with the published one."
        )
    return "Its lock or receipt is not valid. Download a release."

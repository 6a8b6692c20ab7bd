"""Edge: `verify-statement`, a statement compared with the file it speaks of."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from skills_bundle.archives.reading import kind_of, open_archive
from skills_bundle.cli import signed_by
from skills_bundle.cli.commands.statement import PAGE
from skills_bundle.cli.framework import Command, Example, environment, json_option, pass_output
from skills_bundle.cli.signed_by import read_bounded, read_signers
from skills_bundle.cli.view import pretty
from skills_bundle.cli.view.progress import patience
from skills_bundle.cli.view.text import count, safe_line
from skills_bundle.errors import InvalidStatementError
from skills_bundle.supply_chain import limits
from skills_bundle.supply_chain import signature as signatures
from skills_bundle.supply_chain.archive import verify as verify_archive
from skills_bundle.supply_chain.archive.contents import contents_of
from skills_bundle.supply_chain.statement import verify as verify_statements
from skills_bundle.supply_chain.statement.statement import NAMESPACE

if TYPE_CHECKING:
    from rich.console import RenderableType

    from skills_bundle.bundle.verify import Verdict
    from skills_bundle.cli.output import Output
    from skills_bundle.cli.view.pretty import Mark
    from skills_bundle.supply_chain.signature import SignatureReport
    from skills_bundle.supply_chain.statement.verify import Form, PredicateState, StatementReport

SIGNATURE_SUFFIX: Final = ".sig"
"""What `ssh-keygen -Y sign` calls the signature behind the name of what it signed."""

MARKS: Final[dict[Verdict, Mark]] = {"match": "good", "differs": "bad", "cannot_tell": "unsure"}
HEADLINES: Final[dict[Verdict, str]] = {
    "match": "the statement is of this file, and all it says follows from it",
    "differs": "the statement does not fit this file",
    "cannot_tell": "the statement is of this file; what it says of it is not checked here",
}
FORMS: Final[dict[Form, str]] = {
    "statement": "a bare in-toto statement",
    "pep740": "an attestation object of PEP 740",
    "pep740_provenance": "a provenance object of PEP 740",
}
PREDICATES: Final[dict[PredicateState, str]] = {
    "recomputed": "recomputed here from the file",
    "differs": "not what the file gives",
    "not_checked": "not checked: of another kind than `skills-bundle statement` writes",
    "archive_differs": "not recomputed: the file itself does not verify",
}


@click.command(
    cls=Command,
    help="""Compare a statement with the wheel or sdist it speaks of.

    The subject is compared with the file's name and SHA-256. If `skills-bundle statement` wrote it,
    everything it says is made again from the file. Statements of others are read too, also in the
    envelopes of DSSE, Sigstore and PEP 740: of these the subject alone is checked, and no signature
    in them. With --signed-by, `ssh-keygen` is asked who signed the statement's bytes.
    """,
    examples=[
        Example(
            "Compare them:",
            "skills-bundle verify-statement skills_bundle-0.1.0-py3-none-any.whl.provenance.json "
            "skills_bundle-0.1.0-py3-none-any.whl",
            PAGE,
        ),
        Example(
            "Demand that somebody you trust signed it:",
            "skills-bundle verify-statement skills_bundle-0.1.0-py3-none-any.whl.provenance.json "
            "skills_bundle-0.1.0-py3-none-any.whl --signed-by ~/allowed_signers",
            PAGE,
        ),
    ],
    exit_codes={
        0: "it is of this file, and all it says follows; and it is signed, if asked for",
        1: "it is of another file, says something that does not follow, is no statement, or is not "
        "so signed",
        2: "wrong arguments, or a file of them that is not there",
        3: "cannot tell: a statement of another kind, an archive that cannot be read, or a "
        "signature that cannot be checked",
    },
)
@click.argument(
    "statement", metavar="STATEMENT", type=click.Path(exists=True, dir_okay=False, path_type=Path)
)
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.option(
    "--signature",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE.sig",
    show_default=f"STATEMENT{SIGNATURE_SUFFIX}",
    help="The SSH signature of the statement, with --signed-by.",
)
@click.option(
    "--signed-by",
    "signers",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="ALLOWED_SIGNERS",
    help="Demand that a signer in this file signed the statement with SSH.",
)
@click.option("--identity", metavar="NAME", help="Demand that it is this signer, with --signed-by.")
@json_option
@pass_output
def verify_statement(
    output: Output, statement: Path, file: Path, **signing: Path | str | None
) -> int:
    """Compare a statement with the wheel or sdist it speaks of."""
    data = _read(statement)
    signature = _signature(statement, data, signing)
    wrapped = _documents(statement, data)
    with patience(output, f"Verifying {safe_line(file.name)}"):
        found = contents_of(open_archive(file))
        verified = verify_archive.verify(found)
    report = verify_statements.verify(wrapped, found, verified.verdict, signature)
    if output.as_json:
        output.json(report.to_dict())
    else:
        _tell(output, report)
    return report.exit_code


def _read(statement: Path) -> bytes:
    """Read the statement, unless its name says that it is what a statement is about.

    Raises:
        click.UsageError: If so: both were given the wrong way round, and its bytes would be called
            a broken statement.
    """
    if kind := kind_of(statement.name):
        raise click.UsageError(f"{statement} is called as a {kind} is; the statement goes first.")
    return read_bounded(statement, limits.STATEMENT_MAX_BYTES, "STATEMENT")


def _documents(statement: Path, data: bytes) -> verify_statements.StatementFile:
    """Take the statement apart, naming the file where that cannot be done."""
    try:
        return verify_statements.read(data)
    except InvalidStatementError as error:
        raise InvalidStatementError(f"{statement}: {error.summary}", error.problems) from error


def _signature(
    statement: Path, data: bytes, signing: dict[str, Path | str | None]
) -> SignatureReport | None:
    """Ask who signed the statement, if that is wanted."""
    signers, identity = signing["signers"], signing["identity"]
    if not isinstance(signers, Path):
        if signing["signature"] or identity:
            raise click.UsageError("--signature and --identity need --signed-by.")
        return None
    place = signing["signature"] or statement.with_name(statement.name + SIGNATURE_SUFFIX)
    if not Path(place).exists():
        return signatures.report(
            "unsigned", notes=(f"There is no {place}; --signature names another.",)
        )
    signed = signatures.Signed(
        message=data,
        signature=read_bounded(Path(place), limits.SIGNATURE_MAX_BYTES, "--signature"),
        signers=read_signers(signers),
        namespace=NAMESPACE,
        identity=None if identity is None else str(identity),
    )
    return signatures.check(signed, environment(click.get_current_context()))


def _tell(output: Output, report: StatementReport) -> None:
    terminal = output.terminal
    headline = f"{report.file_name}: {HEADLINES[report.verdict]}"
    rows = [("sha256", report.sha256), ("form", FORMS[report.form])]
    for row in report.statements:
        rows.append(("says", f"{row.predicate_type}, {PREDICATES[row.predicate]}"))
        for problem in row.problems:
            where = f"{problem.path} " if problem.path else ""
            rows.append(("  because", f"{where}{problem.message}"))
    rows += _about_signatures(report)
    parts: list[RenderableType] = [
        pretty.marked(MARKS[report.verdict], headline, terminal),
        pretty.facts(rows),
    ]
    if report.signature is not None:
        parts += signed_by.section(report.signature, terminal, "signature of the statement")
    output.text(pretty.render(parts, terminal))


def _about_signatures(report: StatementReport) -> list[tuple[str, str]]:
    if report.unchecked_signatures:
        number = count(report.unchecked_signatures, "signature")
        return [("unchecked", f"{number} in it: the tools that make such files check them")]
    if report.signature is None:
        return [("signature", "not looked at, so at most SLSA Build L1; --signed-by asks for one")]
    return []

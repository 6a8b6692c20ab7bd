"""Edge: `statement` and `verify-statement`: in-toto statements about a wheel or sdist."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from skills_bundle.archives.reading import kind_of, open_archive
from skills_bundle.bundle.verdict import EXIT_CODES
from skills_bundle.cli.failures import EXIT_OK, Failure
from skills_bundle.cli.framework import Command, Example, environment, pass_output
from skills_bundle.cli.options import (
    archive_argument,
    json_option,
    read_option_file,
    signers_option,
)
from skills_bundle.cli.view import pretty
from skills_bundle.cli.view.report import asserted, signature_section, summary
from skills_bundle.cli.view.text import count, safe_line
from skills_bundle.errors import InvalidStatementError, Problem
from skills_bundle.files.writing import replace_file
from skills_bundle.supply_chain import limits
from skills_bundle.supply_chain import signature as signatures
from skills_bundle.supply_chain.archive import verify as verify_archive
from skills_bundle.supply_chain.archive.contents import contents_of
from skills_bundle.supply_chain.statement import statement as statements
from skills_bundle.supply_chain.statement import verify as verify_statements

if TYPE_CHECKING:
    from skills_bundle.bundle.verdict import Verdict
    from skills_bundle.cli.output import Output
    from skills_bundle.supply_chain.archive.verify import ArchiveVerification
    from skills_bundle.supply_chain.signature import SignatureReport
    from skills_bundle.supply_chain.statement.verify import Form, PredicateState, StatementReport

PAGE: Final = "docs/how-to/attest-a-wheel.md"
"""Creates the files of the examples."""
TO_STDOUT: Final = "-"
SIGNATURE_SUFFIX: Final = ".sig"
"""What `ssh-keygen -Y sign` appends to the name of the signed file."""

HEADLINES: Final[dict[Verdict, str]] = {
    "match": "the statement is about this file and matches it",
    "differs": "the statement does not match this file",
    "cannot_tell": "the statement is about this file, but its claims cannot be checked here",
}
FORMS: Final[dict[Form, str]] = {
    "statement": "an in-toto statement without an envelope",
    "pep740": "an attestation object of PEP 740",
    "pep740_provenance": "a provenance object of PEP 740",
}
PREDICATES: Final[dict[PredicateState, str]] = {
    "recomputed": "recomputed from the file",
    "differs": "differs from the file",
    "not_checked": "not checked: not a kind that `skills-bundle statement` writes",
    "archive_differs": "not recomputed: the file itself does not verify",
}


@click.command(
    cls=Command,
    help="""Write an in-toto statement about a wheel or sdist.

    The statement (in-toto Statement v1 with SLSA provenance v1) names the file by its SHA-256 and
    repeats its build receipt, for tools that know this format. The same file always gives the same
    statement. If the file does not verify, no statement is written.

    The statement is unsigned, so it reaches at most SLSA Build L1. To sign it, use `ssh-keygen -Y
    sign -n skills-bundle-statement`.
    """,
    examples=[
        Example(
            "Write it next to the wheel:",
            "skills-bundle statement skills_bundle-0.1.0-py3-none-any.whl",
            PAGE,
        ),
        Example(
            "Print it:", "skills-bundle statement skills_bundle-0.1.0-py3-none-any.whl -o -", PAGE
        ),
    ],
    exit_codes={
        0: "the statement was written, or exists already",
        1: "the archive does not match its lock and receipt, or is refused",
        2: "wrong arguments, or the output file exists with other content",
        3: "the archive cannot be read or verified",
    },
)
@archive_argument
@click.option(
    "-o",
    "--output",
    "target",
    type=click.Path(dir_okay=False, allow_dash=True),
    metavar="PATH",
    show_default=f"FILE{statements.SUFFIX}",
    help="The file to write; - is standard output.",
)
@click.option("--force", is_flag=True, help="Replace an existing file.")
@json_option
@pass_output
def write(output: Output, file: Path, *, target: str | None, force: bool) -> int:
    """Write an in-toto statement about a wheel or sdist."""
    if output.as_json and target == TO_STDOUT:
        raise click.UsageError("Use either --json or -o -, not both: the statement is JSON itself.")
    with pretty.progress(output, f"Verifying {safe_line(file.name)}"):
        contents = contents_of(open_archive(file))
        report = verify_archive.verify(contents)
    if report.exit_code != EXIT_OK:
        output.failure(_unverified(file, report))
        return report.exit_code
    statement = statements.make(contents)
    data = statements.to_bytes(statement)
    if target == TO_STDOUT:
        output.data(data)
        return EXIT_OK
    path = file.with_name(file.name + statements.SUFFIX) if target is None else Path(target)
    written = _write(path, data, force=force)
    if output.as_json:
        output.json({"path": str(path), "written": written, "statement": statement})
        return EXIT_OK
    _show_written(output, path, report, written=written)
    return EXIT_OK


def _write(path: Path, data: bytes, *, force: bool) -> bool:
    """Write the statement unless it exists already; return whether it was written.

    Raises:
        click.UsageError: If it cannot or must not be written there.
    """
    if not path.parent.is_dir():
        raise click.UsageError(f"{path.parent} is not a folder.")
    if path.exists():
        if not path.is_file():
            raise click.UsageError(
                f"{path} is not a regular file. To write to standard output, use `-o -`."
            )
        with path.open("rb") as file:
            if file.read(len(data) + 1) == data:
                return False
        if not force:
            raise click.UsageError(
                f"{path} exists and has other content. To replace it, add --force."
            )
    replace_file(path, data)
    return True


def _unverified(file: Path, report: ArchiveVerification) -> Failure:
    rows = (*report.lock.problems, *report.receipt.problems, *report.problems)
    problems = [Problem(code=r.code, message=r.message, path=r.path, line=r.line) for r in rows]
    wrong = [row for row in report.files if not row.is_fine]
    problems += [Problem(code=row.state, message=row.state, path=row.path) for row in wrong]
    return Failure(
        code="unverified_archive",
        message=f"{file.name} does not verify, so no statement was written.",
        problems=tuple(problems),
        exit_code=report.exit_code,
        next_step=f"For the whole report, run `skills-bundle verify-{report.kind}`.",
    )


def _show_written(
    output: Output, path: Path, report: ArchiveVerification, *, written: bool
) -> None:
    commit = None if report.provenance is None else report.provenance.resolved_git_sha
    rows = [
        ("subject", report.file_name),
        ("sha256", report.sha256),
        ("commit", "not recorded" if commit is None else asserted(commit)),
        ("trust", "unsigned, so at most SLSA Build L1"),
    ]
    headline = f"{path}: {'written' if written else 'exists already'}"
    pretty.show(output, summary(EXIT_OK, headline, rows, output.terminal))
    line = shlex.join(
        ("ssh-keygen", "-Y", "sign", "-n", statements.NAMESPACE, "-f", "KEY", str(path))
    )
    output.note(f"To sign it, run: {safe_line(line)}")


@click.command(
    cls=Command,
    help="""Compare an in-toto statement with the wheel or sdist it is about.

    The statement must name the file and its SHA-256. If `skills-bundle statement` wrote it, all its
    claims are recomputed from the file. Of other statements only the subject is checked.

    PEP 740 attestations need `skills-bundle[attestations]`. Their signatures are not checked.

    With --signed-by, `ssh-keygen` checks who signed the statement.
    """,
    examples=[
        Example(
            "Compare them:",
            "skills-bundle verify-statement skills_bundle-0.1.0-py3-none-any.whl.provenance.json "
            "skills_bundle-0.1.0-py3-none-any.whl",
            PAGE,
        ),
        Example(
            "Require a signature by someone you trust:",
            "skills-bundle verify-statement skills_bundle-0.1.0-py3-none-any.whl.provenance.json "
            "skills_bundle-0.1.0-py3-none-any.whl --signed-by ~/allowed_signers",
            PAGE,
        ),
    ],
    exit_codes={
        0: "the statement is about this file and matches it; with --signed-by, it is signed",
        1: "it is about another file, a claim is wrong, or it is not a statement; with "
        "--signed-by, no allowed signer signed it",
        2: "wrong arguments, or a file that does not exist",
        3: "cannot tell: another kind of statement, an unreadable archive, or a signature that "
        "cannot be checked",
    },
)
@click.argument(
    "statement", metavar="STATEMENT", type=click.Path(exists=True, dir_okay=False, path_type=Path)
)
@archive_argument
@click.option(
    "--signature",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE.sig",
    show_default=f"STATEMENT{SIGNATURE_SUFFIX}",
    help="The SSH signature of the statement, for --signed-by.",
)
@signers_option
@click.option("--identity", metavar="NAME", help="Require this signer, with --signed-by.")
@json_option
@pass_output
def verify(output: Output, statement: Path, file: Path, **signing: Path | str | None) -> int:
    """Compare an in-toto statement with the wheel or sdist it is about."""
    data = _read(statement)
    signature = _signature(statement, data, signing)
    try:
        documents = verify_statements.read(data)
    except InvalidStatementError as error:
        raise InvalidStatementError(f"{statement}: {error.summary}", error.problems) from error
    with pretty.progress(output, f"Verifying {safe_line(file.name)}"):
        contents = contents_of(open_archive(file))
        archive = verify_archive.verify(contents)
    report = verify_statements.verify(documents, contents, archive.verdict, signature)
    if output.as_json:
        output.json(report.to_dict())
    else:
        _show_report(output, report)
    return report.exit_code


def _read(statement: Path) -> bytes:
    """Read the statement.

    Raises:
        click.UsageError: If it has the name of an archive: the arguments are in the wrong order.
    """
    if kind := kind_of(statement.name):
        raise click.UsageError(f"{statement} is a {kind}. Name the statement first, then the file.")
    return read_option_file(statement, limits.STATEMENT_MAX_BYTES, "STATEMENT")


def _signature(
    statement: Path, data: bytes, signing: dict[str, Path | str | None]
) -> SignatureReport | None:
    """Check who signed the statement, if that was asked for."""
    signers, identity = signing["signers"], signing["identity"]
    if not isinstance(signers, Path):
        if signing["signature"] or identity:
            raise click.UsageError("--signature and --identity need --signed-by.")
        return None
    path = Path(signing["signature"] or statement.with_name(statement.name + SIGNATURE_SUFFIX))
    if not path.exists():
        note = f"There is no {path}. Name the signature with --signature."
        return signatures.report("unsigned", notes=(note,))
    signed = signatures.Signed(
        message=data,
        signature=read_option_file(path, limits.SIGNATURE_MAX_BYTES, "--signature"),
        signers=read_option_file(signers, limits.ALLOWED_SIGNERS_MAX_BYTES, "--signed-by"),
        namespace=statements.NAMESPACE,
        identity=None if identity is None else str(identity),
    )
    return signatures.check(signed, environment(click.get_current_context()))


def _show_report(output: Output, report: StatementReport) -> None:
    rows = [("sha256", report.sha256), ("form", FORMS[report.form])]
    for row in report.statements:
        rows.append(("claims", f"{row.predicate_type}, {PREDICATES[row.predicate]}"))
        for problem in row.problems:
            place = f"{problem.path} " if problem.path else ""
            rows.append(("  because", f"{place}{problem.message}"))
    if report.unchecked_signatures:
        number = count(report.unchecked_signatures, "signature")
        rows.append(("unchecked", f"{number} in the envelope; check with the tool that made it"))
    elif report.signature is None:
        rows.append(("signature", "not checked, so at most SLSA Build L1; see --signed-by"))
    code = EXIT_CODES[report.verdict]
    headline = f"{report.file_name}: {HEADLINES[report.verdict]}"
    parts = summary(code, headline, rows, output.terminal)
    if report.signature is not None:
        parts += signature_section(report.signature, output.terminal, "signature of the statement")
    pretty.show(output, parts)

"""Edge: `--signed-by`, by which a command asks who signed the commit of a proof."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from skills_bundle.cli.failures import EXIT_CANNOT_TELL, EXIT_OK, EXIT_WRONG
from skills_bundle.cli.framework import environment
from skills_bundle.cli.view import pretty
from skills_bundle.supply_chain import limits
from skills_bundle.supply_chain.signature import check_commit

if TYPE_CHECKING:
    from rich.console import RenderableType

    from skills_bundle.bundle.proof_report import ProofReport
    from skills_bundle.cli.output import Terminal
    from skills_bundle.cli.view.pretty import Mark
    from skills_bundle.supply_chain.signature import SignatureReport

MARKS: Final[dict[int, Mark]] = {EXIT_OK: "good", EXIT_WRONG: "bad", EXIT_CANNOT_TELL: "unsure"}

signed_by_option: Final = click.option(
    "--signed-by",
    "signers",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="ALLOWED_SIGNERS",
    help="Demand that the receipt's commit is signed with SSH by a signer in this file.",
)
"""Add `--signed-by` to a command."""


def read_signers(path: Path) -> bytes:
    """Give the content of a file of allowed signers.

    Raises:
        click.BadParameter: If it is beyond the limit.
        OSError: If it cannot be read.
    """
    return read_bounded(path, limits.ALLOWED_SIGNERS_MAX_BYTES, "--signed-by")


def read_bounded(path: Path, limit: int, option: str) -> bytes:
    """Read a file that an option names; it may be a pipe of the shell's.

    Raises:
        click.BadParameter: If it has more bytes than the limit.
        OSError: If it cannot be read.
    """
    with path.open("rb") as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise click.BadParameter(f"{path} has more than {limit} bytes.", param_hint=option)
    return data


def check(proof: ProofReport, signers: Path) -> SignatureReport:
    """Check the commit of a proof against a file of allowed signers.

    Raises:
        click.BadParameter: As `read_signers`.
        OSError: As `read_signers`.
    """
    environ = environment(click.get_current_context())
    return check_commit(proof, read_signers(signers), environ)


def worst(*codes: int) -> int:
    """Join exit codes: what is wrong outweighs what cannot be told, and that what is well."""
    return next((code for code in (EXIT_WRONG, EXIT_CANNOT_TELL) if code in codes), EXIT_OK)


def section(
    report: SignatureReport, terminal: Terminal, what: str = "signature of the commit"
) -> list[RenderableType]:
    """Give what a check came to: one line, and what it rests on."""
    rows: list[tuple[str, str]] = []
    if report.principal is not None:
        rows.append(("signer", f"{report.principal}, as the allowed signers name the key"))
    if report.fingerprint is not None:
        rows.append(("key", f"{report.key_type} {report.fingerprint}"))
    if report.committed is not None and report.fingerprint is not None:
        rows.append(("valid at", f"{_time(report.committed)}, when it was committed, as it says"))
    rows += [("because" if report.exit_code else "note", note) for note in report.notes]
    line = pretty.marked(MARKS[report.exit_code], f"{what}: {_lower(report.says)}", terminal)
    return [line, *([pretty.facts(rows)] if rows else [])]


def _time(seconds: int) -> str:
    """Give a time for people; one beyond the calendar as its number."""
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    except (OverflowError, ValueError, OSError):
        return f"{seconds} seconds after 1970"


def _lower(sentence: str) -> str:
    return sentence[0].lower() + sentence[1:].rstrip(".")

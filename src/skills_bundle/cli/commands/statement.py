"""Edge: `statement`, which writes an in-toto statement about a wheel or sdist beside it."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from skills_bundle.archives.reading import open_archive
from skills_bundle.cli.failures import EXIT_OK, Failure
from skills_bundle.cli.framework import Command, Example, json_option, pass_output
from skills_bundle.cli.view import pretty
from skills_bundle.cli.view.progress import patience
from skills_bundle.cli.view.text import safe_line
from skills_bundle.errors import Problem
from skills_bundle.files.writing import replace_file
from skills_bundle.supply_chain.archive import verify as verify_archive
from skills_bundle.supply_chain.archive.contents import contents_of
from skills_bundle.supply_chain.statement import statement as statements

if TYPE_CHECKING:
    from skills_bundle.cli.output import Output
    from skills_bundle.supply_chain.archive.verify import ArchiveVerification

PAGE: Final = "docs/how-to/attest-a-wheel.md"
"""Where the files of the examples are made."""
TO_STDOUT: Final = "-"


@click.command(
    cls=Command,
    help="""Write an in-toto statement about a wheel or sdist.

    The statement (in-toto Statement v1, SLSA provenance v1) names the file by its SHA-256 and
    repeats what its build receipt says, for tools that know this format. Its bytes follow from the
    file alone. It is unsigned, so at most SLSA Build L1; `ssh-keygen -Y sign -n
    skills-bundle-statement` signs it as it is. None is made of an archive that does not verify.
    """,
    examples=[
        Example(
            "Write it beside the wheel:",
            "skills-bundle statement skills_bundle-0.1.0-py3-none-any.whl",
            PAGE,
        ),
        Example(
            "Print it:", "skills-bundle statement skills_bundle-0.1.0-py3-none-any.whl -o -", PAGE
        ),
    ],
    exit_codes={
        0: "it was written, or was there already",
        1: "the archive is not what its lock and receipt say, or two tools could read it two ways",
        2: "wrong arguments, or another file is in its place",
        3: "the archive cannot be read, or cannot be verified",
    },
)
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    "target",
    type=click.Path(dir_okay=False, allow_dash=True),
    metavar="PATH",
    show_default=f"FILE{statements.SUFFIX}",
    help="Where to write it; - for standard output.",
)
@click.option("--force", is_flag=True, help="Replace another file in its place.")
@json_option
@pass_output
def statement(output: Output, file: Path, *, target: str | None, force: bool) -> int:
    """Write an in-toto statement about a wheel or sdist."""
    if output.as_json and target == TO_STDOUT:
        raise click.UsageError("Give one of --json and -o -: the statement is JSON itself.")
    with patience(output, f"Verifying {safe_line(file.name)}"):
        found = contents_of(open_archive(file))
        verified = verify_archive.verify(found)
    if verified.exit_code != EXIT_OK:
        output.failure(_unverified(file, verified))
        return verified.exit_code
    made = statements.make(found)
    data = statements.to_bytes(made)
    if target == TO_STDOUT:
        output.data(data)
        return EXIT_OK
    place = file.with_name(file.name + statements.SUFFIX) if target is None else Path(target)
    written = _put(place, data, force=force)
    if output.as_json:
        output.json({"path": str(place), "written": written, "statement": made})
        return EXIT_OK
    _tell(output, place, verified, written=written)
    return EXIT_OK


def _put(place: Path, data: bytes, *, force: bool) -> bool:
    """Write the statement, unless it is there already; give whether it was written."""
    if not place.parent.is_dir():
        raise click.UsageError(f"{place.parent} is no folder.")
    if place.exists() and not place.is_file():  # a device or a pipe is not to be replaced
        raise click.UsageError(f"{place} is no regular file; `-o -` writes to standard output.")
    there = place.exists()
    if there and _holds(place, data):
        return False
    if there and not force:
        raise click.UsageError(f"{place} is there, with other content; --force replaces it.")
    replace_file(place, data)
    return True


def _holds(place: Path, data: bytes) -> bool:
    """Tell whether a file has exactly these bytes, however large it is."""
    with place.open("rb") as file:
        return file.read(len(data) + 1) == data


def _unverified(file: Path, verified: ArchiveVerification) -> Failure:
    """Say why there is no statement, and which command says more."""
    rows = (*verified.lock.problems, *verified.receipt.problems, *verified.problems)
    problems = [Problem(code=r.code, message=r.message, path=r.path, line=r.line) for r in rows]
    wrong = [row for row in verified.files if not row.is_fine]
    problems += [Problem(code=row.state, message=row.state, path=row.path) for row in wrong]
    return Failure(
        code="unverified_archive",
        message=f"{file.name} does not verify, so nothing is stated of it.",
        problems=tuple(problems),
        exit_code=verified.exit_code,
        next_step=f"See all of it with `skills-bundle verify-{verified.kind}`.",
    )


def _tell(output: Output, place: Path, verified: ArchiveVerification, *, written: bool) -> None:
    headline = f"{place}: {'written' if written else 'is there already'}"
    commit = None if verified.provenance is None else verified.provenance.resolved_git_sha
    rows = [
        ("subject", verified.file_name),
        ("sha256", verified.sha256),
        ("commit", "none is named" if commit is None else f"asserted, not proved: {commit}"),
        ("trust", "unsigned, so at most SLSA Build L1"),
    ]
    parts = [pretty.marked("good", headline, output.terminal), pretty.facts(rows)]
    output.text(pretty.render(parts, output.terminal))
    words = shlex.join(
        ("ssh-keygen", "-Y", "sign", "-n", statements.NAMESPACE, "-f", "KEY", str(place))
    )
    output.note(f"To sign it: {safe_line(words)}")

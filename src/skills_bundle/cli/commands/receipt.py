"""Edge: `receipt show|preview`, what a build recorded, or would record here."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import click

from skills_bundle.bundle import limits, receipt
from skills_bundle.bundle.provenance import GAP_SENTENCES
from skills_bundle.cli import installers
from skills_bundle.cli.collection import collection_option
from skills_bundle.cli.framework import Command, Example, json_option, pass_output
from skills_bundle.cli.view import claims, pretty
from skills_bundle.cli.view.text import count, safe, size
from skills_bundle.errors import (
    InvalidReceiptError,
    SettingsError,
    SkillsBundleError,
    UnsafeFileError,
)
from skills_bundle.files import reading
from skills_bundle.git.proof import decoded_size
from skills_bundle.hatch_plugin.preview import preview as preview_receipt
from skills_bundle.project import project
from skills_bundle.wiring import finder

if TYPE_CHECKING:
    from skills_bundle.bundle.receipt import BuildReceipt, Source
    from skills_bundle.cli.output import Output


class NoReceiptError(SkillsBundleError):
    """There is no installed receipt that could be shown."""

    exit_code: ClassVar[int] = 3


@click.command(
    cls=Command,
    help="""Show the build receipt of this installation.

    Whether lock, files and metadata agree with it is what `skills-bundle verify` says.
    """,
    examples=[
        Example("What the build of this installation recorded:", "skills-bundle receipt show"),
        Example("Keep its exact bytes:", "skills-bundle receipt show --json > build-receipt.json"),
        Example(
            "Show one from a file, as an sdist has it:",
            "skills-bundle receipt show --file build-receipt.json",
        ),
    ],
    exit_codes={
        0: "the receipt was shown",
        1: "the file is not a receipt, or contradicts itself",
        2: "wrong arguments, or a collection that is not installed",
        3: "there is no receipt, or it cannot be read",
    },
)
@click.option(
    "--file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Show this receipt instead of the installed one.",
)
@collection_option
@json_option
@pass_output
def show(output: Output, *, file: Path | None, collection: str | None) -> int:
    """Show the build receipt of this installation."""
    if file is not None and collection is not None:
        raise click.UsageError("Give one of --file and --collection.")
    data, place = _installed(collection) if file is None else (_from_file(file), str(file))
    try:
        found = receipt.parse(data)
    except InvalidReceiptError as error:
        raise InvalidReceiptError(f"{place}: {error.summary}", error.problems) from error
    _show(output, found)
    return 0


def _installed(collection: str | None) -> tuple[bytes, str]:
    """Give the installed receipt's bytes and its path."""
    place = finder(collection)()
    try:
        with reading.Reader(place.site, follow_last=place.linked) as reader:
            data = reader.read_up_to(place.receipt_path, limits.RECEIPT_MAX_BYTES).data
            return data, place.receipt_path
    except UnsafeFileError as error:
        cause = (
            "It runs from its source, which no build has recorded; "
            "`skills-bundle receipt preview` says what a build would."
            if place.project is not None
            else f"{place.receipt_path} is {error.kind}."
        )
        raise NoReceiptError(f"This installation has no build receipt. {cause}") from error


def _from_file(path: Path) -> bytes:
    with path.open("rb") as file:
        data = file.read(limits.RECEIPT_MAX_BYTES + 1)
    if len(data) > limits.RECEIPT_MAX_BYTES:
        raise InvalidReceiptError(f"{path} has more than {limits.RECEIPT_MAX_BYTES} bytes.")
    return data


@click.command(
    cls=Command,
    help="""Show what a build here would record.

    PROJECT is the folder of pyproject.toml, the working directory by default. Nothing is built or
    written. Where no commit would be named, the reason is said with the files behind it. Needs
    hatchling, which `skills-bundle[hatch]` brings.
    """,
    examples=[
        Example("What a build of this checkout would record:", "skills-bundle receipt preview"),
        Example("Of another project, for programs:", "skills-bundle receipt preview --json ."),
    ],
    exit_codes={
        0: "the receipt was shown, also when it would name no commit",
        1: "a build would fail: a skill is refused, or the lock is stale",
        2: "wrong arguments or settings",
        3: "the project cannot be read",
    },
)
@click.argument("folder", metavar="[PROJECT]", default=".", type=click.Path(path_type=Path))
@json_option
@pass_output
def preview(output: Output, folder: Path) -> int:
    """Show what a build here would record."""
    try:
        found = preview_receipt(project.load(folder))
    except SettingsError as error:
        if any(problem.code == "no_hatchling" for problem in error.problems):
            error.add_note(f"To add it: {installers.extra_command('hatch', installers.here())}")
        raise
    _show(output, found.receipt)
    if found.detail:
        output.note(f"{output.emphasis('why:', 'yellow')} {safe(found.detail)}")
    return 0


def _show(output: Output, shown: BuildReceipt) -> None:
    if output.as_json:
        output.data(shown.to_bytes())
        return
    title = f"Build receipt of {shown.package.name} {shown.package.version} (unsigned)"
    parts = [pretty.line(title, style="bold"), pretty.facts(rows(shown))]
    output.text(pretty.render(parts, output.terminal))


def rows(shown: BuildReceipt) -> list[tuple[str, str]]:
    """Give a receipt as names and values; each value says whose word it is."""
    source = shown.source
    because = "" if source.reason is None else f": {GAP_SENTENCES[source.reason]} [{source.reason}]"
    return [
        ("source", f"recorded: {source.state}{because}"),
        ("commit", f"recorded: {source.commit}" if source.commit else "none"),
        ("skills tree", f"recorded: {source.skills_tree}" if source.skills_tree else "none"),
        ("proof", _proof(source)),
        ("repository", _configured(shown.asserted.repository)),
        ("ref", claims.ref(shown.asserted.source_ref, source.commit)),
        ("lock sha256", shown.catalog.sha256),
        ("git tree", shown.catalog.git_tree),
        ("metadata", shown.package.metadata_sha256),
        ("  computed", _computed(shown.package.computed)),
        ("inputs", count(len(shown.inputs.files), "file")),
        ("  dirhash", shown.inputs.dir_hash),
    ]


def _configured(claim: str | None) -> str:
    return "none is configured" if claim is None else f"by configuration, not looked up: {claim}"


def _computed(fields: tuple[str, ...]) -> str:
    if not fields:
        return "no field: all follow from files of the commit"
    return f"by code or environment, no commit gives them: {', '.join(fields)}"


def _proof(source: Source) -> str:
    objects = source.proof
    if objects is None:
        return "none" if source.commit is None else "none: left out by setting, or too long"
    raw = sum(map(decoded_size, objects))
    return f"{count(len(objects), 'git object')} from commit to skills, {size(raw)}"

"""Edge: `receipt show` and `receipt preview`: what a build recorded, or would record here."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import click

from skills_bundle.bundle import limits, receipt
from skills_bundle.bundle.provenance import GAP_SENTENCES
from skills_bundle.cli.framework import Command, Example, pass_output
from skills_bundle.cli.installers import current_installer, extra_command
from skills_bundle.cli.options import collection_option, json_option
from skills_bundle.cli.view import pretty
from skills_bundle.cli.view.report import ref
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
    """The installation has no build receipt."""

    exit_code: ClassVar[int] = 3


@click.command(
    cls=Command,
    help="""Show the build receipt of this installation.

    To check whether lock, files and metadata match it, use `skills-bundle verify`.
    """,
    examples=[
        Example("Show what the build of this installation recorded:", "skills-bundle receipt show"),
        Example("Save its exact bytes:", "skills-bundle receipt show --json > build-receipt.json"),
        Example(
            "Show a receipt from a file, such as one in an sdist:",
            "skills-bundle receipt show --file build-receipt.json",
        ),
    ],
    exit_codes={
        0: "the receipt was shown",
        1: "the file is not a valid receipt",
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
        raise click.UsageError("Use either --file or --collection, not both.")
    data, place = _installed(collection) if file is None else (_from_file(file), str(file))
    try:
        parsed = receipt.parse(data)
    except InvalidReceiptError as error:
        raise InvalidReceiptError(f"{place}: {error.summary}", error.problems) from error
    _show(output, parsed)
    return 0


def _installed(collection: str | None) -> tuple[bytes, str]:
    """Return the installed receipt's bytes and its path."""
    place = finder(collection)()
    try:
        with reading.Reader(place.site, follow_last=place.linked) as reader:
            data = reader.read_up_to(place.receipt_path, limits.RECEIPT_MAX_BYTES).data
            return data, place.receipt_path
    except UnsafeFileError as error:
        cause = (
            "It runs from a source checkout. To see what a build would record, run "
            "`skills-bundle receipt preview`."
            if place.project is not None
            else f"{place.receipt_path} is {error.kind.replace('_', ' ')}."
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
    written. If the receipt would name no commit, the command shows the reason and the files that
    cause it. It needs hatchling; `skills-bundle[hatch]` installs it.
    """,
    examples=[
        Example(
            "Show what a build of this checkout would record:", "skills-bundle receipt preview"
        ),
        Example("Print JSON, for a project in a folder:", "skills-bundle receipt preview --json ."),
    ],
    exit_codes={
        0: "the receipt was shown, even if it would name no commit",
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
        made = preview_receipt(project.load(folder))
    except SettingsError as error:
        if any(problem.code == "no_hatchling" for problem in error.problems):
            error.add_note(f"To install it, run: {extra_command('hatch', current_installer())}")
        raise
    _show(output, made.receipt)
    if made.detail:
        output.note(f"{output.emphasis('why:', 'yellow')} {safe(made.detail)}")
    return 0


def _show(output: Output, shown: BuildReceipt) -> None:
    if output.as_json:
        output.data(shown.to_bytes())
        return
    title = f"Build receipt of {shown.package.name} {shown.package.version} (unsigned)"
    pretty.show(output, [pretty.line(title, style="bold"), pretty.facts(_rows(shown))])


def _rows(shown: BuildReceipt) -> list[tuple[str, str]]:
    """Return a receipt as names and values, each with its origin."""
    source = shown.source
    because = "" if source.reason is None else f": {GAP_SENTENCES[source.reason]} [{source.reason}]"
    repository = shown.asserted.repository
    fields = ", ".join(shown.package.computed)
    return [
        ("source", f"recorded: {source.state}{because}"),
        ("commit", f"recorded: {source.commit}" if source.commit else "none"),
        ("skills tree", f"recorded: {source.skills_tree}" if source.skills_tree else "none"),
        ("proof", _proof(source)),
        (
            "repository",
            "not configured" if repository is None else f"configured, not looked up: {repository}",
        ),
        ("ref", ref(shown.asserted.source_ref, source.commit)),
        ("lock sha256", shown.catalog.sha256),
        ("git tree", shown.catalog.git_tree),
        ("metadata", shown.package.metadata_sha256),
        (
            "  computed",
            f"these fields come from code or the environment, not from the commit: {fields}"
            if fields
            else "no field: all of them come from files of the commit",
        ),
        ("inputs", count(len(shown.inputs.files), "file")),
        ("  dirhash", shown.inputs.dir_hash),
    ]


def _proof(source: Source) -> str:
    objects = source.proof
    if objects is None:
        return "none" if source.commit is None else "none: disabled by a setting, or too long"
    total = sum(map(decoded_size, objects))
    return f"{count(len(objects), 'git object')} from commit to skills, {size(total)}"

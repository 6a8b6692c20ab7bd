"""Edge: `export`: verified copies of installed skills."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from skills_bundle.cli import completion
from skills_bundle.cli.failures import EXIT_OK
from skills_bundle.cli.framework import Command, Example, pass_output
from skills_bundle.cli.options import collection_option, command_line, json_option
from skills_bundle.cli.view import pretty
from skills_bundle.cli.view.report import summary
from skills_bundle.cli.view.text import count, size
from skills_bundle.errors import AlteredSkillsError
from skills_bundle.supply_chain.export import export
from skills_bundle.wiring import finder

if TYPE_CHECKING:
    from skills_bundle.cli.output import Output
    from skills_bundle.supply_chain.export import Export


@click.command(
    cls=Command,
    help="""Copy installed skills to a folder and verify the copies.

    The new folder DIR gets one folder for each skill, as agent hosts expect, and a lock of exactly
    these files. Every file is compared with the installation's lock when it is read and
    again after it is written. If anything fails, DIR is not created. Existing files are never
    replaced.
    """,
    examples=[
        Example("Export every skill:", "skills-bundle export exported"),
        Example("Export one skill:", "skills-bundle export one --skill writing-agent-skills"),
        Example(
            "Export another installed collection:",
            "skills-bundle export acme --collection skills-bundle",
        ),
    ],
    exit_codes={
        0: "DIR has verified copies",
        1: "a skill does not match the lock; nothing was exported",
        2: "wrong arguments, an unknown skill or collection, or DIR exists",
        3: "cannot tell: the lock is not valid, or files cannot be read or written",
    },
)
@click.argument("target", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--skill",
    "skills",
    metavar="NAME",
    multiple=True,
    shell_complete=completion.skills_of_one_collection,
    help="Name or path of a skill; can be repeated.",
    show_default="every skill",
)
@collection_option
@json_option
@pass_output
def command(
    output: Output, *, target: Path, skills: tuple[str, ...], collection: str | None
) -> int:
    """Copy installed skills to a folder and verify the copies."""
    try:
        with pretty.progress(output, "Copying the skills ..."):
            exported = export(finder(collection), target, skills)
    except AlteredSkillsError as error:
        error.add_note(f"For details, run `{command_line('verify', collection)}`.")
        raise
    if output.as_json:
        output.json(exported.model_dump(mode="json"))
        return EXIT_OK
    files = count(sum(skill.files for skill in exported.skills), "file")
    amount = size(sum(skill.bytes for skill in exported.skills))
    headline = (
        f"Exported {count(len(exported.skills), 'skill')} with {files}, {amount}: "
        "every file matches the lock"
    )
    pretty.show(output, summary(EXIT_OK, headline, _rows(exported), output.terminal))
    return EXIT_OK


def _rows(exported: Export) -> list[tuple[str, str]]:
    package = f"{exported.package_name} {exported.package_version}"
    if exported.receipt:
        receipt = "the installation's (unsigned); it is about the whole distribution"
    elif exported.lock == "recomputed":
        receipt = "left out, because it is about the installation's lock"
    else:
        receipt = "left out, because it is missing or not valid"
    return [
        ("folder", exported.folder),
        ("from", f"{package}, collection {exported.collection}"),
        (
            "lock",
            "the installation's, unchanged"
            if exported.lock == "installed"
            else "a new one, of the exported files",
        ),
        ("  sha256", exported.catalog_sha256),
        ("receipt", receipt),
    ]

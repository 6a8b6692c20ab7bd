"""Edge: `export`, verified copies of installed skills."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from skills_bundle.cli import completers
from skills_bundle.cli.collection import collection_option, command_line
from skills_bundle.cli.framework import Command, Example, json_option, pass_output
from skills_bundle.cli.view import pretty
from skills_bundle.cli.view.progress import patience
from skills_bundle.cli.view.text import count, size
from skills_bundle.errors import AlteredSkillsError
from skills_bundle.supply_chain.export import export as export_skills
from skills_bundle.wiring import finder

if TYPE_CHECKING:
    from rich.console import RenderableType

    from skills_bundle.cli.output import Output, Terminal
    from skills_bundle.supply_chain.export import Export


@click.command(
    cls=Command,
    help="""Copy installed skills, verified, with their lock.

    DIR is made with one folder a skill, as agent hosts look for them, and a lock of exactly these
    files. Every byte is compared with the installation's lock as it is read, and again once it is
    written. DIR is there whole or not at all, and nothing that lies there is replaced.
    """,
    examples=[
        Example("Every skill of this installation:", "skills-bundle export exported"),
        Example("One of them:", "skills-bundle export one --skill writing-agent-skills"),
        Example(
            "Of another installed collection:",
            "skills-bundle export acme --collection skills-bundle",
        ),
    ],
    exit_codes={
        0: "DIR is there, with verified copies",
        1: "a skill is not what was locked; nothing was exported",
        2: "wrong arguments, no such skill or collection, or DIR is in use",
        3: "cannot tell: no lock that can be believed, or files that cannot be read or written",
    },
)
@click.argument("target", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--skill",
    "skills",
    metavar="NAME",
    multiple=True,
    shell_complete=completers.own_skills,
    help="Name or path of a skill; may be repeated.",
    show_default="all of them",
)
@collection_option
@json_option
@pass_output
def export(output: Output, *, target: Path, skills: tuple[str, ...], collection: str | None) -> int:
    """Copy installed skills, verified, with their lock."""
    try:
        with patience(output, "Copying the skills ..."):
            found = export_skills(finder(collection), target, skills)
    except AlteredSkillsError as error:
        error.add_note(f"`{command_line('verify', collection)}` says what became of them.")
        raise
    if output.as_json:
        output.json(found.model_dump(mode="json"))
    else:
        output.text(pretty.render(_told(found, output.terminal), output.terminal))
    return 0


def _told(found: Export, terminal: Terminal) -> list[RenderableType]:
    skills = count(len(found.skills), "skill")
    files = count(sum(skill.files for skill in found.skills), "file")
    amount = size(sum(skill.bytes for skill in found.skills))
    rows = [
        ("folder", found.folder),
        ("from", f"{found.package_name} {found.package_version}, collection {found.collection}"),
        ("lock", _lock(found)),
        ("  sha256", found.catalog_sha256),
        ("receipt", _receipt(found)),
    ]
    headline = f"Exported {skills} with {files}, {amount}: every byte as locked"
    return [pretty.marked("good", headline, terminal), pretty.facts(rows)]


def _lock(found: Export) -> str:
    if found.lock == "installed":
        return "the installation's, byte by byte"
    return "of the exported files; another one than the installation's"


def _receipt(found: Export) -> str:
    if found.receipt:
        return "the installation's; it speaks of the whole distribution, unsigned"
    if found.lock == "recomputed":
        return "left out: it speaks of another lock"
    return "left out: there is none that can be believed"

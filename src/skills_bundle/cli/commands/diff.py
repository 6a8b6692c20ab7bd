"""Edge: `diff`, how two locks, wheels, sdists, installations or folders differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from skills_bundle.cli.framework import Command, Example, json_option, pass_output
from skills_bundle.cli.view import diff_words, pretty
from skills_bundle.cli.view.progress import patience
from skills_bundle.supply_chain.diff import compare_inputs
from skills_bundle.supply_chain.diff_inputs import open_input

if TYPE_CHECKING:
    from skills_bundle.cli.output import Output

PAGE: Final = "docs/how-to/compare-two-versions.md"


@click.command(
    cls=Command,
    help="""Say how two locks, wheels, sdists, installations or folders differ.

    A and B are each the path of a lock, a wheel, an sdist or a folder, or the name of a collection
    that is installed beside this program. A folder is an installation if it is a `.dist-info`, a
    package with a bundle or a site-packages that holds one; a project if it has a lock at its top;
    else just files.

    Two archives of a kind are compared in all they hold and in how they keep it, a wheel and an
    installation in what is installed, anything else in its skills. Nothing is run or written.
    """,
    examples=[
        Example(
            "What a new version changes:",
            "skills-bundle diff old/acme_skills-1.0-py3-none-any.whl "
            "new/acme_skills-1.1-py3-none-any.whl",
            PAGE,
        ),
        Example(
            "A wheel with what is installed:",
            "skills-bundle diff skills_bundle-0.1.0-py3-none-any.whl skills-bundle",
            PAGE,
        ),
        Example(
            "Two locks, without the lines of texts:",
            "skills-bundle diff before.lock.json acme/catalog.lock.json --no-text",
            PAGE,
        ),
    ],
    exit_codes={
        0: "they are the same in what they have in common",
        1: "they differ, or an archive is refused",
        2: "wrong arguments, or a collection that is not installed",
        3: "cannot tell: one is not there, or something of it cannot be read",
    },
)
@click.argument("before", metavar="A", type=click.Path())
@click.argument("after", metavar="B", type=click.Path())
@click.option("--text/--no-text", default=True, help="Show the lines in which texts differ.")
@click.option("--verbose", is_flag=True, help="List everything that differs, however much.")
@json_option
@pass_output
def diff(output: Output, *, before: str, after: str, text: bool, verbose: bool) -> int:
    """Say how two locks, wheels, sdists, installations or folders differ."""
    with patience(output, "Reading both ..."):
        found = compare_inputs(open_input(before), open_input(after), text=text)
    if output.as_json:
        output.json(found.to_dict())
    else:
        parts = diff_words.told(found, output.terminal, everything=verbose)
        output.text(pretty.render(parts, output.terminal))
    return found.exit_code

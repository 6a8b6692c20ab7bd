"""Edge: `catalog collections`, what distributions in this environment bring."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import click

from skills_bundle.cli.framework import Command, Example, json_option, pass_output
from skills_bundle.cli.view import pretty
from skills_bundle.cli.view.text import safe_line
from skills_bundle.errors import SkillsBundleError
from skills_bundle.installed import collections as declared
from skills_bundle.wiring import open_catalog

if TYPE_CHECKING:
    from pydantic import JsonValue

    from skills_bundle.cli.output import Output
    from skills_bundle.installed.collections import Declared


@click.command(
    cls=Command,
    help="""List the installed collections.

    A distribution declares one with an entry point of the group `skills_bundle.collections`. Only
    the running environment is looked at, and no code of the packages is run. Their skill files are
    hashed; `skills-bundle verify --collection NAME` looks at everything.
    """,
    examples=[
        Example("What --collection can name:", "skills-bundle catalog collections"),
        Example("For programs:", "skills-bundle catalog collections --json"),
    ],
    exit_codes={0: "listed, also those that cannot be served", 2: "wrong arguments"},
)
@json_option
@pass_output
def collections(output: Output) -> int:
    """List the installed collections."""
    survey = declared.survey()
    there = survey.declared
    owners = Counter(row.name for row in there)
    rows = [_facts(row, is_ambiguous=owners[row.name] > 1) for row in there]
    if output.as_json:
        output.json({"collections": list(rows)})
        return 0
    columns = [
        pretty.Column("Collection", style="bold"),
        pretty.Column("Distribution"),
        pretty.Column("Skills", justify="right"),
        pretty.Column("Integrity", ratio=1),
    ]
    cells = [_cells(row) for row in rows]
    output.text(pretty.render([pretty.table(columns, cells, output.terminal)], output.terminal))
    problems = [f"{row['name']}: {row['problem']}" for row in rows if row["problem"] is not None]
    for problem in dict.fromkeys(problems):  # what two declare is wrong with both, and told once
        output.note(safe_line(problem))
    for note in survey.notes():
        output.note(safe_line(f"{note}."))
    return 0


def _facts(row: Declared, *, is_ambiguous: bool) -> dict[str, JsonValue]:
    """Look at one collection as a server would."""
    facts: dict[str, JsonValue] = {
        "name": row.name,
        "distribution": row.distribution,
        "version": row.version,
        "package": row.package,
        "skills": None,
        "integrity": "unavailable",
        "problem": None,
    }
    try:
        if is_ambiguous:
            declared.find(row.name)
        catalog = open_catalog(find=declared.opener(row))
        problem = catalog.problem()
        if problem is not None:
            return facts | {"problem": problem.summary}
        view = catalog.shelf.view()
    except SkillsBundleError as error:
        return facts | {"problem": error.summary}
    return facts | {
        "skills": len(view.lock.skills),
        "integrity": view.provenance.source_provenance.integrity,
    }


def _cells(row: dict[str, JsonValue]) -> tuple[str, str, str, str]:
    skills = "-" if row["skills"] is None else str(row["skills"])
    owner = f"{row['distribution']} {row['version']}"
    return safe_line(str(row["name"])), safe_line(owner), skills, str(row["integrity"])

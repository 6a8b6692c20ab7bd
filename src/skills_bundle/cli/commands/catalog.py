"""Edge: `catalog search|read|overview|collections`: what the MCP tools answer, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from skills_bundle.catalog import limits
from skills_bundle.cli import completion
from skills_bundle.cli.framework import Command, Example, pass_output
from skills_bundle.cli.options import (
    as_names,
    collections_option,
    json_option,
    naming_collections,
    resources_option,
    skill_collection_option,
)
from skills_bundle.cli.view import pretty
from skills_bundle.cli.view.catalog import (
    ReadRequest,
    explain_refusal,
    note_unavailable,
    show_result,
)
from skills_bundle.cli.view.report import provenance_rows
from skills_bundle.cli.view.text import count, safe_line, size
from skills_bundle.errors import SkillsBundleError, ToolError, UnsafeFileError
from skills_bundle.installed import collections as declared
from skills_bundle.wiring import DeferredBundle, choose, open_chosen

if TYPE_CHECKING:
    from pydantic import JsonValue

    from skills_bundle.catalog.model import ReadResult
    from skills_bundle.catalog.reading import Resources
    from skills_bundle.catalog.service import Catalog
    from skills_bundle.cli.output import Output
    from skills_bundle.installed.collections import Declared

EXIT_CODES: Final = {
    0: "success, even if nothing was found",
    2: "wrong arguments, or a collection that is not installed",
    3: "no collection can be served: its lock is missing or not valid",
}


@click.command(
    cls=Command,
    help="""List the skills that contain a text.

    QUERY is one phrase; several words are joined by spaces. The search looks for this exact text in
    names, descriptions and tags, ignoring case. Without QUERY it lists every skill.
    """,
    about_collections="""The search covers every installed collection, or those that --collection
    names.""",
    examples=[
        Example("List every skill:", "skills-bundle catalog search"),
        Example("List the skills that contain a text:", "skills-bundle catalog search mcp"),
        Example("A phrase needs no quotes:", "skills-bundle catalog search agent skills"),
        Example(
            "Search one collection:", "skills-bundle catalog search --collection skills-bundle"
        ),
        Example("Print JSON, page by page:", "skills-bundle catalog search --json --limit 5"),
    ],
    exit_codes=EXIT_CODES,
)
@click.argument("words", metavar="[QUERY]...", nargs=-1)
@click.option("--query", metavar="TEXT", help="The text to look for, if it starts with a dash.")
@click.option(
    "--limit",
    type=click.IntRange(1, limits.SEARCH_MAX_LIMIT),
    default=limits.SEARCH_DEFAULT_LIMIT,
    help="The maximum number of skills to list.",
)
@click.option("--offset", type=click.IntRange(0), default=0, help="Skip this many skills.")
@click.option("--verbose", is_flag=True, help="Show whole descriptions, and tags.")
@collections_option
@json_option
@pass_output
def search(  # noqa: PLR0913 - one parameter an option
    output: Output,
    *,
    words: tuple[str, ...],
    query: str | None,
    limit: int,
    offset: int,
    verbose: bool,
    collection: tuple[str, ...],
) -> int:
    """List the skills that contain a text."""
    if words and query is not None:
        raise click.UsageError("Use either QUERY or --query, not both.")
    catalog = open_chosen(choose(collection))
    with naming_collections(collection):
        result = catalog.search(" ".join(words) or query or "", limit=limit, offset=offset)
    if output.as_json:
        output.json(catalog.to_dict(result))
    else:
        show_result(output, result, several=catalog.several, verbose=verbose)
    return 0


@click.command(
    cls=Command,
    help="""Read a file of a skill.

    SKILL is a skill's name or path, and RESOURCE is a file in it. A terminal shows formatted
    Markdown, then where it comes from. A pipe or file gets the exact bytes.
    """,
    about_collections="""If several collections have the skill, select one with --collection.""",
    examples=[
        Example("Read a skill:", "skills-bundle catalog read writing-agent-skills"),
        Example(
            "Save its exact bytes:",
            "skills-bundle catalog read writing-agent-skills --raw > writing.md",
        ),
        Example(
            "Print JSON, with digest and provenance:",
            "skills-bundle catalog read writing-agent-skills --json",
        ),
    ],
    exit_codes={
        **EXIT_CODES,
        0: "the content was printed",
        1: "there is no such skill or resource, or its file has changed",
        2: "wrong arguments, or a skill that several collections have",
    },
)
@click.argument("skill", shell_complete=completion.skills)
@click.argument("resource", default="SKILL.md", shell_complete=completion.resources)
@click.option("--offset", type=click.IntRange(0), default=0, help="Skip this many bytes.")
@click.option(
    "--limit",
    type=click.IntRange(limits.READ_MIN_LIMIT, limits.READ_MAX_LIMIT),
    default=None,
    show_default=f"the whole file; {limits.READ_DEFAULT_LIMIT} with --json",
    help="The maximum number of bytes to read.",
)
@click.option("--raw", is_flag=True, help="Print the exact bytes, even to a terminal.")
@resources_option
@skill_collection_option
@json_option
@pass_output
def read(  # noqa: PLR0913 - one parameter an option
    output: Output,
    *,
    skill: str,
    resource: str,
    offset: int,
    limit: int | None,
    raw: bool,
    resources: Resources,
    collection: str | None,
) -> int:
    """Read a file of a skill."""
    names = as_names(collection)
    catalog = open_chosen(choose(names), resources=resources)
    try:
        with naming_collections(names):
            page = catalog.read(
                skill, resource, offset=offset, limit=limit or limits.READ_DEFAULT_LIMIT
            )
    except ToolError as error:
        if error.code != "catalog_unavailable":
            request = ReadRequest(skill, resource, resources, collection)
            error.add_note(explain_refusal(catalog, request))
        raise
    if output.as_json:
        output.json(catalog.to_dict(page))
        return 0
    content = page.content
    if limit is None:
        content, page = read_to_end(catalog, page)
    _show_content(output, content, page, raw=raw or not output.terminal.interactive)
    return 0


def read_to_end(catalog: Catalog, first: ReadResult) -> tuple[str, ReadResult]:
    """Read the pages after the first one; return all of them joined, and the last one.

    Raises:
        UnsafeFileError: If the file is replaced in between.
    """
    contents, page = [first.content], first
    while page.next_offset is not None:
        page = catalog.read(
            first.path, first.resource, page.next_offset, collection=first.collection
        )
        if page.content_sha256 != first.content_sha256:
            raise UnsafeFileError("changed", f"{first.path}/{first.resource}")
        contents.append(page.content)
    return "".join(contents), page


def _show_content(output: Output, content: str, page: ReadResult, *, raw: bool) -> None:
    if raw:
        output.data(content.encode())
    else:
        is_markdown = page.media_type == "text/markdown"
        rows = [("size", size(page.byte_length)), ("sha256", page.content_sha256)]
        parts = [
            pretty.markdown(content, output.terminal) if is_markdown else pretty.line(content),
            pretty.heading(f"{page.path}/{page.resource}"),
            pretty.facts([*rows, *provenance_rows(page.provenance)]),
        ]
        pretty.show(output, parts)
    if page.next_offset is not None:
        left = count(page.remaining, "byte")
        output.note(f"{left} left. To continue, add --offset {page.next_offset}.")


@click.command(
    cls=Command,
    help="""Print the overview of skills that agents get.

    It lists skills with short descriptions, and the number of skills that it leaves out.
    """,
    examples=[
        Example("Print the overview:", "skills-bundle catalog overview"),
        Example("Print a shorter one:", "skills-bundle catalog overview --max-entries 3"),
    ],
    exit_codes=EXIT_CODES,
)
@click.option(
    "--max-entries",
    type=click.IntRange(1, limits.OVERVIEW_MAX_ENTRIES),
    default=limits.OVERVIEW_MAX_ENTRIES,
    help="The maximum number of skills to list.",
)
@collections_option
@json_option
@pass_output
def overview(output: Output, *, max_entries: int, collection: tuple[str, ...]) -> int:
    """Print the overview of skills that agents get."""
    catalog = open_chosen(choose(collection))
    with naming_collections(collection):
        result = catalog.overview(max_entries)
    if output.as_json:
        output.json(catalog.to_dict(result))
    else:
        output.data(result.overview.encode())
        note_unavailable(output, result.collections)
    return 0


@click.command(
    cls=Command,
    help="""List the installed collections.

    A distribution declares a collection with an entry point in the group
    `skills_bundle.collections`. This command looks only at the environment it runs in, and runs no
    code of these packages. It checks the skill files of each collection; `skills-bundle verify
    --collection NAME` checks all files.
    """,
    examples=[
        Example("List what --collection accepts:", "skills-bundle catalog collections"),
        Example("Print JSON:", "skills-bundle catalog collections --json"),
    ],
    exit_codes={0: "success, even if a collection cannot be served", 2: "wrong arguments"},
)
@json_option
@pass_output
def collections(output: Output) -> int:
    """List the installed collections."""
    survey = declared.survey()
    rows = [_collection_facts(row, survey) for row in survey.declared]
    if output.as_json:
        output.json({"collections": list(rows)})
        return 0
    columns = [
        pretty.Column("Collection", style="bold"),
        pretty.Column("Distribution"),
        pretty.Column("Skills", justify="right"),
        pretty.Column("Integrity", ratio=1),
    ]
    cells = [
        (
            str(row["name"]),
            f"{row['distribution']} {row['version']}",
            "-" if row["skills"] is None else str(row["skills"]),
            str(row["integrity"]),
        )
        for row in rows
    ]
    pretty.show(output, [pretty.table(columns, cells, output.terminal)])
    problems = [f"{row['name']}: {row['problem']}" for row in rows if row["problem"] is not None]
    # Two distributions that declare one collection have the same problem.
    for note in (*dict.fromkeys(problems), *(f"{note}." for note in survey.notes())):
        output.note(safe_line(note))
    return 0


def _collection_facts(row: Declared, survey: declared.Survey) -> dict[str, JsonValue]:
    """Return what a server would find out about one collection."""
    facts: dict[str, JsonValue] = {
        "name": row.name,
        "distribution": row.distribution,
        "version": row.version,
        "package": row.package,
        "skills": None,
        "integrity": "unavailable",
        "problem": None,
    }
    if row.name == declared.OWN.name and row != declared.OWN:
        return facts | {"problem": "it is the name of our own collection, which is served instead"}
    try:
        if row.name in survey.ambiguous:
            survey.finder(row.name)
        view = DeferredBundle(declared.locator(row)).current()
    except SkillsBundleError as error:
        return facts | {"problem": error.summary}
    return facts | {
        "skills": len(view.lock.skills),
        "integrity": view.provenance.source_provenance.integrity,
    }

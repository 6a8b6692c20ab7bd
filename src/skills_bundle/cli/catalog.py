"""Edge: `catalog search|read|overview`, the MCP tools' answers for people and for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

import click

from skills_bundle import limits
from skills_bundle.cli import claims, completers, pretty
from skills_bundle.cli.collection import answering_for, collection_option
from skills_bundle.cli.framework import Command, Example, json_option, pass_output
from skills_bundle.cli.read_hints import why_refused
from skills_bundle.cli.text import count, safe_line, shortened, size
from skills_bundle.errors import ToolError, UnsafeFileError
from skills_bundle.wiring import finder, open_catalog

if TYPE_CHECKING:
    from rich.console import RenderableType

    from skills_bundle.catalog import Catalog
    from skills_bundle.catalog.model import ReadResult, SearchResult
    from skills_bundle.cli.output import Output

SHOWN_CHARACTERS: Final = 160
"""Code points of a description in a table without --verbose: three lines on a plain terminal."""

ANSWER_CODES: Final = {
    0: "answered, also when nothing was found",
    2: "arguments that the tool does not take, or a collection that is not installed",
    3: "the catalog is not available: its lock is missing or cannot be trusted",
}


@click.command(
    cls=Command,
    help="""List the skills that contain a text.

    QUERY is one phrase, several words joined by a space. It is looked for literally, without regard
    to case, in name, description and tags. Without one, every skill is listed.
    """,
    examples=[
        Example("List every skill:", "skills-bundle catalog search"),
        Example("List the skills that contain a text:", "skills-bundle catalog search mcp"),
        Example("A phrase needs no quotes:", "skills-bundle catalog search agent skills"),
        Example("For programs, page by page:", "skills-bundle catalog search --json --limit 5"),
    ],
    exit_codes=ANSWER_CODES,
)
@click.argument("words", metavar="[QUERY]...", nargs=-1)
@click.option("--query", metavar="TEXT", help="The text to look for, when it starts with a dash.")
@click.option(
    "--limit",
    type=click.IntRange(1, limits.SEARCH_MAX_LIMIT),
    default=limits.SEARCH_DEFAULT_LIMIT,
    help="Skills to list at most.",
)
@click.option("--offset", type=click.IntRange(0), default=0, help="Skills to pass over first.")
@click.option("--verbose", is_flag=True, help="Show whole descriptions, and tags.")
@collection_option
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
    collection: str | None,
) -> int:
    """List the skills that contain a text."""
    if words and query is not None:
        raise click.UsageError("Give the text once, as QUERY or with --query.")
    source = open_catalog(find=finder(collection))
    with answering_for(collection):
        result = source.search(" ".join(words) or query or "", limit=limit, offset=offset)
    if output.as_json:
        output.json(result.model_dump(mode="json"))
    else:
        _show_search(output, result, whole=verbose)
    return 0


def _show_search(output: Output, result: SearchResult, *, whole: bool) -> None:
    if not result.skills:
        output.note(_nothing_found(result))
        return
    parts = _whole_rows(result) if whole else [_search_table(output, result)]
    parts.append(pretty.line(f"\n{_range(result)} of {count(result.total, 'skill')}"))
    output.text(pretty.render(parts, output.terminal))
    if not whole and any(len(row.description) > SHOWN_CHARACTERS for row in result.skills):
        output.note("Descriptions are shortened; --verbose shows them whole, with tags.")
    if result.next_offset is not None:
        output.note(f"More with --offset {result.next_offset}.")


def _search_table(output: Output, result: SearchResult) -> RenderableType:
    columns = [pretty.Column("Skill", style="bold"), pretty.Column("Description", ratio=1)]
    rows = [(row.path, shortened(row.description, SHOWN_CHARACTERS)) for row in result.skills]
    return pretty.table(columns, rows, output.terminal)


def _whole_rows(result: SearchResult) -> list[RenderableType]:
    parts: list[RenderableType] = []
    for row in result.skills:
        facts = [("", row.description)]
        facts += [("tags", ", ".join(row.tags))] if row.tags else []
        facts += [("tolerated", ", ".join(row.diagnostics))] if row.diagnostics else []
        parts += [pretty.heading(row.path), pretty.facts(facts)]
    return parts


def _range(result: SearchResult) -> str:
    first, last = result.offset + 1, result.offset + len(result.skills)
    return f"{first}" if first == last else f"{first} to {last}"


def _nothing_found(result: SearchResult) -> str:
    if result.total:
        return f"There are {count(result.total, 'skill')}, none after --offset {result.offset}."
    if result.query:
        return (
            f"No skill contains '{safe_line(result.query)}', looked for as one literal phrase. "
            "Try fewer words, or list all with `skills-bundle catalog search`."
        )
    return "The catalog holds no skills."


@click.command(
    cls=Command,
    help="""Read a file of a skill.

    SKILL is a skill's name or path, RESOURCE a file in it. On a terminal the Markdown is laid out
    and followed by where it comes from; into a pipe or file go the exact bytes and nothing else.
    """,
    examples=[
        Example("Read a skill:", "skills-bundle catalog read writing-agent-skills"),
        Example(
            "Keep its exact bytes:",
            "skills-bundle catalog read writing-agent-skills --raw > writing.md",
        ),
        Example(
            "As a program, with digest and provenance:",
            "skills-bundle catalog read writing-agent-skills --json",
        ),
    ],
    exit_codes={
        **ANSWER_CODES,
        0: "the content was printed",
        1: "no such skill or resource, or its installed file was changed",
    },
)
@click.argument("skill", shell_complete=completers.skills)
@click.argument("resource", default="SKILL.md", shell_complete=completers.resources)
@click.option("--offset", type=click.IntRange(0), default=0, help="Bytes to pass over first.")
@click.option(
    "--limit",
    type=click.IntRange(limits.READ_MIN_LIMIT, limits.READ_MAX_LIMIT),
    default=None,
    show_default=f"the whole file; {limits.READ_DEFAULT_LIMIT} with --json",
    help="Bytes to read at most.",
)
@click.option("--raw", is_flag=True, help="Print the exact bytes, also on a terminal.")
@click.option(
    "--resources",
    type=click.Choice(["markdown", "all"]),
    default="markdown",
    help="What may be read: SKILL.md and Markdown below references/, or every text file.",
)
@collection_option
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
    resources: Literal["markdown", "all"],
    collection: str | None,
) -> int:
    """Read a file of a skill."""
    source = open_catalog(resources=resources, find=finder(collection))
    try:
        with answering_for(collection):
            page = source.read(
                skill, resource, offset=offset, limit=limit or limits.READ_DEFAULT_LIMIT
            )
    except ToolError as error:
        if error.code != "catalog_unavailable":
            error.add_note(why_refused(source.shelf.view(), skill, resource, resources))
        raise
    if output.as_json:
        output.json(page.model_dump(mode="json"))
        return 0
    content = page.content
    if limit is None:
        content, page = to_the_end(source, page)
    _show_content(output, content, page, raw=raw or not output.terminal.interactive)
    return 0


def to_the_end(source: Catalog, first: ReadResult) -> tuple[str, ReadResult]:
    """Read the pages after one; give all of them joined, and the last.

    Raises:
        UnsafeFileError: If the file is replaced meanwhile: pages of two versions are none of both.
    """
    contents, page = [first.content], first
    while page.next_offset is not None:
        page = source.read(first.path, first.resource, page.next_offset)
        if page.content_sha256 != first.content_sha256:
            raise UnsafeFileError("changed", f"{first.path}/{first.resource}")
        contents.append(page.content)
    return "".join(contents), page


def _show_content(output: Output, content: str, page: ReadResult, *, raw: bool) -> None:
    if raw:
        output.data(content.encode())
    else:
        is_markdown = page.media_type == "text/markdown"
        parts = [
            pretty.markdown(content, output.terminal) if is_markdown else pretty.line(content),
            *_footer(page),
        ]
        output.text(pretty.render(parts, output.terminal))
    if page.next_offset is not None:
        output.note(
            f"{count(page.remaining, 'byte')} left; go on with --offset {page.next_offset}."
        )


def _footer(page: ReadResult) -> list[RenderableType]:
    whole = [("size", size(page.byte_length)), ("sha256", page.content_sha256)]
    return [
        pretty.heading(f"{page.path}/{page.resource}"),
        pretty.facts([*whole, *claims.rows(page.provenance)]),
    ]


@click.command(
    cls=Command,
    help="""Print the overview that agents are given.

    It names the skills with short descriptions, and says how many it leaves out.
    """,
    examples=[
        Example("See what agents see first:", "skills-bundle catalog overview"),
        Example("A shorter one:", "skills-bundle catalog overview --max-entries 3"),
    ],
    exit_codes=ANSWER_CODES,
)
@click.option(
    "--max-entries",
    type=click.IntRange(1, limits.OVERVIEW_MAX_ENTRIES),
    default=limits.OVERVIEW_MAX_ENTRIES,
    help="Skills to name at most.",
)
@collection_option
@json_option
@pass_output
def overview(output: Output, *, max_entries: int, collection: str | None) -> int:
    """Print the overview that agents are given."""
    with answering_for(collection):
        result = open_catalog(find=finder(collection)).overview(max_entries)
    if output.as_json:
        output.json(result.model_dump(mode="json"))
    else:
        output.data(result.overview.encode())
    return 0

"""Edge: `catalog search|read|overview`, the MCP tools' answers for people and for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, cast

import click

from skills_bundle.catalog import Catalogs, limits
from skills_bundle.catalog.several_model import CollectedReadResult, OverviewSeveralResult
from skills_bundle.cli import completers
from skills_bundle.cli.collection import (
    answering_for,
    collections_option,
    holder_option,
    named,
)
from skills_bundle.cli.framework import Command, Example, json_option, pass_output
from skills_bundle.cli.view import claims, found, pretty
from skills_bundle.cli.view.read_hints import Asked, why_refused
from skills_bundle.cli.view.text import count, size
from skills_bundle.errors import ToolError, UnsafeFileError
from skills_bundle.wiring import choose, open_chosen

if TYPE_CHECKING:
    from rich.console import RenderableType

    from skills_bundle.catalog import Catalog, Source
    from skills_bundle.catalog.model import ReadResult
    from skills_bundle.cli.output import Output

ANSWER_CODES: Final = {
    0: "answered, also when nothing was found",
    2: "arguments that the tool does not take, or a collection that is not installed",
    3: "no collection is available: a lock is missing or cannot be trusted",
}


@click.command(
    cls=Command,
    help="""List the skills that contain a text.

    QUERY is one phrase, several words joined by a space. It is looked for literally, without regard
    to case, in name, description and tags. Without one, every skill is listed.

    Every installed collection is searched, or those that --collection names; of several, each row
    names its own.
    """,
    examples=[
        Example("List every skill:", "skills-bundle catalog search"),
        Example("List the skills that contain a text:", "skills-bundle catalog search mcp"),
        Example("A phrase needs no quotes:", "skills-bundle catalog search agent skills"),
        Example(
            "Search one collection alone:",
            "skills-bundle catalog search --collection skills-bundle",
        ),
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
        raise click.UsageError("Give the text once, as QUERY or with --query.")
    source = open_chosen(choose(collection))
    with answering_for(collection):
        result = source.search(" ".join(words) or query or "", limit=limit, offset=offset)
    if output.as_json:
        output.json(result.model_dump(mode="json"))
    else:
        found.show(output, result, whole=verbose)
    return 0


@click.command(
    cls=Command,
    help="""Read a file of a skill.

    SKILL is a skill's name or path, RESOURCE a file in it. On a terminal the Markdown is laid out
    and followed by where it comes from; into a pipe or file go the exact bytes and nothing else.

    Every installed collection is looked in; a skill that several hold needs --collection.
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
        2: "arguments that the tool does not take, or a skill that several collections hold",
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
@holder_option
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
    source = open_chosen(choose(named(collection)), resources=resources)
    try:
        with answering_for(named(collection)):
            page = source.read(
                skill, resource, offset=offset, limit=limit or limits.READ_DEFAULT_LIMIT
            )
    except ToolError as error:
        if error.code != "catalog_unavailable":
            error.add_note(why_refused(source, Asked(skill, resource, resources, collection)))
        raise
    if output.as_json:
        output.json(page.model_dump(mode="json"))
        return 0
    content = page.content
    if limit is None:
        content, page = to_the_end(_holder(source, page), page)
    _show_content(output, content, page, raw=raw or not output.terminal.interactive)
    return 0


def _holder(source: Source, page: ReadResult) -> Catalog:
    """Give the catalog that a page was read from."""
    if isinstance(source, Catalogs) and isinstance(page, CollectedReadResult):
        return source.catalogs[page.collection]
    return cast("Catalog", source)


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
@collections_option
@json_option
@pass_output
def overview(output: Output, *, max_entries: int, collection: tuple[str, ...]) -> int:
    """Print the overview that agents are given."""
    source = open_chosen(choose(collection))
    with answering_for(collection):
        result = source.overview(max_entries)
    if output.as_json:
        output.json(result.model_dump(mode="json"))
    else:
        output.data(result.overview.encode())
        if isinstance(result, OverviewSeveralResult):
            found.tell_gone(output, result.collections)
    return 0

"""Decision: the group `catalog`: search, read and overview of the skills that the lock pins.

Where several collections are served the same tools take `collection` and name it in their answers;
where one is served, neither schema nor description mentions others: hosts pay for every word.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from skills_bundle.catalog.model import (
    OverviewArguments,
    OverviewResult,
    ReadArguments,
    ReadResult,
    SearchArguments,
    SearchResult,
)
from skills_bundle.server import limits
from skills_bundle.server.tools.base import Tool

if TYPE_CHECKING:
    from skills_bundle.server.tools import ToolContext

SEARCH: Final = """\
Find skills (instructions for a kind of task) by a phrase in their name, description or tags.
The query is one literal phrase, matched without regard to case; an empty query lists all skills.
For the next page, pass next_offset as offset."""

READ: Final = """\
Read a skill's instructions (SKILL.md) or another of its text files, compared with the lock.
SKILL.md comes with `files`, the skill's other files. Long files come in pages: pass next_offset as
offset until it is null. content_sha256 and byte_length are those of the whole file."""

READ_MARKDOWN: Final = """
Only SKILL.md and Markdown below references/ can be read here."""

READ_BASE: Final = """
`base` is the skill's folder on this machine, as compared just now: run its scripts from there."""

OVERVIEW: Final = """\
Show all skills in one text, one line each, to choose from without a search.
Skills that do not fit are counted."""

SEARCH_SEVERAL: Final = """
Several collections are searched. Each row names its `collection`; `collections` says where each
comes from, or why it cannot be served."""

READ_SEVERAL: Final = """
Pass the `collection` of the row: a name that several collections have is refused without it."""

OVERVIEW_SEVERAL: Final = """
Each row names its collection in brackets."""


def tools(context: ToolContext) -> tuple[Tool[Any], ...]:
    """Return the group's tools."""
    catalog = context.catalog
    several = catalog.several
    return (
        Tool(
            name="skill_catalog_search",
            title="Search skills",
            description=SEARCH + (SEARCH_SEVERAL if several else ""),
            arguments=SearchArguments,
            result=SearchResult,
            answer=catalog.answer_search,
            several=several,
        ),
        Tool(
            name="skill_resource_read",
            title="Read a skill's file",
            description="".join(
                (
                    READ,
                    READ_MARKDOWN if catalog.resources == "markdown" else "",
                    READ_BASE if catalog.exposes_paths else "",
                    READ_SEVERAL if several else "",
                )
            ),
            max_result_characters=limits.RESULT_MAX_CHARACTERS,
            arguments=ReadArguments,
            result=ReadResult,
            answer=catalog.answer_read,
            several=several,
        ),
        Tool(
            name="skill_catalog_overview",
            title="List skills",
            description=OVERVIEW + (OVERVIEW_SEVERAL if several else ""),
            arguments=OverviewArguments,
            result=OverviewResult,
            answer=catalog.answer_overview,
            several=several,
        ),
    )

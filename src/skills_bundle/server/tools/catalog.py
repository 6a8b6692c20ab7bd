"""Decision: the group `catalog`: search, read and overview of the skills that the lock pins."""

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
from skills_bundle.server.tools.base import Tool

if TYPE_CHECKING:
    from skills_bundle.catalog.service import Catalog


def tools(catalog: Catalog) -> tuple[Tool[Any], ...]:
    """Give the group's tools."""
    return (
        Tool(
            name="skill_catalog_search",
            description=SEARCH,
            arguments=SearchArguments,
            result=SearchResult,
            answer=lambda given: catalog.search(given.query, given.limit, given.offset),
        ),
        Tool(
            name="skill_resource_read",
            description=READ,
            arguments=ReadArguments,
            result=ReadResult,
            answer=lambda given: catalog.read(
                given.skill, given.resource, given.offset, given.limit
            ),
        ),
        Tool(
            name="skill_catalog_overview",
            description=OVERVIEW,
            arguments=OverviewArguments,
            result=OverviewResult,
            answer=lambda given: catalog.overview(given.max_entries),
        ),
    )


SEARCH: Final = """\
Find skills (tested instructions for a kind of task) by a phrase in their name, description or tags.
The query is one literal phrase in any letter case; an empty one lists all. Continue with offset =
next_offset."""

READ: Final = """\
Read a skill's instructions (SKILL.md) or one of its reference files, checked against the lock.
Long files come in pages: continue with offset = next_offset until it is null. content_sha256 and
byte_length are the whole file's."""

OVERVIEW: Final = """\
Show in one text which skills there are, for choosing without a search.
What does not fit is counted, never left out silently."""

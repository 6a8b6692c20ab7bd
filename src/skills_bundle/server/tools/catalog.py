"""Decision: the group `catalog`: search, read and overview of the skills that the lock pins.

Where several collections are served the same tools take `collection` and say it in their answers;
where there is one, neither schema nor description mentions others: hosts pay for every word.
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
from skills_bundle.catalog.several import Catalogs
from skills_bundle.catalog.several_model import (
    CollectedReadResult,
    OverviewSeveralArguments,
    OverviewSeveralResult,
    ReadSeveralArguments,
    SearchSeveralArguments,
    SearchSeveralResult,
)
from skills_bundle.server.tools.base import Tool

if TYPE_CHECKING:
    from skills_bundle.catalog.service import Catalog


def tools(catalog: Catalog | Catalogs) -> tuple[Tool[Any], ...]:
    """Give the group's tools, over one collection or several."""
    return _of_several(catalog) if isinstance(catalog, Catalogs) else _of_one(catalog)


def _of_one(catalog: Catalog) -> tuple[Tool[Any], ...]:
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


def _of_several(catalogs: Catalogs) -> tuple[Tool[Any], ...]:
    return (
        Tool(
            name="skill_catalog_search",
            description=SEARCH + SEARCH_OF_SEVERAL,
            arguments=SearchSeveralArguments,
            result=SearchSeveralResult,
            answer=lambda given: catalogs.search(
                given.query, given.limit, given.offset, given.collection
            ),
        ),
        Tool(
            name="skill_resource_read",
            description=READ + READ_OF_SEVERAL,
            arguments=ReadSeveralArguments,
            result=CollectedReadResult,
            answer=lambda given: catalogs.read(
                given.skill, given.resource, given.offset, given.limit, given.collection
            ),
        ),
        Tool(
            name="skill_catalog_overview",
            description=OVERVIEW + OVERVIEW_OF_SEVERAL,
            arguments=OverviewSeveralArguments,
            result=OverviewSeveralResult,
            answer=lambda given: catalogs.overview(given.max_entries, given.collection),
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

SEARCH_OF_SEVERAL: Final = """
Several collections are searched; each row names its `collection`, and `collections` says where each
comes from, or why one cannot be served."""

READ_OF_SEVERAL: Final = """
Pass on the `collection` of the row: a name that is in several is refused without it."""

OVERVIEW_OF_SEVERAL: Final = """
Each row names its collection in brackets."""

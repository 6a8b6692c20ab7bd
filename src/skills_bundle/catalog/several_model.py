"""Record: what one may ask of several collections at once, and what they answer.

The records of one collection, with the collection added: in the arguments as a choice, in the
answers as a fact. A server of one collection knows none of these.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from skills_bundle.bundle.provenance import (
    Provenance,
)
from skills_bundle.catalog.model import (
    OverviewArguments,
    ReadArguments,
    ReadResult,
    SearchArguments,
    SkillRow,
)
from skills_bundle.formats.record import Record

CollectionName = Annotated[
    str,
    Field(
        min_length=1,
        description="Exactly a `collection` of an earlier answer. Without it, all of them.",
    ),
]

Problem = Literal["catalog_unavailable", "ambiguous_collection"]


class SearchSeveralArguments(SearchArguments):
    """Arguments of a search."""

    collection: CollectionName | None = None


class ReadSeveralArguments(ReadArguments):
    """Arguments of a read."""

    collection: CollectionName | None = None


class OverviewSeveralArguments(OverviewArguments):
    """Arguments of an overview."""

    collection: CollectionName | None = None


class CollectionState(Record):
    """A collection that an answer is about, whether it could be served or not.

    Attributes:
        collection: The name by which its distribution declares it.
        total: How many of its skills the whole answer is about; null if it cannot be served.
        provenance: Where what it gives comes from; null if it cannot be served.
        problem: Null, or why it cannot be served now: `catalog_unavailable` (its lock is missing or
            cannot be believed, or its package is gone) or `ambiguous_collection` (more than one
            distribution declares the name).
    """

    collection: str
    total: int | None
    provenance: Provenance | None
    problem: Problem | None


class CollectedSkillRow(SkillRow):
    """A skill in a search result.

    Attributes:
        collection: The collection that holds it; with it and the path, exactly this one is read.
    """

    collection: str


class SearchSeveralResult(Record):
    """Skills that match, one page of them, by name, then collection, then path.

    Attributes:
        collections: Every collection that was looked at, by name, with its provenance.
        collection: As asked, or null for all.
        query: As asked.
        limit: As asked or by default.
        offset: As asked or by default.
        total: Matches in all.
        next_offset: Where the next page starts, or null after the last one.
        skills: This page.
    """

    collections: tuple[CollectionState, ...]
    collection: str | None
    query: str
    limit: int
    offset: int
    total: int
    next_offset: int | None
    skills: tuple[CollectedSkillRow, ...]


class CollectedReadResult(ReadResult):
    """A file of a skill, one page of it.

    Attributes:
        collection: The collection that holds the skill.
    """

    collection: str


class OverviewSeveralResult(Record):
    """The collections at a glance, for a model's context.

    Attributes:
        collections: Every collection that was looked at, by name, with its provenance.
        collection: As asked, or null for all.
        overview: Text of at most `limits.OVERVIEW_MAX_CHARACTERS` UTF-16 units.
    """

    collections: tuple[CollectionState, ...]
    collection: str | None
    overview: str

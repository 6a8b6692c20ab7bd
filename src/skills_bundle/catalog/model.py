"""Record: what one may ask a catalog, and what it answers. Tools and commands share these.

The server derives its JSON Schemas from here: every bound that a schema can say is said here once.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from skills_bundle.bundle.provenance import (
    Provenance,
)
from skills_bundle.catalog import limits
from skills_bundle.files import limits as file_limits
from skills_bundle.formats import limits as format_limits
from skills_bundle.formats.record import Record


def _whole(value: object) -> object:
    """Take `20.0` for 20: JSON has one kind of number, and hosts write either."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


WHOLE = BeforeValidator(_whole)
"""Goes last in an `Annotated`: pydantic leaves bounds that follow it out of the JSON Schema."""

Query = Annotated[
    str,
    Field(
        max_length=limits.QUERY_MAX_CHARACTERS,
        pattern=r"^[^\u0000-\u001f\u007f-\u009f]*$",
        description="One phrase to look for literally in name, description and tags, in any letter "
        "case. Empty finds every skill.",
    ),
]

SkillKey = Annotated[
    str,
    Field(
        min_length=1,
        max_length=file_limits.PATH_MAX_CHARACTERS,
        description="A skill's name, or its path if two skills have the same name.",
    ),
]

ResourcePath = Annotated[
    str,
    Field(
        min_length=1,
        max_length=file_limits.PATH_MAX_CHARACTERS,
        description="Path inside the skill, exactly as listed.",
    ),
]


class SearchArguments(Record):
    """Arguments of a search."""

    query: Query = ""
    limit: Annotated[
        int,
        Field(ge=1, le=limits.SEARCH_MAX_LIMIT, description="Skills in one page."),
        WHOLE,
    ] = limits.SEARCH_DEFAULT_LIMIT
    offset: Annotated[
        int,
        Field(
            ge=0,
            le=format_limits.JSON_MAX_SAFE_INTEGER,
            description="Matches to skip: the last answer's next_offset.",
        ),
        WHOLE,
    ] = 0


class ReadArguments(Record):
    """Arguments of a read."""

    skill: SkillKey
    resource: ResourcePath = "SKILL.md"
    offset: Annotated[
        int,
        Field(
            ge=0,
            le=format_limits.JSON_MAX_SAFE_INTEGER,
            description="Byte to start at: the last answer's next_offset.",
        ),
        WHOLE,
    ] = 0
    limit: Annotated[
        int,
        Field(
            ge=limits.READ_MIN_LIMIT,
            le=limits.READ_MAX_LIMIT,
            description="Bytes in one page, cut back to whole characters.",
        ),
        WHOLE,
    ] = limits.READ_DEFAULT_LIMIT


class OverviewArguments(Record):
    """Arguments of an overview."""

    max_entries: Annotated[
        int, Field(ge=1, le=limits.OVERVIEW_MAX_ENTRIES, description="Skills to show."), WHOLE
    ] = limits.OVERVIEW_MAX_ENTRIES


class SkillRow(Record):
    """A skill in a search result.

    Attributes:
        name: The frontmatter's `name`.
        path: Its folder below the skills folder; unique, and accepted wherever a name is.
        description: As the author wrote it, whole.
        tags: Sorted.
        parse_mode: `repaired` when the frontmatter had to be mended to be read.
        diagnostics: Codes of what was tolerated when the skill was locked.
    """

    name: str
    path: str
    description: str
    tags: tuple[str, ...]
    parse_mode: Literal["strict", "repaired"]
    diagnostics: tuple[str, ...]


class SearchResult(Record):
    """Skills that match, one page of them, by name and then path.

    Attributes:
        provenance: Where the answer comes from.
        query: As asked.
        limit: As asked or by default.
        offset: As asked or by default.
        total: Matches in all.
        next_offset: Where the next page starts, or null after the last one.
        skills: This page.
    """

    provenance: Provenance
    query: str
    limit: int
    offset: int
    total: int
    next_offset: int | None
    skills: tuple[SkillRow, ...]


class ReadResult(Record):
    """A file of a skill, one page of it.

    Attributes:
        provenance: Where the answer comes from.
        skill: The skill's name.
        path: The skill's folder below the skills folder.
        resource: The file's path inside the skill.
        media_type: By the file's ending.
        byte_length: Bytes of the whole file.
        content_sha256: Digest of the whole file, as locked and as just read.
        offset: First byte of this page.
        limit: Most bytes of a page; one whose characters are long in JSON holds fewer, so that it
            fits a response.
        next_offset: First byte of the next page, or null at the end.
        remaining: Bytes after this page.
        content: The page: whole characters. A byte order mark at the start is kept, so that the
            pages joined together have the digest given.
    """

    provenance: Provenance
    skill: str
    path: str
    resource: str
    media_type: str
    byte_length: int
    content_sha256: str
    offset: int
    limit: int
    next_offset: int | None
    remaining: int
    content: str


class OverviewResult(Record):
    """The collection at a glance, for a model's context.

    Attributes:
        provenance: Where the answer comes from.
        overview: Text of at most `limits.OVERVIEW_MAX_CHARACTERS` UTF-16 units.
    """

    provenance: Provenance
    overview: str

"""Record: what can be asked of a catalog, what it answers, and how it refuses.

Tools and commands share these. The server derives its JSON Schemas from here, so every bound that a
schema can express is stated here, once.

A catalog of one collection and a catalog of several use the same records. Fields marked `ONE` are
on the wire only in the first case, fields marked `SEVERAL` only in the second; `hidden` is the one
place that applies the marks.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeVar, get_args

from pydantic import AfterValidator, BeforeValidator, Field, ValidationError

from skills_bundle.bundle.provenance import Provenance
from skills_bundle.catalog import limits
from skills_bundle.errors import ToolError
from skills_bundle.files import limits as file_limits
from skills_bundle.formats import limits as format_limits
from skills_bundle.formats.record import Record

if TYPE_CHECKING:
    from pydantic import JsonValue

R = TypeVar("R", bound=Record)

# --- errors ---------------------------------------------------------------------------------------

MESSAGES: Final[dict[str, str]] = {
    "invalid_input": (
        "The arguments do not match the tool's input schema. Check names, types and limits."
    ),
    "catalog_unavailable": (
        "The installed skills cannot be served: their lock is missing or cannot be trusted. "
        "Run `skills-bundle verify` where this server is installed."
    ),
    "resource_unavailable": (
        "No such skill or resource can be served: it is not in the lock, its file was altered "
        "since installation, or it is not readable here. Search to see which skills there are."
    ),
    "binary_resource": (
        "The file is not text, so no tool returns it. A person gets it with `skills-bundle export`."
    ),
    "collection_unavailable": (
        "The requested collection, or one that may contain the requested skill, cannot be served "
        "now: its lock is missing or cannot be trusted, or two packages declare its name. The "
        "other collections are served: omit `collection`, or search to list the available skills."
    ),
    "ambiguous_skill": (
        "More than one skill has this name or path. Pass the path of one as `skill`, and its "
        "`collection` if there are several; a search for the name lists them with both."
    ),
    "response_too_large": (
        "The answer does not fit into one response. Ask for less with a smaller limit."
    ),
    "unknown_tool": "This server has no such tool. List the tools to see what it offers.",
}
"""Every error code of a tool with its general message of under 512 characters.

An error can be more precise, from our own schema and from the lock: the argument and the rule it
broke, or names that are locked. It never repeats a value, a name that is not locked or a path of
the machine, because a model reads it: the input would speak for the server.
"""


def refusal(code: str, message: str | None = None) -> ToolError:
    """Return the error with a code.

    Args:
        code: A key of `MESSAGES`.
        message: A more precise message than the general one.

    Raises:
        KeyError: If there is no such code.
    """
    return ToolError(code, message or MESSAGES[code])


_RULES: Final[dict[str, str]] = {
    "missing": "required",
    "less_than_equal": "at most {le}",
    "greater_than_equal": "at least {ge}",
    "string_too_long": "at most {max_length} characters",
    "string_too_short": "must not be empty",
    "string_type": "must be a string",
    "int_type": "must be a whole number",
    "bool_type": "must be true or false",
    "value_error": "{error}",
}
"""The rule that an argument broke, by pydantic's name of the error."""


def invalid(kind: type[Record], error: ValidationError, *, several: bool = True) -> ToolError:
    """Return `invalid_input` with each argument that is wrong and the rule it broke.

    Args:
        kind: The record of the arguments.
        error: What pydantic found.
        several: Whether several collections are served.
    """
    unseen = hidden(kind, several=several)
    found: dict[str, None] = {}
    for row in error.errors(include_url=False, include_input=False):
        if row["type"] == "extra_forbidden":
            names = ", ".join(name for name in kind.model_fields if name not in unseen)
            found[f"an argument is unknown; the arguments are: {names}"] = None
        else:
            rule = _RULES.get(row["type"], "does not match the input schema")
            found[f'"{row["loc"][0]}": {rule.format(**row.get("ctx", {}))}'] = None
    return refusal("invalid_input", f"{'; '.join(found)}.")


# --- one collection or several ----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class OnlyIf:
    """Marks a field that is on the wire only for one collection, or only for several."""

    several: bool


ONE: Final = OnlyIf(several=False)
SEVERAL: Final = OnlyIf(several=True)

SOMETIMES: Final = object()
"""Marks a field that is on the wire only in answers in which it is not null."""


def wire(answer: Record, *, several: bool) -> dict[str, JsonValue]:
    """Return an answer as it is on the wire.

    Args:
        answer: The answer.
        several: Whether several collections are served.
    """
    value = answer.model_dump(mode="json", exclude=hidden(type(answer), several=several))
    for name in sometimes(type(answer)):
        if value[name] is None:
            del value[name]
    return value


@cache
def sometimes(kind: type[Record]) -> frozenset[str]:
    """Return the fields of a record that are marked `SOMETIMES`."""
    fields = kind.model_fields.items()
    return frozenset(name for name, field in fields if SOMETIMES in field.metadata)


@cache
def hidden(kind: type[Record], *, several: bool) -> dict[str, Any]:
    """Return the fields of a record that are not on the wire.

    Args:
        kind: The record.
        several: Whether several collections are served.

    Returns:
        Each hidden field with True; each field with rows of records that have hidden fields with
        `{"__all__": ...}`, as pydantic's `exclude` takes it.
    """
    fields: dict[str, Any] = {}
    for name, field in kind.model_fields.items():
        if OnlyIf(several=not several) in field.metadata:
            fields[name] = True
            continue
        rows = next((one for one in get_args(field.annotation) if _is_record(one)), None)
        if rows is not None and (below := hidden(rows, several=several)):
            fields[name] = {"__all__": below}
    return fields


def _is_record(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, Record)


# --- arguments ------------------------------------------------------------------------------------


def _whole(value: object) -> object:
    """Return 20 for `20.0`: JSON has one number type, and hosts send either."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


WHOLE = BeforeValidator(_whole)
"""Must come last in an `Annotated`: pydantic omits bounds that follow it from the JSON Schema."""


def _one_line(text: str) -> str:
    if any(unicodedata.category(one) in {"Cc", "Cs"} for one in text):
        raise ValueError("must not have control characters or lone surrogates")
    return text


Query = Annotated[
    str,
    # Not a pattern in the schema: `\u` escapes are refused by validators in Go, RE2 and PCRE.
    AfterValidator(_one_line),
    Field(
        max_length=limits.QUERY_MAX_CHARACTERS,
        description="One phrase, matched literally and without regard to case in name, description "
        "and tags. Empty matches every skill.",
    ),
]

SkillKey = Annotated[
    str,
    Field(
        min_length=1,
        max_length=file_limits.PATH_MAX_CHARACTERS,
        description="A skill's name, or its path if two skills share the name.",
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


CollectionName = Annotated[
    str,
    Field(
        min_length=1,
        description="A `collection` from an earlier answer, exactly. Default: all collections.",
    ),
]

Collection = Annotated[CollectionName | None, SEVERAL]


class SearchArguments(Record):
    """Arguments of a search."""

    query: Query = ""
    limit: Annotated[
        int,
        Field(ge=1, le=limits.SEARCH_MAX_LIMIT, description="Maximum skills in one page."),
        WHOLE,
    ] = limits.SEARCH_DEFAULT_LIMIT
    offset: Annotated[
        int,
        Field(
            ge=0,
            le=format_limits.JSON_MAX_SAFE_INTEGER,
            description="Matches to skip: next_offset of the previous answer.",
        ),
        WHOLE,
    ] = 0
    collection: Collection = None


class ReadArguments(Record):
    """Arguments of a read."""

    skill: SkillKey
    resource: ResourcePath = "SKILL.md"
    offset: Annotated[
        int,
        Field(
            ge=0,
            le=format_limits.JSON_MAX_SAFE_INTEGER,
            description="Byte to start at: next_offset of the previous answer.",
        ),
        WHOLE,
    ] = 0
    limit: Annotated[
        int,
        Field(
            ge=limits.READ_MIN_LIMIT,
            le=limits.READ_MAX_LIMIT,
            description="Maximum bytes in one page, cut back to whole characters.",
        ),
        WHOLE,
    ] = limits.READ_DEFAULT_LIMIT
    collection: Collection = None


class OverviewArguments(Record):
    """Arguments of an overview."""

    max_entries: Annotated[
        int,
        Field(ge=1, le=limits.OVERVIEW_MAX_ENTRIES, description="Maximum skills to show."),
        WHOLE,
    ] = limits.OVERVIEW_MAX_ENTRIES
    collection: Collection = None


def checked(kind: type[R], **arguments: object) -> R:
    """Return a record of arguments.

    Raises:
        ToolError: `invalid_input`.
    """
    try:
        return kind.model_validate(arguments)
    except ValidationError as error:
        raise invalid(kind, error) from error


# --- answers --------------------------------------------------------------------------------------

Problem = Literal["catalog_unavailable", "ambiguous_collection"]

OnlyProvenance = Annotated[Provenance, ONE]
"""Where several collections are served, `collections` has the provenance of each."""


class CollectionState(Record):
    """A collection that an answer covers, whether it can be served or not.

    Attributes:
        collection: Its name, as its distribution declares it.
        total: How many of its skills the whole answer covers; null if it cannot be served.
        provenance: Where its skills come from; null if it cannot be served.
        problem: Null, or why it cannot be served now: `catalog_unavailable` (its lock is missing or
            cannot be trusted, or its package was removed) or `ambiguous_collection` (more than one
            distribution declares the name).
    """

    collection: str
    total: int | None
    provenance: Provenance | None
    problem: Problem | None


States = Annotated[tuple[CollectionState, ...], SEVERAL]


class SkillRow(Record):
    """A skill in a search result.

    Attributes:
        name: The frontmatter's `name`.
        path: Its folder below the skills folder; unique in its collection, and accepted wherever a
            name is.
        description: The author's description, in full, but neutral: see
            `formats.hidden_characters.neutral`, which applies to name, path and tags as well.
        tags: Sorted.
        parse_mode: `repaired` if the frontmatter had to be repaired to be parsed.
        diagnostics: Codes of what was tolerated when the skill was locked.
        collection: The collection that holds it; together with the path it identifies the skill.
    """

    name: str
    path: str
    description: str
    tags: tuple[str, ...]
    parse_mode: Literal["strict", "repaired"]
    diagnostics: tuple[str, ...]
    collection: Annotated[str, SEVERAL]


class SearchResult(Record):
    """One page of the skills that match, by name, then collection, then path.

    Attributes:
        provenance: Where the answer comes from.
        collections: Every collection that was searched, by name, with its provenance.
        collection: As requested, or null for all.
        query: As requested.
        limit: As requested or by default.
        offset: As requested or by default.
        total: Number of all matches.
        next_offset: Where the next page starts, or null after the last one.
        skills: This page.
    """

    provenance: OnlyProvenance
    collections: States
    collection: Annotated[str | None, SEVERAL]
    query: str
    limit: int
    offset: int
    total: int
    next_offset: int | None
    skills: tuple[SkillRow, ...]


class FileRow(Record):
    """A file of a skill.

    Attributes:
        path: Its path inside the skill; what `resource` takes.
        size: Its bytes.
    """

    path: str
    size: int


class ReadResult(Record):
    """One page of a file of a skill.

    Attributes:
        provenance: Where the answer comes from.
        skill: The skill's name.
        path: The skill's folder below the skills folder.
        resource: The file's path inside the skill.
        media_type: By the file's extension.
        byte_length: Bytes of the whole file.
        content_sha256: Digest of the whole file, as locked and as just read.
        offset: First byte of this page.
        limit: Maximum bytes of a page. A page whose characters are long in JSON holds fewer, so
            that it fits into a response.
        next_offset: First byte of the next page, or null at the end.
        remaining: Bytes after this page.
        content: The page: whole characters. A byte order mark at the start is kept, so that the
            joined pages have the given digest.
        collection: The collection that holds the skill.
        files: With the first page of SKILL.md: the skill's other files, at most
            `limits.READ_MAX_FILES` and `limits.READ_FILES_MAX_BYTES` of JSON.
        more_files: How many files `files` leaves out, if any.
        base: With the first page of SKILL.md, if the server exposes paths and no file of the skill
            is altered: the skill's folder on this machine, absolute.
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
    collection: Annotated[str, SEVERAL]
    files: Annotated[tuple[FileRow, ...] | None, SOMETIMES] = None
    more_files: Annotated[int | None, SOMETIMES] = None
    base: Annotated[str | None, SOMETIMES] = None


class OverviewResult(Record):
    """The skills at a glance, for a model's context.

    Attributes:
        provenance: Where the answer comes from.
        collections: Every collection that was read, by name, with its provenance.
        collection: As requested, or null for all.
        overview: Text of at most `limits.OVERVIEW_MAX_CHARACTERS` UTF-16 units.
    """

    provenance: OnlyProvenance
    collections: States
    collection: Annotated[str | None, SEVERAL]
    overview: str

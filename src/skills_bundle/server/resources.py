"""Decision: MCP resources and the MCP skills extension, in every protocol revision.

What may be read here does not depend on `--resources`: that option limits what a model may pull
into its context with a tool. A resource is read by a host, which must be able to verify a whole
skill.

Source: MCP skills extension `io.modelcontextprotocol/skills` (SEP-2640). It is written for
2026-07-28; we answer in the older revisions too, whose hosts never see what they do not ask for.
"""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from mcp.shared.exceptions import MCPError
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    RequestParams,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from skills_bundle.catalog import reading
from skills_bundle.catalog.model import MESSAGES
from skills_bundle.catalog.resources import base_of, page
from skills_bundle.errors import ToolError, UnsafeFileError
from skills_bundle.formats import strict_json
from skills_bundle.formats.digest import sha256_hex
from skills_bundle.server import limits
from skills_bundle.skills.model import SKILL_MD

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pydantic import JsonValue

    from skills_bundle.catalog.resources import Item, JsonObject
    from skills_bundle.catalog.service import Catalog
    from skills_bundle.catalog.sources import Location, Snapshot
    from skills_bundle.installed.bundle import BundleState

SKILLS_EXTENSION: Final = "io.modelcontextprotocol/skills"
"""The extension's identifier."""

SKILLS_EXTENSION_SETTINGS: Final[dict[str, bool]] = {"directoryRead": True}
"""What a server declares under the identifier."""

PROVENANCE: Final = "io.github.skills-bundle/provenance"
"""Key of `_meta` for the provenance of a result. The prefix is ours: the project's own address,
reversed. `io.modelcontextprotocol.skills/` is reserved."""

COLLECTIONS: Final = "io.github.skills-bundle/collections"
"""Key of `_meta` for the provenance of each collection in a listing of several."""

LISTINGS: Final = frozenset(
    {"resources/list", "resources/directory/read", "skills/list", "skills/get"}
)
"""Methods whose answers a client may keep, so that it needs to be notified of changes."""


@dataclass(frozen=True, slots=True)
class Method:
    """A method of the protocol.

    Attributes:
        name: The name in requests.
        summary: What it answers; one sentence for the documentation.
        params: The SDK's model of its parameters.
        answer: Returns the result for a catalog, parameters and a protocol revision; refuses by
            raising `MCPError`.
    """

    name: str
    summary: str
    params: type[RequestParams]
    answer: Callable[[Catalog, Any, str], JsonObject]


class GetSkillParams(RequestParams):
    """Parameters of `skills/get`: the URI of a SKILL.md."""

    uri: str


class ReadDirectoryParams(PaginatedRequestParams):
    """Parameters of `resources/directory/read`: the URI of a folder."""

    uri: str


# --- methods ------------------------------------------------------------------------------------


def _list_resources(catalog: Catalog, params: PaginatedRequestParams, revision: str) -> JsonObject:
    found = _snapshot(catalog, revision)
    listing = Listing(name="resources/list", member="resources", items=found.resources())
    return listing.result(found, revision, params.cursor)


def _list_templates(catalog: Catalog, params: PaginatedRequestParams, revision: str) -> JsonObject:
    listing = Listing(name="resources/templates/list", member="resourceTemplates", items=())
    return listing.result(_snapshot(catalog, revision), revision, params.cursor)


def _read(catalog: Catalog, params: ReadResourceRequestParams, revision: str) -> JsonObject:
    location = _locate(_snapshot(catalog, revision), params.uri, revision)
    if location is None or location.path not in location.view.files:
        raise refused("unknown_resource", revision)
    try:
        data = location.source.read(location.path)
    except UnsafeFileError as error:
        raise refused("altered_file", revision) from error
    contents = _contents(params.uri, location.path, data)
    if contents is None:
        raise refused("response_too_large", revision)
    return _one_result(location.view, revision, {"contents": [contents]})


def _list_skills(catalog: Catalog, params: PaginatedRequestParams, revision: str) -> JsonObject:
    found = _snapshot(catalog, revision)
    listing = Listing(name="skills/list", member="skills", items=found.entries())
    return listing.result(found, revision, params.cursor)


def _get_skill(catalog: Catalog, params: GetSkillParams, revision: str) -> JsonObject:
    location = _locate(_snapshot(catalog, revision), params.uri, revision)
    if location is None:
        raise refused("unknown_skill", revision)
    entries = location.rendered.entries
    entry = entries.listed.get(params.uri)
    if entry is None:
        skill = location.path.removesuffix(f"/{SKILL_MD}")
        unlisted = location.path.endswith(f"/{SKILL_MD}") and skill in entries.unlisted
        raise refused("unlisted_skill" if unlisted else "unknown_skill", revision)
    return _one_result(location.view, revision, {"skill": entry.value})


def _read_directory(catalog: Catalog, params: ReadDirectoryParams, revision: str) -> JsonObject:
    found = _snapshot(catalog, revision)
    location = _locate(found, params.uri, revision)
    children = None if location is None else location.rendered.folders.get(location.path)
    if location is None or children is None:
        raise refused("unknown_folder", revision)
    name = f"resources/directory/read {params.uri}"
    listing = Listing(name=name, member="resources", items=children, only=location)
    return listing.result(found, revision, params.cursor)


METHODS: Final = (
    Method(
        "skills/list",
        "Lists the entries of all skills that have one.",
        PaginatedRequestParams,
        _list_skills,
    ),
    Method("skills/get", "Returns the entry of one skill.", GetSkillParams, _get_skill),
    Method(
        "resources/directory/read",
        "Lists the direct children of a folder.",
        ReadDirectoryParams,
        _read_directory,
    ),
    Method(
        "resources/list",
        "Lists every locked file that `resources/read` always returns.",
        PaginatedRequestParams,
        _list_resources,
    ),
    Method(
        "resources/templates/list",
        "Returns no templates: URIs follow no pattern.",
        PaginatedRequestParams,
        _list_templates,
    ),
    Method(
        "resources/read",
        "Returns a file's bytes, compared with the lock as they are read.",
        ReadResourceRequestParams,
        _read,
    ),
)


def _snapshot(catalog: Catalog, revision: str) -> Snapshot:
    """Return what can be served.

    Raises:
        MCPError: `catalog_unavailable`.
    """
    try:
        return catalog.snapshot()
    except ToolError as error:
        raise refused(error.code, revision) from error


def _locate(found: Snapshot, uri: str, revision: str) -> Location | None:
    """Return where a URI points, or None if it cannot be one of ours.

    Raises:
        MCPError: `collection_unavailable`.
    """
    try:
        return found.locate(uri)
    except ToolError as error:
        raise refused(error.code, revision) from error


def _contents(uri: str, path: str, data: bytes) -> JsonObject | None:
    """Return a file as text if its bytes are UTF-8, so that encoding it restores each of them.

    Text that becomes too long by escaping is returned as base64; None if no form fits a response.
    """
    try:
        text: str | None = data.decode()
    except UnicodeDecodeError:
        text = None
    kind = reading.type_of(path, is_text=text is not None)
    contents: JsonObject = {"uri": uri, "mimeType": kind}
    if text is not None and _fits(whole := {**contents, "text": text}):
        return whole
    whole = {**contents, "blob": base64.b64encode(data).decode()}
    return whole if _fits(whole) else None


def _fits(contents: JsonObject) -> bool:
    return len(strict_json.compact(contents)) <= limits.RESOURCE_CONTENTS_MAX_BYTES


# --- results: provenance, freshness, pages ------------------------------------------------------


def _one_result(view: BundleState, revision: str, value: JsonObject) -> JsonObject:
    """Return a result about one collection."""
    meta: JsonObject = {PROVENANCE: view.provenance.model_dump(mode="json")}
    is_editable = "editable_install" in view.provenance.gaps
    return _result({**value, "_meta": meta}, revision, is_editable=is_editable)


def _all_result(found: Snapshot, revision: str, value: JsonObject) -> JsonObject:
    """Return a result about everything; of several collections it has the start of their URIs."""
    if not found.several:
        ((_, view),) = found.available
        return _one_result(view, revision, value)
    rows: list[JsonValue] = [
        {"uri": base_of(state.collection), **state.model_dump(mode="json")}
        for state in found.states()
    ]
    meta: JsonObject = {COLLECTIONS: rows}
    return _result({**value, "_meta": meta}, revision, is_editable=found.is_editable)


def _result(value: JsonObject, revision: str, *, is_editable: bool) -> JsonObject:
    """Return a result; on 2026-07-28 with the time it stays fresh.

    Private, because skills may be: a cache shared by several users must not mix them up.

    Args:
        value: The result.
        revision: The protocol revision of the connection.
        is_editable: Whether the skills may change at any moment.
    """
    if not is_modern(revision):
        return value
    lifetime = 0 if is_editable else limits.LISTING_TTL_MILLISECONDS
    return {"resultType": "complete", **value, "ttlMs": lifetime, "cacheScope": "private"}


_TAG_CHARACTERS: Final = 16
_POSITION_BYTES: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """A listing that is returned in pages.

    Attributes:
        name: What is listed; a cursor of one listing is not valid in another.
        member: Member of the result that holds a page.
        items: All items.
        only: The folder that it is about; by default it covers everything.
    """

    name: str
    member: str
    items: Sequence[Item]
    only: Location | None = None

    def result(self, found: Snapshot, revision: str, cursor: str | None) -> JsonObject:
        """Return one page as a result.

        Args:
            found: What the listing was made from.
            revision: The protocol revision of the connection.
            cursor: The previous page's `nextCursor`, or None for the first page.

        Raises:
            MCPError: `invalid_cursor`.
        """
        only = self.only
        digest = found.digest if only is None else only.view.provenance.catalog_sha256
        start = 0 if cursor is None else self._position(digest, cursor)
        if start is None:
            raise refused("invalid_cursor", revision)
        items, following = page(self.items, start)
        value: JsonObject = {self.member: items}
        if following is not None:
            value["nextCursor"] = self._cursor(digest, following)
        if only is not None:
            return _one_result(only.view, revision, value)
        return _all_result(found, revision, value)

    def _position(self, digest: str, cursor: str) -> int | None:
        """Return the position in a cursor of this listing of this lock; None for any other text."""
        try:
            raw = base64.urlsafe_b64decode(cursor.encode("ascii"))
        except (UnicodeEncodeError, binascii.Error):
            return None
        position = int.from_bytes(raw[:_POSITION_BYTES], "big")
        given = self._cursor(digest, position)
        return position if 0 < position < len(self.items) and given == cursor else None

    def _cursor(self, digest: str, position: int) -> str:
        tag = sha256_hex(f"{self.name}\n{digest}\n{position}".encode())[:_TAG_CHARACTERS]
        raw = position.to_bytes(_POSITION_BYTES, "big") + bytes.fromhex(tag)
        return base64.urlsafe_b64encode(raw).decode("ascii")


# --- refusals -----------------------------------------------------------------------------------

RESOURCE_NOT_FOUND: Final = -32002
"""JSON-RPC error number of an unknown resource in the revisions with a handshake."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """How one code is reported. The code goes into `data`, and nothing of the request is repeated.

    Attributes:
        number: JSON-RPC error number on 2026-07-28.
        message: The fixed message.
        handshake_number: JSON-RPC error number on the revisions with a handshake, if another one.
    """

    number: int
    message: str
    handshake_number: int | None = None


REFUSALS: Final[dict[str, Refusal]] = {
    "unknown_resource": Refusal(
        INVALID_PARAMS,
        "There is no resource with exactly this URI. List the resources to see what is available.",
        RESOURCE_NOT_FOUND,
    ),
    "unknown_skill": Refusal(
        INVALID_PARAMS, "This is not the URI of the SKILL.md of a skill that is served here."
    ),
    "unlisted_skill": Refusal(
        INVALID_PARAMS,
        "This skill has no entry because a host could not verify it. The tools serve it, and the "
        "overview says why.",
    ),
    "unknown_folder": Refusal(
        INVALID_PARAMS,
        "There is no folder with exactly this URI. A folder's URI has no trailing slash.",
    ),
    "invalid_cursor": Refusal(
        INVALID_PARAMS, "The cursor does not belong to this listing. Start from the first page."
    ),
    "altered_file": Refusal(INTERNAL_ERROR, "The file differs from the lock, so it is not served."),
    "response_too_large": Refusal(
        INTERNAL_ERROR, "The file is too large for one response, and resources have no pages."
    ),
    "collection_unavailable": Refusal(INTERNAL_ERROR, MESSAGES["collection_unavailable"]),
    "catalog_unavailable": Refusal(INTERNAL_ERROR, MESSAGES["catalog_unavailable"]),
}
"""Code to refusal."""


def refused(code: str, revision: str) -> MCPError:
    """Return the error of a code in a protocol revision.

    Raises:
        KeyError: If there is no such code.
    """
    refusal = REFUSALS[code]
    number = refusal.number if is_modern(revision) else refusal.handshake_number
    return MCPError(number or refusal.number, refusal.message, {"code": code})


def is_modern(revision: str) -> bool:
    """Return whether a revision is 2026-07-28 or later: no handshake, freshness in results."""
    return revision in MODERN_PROTOCOL_VERSIONS

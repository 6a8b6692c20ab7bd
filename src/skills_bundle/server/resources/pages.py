"""Decision: what all results about resources and skills share: pages, origin, freshness."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from skills_bundle.catalog import entries, uris
from skills_bundle.errors import ToolError
from skills_bundle.formats.digest import sha256_hex
from skills_bundle.server import limits
from skills_bundle.server.resources.errors import is_modern, refused

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mcp_types import RequestParams
    from pydantic import JsonValue

    from skills_bundle.bundle.provenance import Provenance
    from skills_bundle.catalog.entries import Item, JsonObject
    from skills_bundle.catalog.shelves import Place, Shelved, Shown

PROVENANCE: Final = "io.github.skills-bundle/provenance"
"""Where `_meta` says where a result comes from. The prefix is ours: the project's own address,
reversed. `io.modelcontextprotocol.skills/` is reserved."""

COLLECTIONS: Final = "io.github.skills-bundle/collections"
"""Where `_meta` of a listing of several collections says the same of each of them."""

_TAG_CHARACTERS: Final = 16
_POSITION_BYTES: Final = 4


@dataclass(frozen=True, slots=True)
class Method:
    """A method of the protocol.

    Attributes:
        name: As requests call it.
        summary: What it answers; one sentence for the documentation.
        params: What the SDK reads its parameters with.
        answer: Gives the result for parameters and a protocol revision; refuses by `MCPError`.
    """

    name: str
    summary: str
    params: type[RequestParams]
    answer: Callable[[Any, str], JsonObject]


def look(shelf: Shelved, revision: str) -> Shown:
    """Look at what there is.

    Raises:
        MCPError: `catalog_unavailable`.
    """
    try:
        return shelf.show()
    except ToolError as error:
        raise refused(error.code, revision) from error


def place(shown: Shown, uri: str, revision: str) -> Place | None:
    """Give where a URI leads, or None if nothing can have it.

    Raises:
        MCPError: `collection_unavailable`.
    """
    try:
        return shown.place(uri)
    except ToolError as error:
        raise refused(error.code, revision) from error


def of_one(found: Place, revision: str, value: JsonObject) -> JsonObject:
    """Give a result about one collection."""
    meta: JsonObject = {PROVENANCE: _json(found.part.view.provenance)}
    edited = "editable_install" in found.part.view.provenance.gaps
    return _result({**value, "_meta": meta}, revision, edited=edited)


def of_all(shown: Shown, revision: str, value: JsonObject) -> JsonObject:
    """Give a result about everything there is.

    Of several collections it says of each what its URIs begin with.
    """
    if shown.states is None:
        meta: JsonObject = {PROVENANCE: _json(shown.parts[0].view.provenance)}
    else:
        rows: list[JsonValue] = [
            {"uri": uris.base_of(state.collection), **state.model_dump(mode="json")}
            for state in shown.states
        ]
        meta = {COLLECTIONS: rows}
    return _result({**value, "_meta": meta}, revision, edited=shown.is_edited)


def _json(provenance: Provenance) -> JsonObject:
    return provenance.model_dump(mode="json")


def _result(value: JsonObject, revision: str, *, edited: bool) -> JsonObject:
    """Add, on 2026-07-28, how long a result stays fresh.

    Private, since skills may be: a cache between us and several users must not mix them up.

    Args:
        value: The result.
        revision: The protocol revision of the connection.
        edited: Whether somebody may be at work on these skills.
    """
    if not is_modern(revision):
        return value
    lifetime = 0 if edited else limits.LISTING_TTL_MILLISECONDS
    return {"resultType": "complete", **value, "ttlMs": lifetime, "cacheScope": "private"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """A listing that comes in pages.

    Attributes:
        name: What is listed; a cursor of one listing is none of another.
        member: Member of the result that holds a page.
        items: All of it.
        only: The one place that it is about; by default it is about everything there is.
    """

    name: str
    member: str
    items: Sequence[Item]
    only: Place | None = None

    def result(self, shown: Shown, revision: str, cursor: str | None) -> JsonObject:
        """Give one page as a result.

        Args:
            shown: What the listing was made of.
            revision: The protocol revision of the connection.
            cursor: The last page's `nextCursor`, or None for the first page.

        Raises:
            MCPError: `invalid_cursor`.
        """
        catalog = shown.digest
        if self.only is not None:
            catalog = self.only.part.view.provenance.catalog_sha256
        start = 0 if cursor is None else self._position(catalog, cursor)
        if start is None:
            raise refused("invalid_cursor", revision)
        page, following = entries.page(self.items, start)
        value: JsonObject = {self.member: page}
        if following is not None:
            value["nextCursor"] = self._cursor(catalog, following)
        if self.only is not None:
            return of_one(self.only, revision, value)
        return of_all(shown, revision, value)

    def _position(self, catalog: str, cursor: str) -> int | None:
        """Read a cursor of ours; None for any other text, and for one of another lock."""
        try:
            raw = base64.urlsafe_b64decode(cursor.encode("ascii"))
        except (UnicodeEncodeError, binascii.Error):
            return None
        position = int.from_bytes(raw[:_POSITION_BYTES], "big")
        given = self._cursor(catalog, position)
        return position if 0 < position < len(self.items) and given == cursor else None

    def _cursor(self, catalog: str, position: int) -> str:
        """Spell a position so that it is of use only here: in this listing of this lock."""
        tag = sha256_hex(f"{self.name}\n{catalog}\n{position}".encode())[:_TAG_CHARACTERS]
        raw = position.to_bytes(_POSITION_BYTES, "big") + bytes.fromhex(tag)
        return base64.urlsafe_b64encode(raw).decode("ascii")

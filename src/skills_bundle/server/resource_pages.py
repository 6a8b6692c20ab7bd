"""Decision: what all results about resources and skills share: pages, origin, freshness."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from skills_bundle import limits
from skills_bundle.catalog import entries
from skills_bundle.errors import ToolError
from skills_bundle.formats.digest import sha256_hex
from skills_bundle.server.resource_errors import is_modern, refused

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mcp_types import RequestParams

    from skills_bundle.bundle.view import View
    from skills_bundle.catalog.entries import Item, JsonObject
    from skills_bundle.catalog.shelf import Rendering, Shelf

PROVENANCE: Final = "io.github.skills-bundle/provenance"
"""Where `_meta` says where a result comes from. The prefix is ours: the project's own address,
reversed. `io.modelcontextprotocol.skills/` is reserved."""

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


def look(shelf: Shelf, revision: str) -> tuple[View, Rendering]:
    """Look at what there is.

    Raises:
        MCPError: `catalog_unavailable`.
    """
    try:
        view = shelf.view()
    except ToolError as error:
        raise refused(error.code, revision) from error
    return view, shelf.rendering(view)


def result(view: View, revision: str, value: JsonObject) -> JsonObject:
    """Add to a result where it comes from and, on 2026-07-28, how long it stays fresh.

    Private, since skills may be: a cache between us and several users must not mix them up.
    """
    value = {**value, "_meta": {PROVENANCE: view.provenance.model_dump(mode="json")}}
    if not is_modern(revision):
        return value
    edited = "editable_install" in view.provenance.gaps  # somebody is at work on these skills
    lifetime = 0 if edited else limits.LISTING_TTL_MILLISECONDS
    return {"resultType": "complete", **value, "ttlMs": lifetime, "cacheScope": "private"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """A listing that comes in pages.

    Attributes:
        name: What is listed; a cursor of one listing is none of another.
        member: Member of the result that holds a page.
        items: All of it.
    """

    name: str
    member: str
    items: Sequence[Item]

    def result(self, view: View, revision: str, cursor: str | None) -> JsonObject:
        """Give one page as a result.

        Args:
            view: What the listing was made of.
            revision: The protocol revision of the connection.
            cursor: The last page's `nextCursor`, or None for the first page.

        Raises:
            MCPError: `invalid_cursor`.
        """
        catalog = view.provenance.catalog_sha256
        start = 0 if cursor is None else self._position(catalog, cursor)
        if start is None:
            raise refused("invalid_cursor", revision)
        page, following = entries.page(self.items, start)
        value: JsonObject = {self.member: page}
        if following is not None:
            value["nextCursor"] = self._cursor(catalog, following)
        return result(view, revision, value)

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

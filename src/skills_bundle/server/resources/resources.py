"""Decision: MCP resources: every locked file, listed and read, in every protocol revision.

What may be read here does not depend on `--resources`: that option says what a model may pull into
its context by a tool. A resource is read by a host, which has to be able to verify a whole skill.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

from mcp_types import PaginatedRequestParams, ReadResourceRequestParams

from skills_bundle.catalog import media_types
from skills_bundle.errors import UnsafeFileError
from skills_bundle.formats import strict_json
from skills_bundle.server import limits
from skills_bundle.server.resources import pages
from skills_bundle.server.resources.errors import refused
from skills_bundle.server.resources.pages import Listing, Method

if TYPE_CHECKING:
    from skills_bundle.catalog.entries import JsonObject
    from skills_bundle.catalog.shelves import Shelved


def methods(shelf: Shelved) -> tuple[Method, ...]:
    """Give the methods of MCP resources over what is on a shelf."""

    def list_resources(params: PaginatedRequestParams, revision: str) -> JsonObject:
        shown = pages.look(shelf, revision)
        items = shown.resources()
        listing = Listing(name="resources/list", member="resources", items=items)
        return listing.result(shown, revision, params.cursor)

    def list_templates(params: PaginatedRequestParams, revision: str) -> JsonObject:
        shown = pages.look(shelf, revision)
        listing = Listing(name="resources/templates/list", member="resourceTemplates", items=())
        return listing.result(shown, revision, params.cursor)

    def read(params: ReadResourceRequestParams, revision: str) -> JsonObject:
        place = pages.place(pages.look(shelf, revision), params.uri, revision)
        if place is None or place.path not in place.part.view.files:
            raise refused("unknown_resource", revision)
        try:
            data = place.part.shelf.read(place.path)
        except UnsafeFileError as error:
            raise refused("altered_file", revision) from error
        contents = _contents(params.uri, place.path, data)
        if contents is None:
            raise refused("response_too_large", revision)
        return pages.of_one(place, revision, {"contents": [contents]})

    return (
        Method(
            "resources/list",
            "Lists every locked file that a read surely gives.",
            PaginatedRequestParams,
            list_resources,
        ),
        Method(
            "resources/templates/list",
            "Lists no template: there is no pattern to URIs, a lock holds each of them.",
            PaginatedRequestParams,
            list_templates,
        ),
        Method(
            "resources/read",
            "Gives a file's bytes, compared with the lock as they are read.",
            ReadResourceRequestParams,
            read,
        ),
    )


def _contents(uri: str, path: str, data: bytes) -> JsonObject | None:
    """Give text where the bytes are UTF-8, so that encoding it gives back each of them.

    Text that escapes make too long is given as base64; None if no form fits a response.
    """
    try:
        text: str | None = data.decode()
    except UnicodeDecodeError:
        text = None
    kind = media_types.served(path, is_text=text is not None)
    contents: JsonObject = {"uri": uri, "mimeType": kind}
    if text is not None and _fits(whole := {**contents, "text": text}):
        return whole
    whole = {**contents, "blob": base64.b64encode(data).decode()}
    return whole if _fits(whole) else None


def _fits(contents: JsonObject) -> bool:
    return len(strict_json.compact(contents)) <= limits.RESOURCE_CONTENTS_MAX_BYTES

"""Decision: the MCP skills extension: skills with all their files, by methods of their own.

Source: MCP skills extension `io.modelcontextprotocol/skills` (SEP-2640). It is written for
2026-07-28; we answer in the older revisions too: their hosts meet nothing they do not ask for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mcp_types import PaginatedRequestParams, RequestParams

from skills_bundle.catalog import uris
from skills_bundle.server import resource_pages as pages
from skills_bundle.server.resource_errors import refused
from skills_bundle.server.resource_pages import Listing, Method
from skills_bundle.skills.model import SKILL_MD

if TYPE_CHECKING:
    from skills_bundle.catalog.entries import JsonObject
    from skills_bundle.catalog.shelf import Shelf

IDENTIFIER: Final = "io.modelcontextprotocol/skills"

SETTINGS: Final[dict[str, bool]] = {"directoryRead": True}
"""What a server declares under the identifier."""


class GetSkillParams(RequestParams):
    """Parameters of `skills/get`: the URI of a SKILL.md."""

    uri: str


class ReadDirectoryParams(PaginatedRequestParams):
    """Parameters of `resources/directory/read`: the URI of a folder."""

    uri: str


def methods(shelf: Shelf) -> tuple[Method, ...]:
    """Give the extension's methods over what is on a shelf."""

    def list_skills(params: PaginatedRequestParams, revision: str) -> JsonObject:
        view, rendering = pages.look(shelf, revision)
        items = tuple(rendering.entries.listed.values())
        listing = Listing(name="skills/list", member="skills", items=items)
        return listing.result(view, revision, params.cursor)

    def get_skill(params: GetSkillParams, revision: str) -> JsonObject:
        view, rendering = pages.look(shelf, revision)
        entry = rendering.entries.listed.get(params.uri)
        if entry is None:
            skill = (uris.path_of(params.uri) or "").removesuffix(f"/{SKILL_MD}")
            unlisted = params.uri.endswith(f"/{SKILL_MD}") and skill in rendering.entries.unlisted
            raise refused("unlisted_skill" if unlisted else "unknown_skill", revision)
        return pages.result(view, revision, {"skill": entry.value})

    def read_directory(params: ReadDirectoryParams, revision: str) -> JsonObject:
        view, rendering = pages.look(shelf, revision)
        children = rendering.folders.get(uris.path_of(params.uri) or "")
        if children is None:
            raise refused("unknown_folder", revision)
        name = f"resources/directory/read {params.uri}"
        listing = Listing(name=name, member="resources", items=children)
        return listing.result(view, revision, params.cursor)

    return (
        Method(
            "skills/list",
            "Lists the entries of all skills that have one.",
            PaginatedRequestParams,
            list_skills,
        ),
        Method("skills/get", "Gives the entry of one skill.", GetSkillParams, get_skill),
        Method(
            "resources/directory/read",
            "Lists the direct children of a folder.",
            ReadDirectoryParams,
            read_directory,
        ),
    )

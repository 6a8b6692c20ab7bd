"""Decision: the MCP skills extension: skills with all their files, by methods of their own.

Source: MCP skills extension `io.modelcontextprotocol/skills` (SEP-2640). It is written for
2026-07-28; we answer in the older revisions too: their hosts meet nothing they do not ask for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mcp_types import PaginatedRequestParams, RequestParams

from skills_bundle.server.resources import pages
from skills_bundle.server.resources.errors import refused
from skills_bundle.server.resources.pages import Listing, Method
from skills_bundle.skills.model import SKILL_MD

if TYPE_CHECKING:
    from skills_bundle.catalog.entries import JsonObject
    from skills_bundle.catalog.shelves import Shelved

IDENTIFIER: Final = "io.modelcontextprotocol/skills"

SETTINGS: Final[dict[str, bool]] = {"directoryRead": True}
"""What a server declares under the identifier."""


class GetSkillParams(RequestParams):
    """Parameters of `skills/get`: the URI of a SKILL.md."""

    uri: str


class ReadDirectoryParams(PaginatedRequestParams):
    """Parameters of `resources/directory/read`: the URI of a folder."""

    uri: str


def methods(shelf: Shelved) -> tuple[Method, ...]:
    """Give the extension's methods over what is on a shelf."""

    def list_skills(params: PaginatedRequestParams, revision: str) -> JsonObject:
        shown = pages.look(shelf, revision)
        listing = Listing(name="skills/list", member="skills", items=shown.entries())
        return listing.result(shown, revision, params.cursor)

    def get_skill(params: GetSkillParams, revision: str) -> JsonObject:
        place = pages.place(pages.look(shelf, revision), params.uri, revision)
        if place is None:
            raise refused("unknown_skill", revision)
        entries = place.part.rendering.entries
        entry = entries.listed.get(params.uri)
        if entry is None:
            skill = place.path.removesuffix(f"/{SKILL_MD}")
            unlisted = place.path.endswith(f"/{SKILL_MD}") and skill in entries.unlisted
            raise refused("unlisted_skill" if unlisted else "unknown_skill", revision)
        return pages.of_one(place, revision, {"skill": entry.value})

    def read_directory(params: ReadDirectoryParams, revision: str) -> JsonObject:
        shown = pages.look(shelf, revision)
        place = pages.place(shown, params.uri, revision)
        children = None if place is None else place.part.rendering.folders.get(place.path)
        if children is None:
            raise refused("unknown_folder", revision)
        name = f"resources/directory/read {params.uri}"
        listing = Listing(name=name, member="resources", items=children, only=place)
        return listing.result(shown, revision, params.cursor)

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

"""Edge: the step of `mcp check` that loads a skill as a host of the skills extension does.

Entry first, then SKILL.md as a resource, then size and digest compared: what a host does before it
lets a model see a skill.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Annotated, Literal

from mcp_types import PaginatedRequestParams, PaginatedResult, Request, TextResourceContents
from pydantic import BaseModel, Field

from skills_bundle.catalog import uris
from skills_bundle.formats.digest import sha256_hex
from skills_bundle.server import limits
from skills_bundle.server.resources.skills_extension import IDENTIFIER
from skills_bundle.skills.model import SKILL_MD

if TYPE_CHECKING:
    from mcp.client.client import Client


class ListedFile(BaseModel):
    """A file of an entry, as far as it is looked at here."""

    uri: str
    digest: str
    size: int


class ListedSkill(BaseModel):
    """An entry, as far as it is looked at here."""

    uri: str
    resources: Annotated[list[ListedFile], Field(min_length=1)]


class ListSkillsRequest(Request[PaginatedRequestParams, Literal["skills/list"]]):
    """The request, as the SDK's client sends it."""

    method: Literal["skills/list"] = "skills/list"


class ListSkillsResult(PaginatedResult):
    """One page."""

    skills: list[ListedSkill]


class Disagreement(Exception):  # noqa: N818 - it is what was found, and ends one step
    """What the server says by one way is not what it says by another; the text says what."""


async def load_as_host(client: Client, path: str, digest: str, base: str = uris.SCHEME) -> str:
    """List the skills, read one SKILL.md as a resource and compare it with its entry.

    Args:
        client: Connected.
        path: The skill that was read by tool; another one is taken if this one has no entry.
        digest: SHA-256 of its SKILL.md as the tool gave it.
        base: What the URIs of its collection begin with.

    Returns:
        What was seen.

    Raises:
        Disagreement: If the extension is not declared, or bytes, entry and tool do not agree.
    """
    if IDENTIFIER not in (client.server_capabilities.extensions or {}):
        raise Disagreement(f"The server does not declare {IDENTIFIER}.")
    wanted = uris.of(f"{path}/{SKILL_MD}", base)
    number, entry = await _list(client, wanted, base)
    if entry is None:
        return "no skill is listed; the overview says why"
    data = await _read(client, entry.uri)
    found = sha256_hex(data)
    claimed = next((file for file in entry.resources if file.uri == entry.uri), None)
    if claimed is None or (claimed.digest, claimed.size) != (f"sha256:{found}", len(data)):
        raise Disagreement(f"{entry.uri} has not the size and digest of its entry.")
    if entry.uri == wanted and found != digest:
        raise Disagreement(f"{entry.uri} has other bytes than the tool gave.")
    which = "the same SKILL.md" if entry.uri == wanted else entry.uri
    return f"{number} listed; {which} has its entry's digest"


async def _list(client: Client, wanted: str, base: str) -> tuple[int, ListedSkill | None]:
    """Ask for every page; give the number of skills and the wanted one, else the first.

    Only those of one collection count.

    No other is kept: a listing may be endless.
    """
    number, kept = 0, None
    cursor: str | None = None
    for _ in range(limits.CHECK_MAX_PAGES):
        request = ListSkillsRequest(params=PaginatedRequestParams(cursor=cursor))
        page = await client.session.send_request(request, ListSkillsResult)
        own = [skill for skill in page.skills if skill.uri.startswith(base)]
        number += len(own)
        for skill in own:
            kept = skill if kept is None or skill.uri == wanted != kept.uri else kept
        cursor = page.next_cursor
        if cursor is None:
            return number, kept
    raise Disagreement(f"skills/list has no end after {limits.CHECK_MAX_PAGES} pages.")


async def _read(client: Client, uri: str) -> bytes:
    """Read a resource that is one file."""
    contents = (await client.read_resource(uri)).contents
    if len(contents) != 1:
        raise Disagreement(f"{uri} is read as {len(contents)} contents, not as one.")
    only = contents[0]
    if isinstance(only, TextResourceContents):
        return only.text.encode()
    return base64.b64decode(only.blob)

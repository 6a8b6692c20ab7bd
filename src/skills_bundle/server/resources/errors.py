"""Record: how a question about MCP resources or skills is refused: code, number, fixed sentence.

The JSON-RPC number depends on the revision (an unknown resource was -32002 up to 2025-11-25); the
code in `data` does not, so that a client can tell an altered file from any other internal error.
Nothing the client sent is repeated.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from skills_bundle.catalog.errors import MESSAGES

RESOURCE_NOT_FOUND: Final = -32002
"""The number of an unknown resource in the revisions with a handshake."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """How one code is told.

    Attributes:
        number: JSON-RPC's error code on 2026-07-28.
        message: The fixed sentence.
        handshake_number: JSON-RPC's error code on the revisions with a handshake.
    """

    number: int
    message: str
    handshake_number: int


def _refusal(number: int, message: str, handshake_number: int | None = None) -> Refusal:
    return Refusal(number, message, handshake_number or number)


REFUSALS: Final[dict[str, Refusal]] = {
    "unknown_resource": _refusal(
        INVALID_PARAMS,
        "There is no resource with exactly this URI. List the resources there are.",
        RESOURCE_NOT_FOUND,
    ),
    "unknown_skill": _refusal(
        INVALID_PARAMS, "This is not the URI of the SKILL.md of a skill that is served here."
    ),
    "unlisted_skill": _refusal(
        INVALID_PARAMS,
        "This skill has no entry: a host could not verify it. The tools serve it, and the overview "
        "says why.",
    ),
    "unknown_folder": _refusal(
        INVALID_PARAMS, "There is no folder with exactly this URI; a slash at the end is another."
    ),
    "invalid_cursor": _refusal(
        INVALID_PARAMS, "The cursor is not of this listing as it is now. Start from the first page."
    ),
    "altered_file": _refusal(
        INTERNAL_ERROR, "The file is not the one that was locked, so it is not served."
    ),
    "response_too_large": _refusal(
        INTERNAL_ERROR, "The file is too large for one response, and resources have no pages."
    ),
    "collection_unavailable": _refusal(INTERNAL_ERROR, MESSAGES["collection_unavailable"]),
    "catalog_unavailable": _refusal(INTERNAL_ERROR, MESSAGES["catalog_unavailable"]),
}
"""Code to refusal."""


def refused(code: str, revision: str) -> MCPError:
    """Give the error of a code in a protocol revision.

    Raises:
        KeyError: If there is no such code.
    """
    told = REFUSALS[code]
    number = told.number if is_modern(revision) else told.handshake_number
    return MCPError(number, told.message, {"code": code})


def is_modern(revision: str) -> bool:
    """Tell whether a revision is 2026-07-28 or later: no handshake, cache hints in results."""
    return revision in MODERN_PROTOCOL_VERSIONS

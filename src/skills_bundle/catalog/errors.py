"""Record: the wire's error codes, each with its one fixed sentence.

Fixed, since whoever reads the answer may be a model: a sentence that repeats the input would let
the input speak with our voice. They name no path and no argument's value.
"""

from __future__ import annotations

from typing import Final

from skills_bundle.errors import ToolError

MESSAGES: Final[dict[str, str]] = {
    "invalid_input": (
        "The arguments are not what this tool's input schema allows: check names, types and "
        "limits, that a resource is a relative path this server may read, and that an offset lies "
        "in the file and at the start of a character."
    ),
    "catalog_unavailable": (
        "The installed skills cannot be served: their lock is missing or cannot be believed. "
        "Run `skills-bundle verify` where this server is installed."
    ),
    "resource_unavailable": (
        "There is no such skill or resource, or it cannot be served: it is not in the lock, is not "
        "the file that was locked, or is not UTF-8 text. Search for what there is."
    ),
    "collection_unavailable": (
        "The collection that was asked for, or one that could hold what was asked for, cannot be "
        "served now: its lock is missing or cannot be believed, or two packages claim its name. "
        "Others are served: leave `collection` out, or search for what there is."
    ),
    "ambiguous_skill": (
        "Skills of this name or path are in more than one collection. Say which by `collection`; "
        "a search for the name lists them, each with its collection."
    ),
    "response_too_large": (
        "The answer is larger than one response may be. Ask for less: a smaller limit."
    ),
    "unknown_tool": "This server has no such tool. List the tools it has.",
}
"""Code to sentence; each under 512 characters."""


def refusal(code: str) -> ToolError:
    """Give the error that carries a code and the sentence that belongs to it.

    Raises:
        KeyError: If there is no such code.
    """
    return ToolError(code, MESSAGES[code])

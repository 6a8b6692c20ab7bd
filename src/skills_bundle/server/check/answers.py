"""Edge: asking a server that may say anything, and how much of that is believed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, cast

from skills_bundle.formats import rendering
from skills_bundle.server.check.words import StopError
from skills_bundle.skills import limits

if TYPE_CHECKING:
    from mcp.client.client import Client
    from pydantic import JsonValue

    from skills_bundle.server.check.report import Verdict

    JsonObject: TypeAlias = dict[str, JsonValue]


def demand_progress(page: JsonObject, read: int) -> None:
    """Stop at pages that cannot be those of one file: they could go on for ever.

    Args:
        page: Foreign data; a `KeyError` or `TypeError` is reported as such.
        read: Bytes up to and with this page.

    Raises:
        StopError: If there are more than the file is said to have, or than a file can have; or if
            the next page does not begin where this one ends.
    """
    length = cast("int", page["byte_length"])
    if read > min(length, limits.SKILL_MAX_BYTES):
        raise StopError("wrong", f"The pages hold more than the {length} bytes they claim.")
    following = page["next_offset"]
    if following is not None and (following != read or not page["content"]):
        raise StopError("wrong", "The pages do not advance.")


async def ask(client: Client, tool: str, arguments: dict[str, Any]) -> JsonObject:
    """Call a tool and give its structured answer; the SDK's client checks it by the tool's schema.

    Raises:
        StopError: If the tool says no.
        ValueError: If the answer is not JSON, though the SDK lets it by.
    """
    result = await client.call_tool(tool, arguments)
    answer = cast("JsonObject", result.structured_content)
    rendering.compact(answer)  # NaN and lone surrogates would end the report later
    if not result.is_error:
        return answer
    error = cast("dict[str, str]", answer["error"])
    verdict: Verdict = "cannot_tell" if error["code"] == "catalog_unavailable" else "wrong"
    raise StopError(verdict, f"{tool} answers {error['code']}: {error['message']}")

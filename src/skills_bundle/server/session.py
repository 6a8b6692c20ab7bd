"""Decision: the SDK's low-level server with our tools, and the nets that keep its answers in form.

The SDK speaks every protocol revision: four with the `initialize` handshake, and 2026-07-28, where
each request carries its own envelope and `server/discover` takes the handshake's place. The
low-level server validates nothing and knows no coded errors; both are ours (`tools.base`).
"""

from __future__ import annotations

import logging
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from mcp.server.caching import CacheHint
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    Tool,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from skills_bundle.catalog.shelves import Shelves
from skills_bundle.server import limits
from skills_bundle.server.resources import resources, skills_extension
from skills_bundle.server.session_changes import Changes, remember

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from mcp.server.context import CallNext, HandlerResult, ServerMiddleware, ServerRequestContext

    from skills_bundle.catalog.entries import JsonObject
    from skills_bundle.catalog.shelves import Shelved
    from skills_bundle.server.resources.pages import Method
    from skills_bundle.server.tools.base import Tool as OurTool
    from skills_bundle.server.tools.base import Toolbox

    Context = ServerRequestContext[Any, Any]

ParamsT = TypeVar("ParamsT")
ResultT = TypeVar("ResultT")

SERVER_NAME: Final = "skills-bundle"

INSTRUCTIONS: Final = """\
Skills are tested instructions for a kind of task. Before such a task, find a fitting skill with \
skill_catalog_search, read its SKILL.md with skill_resource_read, and follow it; read the \
reference files it names when it says so. Every answer carries `provenance`: which collection, \
package and revision its text comes from, what of that is only asserted, and what was verified \
here."""

INSTRUCTIONS_OF_SEVERAL: Final = f"""\
{INSTRUCTIONS} Several collections are served: a search names the `collection` of each skill; \
pass it on when you read, and say it when you name the skill."""

_UNCHANGING: Final = CacheHint(limits.TOOLS_TTL_MILLISECONDS, "public")

_log = logging.getLogger(__name__)


def build(
    toolbox: Toolbox, *, version: str, shelf: Shelved | None = None, notify: bool = True
) -> Server[Any]:
    """Join tools, MCP resources, skills and the SDK's server.

    Args:
        toolbox: What `tools/list` and `tools/call` offer.
        version: Of this distribution, as reported to clients.
        shelf: What the methods of resources and skills offer; without it there are none.
        notify: Whether clients are told of changes; only where a connection is more than a request.
    """
    listed = ListToolsResult(tools=[_listed(tool) for tool in toolbox.tools])

    async def list_tools(_: Context, params: PaginatedRequestParams | None) -> ListToolsResult:
        if params is not None and params.cursor is not None:
            raise MCPError(INVALID_PARAMS, "All tools are on the first page.")
        return listed

    async def call_tool(_: Context, params: CallToolRequestParams) -> CallToolResult:
        # Not the SDK's model: it adds `isError: false` to every success. `resultType` is of
        # 2026-07-28; the SDK leaves it out elsewhere.
        answer = toolbox.call(params.name, params.arguments or {})
        return cast("CallToolResult", {"resultType": "complete", **answer})

    server: Server[Any] = Server(
        SERVER_NAME,
        version=version,
        instructions=INSTRUCTIONS_OF_SEVERAL if isinstance(shelf, Shelves) else INSTRUCTIONS,
        lifespan=remember,
        # Sent on 2026-07-28 only; the SDK leaves it out elsewhere.
        cache_hints={"server/discover": _UNCHANGING, "tools/list": _UNCHANGING},
        on_list_tools=_contained(list_tools),
        on_call_tool=_contained(call_tool),
    )
    # The SDK's own middleware reports every call to whatever OpenTelemetry exporter is installed;
    # what is looked up here is nobody's business, so it goes.
    server.middleware = [cast("ServerMiddleware[Any]", partial(_keep_form, server))]
    if shelf is not None:
        server.extensions = {skills_extension.IDENTIFIER: dict(skills_extension.SETTINGS)}
        server.middleware.append(cast("ServerMiddleware[Any]", Changes(shelf, notify=notify)))
        for method in (*resources.methods(shelf), *skills_extension.methods(shelf)):
            server.add_request_handler(method.name, method.params, _contained(_answering(method)))
    return server


def _answering(method: Method) -> Callable[[Context, Any], Awaitable[JsonObject]]:
    async def answer(context: Context, params: Any) -> JsonObject:  # noqa: ANN401 - of the method's own type
        return method.answer(params, context.protocol_version)

    return answer


def _listed(tool: OurTool[Any]) -> Tool:
    return Tool.model_validate(
        {
            "name": tool.name,
            "description": tool.description,
            "inputSchema": tool.input_schema,
            "outputSchema": tool.output_schema,
            "annotations": tool.annotations,
        }
    )


def _contained(
    handler: Callable[[Context, ParamsT], Awaitable[ResultT]],
) -> Callable[[Context, ParamsT], Awaitable[ResultT]]:
    """Make a handler's crash an internal error here, where it cannot pass for an SDK's refusal.

    Further out a pydantic error of ours would pass for one about the client's parameters.
    """

    async def contained(context: Context, params: ParamsT) -> ResultT:
        try:
            return await handler(context, params)
        except MCPError:
            raise
        except Exception as error:  # noqa: BLE001 - the one place where a fault of ours stops
            raise _internal_error(error) from None

    return contained


async def _keep_form(server: Server[Any], context: Context, call_next: CallNext) -> HandlerResult:
    """Refuse a second handshake, let odd arguments reach the tool, and contain the SDK's crashes.

    On handshake connections the SDK would answer a crash with the exception's text and code 0.
    """
    if _is_second_handshake(context):
        raise MCPError(INVALID_PARAMS, "This connection is initialized.")
    if not _is_served(server, context):
        raise MCPError(METHOD_NOT_FOUND, "Method not found.")
    try:
        return await call_next(_with_object_arguments(context))
    except MCPError as error:
        if error.code == METHOD_NOT_FOUND:  # without the method's name, which may be a megabyte
            raise MCPError(METHOD_NOT_FOUND, "Method not found.") from None
        raise
    except ValidationError:  # the SDK words it, without the client's values
        raise
    except Exception as error:  # noqa: BLE001 - as above
        raise _internal_error(error) from None


def _is_second_handshake(context: Context) -> bool:
    """Tell whether a handshake has been; on 2026-07-28 there is no such method."""
    if context.method != "initialize" or context.protocol_version in MODERN_PROTOCOL_VERSIONS:
        return False
    return context.session.client_params is not None


def _is_served(server: Server[Any], context: Context) -> bool:
    """Tell whether anybody answers this, before the SDK looks at the parameters.

    It checks them first for every method of the protocol, and would call those of a method that we
    do not have invalid.
    """
    if context.request_id is None or context.method == "initialize":
        return True
    return server.get_request_handler(context.method) is not None


def _with_object_arguments(context: Context) -> Context:
    """Make `arguments` that are null, an array or a scalar an object that no closed schema accepts.

    Otherwise the SDK takes null for "omitted" and answers the others with a protocol error, which a
    model never sees; `invalid_input` it can mend.
    """
    params = context.params
    if context.method != "tools/call" or params is None or "arguments" not in params:
        return context
    if isinstance(params["arguments"], dict):
        return context
    return replace(context, params={**params, "arguments": {"": params["arguments"]}})


def _internal_error(error: Exception) -> MCPError:
    """Tell stderr everything and the client nothing."""
    _log.error("A request failed because of a fault in skills-bundle.", exc_info=error)
    return MCPError(INTERNAL_ERROR, "Internal error.")

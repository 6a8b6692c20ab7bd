"""Decision: the SDK's low-level server with our tools, and the connections it serves.

The SDK speaks every protocol revision: four with the `initialize` handshake, and 2026-07-28, where
each request carries its own envelope and `server/discover` replaces the handshake. The low-level
server validates nothing and knows no coded errors; both are ours (`tools.base`).

**Opening.** The first request that belongs to one of these two groups decides for its connection:
`initialize`, or a request with the envelope of 2026-07-28. The SDK would let the very first request
decide. That locks out clients that probe, as the specification allows: one that asks
`server/discover` for a revision we do not serve, is refused, and falls back to `initialize`; or one
that pings first. So a request that belongs to neither group, only probes, or is refused for its
envelope decides nothing: it is answered on an SDK connection of its own.

**Changes.** The lock normally stays the same while a server runs. When it is replaced (an upgrade
in place, an edited source checkout), a client that listed the old skills is notified, on the
revisions that allow unsolicited notifications, before the next answer on its connection: nothing
runs in between that could notice sooner. On 2026-07-28 notifications need a subscription, a request
that stays open; we serve none, and results say how long they stay fresh instead.
"""

from __future__ import annotations

import logging
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar, cast

import anyio
from anyio.abc import AsyncResource
from mcp.server.caching import CacheHint
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import InboundLadderRejection, classify_inbound_request
from mcp.shared.message import SessionMessage
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    CallToolRequestParams,
    CallToolResult,
    JSONRPCError,
    JSONRPCRequest,
    JSONRPCResponse,
    ListToolsResult,
    PaginatedRequestParams,
    Tool,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from skills_bundle.server import limits
from skills_bundle.server.resources import (
    LISTINGS,
    METHODS,
    SKILLS_EXTENSION,
    SKILLS_EXTENSION_SETTINGS,
)

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable

    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp.server.context import CallNext, HandlerResult, ServerMiddleware, ServerRequestContext
    from mcp.shared._stream_protocols import ReadStream, WriteStream

    from skills_bundle.catalog.resources import JsonObject
    from skills_bundle.catalog.service import Catalog
    from skills_bundle.server.resources import Method
    from skills_bundle.server.tools.base import Tool as OurTool
    from skills_bundle.server.tools.base import Toolbox

    Context = ServerRequestContext["Listed", Any]
    Incoming = SessionMessage | Exception

ParamsT = TypeVar("ParamsT")
ResultT = TypeVar("ResultT")

SERVER_NAME: Final = "skills-bundle"

INSTRUCTIONS: Final = """\
Skills are instructions for a kind of task, written by the authors of the installed packages. \
Before such a task, find a matching skill with skill_catalog_search, read its SKILL.md with \
skill_resource_read, and decide whether it fits; read the other files it names when it says so. \
Every answer has `provenance`. Its `source_provenance` has three claims: `status` asserted means \
that the package names a commit, which proves nothing; `build_verification` verified means that \
the build recorded a clean checkout, which is its word; `integrity` verified means that the \
installed bytes match the lock here and now, which says nothing about who wrote them."""

INSTRUCTIONS_WITHOUT_PATHS: Final = (
    " Answers hold no path of this machine: to run a script of a skill, write it from the text you "
    "read, or ask the person to run `skills-bundle export DIR`, which writes verified copies."
)

INSTRUCTIONS_WITH_PATHS: Final = (
    " The answer about SKILL.md has `base`, the skill's folder on this machine: paths in SKILL.md "
    "are relative to it, so run scripts from there. Without `base`, a file was altered: run none."
)

INSTRUCTIONS_SEVERAL: Final = (
    " Several collections are served: a search names the `collection` of each skill; pass it when "
    "you read the skill, and mention it when you name the skill."
)


def instructions(catalog: Catalog | None) -> str:
    """Return what the server says to an agent about its use."""
    if catalog is None:
        return INSTRUCTIONS
    paths = INSTRUCTIONS_WITH_PATHS if catalog.exposes_paths else INSTRUCTIONS_WITHOUT_PATHS
    return INSTRUCTIONS + paths + (INSTRUCTIONS_SEVERAL if catalog.several else "")


DISCOVER: Final = "server/discover"

_UNCHANGING: Final = CacheHint(limits.TOOLS_TTL_MILLISECONDS, "public")

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Listed:
    """What the client of one connection last listed.

    Attributes:
        digest: Digest of the locks at that time, or None if it listed nothing.
    """

    digest: str | None = None


@asynccontextmanager
async def _remember(_: Server[Listed]) -> AsyncGenerator[Listed]:
    """Yield the state of one connection; the SDK calls this its lifespan."""
    yield Listed()


# --- building -------------------------------------------------------------------------------------


def build(
    toolbox: Toolbox,
    *,
    version: str,
    name: str = SERVER_NAME,
    catalog: Catalog | None = None,
    notify: bool = True,
) -> Server[Any]:
    """Return the SDK's server with tools, MCP resources and the skills extension.

    Args:
        toolbox: Answers `tools/list` and `tools/call`.
        version: Reported to clients, as is `name`.
        name: See `version`.
        catalog: Answers the methods of resources and skills; without it there are none.
        notify: Whether clients are notified of changes; False where each request is a connection.
    """
    listed = ListToolsResult(tools=[_listed(tool) for tool in toolbox.tools])

    async def list_tools(_: Context, params: PaginatedRequestParams | None) -> ListToolsResult:
        if params is not None and params.cursor is not None:
            raise MCPError(INVALID_PARAMS, "All tools are on the first page.")
        return listed

    async def call_tool(_: Context, params: CallToolRequestParams) -> CallToolResult:
        # Not the SDK's model: it adds `isError: false` to every success. `resultType` belongs to
        # 2026-07-28; the SDK drops it elsewhere.
        answer = toolbox.call(params.name, params.arguments or {})
        return cast("CallToolResult", {"resultType": "complete", **answer})

    server: Server[Any] = Server(
        name,
        version=version,
        instructions=instructions(catalog),
        lifespan=_remember,
        # Sent on 2026-07-28 only; the SDK drops it elsewhere.
        cache_hints={DISCOVER: _UNCHANGING, "tools/list": _UNCHANGING},
        on_list_tools=_contained(list_tools),
        on_call_tool=_contained(call_tool),
    )
    # This replaces the SDK's own middleware, which reports every call to any OpenTelemetry
    # exporter is installed: what is looked up here is private.
    server.middleware = [cast("ServerMiddleware[Any]", partial(_keep_form, server))]
    if catalog is not None:
        server.extensions = {SKILLS_EXTENSION: dict(SKILLS_EXTENSION_SETTINGS)}
        around = partial(_declare_and_notify, catalog, notify)
        server.middleware.append(cast("ServerMiddleware[Any]", around))
        for method in METHODS:
            handler = _contained(_handler(method, catalog))
            server.add_request_handler(method.name, method.params, handler)
    return server


def _handler(method: Method, catalog: Catalog) -> Callable[[Context, Any], Awaitable[JsonObject]]:
    async def answer(context: Context, params: Any) -> JsonObject:  # noqa: ANN401 - of the method's own type
        return method.answer(catalog, params, context.protocol_version)

    return answer


def _listed(tool: OurTool[Any]) -> Tool:
    return Tool.model_validate(
        {
            "name": tool.name,
            "description": tool.description,
            "inputSchema": tool.input_schema,
            "outputSchema": tool.output_schema,
            "annotations": tool.annotations,
            **({} if tool.meta is None else {"_meta": tool.meta}),
        }
    )


def _contained(
    handler: Callable[[Context, ParamsT], Awaitable[ResultT]],
) -> Callable[[Context, ParamsT], Awaitable[ResultT]]:
    """Return a handler that turns its own crash into an internal error.

    Further out, a pydantic error of ours would be mistaken for one about the client's parameters.
    """

    async def contained(context: Context, params: ParamsT) -> ResultT:
        try:
            return await handler(context, params)
        except MCPError:
            raise
        except Exception as error:  # noqa: BLE001 - where our own faults stop
            raise _internal_error(error) from None

    return contained


# --- around every request -----------------------------------------------------------------------


async def _keep_form(server: Server[Any], context: Context, call_next: CallNext) -> HandlerResult:
    """Refuse a second handshake, pass odd arguments to the tool, and contain the SDK's crashes.

    On handshake connections the SDK would answer a crash with the exception's text and code 0.
    """
    if _is_second_handshake(context):
        raise MCPError(INVALID_PARAMS, "This connection is already initialized.")
    if not _is_served(server, context):
        raise MCPError(METHOD_NOT_FOUND, "Method not found.")
    try:
        return await call_next(_with_object_arguments(context))
    except MCPError as error:
        if error.code == METHOD_NOT_FOUND:  # without the method's name, which may be a megabyte
            raise MCPError(METHOD_NOT_FOUND, "Method not found.") from None
        raise
    except ValidationError:  # the SDK writes the message, without the client's values
        raise
    except Exception as error:  # noqa: BLE001 - as above
        raise _internal_error(error) from None


def _is_second_handshake(context: Context) -> bool:
    """Return whether the handshake was already done; on 2026-07-28 there is no such method."""
    if context.method != "initialize" or context.protocol_version in MODERN_PROTOCOL_VERSIONS:
        return False
    return context.session.client_params is not None


def _is_served(server: Server[Any], context: Context) -> bool:
    """Return whether there is a handler, before the SDK validates the parameters.

    The SDK validates them first for every method of the protocol, so a method that we do not have
    would be answered with "invalid parameters".
    """
    if context.request_id is None or context.method == "initialize":
        return True
    return server.get_request_handler(context.method) is not None


def _with_object_arguments(context: Context) -> Context:
    """Return a context whose `arguments` are an object, one that no closed schema accepts.

    The SDK takes null for omitted arguments, and answers an array or a scalar with a protocol
    error, which a model never sees. `invalid_input` from the tool is something it can correct.
    """
    params = context.params
    if context.method != "tools/call" or params is None or "arguments" not in params:
        return context
    if isinstance(params["arguments"], dict):
        return context
    return replace(context, params={**params, "arguments": {"": params["arguments"]}})


def _internal_error(error: Exception) -> MCPError:
    """Log everything to standard error, and return an error that tells the client nothing."""
    _log.error("A request failed because of a fault in skills-bundle.", exc_info=error)
    return MCPError(INTERNAL_ERROR, "Internal error.")


async def _declare_and_notify(
    catalog: Catalog,
    notify: bool,  # noqa: FBT001 - bound by position, once
    context: Context,
    call_next: CallNext,
) -> HandlerResult:
    """Declare the extension in the handshake; after other requests, notify of changed listings."""
    if context.method == "initialize":
        return _declare(await call_next(context), notify=notify)
    is_modern = context.protocol_version in MODERN_PROTOCOL_VERSIONS
    if not notify or is_modern or context.request_id is None:
        return await call_next(context)
    try:
        return await call_next(context)
    finally:
        await _notify(context, catalog.seen)


async def _notify(context: Context, seen: str | None) -> None:
    listed = context.lifespan_context
    if context.method in LISTINGS and "cursor" not in (context.params or {}):
        listed.digest = seen
    elif listed.digest not in {None, seen}:
        listed.digest = seen
        await context.session.send_resource_list_changed()


def _declare(result: HandlerResult, *, notify: bool) -> HandlerResult:
    """Return the answer to `initialize` with what the SDK leaves out.

    The SDK strips `extensions`, which the revisions with a handshake do not define but allow; hosts
    of the skills extension look for it there. It takes `listChanged` from elsewhere.
    """
    answer = cast("dict[str, Any]", result)
    capabilities = cast("dict[str, Any]", answer["capabilities"])
    resources = {**capabilities["resources"], "listChanged": notify}
    extensions = {SKILLS_EXTENSION: SKILLS_EXTENSION_SETTINGS}
    return {
        **answer,
        "capabilities": {**capabilities, "resources": resources, "extensions": extensions},
    }


# --- opening a connection -------------------------------------------------------------------------


async def serve(
    server: Server[Any],
    incoming: MemoryObjectReceiveStream[Incoming],
    outgoing: WriteStream[SessionMessage],
) -> None:
    """Serve one connection until its input ends.

    Args:
        server: Answers in any revision.
        incoming: The client's messages.
        outgoing: The stream for answers; a message is written when `send` returns. Closed at the
            end.
    """
    options = server.create_initialization_options()
    async with outgoing, incoming:
        async for item in incoming:
            request = _request(item)
            if request is None:
                # Before a connection is opened, notifications mean nothing. The SDK would take a
                # bare `notifications/initialized` for a handshake.
                continue
            if opens(request):
                replayed = cast("ReadStream[Incoming]", _Replay(item, incoming))
                await server.run(replayed, outgoing, options)
                return
            send, receive = anyio.create_memory_object_stream["Incoming"](1)
            send.send_nowait(item)
            await server.run(receive, _OneAnswer(outgoing, send), options)


def _request(item: Incoming) -> JSONRPCRequest | None:
    message = item.message if isinstance(item, SessionMessage) else None
    return message if isinstance(message, JSONRPCRequest) else None


def opens(request: JSONRPCRequest) -> bool:
    """Return whether this request decides which group of revisions its connection belongs to."""
    if request.method in {"initialize", DISCOVER}:
        return request.method == "initialize"
    body = {"method": request.method, "params": request.params}
    return not isinstance(classify_inbound_request(body), InboundLadderRejection)


class _Replay(AsyncResource):
    """A stream with the message that was taken from it put back."""

    def __init__(self, first: Incoming, rest: MemoryObjectReceiveStream[Incoming]) -> None:
        self._first: Incoming | None = first
        self._rest = rest

    async def receive(self) -> Incoming:
        first, self._first = self._first, None
        return await self._rest.receive() if first is None else first

    async def aclose(self) -> None:
        await self._rest.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Incoming:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None


class _OneAnswer(AsyncResource):
    """Ends a connection's input once its one request is answered; keeps the real output open."""

    def __init__(
        self, outgoing: WriteStream[SessionMessage], input_: MemoryObjectSendStream[Incoming]
    ) -> None:
        self._outgoing = outgoing
        self._input = input_

    async def send(self, item: SessionMessage, /) -> None:
        await self._outgoing.send(item)
        if isinstance(item.message, JSONRPCResponse | JSONRPCError):
            await self._input.aclose()

    async def aclose(self) -> None:
        await self._input.aclose()

"""Edge: one HTTP request, from its head to its answer.

Joins the rules for heads, the strict reading of bodies and the SDK's streamable HTTP. The SDK is
used without sessions and with plain JSON answers, so a request may go to any replica.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

import anyio
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types.jsonrpc import HEADER_MISMATCH

from skills_bundle.formats import rendering, strict_json
from skills_bundle.server import limits
from skills_bundle.server.http import log as http_log
from skills_bundle.server.http.health import Health
from skills_bundle.server.http.protocol import GONE
from skills_bundle.server.http.rules import (
    TOO_LONG,
    Answer,
    Head,
    Route,
    judge,
    origin_form,
    shared_with,
    versions_differ,
)
from skills_bundle.server.stdio import framing

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from mcp.server.lowlevel import Server

    from skills_bundle.server.http.rules import Headers, Rules

Event: TypeAlias = MutableMapping[str, Any]
"""An ASGI scope or message."""
Receive: TypeAlias = Callable[[], Awaitable[Event]]
Send: TypeAlias = Callable[[Event], Awaitable[None]]

_Message: TypeAlias = framing.Request | framing.Notification | framing.Refusal

_log = logging.getLogger(__name__)

_JSON: Final = "application/json"
_REWORDED: Final = {
    framing.NOT_JSON: "The body is not strict UTF-8 JSON.",
    framing.BATCH: "Batches are not supported; send one message a request.",
}
_NOT_ASKED: Final = framing.Refusal(
    framing.INVALID_REQUEST, None, "This server asks no questions, so it takes no answers."
)
_SLOW: Final = Answer(408, "The body took too long.", (("connection", "close"),))
_BUSY: Final = Answer(503, "Too many requests at once.", (("retry-after", "1"),))
_STOPPING: Final = Answer(503, "This server is stopping.", (("connection", "close"),))
_FAULT: Final = Answer(500, "Internal error.")
_OK: Final = Answer(200, "ok\n")
_UNAVAILABLE: Final = Answer(503, "unavailable\n")
_LEFT_OUT: Final = frozenset({b"authorization", b"content-type", b"cookie", b"proxy-authorization"})


class App:
    """The ASGI application; `running` must surround its use.

    Args:
        server: The SDK's, with our tools.
        rules: What is asked of every request.
        healthy: Whether the catalog can be served right now.
    """

    def __init__(self, server: Server[Any], rules: Rules, healthy: Callable[[], bool]) -> None:
        """Prepare."""
        self._rules = rules
        self._health = Health(healthy)
        self._active = 0
        self._sdk = StreamableHTTPSessionManager(
            app=server,
            json_response=True,
            stateless=True,
            max_request_body_size=limits.HTTP_BODY_MAX_BYTES,
        )

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Keep what requests share; once in this object's life."""
        async with self._sdk.run():
            yield

    async def __call__(self, scope: Event, receive: Receive, send: Send) -> None:
        """Answer one request; whatever happens, it gets an answer and a line in the log."""
        began = time.perf_counter()
        reply = Reply(send, scope)
        head = _head(scope)
        try:
            await self._answer(head, scope, receive, reply)
        except anyio.get_cancelled_exc_class():  # the grace after a signal is over
            await reply.whole(_STOPPING)
        except Exception:  # noqa: BLE001 - the last net: a trace on stderr and an answer
            _log.exception("A request failed because of a fault in skills-bundle.")
            await reply.whole(_FAULT)
        finally:
            spent = (time.perf_counter() - began) * 1000
            http_log.access(head.method, head.path, reply.status, spent)

    async def _answer(self, head: Head, scope: Event, receive: Receive, reply: Reply) -> None:
        verdict = judge(head, self._rules)
        if verdict is Route.HEALTH:
            await reply.whole(_OK if await self._health.current() else _UNAVAILABLE)
            return
        reply.extra = shared_with(head, self._rules)
        if isinstance(verdict, Answer):
            await reply.whole(verdict)
        elif self._active >= limits.HTTP_MAX_REQUESTS:
            await reply.whole(_BUSY)
        else:
            self._active += 1
            try:
                await self._converse(head, scope, receive, reply)
            finally:
                self._active -= 1

    async def _converse(self, head: Head, scope: Event, receive: Receive, reply: Reply) -> None:
        body = await _read(receive)
        if isinstance(body, Answer):
            await reply.whole(body)
        elif body is not None:
            message = _agreeing(head, _parse(body))
            if isinstance(message, framing.Refusal):
                await reply.whole(_refused(message))
            else:
                reply.tool_call = message.method == "tools/call"
                await self._sdk.handle_request(
                    _without_secrets(scope), _replay(body, receive), reply.pass_on
                )


class Reply:
    """One response on its way out: ours, or the SDK's within our bounds.

    Attributes:
        status: What was answered; 499 as long as nothing was, which is what proxies log for a
            client that went away.
        extra: Headers for whatever is answered.
        tool_call: Whether the SDK answers a tool call.
    """

    def __init__(self, send: Send, scope: Event) -> None:
        """Nothing is sent yet."""
        self._send = send
        self._scope = scope
        self._start: Event | None = None
        self.status = 499
        self.extra: Headers = ()
        self.tool_call = False

    async def whole(self, answer: Answer) -> None:
        """Send an answer of ours, unless one has begun."""
        if self.status != 499:
            return
        self._tell(answer.status)
        body = answer.text.encode()
        headers = [("content-length", str(len(body))), *answer.headers, *self.extra]
        if answer.text:
            headers.append(("content-type", answer.media_type))
        start = {"type": "http.response.start", "status": answer.status, "headers": _raw(headers)}
        await self._send(start)
        await self._send({"type": "http.response.body", "body": body})

    async def pass_on(self, message: Event) -> None:
        """Send what the SDK says; hold its head back until the length of its answer is known."""
        if message["type"] == "http.response.start":
            self._start = message
            return
        start, self._start = self._start, None
        if start is not None:
            message = self._bounded(start, message)
            self._tell(start["status"])
            start["headers"] = [*start["headers"], *_raw(self.extra)]
            await self._send(start)
        await self._send(message)

    def _tell(self, status: int) -> None:
        if not self._scope.get(GONE):
            self.status = status

    def _bounded(self, start: Event, message: Event) -> Event:
        """Make an answer that is too long the error that stdio would send."""
        body: bytes = message.get("body", b"")
        if len(body) < limits.RESPONSE_LINE_MAX_BYTES or message.get("more_body", False):
            return message
        value = cast("framing.JsonObject", strict_json.loads(body, limit=len(body)))
        body = framing.encode(value, tool_call=self.tool_call)
        kept = [(name, text) for name, text in start["headers"] if name != b"content-length"]
        start["headers"] = [*kept, (b"content-length", str(len(body)).encode())]
        return {**message, "body": body}


def _head(scope: Event) -> Head:
    headers: list[tuple[bytes, bytes]] = scope["headers"]
    path, named = origin_form(
        scope["path"],
        tuple((name.decode("latin-1"), text.decode("latin-1")) for name, text in headers),
    )
    return Head(
        method=scope["method"],
        path=path,
        headers=named,
        size=len(scope["raw_path"])
        + len(scope["query_string"])
        + sum(len(name) + len(text) + len(": \r\n") for name, text in headers),
    )


async def _read(receive: Receive) -> bytes | Answer | None:
    """Read a body; give a refusal if it is too long or too slow, None if the client went away."""
    body = bytearray()
    with anyio.move_on_after(limits.HTTP_BODY_SECONDS):
        while True:
            message = await receive()
            if message["type"] != "http.request":
                return None
            body += message.get("body", b"")
            if len(body) > limits.HTTP_BODY_MAX_BYTES:
                return TOO_LONG
            if not message.get("more_body", False):
                return bytes(body)
    return _SLOW


def _parse(body: bytes) -> _Message:
    """Read a body as strictly as a line; it may go over several lines."""
    if not body.strip():
        return replace(framing.NOT_JSON, message=_REWORDED[framing.NOT_JSON])
    message = framing.parse(framing.Line(body))
    if message is None:
        return _NOT_ASKED
    if isinstance(message, framing.Refusal) and message in _REWORDED:
        return replace(message, message=_REWORDED[message])
    return message


def _agreeing(head: Head, message: _Message) -> _Message:
    """Give the message, or its refusal if the head says otherwise than it does."""
    if isinstance(message, framing.Refusal) or not versions_differ(head, message.params):
        return message
    request_id = message.id if isinstance(message, framing.Request) else None
    text = "MCP-Protocol-Version is not, once, the version that the message names."
    return framing.Refusal(HEADER_MISMATCH, request_id, text)


def _refused(refusal: framing.Refusal) -> Answer:
    return Answer(400, rendering.compact(refusal.answer()).decode(), media_type=_JSON)


def _without_secrets(scope: Event) -> Event:
    """Give the scope without what nothing further in has any need of.

    The content type, which has passed, is written as the SDK compares it.
    """
    headers: list[tuple[bytes, bytes]] = scope["headers"]
    kept = [(name, text) for name, text in headers if name not in _LEFT_OUT]
    return {**scope, "headers": [*kept, (b"content-type", _JSON.encode())]}


def _replay(body: bytes, receive: Receive) -> Receive:
    """Give a `receive` that says the body in one piece, then what comes after it."""
    waiting: list[Event] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replayed() -> Event:
        return waiting.pop() if waiting else await receive()

    return replayed


def _raw(headers: Headers | list[tuple[str, str]]) -> list[tuple[bytes, bytes]]:
    return [(name.encode("latin-1"), text.encode("latin-1")) for name, text in headers]

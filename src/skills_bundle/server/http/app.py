"""Edge: one HTTP request, from its head to its answer.

Joins the checks of a head, the strict parser of bodies and the SDK's streamable HTTP. The SDK runs
without sessions and answers with plain JSON, so any replica can answer any request.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

import anyio
import anyio.to_thread
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types.jsonrpc import HEADER_MISMATCH

from skills_bundle.formats import strict_json
from skills_bundle.server import limits
from skills_bundle.server.http.access import (
    BODY_TOO_LONG,
    HEALTH_PATH,
    MCP_PATH,
    Answer,
    Head,
    Route,
    check_head,
    cors_headers,
    version_mismatch,
)
from skills_bundle.server.run import say
from skills_bundle.server.stdio import framing

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from mcp.server.lowlevel import Server

    from skills_bundle.server.http.access import Headers, Rules

Event: TypeAlias = MutableMapping[str, Any]
"""An ASGI scope or message."""
Receive: TypeAlias = Callable[[], Awaitable[Event]]
Send: TypeAlias = Callable[[Event], Awaitable[None]]

_log = logging.getLogger(__name__)

_JSON: Final = "application/json"
_UNEXPECTED_RESPONSE: Final = framing.Refusal(
    framing.INVALID_REQUEST, None, "This server sends no requests, so it accepts no responses."
)
_BODY_TOO_SLOW: Final = Answer(408, "The body took too long.", (("connection", "close"),))
_BUSY: Final = Answer(503, "Too many requests at once.", (("retry-after", "1"),))
_STOPPING: Final = Answer(503, "This server is stopping.", (("connection", "close"),))
_INTERNAL_ERROR: Final = Answer(500, "Internal error.")
_HEALTHY: Final = Answer(200, "ok\n")
_UNHEALTHY: Final = Answer(503, "unavailable\n")
_SECRET_HEADERS: Final = frozenset({b"authorization", b"cookie", b"proxy-authorization"})
_LOGGED_METHODS: Final = frozenset({"DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"})
_LOGGED_PATHS: Final = frozenset({HEALTH_PATH, MCP_PATH})


class App:
    """The ASGI application; enter `running` before its first request.

    Args:
        server: The SDK's server, with our tools.
        rules: What every request must satisfy.
        healthy: Whether the catalog can be served right now.
    """

    def __init__(self, server: Server[Any], rules: Rules, healthy: Callable[[], bool]) -> None:
        """Prepare; nothing runs yet."""
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
        """Run what requests share; an app can run once."""
        async with self._sdk.run():
            yield

    async def __call__(self, scope: Event, receive: Receive, send: Send) -> None:
        """Answer one request and log it, even if answering fails."""
        began = time.perf_counter()
        reply = Reply(send)
        head = _head(scope)
        try:
            await self._answer(head, scope, receive, reply)
        except anyio.get_cancelled_exc_class():  # the grace period after a signal is over
            await reply.send_whole(_STOPPING)
        except Exception:  # noqa: BLE001 - last resort: a traceback on stderr and an answer
            _log.exception("A request failed because of a fault in skills-bundle.")
            await reply.send_whole(_INTERNAL_ERROR)
        finally:
            _log_access(head, reply.status, time.perf_counter() - began)

    async def _answer(self, head: Head, scope: Event, receive: Receive, reply: Reply) -> None:
        checked = check_head(head, self._rules)
        if checked is Route.HEALTH:
            await reply.send_whole(_HEALTHY if await self._health.current() else _UNHEALTHY)
            return
        reply.extra_headers = cors_headers(head, self._rules)
        if isinstance(checked, Answer):
            await reply.send_whole(checked)
        elif self._active >= limits.HTTP_MAX_REQUESTS:
            await reply.send_whole(_BUSY)
        else:
            self._active += 1
            try:
                await self._answer_mcp(head, scope, receive, reply)
            finally:
                self._active -= 1

    async def _answer_mcp(self, head: Head, scope: Event, receive: Receive, reply: Reply) -> None:
        body = await _read_body(receive)
        if isinstance(body, Answer):
            await reply.send_whole(body)
            return
        if body is None:
            return
        message = _parse(head, body)
        if isinstance(message, framing.Refusal):
            text = strict_json.compact(message.answer()).decode()
            await reply.send_whole(Answer(400, text, media_type=_JSON))
            return
        reply.tool_call = message.method == "tools/call"
        await self._sdk.handle_request(
            _without_secrets(scope), _replay(body, receive), reply.send_from_sdk
        )


class Health:
    """Whether the catalog can be served, for probes.

    A check takes as long as the catalog has files, and anyone may probe. So one probe checks, in a
    thread, for all that wait, and its answer is kept for `limits.HTTP_HEALTH_SECONDS`.

    Args:
        healthy: Checks the catalog.
    """

    def __init__(self, healthy: Callable[[], bool]) -> None:
        """Prepare; nothing is checked yet."""
        self._healthy = healthy
        self._lock = anyio.Lock()
        self._answer = False
        self._until = 0.0

    async def current(self) -> bool:
        """Return an answer that is at most `limits.HTTP_HEALTH_SECONDS` old."""
        async with self._lock:
            if time.monotonic() >= self._until:
                self._answer = await anyio.to_thread.run_sync(self._healthy)
                self._until = time.monotonic() + limits.HTTP_HEALTH_SECONDS
            return self._answer


class Reply:
    """One response: ours, or the SDK's within our limits.

    Attributes:
        status: The status sent; 499 while nothing was sent, as proxies log a client that left.
        extra_headers: Headers of every answer.
        tool_call: Whether the SDK answers a tool call.
    """

    def __init__(self, send: Send) -> None:
        """Prepare; nothing is sent yet."""
        self._send = send
        self._start: Event | None = None
        self.status = 499
        self.extra_headers: Headers = ()
        self.tool_call = False

    async def send_whole(self, answer: Answer) -> None:
        """Send an answer of ours, unless one was begun."""
        if self.status != 499:
            return
        body = answer.text.encode()
        headers = [*answer.headers, *self.extra_headers, ("content-length", str(len(body)))]
        if answer.text:
            headers.append(("content-type", answer.media_type))
        self.status = answer.status
        start = {"type": "http.response.start", "status": answer.status, "headers": _raw(headers)}
        await self._send(start)
        await self._send({"type": "http.response.body", "body": body})

    async def send_from_sdk(self, message: Event) -> None:
        """Send a message of the SDK; its head waits until the length of the body is known."""
        if message["type"] == "http.response.start":
            self._start = message
            return
        start, self._start = self._start, None
        if start is not None:
            message = self._limit(start, message)
            self.status = start["status"]
            start["headers"] = [*start["headers"], *_raw(self.extra_headers)]
            await self._send(start)
        await self._send(message)

    def _limit(self, start: Event, message: Event) -> Event:
        """Replace an answer that is too long with the error that stdio sends."""
        body: bytes = message.get("body", b"")
        if len(body) < limits.RESPONSE_LINE_MAX_BYTES or message.get("more_body", False):
            return message
        value = cast("framing.JsonObject", strict_json.loads(body, limit=len(body)))
        body = framing.encode(value, tool_call=self.tool_call)
        kept = [(name, text) for name, text in start["headers"] if name != b"content-length"]
        start["headers"] = [*kept, (b"content-length", str(len(body)).encode())]
        return {**message, "body": body}


def _log_access(head: Head, status: int, seconds: float) -> None:
    """Log one request; nothing that a client chose is repeated, so no token and no forged line."""
    method = head.method if head.method in _LOGGED_METHODS else "other"
    path = head.path if head.path in _LOGGED_PATHS else "other"
    say(f"{method} {path} {status} {seconds * 1000:.1f} ms")


def _head(scope: Event) -> Head:
    headers: list[tuple[bytes, bytes]] = scope["headers"]
    return Head(
        method=scope["method"],
        path=scope["path"],
        headers=tuple((name.decode("latin-1"), text.decode("latin-1")) for name, text in headers),
        size=len(scope["raw_path"])
        + len(scope["query_string"])
        + sum(len(name) + len(text) + len(": \r\n") for name, text in headers),
    )


async def _read_body(receive: Receive) -> bytes | Answer | None:
    """Read a body; return an answer if it is too long or too slow, None if the client left."""
    body = bytearray()
    with anyio.move_on_after(limits.HTTP_BODY_SECONDS):
        while True:
            message = await receive()
            if message["type"] != "http.request":
                return None
            body += message.get("body", b"")
            if len(body) > limits.HTTP_BODY_MAX_BYTES:
                return BODY_TOO_LONG
            if not message.get("more_body", False):
                return bytes(body)
    return _BODY_TOO_SLOW


def _parse(head: Head, body: bytes) -> framing.Message:
    """Parse a body as strictly as a line of stdio; unlike there, it may span several lines."""
    if not body.strip():
        return framing.NOT_JSON
    message = framing.parse(framing.Line(body))
    if message is None:
        return _UNEXPECTED_RESPONSE
    if isinstance(message, framing.Refusal) or not version_mismatch(head, message.params):
        return message
    request_id = message.id if isinstance(message, framing.Request) else None
    text = "MCP-Protocol-Version must be sent once and name the version that the message names."
    return framing.Refusal(HEADER_MISMATCH, request_id, text)


def _without_secrets(scope: Event) -> Event:
    """Return the scope without headers that the SDK does not need.

    The content type and Accept, which were checked, are rewritten in a form that the SDK accepts:
    it treats a missing Accept as one that allows nothing, and reads only the first of several.
    """
    headers: list[tuple[bytes, bytes]] = scope["headers"]
    rewritten = [(name, _JSON.encode()) for name in (b"content-type", b"accept")]
    removed = {*_SECRET_HEADERS, *dict(rewritten)}
    kept = [(name, text) for name, text in headers if name not in removed]
    return {**scope, "headers": [*kept, *rewritten]}


def _replay(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that returns the body in one piece, then what follows it."""
    waiting: list[Event] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replayed() -> Event:
        return waiting.pop() if waiting else await receive()

    return replayed


def _raw(headers: Headers | list[tuple[str, str]]) -> list[tuple[bytes, bytes]]:
    return [(name.encode("latin-1"), text.encode("latin-1")) for name, text in headers]

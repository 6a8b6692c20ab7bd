"""Decision: parse lines of bytes into messages, and write messages as lines: MCP's stdio framing.

One JSON-RPC message per line (MCP, "Transports", stdio). Parsing a line returns a message, a
refusal, or None if no answer is due; it never raises. Nothing here depends on the SDK.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from skills_bundle.catalog.model import refusal
from skills_bundle.errors import MalformedJsonError
from skills_bundle.formats import limits as format_limits
from skills_bundle.formats import strict_json
from skills_bundle.server import limits

if TYPE_CHECKING:
    from pydantic import JsonValue

    from skills_bundle.errors import ToolError

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
INTERNAL_ERROR: Final = -32603

RequestId: TypeAlias = str | int
JsonObject: TypeAlias = "dict[str, JsonValue]"

_WHITE_SPACE: Final = b" \t\r"
_REQUEST_MEMBERS: Final = frozenset({"jsonrpc", "id", "method", "params"})
_RESPONSES: Final = (frozenset({"jsonrpc", "id", "result"}), frozenset({"jsonrpc", "id", "error"}))


@dataclass(frozen=True, slots=True)
class Line:
    """A complete line without its line feed; `first` marks the first of the connection."""

    data: bytes
    first: bool = False


@dataclass(frozen=True, slots=True)
class TooLong:
    """A line of more than `limits.REQUEST_LINE_MAX_BYTES`; its bytes were dropped."""


@dataclass(frozen=True, slots=True)
class Request:
    """A call that is due an answer; `params` is None if the member is absent."""

    id: RequestId
    method: str
    params: JsonObject | None


@dataclass(frozen=True, slots=True)
class Notification:
    """A call that is due no answer."""

    method: str
    params: JsonObject | None


@dataclass(frozen=True, slots=True)
class Refusal:
    """The error for a line that is not accepted.

    Attributes:
        code: JSON-RPC's code.
        id: The request's id if it is valid, else None.
        message: A fixed sentence that repeats nothing of the line.
    """

    code: int
    id: RequestId | None
    message: str

    def answer(self) -> JsonObject:
        """Return the JSON-RPC error."""
        return _error(self.id, self.code, self.message)


Message: TypeAlias = Request | Notification | Refusal

TOO_LONG: Final = Refusal(INVALID_REQUEST, None, "The line is longer than 1 MiB.")
NOT_JSON: Final = Refusal(PARSE_ERROR, None, "The message is not strict UTF-8 JSON.")
BATCH: Final = Refusal(
    INVALID_REQUEST, None, "Batches are not supported; send one message at a time."
)
NOT_AN_OBJECT: Final = Refusal(INVALID_REQUEST, None, "A message is a JSON object.")
BAD_ID: Final = Refusal(
    INVALID_REQUEST,
    None,
    "An id is a string of at most 1 KiB as JSON or an integer within 2^53 - 1.",
)
BAD_RESPONSE: Final = Refusal(
    INVALID_REQUEST, None, "A message without a method has jsonrpc, id and one of result, error."
)
REPEATED_ID: Final = Refusal(INVALID_REQUEST, None, "A request with this id is being answered.")


class LineBuffer:
    """Splits chunks into lines; never holds more than one line of the allowed length.

    Args:
        limit: Most bytes of a line, without its line feed.
    """

    def __init__(self, limit: int = limits.REQUEST_LINE_MAX_BYTES) -> None:
        """Start before the first byte of a connection."""
        self._limit = limit
        self._kept = bytearray()
        self._skipping = False
        self._first = True

    def feed(self, chunk: bytes) -> list[Line | TooLong]:
        """Return the lines that this chunk completes, and `TooLong` once a line exceeds the limit.

        Bytes after the last line feed are kept; at the end of input they are dropped.
        """
        lines: list[Line | TooLong] = []
        *whole, rest = chunk.split(b"\n")
        for piece in whole:
            self._keep(piece, lines)
            self._end_line(lines)
        self._keep(rest, lines)
        return lines

    def _keep(self, piece: bytes, lines: list[Line | TooLong]) -> None:
        if self._skipping:
            return
        if len(self._kept) + len(piece) > self._limit:
            lines.append(TooLong())
            self._kept = bytearray()
            self._skipping = True
        else:
            self._kept += piece

    def _end_line(self, lines: list[Line | TooLong]) -> None:
        if not self._skipping:
            lines.append(Line(bytes(self._kept), self._first))
            self._kept = bytearray()
        self._skipping = False
        self._first = False


def parse(line: Line | TooLong) -> Message | None:
    """Parse one line.

    Returns:
        The message; a refusal; or None if no answer is due: for a blank line, or a response (the
        server sends no requests, and two peers must not answer each other's responses forever).
    """
    if isinstance(line, TooLong):
        return TOO_LONG
    if not line.data.strip(_WHITE_SPACE):
        return None
    try:
        # A byte order mark is accepted where a file or a shell puts one: at the very start.
        value = strict_json.loads(
            line.data, limit=limits.REQUEST_LINE_MAX_BYTES, allow_bom=line.first
        )
    except MalformedJsonError:
        return NOT_JSON
    if isinstance(value, dict):
        return _request(value) if "method" in value else _response(value)
    return BATCH if isinstance(value, list) else NOT_AN_OBJECT


def _response(value: JsonObject) -> Refusal | None:
    """Return None for a response, which is dropped, and a refusal for anything else.

    The refusal of a malformed response has id null: its id would be ours, not the client's.
    """
    if "result" in value or "error" in value:
        known = value.keys() in _RESPONSES and value["jsonrpc"] == "2.0"
        return None if known else BAD_RESPONSE
    if "id" in value and not valid_id(value["id"]):
        return BAD_ID
    return Refusal(INVALID_REQUEST, _readable_id(value), "A request names a method.")


def _request(value: JsonObject) -> Message:
    if "id" in value and not valid_id(value["id"]):
        return BAD_ID
    request_id = _readable_id(value)
    fault = _envelope_fault(value)
    if fault is not None:
        return Refusal(INVALID_REQUEST, request_id, fault)
    method = cast("str", value["method"])
    params = cast("JsonObject | None", value.get("params"))
    if request_id is None:
        return Notification(method, params)
    return Request(request_id, method, params)


def _envelope_fault(value: JsonObject) -> str | None:
    """Return what is wrong with a message that has a method and a valid id or none."""
    if value.get("jsonrpc") != "2.0":
        return 'The member jsonrpc is "2.0".'
    if not isinstance(value["method"], str):
        return "The member method is a string."
    if "params" in value and not isinstance(value["params"], dict):
        return "The member params is an object or absent."
    if not value.keys() <= _REQUEST_MEMBERS:
        return "A request has the members jsonrpc, id, method and params only."
    return None


def valid_id(value: JsonValue) -> bool:
    """Return whether this can be a request's id: all peers read it alike, and it fits an answer."""
    if isinstance(value, str):
        return len(strict_json.compact(value)) <= limits.REQUEST_ID_MAX_BYTES
    return type(value) is int and abs(value) <= format_limits.JSON_MAX_SAFE_INTEGER


def _readable_id(value: JsonObject) -> RequestId | None:
    """Return the id of a message whose id is valid, or None if it has none."""
    return cast("RequestId | None", value.get("id"))


def encode(message: JsonObject, *, tool_call: bool = False) -> bytes:
    """Return a message as a line of at most `limits.RESPONSE_LINE_MAX_BYTES` with its line feed.

    Args:
        message: The session's message.
        tool_call: Whether it answers `tools/call`; then a result that is too long becomes the tool
            error `response_too_large`, which a model can read and act on. Any other answer that is
            too long becomes a JSON-RPC error.

    Returns:
        The line; b"" for a notification that is too long, since no client waits for it.
    """
    try:
        line = strict_json.compact(message) + b"\n"
    except ValueError:  # lone surrogates, NaN: our fault, which must not end the session
        request_id = _readable_id(message)
        return _bounded(_error(request_id, INTERNAL_ERROR, "The answer cannot be written as JSON."))
    if len(line) <= limits.RESPONSE_LINE_MAX_BYTES:
        return line
    return _bounded(_shortened(message, tool_call=tool_call)) if "id" in message else b""


def _bounded(message: JsonObject) -> bytes:
    """Return a message that is short by construction: ids are limited, sentences are fixed."""
    return strict_json.compact(message) + b"\n"


_TOO_LARGE: Final = refusal("response_too_large")


def _shortened(message: JsonObject, *, tool_call: bool) -> JsonObject:
    request_id = _readable_id(message)
    error, result = message.get("error"), message.get("result")
    if isinstance(error, dict):  # keep the code, since clients act on it
        code = error.get("code")
        return _error(request_id, code if type(code) is int else INTERNAL_ERROR, _TOO_LARGE.message)
    if not tool_call or not isinstance(result, dict):
        return _error(request_id, INTERNAL_ERROR, f"{_TOO_LARGE.code}: {_TOO_LARGE.message}")
    # The 2026-07-28 revision requires these of every result; both are short values of the server.
    kept: JsonObject = {name: result[name] for name in ("resultType", "_meta") if name in result}
    short = {**kept, **tool_failure(_TOO_LARGE)}
    if len(strict_json.compact(short)) > limits.RESPONSE_LINE_MAX_BYTES // 2:
        short.pop("_meta")
    return {"jsonrpc": "2.0", "id": request_id, "result": short}


def tool_failure(error: ToolError) -> JsonObject:
    """Return the result of `tools/call` for a tool error."""
    return {
        "content": [{"type": "text", "text": error.message}],
        "structuredContent": {"error": {"code": error.code, "message": error.message}},
        "isError": True,
    }


def _error(request_id: RequestId | None, code: int, message: str) -> JsonObject:
    return {"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": message}}

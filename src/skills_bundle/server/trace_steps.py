"""Decision: what is written down of a conversation: the steps of a file that can be replayed.

Seen from the client, as our own recorded conversations are: it sends, it receives. Nothing that
differs from one run to the next is added: no times, no process ids.

Secrets have no place on this wire, but a client can put one there. What stands under a name that
says so is left out, and so is every later copy of it; an unreadable line that could hold one is
replaced by something as unreadable.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from skills_bundle import limits
from skills_bundle.errors import MalformedJsonError
from skills_bundle.formats import rendering, strict_json
from skills_bundle.server.framing import TooLong

if TYPE_CHECKING:
    from pydantic import JsonValue

    from skills_bundle.server.framing import JsonObject, Line

REDACTED: Final = "[redacted]"

SECRET_NAMES: Final = (
    "access_token",
    "api_key",
    "auth_token",
    "authorization",
    "bearer",
    "client_secret",
    "cookie",
    "credential",
    "credentials",
    "id_token",
    "passwd",
    "password",
    "private_key",
    "proxy_authorization",
    "refresh_token",
    "secret",
    "session_token",
    "set_cookie",
    "token",
    "x_api_key",
)
"""Names of members whose value is a secret, in any case and with any of `-_` or none between."""

_PLAIN_NAMES: Final = frozenset(name.replace("_", "") for name in SECRET_NAMES)
_CREDENTIALS: Final = re.compile(r"(?:bearer|basic|token)\s+(?P<secret>\S+)", re.IGNORECASE)
_SUSPICIOUS: Final = re.compile(  # also names written with escapes
    rb"\\u00|bearer|basic|" + "|".join(SECRET_NAMES).replace("_", "[-_]?").encode(),
    re.IGNORECASE,
)


class TooManySecretsError(Exception):
    """More secrets than can be watched for; what comes next cannot be written down."""


class Recorder:
    """The steps of one connection, in order; remembers which secrets it has seen."""

    def __init__(self) -> None:
        """Start before the first line."""
        self._secrets: set[str] = set()

    def sent(self, line: Line | TooLong) -> bytes:
        """Give the step for a line of the client.

        Raises:
            TooManySecretsError: If this and all later lines can only be left out.
        """
        if isinstance(line, TooLong):
            return _step("send_pieces", [["?", limits.REQUEST_LINE_MAX_BYTES + 1]])
        try:
            value = strict_json.loads(
                line.data, limit=limits.REQUEST_LINE_MAX_BYTES, allow_bom=line.first
            )
        except MalformedJsonError:
            return self._unreadable(line.data)
        kept = self._without(self._gather(value))
        if isinstance(kept, dict) and len(line.data) <= limits.TRACED_OBJECT_MAX_BYTES:
            return _step("send", kept)
        text = line.data if kept == value else rendering.compact(kept)
        return _step("send", text.decode())

    def received(self, line: bytes) -> bytes:
        """Give the step for a line of the server's, which is JSON, with its line feed."""
        if not self._secrets:
            return b'{"receive":' + line.rstrip(b"\n") + b"}\n"
        value = strict_json.loads(line, limit=limits.RESPONSE_LINE_MAX_BYTES)
        return _step("receive", self._without(value))

    def _unreadable(self, data: bytes) -> bytes:
        if _SUSPICIOUS.search(data) or any(one.encode() in data for one in self._secrets):
            return _step("send_pieces", [["?", len(data)]])
        try:
            return _step("send", data.decode())
        except UnicodeDecodeError:
            return _step("send_hex", data.hex())

    def _gather(self, value: JsonValue) -> JsonValue:
        """Give the value without what stands under a secret's name; remember that."""
        if isinstance(value, dict):
            return {name: self._member(name, part) for name, part in value.items()}
        if isinstance(value, list):
            return [self._gather(part) for part in value]
        if isinstance(value, str) and (found := _CREDENTIALS.fullmatch(value)):
            self._remember(found["secret"])
        return value

    def _member(self, name: str, value: JsonValue) -> JsonValue:
        if name.lower().replace("-", "").replace("_", "") not in _PLAIN_NAMES:
            return self._gather(value)
        for text in _texts(value):
            self._remember(text)
        return REDACTED

    def _remember(self, text: str) -> None:
        if len(text) < limits.TRACED_SECRET_MIN_CHARACTERS:  # it would tear all other text apart
            return
        if len(self._secrets) >= limits.TRACE_MAX_SECRETS:
            raise TooManySecretsError
        # A copy inside JSON inside a string is escaped once more than the string.
        self._secrets |= {text, rendering.compact(text).decode()[1:-1]}

    def _without(self, value: JsonValue) -> JsonValue:
        if not self._secrets:
            return value
        if isinstance(value, dict):
            return {self._clean(name): self._without(part) for name, part in value.items()}
        if isinstance(value, list):
            return [self._without(part) for part in value]
        return self._clean(value) if isinstance(value, str) else value

    def _clean(self, text: str) -> str:
        for secret in sorted(self._secrets, key=len, reverse=True):
            text = text.replace(secret, REDACTED)
        return text


def _texts(value: JsonValue) -> list[str]:
    """Give every string and number in a value, as text."""
    if isinstance(value, dict):
        return [text for part in value.values() for text in _texts(part)]
    if isinstance(value, list):
        return [text for part in value for text in _texts(part)]
    return [] if value is None or isinstance(value, bool) else [str(value)]


def _step(kind: str, value: JsonValue) -> bytes:
    step: JsonObject = {kind: value}
    return rendering.compact(step) + b"\n"

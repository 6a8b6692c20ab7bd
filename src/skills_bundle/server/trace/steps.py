"""Decision: what is written down of a conversation: the steps of a file that can be replayed.

Seen from the client, as our own recorded conversations are: it sends, it receives. Nothing that
differs from one run to the next is added: no times, no process ids.

Secrets have no place on this wire, but a client can put one there. What looks like one is left out,
and so is every later copy of it. Only values of the client's are rewritten, and what a tool repeats
of them: an id, a method or the name of a member stays as it is, or a replay would be answered
otherwise. If a secret stands in one of those, the file ends before it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from skills_bundle.errors import MalformedJsonError
from skills_bundle.formats import rendering, strict_json
from skills_bundle.server import limits
from skills_bundle.server.stdio.framing import TooLong
from skills_bundle.server.trace import secrets as trace_secrets
from skills_bundle.server.trace.secrets import REDACTED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import JsonValue

    from skills_bundle.server.stdio.framing import JsonObject, Line

_ENVELOPE: Final = ("jsonrpc", "id", "method")
"""Members of a message that are never rewritten."""
_TOO_MANY: Final = "too much in this conversation looks like a secret"
_FIXED: Final = "a secret stands where it cannot be left out"


class UntraceableError(Exception):
    """What comes next cannot be written down; the message says why."""


class Recorder:
    """The steps of one connection, in order; remembers which secrets it has seen."""

    def __init__(self) -> None:
        """Start before the first line."""
        self._secrets: dict[str, str] = {}
        self._echoes: dict[bytes, Mapping[str, str]] = {}

    def sent(self, line: Line | TooLong) -> bytes:
        """Give the step for a line of the client.

        Raises:
            UntraceableError: If this and all later lines can only be left out.
        """
        if isinstance(line, TooLong):
            return _step("send_pieces", [["?", limits.REQUEST_LINE_MAX_BYTES + 1]])
        try:
            value = strict_json.loads(
                line.data, limit=limits.REQUEST_LINE_MAX_BYTES, allow_bom=line.first
            )
        except MalformedJsonError:
            return self._unreadable(line.data)
        kept = self._kept(value)
        if isinstance(kept, dict) and len(line.data) <= limits.TRACED_OBJECT_MAX_BYTES:
            return _step("send", kept)
        text = line.data if kept == value else rendering.compact(kept)
        return _step("send", text.decode())

    def received(self, line: bytes) -> bytes:
        """Give the step for a line of the server's, which is JSON, with its line feed.

        Raises:
            UntraceableError: If this and all later lines can only be left out.
        """
        if self._secrets or self._echoes:
            value = strict_json.loads(line, limit=limits.RESPONSE_LINE_MAX_BYTES)
            echo = self._echoes.pop(_id(value), None)
            # Only what a tool repeats of its arguments is the client's; other words are ours.
            kept = value if echo is None else _cleaned(value, {**self._secrets, **echo})
            self._refuse(kept)
            if kept != value:
                return _step("receive", kept)
        return b'{"receive":' + line.rstrip(b"\n") + b"}\n"

    def _unreadable(self, data: bytes) -> bytes:
        copied = any(secret.encode() in data for secret in self._secrets)
        if copied or trace_secrets.suspicious(data):
            return _step("send_pieces", [["?", len(data)]])
        try:
            return _step("send", data.decode())
        except UnicodeDecodeError:
            return _step("send_hex", data.hex())

    def _kept(self, value: JsonValue) -> JsonValue:
        echo: dict[str, str] = {}
        kept = _cleaned(self._gather(value, echo), self._secrets)
        self._refuse(kept)
        if isinstance(kept, dict):
            if any(True for name in _ENVELOPE for _ in trace_secrets.in_text(str(kept.get(name)))):
                raise UntraceableError(_FIXED)
            if kept.get("method") == "tools/call" and kept != value:
                self._expect(_id(kept), echo)
        return kept

    def _expect(self, request_id: bytes, echo: Mapping[str, str]) -> None:
        self._echoes[request_id] = echo
        if len(self._echoes) > limits.TRACE_MAX_SECRETS:
            raise UntraceableError(_TOO_MANY)

    def _refuse(self, value: JsonValue) -> None:
        """Let nothing pass that still has a secret."""
        if self._secrets and any(
            secret in text for text in trace_secrets.texts(value) for secret in self._secrets
        ):
            raise UntraceableError(_FIXED)

    def _gather(self, value: JsonValue, echo: dict[str, str]) -> JsonValue:
        """Give the value without what looks like a secret; remember that."""
        if isinstance(value, dict):
            pair = trace_secrets.is_pair(value)
            return {name: self._member(name, part, echo, pair) for name, part in value.items()}
        if isinstance(value, list):
            return [self._gather(part, echo) for part in value]
        return self._text(value, echo) if isinstance(value, str) else value

    def _member(
        self,
        name: str,
        value: JsonValue,
        echo: dict[str, str],
        pair: bool,  # noqa: FBT001 - of one caller
    ) -> JsonValue:
        if any(True for _ in trace_secrets.in_text(name)):
            raise UntraceableError(_FIXED)
        if name in _ENVELOPE or (pair and name == "key"):
            return value
        if not trace_secrets.is_secret_name(name) and not (pair and name == "value"):
            return self._gather(value, echo)
        for text in trace_secrets.texts(value):
            self._remember(text)
        return REDACTED

    def _text(self, text: str, echo: dict[str, str]) -> str:
        kept = text
        for known_by, secret in trace_secrets.in_text(text):
            if any(character.isdigit() for character in secret):  # else it may be any word
                self._remember(secret)
            before, _, after = known_by.rpartition(secret)
            replaced = before + REDACTED + after
            echo |= {known_by: replaced, _escaped(known_by): _escaped(replaced)}
            if len(echo) > limits.TRACE_MAX_SECRETS:
                raise UntraceableError(_TOO_MANY)
            kept = kept.replace(known_by, replaced)
        return kept

    def _remember(self, text: str) -> None:
        if len(text) < limits.TRACED_SECRET_MIN_CHARACTERS:  # it would tear all other text apart
            return
        # A copy inside JSON inside a string is escaped once more than the string.
        self._secrets |= {text: REDACTED, _escaped(text): REDACTED}
        if len(self._secrets) > limits.TRACE_MAX_SECRETS:
            raise UntraceableError(_TOO_MANY)


def _cleaned(value: JsonValue, secrets: Mapping[str, str], *, top: bool = True) -> JsonValue:
    """Give the value with every text in its values replaced, longest first."""
    if isinstance(value, dict):
        return {
            name: part if top and name in _ENVELOPE else _cleaned(part, secrets, top=False)
            for name, part in value.items()
        }
    if isinstance(value, list):
        return [_cleaned(part, secrets, top=False) for part in value]
    if isinstance(value, str):
        for secret in sorted(secrets, key=len, reverse=True):
            value = value.replace(secret, secrets[secret])
        return value
    return REDACTED if value is not None and str(value) in secrets else value


def _id(value: JsonValue) -> bytes:
    return rendering.compact(value.get("id") if isinstance(value, dict) else None)


def _escaped(text: str) -> str:
    return rendering.compact(text).decode()[1:-1]


def noted(text: str) -> bytes:
    """Give a step that says something about those after it; a replay passes over it."""
    return _step("note", text)


def _step(kind: str, value: JsonValue) -> bytes:
    step: JsonObject = {kind: value}
    return rendering.compact(step) + b"\n"

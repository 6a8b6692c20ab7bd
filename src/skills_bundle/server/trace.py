"""Edge: the file in which `mcp serve --trace` records a conversation, so that it can be replayed.

The steps are the client's view: it sends, it receives. Nothing that differs between two runs is
recorded: no times, no process ids. A failure of the file never ends the conversation.

Secrets have no place in this protocol, but a client can send one. What looks like a secret, by its
name or its form, is redacted, and so is every later copy. This is best effort: a secret under a
harmless name and without a known form looks like any other text. Only values that the client sent
are rewritten, and what a tool repeats of them. An id, a method or a member's name is kept, since a
replay would otherwise be answered differently; if a secret occurs there, the trace ends before it.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from skills_bundle.errors import MalformedJsonError, SkillsBundleError
from skills_bundle.formats import strict_json
from skills_bundle.server import limits
from skills_bundle.server.stdio.framing import TooLong

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from pydantic import JsonValue

    from skills_bundle.server.stdio.framing import Line

PROCESS_ID: Final = "{pid}"
"""Replaced in a file's name by our process id, since a host starts the server more than once."""

REDACTED: Final = "[redacted]"

SECRET_WORDS: Final = frozenset(
    {
        *("auth", "authentication", "authorization", "bearer", "cookie", "cookies", "credential"),
        *("credentials", "jwt", "key", "keys", "otp", "pass", "passphrase", "passwd", "password"),
        *("passwords", "pwd", "secret", "secrets", "session", "sig", "signature", "token"),
        "tokens",
    }
)
"""A name that has one of these words names a secret."""

HARMLESS_NAMES: Final = frozenset(
    {
        *("progresstoken", "cursor", "nextcursor", "publickey", "primarykey", "maxtokens"),
        *("inputtokens", "outputtokens", "totaltokens"),
    }
)
"""Names, without separators, that are the protocol's or common, and name no secret."""

_ENDINGS: Final = (
    *("token", "secret", "password", "passwd", "passphrase", "credential", "credentials", "cookie"),
    *("apikey", "accesskey", "privatekey", "secretkey", "sessionid"),
)
"""Ends of names that separate no words."""

_OWNER_ONLY: Final = 0o600
_ENVELOPE: Final = ("jsonrpc", "id", "method")
"""Members of a message that are never rewritten."""
_TOO_MANY: Final = "too much in this conversation looks like a secret"
_FIXED: Final = "a secret is where it cannot be redacted"

# All patterns take linear time for any input.
_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_ASSIGNED: Final = re.compile(
    r"""(?<![\w.-])(?P<name>[A-Za-z_][\w.-]*+)["']?\s*+[=:]\s*+["']?""", re.IGNORECASE
)
_VALUE: Final = re.compile(
    r"""(?:(?:bearer|basic|token)\s++)?(?P<secret>[^\s"'&,;]++)""", re.IGNORECASE
)
_FORMS: Final = (
    re.compile(r"\A(?:bearer|basic|token)\s+(?P<secret>\S+)\Z", re.IGNORECASE),
    re.compile(r"\b(?:bearer|basic)\s++(?=\D{0,64}\d)(?P<secret>[\w.~+/=-]{8,})", re.IGNORECASE),
    re.compile(r"://(?P<secret>[^\s/@?#]++)@"),
    re.compile(
        r"(?<![\w-])(?P<secret>(?:gh[opsur]_|github_pat_|glpat-|sk-|xox[abeoprs]-|npm_|pypi-|hf_"
        r"|AIza|AKIA|ASIA)[\w-]{12,}|eyJ[\w-]++\.[\w-]++(?:\.[\w-]*+)?)"
    ),
    re.compile(r"-----BEGIN [A-Z ]{0,32}PRIVATE KEY-----(?P<secret>[\s\S]+)"),
)
_SUSPICIOUS: Final = re.compile(  # also names written with escapes
    r"\\u00|auth|basic|bearer|cookie|cred|jwt|key|otp|pass|pwd|secret|session|sig|token",
    re.IGNORECASE,
)


class TraceError(SkillsBundleError):
    """The trace file exists or cannot be created."""

    exit_code = 2


class UntraceableError(Exception):
    """The next line cannot be recorded; the message says why."""


class Trace:
    """The file of one connection.

    Args:
        path: A file that does not exist yet.
        report: Called with one line for the user if the trace ends early.

    Raises:
        TraceError: If the file cannot be created. An existing file is neither overwritten, since it
            may be something else, nor appended to, since two conversations cannot be replayed.
    """

    def __init__(self, path: str, report: Callable[[str], None]) -> None:
        """Create the file, readable by its owner only."""
        name = path.replace(PROCESS_ID, str(os.getpid()))
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        try:
            self._fd: int | None = os.open(name, flags, _OWNER_ONLY)
        except FileExistsError:
            raise TraceError(
                f"{name} exists; a trace needs a new file. {PROCESS_ID} in its name gives each "
                "server its own."
            ) from None
        except (OSError, ValueError) as error:
            cause = error.strerror if isinstance(error, OSError) else "not a path"
            raise TraceError(f"{name} cannot be created: {cause}.") from None
        self._report = report
        self._recorder = Recorder()
        self._size = 0

    def begin(self, notes: Iterable[str]) -> None:
        """Write notes before the first line; a replay skips them."""
        for text in notes:
            self._write(_step("note", text))

    def sent(self, line: Line | TooLong) -> None:
        """Record a line of the client."""
        self._record(lambda: self._recorder.sent(line))

    def received(self, line: bytes) -> None:
        """Record a line that the client will receive."""
        self._record(lambda: self._recorder.received(line))

    def _record(self, make_step: Callable[[], bytes]) -> None:
        if self._fd is None:
            return
        try:
            self._write(make_step())
        except MalformedJsonError:  # our fault, but no reason to end a conversation
            self._give_up("an answer is not valid JSON")
        except UntraceableError as error:
            self._give_up(str(error))

    def _write(self, step: bytes) -> None:
        if self._fd is None:
            return
        view = memoryview(step)
        try:
            while view:
                view = view[os.write(self._fd, view) :]
        except OSError as error:
            with suppress(OSError):  # half a step would make the file unreadable
                os.ftruncate(self._fd, self._size)
            self._give_up(error.strerror or type(error).__name__)
        self._size += len(step)

    def _give_up(self, cause: str) -> None:
        fd, self._fd = self._fd, None
        if fd is not None:
            with suppress(OSError):  # a network file system may refuse the last bytes only now
                os.close(fd)
        self._report(f"the trace ends here; the server continues: {cause}.")


class Recorder:
    """Turns the lines of one connection into steps, and remembers the secrets it has seen."""

    def __init__(self) -> None:
        """Start before the first line."""
        self._secrets: dict[str, str] = {}
        self._echoes: dict[bytes, Mapping[str, str]] = {}

    def sent(self, line: Line | TooLong) -> bytes:
        """Return the step for a line of the client.

        Raises:
            UntraceableError: If this line and all later ones cannot be recorded.
        """
        if isinstance(line, TooLong):
            return _step("send_pieces", [["?", limits.REQUEST_LINE_MAX_BYTES + 1]])
        try:
            value = strict_json.loads(
                line.data, limit=limits.REQUEST_LINE_MAX_BYTES, allow_bom=line.first
            )
        except MalformedJsonError:
            return self._sent_unreadable(line.data)
        redacted = self._redact_message(value)
        if isinstance(redacted, dict) and len(line.data) <= limits.TRACED_OBJECT_MAX_BYTES:
            return _step("send", redacted)
        text = line.data if redacted == value else strict_json.compact(redacted)
        return _step("send", text.decode())

    def received(self, line: bytes) -> bytes:
        """Return the step for a line of the server, which is JSON with a line feed.

        Raises:
            UntraceableError: If this line and all later ones cannot be recorded.
        """
        if self._secrets or self._echoes:
            value = strict_json.loads(line, limit=limits.RESPONSE_LINE_MAX_BYTES)
            echo = self._echoes.pop(_id(value), None)
            # Only what a tool repeats of its arguments is the client's; the rest is the server's.
            redacted = value if echo is None else _replaced(value, {**self._secrets, **echo})
            self._refuse_secrets(redacted)
            if redacted != value:
                return _step("receive", redacted)
        return b'{"receive":' + line.rstrip(b"\n") + b"}\n"

    def _sent_unreadable(self, data: bytes) -> bytes:
        if any(secret.encode() in data for secret in self._secrets) or _suspicious(data):
            return _step("send_pieces", [["?", len(data)]])
        try:
            return _step("send", data.decode())
        except UnicodeDecodeError:
            return _step("send_hex", data.hex())

    def _redact_message(self, value: JsonValue) -> JsonValue:
        echo: dict[str, str] = {}
        redacted = _replaced(self._redact(value, echo), self._secrets)
        self._refuse_secrets(redacted)
        if isinstance(redacted, dict):
            if any(_has_secret(str(redacted.get(name))) for name in _ENVELOPE):
                raise UntraceableError(_FIXED)
            if redacted.get("method") == "tools/call" and redacted != value:
                self._echoes[_id(redacted)] = echo
                if len(self._echoes) > limits.TRACE_MAX_SECRETS:
                    raise UntraceableError(_TOO_MANY)
        return redacted

    def _refuse_secrets(self, value: JsonValue) -> None:
        """Refuse a value that still holds a secret."""
        if self._secrets and any(
            secret in text for text in _texts(value) for secret in self._secrets
        ):
            raise UntraceableError(_FIXED)

    def _redact(self, value: JsonValue, echo: dict[str, str]) -> JsonValue:
        """Return the value without what looks like a secret, and remember each secret."""
        if isinstance(value, list):
            return [self._redact(part, echo) for part in value]
        if isinstance(value, str):
            return self._redact_text(value, echo)
        return self._redact_object(value, echo) if isinstance(value, dict) else value

    def _redact_object(
        self, value: dict[str, JsonValue], echo: dict[str, str]
    ) -> dict[str, JsonValue]:
        # A pair such as {"name": "X-Api-Key", "value": "..."}, as headers are often written.
        names = (value.get("name"), value.get("key"))
        pair = "value" in value and any(isinstance(n, str) and is_secret_name(n) for n in names)
        redacted: dict[str, JsonValue] = {}
        for name, part in value.items():
            if _has_secret(name):
                raise UntraceableError(_FIXED)
            if name in _ENVELOPE or (pair and name == "key"):
                redacted[name] = part
            elif is_secret_name(name) or (pair and name == "value"):
                for text in _texts(part):
                    self._remember(text)
                redacted[name] = REDACTED
            else:
                redacted[name] = self._redact(part, echo)
        return redacted

    def _redact_text(self, text: str, echo: dict[str, str]) -> str:
        redacted = text
        for context, secret in _secrets_in(text):
            if any(character.isdigit() for character in secret):  # else it may be any word
                self._remember(secret)
            before, _, after = context.rpartition(secret)
            replaced = before + REDACTED + after
            echo |= {context: replaced, _escaped(context): _escaped(replaced)}
            if len(echo) > limits.TRACE_MAX_SECRETS:
                raise UntraceableError(_TOO_MANY)
            redacted = redacted.replace(context, replaced)
        return redacted

    def _remember(self, text: str) -> None:
        if len(text) < limits.TRACED_SECRET_MIN_CHARACTERS:  # would occur in other text by chance
            return
        # A copy inside JSON inside a string is escaped once more.
        self._secrets |= {text: REDACTED, _escaped(text): REDACTED}
        if len(self._secrets) > limits.TRACE_MAX_SECRETS:
            raise UntraceableError(_TOO_MANY)


def is_secret_name(name: str) -> bool:
    """Return whether a name suggests that its value is a secret."""
    words = [word.lower() for word in _WORD.findall(name)]
    plain = "".join(words)
    if plain in HARMLESS_NAMES:
        return False
    return not SECRET_WORDS.isdisjoint(words) or plain.endswith(_ENDINGS)


def _secrets_in(text: str) -> Iterator[tuple[str, str]]:
    """Return each secret in a text, after the part of the text that identifies it."""
    end = 0
    for name in _ASSIGNED.finditer(text):
        if name.start() >= end and is_secret_name(name["name"]):
            value = _VALUE.match(text, name.end())
            if value is not None:
                end = value.end()
                yield text[name.start() : end], value["secret"]
    for form in _FORMS:
        for match in form.finditer(text):
            yield match[0], match["secret"]


def _has_secret(text: str) -> bool:
    return any(True for _ in _secrets_in(text))


def _suspicious(data: bytes) -> bool:
    """Return whether bytes that are not a message could hold a secret."""
    text = data.decode("latin-1")
    return _SUSPICIOUS.search(text) is not None or _has_secret(text)


def _texts(value: JsonValue) -> list[str]:
    """Return every string, number and name in a value, as text."""
    if isinstance(value, dict):
        return [text for name, part in value.items() for text in (name, *_texts(part))]
    if isinstance(value, list):
        return [text for part in value for text in _texts(part)]
    return [] if value is None or isinstance(value, bool) else [str(value)]


def _replaced(value: JsonValue, secrets: Mapping[str, str], *, top: bool = True) -> JsonValue:
    """Return the value with each secret in its values replaced, the longest first."""
    if isinstance(value, dict):
        return {
            name: part if top and name in _ENVELOPE else _replaced(part, secrets, top=False)
            for name, part in value.items()
        }
    if isinstance(value, list):
        return [_replaced(part, secrets, top=False) for part in value]
    if isinstance(value, str):
        for secret in sorted(secrets, key=len, reverse=True):
            value = value.replace(secret, secrets[secret])
        return value
    return REDACTED if value is not None and str(value) in secrets else value


def _id(value: JsonValue) -> bytes:
    return strict_json.compact(value.get("id") if isinstance(value, dict) else None)


def _escaped(text: str) -> str:
    return strict_json.compact(text).decode()[1:-1]


def _step(kind: str, value: JsonValue) -> bytes:
    step: dict[str, JsonValue] = {kind: value}
    return strict_json.compact(step) + b"\n"

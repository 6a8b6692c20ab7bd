"""Decision: who may ask what over HTTP: everything that a request's head alone decides.

The checks run in a fixed order, and nothing of a body is read before all of them have passed: a
stranger costs us one head.
"""

from __future__ import annotations

import hmac
import re
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from skills_bundle.formats.digest import sha256_hex
from skills_bundle.server import limits

if TYPE_CHECKING:
    from collections.abc import Callable

MCP_PATH: Final = "/mcp"
HEALTH_PATH: Final = "/healthz"

Headers: TypeAlias = tuple[tuple[str, str], ...]

_HOST: Final = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::(?P<port>[0-9]{1,5}))?")
_VERSION_HEADER: Final = "mcp-protocol-version"
_VERSION_KEY: Final = "io.modelcontextprotocol/protocolVersion"
_ABSOLUTE: Final = re.compile(r"https?://(?P<authority>[^/?#]*)", re.IGNORECASE)
_ORIGIN: Final = re.compile(r"https?://(?P<host>[^/?#@\s]+)")
_LOOPBACK_NAMES: Final = frozenset({"localhost", "127.0.0.1", "[::1]"})
_ALLOWED_REQUEST_HEADERS: Final = (
    "accept, authorization, content-type, mcp-method, mcp-name, mcp-protocol-version"
)


class Route(Enum):
    """Where an acceptable request goes."""

    MCP = MCP_PATH
    HEALTH = HEALTH_PATH


@dataclass(frozen=True, slots=True)
class HostName:
    """A name that this server answers to; without a port, with any port.

    Attributes:
        name: Lower case; an IPv6 address in brackets.
        port: As the client writes it, or None.
    """

    name: str
    port: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What is asked of every request.

    Attributes:
        token_sha256: Digest of the bearer token, or None if none is asked for. The token itself is
            kept nowhere, so no trace or log can show it.
        hosts: Names that may stand in `Host`. A page whose name was rebound to our address sends
            its own name, which is not among them.
        origins: Web origins that may use this server from a browser, in lower case.
        loopback: Whether we listen on this machine only; then its own pages may ask, too.
    """

    token_sha256: str | None
    hosts: frozenset[HostName]
    origins: frozenset[str] = frozenset()
    loopback: bool = True


@dataclass(frozen=True, slots=True)
class Head:
    """A request without its body.

    Attributes:
        method: In capitals.
        path: Decoded, without the query.
        headers: Names in lower case, in the order of the request.
        size: Bytes of all of it, the query included.
    """

    method: str
    path: str
    headers: Headers
    size: int = 0

    def all(self, name: str) -> list[str]:
        """Give every value of a header."""
        return [value for key, value in self.headers if key == name]

    def one(self, name: str) -> str | None:
        """Give a header's value if it is there exactly once."""
        values = self.all(name)
        return values[0] if len(values) == 1 else None


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole response that needs no server behind it."""

    status: int
    text: str
    headers: Headers = ()
    media_type: str = "text/plain; charset=utf-8"


def parse_host(text: str) -> HostName | None:
    """Read a `Host` header's value, or a name that a person allows; None if it is none."""
    found = _HOST.fullmatch(text.lower())
    return None if found is None else HostName(found["name"], found["port"])


def parse_origin(text: str) -> str | None:
    """Read a web origin (`https://name[:port]`); None if it is none."""
    found = _ORIGIN.fullmatch(text.lower())
    return text.lower() if found and parse_host(found["host"]) else None


def origin_form(path: str, headers: Headers) -> tuple[str, Headers]:
    """Read a target in absolute form, whose authority counts instead of `Host` (RFC 9112, 3.2.2).

    Args:
        path: The target, decoded, without the query.
        headers: Names in lower case.

    Returns:
        The path, and the headers with that authority as `Host`.
    """
    found = _ABSOLUTE.match(path)
    if found is None:
        return path, headers
    others = tuple(pair for pair in headers if pair[0] != "host")
    return path[found.end() :] or "/", (("host", found["authority"]), *others)


def judge(head: Head, rules: Rules) -> Route | Answer:
    """Say where a request goes, or how it is refused."""
    for check in (_size, _framing):
        answer = check(head, rules)
        if answer is not None:
            return answer
    if head.path == HEALTH_PATH:  # probes come by address and without a token, and learn nothing
        return Route.HEALTH if head.method in {"GET", "HEAD"} else _not_allowed("GET, HEAD")
    for check in _CHECKS:
        answer = check(head, rules)
        if answer is not None:
            return answer
    return Route.MCP


def versions_differ(head: Head, params: object) -> bool:
    """Tell whether a head names another protocol version than its message's envelope, or several.

    A proxy or balancer that goes by the head would treat the request as what it is not. Without an
    envelope there is nothing to differ from.
    """
    named = head.all(_VERSION_HEADER)
    envelope = _object(_object(params).get("_meta"))
    if len(named) > 1:
        return True
    return _VERSION_KEY in envelope and named != [envelope[_VERSION_KEY]]


def _object(value: object) -> dict[str, object]:
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}


def shared_with(head: Head, rules: Rules) -> Headers:
    """Give the headers by which a browser lets a page of an allowed origin read the answer."""
    origin = head.one("origin")
    if origin is None or origin.lower() not in rules.origins:
        return ()
    return (("access-control-allow-origin", origin), ("vary", "origin"))


def _size(head: Head, _: Rules) -> Answer | None:
    # The parser bounds what it keeps of an unfinished head; one that came at once it lets pass.
    if head.size <= limits.HTTP_HEAD_MAX_BYTES:
        return None
    return Answer(431, "The head is longer than 16 KiB.", (("connection", "close"),))


def _framing(head: Head, _: Rules) -> Answer | None:
    """Refuse what two parsers in a row could cut differently (RFC 9112, section 6.3)."""
    if not (head.all("content-length") and head.all("transfer-encoding")):
        return None
    text = "A body has a length or is chunked, not both."
    return Answer(400, text, (("connection", "close"),))


def _host(head: Head, rules: Rules) -> Answer | None:
    given = parse_host(head.one("host") or "")
    if given is not None and rules.hosts & {given, HostName(given.name)}:
        return None
    return Answer(421, "This server does not go by that name; --allowed-host gives it one.")


def _origin(head: Head, rules: Rules) -> Answer | None:
    if not head.all("origin"):  # no browser, or no other page
        return None
    given = (head.one("origin") or "").lower()
    if given in rules.origins or (rules.loopback and _on_this_machine(given)):
        return None
    return Answer(403, "Pages of that origin may not ask here; --allowed-origin lets them.")


def _on_this_machine(origin: str) -> bool:
    found = _ORIGIN.fullmatch(origin)
    host = parse_host(found["host"]) if found else None
    return host is not None and host.name in _LOOPBACK_NAMES


def _path(head: Head, _: Rules) -> Answer | None:
    return None if head.path == MCP_PATH else Answer(404, f"MCP is spoken at {MCP_PATH}.")


def _preflight(head: Head, rules: Rules) -> Answer | None:
    """Answer a browser that asks first: it may not send the token with this question."""
    if head.method != "OPTIONS" or not shared_with(head, rules):
        return None
    return Answer(
        204,
        "",
        (
            ("access-control-allow-methods", "POST"),
            ("access-control-allow-headers", _ALLOWED_REQUEST_HEADERS),
            ("access-control-max-age", "600"),
        ),
    )


def _token(head: Head, rules: Rules) -> Answer | None:
    if rules.token_sha256 is None:
        return None
    given = head.one("authorization")
    scheme, _space, token = (given or "").partition(" ")
    # Digests have one length, and are compared in one time: neither tells anything of the token.
    digest = sha256_hex(token.strip(" ").encode())
    right = hmac.compare_digest(digest, rules.token_sha256)
    if right and scheme.lower() == "bearer":
        return None
    challenge = "Bearer" if given is None else 'Bearer error="invalid_token"'
    return Answer(401, "A bearer token is needed.", (("www-authenticate", challenge),))


def _method(head: Head, _: Rules) -> Answer | None:
    # GET would open a stream for messages that we never send, DELETE end a session we never begin.
    return None if head.method == "POST" else _not_allowed("POST")


def _not_allowed(methods: str) -> Answer:
    return Answer(405, f"Use {methods}.", (("allow", methods),))


def _content(head: Head, _: Rules) -> Answer | None:
    media_type, _semicolon, parameters = (head.one("content-type") or "").lower().partition(";")
    plain = parameters.replace(" ", "").replace('"', "") in {"", "charset=utf-8"}
    encoded = any(value.lower() != "identity" for value in head.all("content-encoding"))
    if media_type.strip() == "application/json" and plain and not encoded:
        return None
    return Answer(415, "The body is application/json, in UTF-8, not compressed.")


def _length(head: Head, _: Rules) -> Answer | None:
    length = head.one("content-length")
    if length is None or int(length) <= limits.HTTP_BODY_MAX_BYTES:  # digits: the parser saw to it
        return None
    return TOO_LONG


TOO_LONG: Final = Answer(413, "The body is longer than 1 MiB.")

_CHECKS: Final[tuple[Callable[[Head, Rules], Answer | None], ...]] = (
    _host,
    _origin,
    _path,
    _preflight,
    _token,
    _method,
    _content,
    _length,
)

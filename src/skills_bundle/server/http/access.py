"""Decision: who may use the server over HTTP: its options, and the checks of a request's head.

The checks of a head run in a fixed order, and no byte of a body is read before all of them pass.

No message about the options repeats a token, the name of its variable or the path of its file: a
user who confuses these options may have typed the token itself.
"""

from __future__ import annotations

import hmac
import ipaddress
import re
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from skills_bundle.errors import Problem, SkillsBundleError
from skills_bundle.formats.digest import sha256_hex
from skills_bundle.server import limits

if TYPE_CHECKING:
    from collections.abc import Callable

MCP_PATH: Final = "/mcp"
HEALTH_PATH: Final = "/healthz"
GENERATOR: Final = "python -c 'import secrets; print(secrets.token_urlsafe(32))'"
"""A command that prints a suitable token."""

Headers: TypeAlias = tuple[tuple[str, str], ...]

_ADDRESS: Final = re.compile(r"(?P<host>\[[^\]\s]+\]|[^:\s\[\]/]+):(?P<port>[0-9]{1,5})")
_MAX_PORT: Final = 65535
_TOKEN: Final = re.compile(rb"[A-Za-z0-9._~+/-]+=*")
_HOST: Final = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::(?P<port>[0-9]{1,5}))?")
_ORIGIN: Final = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]*)://(?P<host>[^/?#@\s]+)")
_LOOPBACK_NAMES: Final = frozenset({"localhost", "127.0.0.1", "[::1]"})
_VERSION_HEADER: Final = "mcp-protocol-version"
_VERSION_KEY: Final = "io.modelcontextprotocol/protocolVersion"
_CORS_HEADERS: Final = (
    "accept, authorization, content-type, mcp-method, mcp-name, mcp-protocol-version"
)


class HttpOptionsError(SkillsBundleError):
    """Options for HTTP that are wrong, or unsafe together."""

    exit_code = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpOptions:
    """The options of `mcp serve --http`, unchecked.

    Attributes:
        address: `HOST:PORT`; an IPv6 address in brackets; port 0 for any free port.
        token: Content of the variable or file; a problem if it cannot be read; None if neither was
            named.
        hosts: Further names that clients use for this server.
        origins: Origins of web pages and desktop programs that may send requests.
    """

    address: str
    token: bytes | Problem | None = None
    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class HostName:
    """A name of this server.

    Attributes:
        name: Lower case; an IPv6 address in brackets.
        port: As the client writes it; None for any port.
    """

    name: str
    port: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What a request must satisfy.

    Attributes:
        token_sha256: Digest of the bearer token, or None if no token is required. The token itself
            is not kept, so no traceback or log can show it.
        hosts: Names accepted in `Host`. A page that uses DNS rebinding sends its own name, which
            is not among them.
        origins: Origins of web pages and desktop programs that may use this server, in lower case.
        loopback: Whether only this machine can connect; then pages served by this machine may send
            requests as well.
    """

    token_sha256: str | None
    hosts: frozenset[HostName]
    origins: frozenset[str] = frozenset()
    loopback: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpSettings:
    """Checked options.

    Attributes:
        ip: IP address to listen on, without brackets.
        port: Port to listen on; 0 for any free port.
        rules: What every request must satisfy.
    """

    ip: str
    port: int
    rules: Rules


def check_options(options: HttpOptions, resolve: Callable[[str], str | None]) -> HttpSettings:
    """Check the options, each alone and all together.

    Args:
        options: The options.
        resolve: Returns the IP address of a host name or address, or None.

    Raises:
        HttpOptionsError: With every problem.
    """
    problems: list[Problem] = []
    ip, port = _parse_address(options.address, resolve, problems)
    address = ipaddress.ip_address(ip)
    reached = getattr(address, "ipv4_mapped", None) or address  # ::ffff:0.0.0.0 is 0.0.0.0
    digest = _token_digest(options.token, problems)
    hosts = [parse_host(text) for text in options.hosts]
    if None in hosts:
        message = "An allowed host is NAME or NAME:PORT, as clients write it in Host."
        problems.append(Problem(code="host", message=message, path="--allowed-host"))
    origins = [parse_origin(text) for text in options.origins]
    if None in origins:
        message = (
            "An allowed origin is SCHEME://NAME or SCHEME://NAME:PORT, without a path, such as "
            "https://app.example or vscode-file://vscode-app."
        )
        problems.append(Problem(code="origin", message=message, path="--allowed-origin"))
    if not problems and not reached.is_loopback:
        needs_name = reached.is_unspecified and not hosts
        problems += _exposure_problems(needs_token=digest is None, needs_name=needs_name)
    if problems:
        raise HttpOptionsError("The server cannot start with these HTTP options.", tuple(problems))
    names = {HostName(f"[{address}]" if address.version == 6 else str(address))}
    if reached.is_loopback:
        names |= {HostName(name) for name in _LOOPBACK_NAMES}
    rules = Rules(
        token_sha256=digest,
        hosts=frozenset(host for host in hosts if host) | names,
        origins=frozenset(origin for origin in origins if origin),
        loopback=reached.is_loopback,
    )
    return HttpSettings(ip=str(address), port=port, rules=rules)


def _parse_address(
    text: str, resolve: Callable[[str], str | None], problems: list[Problem]
) -> tuple[str, int]:
    match = _ADDRESS.fullmatch(text)
    if match is None or int(match["port"]) > _MAX_PORT:
        message = "An address is HOST:PORT, such as 127.0.0.1:8765 or [::1]:8765."
    elif ip := resolve(match["host"].strip("[]")):
        return ip, int(match["port"])
    else:
        message = "This host name has no address on this machine."
    problems.append(Problem(code="address", message=message, path="--http"))
    return "127.0.0.1", 0


def _token_digest(token: bytes | Problem | None, problems: list[Problem]) -> str | None:
    if token is None:
        return None
    if isinstance(token, Problem):
        problems.append(token)
        return None
    token = token.strip()
    fits = limits.TOKEN_MIN_CHARACTERS <= len(token) <= limits.TOKEN_MAX_CHARACTERS
    if not fits or not _TOKEN.fullmatch(token):
        message = (
            f"A token has {limits.TOKEN_MIN_CHARACTERS} to {limits.TOKEN_MAX_CHARACTERS} ASCII "
            f"letters, digits and -._~+/ (RFC 6750); `{GENERATOR}` prints one."
        )
        problems.append(Problem(code="token", message=message))
    return sha256_hex(token)


def _exposure_problems(*, needs_token: bool, needs_name: bool) -> list[Problem]:
    """Return what is missing before other machines may be let in."""
    problems: list[Problem] = []
    if needs_token:
        message = (
            "Other machines can reach this address, so a token is required: name its environment "
            f"variable with --token-env, or its file with --token-file; `{GENERATOR}` prints "
            "one."
        )
        problems.append(Problem(code="token", message=message))
    if needs_name:
        message = (
            "This address listens on every interface, so the name that clients use is not known: "
            "set it with --allowed-host."
        )
        problems.append(Problem(code="host", message=message))
    return problems


def parse_host(text: str) -> HostName | None:
    """Parse the value of `Host` or `--allowed-host`; return None if it is not a host."""
    match = _HOST.fullmatch(text.lower())
    return None if match is None else HostName(match["name"], match["port"])


def parse_origin(text: str) -> str | None:
    """Parse an origin (`scheme://name[:port]`); return None if it is not one.

    Desktop programs have schemes of their own, such as `tauri://localhost`.
    """
    match = _ORIGIN.fullmatch(text.lower())
    return text.lower() if match and parse_host(match["host"]) else None


class Route(Enum):
    """Where an accepted request goes."""

    MCP = MCP_PATH
    HEALTH = HEALTH_PATH


@dataclass(frozen=True, slots=True)
class Head:
    """A request without its body.

    Attributes:
        method: In capitals.
        path: Decoded, without the query.
        headers: Names in lower case, in the order of the request.
        size: Bytes of the request line and headers, the query included.
    """

    method: str
    path: str
    headers: Headers
    size: int = 0

    def all(self, name: str) -> list[str]:
        """Return every value of a header."""
        return [value for key, value in self.headers if key == name]

    def one(self, name: str) -> str | None:
        """Return a header's value if the header is present exactly once, else None."""
        values = self.all(name)
        return values[0] if len(values) == 1 else None


@dataclass(frozen=True, slots=True)
class Answer:
    """A complete response that does not come from the SDK."""

    status: int
    text: str
    headers: Headers = ()
    media_type: str = "text/plain; charset=utf-8"


def check_head(head: Head, rules: Rules) -> Route | Answer:
    """Return where a request goes, or how it is refused."""
    for check in (_check_size, _check_framing):
        answer = check(head, rules)
        if answer is not None:
            return answer
    if head.path == HEALTH_PATH:  # probes connect by address, without a token, and learn nothing
        return Route.HEALTH if head.method in {"GET", "HEAD"} else _not_allowed("GET, HEAD")
    for check in _CHECKS:
        answer = check(head, rules)
        if answer is not None:
            return answer
    return Route.MCP


def version_mismatch(head: Head, params: object) -> bool:
    """Return whether the head names another protocol version than the message, or several.

    A proxy that routes by the header would treat the request as a different one. Messages without
    an envelope (before 2026-07-28) name no version.
    """
    named = head.all(_VERSION_HEADER)
    envelope = _object(_object(params).get("_meta"))
    if len(named) > 1:
        return True
    return _VERSION_KEY in envelope and named != [envelope[_VERSION_KEY]]


def _object(value: object) -> dict[str, object]:
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}


def cors_headers(head: Head, rules: Rules) -> Headers:
    """Return the headers that let a page of an origin that may send requests read the answer."""
    origin = head.one("origin")
    if origin is None or not _is_allowed(origin.lower(), rules):
        return ()
    return (("access-control-allow-origin", origin), ("vary", "origin"))


def _check_size(head: Head, _: Rules) -> Answer | None:
    # The parser limits only heads that arrive in pieces; one that arrives at once passes it.
    if head.size <= limits.HTTP_HEAD_MAX_BYTES:
        return None
    return Answer(431, "The request head is longer than 16 KiB.", (("connection", "close"),))


def _check_framing(head: Head, _: Rules) -> Answer | None:
    """Refuse a body that two parsers in a row could delimit differently (RFC 9112, 6.3)."""
    if not (head.all("content-length") and head.all("transfer-encoding")):
        return None
    text = "A body has a Content-Length or a Transfer-Encoding, not both."
    return Answer(400, text, (("connection", "close"),))


# The SDK can check Host and Origin (TransportSecuritySettings), but less strictly: it matches "any
# port" by prefix, looks only at the first of several headers, accepts an empty Origin, compares
# names case-sensitively, and runs after the body was read.
def _check_host(head: Head, rules: Rules) -> Answer | None:
    host = parse_host(head.one("host") or "")
    if host is not None and rules.hosts & {host, HostName(host.name)}:
        return None
    return Answer(421, "This server does not use that host name; --allowed-host adds one.")


def _check_origin(head: Head, rules: Rules) -> Answer | None:
    if not head.all("origin"):  # not a browser, or a page of this very origin
        return None
    origin = (head.one("origin") or "").lower()
    if _is_allowed(origin, rules):
        return None
    if parse_origin(origin) is None:  # such as `null`, which many pages share
        return Answer(403, "Pages without one origin of the form SCHEME://NAME cannot be allowed.")
    return Answer(403, "Pages of that origin may not send requests; --allowed-origin allows one.")


def _is_allowed(origin: str, rules: Rules) -> bool:
    return origin in rules.origins or (rules.loopback and _is_local_page(origin))


def _is_local_page(origin: str) -> bool:
    match = _ORIGIN.fullmatch(origin)
    if match is None or match["scheme"] not in {"http", "https"}:
        return False
    host = parse_host(match["host"])
    return host is not None and host.name in _LOOPBACK_NAMES


def _check_path(head: Head, _: Rules) -> Answer | None:
    return None if head.path == MCP_PATH else Answer(404, f"MCP is served at {MCP_PATH}.")


def _answer_preflight(head: Head, rules: Rules) -> Answer | None:
    """Answer a browser's preflight request, which cannot carry the token."""
    if head.method != "OPTIONS" or not cors_headers(head, rules):
        return None
    allowed = (
        ("access-control-allow-methods", "POST"),
        ("access-control-allow-headers", _CORS_HEADERS),
        ("access-control-max-age", "600"),
    )
    return Answer(204, "", allowed)


def _check_token(head: Head, rules: Rules) -> Answer | None:
    if rules.token_sha256 is None:
        return None
    given = head.one("authorization")
    scheme, _space, token = (given or "").partition(" ")
    # Digests have one length and are compared in constant time: neither reveals the token.
    digest = sha256_hex(token.strip(" ").encode())
    right = hmac.compare_digest(digest, rules.token_sha256)
    if right and scheme.lower() == "bearer":
        return None
    challenge = "Bearer" if given is None else 'Bearer error="invalid_token"'
    return Answer(401, "A bearer token is required.", (("www-authenticate", challenge),))


def _check_method(head: Head, _: Rules) -> Answer | None:
    # GET would open a stream for messages that are never sent, DELETE end a session that never was.
    return None if head.method == "POST" else _not_allowed("POST")


def _not_allowed(methods: str) -> Answer:
    return Answer(405, f"Use {methods}.", (("allow", methods),))


def _check_content_type(head: Head, _: Rules) -> Answer | None:
    media_type, _semicolon, parameters = (head.one("content-type") or "").lower().partition(";")
    plain = parameters.replace(" ", "").replace('"', "") in {"", "charset=utf-8"}
    encoded = any(value.lower() != "identity" for value in head.all("content-encoding"))
    if media_type.strip() == "application/json" and plain and not encoded:
        return None
    return Answer(415, "The body must be application/json, in UTF-8, not compressed.")


def _check_accept(head: Head, _: Rules) -> Answer | None:
    """Refuse a client that does not take JSON; without preferences it takes anything (RFC 9110)."""
    ranges = ",".join(head.all("accept")).lower().split(",")
    types = {media_range.partition(";")[0].strip() for media_range in ranges} - {""}
    if not types or types & {"application/json", "application/*", "*/*"}:
        return None
    return Answer(406, "Answers are application/json; Accept must allow it or be absent.")


def _check_length(head: Head, _: Rules) -> Answer | None:
    length = head.one("content-length")  # digits only: the parser checked
    if length is None or int(length) <= limits.HTTP_BODY_MAX_BYTES:
        return None
    return BODY_TOO_LONG


BODY_TOO_LONG: Final = Answer(413, "The body is longer than 1 MiB.")

_CHECKS: Final[tuple[Callable[[Head, Rules], Answer | None], ...]] = (
    _check_host,
    _check_origin,
    _check_path,
    _answer_preflight,
    _check_token,
    _check_method,
    _check_content_type,
    _check_accept,
    _check_length,
)

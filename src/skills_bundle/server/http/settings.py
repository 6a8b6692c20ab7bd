"""Decision: what serving over HTTP was asked for, and whether that is safe; every problem at once.

No message repeats a token, the name of its variable or the path of its file: whoever mistakes one
option for the other has put the token itself there.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from skills_bundle.errors import Problem, SkillsBundleError
from skills_bundle.formats.digest import sha256_hex
from skills_bundle.server import limits
from skills_bundle.server.http.rules import HostName, Rules, parse_host, parse_origin

if TYPE_CHECKING:
    from collections.abc import Callable

GENERATOR: Final = "python -c 'import secrets; print(secrets.token_urlsafe(32))'"
"""A command that prints a token fit for use."""

_ADDRESS: Final = re.compile(r"(?P<host>\[[^\]\s]+\]|[^:\s\[\]/]+):(?P<port>[0-9]{1,5})")
_TOKEN: Final = re.compile(rb"[A-Za-z0-9._~+/-]+=*")
_MAX_PORT: Final = 65535


class HttpSettingsError(SkillsBundleError):
    """Options for HTTP that are wrong, or together not safe."""

    exit_code = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The options as they were given.

    Attributes:
        address: `HOST:PORT`; an IPv6 address in brackets; port 0 for any free one.
        token: What the variable or file holds; the problem with it; None if neither was named.
        hosts: Further names to answer to.
        origins: Web origins whose pages may ask.
        workers: Processes that serve.
    """

    address: str
    token: bytes | Problem | None = None
    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    workers: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What to do.

    Attributes:
        ip: Address to listen on, without brackets.
        port: Port to listen on; 0 for any free one.
        rules: What to ask of every request.
        workers: Processes that serve.
    """

    ip: str
    port: int
    rules: Rules
    workers: int


def settle(asked: Asked, resolve: Callable[[str], str | None], most_workers: int) -> Settings:
    """Check the options, alone and together.

    Args:
        asked: The options.
        resolve: Gives the IP address of a host's name or address, or None.
        most_workers: Processes that can serve on this system.

    Raises:
        HttpSettingsError: With every problem.
    """
    problems: list[Problem] = []
    ip, port = _address(asked.address, resolve, problems)
    address = ipaddress.ip_address(ip)
    reached = getattr(address, "ipv4_mapped", None) or address  # ::ffff:0.0.0.0 is 0.0.0.0
    digest = _token_digest(asked.token, problems)
    hosts = _hosts(asked.hosts, problems)
    origins = _origins(asked.origins, problems)
    if asked.workers > most_workers:
        message = f"There can be at most {most_workers} worker processes here."
        problems.append(Problem(code="workers", message=message, path="--workers"))
    if not problems and not reached.is_loopback:
        problems += _exposed(digest, hosts, everywhere=reached.is_unspecified)
    if problems:
        raise HttpSettingsError("This cannot be served over HTTP.", tuple(problems))
    own = {HostName(f"[{address}]" if address.version == 6 else str(address))}
    if reached.is_loopback:
        own |= {HostName("localhost"), HostName("127.0.0.1"), HostName("[::1]")}
    rules = Rules(
        token_sha256=digest, hosts=hosts | own, origins=origins, loopback=reached.is_loopback
    )
    return Settings(ip=str(address), port=port, rules=rules, workers=asked.workers)


def _address(
    text: str, resolve: Callable[[str], str | None], problems: list[Problem]
) -> tuple[str, int]:
    found = _ADDRESS.fullmatch(text)
    if found is None or int(found["port"]) > _MAX_PORT:
        message = "An address is HOST:PORT, such as 127.0.0.1:8765 or [::1]:8765."
        problems.append(Problem(code="address", message=message, path="--http"))
        return "127.0.0.1", 0
    ip = resolve(found["host"].strip("[]"))
    if ip is None:
        message = "This host has no address here."
        problems.append(Problem(code="address", message=message, path="--http"))
    return ip or "127.0.0.1", int(found["port"])


def _token_digest(token: bytes | Problem | None, problems: list[Problem]) -> str | None:
    if token is None:
        return None
    if isinstance(token, Problem):
        problems.append(token)
        return None
    token = token.strip()
    size = limits.TOKEN_MIN_CHARACTERS <= len(token) <= limits.TOKEN_MAX_CHARACTERS
    if not size or not _TOKEN.fullmatch(token):
        message = (
            f"A token has {limits.TOKEN_MIN_CHARACTERS} to {limits.TOKEN_MAX_CHARACTERS} ASCII "
            f"letters, digits and -._~+/ (RFC 6750); `{GENERATOR}` makes one."
        )
        problems.append(Problem(code="token", message=message))
    return sha256_hex(token)


def _hosts(texts: tuple[str, ...], problems: list[Problem]) -> frozenset[HostName]:
    parsed = [parse_host(text) for text in texts]
    message = "An allowed host is NAME or NAME:PORT, as clients write it in Host."
    problems += [
        Problem(code="host", message=message, path="--allowed-host") for host in parsed if not host
    ]
    return frozenset(host for host in parsed if host)


def _origins(texts: tuple[str, ...], problems: list[Problem]) -> frozenset[str]:
    parsed = [parse_origin(text) for text in texts]
    message = "An allowed origin is https://NAME or https://NAME:PORT, without a path."
    problems += [
        Problem(code="origin", message=message, path="--allowed-origin")
        for origin in parsed
        if not origin
    ]
    return frozenset(origin for origin in parsed if origin)


def _exposed(token: str | None, hosts: frozenset[HostName], *, everywhere: bool) -> list[Problem]:
    """Say what is missing for others than this machine to be let in."""
    problems: list[Problem] = []
    if token is None:
        message = (
            "Other machines can reach this address, so a token is needed: name the variable that "
            f"holds it with --token-env, or its file with --token-file; `{GENERATOR}` makes one."
        )
        problems.append(Problem(code="token", message=message))
    if everywhere and not hosts:
        message = (
            "This is every address of the machine, so the name that clients use cannot be known: "
            "give it with --allowed-host."
        )
        problems.append(Problem(code="host", message=message))
    return problems

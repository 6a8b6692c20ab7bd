"""Edge: what serving over HTTP takes from this machine: an address, a listening socket, a token."""

from __future__ import annotations

import errno
import os
import socket
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Final

from skills_bundle.errors import Problem, SkillsBundleError
from skills_bundle.server import limits
from skills_bundle.server.http.log import say

if TYPE_CHECKING:
    from collections.abc import Mapping

_OTHERS: Final = stat.S_IRGRP | stat.S_IWGRP | stat.S_IROTH | stat.S_IWOTH
_BACKLOG: Final = 1024
"""Connections that the kernel keeps waiting for us; it cuts this to its own bound."""


class ListenError(SkillsBundleError):
    """The address cannot be listened on, for example because another program does."""


def resolve(host: str) -> str | None:
    """Give the first IP address that a host's name or address stands for here, or None."""
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError):
        return None
    addresses = [str(row[4][0]) for row in found]
    # `localhost` may stand for both families; every client finds the older one.
    return next((one for one in addresses if ":" not in one), addresses[0].partition("%")[0])


def listen(ip: str, port: int) -> socket.socket:
    """Listen.

    Args:
        ip: An IP address without brackets.
        port: 0 for any free one.

    Raises:
        ListenError: If that is not possible.
    """
    family = socket.AF_INET6 if ":" in ip else socket.AF_INET
    try:
        return socket.create_server((ip, port), family=family, backlog=_BACKLOG)
    except OSError as error:
        raise ListenError(f"{place(ip, port)} cannot be listened on: {_cause(error)}.") from None


def _cause(error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return "another program listens there; stop it, or choose another port (0 for any free one)"
    return error.strerror or type(error).__name__


def url(listener: socket.socket, path: str) -> str:
    """Give the URL at which a listening socket is reached."""
    name: tuple[str, int] = listener.getsockname()[:2]
    return f"http://{place(*name)}{path}"


def place(ip: str, port: int) -> str:
    """Write address and port as a URL does."""
    return f"[{ip}]:{port}" if ":" in ip else f"{ip}:{port}"


def read_token(
    variable: str | None, file: str | None, environ: Mapping[str, str]
) -> bytes | Problem | None:
    """Take the token from where the options say.

    Args:
        variable: Name of the environment variable that holds it, or None.
        file: Path of the file that holds it, or None.
        environ: The environment.

    Returns:
        The bytes as they stand there; a problem that does not repeat the options, which may be the
        token itself, given by mistake; None if no option was given.
    """
    if variable is not None and file is not None:
        message = "Name the token once: --token-env or --token-file."
        return Problem(code="token", message=message)
    if variable is not None:
        value = environ.get(variable)
        message = "The environment variable that should hold the token is not set."
        missing = Problem(code="token", message=message, path="--token-env")
        return missing if value is None else os.fsencode(value)
    return None if file is None else _read_file(file)


def _read_file(file: str) -> bytes | Problem:
    try:
        with Path(file).open("rb") as stream:
            mode = os.fstat(stream.fileno()).st_mode
            if not stat.S_ISREG(mode):  # a pipe or terminal may stay open after its line
                return stream.readline(limits.TOKEN_MAX_CHARACTERS * 2)
            if os.name == "posix" and mode & _OTHERS:
                say("others than its owner may read or write the token's file; chmod 600 ends that")
            return stream.read(limits.TOKEN_MAX_CHARACTERS * 2)
    except (OSError, ValueError) as error:
        cause = (error.strerror if isinstance(error, OSError) else None) or "not a path"
        message = f"The file that should hold the token cannot be read: {cause}."
        return Problem(code="token", message=message, path="--token-file")

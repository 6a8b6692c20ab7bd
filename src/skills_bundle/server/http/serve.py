"""Edge: `mcp serve --http`: the token, the listening socket and uvicorn, from options to exit code.

Only this package imports the HTTP stack, so that a host that starts us over stdio need not wait.
"""

from __future__ import annotations

import asyncio
import errno
import gc
import logging
import os
import signal
import socket
import stat
import traceback
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import uvicorn

from skills_bundle.errors import Problem, SkillsBundleError
from skills_bundle.installed import location as installed
from skills_bundle.server import limits, session
from skills_bundle.server.http.access import MCP_PATH, check_options
from skills_bundle.server.http.app import App
from skills_bundle.server.http.protocol import BoundedProtocol, Room
from skills_bundle.server.run import ServeOptions, say, startup_lines
from skills_bundle.server.tools import ToolContext, toolbox

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping
    from types import FrameType

    from skills_bundle.catalog.service import Catalog
    from skills_bundle.server.http.access import HttpOptions

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)
_OTHER_USERS: Final = stat.S_IRGRP | stat.S_IWGRP | stat.S_IROTH | stat.S_IWOTH
_DEFAULT: Final = ServeOptions()
_BACKLOG: Final = 1024
"""Connections that the kernel queues for us, within its own limit."""


class ListenError(SkillsBundleError):
    """The address cannot be listened on, for example because another program uses it."""


def serve_http(
    open_catalog: Callable[[], Catalog],
    groups: tuple[str, ...],
    options: HttpOptions,
    identify: Callable[[], object] = installed.locate,
    serving: ServeOptions = _DEFAULT,
) -> int:
    """Serve over HTTP until a signal stops the server.

    Args:
        open_catalog: Returns the catalog. One that cannot be served right now does not stop the
            server: its tools report it at each call, and `/healthz` answers 503.
        groups: Tool groups, names from `tools.TOOLSETS`.
        options: The options.
        identify: Finds this installation; its errors stop the server before it starts.
        serving: What the server reports about itself.

    Returns:
        The exit code: 0 after a signal, 1 after a fault.

    Raises:
        HttpOptionsError: If the options are wrong or unsafe.
        ListenError: If the address cannot be listened on.
        SkillsBundleError: From `identify`.
    """
    # Under PYTHONWARNINGS=error, a library's deprecation must not turn into a failed call.
    warnings.simplefilter("ignore")
    settings = check_options(options, resolve)
    identify()
    catalog = open_catalog()
    listener = listen(settings.ip, settings.port)
    for line in startup_lines(catalog, quiet=serving.quiet):
        say(line)
    server = session.build(
        # Without sessions there is no connection on which to notify a client of changes.
        toolbox(groups, ToolContext(catalog=catalog)),
        version=serving.version,
        name=serving.name,
        catalog=catalog,
        notify=False,
    )
    app = App(server, settings.rules, lambda: catalog.problem() is None)
    return serve_app(app, listener)


def serve_app(app: App, listener: socket.socket) -> int:
    """Serve a listening socket until a signal stops the server.

    Args:
        app: Answers requests.
        listener: Listens already; closed at the end.

    Returns:
        The exit code, as for `serve_http`.
    """
    for number in _SIGNALS:  # until the loop runs, there is nothing to finish
        signal.signal(number, _exit_at_once)
    # At lower levels, the SDK and uvicorn repeat what a client sent.
    logging.getLogger("mcp").setLevel(logging.ERROR)
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)
    gc.freeze()  # imported modules stay: the collector need not walk them again
    say(f"serving MCP on http://{_authority(*listener.getsockname()[:2])}{MCP_PATH} (Ctrl-C stops)")
    server = Server(app)
    _stop_on_signal(server)
    try:
        with listener:
            asyncio.run(server.run_on(listener))
    except Exception:  # noqa: BLE001 - last resort: a traceback on stderr and an exit code
        say(traceback.format_exc())
        return 1
    return 0


class Server(uvicorn.Server):
    """uvicorn's server with our limits; set `should_exit` to stop it.

    Args:
        app: Answers requests.
    """

    def __init__(self, app: App) -> None:
        """Prepare; uvicorn's environment variables have no effect."""
        self._app = app
        self._room = Room()

        class Protocol(BoundedProtocol):
            room = self._room

        config = uvicorn.Config(
            app,
            lifespan="off",
            ws="none",
            http=Protocol,
            loop="asyncio",
            interface="asgi3",
            workers=1,
            log_config=None,
            access_log=False,
            proxy_headers=False,
            forwarded_allow_ips=[],
            server_header=False,
            headers=[("cache-control", "no-store"), ("x-content-type-options", "nosniff")],
            backlog=limits.HTTP_ACCEPT_BATCH,
            timeout_keep_alive=limits.HTTP_IDLE_SECONDS,
            timeout_graceful_shutdown=limits.HTTP_STOP_GRACE_SECONDS,
            h11_max_incomplete_event_size=limits.HTTP_HEAD_MAX_BYTES,
        )
        super().__init__(config)

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Capture no signals: uvicorn would raise them again after a clean stop."""
        yield

    async def run_on(self, listener: socket.socket) -> None:
        """Serve a listening socket until `should_exit` is set."""
        asyncio.get_running_loop().set_exception_handler(self._room.handle_loop_error)
        async with self._app.running():
            await self.serve([listener])

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to accept connections, a few at a time."""
        await super().startup(sockets)
        # asyncio accepts as many at once as the queue was long when it began to listen.
        for listener in sockets or ():
            listener.listen(_BACKLOG)


def _exit_at_once(_number: int, _frame: FrameType | None) -> None:
    os._exit(0)


def _stop_on_signal(server: Server) -> None:
    """Make the first signal stop the server cleanly and the next one kill the process."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        server.should_exit = True
        for number in _SIGNALS:
            signal.signal(number, signal.SIG_DFL)

    for number in _SIGNALS:
        signal.signal(number, stop)


def resolve(host: str) -> str | None:
    """Return the first IP address of a host name or address, or None if it has none."""
    try:
        rows = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError):
        return None
    addresses = [str(row[4][0]) for row in rows]
    # `localhost` may have addresses of both families; every client tries IPv4.
    return next((ip for ip in addresses if ":" not in ip), addresses[0].partition("%")[0])


def listen(ip: str, port: int) -> socket.socket:
    """Return a listening socket.

    Args:
        ip: An IP address without brackets.
        port: 0 for any free port.

    Raises:
        ListenError: If the address cannot be listened on.
    """
    family = socket.AF_INET6 if ":" in ip else socket.AF_INET
    try:
        return socket.create_server((ip, port), family=family, backlog=_BACKLOG)
    except OSError as error:
        cause = error.strerror or type(error).__name__
        if error.errno == errno.EADDRINUSE:
            cause = "another program uses this address; stop it, or choose another port (0 for any)"
        raise ListenError(f"Cannot listen on {_authority(ip, port)}: {cause}.") from None


def _authority(ip: str, port: int) -> str:
    """Return address and port as a URL spells them."""
    return f"[{ip}]:{port}" if ":" in ip else f"{ip}:{port}"


def read_token(
    variable: str | None, file: str | None, environ: Mapping[str, str]
) -> bytes | Problem | None:
    """Read the bearer token.

    Args:
        variable: Name of the environment variable that holds it, or None.
        file: Path of the file that holds it, or None.
        environ: The environment.

    Returns:
        The bytes, unchecked; a problem, which does not repeat the options, since users mistakenly
        put the token itself there; None if no option was given.
    """
    if variable is not None and file is not None:
        message = "Use either --token-env or --token-file, not both."
        return Problem(code="token", message=message)
    if variable is not None:
        value = environ.get(variable)
        message = "The environment variable for the token is not set."
        missing = Problem(code="token", message=message, path="--token-env")
        return missing if value is None else os.fsencode(value)
    return None if file is None else _read_token_file(file)


def _read_token_file(file: str) -> bytes | Problem:
    try:
        with Path(file).open("rb") as stream:
            mode = os.fstat(stream.fileno()).st_mode
            if not stat.S_ISREG(mode):  # a pipe or terminal may stay open after its line
                return stream.readline(limits.TOKEN_MAX_CHARACTERS * 2)
            if os.name == "posix" and mode & _OTHER_USERS:
                say("other users can read or write the token file; run chmod 600 on it")
            return stream.read(limits.TOKEN_MAX_CHARACTERS * 2)
    except (OSError, ValueError) as error:
        cause = (error.strerror if isinstance(error, OSError) else None) or "not a path"
        message = f"The token file cannot be read: {cause}."
        return Problem(code="token", message=message, path="--token-file")

"""Edge: `mcp serve --http`: from options to a served address to an exit code.

The HTTP stack is imported here and in what this module imports, and nowhere on the way to stdio.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
import traceback
import warnings
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

import uvicorn

from skills_bundle import __version__
from skills_bundle.installed import location as installed
from skills_bundle.server import ahead, limits, session
from skills_bundle.server.http import listen as http_listen
from skills_bundle.server.http import workers as http_workers
from skills_bundle.server.http.app import App
from skills_bundle.server.http.log import say
from skills_bundle.server.http.protocol import BoundedProtocol
from skills_bundle.server.http.rules import MCP_PATH
from skills_bundle.server.http.settings import settle
from skills_bundle.server.tools import toolsets

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Generator
    from types import FrameType

    from skills_bundle.catalog import Source
    from skills_bundle.server.http.settings import Asked

_STOP = (signal.SIGINT, signal.SIGTERM)


def serve_http(
    open_catalog: Callable[[], Source],
    groups: tuple[str, ...],
    asked: Asked,
    identify: Callable[[], object] = installed.locate,
) -> int:
    """Serve over HTTP until a signal asks to stop.

    Args:
        open_catalog: Gives the catalog. One that cannot be served right now does not stop the
            server: its tools say so at each call, and `/healthz` says 503.
        groups: Tool groups, names from `run.TOOLSETS`.
        asked: The options.
        identify: Finds out what we are; what it raises stops the server before it starts.

    Returns:
        The exit code: 0 after a signal, 1 if workers could not run or had to be killed.

    Raises:
        HttpSettingsError: If the options are wrong or not safe.
        ListenError: If the address cannot be listened on.
        SkillsBundleError: What `identify` raises.
    """
    # Somebody's PYTHONWARNINGS=error must not turn a library's deprecation into a failed call.
    warnings.simplefilter("ignore")
    settings = settle(asked, http_listen.resolve, http_workers.MOST_WORKERS)
    identify()
    catalog = open_catalog()
    listener = http_listen.listen(settings.ip, settings.port)
    for text in ahead.told(catalog):
        say(text)
    server = session.build(
        # A request is all there is of a connection here, so nobody can be told of changes.
        toolsets.toolbox(groups, catalog),
        version=__version__,
        shelf=catalog.shelf,
        notify=False,
    )
    app = App(server, settings.rules, lambda: catalog.problem() is None)
    return serve_app(app, listener, settings.workers)


def _leave_at_once(_number: int, _frame: FrameType | None) -> None:
    os._exit(0)


def serve_app(app: App, listener: socket.socket, workers: int = 1) -> int:
    """Serve a listening socket until a signal asks to stop.

    Args:
        app: What answers.
        listener: Listens already; closed at the end.
        workers: Processes that serve; with one it is this one.

    Returns:
        The exit code, as `serve_http` says.
    """
    for number in _STOP:  # until workers or a loop run, nothing has begun that needs an end
        signal.signal(number, _leave_at_once)
    # The SDK warns of what a client sent; faults are errors and still told.
    logging.getLogger("mcp").setLevel(logging.ERROR)
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)  # and so does uvicorn
    gc.freeze()  # what is imported stays, and workers keep sharing it
    say(f"serving MCP on {http_listen.url(listener, MCP_PATH)} (Ctrl-C stops)")
    with listener:
        if workers == 1:
            return _work(app, listener)
        return http_workers.Workers(workers, partial(_work, app, listener), listener.close).run()


def _work(app: App, listener: socket.socket, lifeline: int | None = None) -> int:
    """Serve from this process; in a worker, until its lifeline ends, too."""
    server = Server(app)
    _stop_on_signal(server, worker=lifeline is not None)
    try:
        asyncio.run(server.run_on(listener, lifeline))
    except Exception:  # noqa: BLE001 - the last net: a trace on stderr and an exit code
        say(traceback.format_exc())
        return 1
    return 0


class Server(uvicorn.Server):
    """uvicorn's, within our bounds; set `should_exit` to stop it.

    Args:
        app: What answers.
    """

    def __init__(self, app: App) -> None:
        """Prepare; nothing is taken from uvicorn's variables in the environment."""
        self._app = app
        config = uvicorn.Config(
            app,
            lifespan="off",
            ws="none",
            http=BoundedProtocol,
            loop="asyncio",
            interface="asgi3",
            workers=1,
            log_config=None,
            access_log=False,
            proxy_headers=False,
            forwarded_allow_ips=[],
            server_header=False,
            headers=[("cache-control", "no-store"), ("x-content-type-options", "nosniff")],
            limit_concurrency=limits.HTTP_MAX_CONNECTIONS,
            timeout_keep_alive=limits.HTTP_IDLE_SECONDS,
            timeout_graceful_shutdown=limits.HTTP_STOP_GRACE_SECONDS,
            h11_max_incomplete_event_size=limits.HTTP_HEAD_MAX_BYTES,
        )
        super().__init__(config)

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Capture none: uvicorn would end a clean stop by killing itself."""
        yield

    async def run_on(self, listener: socket.socket, lifeline: int | None = None) -> None:
        """Serve a listening socket until told to stop, or until the lifeline ends."""
        if lifeline is not None:
            asyncio.get_running_loop().add_reader(lifeline, self._orphaned, lifeline)
        async with self._app.running():
            await self.serve([listener])

    def _orphaned(self, lifeline: int) -> None:
        asyncio.get_running_loop().remove_reader(lifeline)
        self.should_exit = True


def _stop_on_signal(server: Server, *, worker: bool) -> None:
    """Make the first signal end us cleanly and, unless somebody looks after us, the next kill us.

    A worker leaves the terminal's interrupt, which reaches the whole group, to its keeper.
    """

    def stop(_number: int, _frame: FrameType | None) -> None:
        server.should_exit = True
        if not worker:
            for number in _STOP:
                signal.signal(number, signal.SIG_DFL)

    for number in _STOP:
        signal.signal(number, stop)
    if worker:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOP)

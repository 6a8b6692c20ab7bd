"""The server whose tools misbehave, over HTTP: `python -P odd_http_server.py`."""

from __future__ import annotations

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from skills_bundle.server import session
from skills_bundle.server.http.app import App
from skills_bundle.server.http.serve import listen, serve_app
from skills_bundle.server.tools.base import Toolbox
from tests.server.http_peer import OPEN
from tests.server.odd_server import NoArguments, Said, tool, toolbox


def nap(_: NoArguments) -> Said:
    """Take longer than a signal takes to come."""
    time.sleep(1)
    return Said(said="slept")


if __name__ == "__main__":
    tools = Toolbox([*toolbox().tools, tool("nap", nap)])
    app = App(session.build(tools, version="1.2.3", notify=False), OPEN, lambda: True)
    sys.exit(serve_app(app, listen("127.0.0.1", 0)))

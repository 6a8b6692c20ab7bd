"""Edge: somebody who follows docs/tutorial/inspector.md, with npm and the registries at hand."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tests.conformance.attempts import seen
from tests.conformance.room import node_packages
from tests.end_to_end.reader import Reader
from tests.repository.pages import page

if TYPE_CHECKING:
    from collections.abc import Generator

    from tests.conformance.room import Room
    from tests.conformance.rows import Seen

PAGE: Final = "docs/tutorial/inspector.md"
CLIENT: Final = "@modelcontextprotocol/inspector"


class Walker(Reader):
    """A reader who can download, and has Node."""

    node: Path

    def environment(self) -> dict[str, str]:
        """Return our environment, with a home and programs like a reader's."""
        own = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        programs = (self.node, self.home / ".npm" / "bin", Path(shutil.which("npm") or "").parent)
        path = [f"{self.home}/.local/bin", f"{self.home}/tools", *map(str, programs)]
        return {
            **own,
            "HOME": str(self.home),
            "LC_ALL": "C.UTF-8",
            "NO_COLOR": "1",
            "NPM_CONFIG_PREFIX": str(self.home / ".npm"),
            "PATH": os.pathsep.join([*path, "/usr/bin", "/bin"]),
            "UV_CACHE_DIR": str(self.cache),
            "UV_FIND_LINKS": str(self.wheelhouse),
        }


def run(room: Room) -> Generator[Seen]:
    """Follow the page from top to bottom; what comes after a failure is not tried."""
    place = room.folder / "walkthrough"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    # The wheel that was just built has the name of the last one.
    cache = room.folder / "uv-cache"
    shutil.rmtree(cache, ignore_errors=True)
    walker = Walker(place, Path(sys.executable), room.folder / "dist", cache)
    walker.node = room.modules / ".bin"
    problem = ""
    try:
        walker.begin()
        for block in page(PAGE).blocks():
            walker.act(page(PAGE), block, 0)
    except (AssertionError, subprocess.SubprocessError) as error:
        problem = str(error)
    yield seen(CLIENT, node_packages()[CLIENT], ("both", "both"), "the tutorial's walk", problem)

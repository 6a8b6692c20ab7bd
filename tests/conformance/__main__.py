"""Edge: build, install, try, print the table, write `results.json`.

`python -m tests.conformance FOLDER`, from the root of the repository. Exits 1 if anything differs
from what `exemptions.toml` says; then nothing is written.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tests.conformance import inspector, mcpc, scripts, suite, walkthrough
from tests.conformance.room import HERE, Room, node_packages
from tests.conformance.rows import Seen, dump, exemptions, judge, table
from tests.conformance.serving import served

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

RESULTS = HERE / "results.json"


def every_way(room: Room) -> Generator[Seen]:
    """Try everything."""
    command = (str(room.server), "mcp", "serve")
    with served(room) as url:
        yield from suite.run(room, url)
        yield from inspector.run(room, command, "stdio")
        yield from inspector.run(room, (url,), "http")
        for script in scripts.scripts():
            yield from scripts.run(room, script, url)
        yield from mcpc.run(room, _configuration(room), "stdio")
        yield from mcpc.run(room, url, "http")
    yield from walkthrough.run(room)


def _configuration(room: Room) -> str:
    """Write what a host's configuration file says, and name the entry in it."""
    file = room.folder / "mcp.json"
    entry = {"command": str(room.server), "args": ["mcp", "serve"]}
    file.write_text(json.dumps({"mcpServers": {"skills": entry}}), encoding="utf-8")
    return f"{file}:skills"


def aloud(seen: Iterable[Seen]) -> Generator[Seen]:
    """Show that something happens."""
    for each in seen:
        print("x" if each.failed else ".", end="", file=sys.stderr, flush=True)  # noqa: T201
        yield each
    print(file=sys.stderr)  # noqa: T201


def main() -> int:
    """Do it all and give the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where everything is installed")
    room = Room(parser.parse_args().folder.absolute())
    version = room.install()
    known = exemptions((HERE / "exemptions.toml").read_text(encoding="utf-8"))
    rows, problems = judge(aloud(every_way(room)), known)
    print(table(rows))  # noqa: T201 - a script's output
    if problems:
        print("", *problems, sep="\n", file=sys.stderr)  # noqa: T201
        return 1
    RESULTS.write_text(dump(rows, server=version, node=node_packages()["node"]), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

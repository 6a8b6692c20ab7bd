"""A server whose tools misbehave, over the real wire, transport and session.

Run as a script: `python -P tests/server/odd_server.py`. What a well-behaved tool never does (crash,
print, start a child that prints, answer too much) has to be provoked somewhere.
"""

from __future__ import annotations

import atexit
import subprocess
import sys
import time
from typing import Annotated, Any

from pydantic import Field

from skills_bundle.errors import ToolError
from skills_bundle.formats.record import Record
from skills_bundle.server import run
from skills_bundle.server.stdio import wire
from skills_bundle.server.tools.base import Tool, Toolbox


class NoArguments(Record):
    """Nothing."""


class EchoArguments(Record):
    """What to say, how often."""

    text: Annotated[str, Field(max_length=200)] = "hello"
    times: Annotated[int, Field(ge=0, le=2_000_000)] = 1


class Said(Record):
    """What was said."""

    said: str


class Wrong(Record):
    """A record that no answer of a tool here fits."""

    number: int


def echo(given: EchoArguments) -> Said:
    """Return the text."""
    return Said(said=given.text * given.times)


def crash(_: NoArguments) -> Said:
    """Fail as a bug does."""
    raise RuntimeError("secret detail")


def crash_in_pydantic(_: NoArguments) -> Said:
    """Fail as a bug does whose exception the SDK takes for the client's fault."""
    Wrong.model_validate({"number": "secret detail"})
    raise AssertionError


def refuse(_: NoArguments) -> Said:
    """Refuse."""
    raise ToolError("resource_unavailable", "There is no such resource.")


def chatter(_: NoArguments) -> Said:
    """Print where protocol goes, here and in a child."""
    print("stray print \N{SNOWMAN}")  # noqa: T201 - what is tested
    sys.stdout.write("stray write\n")
    child = "import os; print('stray child'); os.write(1, b'stray bytes\\n'); print(input())"
    done = subprocess.run([sys.executable, "-c", child], check=False)
    return Said(said=f"child ended {done.returncode}")


def descriptors(_: NoArguments) -> Said:
    """Return the open files that a child process inherits when none is closed."""
    child = """
import os
for number in range(64):
    try:
        print(os.fstat(number).st_ino)
    except OSError:
        pass
"""
    command = [sys.executable, "-c", child]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, close_fds=False)
    return Said(said=done.stdout.decode())


def sleep(_: NoArguments) -> Said:
    """Take longer than anybody waits, and tell standard error when it begins."""
    print("asleep", file=sys.stderr, flush=True)  # noqa: T201 - what a test waits for
    time.sleep(60)
    return Said(said="awake")


def surrogate(_: NoArguments) -> Said:
    """Answer something that is not Unicode."""
    return Said.model_construct(said="\ud800")


def tool(name: str, answer: Any, arguments: type[Record] = NoArguments) -> Tool[Any]:
    """Make a tool."""
    return Tool(name=name, description=name, arguments=arguments, result=Said, answer=answer)


def toolbox() -> Toolbox:
    """Return every tool."""
    return Toolbox(
        [
            tool("echo", echo, EchoArguments),
            tool("crash", crash),
            tool("crash_in_pydantic", crash_in_pydantic),
            tool("refuse", refuse),
            tool("chatter", chatter),
            tool("descriptors", descriptors),
            tool("sleep", sleep),
            tool("surrogate", surrogate),
        ]
    )


if __name__ == "__main__":
    print("stray print before the wire is claimed, still in its buffer")  # noqa: T201 - likewise
    atexit.register(print, "stray print at exit")
    sys.exit(run.serve_tools(wire.claim(), toolbox))

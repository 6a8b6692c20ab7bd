"""Any bytes, as the whole input of a real server, give every answer that is due and a clean end."""

from __future__ import annotations

import logging
import os
import tempfile
from collections import Counter
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import anyio

from skills_bundle.formats import strict_json
from skills_bundle.server import limits, session
from skills_bundle.server.stdio import framing
from skills_bundle.server.stdio.transport import END_OF_INPUT, GARBAGE, Ending, StrictStdio
from skills_bundle.server.stdio.wire import Wire
from tests.installed_builder import InstalledBuilder
from tests.server.host import tools_of
from tests.server.vectors import FOLDER, exchange, lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcp.server.lowlevel import Server

    from skills_bundle.server.stdio.framing import Message

LIMIT = 1 << 12
INTERNAL_ERROR = -32603


def check(data: bytes) -> None:
    """Converse, and hold the answers against what a reader of the input alone would expect."""
    ending, written = converse(data)
    answers = [answer(line) for line in written.split(b"\n")[:-1]]
    if written[-1:] not in {b"", b"\n"}:
        raise AssertionError("half a line was written")
    if ending == GARBAGE:
        return
    if ending != END_OF_INPUT:
        raise AssertionError(f"no clean end: {ending.reason}")
    compare(understood(data), Counter(answers))


def converse(data: bytes) -> tuple[Ending, bytes]:
    """Serve the sample skills to one client that sends these bytes and closes its end."""
    server = _server()
    with tempfile.TemporaryFile() as reads, tempfile.TemporaryFile() as writes:
        reads.write(data)
        reads.seek(0)

        async def serve() -> Ending:
            wire = Wire(reads.fileno(), writes.fileno())
            return await StrictStdio(wire, anyio.Event()).serve(partial(session.serve, server))

        ending = anyio.run(serve)
        return ending, os.pread(writes.fileno(), os.fstat(writes.fileno()).st_size, 0)


@cache
def _server() -> Server[Any]:
    """Return the server of two installed skills; its folder goes with the driver's."""
    logging.getLogger("mcp").setLevel(logging.ERROR)  # as `mcp serve` does
    catalog = InstalledBuilder().install(Path(tempfile.mkdtemp())).catalog(resources="all")
    tools = tools_of(catalog)
    return session.build(tools, version="1.2.3", catalog=catalog)


def answer(line: bytes) -> Any:
    """Return the id of a well-formed answer.

    Raises:
        AssertionError: If it is none, or one that only a fault of ours gives.
    """
    message = strict_json.loads(line, limit=limits.RESPONSE_LINE_MAX_BYTES)
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0" or "method" in message:
        raise AssertionError("not an answer")
    error = message.get("error")
    if ("result" in message) == (error is not None):
        raise AssertionError("neither result nor error, or both")
    if error is not None and cast("dict[str, Any]", error)["code"] == INTERNAL_ERROR:
        raise AssertionError("a fault of ours")
    return message["id"]


def understood(data: bytes) -> list[Message]:
    """Return every message of the input."""
    found = map(framing.parse, framing.LineBuffer().feed(data))
    return [message for message in found if message is not None]


def compare(messages: list[Message], answers: Counter[Any]) -> None:
    """Hold answers against what is due: one a request, one a refusal.

    Raises:
        AssertionError: If one is missing, doubled, or nobody's.
    """
    asked = [message for message in messages if not isinstance(message, framing.Notification)]
    due = Counter(message.id for message in asked)
    for request_id, count in answers.items():
        # An id that is used again is refused without it.
        if request_id is not None and count > due[request_id]:
            raise AssertionError("an answer that nobody asked for")
    taken_back = any(
        isinstance(message, framing.Notification) and message.method == "notifications/cancelled"
        for message in messages
    )
    if answers.total() > len(asked) or (answers.total() < len(asked) and not taken_back):
        raise AssertionError(f"{answers.total()} answers to {len(asked)} questions")


def seeds() -> Iterator[bytes]:
    """Return the recorded exchanges, their messages one by one, and the lines of the table."""
    hello = b""
    for path in sorted(FOLDER.rglob("*.jsonl")):
        sent = [_line(message) for kind, message in exchange(path) if kind == "send"]
        hello = next((line for line in sent if b'"initialize"' in line), sent[0])
        yield b"".join(sent)
        yield from (hello + line for line in sent)
    for row in lines():
        if len(row.data) <= LIMIT:
            yield hello + row.data + b"\n"


def _line(message: Any) -> bytes:
    data = message.encode() if isinstance(message, str) else framing.strict_json.compact(message)
    return data + b"\n"

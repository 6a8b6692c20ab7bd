"""The server over HTTP as processes: options, signals, replicas, the official client."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import itertools
import json
import signal
import socket
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

import anyio
import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

from skills_bundle.server import limits
from tests.end_to_end.conftest import ROOT
from tests.installed_builder import InstalledBuilder
from tests.server.commands import ENVIRONMENT
from tests.server.http_commands import COMMAND, ODD_HTTP, listening
from tests.server.http_peer import TOKEN, Response, ask, head, post, to_the_end
from tests.server.peer import call, initialize, line

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Generator
    from pathlib import Path

    from tests.server.http_commands import HttpProcess

LOCAL = [*COMMAND, "--http", "127.0.0.1:0"]
NAME = "writing-agent-skills"
WITH_TOKEN = [*LOCAL, "--token-env", "TEAM_TOKEN"]


def test_idle_connections_do_not_take_every_descriptor() -> None:
    """400 idle clients at `ulimit -n 128`: one line in the log, and the server still works."""
    few = ["sh", "-c", 'ulimit -n 128; exec "$@"', "sh", *ODD_HTTP]
    with listening(few) as server:
        with contextlib.ExitStack() as idle:
            for _ in range(400):
                address = (server.host, server.port)
                idle.enter_context(socket.create_connection(address, timeout=30))
        assert post(server.port, call("echo")).status == 200
        server.stop()
    log = server.said()
    assert (log.count("connections are refused"), "Traceback" in log) == (1, False)


def refused(*options: str, environment: dict[str, str] | None = None) -> tuple[int, str]:
    """Run the program with options that it does not serve under; give exit code and words."""
    done = subprocess.run(
        [*COMMAND, *options],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
        env={**ENVIRONMENT, **(environment or {})},
    )
    return done.returncode, done.stdout + done.stderr


def text_of(answer: Response) -> str:
    """Return a tool's text."""
    return json.loads(answer.json()["result"]["content"][0]["text"])["said"]


@pytest.fixture(scope="module")
def served() -> Generator[HttpProcess]:
    """Serve this checkout to clients with the token."""
    with listening(WITH_TOKEN, {"TEAM_TOKEN": TOKEN}) as process:
        yield process


@contextlib.asynccontextmanager
async def balanced(ports: list[int]) -> AsyncGenerator[int]:
    """Return the port of a balancer that sends each connection to the next of these ports."""
    turns = itertools.cycle(ports)

    async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Carry one direction."""
        while data := await reader.read(1 << 16):
            writer.write(data)
            await writer.drain()
        writer.close()

    async def join(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Carry one connection."""
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", next(turns))
        await asyncio.gather(pump(reader, far_writer), pump(far_reader, writer))

    async with await asyncio.start_server(join, "127.0.0.1", 0) as server:
        yield server.sockets[0].getsockname()[1]


@contextlib.asynccontextmanager
async def connected(port: int, mode: str) -> AsyncGenerator[Client]:
    """Connect the official client with the token, each request on a connection of its own."""
    headers = {"authorization": f"Bearer {TOKEN}", "connection": "close"}
    async with httpx2.AsyncClient(headers=headers, timeout=60) as carrier:
        transport = streamable_http_client(f"http://127.0.0.1:{port}/mcp", http_client=carrier)
        async with Client(transport, mode=mode) as client:  # pyright: ignore[reportArgumentType] - a revision is any string to the checker
            yield client


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28", "auto"])
def test_the_official_client_reads_a_skill(served: HttpProcess, mode: str) -> None:
    """In both eras, and when it finds out by itself."""

    async def scenario() -> str:
        async with connected(served.port, mode) as client:
            found = await client.call_tool(
                "skill_catalog_search", {"query": "writing-agent-skills"}
            )
            assert NAME in {row["name"] for row in found.structured_content["skills"]}
            read = await client.call_tool("skill_resource_read", {"skill": NAME})
            return read.structured_content["content"]

    assert anyio.run(scenario).startswith(f"---\nname: {NAME}\n")


def test_the_official_client_is_served_by_two_replicas_in_turn(served: HttpProcess) -> None:
    """Each request goes to another one than the request before."""

    async def scenario(ports: list[int]) -> list[int]:
        async with balanced(ports) as port, connected(port, "auto") as client:
            return [len((await client.list_tools()).tools) for _ in range(4)]

    with listening(WITH_TOKEN, {"TEAM_TOKEN": TOKEN}) as other:
        assert anyio.run(scenario, [served.port, other.port]) == [3, 3, 3, 3]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--http", "0.0.0.0:0"], "--token-env"),
        (["--http", "[::]:0"], "--allowed-host"),
        (["--http", "nonsense"], "HOST:PORT"),
        (["--http", "127.0.0.1:0", "--token-env", "UNSET_VARIABLE"], "is not set"),
        (["--http", "127.0.0.1:0", "--token-file", "/nonexistent"], "No such file"),
        (["--http", "127.0.0.1:0", "--toolsets", "nope"], "nope"),
        (["--token-env", "X"], "only together with --http"),
        (["--token-env", "X", "--allowed-host", "x"], "--token-env, --allowed-host"),
    ],
)
def test_options_that_are_wrong_or_not_safe_are_a_usage_error(
    options: list[str], words: str
) -> None:
    """Exit code 2, and what to do."""
    code, said = refused(*options)
    assert (code, words in said) == (2, True)


def test_a_weak_token_is_refused_and_not_repeated() -> None:
    """Not even to the person who set it."""
    code, said = refused(*WITH_TOKEN[len(COMMAND) :], environment={"TEAM_TOKEN": "hunter2"})
    assert (code, "hunter2" in said) == (2, False)


def test_an_address_that_is_taken_is_said_with_exit_1(served: HttpProcess) -> None:
    """And not a trace."""
    code, said = refused("--http", f"127.0.0.1:{served.port}")
    named = "another program uses this address" in said
    assert (code, named, "Traceback" in said) == (1, True, False)


def test_an_ipv6_address_is_served_and_said_as_a_url() -> None:
    """With port 0, the one that was free."""
    with listening([*COMMAND, "--http", "[::1]:0"]) as process:
        connection = http.client.HTTPConnection("::1", process.port, timeout=30)
        connection.request("GET", "/healthz")
        status = connection.getresponse().status
        connection.close()
        assert (process.host, status) == ("[::1]", 200)


def test_without_an_address_it_listens_where_the_help_says() -> None:
    """The default is one fact."""
    done = subprocess.run(
        [*COMMAND, "--help"], capture_output=True, encoding="utf-8", check=True, env=ENVIRONMENT
    )
    with socket.create_server(("127.0.0.1", 8765)):  # the port is taken, here or by another program
        _, said = refused("--http")
    assert ("127.0.0.1:8765 if no address" in done.stdout, "127.0.0.1:8765" in said) == (True, True)


def test_a_token_comes_from_a_file(tmp_path: Path) -> None:
    """With its line feed."""
    file = tmp_path / "token"
    file.write_text(f"{TOKEN}\n", encoding="utf-8")
    with listening([*LOCAL, "--token-file", str(file)]) as process:
        answers = [
            post(process.port, call("nobody"), headers={"authorization": f"Bearer {token}"}).status
            for token in (TOKEN, "wrong-wrong-wrong")
        ]
    assert answers == [200, 401]


def test_nothing_the_server_says_or_shows_holds_the_token() -> None:
    """Log, arguments, and what help prints."""
    with listening(WITH_TOKEN, {"TEAM_TOKEN": TOKEN}) as process:
        for token in (TOKEN, TOKEN + "x"):
            headers = {"authorization": f"Bearer {token}", "x-token": token}
            post(process.port, call("skill_catalog_search"), headers=headers)
            ask(process.port, "GET", f"/{token}?{token}", headers=headers)
        process.stop()
        assert TOKEN not in process.said()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
def test_a_signal_ends_a_waiting_server_with_exit_0(number: signal.Signals) -> None:
    """Its log holds only the address."""
    with listening(ODD_HTTP) as process:
        assert (process.stop(number), len(process.said().splitlines())) == (0, 1)


def test_a_signal_lets_a_request_be_answered() -> None:
    """What is being answered is answered."""
    answers: list[Response] = []
    with listening(ODD_HTTP) as process:
        asking = threading.Thread(target=lambda: answers.append(post(process.port, call("nap"))))
        asking.start()
        time.sleep(0.3)
        code = process.stop()
        asking.join(30)
    assert (code, [text_of(answer) for answer in answers]) == (0, ["slept"])


def test_a_signal_lets_a_request_be_finished() -> None:
    """Half a body is waited for; a connection without a request is not."""
    body = json.dumps(call("echo")).encode()
    start = head("Host: 127.0.0.1", f"Content-Length: {len(body)}")
    with listening(ODD_HTTP) as process, contextlib.ExitStack() as connections:
        address = ("127.0.0.1", process.port)
        half, _idle = (
            connections.enter_context(socket.create_connection(address, 30)) for _ in range(2)
        )
        half.sendall(start + body[:5])
        ask(process.port, "GET", "/healthz")  # so the half has been read, too
        process.process.send_signal(signal.SIGTERM)
        time.sleep(0.5)
        half.sendall(body[5:])
        answer = to_the_end(half)
        assert (answer[:12], process.process.wait(30)) == (b"HTTP/1.1 200", 0)


def test_a_stopping_server_takes_no_new_connections() -> None:
    """A load balancer goes elsewhere, while what was begun is finished."""
    with listening(ODD_HTTP) as process:
        address = ("127.0.0.1", process.port)
        with socket.create_connection(address, 30) as half:
            half.sendall(head("Host: 127.0.0.1", "Content-Length: 9") + b"{")
            ask(process.port, "GET", "/healthz")
            process.process.send_signal(signal.SIGTERM)
            time.sleep(0.5)
            with pytest.raises(ConnectionRefusedError):
                socket.create_connection(address, 5)


def test_a_second_signal_ends_a_server_at_once() -> None:
    """Even with an unfinished request."""
    with listening(ODD_HTTP) as process:
        start = head("Host: 127.0.0.1", "Content-Length: 9")
        with socket.create_connection(("127.0.0.1", process.port), 30) as half:
            half.sendall(start + b"{")
            ask(process.port, "GET", "/healthz")
            process.process.send_signal(signal.SIGTERM)
            time.sleep(0.3)
            assert process.stop() == -signal.SIGTERM


def test_a_catalog_that_is_gone_makes_the_probe_say_so(tmp_path: Path) -> None:
    """503, while the server goes on and its tools say why they cannot answer."""
    program = (
        "import sys; from pathlib import Path; sys.path.insert(0, sys.argv[2])\n"
        "from skills_bundle.server.http.serve import serve_http\n"
        "from skills_bundle.server.http.access import HttpOptions\n"
        "from tests.installed_builder import Installation\n"
        "place = Installation(site=Path(sys.argv[1]))\n"
        "options = HttpOptions(address='127.0.0.1:0')\n"
        "sys.exit(serve_http(place.catalog, ('catalog',), options, place.locate))\n"
    )
    place = InstalledBuilder().install(tmp_path)
    command = [sys.executable, "-P", "-c", program, str(tmp_path), str(ROOT)]
    with listening(command) as process:
        before = ask(process.port, "GET", "/healthz").status
        place.lock.unlink()
        time.sleep(limits.HTTP_HEALTH_SECONDS)  # for so long the first answer is kept
        after = ask(process.port, "GET", "/healthz")
        assert (before, after.status, after.body) == (200, 503, b"unavailable\n")


def test_serving_over_stdio_imports_no_http_server() -> None:
    """What a host waits for stays what it was."""
    program = (
        "import atexit, sys\n"
        "ours = ('skills_bundle.server.http', 'h11', 'uvicorn.protocols')\n"
        "found = lambda: [name for name in sys.modules if name.startswith(ours)]\n"
        "atexit.register(lambda: print(found(), file=sys.stderr))\n"
        "from skills_bundle.cli.main import main\n"
        "main(['mcp', 'serve'])\n"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", program],
        input=line(initialize()) + line(call("skill_catalog_search")),
        capture_output=True,
        check=True,
        timeout=60,
        env=ENVIRONMENT,
    )
    assert (len(done.stdout.splitlines()), done.stderr) == (2, b"[]\n")

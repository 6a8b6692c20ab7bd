"""The server as a process: descriptors, signals, memory, and the official client."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.installed_builder import SAMPLE, InstalledBuilder
from tests.server.commands import ENVIRONMENT, INSTALLED, ODD
from tests.server.peer import HANDSHAKES, call, initialize, line, request

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence


def converse(
    command: Sequence[str],
    *messages: Any,
    environment: dict[str, str] | None = None,
    **options: Any,
) -> subprocess.CompletedProcess[bytes]:
    """Write everything, close the input, and wait for the end."""
    return subprocess.run(
        command,
        input=b"".join(map(line, messages)),
        capture_output=True,
        timeout=60,
        check=False,
        env={**ENVIRONMENT, **(environment or {})},
        **options,
    )


@contextlib.contextmanager
def started(command: Sequence[str], *messages: Any) -> Generator[subprocess.Popen[bytes]]:
    """Start a server that has answered the handshake and got these messages."""
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=ENVIRONMENT,
    )
    assert process.stdin
    assert process.stdout
    process.stdin.write(b"".join(map(line, [initialize(), *messages])))
    process.stdin.flush()
    process.stdout.readline()
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()


def messages_of(done: subprocess.CompletedProcess[bytes]) -> list[dict[str, Any]]:
    """Return what was written to standard output, which must be JSON lines and nothing else."""
    return [json.loads(answer) for answer in done.stdout.splitlines()]


def test_nothing_but_protocol_reaches_standard_output() -> None:
    """Prints before the wire is claimed, in a handler, in a child and at exit go to stderr."""
    done = converse(ODD, initialize(), call("chatter"))
    assert [message["id"] for message in messages_of(done)] == [0, 1]


@pytest.mark.parametrize(
    "text",
    ["still in its buffer", "stray print", "stray write", "stray child", "stray bytes", "at exit"],
)
def test_what_was_printed_astray_is_on_standard_error(text: str, astray: bytes) -> None:
    """Diverted, not lost."""
    assert text.encode() in astray


@pytest.fixture(scope="module")
def astray() -> bytes:
    """Return the standard error of a server whose tool prints."""
    return converse(ODD, initialize(), call("chatter")).stderr


def test_a_child_finds_the_end_of_input_and_not_our_requests(astray: bytes) -> None:
    """Descriptor 0 is not the wire for anyone else."""
    assert b"EOFError" in astray


def test_300_requests_and_the_end_of_input_are_300_answers_and_exit_0() -> None:
    """Each once, in order."""
    done = converse(ODD, initialize(), *(call("echo", request_id=n + 1) for n in range(300)))
    ids = [message["id"] for message in messages_of(done)]
    assert (ids, done.returncode) == (list(range(301)), 0)


def test_the_input_may_be_a_file(tmp_path: Path) -> None:
    """A recorded conversation can be replayed."""
    recorded = tmp_path / "requests.jsonl"
    recorded.write_bytes(line(initialize()) + line(call("echo")))
    with recorded.open("rb") as stream:
        done = subprocess.run(
            ODD, stdin=stream, capture_output=True, timeout=60, check=False, env=ENVIRONMENT
        )
    assert [message["id"] for message in messages_of(done)] == [0, 1]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
def test_the_first_signal_ends_a_waiting_server_with_exit_0(number: signal.Signals) -> None:
    """As hosts do it when they are done."""
    with started(ODD) as process:
        process.send_signal(number)
        assert process.wait(10) == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
def test_the_second_signal_kills_a_server_that_is_stuck(number: signal.Signals) -> None:
    """A tool that never returns must not keep the process."""
    with started(ODD, call("sleep")) as process:
        assert process.stderr
        while process.stderr.readline() != b"asleep\n":
            pass
        for _ in range(2):
            process.send_signal(number)
            time.sleep(0.2)
        assert process.wait(10) == -number


def test_a_signal_ends_a_server_whose_output_nobody_reads() -> None:
    """An unread pipe does not keep the process."""
    with started(ODD, *(call("echo", {"times": 100_000}, n) for n in range(1, 5))) as process:
        time.sleep(0.3)
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0


def test_a_client_that_is_gone_ends_the_server_with_exit_0() -> None:
    """EPIPE is a clean end."""
    with started(ODD) as process:
        assert process.stdin
        assert process.stdout
        process.stdout.close()
        process.stdin.write(line(call("echo")))
        process.stdin.flush()
        assert process.wait(10) == 0


def test_a_client_that_is_gone_leaves_no_words_behind() -> None:
    """Nothing went wrong, so nothing is said."""
    with started(ODD) as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        process.stdout.close()
        process.stdin.write(line(call("echo")))
        process.stdin.flush()
        process.wait(10)
        assert b"Traceback" not in process.stderr.read()


def resident_kibibytes(process: subprocess.Popen[bytes]) -> int:
    """Return the resident memory of a process."""
    status = Path(f"/proc/{process.pid}/status").read_text(encoding="ascii")
    (row,) = [row for row in status.splitlines() if row.startswith("VmRSS")]
    return int(row.split()[1])


def settled(process: subprocess.Popen[bytes]) -> int:
    """Return the resident memory of a process once it has kept to one figure for a while."""
    figures = [0, 1, 2]
    while len(set(figures[-3:])) > 1:
        time.sleep(0.5)
        figures.append(resident_kibibytes(process))
    return figures[-1]


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_50_megabytes_without_a_line_feed_leave_memory_flat() -> None:
    """One answer at once, and less than 2 MB more than before."""
    with started(ODD) as process:
        assert process.stdin
        assert process.stdout
        before = resident_kibibytes(process)
        for _ in range(50):
            process.stdin.write(b"x" * 1_000_000)
        process.stdin.write(b"\n" + line(request("ping")))
        process.stdin.flush()
        answers = [json.loads(process.stdout.readline())["id"] for _ in range(2)]
        grown = resident_kibibytes(process) - before
    assert (answers, grown < 2_000) == ([None, 1], True)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_client_that_does_not_read_leaves_memory_flat() -> None:
    """120 MB of answers are asked for; only those in flight are held, and all of them come."""
    wanted = [call("echo", {"times": 100_000}, number) for number in range(1, 201)]
    with started(ODD, call("echo", {"times": 100_000}, 0)) as process:
        assert process.stdin
        assert process.stdout
        process.stdout.readline()  # what a first answer imports is not what is measured
        before = resident_kibibytes(process)
        process.stdin.write(b"".join(map(line, wanted)))
        process.stdin.flush()
        grown = settled(process) - before
        answers = [json.loads(process.stdout.readline())["id"] for _ in wanted]
    assert (answers, grown < 60_000) == (list(range(1, 201)), True)


def test_a_line_out_ends_in_a_line_feed_alone() -> None:
    """On every platform."""
    done = converse(ODD, initialize(), call("echo"))
    assert (done.stdout.count(b"\n"), done.stdout.count(b"\r"), done.stdout[-1:]) == (2, 0, b"\n")


@pytest.mark.parametrize(
    "environment",
    [
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"PYTHONIOENCODING": "ascii"},
        {"PYTHONWARNINGS": "error"},
        {"PYTHONWARNINGS": "nonsense::,always"},
        {"PYTHONDEVMODE": "1"},
        {"PYTHONOPTIMIZE": "2"},
    ],
    ids=repr,
)
def test_a_hostile_environment_changes_nothing_on_the_wire(environment: dict[str, str]) -> None:
    """Bytes, not locales, warnings or modes, decide."""
    done = converse(
        ODD,
        initialize(),
        call("chatter"),
        call("echo", {"text": "é小"}, 2),
        environment=environment,
    )
    assert messages_of(done)[2]["result"]["content"][0]["text"] == '{"said":"é小"}'


def test_a_closed_standard_error_changes_nothing() -> None:
    """What is printed astray is lost then, and does not reach the client."""
    done = converse(
        ["/bin/sh", "-c", 'exec "$@" 2>&-', "sh", *ODD],
        initialize(),
        call("crash"),
        call("chatter", request_id=2),
    )
    assert [message["id"] for message in messages_of(done)] == [0, 1, 2]


@pytest.mark.parametrize("closed", ["<&-", ">&-"], ids=["input", "output"])
def test_without_input_or_output_there_is_nothing_to_serve(closed: str) -> None:
    """One line on stderr and exit 2."""
    script = f'exec "$@" {closed}'
    done = converse(["/bin/sh", "-c", script, "sh", *INSTALLED, "/nowhere"])
    assert (done.returncode, len(done.stderr.splitlines()), done.stdout) == (2, 1, b"")


def test_a_package_that_is_not_there_ends_at_once(tmp_path: Path) -> None:
    """One line on stderr, nothing on stdout, another exit code than 0."""
    done = converse([*INSTALLED, str(tmp_path / "nowhere")], initialize())
    assert (done.returncode, len(done.stderr.splitlines()), done.stdout) == (3, 1, b"")


def test_a_missing_lock_does_not_stop_the_server(tmp_path: Path) -> None:
    """The handshake and the tool list work."""
    InstalledBuilder().install(tmp_path).lock.unlink()
    done = converse([*INSTALLED, str(tmp_path)], initialize(), request("tools/list"))
    assert [("result" in message) for message in messages_of(done)] == [True, True]


def test_a_missing_lock_is_told_on_standard_error(tmp_path: Path) -> None:
    """To whoever starts the server by hand."""
    InstalledBuilder().install(tmp_path).lock.unlink()
    assert b"nothing can be served" in converse([*INSTALLED, str(tmp_path)]).stderr


def test_an_altered_skill_is_told_on_standard_error(tmp_path: Path) -> None:
    """Of one collection, too; of a whole one nothing is said."""
    place = InstalledBuilder().install(tmp_path)
    assert converse([*INSTALLED, str(tmp_path)]).stderr == b""
    next(place.skills.glob("*/SKILL.md")).write_bytes(b"changed")
    assert b"integrity unavailable (altered_files)" in converse([*INSTALLED, str(tmp_path)]).stderr


def test_a_working_folder_that_is_gone_changes_nothing(tmp_path: Path) -> None:
    """Nothing is looked up from there."""
    site, folder = tmp_path / "site", tmp_path / "gone"
    InstalledBuilder().install(site)
    folder.mkdir()
    script = f'rmdir "{folder}" && exec "$@"'
    done = converse(
        ["/bin/sh", "-c", script, "sh", *INSTALLED, str(site)],
        initialize(),
        call("skill_catalog_search"),
        cwd=folder,
    )
    assert messages_of(done)[1]["result"]["structuredContent"]["total"] == 2


def test_a_terminal_is_told_what_is_waited_for(tmp_path: Path) -> None:
    """And how to see that the server works."""
    pty = pytest.importorskip("pty")
    InstalledBuilder().install(tmp_path)
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*INSTALLED, str(tmp_path)], stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    os.close(theirs)
    assert process.stderr
    told = process.stderr.readline()
    process.terminate()
    process.communicate(timeout=10)
    os.close(ours)
    assert b"skills-bundle mcp check" in told


@pytest.mark.parametrize("mode", ["legacy", "auto", "2026-07-28"])
def test_the_official_client_reads_a_skill(tmp_path: Path, mode: str) -> None:
    """Listing, searching, reading; the client checks answers by our schemas itself."""
    InstalledBuilder().install(tmp_path)

    async def scenario() -> tuple[str, list[str], str]:
        parameters = StdioServerParameters(
            command=INSTALLED[0], args=[*INSTALLED[1:], str(tmp_path)]
        )
        async with Client(stdio_client(parameters), mode=mode) as client:  # pyright: ignore[reportArgumentType] - a revision is any string to the checker
            tools = [tool.name for tool in (await client.list_tools()).tools]
            found = await client.call_tool("skill_catalog_search", {"query": "alpha"})
            (row,) = found.structured_content["skills"]
            read = await client.call_tool("skill_resource_read", {"skill": row["path"]})
            content = read.structured_content["content"]
            return client.protocol_version, tools, content

    revision, tools, content = anyio.run(scenario)
    expected = HANDSHAKES[-1] if mode == "legacy" else "2026-07-28"
    assert (revision, len(tools), content.encode()) == (expected, 3, SAMPLE["alpha"]["SKILL.md"])

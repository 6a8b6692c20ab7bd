"""The server as hosts really start it: from any folder, with any environment and descriptors."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.end_to_end.test_serve import converse, messages_of, started
from tests.server.commands import ENVIRONMENT, ODD
from tests.server.peer import Json, call, initialize, line, request

if TYPE_CHECKING:
    from collections.abc import Sequence

IMPORTED = ("json", "mcp", "click", "yaml", "anyio", "rich", "pydantic", "jsonschema", "asyncio")
"""Modules and packages that serving imports."""

LOADED_BEFORE_US = ("re", "functools", "importlib", "typing", "os", "encodings")
"""What Python itself imports before it runs a module that was named with `-m`."""

SCRIPT = "import sys\nfrom skills_bundle.cli.main import main\nsys.exit(main())\n"
"""What installers write as the command `skills-bundle`."""


@pytest.fixture
def script(tmp_path: Path) -> list[str]:
    """Return the command line of the console script."""
    path = tmp_path / "bin" / "skills-bundle"
    path.parent.mkdir()
    path.write_text(SCRIPT, encoding="utf-8")
    return [sys.executable, str(path), "mcp", "serve"]


def hostile(folder: Path, names: Sequence[str]) -> Path:
    """Make a folder of modules with these names that end whoever imports them."""
    folder.mkdir()
    for name in names:
        (folder / f"{name}.py").write_text("raise SystemExit(99)\n", encoding="utf-8")
    return folder


def assert_serves(command: Sequence[str], **options: Any) -> None:
    """Hold a conversation with our own collection; nothing else may be on standard output."""
    done = converse(command, initialize(), call("skill_catalog_search"), **options)
    handshake, found = messages_of(done)
    assert handshake["result"]["serverInfo"]["name"] == "skills-bundle"
    assert found["result"]["structuredContent"]["total"] > 0
    assert done.returncode == 0, done.stderr


def test_the_command_serves_from_a_folder_of_files_named_like_our_imports(
    tmp_path: Path, script: list[str]
) -> None:
    """Also one that holds another `skills_bundle`, and whatever Python itself imports."""
    folder = hostile(tmp_path / "work", [*IMPORTED, *LOADED_BEFORE_US])
    (folder / "skills_bundle").mkdir()
    (folder / "skills_bundle" / "__init__.py").write_text("raise SystemExit(98)", encoding="utf-8")
    assert_serves(script, cwd=folder)


def test_the_module_serves_from_a_folder_of_files_named_like_our_imports(tmp_path: Path) -> None:
    """`python -m` alone would import them."""
    folder = hostile(tmp_path / "work", IMPORTED)
    assert_serves([sys.executable, "-m", "skills_bundle", "mcp", "serve"], cwd=folder)


def test_the_module_with_safe_path_serves_from_a_folder_named_like_it(tmp_path: Path) -> None:
    """`-P` keeps the folder out from the start."""
    folder = hostile(tmp_path / "work", [*IMPORTED, *LOADED_BEFORE_US, "skills_bundle"])
    assert_serves([sys.executable, "-P", "-m", "skills_bundle", "mcp", "serve"], cwd=folder)


def test_the_module_serves_from_a_folder_that_is_gone(tmp_path: Path) -> None:
    """There is no working folder to leave out."""
    folder = tmp_path / "gone"
    folder.mkdir()
    ours = [sys.executable, "-m", "skills_bundle", "mcp", "serve"]
    assert_serves(["/bin/sh", "-c", f'rmdir "{folder}" && exec "$@"', "sh", *ours], cwd=folder)


@pytest.mark.parametrize("folder", ["/", "skills"])
def test_the_module_serves_from_folders_hosts_use(folder: str) -> None:
    """The root; a project's own folder."""
    ours = [sys.executable, "-m", "skills_bundle", "mcp", "serve"]
    assert_serves(ours, cwd=Path(__file__).parents[2] / folder)


@pytest.mark.parametrize(
    "environment",
    [
        {"PYTHONWARNINGS": "error"},
        {"PYTHONDEVMODE": "1", "PYTHONASYNCIODEBUG": "1"},
        {"PYTHONVERBOSE": "1", "PYTHONPROFILEIMPORTTIME": "1"},
        {"PYTHONIOENCODING": "utf-16"},
        {"PYTHONIOENCODING": "ascii:strict", "LC_ALL": "C", "PYTHONUTF8": "0"},
        {"LC_ALL": "C", "LANG": "", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
        {"PYTHONOPTIMIZE": "2", "PYTHONNODEBUGRANGES": "1"},
        {"PYTHONINTMAXSTRDIGITS": "640", "PYTHONHASHSEED": "1"},
        {"PYTHONUNBUFFERED": "1", "PYTHONDONTWRITEBYTECODE": "1"},
        {"PYTHONSTARTUP": "/nowhere", "PYTHONBREAKPOINT": "nowhere.at.all"},
        {"PYTHONWARNDEFAULTENCODING": "1", "PYTHONMALLOC": "debug", "PYTHONFAULTHANDLER": "1"},
        {"PYTHONPLATLIBDIR": "lib", "PYTHONSAFEPATH": "1", "PYTHONNOUSERSITE": "1"},
        {"HOME": "/nowhere", "TMPDIR": "/nowhere", "TERM": "dumb", "COLUMNS": "1"},
    ],
    ids=",".join,
)
def test_no_variable_of_python_changes_the_wire(
    script: list[str], environment: dict[str, str]
) -> None:
    """Whatever a host or a shell profile exports."""
    assert_serves(script, environment=environment)


def test_a_python_that_stays_after_its_program_says_nothing_on_the_wire(script: list[str]) -> None:
    """What PYTHONINSPECT makes of the exit code is Python's."""
    done = converse(script, initialize(), environment={"PYTHONINSPECT": "1"})
    assert [message["id"] for message in messages_of(done)] == [0]


def test_an_environment_without_anything_is_enough(script: list[str]) -> None:
    """Not even PATH or HOME."""
    done = subprocess.run(
        script, input=line(initialize()), capture_output=True, timeout=60, check=False, env={}
    )
    assert [message["id"] for message in messages_of(done)] == [0]


def test_a_child_inherits_neither_end_of_the_wire() -> None:
    """Not even one that is started with every descriptor."""
    with started(ODD, call("descriptors")) as process:
        assert process.stdin
        assert process.stdout
        said = json.loads(process.stdout.readline())["result"]["structuredContent"]["said"]
        ours = [os.fstat(stream.fileno()).st_ino for stream in (process.stdin, process.stdout)]
    assert set(map(str, ours)) & set(said.split()) == set()


def test_descriptors_that_a_host_leaves_open_change_nothing() -> None:
    """Some hosts leak them."""
    reads, writes = os.pipe()
    done = converse(ODD, initialize(), call("chatter"), pass_fds=(reads, writes))
    os.set_blocking(reads, False)
    os.close(writes)
    leaked = os.read(reads, 1)
    os.close(reads)
    assert ([message["id"] for message in messages_of(done)], leaked) == ([0, 1], b"")


def test_one_socket_may_be_both_input_and_output() -> None:
    """As some hosts connect their children."""
    ours, theirs = socket.socketpair()
    both = theirs.detach()
    with ours, subprocess.Popen(ODD, stdin=both, stdout=both, env=ENVIRONMENT) as server:
        os.close(both)
        ours.sendall(line(initialize()) + line(request("ping")))
        ours.shutdown(socket.SHUT_WR)
        received = b"".join(iter(lambda: ours.recv(65536), b""))
        ids = [json.loads(answer)["id"] for answer in received.splitlines()]
        assert (ids, server.wait(30)) == ([0, 1], 0)


def test_descriptors_that_do_not_block_are_waited_for() -> None:
    """A host may share such an open file with us; "nothing there yet" is not the end."""
    reads, to_server = os.pipe()
    from_server, writes = os.pipe()
    os.set_blocking(reads, False)
    os.set_blocking(writes, False)
    with subprocess.Popen(ODD, stdin=reads, stdout=writes, env=ENVIRONMENT) as server:
        os.close(reads)
        os.close(writes)
        with os.fdopen(to_server, "wb") as requests, os.fdopen(from_server, "rb") as answers:
            requests.write(line(initialize()))
            requests.flush()
            first = json.loads(answers.readline())["id"]
            many = [call("echo", {"times": 50_000}, number) for number in range(1, 20)]
            requests.write(b"".join(map(line, many)))
            requests.close()
            rest = [json.loads(answer)["id"] for answer in answers]
        assert (first, rest, server.wait(30)) == (0, list(range(1, 20)), 0)


def test_the_output_may_be_a_file(tmp_path: Path) -> None:
    """Also while standard error is none; only the protocol gets into it."""
    answers = tmp_path / "answers.jsonl"
    with answers.open("wb") as stream:
        done = subprocess.run(
            ODD,
            input=line(initialize()) + line(call("chatter")),
            stdout=stream,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
            env=ENVIRONMENT,
        )
    ids = [json.loads(answer)["id"] for answer in answers.read_bytes().splitlines()]
    assert (ids, done.returncode, b"stray print at exit" in done.stderr) == ([0, 1], 0, True)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_an_output_that_takes_nothing_ends_the_server_with_an_error(script: list[str]) -> None:
    """A full disk is not a client that left."""
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            script,
            input=line(initialize()),
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
            env=ENVIRONMENT,
        )
    assert (done.returncode, b"cannot be written" in done.stderr) == (1, True)


def test_what_a_client_sends_cannot_fill_a_standard_error_that_nobody_reads() -> None:
    """Thousands of malformed notifications are not worth a word each."""
    malformed: Json = {
        "jsonrpc": "2.0",
        "method": "notifications/cancelled",
        "params": {"requestId": {}},
    }
    with started(ODD, *[malformed] * 5_000, request("ping")) as process:
        assert process.stdout
        assert json.loads(process.stdout.readline())["id"] == 1


def test_the_trace_of_a_crash_is_on_standard_error_and_not_on_the_wire() -> None:
    """Whoever runs the server can find the fault; a client cannot."""
    done = converse(ODD, initialize(), call("crash"))
    assert (b"secret detail" in done.stderr, b"secret detail" in done.stdout) == (True, False)

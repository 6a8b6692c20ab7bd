"""The file of a conversation: it replays, it is private, and it never ends the conversation."""

from __future__ import annotations

import json
import os
import resource
import stat
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from skills_bundle.server.trace import Trace, TraceError
from tests.server.odd_server import toolbox
from tests.server.peer import Peer, call, initialize, request
from tests.server.vectors import FOLDER, differences, exchange

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

EXCHANGES = sorted(FOLDER.glob("*.jsonl"))


def replay(path: Path, trace: Trace | None = None) -> list[str]:
    """Have a conversation again; give the differences."""
    found: list[str] = []
    with Peer(toolbox(), trace=trace) as peer:
        for kind, message in exchange(path):
            if kind == "send":
                peer.send(message)
            else:
                found += differences(message, peer.receive())
        return [*found, *map(str, peer.answers())]


def traced(path: Path) -> Trace:
    """Begin a file, which must go well to its end."""
    return Trace(str(path), pytest.fail)


@pytest.mark.parametrize("path", EXCHANGES, ids=[path.stem for path in EXCHANGES])
def test_a_trace_replays_as_a_conversation(path: Path, tmp_path: Path) -> None:
    """Equal answers, to every kind of line."""
    replay(path, traced(tmp_path / "trace.jsonl"))
    assert replay(tmp_path / "trace.jsonl") == []


@pytest.mark.parametrize("path", EXCHANGES, ids=[path.stem for path in EXCHANGES])
def test_the_trace_of_a_replay_is_the_trace(path: Path, tmp_path: Path) -> None:
    """Byte for byte: nothing in it depends on the run."""
    one, other = tmp_path / "one.jsonl", tmp_path / "other.jsonl"
    replay(path, traced(one))
    replay(one, traced(other))
    assert one.read_bytes() == other.read_bytes()


def test_lines_that_are_no_messages_replay(tmp_path: Path) -> None:
    """Bytes, and a line too long."""
    path = tmp_path / "trace.jsonl"
    with Peer(toolbox(), trace=traced(path)) as peer:
        peer.send(b"\xff\xfe", b"x" * (1 << 21), b"[]", initialize(), call("echo"))
        answers = len(peer.answers())
    kinds = [next(iter(json.loads(row))) for row in path.read_bytes().splitlines()]
    assert (replay(path), kinds.count("receive")) == ([], answers)


def test_a_secret_is_in_no_part_of_a_trace(tmp_path: Path) -> None:
    """Neither where the client wrote it nor where a tool repeats it."""
    path = tmp_path / "trace.jsonl"
    text = "Bearer hunter2-hunter2"
    with Peer(toolbox(), trace=traced(path)) as peer:
        peer.send(
            initialize(), call("echo", {"text": text}), request("ping", {"token": "hunter2x"})
        )
        echoed = [answer for answer in peer.answers() if text in json.dumps(answer)]
    assert (len(echoed), b"hunter2" in path.read_bytes()) == (1, False)


@contextmanager
def limited(size: int) -> Generator[None]:
    """Let no file of this process grow beyond a size, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.fixture
def filled(tmp_path: Path) -> tuple[list[Any], list[str], bytes]:
    """Trace onto a disk that is soon full; return answers, reports, and the file."""
    path, reports = tmp_path / "trace.jsonl", list[str]()
    with limited(2000), Peer(toolbox(), trace=Trace(str(path), reports.append)) as peer:
        peer.send(initialize(), *(call("echo", request_id=number) for number in range(1, 30)))
        answers = peer.answers()
    return answers, reports, path.read_bytes()


def test_a_full_disk_does_not_end_the_conversation(
    filled: tuple[list[Any], list[str], bytes],
) -> None:
    """Every answer comes."""
    assert [answer["id"] for answer in filled[0]] == list(range(30))


def test_a_full_disk_is_told_once(filled: tuple[list[Any], list[str], bytes]) -> None:
    """And why."""
    assert filled[1] == ["the trace ends here; the server continues: File too large."]


def test_a_full_disk_leaves_whole_steps(filled: tuple[list[Any], list[str], bytes]) -> None:
    """What was kept can still be replayed."""
    steps = [json.loads(row) for row in filled[2].splitlines()]
    assert (len(steps) > 2, filled[2][-1:]) == (True, b"\n")


def test_a_trace_is_for_its_owner_only(tmp_path: Path) -> None:
    """Whatever the umask."""
    before = os.umask(0)
    try:
        traced(tmp_path / "trace.jsonl")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "trace.jsonl").stat().st_mode) == 0o600


@pytest.mark.parametrize("kind", ["file", "link", "dangling link", "folder", "fifo"])
def test_what_exists_is_left_alone(kind: str, tmp_path: Path) -> None:
    """Also at the end of a link."""
    path, target = tmp_path / "trace.jsonl", tmp_path / "target"
    match kind:
        case "file":
            path.write_text("mine", encoding="utf-8")
        case "folder":
            path.mkdir()
        case "fifo":
            os.mkfifo(path)
        case _:
            path.symlink_to(target)
            if kind == "link":
                target.write_text("mine", encoding="utf-8")
    with pytest.raises(TraceError, match="exists"):
        traced(path)
    assert not target.exists() or target.read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize("name", ["missing/trace.jsonl", "\0", "x" * 300])
def test_a_file_that_cannot_be_made_is_a_usage_error(name: str, tmp_path: Path) -> None:
    """With the cause."""
    with pytest.raises(TraceError, match=r"cannot be created: .+") as caught:
        traced(tmp_path / name)
    assert caught.value.exit_code == 2


def test_a_start_can_have_a_file_of_its_own(tmp_path: Path) -> None:
    """A host starts servers again and again."""
    traced(tmp_path / "trace-{pid}.jsonl")
    assert [path.name for path in tmp_path.iterdir()] == [f"trace-{os.getpid()}.jsonl"]


def test_what_is_served_can_stand_at_the_beginning(tmp_path: Path) -> None:
    """As notes, which a replay passes over."""
    trace = traced(tmp_path / "trace.jsonl")
    trace.begin(["collection acme: 1.2.0", "collection other: 1.0"])
    replay(EXCHANGES[0], trace)
    first = (tmp_path / "trace.jsonl").read_text(encoding="utf-8").splitlines()[:2]
    assert [json.loads(line) for line in first] == [
        {"note": "collection acme: 1.2.0"},
        {"note": "collection other: 1.0"},
    ]
    assert replay(tmp_path / "trace.jsonl") == []

"""Laws of framing: chunks do not matter, and no bytes make it raise."""

from __future__ import annotations

import json
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from skills_bundle.formats import limits as format_limits
from skills_bundle.server import limits as server_limits
from skills_bundle.server.stdio import framing
from skills_bundle.server.stdio.framing import Line, LineBuffer, Refusal, Request, TooLong
from tests.server.odd_server import toolbox
from tests.server.peer import Peer, call, initialize, line

LIMIT = 8

streams = st.lists(
    st.sampled_from([b"\n", b"\r", b"x", b"xxxx", b"xxxxxxxx", b"\xef\xbb\xbf"]), max_size=40
).map(b"".join)

json_values = st.sampled_from(
    [None, True, 0, -1, 2**53, 1.5, "", "a", "x" * 2000, [], [1], {}, {"a": {"b": [None]}}]
)

envelopes = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.sampled_from(["2.0", "1.0", 2, None]),
        "id": json_values,
        "method": st.sampled_from(["ping", "", 1, None]),
        "params": json_values,
        "result": json_values,
        "error": json_values,
        "other": json_values,
    },
)


@given(streams, st.lists(st.integers(0, 200), max_size=8))
def test_lines_do_not_depend_on_how_they_are_cut(stream: bytes, cuts: list[int]) -> None:
    """Whole = byte by byte = any other way."""
    edges = [0, *sorted(cut % (len(stream) + 1) for cut in cuts), len(stream)]
    buffer = LineBuffer(LIMIT)
    pieces = [stream[a:b] for a, b in pairwise(edges)]
    assert [line for piece in pieces for line in buffer.feed(piece)] == LineBuffer(LIMIT).feed(
        stream
    )


@given(streams)
def test_lines_byte_by_byte_are_lines_as_a_whole(stream: bytes) -> None:
    """The smallest chunks there are."""
    buffer = LineBuffer(LIMIT)
    single = [line for byte in stream for line in buffer.feed(bytes([byte]))]
    assert single == LineBuffer(LIMIT).feed(stream)


@given(streams)
def test_every_line_is_whole_or_too_long(stream: bytes) -> None:
    """The buffer gives exactly what splitting would, each long line as one `TooLong`."""
    *whole, rest = stream.split(b"\n")
    expected = [TooLong() if len(line) > LIMIT else line for line in whole]
    expected += [TooLong()] if len(rest) > LIMIT else []
    found = [
        line.data if isinstance(line, Line) else line for line in LineBuffer(LIMIT).feed(stream)
    ]
    assert found == expected


@given(st.binary(max_size=200), st.booleans())
def test_any_bytes_give_a_message_a_refusal_or_nothing(data: bytes, first: bool) -> None:  # noqa: FBT001 - hypothesis passes by position
    """Parsing never raises."""
    assert isinstance(framing.parse(Line(data, first)), framing.Message | None)


@given(envelopes)
def test_any_object_gives_an_answer_that_fits_on_a_line(envelope: dict[str, object]) -> None:
    """A refusal's id is one we accept, so that its answer is bounded."""
    message = framing.parse(Line(json.dumps(envelope).encode()))
    if isinstance(message, Refusal):
        line = framing.encode(message.answer())
        assert line.endswith(b"\n")
        assert len(line) <= server_limits.REQUEST_ID_MAX_BYTES + 256


@given(
    st.text(max_size=40).filter(lambda text: text.isprintable())
    | st.integers(-format_limits.JSON_MAX_SAFE_INTEGER, format_limits.JSON_MAX_SAFE_INTEGER)
)
def test_an_accepted_id_comes_back_as_it_was(request_id: str | int) -> None:
    """Whatever its type and however it is escaped."""
    message = framing.parse(
        Line(json.dumps({"jsonrpc": "2.0", "id": request_id, "method": "ping"}).encode())
    )
    assert isinstance(message, Request)
    line = framing.encode({"jsonrpc": "2.0", "id": message.id, "result": {}})
    assert json.loads(line)["id"] == request_id


HELLO, ECHO, CRASH = line(initialize()), line(call("echo")), line(call("crash"))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.sampled_from([HELLO, ECHO, CRASH, b"\n", b"\xff\n", b"[]\n", b'{"id":1}\n', ECHO[:40]])
        | st.binary(max_size=30),
        max_size=20,
    )
)
def test_a_whole_server_fed_any_bytes_answers_in_form_and_ends_cleanly(pieces: list[bytes]) -> None:
    """Over real pipes: every line out is an answer, and the end of input is a clean end."""
    with Peer(toolbox()) as peer:
        peer.write(b"".join(pieces))
        answers = peer.answers()
        assert [answer for answer in answers if answer.get("jsonrpc") != "2.0"] == []
        assert peer.join().exit_code == 0

"""What is written down of a line, and what is not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from skills_bundle import limits
from skills_bundle.server.framing import Line, TooLong, parse
from skills_bundle.server.trace_steps import SECRET_NAMES, Recorder, TooManySecretsError
from tests.server.vectors import LineVector, lines, step

SECRET = "hunter2-hunter2"  # noqa: S105 - not one


def kept(data: bytes, *, first: bool = False) -> dict[str, Any]:
    """Give the step for one line."""
    return json.loads(Recorder().sent(Line(data, first)))


def message(**params: Any) -> bytes:
    """Give a request's line."""
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "m", "params": params}).encode()


def test_a_message_is_kept_as_an_object() -> None:
    """So that a person can read it."""
    assert kept(b'{"jsonrpc":"2.0","method":"m"}') == {"send": {"jsonrpc": "2.0", "method": "m"}}


@pytest.mark.parametrize("data", [b"npm warn", b"", b" \t", b'{"a":1,"a":2}', b"[]", b"1e999"])
def test_any_other_text_is_kept_as_it_is(data: bytes) -> None:
    """Byte for byte."""
    assert kept(data) == {"send": data.decode()}


def test_bytes_that_are_no_text_are_kept_as_hex() -> None:
    """Any bytes can be kept."""
    assert kept(b"\xff\x00") == {"send_hex": "ff00"}


def test_a_line_too_long_is_kept_as_one_that_is_too_long() -> None:
    """Its own bytes are gone."""
    (text, times), *rest = json.loads(Recorder().sent(TooLong()))["send_pieces"]
    assert (len(text) * times, rest) == (limits.REQUEST_LINE_MAX_BYTES + 1, [])


def test_a_long_message_is_kept_as_its_own_text() -> None:
    """Rendered again it could be too long."""
    data = message(text="\u00e9" * limits.TRACED_OBJECT_MAX_BYTES)
    assert kept(data) == {"send": data.decode()}


@pytest.mark.parametrize("row", lines(), ids=[row.why for row in lines()])
def test_what_is_kept_means_what_was_sent(row: LineVector) -> None:
    """For every kind of line there is."""
    first = row.first is True
    (kind, value), *_ = kept(row.data, first=first).items()
    _, again = step(kind, value)
    data = json.dumps(again).encode() if isinstance(again, dict) else again
    data = data.encode() if isinstance(data, str) else data
    told = TooLong() if len(data) > limits.REQUEST_LINE_MAX_BYTES else Line(data, first)
    line = TooLong() if len(row.data) > limits.REQUEST_LINE_MAX_BYTES else Line(row.data, first)
    assert parse(told) == parse(line)


@pytest.mark.parametrize("name", SECRET_NAMES)
@pytest.mark.parametrize("between", ["_", "-", ""])
def test_what_stands_under_a_secrets_name_is_left_out(name: str, between: str) -> None:
    """However the name is spelled."""
    spelled = name.replace("_", between).title()
    assert SECRET not in json.dumps(kept(message(_meta={spelled: SECRET})))


@pytest.mark.parametrize("value", [[SECRET], {"a": {"b": SECRET}}, f"Bearer {SECRET}", 1234567890])
def test_a_secret_is_left_out_whatever_its_shape(value: Any) -> None:
    """With everything below the name."""
    step_ = kept(message(token=value))
    assert step_["send"]["params"] == {"token": "[redacted]"}


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "Basic", "token"])
def test_credentials_are_known_by_their_form(scheme: str) -> None:
    """Under any name."""
    assert SECRET not in json.dumps(kept(message(query=f"{scheme} {SECRET}")))


def test_other_names_and_texts_are_kept() -> None:
    """A progress token is no secret, and neither is a text about tokens."""
    params = {"_meta": {"progressToken": 7}, "query": "what a bearer token is"}
    assert kept(message(**params))["send"]["params"] == params


def test_a_copy_of_a_secret_in_the_answer_is_left_out() -> None:
    """Also inside JSON inside a string."""
    secret = 'quote"backslash\\hunter2'  # noqa: S105 - not one
    recorder = Recorder()
    recorder.sent(Line(message(query=f"Bearer {secret}", token=secret)))
    answer = json.dumps({"text": json.dumps({"query": f"Bearer {secret}"}), secret: secret})
    assert b"hunter2" not in recorder.received(answer.encode() + b"\n")


def test_a_copy_of_a_secret_in_a_later_line_is_left_out() -> None:
    """Message or not."""
    recorder = Recorder()
    recorder.sent(Line(message(token=SECRET)))
    later = [message(query=f"x {SECRET}"), f"npm warn {SECRET}".encode(), f"\xff{SECRET}".encode()]
    assert not [data for data in later if SECRET.encode() in recorder.sent(Line(data))]


def test_a_short_secret_does_not_tear_up_the_rest() -> None:
    """Its copies cannot be told from other text."""
    recorder = Recorder()
    recorder.sent(Line(message(cookie="a")))
    assert recorder.received(b'{"result":"alpha"}\n') == b'{"receive":{"result":"alpha"}}\n'


@pytest.mark.parametrize(
    "data",
    [
        b'{"authorization":"' + SECRET.encode() + b'","a":1,"a":2}',
        b"Authorization: Bearer " + SECRET.encode(),
        b'{"Api-Key":"' + SECRET.encode(),
        b'\xff{"token":"' + SECRET.encode(),
        b'{"\\u0074oken":"' + SECRET.encode() + b'"',
    ],
)
def test_an_unreadable_line_with_a_secrets_name_is_replaced_by_one_as_unreadable(
    data: bytes,
) -> None:
    """It is answered alike."""
    _, again = step(*next(iter(kept(data).items())))
    assert (SECRET.encode() in again, parse(Line(again))) == (False, parse(Line(data)))


def test_too_many_secrets_to_watch_for_are_refused() -> None:
    """Memory and time are bounded."""
    secrets = [f"{SECRET}{number}" for number in range(limits.TRACE_MAX_SECRETS + 1)]
    with pytest.raises(TooManySecretsError):
        kept(message(token=secrets))

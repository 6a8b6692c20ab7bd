"""What is written down of a line, and what is not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from skills_bundle.server import limits
from skills_bundle.server.stdio.framing import Line, TooLong, parse
from skills_bundle.server.trace import Recorder, UntraceableError
from tests.server.vectors import LineVector, lines, step

SECRET = "hunter2-hunter2"  # noqa: S105 - not one


def kept(data: bytes, *, first: bool = False) -> dict[str, Any]:
    """Return the step for one line."""
    return json.loads(Recorder().sent(Line(data, first)))


def message(**params: Any) -> bytes:
    """Return a request's line."""
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
    recorded = TooLong() if len(data) > limits.REQUEST_LINE_MAX_BYTES else Line(data, first)
    line = TooLong() if len(row.data) > limits.REQUEST_LINE_MAX_BYTES else Line(row.data, first)
    assert parse(recorded) == parse(line)


@pytest.mark.parametrize(
    "name",
    [
        "Authorization",
        "x-auth-token",
        "GITHUB_TOKEN",
        "OPENAI_API_KEY",
        "OPENAIKey",
        "user_password",
        "pwd",
        "pass",
        "sessionId",
        "secretKey",
        " token",
        "accesstoken",
        "apikey",
        "Set-Cookie",
        "clientSecret",
        "private_key",
    ],
)
def test_what_stands_under_a_secrets_name_is_left_out(name: str) -> None:
    """However the name is spelled."""
    assert SECRET not in json.dumps(kept(message(_meta={name: SECRET})))


@pytest.mark.parametrize(
    "name", ["progressToken", "cursor", "nextCursor", "keyboard", "maxTokens", "author", "query"]
)
def test_what_stands_under_another_name_is_kept(name: str) -> None:
    """Or replays would be answered otherwise."""
    assert kept(message(a={name: "plain text"}))["send"]["params"] == {"a": {name: "plain text"}}


@pytest.mark.parametrize("name", ["name", "key"])
def test_a_value_beside_a_secrets_name_is_left_out(name: str) -> None:
    """As headers are often written."""
    headers = [{name: "X-Api-Key", "value": SECRET}]
    left = kept(message(headers=headers))["send"]["params"]["headers"]
    assert left == [{name: "X-Api-Key", "value": "[redacted]"}]


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (f"curl -H 'Authorization: Bearer {SECRET}' x", "curl -H 'Authorization: Bearer {}' x"),
        (f"use Bearer {SECRET} here", "use Bearer {} here"),
        (f"https://u:{SECRET}@h/p", "https://{}@h/p"),
        (f"https://h/?access_token={SECRET}&a=1", "https://h/?access_token={}&a=1"),
        (f"TOKEN={SECRET}", "TOKEN={}"),
        (f'say "password": "{SECRET}"', 'say "password": "{}"'),
        ("see ghp_" + "a1B2" * 9, "see {}"),
        ("see sk-" + "a1B2" * 9, "see {}"),
        ("AKIA" + "A1B2" * 4, "{}"),
    ],
)
def test_a_secret_inside_a_text_is_left_out(text: str, left: str) -> None:
    """What is around it stays."""
    assert kept(message(env=[text]))["send"]["params"]["env"] == [left.format("[redacted]")]


def test_a_copy_that_is_a_number_is_left_out() -> None:
    """As the secret was."""
    params = kept(message(token=1234567890, other=1234567890))["send"]["params"]
    assert params["other"] == "[redacted]"


@pytest.mark.parametrize(
    "line",
    [
        {"jsonrpc": "2.0", "id": SECRET, "method": "m", "params": {"token": SECRET}},
        {"jsonrpc": "2.0", "id": f"Bearer {SECRET}", "method": "m"},
        {"jsonrpc": "2.0", "id": 1, "method": SECRET, "params": {"token": SECRET}},
        {"jsonrpc": "2.0", "id": 1, "method": "m", "params": {"token": SECRET, SECRET: 1}},
    ],
)
def test_a_secret_where_nothing_is_rewritten_ends_the_trace(line: dict[str, Any]) -> None:
    """Another id, method or name would be answered otherwise."""
    with pytest.raises(UntraceableError, match="cannot be redacted"):
        kept(json.dumps(line).encode())


@pytest.mark.parametrize(
    "answer",
    [
        {"id": 1, "result": {"structuredContent": 1}},
        {"id": 1, "result": {"text": "structuredContent"}},
        {"id": 1, "error": {"message": "structuredContent"}},
    ],
)
def test_a_word_of_the_server_is_not_rewritten(answer: dict[str, Any]) -> None:
    """The trace ends rather than replay otherwise."""
    recorder = Recorder()
    recorder.sent(Line(message(token="structuredContent")))  # noqa: S106 - not one
    with pytest.raises(UntraceableError):
        recorder.received(json.dumps(answer).encode() + b"\n")


@pytest.mark.parametrize("value", [[SECRET], {"a": {"b": SECRET}}, f"Bearer {SECRET}", 1234567890])
def test_a_secret_of_any_shape_is_left_out(value: Any) -> None:
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
    sent = message(query=f"Bearer {secret}", token=secret).replace(b'"m"', b'"tools/call"')
    recorder.sent(Line(sent))
    text = json.dumps({"query": f"Bearer {secret}"})
    answer = json.dumps({"id": 1, "result": {"text": text, "copy": secret}})
    assert b"hunter2" not in recorder.received(answer.encode() + b"\n")


def test_a_copy_of_a_secret_in_a_later_line_is_left_out() -> None:
    """Message or not."""
    recorder = Recorder()
    recorder.sent(Line(message(token=SECRET)))
    later = [message(query=f"x {SECRET}"), f"npm warn {SECRET}".encode(), f"\xff{SECRET}".encode()]
    assert not [data for data in later if SECRET.encode() in recorder.sent(Line(data))]


def test_a_short_secret_does_not_tear_up_the_rest() -> None:
    """Its copies look like other text."""
    recorder = Recorder()
    recorder.sent(Line(message(cookie="a")))
    assert recorder.received(b'{"result":"alpha"}\n') == b'{"receive":{"result":"alpha"}}\n'


@pytest.mark.parametrize(
    "data",
    [
        b'{"authorization":"' + SECRET.encode() + b'","a":1,"a":2}',
        b"Authorization: Bearer " + SECRET.encode(),
        b'{"Api-Key":"' + SECRET.encode(),
        b"ANTHROPIC_KEY=" + SECRET.encode(),
        b'{"pass":"' + SECRET.encode() + b'"',
        b"see ghp_" + SECRET.encode() + b"hunter2",
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
    with pytest.raises(UntraceableError):
        kept(message(token=secrets))

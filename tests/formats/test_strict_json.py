"""Strict JSON: what is refused, with which code and line, and how much work a refusal may take."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from skills_bundle.errors import MalformedJsonError
from skills_bundle.formats import limits, strict_json

VECTORS = Path(__file__).parent.parent / "vectors" / "strict_json"
ACCEPT = sorted((VECTORS / "accept").glob("*.json"))
REFUSE = sorted((VECTORS / "refuse").glob("*.json"))
LIMIT = 1 << 20


def refusal(data: bytes, limit: int = LIMIT) -> MalformedJsonError:
    """Return the error that reading must raise."""
    with pytest.raises(MalformedJsonError) as caught:
        strict_json.loads(data, limit=limit)
    return caught.value


def lines(data: bytes) -> list[tuple[str, int | None]]:
    """Return code and line of every problem."""
    return [(problem.code, problem.line) for problem in refusal(data).problems]


@pytest.mark.parametrize("file", ACCEPT, ids=lambda file: file.stem)
def test_accepted_vectors_give_what_the_standard_library_gives(file: Path) -> None:
    """Strictness refuses; it never changes a value."""
    data = file.read_bytes()
    assert strict_json.loads(data, limit=LIMIT) == json.loads(data)


@pytest.mark.parametrize("file", REFUSE, ids=lambda file: file.stem)
def test_refused_vectors_name_their_cause(file: Path) -> None:
    """The file's name begins with the code."""
    error = refusal(file.read_bytes())
    assert {problem.code for problem in error.problems} == {file.name.split("--")[0]}


def test_vectors_are_found() -> None:
    """A moved folder must not turn the tests above into none."""
    assert len(ACCEPT) >= 20
    assert len(REFUSE) >= 50


def test_a_byte_order_mark_is_skipped_where_the_wire_allows_one() -> None:
    """One, at the start."""
    assert strict_json.loads(b"\xef\xbb\xbf1", limit=LIMIT, allow_bom=True) == 1


def test_a_second_byte_order_mark_is_refused_even_then() -> None:
    """It is no white space."""
    with pytest.raises(MalformedJsonError):
        strict_json.loads(b"\xef\xbb\xbf\xef\xbb\xbf1", limit=LIMIT, allow_bom=True)


def test_the_limit_is_in_bytes_and_inclusive() -> None:
    """Four bytes are read under a limit of four."""
    assert strict_json.loads(b'"ab"', limit=4) == "ab"


def test_one_byte_over_the_limit_is_refused_unread() -> None:
    """The bytes are not even decoded: these are no UTF-8."""
    assert [row.code for row in refusal(b"\xff\xff\xff", limit=2).problems] == ["json_too_large"]


def test_every_repeated_key_is_told_with_its_line() -> None:
    """All problems at once."""
    data = b'{"a": 1,\n "a": 2,\n "b": {"c": 1,\n "c": 2}}'
    assert lines(data) == [("json_duplicate_key", 2), ("json_duplicate_key", 4)]


def test_faults_of_different_kinds_are_told_together() -> None:
    """In the order of the text."""
    data = b'{"a": NaN,\n "b": 1e999,\n "b": "\\ud800"}'
    assert lines(data) == [
        ("json_number", 1),
        ("json_number", 2),
        ("json_duplicate_key", 3),
        ("json_surrogate", 3),
    ]


def test_a_syntax_error_names_its_line() -> None:
    """And the column in the sentence."""
    assert lines(b'{"a": 1,\n\n oops}') == [("json_syntax", 3)]


def test_bytes_that_are_not_utf_8_name_their_line() -> None:
    """Counted in line feeds before them."""
    assert lines(b'["a",\n"\xff"]') == [("json_encoding", 2)]


def test_depth_names_the_line_where_it_becomes_too_much() -> None:
    """65 containers are fine, the 66th is not."""
    assert lines(b"[\n" * 66) == [("json_too_deep", 66)]


def test_brackets_inside_strings_do_not_nest() -> None:
    """Nor do escaped quotes end one."""
    text = '"' + '\\"' * 10 + "[" * 1000 + '"'
    assert strict_json.loads(text.encode(), limit=LIMIT) == '"' * 10 + "[" * 1000


def test_a_long_number_is_not_quoted_whole() -> None:
    """A message stays readable."""
    assert len(str(refusal(b"1" * 100_000))) < 200


@pytest.mark.parametrize(
    "data",
    [b'"' + b"\\" * LIMIT, b'"\\"' * 300_000, b"[" * LIMIT, b'{"a":' * 200_000, b"1" * LIMIT],
    ids=["backslashes", "escaped quotes", "arrays", "objects", "digits"],
)
def test_hostile_input_is_refused_without_trying_again_and_again(data: bytes) -> None:
    """A megabyte that would cost minutes if any step looked back; this suite would not end."""
    assert refusal(data[:LIMIT]).problems


def test_depth_is_counted_as_limits_says() -> None:
    """The outermost value has depth 0."""
    deepest = b"[" * (limits.JSON_MAX_DEPTH + 1) + b"]" * (limits.JSON_MAX_DEPTH + 1)
    assert strict_json.loads(deepest, limit=LIMIT) is not None


def test_pretty_is_two_spaces_raw_unicode_and_a_final_newline() -> None:
    """Keys stay in the order given."""
    value: dict[str, object] = {"b": [1, {"é": None}], "a": {}}
    expected = '{\n  "b": [\n    1,\n    {\n      "é": null\n    }\n  ],\n  "a": {}\n}\n'
    assert strict_json.pretty(value).decode() == expected  # type: ignore[arg-type]


def test_compact_has_no_white_space() -> None:
    """Nor an end of line."""
    assert strict_json.compact({"a": [1, "ß"]}) == '{"a":[1,"ß"]}'.encode()


@pytest.mark.parametrize("render", [strict_json.pretty, strict_json.compact])
@pytest.mark.parametrize("value", [float("nan"), float("inf"), "\ud800"])
def test_what_is_not_json_is_not_rendered(render: object, value: object) -> None:
    """Rather an error here than a file nobody can read."""
    with pytest.raises(ValueError, match=r"JSON|surrogates"):
        render([value])  # type: ignore[operator]

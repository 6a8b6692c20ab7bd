"""Laws of strict JSON: any bytes give a value or our error; what is read is what was written."""

from __future__ import annotations

import json

from hypothesis import example, given
from hypothesis import strategies as st

from skills_bundle.errors import MalformedJsonError, Problem
from skills_bundle.formats import strict_json

LIMIT = 1 << 20

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**80), 2**80)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner, max_size=4)
    ),
    max_leaves=20,
)

fragments = st.lists(
    st.sampled_from(
        [
            b"{",
            b"}",
            b"[",
            b"]",
            b":",
            b",",
            b'"',
            b"\\",
            b"\\ud800",
            b"\\u0061",
            b"a",
            b'"a"',
            b" ",
            b"\n",
            b"1",
            b"-",
            b".",
            b"e9",
            b"1e999",
            b"NaN",
            b"-Infinity",
            b"null",
            b"true",
            b"\xff",
            b"\xef\xbb\xbf",
            b"\x00",
            b"9" * 70,
        ]
    ),
    max_size=30,
).map(b"".join)


def refusal(data: bytes) -> tuple[Problem, ...] | None:
    """Return the problems of bytes that are refused, else None."""
    try:
        strict_json.loads(data, limit=LIMIT)
    except MalformedJsonError as error:
        return error.problems
    return None


@given(st.one_of(st.binary(max_size=200), fragments))
@example(b'{"a":1,"a":NaN')
@example(b"NaNa]")
def test_any_bytes_give_a_value_or_a_refusal_with_a_reason(data: bytes) -> None:
    """And nothing else is ever raised."""
    problems = refusal(data)
    assert problems is None or len(problems) > 0


@given(st.one_of(st.binary(max_size=200), fragments))
def test_what_is_accepted_is_what_the_standard_library_reads(data: bytes) -> None:
    """Strictness takes away, and changes nothing."""
    try:
        value = strict_json.loads(data, limit=LIMIT)
    except MalformedJsonError:
        return
    assert repr(value) == repr(json.loads(data))


@given(values)
def test_both_renderings_are_read_back(value: object) -> None:
    """What we write, we read; types included."""
    for render in (strict_json.pretty, strict_json.compact):
        data = render(value)  # type: ignore[arg-type]
        assert repr(strict_json.loads(data, limit=LIMIT)) == repr(value)


@given(values)
def test_escapes_change_no_value(value: object) -> None:
    """ASCII rendering by another writer."""
    data = json.dumps(value, ensure_ascii=True).encode()
    assert strict_json.loads(data, limit=LIMIT) == value


@given(values, st.integers(0, 10_000))
def test_a_truncated_document_is_never_accepted_as_another_container(
    value: object, cut: int
) -> None:
    """A list or object that lost its end is refused."""
    data = strict_json.compact([value])  # type: ignore[list-item]
    assert refusal(data[: cut % len(data)])

"""TOML from outside: tables, or one problem with its place, and never an error of another kind."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skills_bundle.errors import SettingsError
from skills_bundle.formats import limits, toml

WRONG = {
    "no TOML": (b"a = 1\n[b\n", "a.toml:2: is not TOML"),
    "ends too early": (b"a = 1\nb = [", "a.toml:2: is not TOML"),
    "not UTF-8": (b"a = 1\nb = '\xe9'\n", "a.toml:2: is not UTF-8"),
    "a byte order mark": (b"\xef\xbb\xbfa = 1\n", "a.toml:1: starts with a byte order mark"),
    "arrays": (b"a = " + b"[" * 5_000 + b"]" * 5_000, "a.toml: is nested more than 100 deep"),
    "tables": (b"a = " + b"{a = " * 5_000 + b"1" + b"}" * 5_000, "is nested more than 100 deep"),
    "a dotted key": (b"a" + b".a" * 5_000 + b" = 1", "a.toml: is nested more than 100 deep"),
    "a number": (b"a = " + b"9" * 5_000, "a.toml: contains a number with too many digits"),
}


@pytest.mark.parametrize(("data", "told"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_read_is_told_with_its_place(data: bytes, told: str) -> None:
    """Also where Python itself gives up."""
    with pytest.raises(SettingsError) as caught:
        toml.parse(data, "a.toml")
    assert told in str(caught.value)


def test_a_document_may_be_nested_as_deep_as_the_limit_says() -> None:
    """Its own table counts."""
    deep = limits.TOML_MAX_DEPTH - 1
    assert toml.parse(b"a = " + b"[" * (deep - 1) + b"]" * (deep - 1), "a.toml")
    with pytest.raises(SettingsError, match="nested"):
        toml.parse(b"a = " + b"[" * (deep + 1) + b"]" * (deep + 1), "a.toml")


def test_line_ends_of_windows_are_line_ends() -> None:
    """As TOML says."""
    assert toml.parse(b"a = 1\r\n[b]\r\n", "a.toml") == {"a": 1, "b": {}}


@given(st.binary())
def test_any_bytes_give_tables_or_a_settings_error(data: bytes) -> None:
    """Nothing else comes out."""
    with suppress(SettingsError):
        assert isinstance(toml.parse(data, "a.toml"), dict)

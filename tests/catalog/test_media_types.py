"""Media types by ending."""

from __future__ import annotations

import pytest

from skills_bundle.catalog import reading


@pytest.mark.parametrize(
    ("path", "media_type"),
    [
        ("SKILL.md", "text/markdown"),
        ("references/A.MD", "text/markdown"),
        ("scripts/run.py", "text/x-python"),
        ("data/x.tar.json", "application/json"),
        ("LICENSE", "text/plain"),
        (".md", "text/plain"),
        ("a.md/file", "text/plain"),
        ("x.unknown", "text/plain"),
        ("x.", "text/plain"),
    ],
)
def test_the_ending_of_the_name_decides(path: str, media_type: str) -> None:
    """In any letter case; whatever has none we know is plain text."""
    assert reading.text_type(path) == media_type


@pytest.mark.parametrize(
    ("path", "media_type"),
    [("a.md", "text/markdown"), ("a.PNG", "image/png"), ("LICENSE", None), ("a.bin", None)],
)
def test_a_name_alone_tells_a_media_type_or_none(path: str, media_type: str | None) -> None:
    """Where the bytes were not looked at, nothing is guessed."""
    assert reading.type_by_name(path) == media_type


@pytest.mark.parametrize(
    ("path", "is_text", "media_type"),
    [
        ("LICENSE", True, "text/plain"),
        ("a.bin", False, "application/octet-stream"),
        ("a.png", False, "image/png"),
        ("latin.txt", False, "text/plain"),
    ],
)
def test_bytes_that_were_read_always_have_a_media_type(
    path: str, *, is_text: bool, media_type: str
) -> None:
    """The ending decides, else whether it is text."""
    assert reading.type_of(path, is_text=is_text) == media_type


@pytest.mark.parametrize("table", [reading.BY_SUFFIX, reading.BINARY_BY_SUFFIX])
def test_a_table_is_sorted_and_lower_case(table: dict[str, str]) -> None:
    """So that an ending is easy to find, and found."""
    assert list(table) == sorted(table)
    assert all(suffix == suffix.lower() for suffix in table)


def test_no_ending_is_in_both_tables() -> None:
    """A file is one or the other."""
    assert not reading.BY_SUFFIX.keys() & reading.BINARY_BY_SUFFIX.keys()

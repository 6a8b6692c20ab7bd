"""What may be read, media types, and how a long file is cut."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skills_bundle.catalog import limits, reading
from skills_bundle.errors import ToolError


@pytest.mark.parametrize(
    ("resource", "readable"),
    [
        ("SKILL.md", True),
        ("references/a.md", True),
        ("references/deep/er/a.MD", True),
        ("references/.a.md", True),
        ("skill.md", False),
        ("References/a.md", False),
        ("references/a.txt", False),
        ("references.md", False),
        ("references/amd", False),
        ("a/references/a.md", False),
        ("a/SKILL.md", False),
    ],
)
def test_the_markdown_rule(resource: str, *, readable: bool) -> None:
    """SKILL.md, and Markdown below `references/`."""
    assert reading.is_markdown_resource(resource) is readable


@given(
    text=st.text(max_size=200),
    limit=st.integers(min_value=limits.READ_MIN_LIMIT, max_value=60),
)
def test_pages_joined_together_are_the_file(text: str, limit: int) -> None:
    """Whatever the characters, each page is of whole ones and no longer than the limit."""
    data, offset, pages = text.encode(), 0, list[str]()
    while True:
        page = reading.page(data, offset, limit)
        pages.append(page.content)
        assert len(page.content.encode()) <= limit
        assert page.remaining == len(data) - offset - len(page.content.encode())
        if page.next_offset is None:
            break
        assert page.next_offset > offset
        offset = page.next_offset
    assert "".join(pages) == text


@pytest.mark.parametrize("piece", ["\0", '"', "\\", '"x', "\x7f", "\n", "é", "🦊", "a"])
def test_a_page_always_fits_a_response(piece: str) -> None:
    """It is cut shorter where its characters are long in JSON, and paging gets on all the same."""
    data = (piece * (limits.READ_MAX_LIMIT + 1)).encode()
    page = reading.page(data, 0, limits.READ_MAX_LIMIT)
    text = json.dumps(page.content, ensure_ascii=False)
    assert len((text + json.dumps(text, ensure_ascii=False)).encode()) <= (
        limits.READ_PAGE_MAX_JSON_BYTES
    )
    assert page.next_offset is not None
    assert page.next_offset >= limits.READ_DEFAULT_LIMIT


@pytest.mark.parametrize("piece", ["a", "é", "🦊", "a\n", "\n"])
def test_a_page_of_plain_text_is_as_long_as_asked(piece: str) -> None:
    """Only quotes, backslashes and control characters make it shorter."""
    data = (piece * (limits.READ_MAX_LIMIT + 1)).encode()
    assert reading.page(data, 0, limits.READ_MAX_LIMIT).next_offset == limits.READ_MAX_LIMIT


@pytest.mark.parametrize(("offset", "content"), [(0, "é🦊"), (2, "🦊"), (6, "")])
def test_a_page_may_start_at_any_character(offset: int, content: str) -> None:
    """At the very end it is empty."""
    assert reading.page("é🦊".encode(), offset, 100).content == content


@pytest.mark.parametrize("offset", [1, 3, 4, 5, 7])
def test_a_page_starts_neither_inside_a_character_nor_beyond_the_end(offset: int) -> None:
    """Such an offset is nobody's `next_offset`."""
    with pytest.raises(ToolError) as refused:
        reading.page("é🦊".encode(), offset, 100)
    assert refused.value.code == "invalid_input"


@pytest.mark.parametrize("data", [b"\xff", b"ok \xc3", b"\xed\xa0\x80", b"\xc0\x80"])
def test_bytes_that_are_not_utf8_are_binary(data: bytes) -> None:
    """Also when the first page alone would be text; the message has size and media type."""
    problem = reading.text_problem("a.png", data)
    assert problem is not None
    assert problem.code == "binary_resource"
    assert f"{len(data)} bytes of image/png" in problem.message


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

"""Laws of frontmatter: any bytes give a report; what is accepted is JSON and means one thing."""

from __future__ import annotations

import json

import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from skills_bundle.formats import strict_json
from skills_bundle.skills import frontmatter

LIMIT = 1 << 20

pieces = st.lists(
    st.sampled_from(
        [
            "name",
            "description",
            ": ",
            ":",
            "\n",
            "\r\n",
            "\r",
            "  ",
            "- ",
            "? ",
            "'",
            '"',
            "\\",
            "[",
            "]",
            "{",
            "}",
            ",",
            "#",
            " #",
            "&a ",
            "*a",
            "!t ",
            "!!str ",
            "|",
            ">",
            ">-",
            "~",
            "yes",
            "017",
            "1e3",
            ".inf",
            "2026-01-01",
            "<<",
            "---",
            "...",
            "%",
            "@",
            "`",
            "\t",
            "é",
            "\u2028",
            "\x85",
            "\ud83d",
            "x",
            "text",
            "\\ud800",
            "\\UFFFFFFFF",
            "\x00",
            "\ufeff",
            "\U000f0000",
        ]
    ),
    max_size=25,
).map("".join)

plain_text = st.text(
    st.characters(min_codepoint=32, max_codepoint=0x2FF, exclude_characters="\x7f"), max_size=40
).filter(lambda text: not any(0x7F <= ord(character) < 0xA0 for character in text))


def document(head: str) -> bytes:
    """Return a SKILL.md with this head; half characters stay half."""
    return f"---\n{head}\n---\nBody\n".encode("utf-8", "surrogatepass")


@given(st.one_of(st.binary(max_size=200), pieces.map(document)))
@example(b"---\n---\n")
def test_any_bytes_give_a_report(data: bytes) -> None:
    """Fields, or a diagnostic that refuses; nothing is raised."""
    head = frontmatter.parse(data)
    assert head.refused or isinstance(head.fields, dict)
    assert 0 <= head.body_offset <= len(data)


@given(pieces.map(document))
def test_what_is_accepted_is_strict_json(data: bytes) -> None:
    """A lock can hold it, and gives it back as it was."""
    head = frontmatter.parse(data)
    if not head.refused:
        text = strict_json.compact(head.fields)
        assert repr(strict_json.loads(text, limit=LIMIT)) == repr(head.fields)


@given(pieces.map(document))
def test_lines_lie_in_the_file(data: bytes) -> None:
    """Every diagnostic and every field names one that is there."""
    head = frontmatter.parse(data)
    last = data.count(b"\n") + data.count(b"\r") + 1
    lines = [row.line for row in head.diagnostics if row.line is not None]
    assert all(1 <= line <= last for line in [*lines, *head.lines.values()])


@given(pieces.filter(lambda head: "\r" not in head).map(document))
def test_line_ends_change_no_value(data: bytes) -> None:
    """The CRLF twin says the same, with the same diagnostics."""
    one, other = frontmatter.parse(data), frontmatter.parse(data.replace(b"\n", b"\r\n"))
    assert (one.fields, one.parse_mode) == (other.fields, other.parse_mode)
    assert [row.code for row in one.diagnostics] == [row.code for row in other.diagnostics]


@given(pieces.map(document))
def test_what_is_called_clean_is_what_pyyaml_constructs(data: bytes) -> None:
    """No diagnostic, no difference: a reader of YAML 1.1 sees the same values."""
    head = frontmatter.parse(data)
    if not head.diagnostics:
        text = data[: head.body_offset].decode().split("\n", 1)[1].rstrip().removesuffix("---")
        assert repr(yaml.safe_load(text)) == repr(head.fields)


@given(plain_text.filter(str.strip))
def test_any_quoted_text_comes_back_exactly(text: str) -> None:
    """JSON's quoting is YAML's double quoting."""
    head = frontmatter.parse(document(f"description: {json.dumps(text, ensure_ascii=False)}"))
    assert head.fields == {"description": text}


words = st.text(st.sampled_from("abcXYZ019.,;()-/é小'\""), min_size=1, max_size=8).filter(
    lambda word: word[0] not in "-'\",.;"
)


@given(st.lists(words, min_size=2, max_size=8), st.integers(1, 7))
def test_an_unquoted_colon_is_read_as_the_text_it_stands_in(parts: list[str], at: int) -> None:
    """Exactly, and every other field is kept."""
    at = min(at, len(parts) - 1)
    text = f"{' '.join(parts[:at])}: {' '.join(parts[at:])}"
    head = frontmatter.parse(document(f"name: x\ndescription: {text}\nallowed-tools: Read"))
    assert head.fields == {"name": "x", "description": text, "allowed-tools": "Read"}
    assert head.parse_mode == "repaired"

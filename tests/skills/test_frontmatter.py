"""Frontmatter: values by YAML 1.2, every fault named with its line, bounded work on any input."""

from __future__ import annotations

import importlib
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from skills_bundle.skills import frontmatter, limits

if TYPE_CHECKING:
    from pydantic import JsonValue

    from skills_bundle.skills.frontmatter import Frontmatter

pytestmark = pytest.mark.slow

VECTORS = Path(__file__).parent.parent / "vectors" / "frontmatter"
ACCEPT = sorted((VECTORS / "accept").glob("*.md"))
REFUSE = sorted((VECTORS / "refuse").glob("*.md"))
accepted = pytest.mark.parametrize("file", ACCEPT, ids=lambda file: file.stem)
refused = pytest.mark.parametrize("file", REFUSE, ids=lambda file: file.stem)

ALWAYS_TEXT = {"name", "description"}

RUAMEL_DEPARTS = {
    "two_ends",  # takes the second `...` for a document
    "line_separators",  # ends lines at them, as YAML 1.1 does
    "next_line_character",
    "yaml_1_1_dates",  # constructs dates, which the core schema has not
    "yaml_1_1_equals",  # fails
    "yaml_1_1_numbers",  # keeps `0b101` and `1_000`
}
"""Vectors where ruamel.yaml does not follow YAML 1.2's core schema."""


def expected(file: Path) -> dict[str, object]:
    """Return the expected result stored with a vector."""
    return json.loads(file.with_suffix(".json").read_text(encoding="utf-8"))


def rows(head: Frontmatter) -> list[dict[str, object]]:
    """Return the diagnostics as vectors write them."""
    return [{"code": row.code, "line": row.line} for row in head.diagnostics]


def parse(head: str) -> Frontmatter:
    """Read a SKILL.md with this YAML head."""
    return frontmatter.parse(f"---\n{head}\n---\n".encode())


@accepted
def test_accepted_vectors_give_their_fields(file: Path) -> None:
    """Values, and the order of the author."""
    head = frontmatter.parse(file.read_bytes())
    assert json.dumps(head.fields) == json.dumps(expected(file)["fields"])


@accepted
def test_accepted_vectors_give_their_diagnostics(file: Path) -> None:
    """What is tolerated is told."""
    head = frontmatter.parse(file.read_bytes())
    wanted = expected(file)
    assert (head.parse_mode, head.body_offset, rows(head)) == (
        wanted["parse_mode"],
        wanted["body_offset"],
        wanted["diagnostics"],
    )


@refused
def test_refused_vectors_name_cause_and_line(file: Path) -> None:
    """And they are refused."""
    head = frontmatter.parse(file.read_bytes())
    assert (head.refused, rows(head)) == (True, expected(file)["diagnostics"])


@refused
def test_refused_vectors_are_about_the_code_in_their_name(file: Path) -> None:
    """So that a vector cannot be refused for another reason."""
    codes = {row.code for row in frontmatter.parse(file.read_bytes()).diagnostics}
    assert file.name.split("--")[0] in codes


def test_vectors_are_found() -> None:
    """A moved folder must not turn the tests above into none."""
    assert (len(ACCEPT) >= 40, len(REFUSE) >= 55) == (True, True)


def yaml_text(file: Path) -> str:
    """Return the YAML of a vector that is read strictly."""
    data = file.read_bytes()
    text = data[: frontmatter.parse(data).body_offset].decode("utf-8-sig").replace("\r\n", "\n")
    return text.split("\n", 1)[1].rstrip().removesuffix("---")


def is_strict(file: Path) -> bool:
    """Return whether other readers can be expected to read a vector."""
    return expected(file)["parse_mode"] == "strict"


def is_for_ruamel(file: Path) -> bool:
    """Return whether ruamel.yaml can read it."""
    return is_strict(file) and file.stem not in RUAMEL_DEPARTS


@pytest.mark.parametrize("file", [*filter(is_for_ruamel, ACCEPT)], ids=lambda file: file.stem)
def test_another_reader_of_yaml_1_2_gives_the_same(file: Path) -> None:
    """ruamel.yaml; the two fields that are always text aside."""
    # Imported by name: its stubs cannot be found, since `ruamel` is a namespace without code.
    reader: Any = importlib.import_module("ruamel.yaml").YAML(typ="safe", pure=True)
    reader.version = (1, 2)
    theirs: dict[str, object] = reader.load(yaml_text(file))
    ours = frontmatter.parse(file.read_bytes()).fields
    assert {k: v for k, v in theirs.items() if k not in ALWAYS_TEXT} == {
        k: v for k, v in ours.items() if k not in ALWAYS_TEXT
    }


def is_plain(file: Path) -> bool:
    """Return whether our check says that readers of YAML 1.1 agree."""
    return is_strict(file) and "yaml_ambiguous" not in str(expected(file)["diagnostics"])


@pytest.mark.parametrize("file", [*filter(is_plain, ACCEPT)], ids=lambda file: file.stem)
def test_what_is_not_called_ambiguous_is_the_same_in_yaml_1_1(file: Path) -> None:
    """PyYAML, the whole of it, constructors included."""
    assert yaml.safe_load(yaml_text(file)) == frontmatter.parse(file.read_bytes()).fields


@pytest.mark.parametrize("name", ["crlf", "colon_with_crlf", "folded", "literal", "nested"])
def test_line_ends_change_no_value(name: str) -> None:
    """The CRLF file and its LF twin say the same."""
    data = (VECTORS / "accept" / f"{name}.md").read_bytes().replace(b"\r\n", b"\n")
    twin = data.replace(b"\n", b"\r\n")
    assert frontmatter.parse(twin).fields == frontmatter.parse(data).fields


def test_a_byte_order_mark_changes_no_value() -> None:
    """It is a diagnostic and no part of any text."""
    data = b"---\nname: x\ndescription: d\n---\nBody\n"
    assert frontmatter.parse(b"\xef\xbb\xbf" + data).fields == frontmatter.parse(data).fields


def test_a_repair_keeps_every_other_field() -> None:
    """Tool limits do not vanish with a colon."""
    head = parse("name: x\ndescription: Use when: asked\nallowed-tools: Read\nmetadata:\n  a: '1'")
    assert head.fields == {
        "name": "x",
        "description": "Use when: asked",
        "allowed-tools": "Read",
        "metadata": {"a": "1"},
    }


def test_what_cannot_be_repaired_whole_is_not_repaired_at_all() -> None:
    """The first error stands, at its line."""
    head = parse("name: x\ndescription: Use when: asked\nmetadata: {a")
    assert (head.parse_mode, head.diagnostics[0].code) == ("strict", "yaml_syntax")


def test_a_field_that_slipped_is_an_error_not_text() -> None:
    """`description` under `name` must not become part of the name."""
    head = parse("name: x\n  description: d")
    assert [(row.code, row.line) for row in head.diagnostics] == [("yaml_syntax", 3)]


def test_a_colon_inside_quotes_over_lines_is_never_touched() -> None:
    """Even where another field makes the text need a repair."""
    head = parse('quoted: "a\nb: c: d\ne"\ndescription: Use when: asked')
    assert "'" not in str(head.fields.get("quoted", ""))


def test_problems_of_all_fields_come_in_one_run() -> None:
    """Sorted by line."""
    head = parse("a: 1\na: 2\nb: &x 1\nc: *x\nd: !t 1\n1: e\nf: .inf")
    assert rows(head) == [
        {"code": "yaml_duplicate_key", "line": 3},
        {"code": "yaml_anchor", "line": 4},
        {"code": "yaml_anchor", "line": 5},
        {"code": "yaml_tag", "line": 6},
        {"code": "yaml_key_not_text", "line": 7},
        {"code": "yaml_number_not_json", "line": 8},
    ]


def test_every_field_knows_its_line() -> None:
    """For the rules that come later."""
    assert parse("# c\nname: x\nmetadata:\n  a: 1\nlicense: MIT").lines == {
        "name": 3,
        "metadata": 4,
        "license": 6,
    }


def test_a_head_of_just_the_limit_is_read() -> None:
    """The bound is inclusive."""
    head = "a: " + "x" * (limits.FRONTMATTER_MAX_BYTES - 4)
    assert parse(head).fields == {"a": head[3:]}


def test_a_head_over_the_limit_is_too_large() -> None:
    """By one byte."""
    head = "a: " + "x" * (limits.FRONTMATTER_MAX_BYTES - 3)
    assert [row.code for row in parse(head).diagnostics] == ["frontmatter_too_large"]


def test_the_deepest_nesting_is_inclusive() -> None:
    """The top-level mapping is the first of 32."""
    inner = limits.FRONTMATTER_MAX_DEPTH - 1
    assert not parse("a: " + "[" * inner + "]" * inner).refused
    assert parse("a: " + "[" * (inner + 1) + "]" * (inner + 1)).refused


def test_more_nodes_than_the_limit_are_refused() -> None:
    """Each key, each value and each collection counts."""
    head = parse("a: [" + "1," * limits.FRONTMATTER_MAX_NODES + "]")
    assert "yaml_too_many_nodes" in {row.code for row in head.diagnostics}


def test_twenty_thousand_keys_are_read() -> None:
    """They are many, and no attack."""
    head = parse("\n".join(f"k{i}: v" for i in range(20_000)))
    assert (len(head.fields), head.diagnostics) == (20_000, ())


HOSTILE = {
    "arrays": "a: " + "[" * 100_000,
    "mappings": "a: " + "{" * 100_000,
    "one character": "a: " + "a" * 250_000,
    "spaces": "a: " + " " * 250_000,
    "dashes": "- " * 100_000,
    "question marks": "? " * 100_000,
    "deep indentation": "\n".join(" " * depth + "a:" for depth in range(700)),
    "many lines of one value": "a: a\n" + " a\n" * 80_000,
    "colons": "a: " + ": " * 100_000,
    "anchors": "&a " * 80_000,
    "exclamation marks": "!" * 200_000,
    "alias bomb": "\n".join(f"a{i}: &a{i} [*a{i - 1},*a{i - 1}]" for i in range(5_000)),
    "quotes": "a: '" + "''" * 100_000,
    "escaped quotes": 'a: "' + '\\"' * 100_000,
    "lines to repair": "\n".join(f"k{i}: b: c" for i in range(15_000)),
    "empty lines": "a:" + "\n" * 200_000,
    "comments": "#\n" * 100_000 + "a: b",
    "all stand-ins": "a: \u2028" + "".join(map(chr, range(0xF0000, 0xFF000))),
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_heads_end_with_a_bounded_report(text: str) -> None:
    """Work grows with the size and no faster; a suite with a quadratic step would not end."""
    head = parse(text[: limits.FRONTMATTER_MAX_BYTES])
    assert len(head.diagnostics) <= limits.FRONTMATTER_MAX_PROBLEMS + 20


def test_messages_quote_little_of_what_they_complain_about() -> None:
    """A value may be as long as the head."""
    head = parse("a: !" + "x" * 100_000)
    assert (
        max(len(row.message) for row in head.diagnostics) < 2 * limits.MESSAGE_QUOTE_MAX_CHARACTERS
    )


def test_of_very_many_problems_each_kind_is_told() -> None:
    """The bound on problems hides no refusal behind warnings."""
    dates = "\n".join(f"k{i}: 2026-01-01" for i in range(500))
    codes = [row.code for row in parse(f"{dates}\nlast: .inf").diagnostics]
    assert (len(codes), codes[-1]) == (limits.FRONTMATTER_MAX_PROBLEMS + 1, "yaml_number_not_json")


def test_the_body_starts_after_the_closing_fence() -> None:
    """In bytes, byte order mark included."""
    data = "\ufeff---\r\nname: é\r\n---\r\nBody".encode()
    assert data[frontmatter.parse(data).body_offset :] == b"Body"


def test_no_value_is_beyond_json() -> None:
    """What is refused leaves nothing behind that JSON could not say."""
    values = parse("a: .inf\nb: .nan\nc: 1e999").fields.values()
    assert not any(isinstance(value, float) and not math.isfinite(value) for value in values)


def test_a_value_with_a_colon_gets_quotes() -> None:
    """On the same line."""
    repaired = frontmatter.quote_colons("name: x\ndescription: Use when: asked")
    assert repaired[0] == "name: x\ndescription: 'Use when: asked'"
    assert repaired[1] == (1,)


def test_quotes_in_the_value_are_doubled() -> None:
    """As single quotes want them."""
    assert frontmatter.quote_colons("a: it's: so")[0] == "a: 'it''s: so'"


def test_the_closing_quote_is_put_after_the_last_line() -> None:
    """Trailing blank lines stay behind it."""
    assert frontmatter.quote_colons("a: b: c\n  d\n\nx: y")[0] == "a: 'b: c\n  d'\n\nx: y"


def test_trailing_blanks_are_no_part_of_a_plain_value() -> None:
    """So they do not come into the quoted one."""
    assert frontmatter.quote_colons("a: b: c  ")[0] == "a: 'b: c'"


def test_a_colon_on_a_further_line_counts() -> None:
    """Such a value is not YAML either."""
    assert frontmatter.quote_colons("a: b\n  Then: c")[1] == (0,)


@pytest.mark.parametrize(
    "text",
    [
        "a: b",
        "a: b:c",
        "a: http://x",
        'a: "b: c"',
        "a: 'b: c'",
        "a: [b: c]",
        "a: {b: c}",
        "a: |\n  b: c",
        "a: >\n  b: c",
        "a: &x b: c",
        "a: *x : c",
        "a: !t b: c",
        "a: - b: c",
        "a: `b: c`",
        "a: @b: c",
        "a: %b: c",
        "a:\n  b: c",
        "- a: b: c",
        " a: b: c",
        "a b: c: d",
        "? a: b",
        "# a: b: c",
        "a: b: c # or not",
        "a: b: c\n  # d",
        "a: #b: c",
        "name: x\n  description: d",
    ],
)
def test_what_is_fine_or_could_mean_something_else_is_left_alone(text: str) -> None:
    """Byte for byte."""
    assert frontmatter.quote_colons(text) == (text, ())


def test_lines_are_as_many_as_before() -> None:
    """So that every later message names the right line."""
    text = "a: b: c\r\n\r\nd: e\rf: g: h\n"
    assert len(frontmatter.quote_colons(text)[0].split("\n")) == 5


VALID: dict[str, JsonValue] = {
    "name": "pdf-forms",
    "description": "Fill PDF forms.",
    "license": "MIT",
    "compatibility": "Needs Python.",
    "allowed-tools": "Read Bash(git:*)",
    "metadata": {"author": "Ada", "version": "1"},
}


def found(folder: str = "pdf-forms", **changed: JsonValue) -> list[tuple[str, str]]:
    """Return code and field of every problem after a change; None takes a field away."""
    value = {**VALID, **{key.replace("_", "-"): value for key, value in changed.items()}}
    value = {key: item for key, item in value.items() if item is not None}
    return [(code, key) for code, key, _ in frontmatter.field_problems(value, folder)]


def test_the_valid_fields_have_no_problem() -> None:
    """From which every case below changes one."""
    assert found() == []


@pytest.mark.parametrize(
    ("name", "code"),
    [
        (None, "no_name"),
        ("", "no_name"),
        (12, "name_not_text"),
        (["x"], "name_not_text"),
        ("other", "name_mismatch"),
        (" pdf-forms", "name_mismatch"),
    ],
)
def test_names_that_refuse(name: JsonValue, code: str) -> None:
    """Missing, no text, or not the folder's."""
    assert found(name=name)[0] == (code, "name")


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("PDF", "name_form"),
        ("pdf_forms", "name_form"),
        ("-pdf", "name_form"),
        ("pdf-", "name_form"),
        ("pdf--forms", "name_form"),
        ("pdf forms", "name_form"),
        ("小说拆条", "name_not_ascii"),
        ("café", "name_not_ascii"),
        ("x" * 65, "name_too_long"),
    ],
)
def test_names_that_are_warned_about(name: str, code: str) -> None:
    """Each for one reason; the folder has the same name."""
    assert found(folder=name, name=name) == [(code, "name")]


@pytest.mark.parametrize("name", ["x" * 64, "a", "1", "a-b-c", "2fa"])
def test_names_that_are_fine(name: str) -> None:
    """The bound is inclusive."""
    assert found(folder=name, name=name) == []


def test_a_name_is_compared_with_its_folder_in_nfc() -> None:
    """An author may type the accent either way."""
    assert found(folder="café", name="cafe\u0301") == [("name_not_ascii", "name")]


@pytest.mark.parametrize(
    ("description", "code"),
    [
        (None, "no_description"),
        ("", "no_description"),
        (" \n", "no_description"),
        (["x"], "description_not_text"),
        ({"a": "b"}, "description_not_text"),
        (True, "description_not_text"),
        ("x" * 1025, "description_too_long"),
        ("x" * 20_000, "description_too_long"),
    ],
)
def test_descriptions_with_a_problem(description: JsonValue, code: str) -> None:
    """Missing, no text, or long."""
    assert found(description=description) == [(code, "description")]


def test_a_description_of_just_the_limit_is_fine() -> None:
    """1,024 characters, surrounding blanks not counted."""
    assert found(description=" " + "é" * 1024 + "\n") == []


@pytest.mark.parametrize("key", ["license", "compatibility", "allowed_tools", "metadata"])
def test_optional_fields_of_another_type_are_warned_about(key: str) -> None:
    """A list is neither text nor mapping."""
    changed: dict[str, JsonValue] = {key: ["x"]}
    assert found("pdf-forms", **changed) == [("field_type", key.replace("_", "-"))]


def test_metadata_values_that_are_no_text_are_warned_about() -> None:
    """The specification has text to text."""
    assert found(metadata={"version": 1.0, "a": "b"}) == [("field_type", "metadata")]


def test_compatibility_has_its_own_limit() -> None:
    """500 characters, inclusive."""
    assert found(compatibility="x" * 500) == []
    assert found(compatibility="x" * 501) == [("compatibility_too_long", "compatibility")]


def test_each_unknown_field_is_told() -> None:
    """In the author's order."""
    assert found(model="x", tags="a") == [("unknown_field", "model"), ("unknown_field", "tags")]


@pytest.mark.parametrize(
    ("value", "tags"),
    [
        ("a, b ,a", ("a", "b")),
        (["b", "a"], ("a", "b")),
        (["a, b"], ("a, b",)),
        ("", ()),
        (", ,", ()),
        (None, ()),
        (12, ()),
        ([1, True, None, "x"], ("1", "x")),
        ({"a": "b"}, ()),
        ("cafe\u0301, café", ("café",)),
        ("公众号, 초과근무", ("公众号", "초과근무")),
        ("b, B", ("B", "b")),
    ],
)
def test_tags_are_text_each_once_in_byte_order(value: JsonValue, tags: tuple[str, ...]) -> None:
    """From metadata and from the top level alike."""
    assert frontmatter.tags({"metadata": {"tags": value}}) == tags
    assert frontmatter.tags({"tags": value}) == tags


def test_tags_of_both_places_are_joined() -> None:
    """No tag is lost."""
    assert frontmatter.tags({"tags": ["b"], "metadata": {"tags": "c, a"}}) == ("a", "b", "c")

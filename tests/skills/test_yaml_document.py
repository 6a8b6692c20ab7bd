"""YAML documents: plain scalars in YAML 1.2 and 1.1, and what PyYAML accepts but others do not.

The vectors of frontmatter hold most cases; here is what they cannot show.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, cast

import pytest
import yaml

from skills_bundle.skills import frontmatter, yaml_document

if TYPE_CHECKING:
    from skills_bundle.skills.frontmatter import Frontmatter

PIECES = ["0", "1", "7", "8", "9", ".", "-", "+", "_", ":", "e", "E", "x", "o", "b", "f", "~", "="]
SHORT = ["".join(parts) for n in range(5) for parts in itertools.product(PIECES, repeat=n)]
WORDS = [
    *(
        form
        for word in ("y", "n", "yes", "no", "on", "off", "true", "false", "null")
        for form in (word, word.upper(), word.capitalize(), word + "s", word.swapcase())
    ),
    ".inf",
    "-.inf",
    "+.Inf",
    ".INF",
    ".nan",
    ".NaN",
    ".NAN",
    "inf",
    "nan",
    "<<",
    "<<<",
    "tRue",
    "2026-01-01",
    "2026-1-1",
    "2026-01-01T10:00:00Z",
    "2026-01-01t10:00:00.5",
    "26-01-01",
    "2026-01-01 10:00:00 +01:00",
    "2026-01-01 10:00:00 -1",
    "2026-01-01T10:00",
    "2026-01-01Z",
    "12:30:00",
    "1:60",
    "190:20:30",
    "190:20:30.15",
    "-1:30",
    "+1:30",
    "0:30",
    "1:30:5.",
    "a:1",
    "0b101",
    "-0b1",
    "0B1",
    "0x1F",
    "0X1f",
    "-0x1f",
    "+0xF",
    "0o17",
    "-0o7",
    "017",
    "-017",
    "0_7",
    "1_000",
    "1_000.5",
    "1e3",
    "1E3",
    "1.5e3",
    "1.5e+3",
    "1.e+3",
    ".5e-3",
    "-.5",
    "+.5",
    "1.",
    "-1.",
    "685_230.15",
    "6.8523015e+5",
    "685.230_15e+03",
    "0.",
    "00",
    "08",
    "-08",
    "+12",
    "--1",
    "1..2",
]


def parse(head: str) -> Frontmatter:
    """Read a SKILL.md with this YAML head."""
    return frontmatter.parse(f"---\n{head}\n---\n".encode())


@pytest.mark.parametrize("text", ["y", "Y", "n", "N"])
def test_single_letters_are_booleans_of_yaml_1_1_though_not_of_pyyaml(text: str) -> None:
    """yaml.org/type/bool lists them, and other readers of YAML 1.1 follow it."""
    assert (yaml_document.yaml_1_1_type(text), pyyaml_value(f"[{text}]")) == ("bool", [text])


def pyyaml_value(text: str) -> object:
    """Return what PyYAML constructs of a text."""
    return cast("object", yaml.safe_load(text))


def test_numbers_not_called_ambiguous_are_the_same_number_for_pyyaml() -> None:
    """And of the same type."""
    plain = [
        text
        for text in [*SHORT, *WORDS]
        if yaml_document.core_type(text) in {"int", "float"}
        and not yaml_document.is_ambiguous(text)
        and not text.lower().endswith((".inf", ".nan"))
    ]
    ours = {text: repr([yaml_document.plain_value(text)]) for text in plain}
    different = [text for text in plain if repr(pyyaml_value(f"[{text}]")) != ours[text]]
    assert (different, len(plain) > 1000) == ([], True)


@pytest.mark.parametrize(
    "text",
    [
        "yes",
        "No",
        "ON",
        "off",
        "y",
        "017",
        "-017",
        "0o7",
        "1_000",
        "0b1",
        "12:30:00",
        "1e3",
        "1.5e3",
        "+.5",
        "08",
        "2026-01-01",
        "=",
        "<<",
        "1:30.5",
    ],
)
def test_what_the_versions_read_differently_is_ambiguous(text: str) -> None:
    """Each of these is another value for half of the hosts."""
    assert yaml_document.is_ambiguous(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "~",
        "null",
        "true",
        "FALSE",
        "0",
        "-12",
        "+12",
        "07",
        "00",
        "0x1F",
        "1.5",
        ".5",
        "1.",
        "1.5e+3",
        "yess",
        "1.2.3",
        "v1",
        "12px",
        "a:b",
        "2026",
        "tRue",
    ],
)
def test_what_the_versions_read_alike_is_not(text: str) -> None:
    """Types and values are the same."""
    assert not yaml_document.is_ambiguous(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("~", None),
        ("NULL", None),
        ("nUll", "nUll"),
        ("True", True),
        ("no", "no"),
        ("017", 17),
        ("0o17", 15),
        ("0x1f", 31),
        ("-0", 0),
        ("+7", 7),
        ("1e3", 1000.0),
        ("-.5", -0.5),
        ("1_0", "1_0"),
        ("9007199254740991", 2**53 - 1),
        ("12:30", "12:30"),
        ("2026-01-01", "2026-01-01"),
    ],
)
def test_values_are_those_of_the_core_schema(text: str, value: object) -> None:
    """YAML 1.2.2, section 10.3.2."""
    found = yaml_document.plain_value(text)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    "text",
    [".inf", "-.Inf", "+.INF", ".nan", "1e309", "-1e999", str(2**53), "9" * 65, "." + "1" * 65],
)
def test_numbers_that_json_cannot_carry_are_refused(text: str) -> None:
    """Infinite, not a number, inexact or endless."""
    with pytest.raises(yaml_document.NotJsonError):
        yaml_document.plain_value(text)


def test_an_endless_octal_costs_nothing() -> None:
    """Python would refuse to convert it, or take its time."""
    assert yaml_document.is_ambiguous("0" + "7" * 100_000) is False


@pytest.mark.parametrize("text", ["yes", "12", "1.5", "null", "2026-01-01", "~", "1e3", "0b1"])
def test_a_name_that_is_not_text_for_every_reader_is_ambiguous(text: str) -> None:
    """In either version of YAML."""
    assert "yaml_ambiguous" in {row.code for row in parse(f"name: {text}").diagnostics}


def test_smallest_numbers_stay_finite() -> None:
    """Underflow is zero for every reader."""
    assert yaml_document.plain_value("1e-999") == 0.0
    assert math.isfinite(cast("float", yaml_document.plain_value("1.7976931348623157e308")))


@pytest.mark.parametrize("quote", ["'", '"'])
def test_an_unclosed_quote_is_named_with_its_column(quote: str) -> None:
    """The line is the diagnostic's."""
    (row,) = parse(f"name: x\ndescription: {quote}Open").diagnostics
    assert row.message == f"not YAML: the quote {quote} in column 14 is never closed"


def test_a_quote_closed_by_the_next_one_is_reported() -> None:
    """The error shows lines below its cause."""
    (row,) = parse('name: x\ndescription: "Open\nlicense: "MIT"').diagnostics
    assert row.message.endswith("the quote that closes on this line was opened on the line above")


@pytest.mark.parametrize(
    "head",
    [
        "# a#b\nname: [x, # b\n  z] # c#d\n",
        "name: a#b",
        "name: 'a' # b?c",
        "? name # a\n: b",
        "name: |-  # a\n  ...\n  a]#b\n# c",
        "name: a\n...\n# b",
        "name: {? a : b}",
    ],
)
def test_what_every_reader_accepts_between_scalars_is_no_problem(head: str) -> None:
    """Comments after a blank, `#` and `?` in text, one `...`."""
    assert yaml_document.read(head).problems == []


@pytest.mark.parametrize(
    ("head", "line"),
    [
        ("name: [\n  x,#c\n  z]", 1),
        ('name: "x"#c', 0),
        ("a: |-\n  x\nname: [x]#c", 2),
        ("name: x\n...\n...\n", 2),
        ("name: x\n...\n# c\n...", 3),
    ],
)
def test_what_only_pyyaml_accepts_is_reported_with_its_line(head: str, line: int) -> None:
    """Other readers fail or read something else."""
    assert [(code, at) for code, _, at in yaml_document.read(head).problems] == [
        ("yaml_ambiguous", line)
    ]


def test_line_separators_survive_beside_private_use_characters() -> None:
    """What replaces them while PyYAML reads is in no text and in no escape."""
    document = yaml_document.read('"\u2028 \\U000F0000 \U000f0001": x')
    assert list(document.fields) == ["\u2028 \U000f0000 \U000f0001"]

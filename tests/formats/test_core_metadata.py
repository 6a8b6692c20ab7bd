"""The head of a core-metadata file, read as installers read it."""

from __future__ import annotations

import pytest

from skills_bundle.formats.core_metadata import read


def test_names_have_no_case_and_lines_may_be_folded() -> None:
    """As in an e-mail, which is what pip takes it for."""
    head = read(b"Name: acme\nREQUIRES-dist: one\n  @ two\nRequires-Dist: three\n\nName: body\n")
    assert head.fields == {"name": ("acme",), "requires-dist": ("one @ two", "three")}
    assert (head.first("name"), head.first("version"), head.problems) == ("acme", None, ())


@pytest.mark.parametrize("end", ["\x0b", "\x0c", "\x1c", "\x85", "\u2028"])
def test_only_cr_and_lf_end_a_line(end: str) -> None:
    """A form feed, as licences have it, hides no field behind an end that is none."""
    head = read(f"License: a{end}{end}\nRequires-Dist: one\n".encode())
    assert head.fields["requires-dist"] == ("one",)


@pytest.mark.parametrize(
    "data",
    [
        b"Name: a\nno field\nVersion: 1\n",
        b"Requires-Dist : one\n",
        b" Name: a\n",
        b"Name: a\rVersion: 1\n",
        b"Name: \xff\n",
    ],
)
def test_what_tools_read_in_two_ways_is_a_problem(data: bytes) -> None:
    """Some end the head at such a line, and some go on."""
    assert read(data).problems


def test_a_field_that_comes_very_often_is_read_at_once() -> None:
    """Each value is looked at once, however many there are."""
    head = read(b"Name: a\n" * 400_000)
    assert len(head.fields["name"]) == 400_000

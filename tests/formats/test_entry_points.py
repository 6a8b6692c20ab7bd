"""entry_points.txt, read only where every tool reads the same."""

from __future__ import annotations

import pytest

from skills_bundle.formats.entry_points import parse


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_groups_and_names_are_read(end: str) -> None:
    """As build backends write them."""
    text = end.join(["[console_scripts]", "run = acme.tool:main [all]", "", "[a.b]", "c=d", ""])
    expected = {"console_scripts": {"run": "acme.tool:main [all]"}, "a.b": {"c": "d"}}
    assert parse(text.encode()) == expected


def test_an_empty_file_has_none() -> None:
    """Nothing is declared."""
    assert parse(b"") == {}


@pytest.mark.parametrize(
    "text",
    [
        "[a]\nb = c\n# comment\u2028evil = os:abort\n",
        "[a]\nb = c\n# comment\x0cevil = os:abort\n",
        "[a]\nb = c\revil = os:abort\n",
        "[a]\nb = c\n; comment\n",
        "[a]\nb = c\n evil = os:abort\n",
        "[a]\nb = c\nb = d\n",
        "[a]\nb = c\n[a]\nd = e\n",
        "[a] # b = c\n",
        "b = c\n",
        "[a]\nb\n",
        "[a]\n\udcff = c\n",
    ],
)
def test_what_tools_read_in_two_ways_is_not_read(text: str) -> None:
    """One of them would find an entry point that another takes for a comment."""
    assert parse(text.encode(errors="surrogateescape")) is None

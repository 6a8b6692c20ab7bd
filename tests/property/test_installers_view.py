"""Laws of what installers read: whatever we read without a problem, they read the same."""

from __future__ import annotations

import email
from importlib.metadata import EntryPoints

from hypothesis import given
from hypothesis import strategies as st

from skills_bundle.formats import metadata_files

BREAKS = ["\n", "\r", "\r\n", "\x0c", "\x0b", "\x1c", "\x85", "\u2028", " ", "\t", ";", "#"]
FIELDS = st.lists(st.sampled_from(["Name", "name", ":", ": ", "a", "From ", "-", *BREAKS]))
ROWS = st.lists(st.sampled_from(["[a]", "[b]", "=", " = ", "x", "y", "[", "]", "\n", *BREAKS]))


@given(FIELDS.map("".join))
def test_metadata_that_has_no_problem_is_the_same_to_an_e_mail_parser(text: str) -> None:
    """That is what pip and importlib.metadata read it with."""
    head = metadata_files.parse_metadata(text.encode())
    if head.problems:
        return
    parsed = email.message_from_string(text)
    ours = sorted((key, "".join(row.split())) for key, rows in head.fields.items() for row in rows)
    theirs = sorted((key.lower(), "".join(str(row).split())) for key, row in parsed.items())
    assert ours == theirs


@given(ROWS.map("".join))
def test_entry_points_that_are_read_are_the_same_to_importlib(text: str) -> None:
    """That is what installers and Python itself read them with."""
    found = metadata_files.parse_entry_points(text.encode())
    if found is None:
        return
    load = getattr(EntryPoints, "_from_text_for")  # noqa: B009 - private, and the one way to ask it
    theirs = sorted((one.group, one.name, one.value) for one in load(text, None))
    ours = sorted((group, *row) for group, rows in found.items() for row in rows.items())
    assert ours == theirs

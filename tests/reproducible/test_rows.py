"""What the table of variations calls as expected, and what never is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.reproducible import rows
from tests.reproducible.room import GENERATOR_ONLY, compare
from tests.reproducible.rows import Seen, Variation

if TYPE_CHECKING:
    from tests.reproducible.room import Room


def nothing(_: Room) -> None:
    """Stand for a build."""


def variation(expect: str = rows.CLEAN) -> Variation:
    """Return a variation that expects this."""
    return Variation(group="clock", name="1971", build=nothing, expect=expect)


WHEEL = Seen(kind="wheel", receipt=rows.CLEAN)
SDIST = Seen(kind="sdist", receipt=rows.CLEAN)
OTHER = Seen(kind="wheel", receipt=rows.CLEAN, difference="other: x.py")
GENERATED = Seen(
    kind="wheel", receipt=rows.CLEAN, difference=f"{GENERATOR_ONLY}x", generator_only=True
)
DIRTY = Seen(kind="wheel", receipt="dirty: dirty_source", difference="other: build-receipt.json")
BARE = Seen(kind="wheel", receipt=rows.NO_BUNDLE, difference="other: build-receipt.json")


@pytest.mark.parametrize(
    ("expect", "seen", "refusal"),
    [
        (rows.CLEAN, [WHEEL, SDIST], ""),
        (rows.CLEAN, [WHEEL], ""),
        (rows.GENERATOR, [GENERATED, SDIST], ""),
        ("dirty_source", [DIRTY], ""),
        (rows.NO_BUNDLE, [BARE], ""),
        (f"{rows.REFUSED}no lock", [], "there is no lock here"),
    ],
)
def test_a_row_is_as_expected_if_every_archive_is(
    expect: str, seen: list[Seen], refusal: str
) -> None:
    """Or if the build was refused with the expected words and left nothing."""
    assert rows.judge("acme", variation(expect), seen, refusal).result == "as expected"


@pytest.mark.parametrize(
    ("expect", "seen", "refusal"),
    [
        (rows.CLEAN, [], ""),
        (rows.CLEAN, [WHEEL, DIRTY], ""),
        (rows.CLEAN, [GENERATED], ""),
        (rows.GENERATOR, [WHEEL, SDIST], ""),
        ("dirty_source", [WHEEL], ""),
        ("eol_converted", [DIRTY], ""),
        (rows.CLEAN, [WHEEL], "it failed afterwards"),
        (f"{rows.REFUSED}no lock", [], "something else"),
        (f"{rows.REFUSED}no lock", [WHEEL], "there is no lock here"),
    ],
)
def test_anything_else_is_not(expect: str, seen: list[Seen], refusal: str) -> None:
    """Nothing built, one archive otherwise, another reason, a refusal that left an archive."""
    row = rows.judge("acme", variation(expect), seen, refusal)
    assert (row.result, bool(row.note)) == ("UNEXPECTED", True)


@pytest.mark.parametrize("expect", [rows.CLEAN, rows.GENERATOR, "clean", "dirty_source"])
def test_a_receipt_that_names_a_commit_of_other_bytes_is_never_expected(expect: str) -> None:
    """Whatever a variation expects."""
    row = rows.judge("acme", variation(expect), [OTHER, SDIST], "")
    assert "names a commit whose bytes these are not" in row.note


def test_only_the_line_of_the_generator_is_only_that() -> None:
    """Another line of the same file, or another file, is more."""
    plain = {"a.dist-info/WHEEL": b"Generator: one\nTag: x\n", "a.dist-info/RECORD": b"1"}
    newer = {"a.dist-info/WHEEL": b"Generator: two\nTag: x\n", "a.dist-info/RECORD": b"2"}
    tagged = {"a.dist-info/WHEEL": b"Generator: two\nTag: y\n", "a.dist-info/RECORD": b"2"}
    assert compare(newer, plain) == f"{GENERATOR_ONLY}two"
    assert compare(tagged, plain) == "other: WHEEL"
    assert compare({**newer, "x.py": b""}, plain) == "other: WHEEL, x.py"


def test_what_was_not_run_is_listed_as_that() -> None:
    """With the reason, in the table, in the totals and in JSON."""
    found = [
        rows.judge("acme", variation(), [WHEEL], ""),
        rows.not_run("acme", variation(), "no clock"),
    ]
    assert rows.table(found).splitlines()[-1] == "1 as expected, 1 not run"
    assert "not run      no clock" in rows.table(found)
    assert [row["note"] for row in json.loads(rows.dump(found))["rows"]] == ["", "no clock"]

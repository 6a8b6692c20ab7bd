"""Additions to a TOML file leave everything else in it as it was."""

from __future__ import annotations

import difflib
import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skills_bundle.formats.toml_edit import (
    Addition,
    NoPlaceError,
    expected,
    literal,
    with_additions,
)

REQUIRE = Addition(table=("build-system",), key="requires", value="skills-bundle==1.0", append=True)
ENTRY = Addition(
    table=("project", "entry-points", "skills_bundle.collections"), key="acme", value="acme"
)
IGNORE = Addition(table=("tool", "hatch", "build"), key="ignore-vcs", value=True)
SKILLS = Addition(
    table=("tool", "hatch", "build", "hooks", "skills-bundle"), key="skills", value="skills"
)
ALL = (REQUIRE, ENTRY, IGNORE, SKILLS)

PLAIN = """\
# Ours.
[build-system]
requires = ["hatchling"] # keep
build-backend = 'hatchling.build'

[project]
name   = "acme"   # aligned
version = "1"

# Checks.
[tool.ruff]
line-length = 100
"""
WITH_ALL = """\
# Ours.
[build-system]
requires = ["hatchling", "skills-bundle==1.0"] # keep
build-backend = 'hatchling.build'

[project]
name   = "acme"   # aligned
version = "1"

# Checks.
[tool.ruff]
line-length = 100

[project.entry-points."skills_bundle.collections"]
acme = "acme"

[tool.hatch.build]
ignore-vcs = true

[tool.hatch.build.hooks.skills-bundle]
skills = "skills"
"""
SHAPES = {
    "plain": PLAIN,
    "one element a line": PLAIN.replace('["hatchling"]', '[\n    "hatchling",\n    # why\n]'),
    "trailing comma": PLAIN.replace('["hatchling"]', '[ "hatchling", ]'),
    "no final newline": PLAIN.rstrip("\n"),
    "CRLF": PLAIN.replace("\n", "\r\n"),
    "CRLF, no final newline": PLAIN.rstrip("\n").replace("\n", "\r\n"),
    "tabs": PLAIN.replace("name   =", "\tname\t="),
    "hatch tables": PLAIN + '\n[tool.hatch.build.targets.wheel]\npackages = ["src/acme"]\n',
    "inline hook family": PLAIN + "\n[tool.hatch.build.hooks]\nvcs = { version-file = 'v.py' }\n",
    "tables out of order": "[project]\nname='acme'\nversion='1'\n[tool.a]\nx=1\n"
    "[project.entry-points.b]\nc='d'\n[build-system]\nrequires=['hatchling']\n",
    "dotted keys": 'build-system.requires = ["hatchling"]\nproject.name = "acme"\n'
    'project.version = "1"\n',
    "inline tables": 'build-system = { requires = ["hatchling"] }\n[project]\nname = "acme"\n'
    'entry-points = { b = { c = "d" } }\n',
    "brackets in strings": PLAIN + 'text = """\n[project]\n[tool.hatch.build]\n"""\n',
    "brackets in arrays": PLAIN + "rows = [\n  [1, 2],\n  [3],\n]\n",
    "array of tables": PLAIN + '\n[[tool.uv.index]]\nname = "x"\n',
    "empty tables": PLAIN + "\n[tool.hatch.build]\n[tool.hatch.build.hooks]\n",
    "comment at the end": PLAIN + "# The end.\n",
}


def test_new_tables_are_at_the_end_and_elements_in_their_array() -> None:
    """Whole, as one sees it."""
    assert with_additions(PLAIN, ALL) == WITH_ALL


@pytest.mark.parametrize("text", SHAPES.values(), ids=SHAPES)
def test_a_reader_finds_what_was_there_and_what_was_added(text: str) -> None:
    """Nothing more, nothing less."""
    wanted = tomllib.loads(text)
    for addition in ALL:
        wanted = expected(wanted, addition)
    assert tomllib.loads(with_additions(text, ALL)) == wanted


@pytest.mark.parametrize("text", SHAPES.values(), ids=SHAPES)
def test_every_line_stays_but_the_one_with_the_array(text: str) -> None:
    """In its order, with its bytes."""
    new, old = with_additions(text, ALL).splitlines(), text.splitlines()
    lost = [row[1:] for row in difflib.unified_diff(old, new, n=0) if row.startswith("-")][1:]
    assert [row for row in lost if "hatchling" not in row and "entry-points = {" not in row] == []


@pytest.mark.parametrize("text", SHAPES.values(), ids=SHAPES)
def test_adding_again_changes_nothing(text: str) -> None:
    """What is there is not added."""
    once = with_additions(text, ALL)
    assert with_additions(once, ALL) == once


@pytest.mark.parametrize("text", SHAPES.values(), ids=SHAPES)
def test_line_ends_stay_as_they_are(text: str) -> None:
    """Also whether the last line has one."""
    made = with_additions(text, ALL)
    assert ("\r\n" in made) == ("\r\n" in text)
    assert "\n" not in made.replace("\r\n", "") if "\r\n" in text else "\r" not in made
    assert made.endswith("\n") == text.endswith("\n")


def test_a_key_goes_behind_the_last_one_of_its_table() -> None:
    """Before the comment above the next header, which is about that table."""
    text = "[tool.hatch.build]\nexclude = ['a']\n\n# Checks.\n[tool.ruff]\n"
    assert with_additions(text, [IGNORE]) == text.replace("\n\n", "\nignore-vcs = true\n\n")


def test_a_value_of_another_kind_is_not_overwritten() -> None:
    """The error holds what has to be added."""
    with pytest.raises(NoPlaceError, match="skills_bundle"):
        with_additions('[project]\nentry-points = "none"\n', [ENTRY])


@pytest.mark.parametrize("text", ["[build-system]\nrequires = 'x'\n", "build-system = 1\n"])
def test_an_array_or_table_that_is_none_has_no_place(text: str) -> None:
    """What a build would refuse is not made worse."""
    with pytest.raises(NoPlaceError):
        with_additions(text, [REQUIRE])


@pytest.mark.parametrize("row", ["x = nan", "x = [inf, -nan]", "x = 1.10"])
def test_any_number_may_stand_elsewhere_in_the_file(row: str) -> None:
    """Also one that equals nothing."""
    text = f"[build-system]\nrequires = ['hatchling']\n\n[tool.other]\n{row}\n"
    assert with_additions(text, [REQUIRE]).endswith(f"\n{row}\n")


def test_an_empty_file_gets_the_additions_alone() -> None:
    """With one line end at its end."""
    assert with_additions("", [IGNORE]) == "[tool.hatch.build]\nignore-vcs = true\n"


@settings(deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_is_written_as_a_reader_reads_it(text: str) -> None:
    """As a value."""
    assert tomllib.loads(f"text = {literal(text)}\n") == {"text": text}


@settings(deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                "[project]\nname = 'a'\n",
                "[tool.hatch]\nx = 1\n",
                "[tool.hatch.build]\nexclude = ['a']\n",
                "[tool.hatch.build.targets.sdist]\n",
                "[tool.other]\ny = '''\n[project]\n'''\n",
                "# A comment.\n",
                "\n",
                "[[rows]]\nz = [\n  [1],\n]\n",
            ]
        ),
        unique=True,
    )
)
def test_any_order_of_tables_keeps_its_meaning(parts: list[str]) -> None:
    """What is there is there afterwards, wherever it stands."""
    text = "[build-system]\nrequires = ['hatchling']\n" + "".join(parts)
    wanted = tomllib.loads(text)
    for addition in ALL:
        wanted = expected(wanted, addition)
    assert tomllib.loads(with_additions(text, ALL)) == wanted

"""The table of codes: complete, and worded so that every line can be shown to people."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from skills_bundle import files, skills
from skills_bundle.files import limits as file_limits
from skills_bundle.skills import limits, rules
from skills_bundle.skills.codes import CODES, clip, diagnose
from skills_bundle.skills.model import Level

SOURCE = "\n".join(
    file.read_text(encoding="utf-8")
    for package in (skills, files)
    for file in sorted(Path(package.__path__[0]).glob("*.py"))
    if file.name != "codes.py"
)


@pytest.mark.parametrize("code", CODES)
def test_every_code_is_used(code: str) -> None:
    """A rule nobody checks is no rule; lengths are put together from the field's name."""
    assert f'"{code}"' in SOURCE or f'"{code.removesuffix("_too_long")}"' in SOURCE


@pytest.mark.parametrize("code", CODES)
def test_every_code_is_a_sentence_from_a_source(code: str) -> None:
    """Lower case and underscores; a full stop at the end."""
    row = CODES[code]
    assert re.fullmatch(r"[a-z][a-z0-9_]*", code)
    assert row.sentence.endswith(".")
    assert row.source


def test_limits_in_sentences_exist() -> None:
    """A sentence names a bound by its name in `limits`."""
    named = set(re.findall(r"\b[A-Z]+(?:_[A-Z]+)+\b", " ".join(r.sentence for r in CODES.values())))
    assert named - set(dir(limits)) - set(dir(file_limits)) == set()


def test_rules_give_the_table_on() -> None:
    """One table."""
    assert rules.CODES is CODES


def test_a_diagnostic_has_the_level_of_its_code() -> None:
    """So that nobody decides it twice."""
    assert diagnose("link", "a", "b").level is Level.REFUSE
    assert diagnose("bom", "a", "b").level is Level.WARN


def test_an_unwritten_code_cannot_be_used() -> None:
    """It would be documented nowhere."""
    with pytest.raises(KeyError):
        diagnose("oops", "a", "b")


def test_quotes_are_clipped_to_the_limit() -> None:
    """Short ones are left alone."""
    longest = "x" * limits.MESSAGE_QUOTE_MAX_CHARACTERS
    assert (clip(longest), len(clip(longest + "x"))) == (longest, len(longest))

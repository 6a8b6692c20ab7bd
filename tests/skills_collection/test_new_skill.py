"""Tests of writing-agent-skills/scripts/new_skill.py."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from skills_bundle.skills.model import FileFacts
from skills_bundle.skills.rules import Policy
from skills_bundle.skills.scan import scan
from tests.skills_collection.collection import (
    reference_description,
    reference_problems,
    run,
)

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT: Final = "writing-agent-skills/new_skill.py"
AWKWARD: Final = 'Use when: a "key" leaked \\ 12:30:00 #1, it\'s late. Not for: anything else.'


def test_a_new_skill_is_valid_whatever_is_in_its_description(tmp_path: Path) -> None:
    """Colons, quotes, backslashes and hashes are what break other people's skills."""
    skill = tmp_path / "rotating-keys"
    ran = run(SCRIPT, skill, "--description", AWKWARD, "--tags", "a, b", "--script", "turn.py")
    assert (ran.code, reference_problems(skill)) == (0, [])
    assert reference_description(skill) == AWKWARD


def test_a_new_skill_passes_our_strict_scan(tmp_path: Path) -> None:
    """Without a single diagnostic."""
    run(SCRIPT, tmp_path / "rotating-keys", "--description", AWKWARD, "--script", "turn.py")
    result = scan(tmp_path, FileFacts(), policy=Policy(strict=True))
    assert [(s.description, s.diagnostics) for s in result.skills] == [(AWKWARD, ())]
    assert [(file.path, file.executable) for file in result.skills[0].files] == [
        ("SKILL.md", False),
        ("scripts/turn.py", True),
    ]


@pytest.mark.parametrize(
    ("name", "description", "message"),
    [
        ("Rotating", "x", "only a-z, 0-9 and single hyphens"),
        ("rotating--keys", "x", "only a-z, 0-9 and single hyphens"),
        ("k" * 65, "x", "at most 64"),
        ("keys", " ", "the description is empty"),
        ("keys", "x" * 1025, "at most 1024"),
    ],
)
def test_what_breaks_a_rule_is_refused_and_nothing_is_written(
    name: str, description: str, message: str, tmp_path: Path
) -> None:
    """The reason is told, the exit code is 1."""
    ran = run(SCRIPT, tmp_path / name, "--description", description)
    assert (ran.code, message in ran.stderr, list(tmp_path.iterdir())) == (1, True, [])


def test_an_existing_folder_is_left_alone(tmp_path: Path) -> None:
    """Nothing is ever overwritten."""
    (tmp_path / "keys").mkdir()
    ran = run(SCRIPT, tmp_path / "keys", "--description", "x")
    assert (ran.code, "exists already" in ran.stderr) == (1, True)


def test_every_gap_in_the_skeleton_can_be_searched_for(tmp_path: Path) -> None:
    """The last line says for what."""
    ran = run(SCRIPT, tmp_path / "keys", "--description", "x")
    assert ran.stdout.endswith("search it for WRITE\n")
    assert "WRITE" in (tmp_path / "keys" / "SKILL.md").read_text(encoding="utf-8")

"""Tests of skill-descriptions-that-get-found/scripts/rank_descriptions.py."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from tests.skills_collection.collection import run

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT: Final = "skill-descriptions-that-get-found/rank_descriptions.py"


@pytest.fixture
def skills(tmp_path: Path) -> Path:
    """Return a folder with two skills that share a word."""
    _write(tmp_path, "baking-bread", 'description: "Bake bread at home. Not for tuning pianos."')
    _write(tmp_path, "tuning-pianos", "description: >\n  Tune pianos at\n  home.")
    return tmp_path


def _write(folder: Path, name: str, field: str) -> None:
    """Write a skill with one description field."""
    (folder / name).mkdir()
    (folder / name / "SKILL.md").write_text(f"---\nname: {name}\n{field}\n---\n", encoding="utf-8")


def _ask(skills: Path, request: str) -> list[str]:
    """Return the names of the skills for a request, best first."""
    ran = run(SCRIPT, skills, "--ask", request)
    return [line.split()[1] for line in ran.stdout.splitlines()]


def test_the_skill_with_the_words_wins(skills: Path) -> None:
    """Endings do not matter."""
    assert _ask(skills, "how do I bake two breads?") == ["baking-bread"]


def test_a_sentence_on_what_it_is_not_for_attracts_nothing(skills: Path) -> None:
    """Else "Not for pianos" would be found for pianos."""
    assert _ask(skills, "tune my piano") == ["tuning-pianos"]


def test_a_folded_description_is_read_whole(skills: Path) -> None:
    """Not as `>`."""
    assert sorted(_ask(skills, "home")) == ["baking-bread", "tuning-pianos"]


def test_a_request_that_shares_no_word_says_so(skills: Path) -> None:
    """A ranking is not forced to have a first."""
    ran = run(SCRIPT, skills, "--ask", "haiku")
    assert ran.stdout == "no skill shares a word with it\n"


def test_a_lost_request_is_explained_and_fails(skills: Path, tmp_path: Path) -> None:
    """With the rank, the rival, and the words that decided."""
    requests = tmp_path / "requests.tsv"
    requests.write_text("# ours\nbread\tbaking-bread\nbread\ttuning-pianos\n", encoding="utf-8")
    ran = run(SCRIPT, skills, "--requests", requests)
    assert ran.code == 1
    assert ran.stdout.splitlines()[0] == "rank -: bread"
    assert ran.stdout.splitlines()[-1] == "2 requests: 1 first, 1 in the first three"


def test_a_request_for_no_skill_shows_the_nearest(skills: Path, tmp_path: Path) -> None:
    """It is not counted: words alone cannot decide it."""
    requests = tmp_path / "requests.tsv"
    requests.write_text("bread prices\t-\n", encoding="utf-8")
    ran = run(SCRIPT, skills, "--requests", requests)
    assert (ran.code, "nearest:" in ran.stdout, "0 requests" in ran.stdout) == (0, True, True)


def test_a_line_without_a_tab_is_named(skills: Path, tmp_path: Path) -> None:
    """Wrong usage, with the line."""
    requests = tmp_path / "requests.tsv"
    requests.write_text("bread baking-bread\n", encoding="utf-8")
    ran = run(SCRIPT, skills, "--requests", requests)
    assert (ran.code, "requests.tsv:1: no tab" in ran.stderr) == (2, True)


def test_rivals_are_listed_with_what_they_share(skills: Path) -> None:
    """Here it is one word."""
    assert run(SCRIPT, skills, "--overlap").stdout.split()[1:] == [
        "baking-bread",
        "tuning-pianos",
        "(hom)",
    ]


def test_other_scripts_are_split_into_characters(tmp_path: Path) -> None:
    """A Chinese request finds a Chinese description."""
    _write(tmp_path, "hetong", 'description: "整理合同台账"')
    assert _ask(tmp_path, "合同") == ["hetong"]

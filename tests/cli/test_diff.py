"""`diff` on the command line: what differs, the most important first; JSON; exit codes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from skills_bundle.supply_chain.diff import compare_inputs
from skills_bundle.supply_chain.diff_inputs import open_input
from tests.cli.runner import call
from tests.hatch_plugin.sample import SKILL_MD, SampleProject
from tests.supply_chain.archive_samples import repacked, with_record

if TYPE_CHECKING:
    from pathlib import Path

SKILL = "acme_skills/.agents/skills/greet/SKILL.md"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel of a committed project."""
    return SampleProject.create(tmp_path_factory.mktemp("project")).wheel()


@pytest.fixture
def changed(wheel: Path, tmp_path: Path) -> Path:
    """A copy of it with another skill."""
    target = tmp_path / wheel.name
    target.write_bytes(with_record(wheel.read_bytes(), {SKILL: SKILL_MD + b"\nMore.\n"}))
    return target


def test_equal_inputs_take_four_lines(wheel: Path) -> None:
    """Exit 0."""
    ran = call("diff", str(wheel), str(wheel), environ={"COLUMNS": "120"})
    assert (ran.code, ran.stderr) == (0, "")
    assert ran.stdout.startswith("✓ A and B are the same\n")
    assert "compared  all files, and how they are stored" in ran.stdout


def test_a_changed_skill_is_shown_with_its_lines(wheel: Path, changed: Path) -> None:
    """Exit 1: the skill, the file, the lines."""
    ran = call("diff", str(wheel), str(changed))
    assert ran.code == 1
    assert "skills changed  greet" in ran.stdout
    assert f"+++ b/{SKILL}\n" in ran.stdout
    assert "\n+More.\n" in ran.stdout


def test_the_lines_can_be_left_out(wheel: Path, changed: Path) -> None:
    """Digests say enough for some."""
    assert "+More." not in call("diff", str(wheel), str(changed), "--no-text").stdout


def test_other_packing_is_reported_as_such(wheel: Path, tmp_path: Path) -> None:
    """One row a fact, however many files differ in it."""
    (tmp_path / wheel.name).write_bytes(repacked(wheel.read_bytes()))
    ran = call("diff", str(wheel), str(tmp_path / wheel.name), environ={"COLUMNS": "120"})
    assert ran.code == 1
    assert ran.stdout.startswith("✗ A and B have the same files, stored differently\n")
    assert "compression: 11 entries, for example " in ran.stdout
    assert "folders listed on one side only: acme_skills/ (B)" in ran.stdout


def test_the_json_is_the_whole_difference(wheel: Path, changed: Path) -> None:
    """One document."""
    ran = call("diff", str(wheel), str(changed), "--json")
    sides = [open_input(str(path)) for path in (wheel, changed)]
    assert ran.json == compare_inputs(*sides).to_dict()


def test_much_is_cut_unless_all_is_wanted(tmp_path: Path) -> None:
    """Each part by itself, with the number of what is left out."""
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        for number in range(20):
            text = f"{name}\n" * 5
            (tmp_path / name / f"{number:02}.md").write_text(text, encoding="utf-8")
    ran = call("diff", str(tmp_path / "a"), str(tmp_path / "b"))
    assert "and 8 more; --verbose shows all" in ran.stdout
    assert "more lines; --verbose shows all" in ran.stdout
    whole = call("diff", str(tmp_path / "a"), str(tmp_path / "b"), "--verbose")
    assert "--verbose" not in whole.stdout
    assert whole.stdout.splitlines().count("+b") == 100


def test_what_was_not_read_is_named(tmp_path: Path) -> None:
    """Exit 3 if nothing else differs."""
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "link").symlink_to("nowhere")
    ran = call("diff", str(tmp_path / "a"), str(tmp_path / "b"))
    assert ran.code == 3
    assert "as far as they can be read" in ran.stdout
    assert "  link: is a link, or is in a linked folder" in ran.stdout


@pytest.mark.parametrize(
    ("name", "code"), [("no.whl", 3), ("no/lock.json", 3), ("no-such-collection", 2)]
)
def test_what_is_not_there_is_said(wheel: Path, name: str, code: int) -> None:
    """With its name, on standard error."""
    ran = call("diff", str(wheel), name)
    assert (ran.code, ran.stdout) == (code, "")
    assert name.rpartition("/")[2] in ran.stderr


def test_one_side_is_a_usage_error(wheel: Path) -> None:
    """Exit 2."""
    assert call("diff", str(wheel)).code == 2


def test_skills_come_before_what_a_build_makes(wheel: Path, changed: Path) -> None:
    """A list that is cut keeps what a reader looks for."""
    ran = call("diff", str(wheel), str(changed), "--no-text")
    assert ran.stdout.index("greet/SKILL.md") < ran.stdout.index(".dist-info/RECORD")

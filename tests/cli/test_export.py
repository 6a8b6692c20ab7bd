"""`export`: on one screen, as JSON, and with the exit codes it promises."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.cli.installed import SKILLS, install_beside
from tests.cli.runner import call

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.cli.installed import OwnInstallation
    from tests.cli.runner import Ran

    Ask = Callable[..., Ran]


def test_an_export_says_what_it_holds(ask_whole: Ask, tmp_path: Path) -> None:
    """Exit 0, skills, files, lock and receipt on one screen."""
    ran = ask_whole("export", str(tmp_path / "skills"))
    assert (ran.code, ran.stderr) == (0, "")
    assert "Exported 3 skills with 8 files" in ran.stdout
    assert "the installation's, unchanged" in ran.stdout
    assert {path.name for path in tmp_path.glob("skills/*")} >= {*(p.split("/")[0] for p in SKILLS)}


def test_json_gives_the_same_for_programs(ask_whole: Ask, tmp_path: Path) -> None:
    """With digests of both locks."""
    found = ask_whole("export", str(tmp_path / "one"), "--skill", "alpha", "--json").json
    assert (found["lock"], found["receipt"]) == ("recomputed", False)
    assert [row["path"] for row in found["skills"]] == ["alpha"]


def test_an_altered_skill_exits_1_and_names_what_looks_into_it(
    place: OwnInstallation, tmp_path: Path
) -> None:
    """Nothing is exported."""
    (place.skills / "alpha/SKILL.md").write_text("changed", encoding="utf-8")
    ran = place.ask("export", str(tmp_path / "skills"))
    assert (ran.code, ran.stdout) == (1, "")
    assert "alpha/SKILL.md" in ran.stderr
    assert "run `skills-bundle verify`" in ran.stderr
    assert list(tmp_path.glob("skills*")) == []


def test_a_folder_that_is_in_use_exits_2(ask_whole: Ask, tmp_path: Path) -> None:
    """What lies there is named."""
    (tmp_path / "mine.md").touch()
    ran = ask_whole("export", str(tmp_path))
    assert ran.code == 2
    assert "mine.md" in ran.stderr


def test_an_unknown_skill_exits_2(ask_whole: Ask, tmp_path: Path) -> None:
    """With what was probably meant."""
    ran = ask_whole("export", str(tmp_path / "skills"), "--skill", "alpah")
    assert ran.code == 2
    assert "did you mean alpha?" in ran.stderr


def test_a_source_checkout_exits_3(tmp_path: Path) -> None:
    """It says why, and leaves nothing."""
    ran = call("export", str(tmp_path / "skills"))
    assert ran.code == 3
    assert "runs from its source" in ran.stderr
    assert list(tmp_path.iterdir()) == []


def test_another_collection_is_exported_by_its_name(place: OwnInstallation, tmp_path: Path) -> None:
    """Its own lock and receipt go along."""
    other = install_beside(place)
    ran = place.ask("export", str(tmp_path / "acme"), "--collection", "acme", "--json")
    assert ran.json["package_name"] == other.name
    assert (tmp_path / "acme/catalog.lock.json").read_bytes() == other.lock.read_bytes()

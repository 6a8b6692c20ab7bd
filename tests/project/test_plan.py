"""Names and places of a bundle: asked for, said already, found; never guessed among several."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from skills_bundle.errors import SettingsError
from skills_bundle.project import existing
from skills_bundle.project.plan import InitOptions, choose_layout

if TYPE_CHECKING:
    from pathlib import Path

    from skills_bundle.project.plan import Layout


def chosen(folder: Path, options: InitOptions | None = None) -> Layout:
    """Choose for a folder without a project."""
    return choose_layout(
        existing.read_files(folder),
        existing.parse_configuration(None, None),
        options or InitOptions(name="acme"),
    )


def skills(folder: Path, *paths: str) -> None:
    """Write skills."""
    for path in paths:
        (folder / path).mkdir(parents=True)
        text = f"---\nname: {path.rsplit('/', 1)[-1]}\ndescription: X.\n---\n"
        (folder / path / "SKILL.md").write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    ("paths", "folder"),
    [
        (["skills/a", "skills/b/c"], "skills"),
        (["skills/a", "template"], "skills"),
        (["plugins/p/skills/a", "plugins/q/skills/b"], "plugins"),
        (["deep/down/a"], "deep/down"),
        (["a", "b"], "."),
        ([".claude/skills/a", "skills/b"], "skills"),
        ([".claude/skills/a", "lib/b"], "lib"),
        ([".claude/skills/a"], ".claude/skills"),
        ([], "skills"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else value,  # pyright: ignore[reportUnknownArgumentType, reportUnknownLambdaType]
)
def test_the_skills_folder_is_where_skills_are(
    tmp_path: Path, paths: list[str], folder: str
) -> None:
    """The folder called so, else the deepest one that holds them all."""
    skills(tmp_path, *paths)
    assert chosen(tmp_path).skills == folder


def test_a_folder_that_is_a_skill_itself_is_asked_about(tmp_path: Path) -> None:
    """A project cannot be its own only skill."""
    (tmp_path / "SKILL.md").write_text("---\nname: x\ndescription: X.\n---\n", encoding="utf-8")
    with pytest.raises(SettingsError, match="--skills: the folder is a skill itself"):
        chosen(tmp_path)


def test_options_come_first(tmp_path: Path) -> None:
    """Whatever else is there."""
    skills(tmp_path, "skills/a", "other/b")
    found = chosen(tmp_path, InitOptions(name="acme", skills="other", collection="c", package="p"))
    assert (found.skills, found.collection, found.package) == ("other", "c", "p")
    assert found.left_out == ("skills/a",)


def test_a_new_package_lies_where_packages_lie(tmp_path: Path) -> None:
    """At the top if they do, else below src."""
    assert chosen(tmp_path).package_folder == "src/acme"
    (tmp_path / "other").mkdir()
    (tmp_path / "other/__init__.py").touch()
    found = chosen(tmp_path, InitOptions(name="acme", package="mine"))
    assert found.package_folder == "mine"


def test_a_folders_name_is_made_one_for_a_distribution(tmp_path: Path) -> None:
    """Where no name is given."""
    (tmp_path / "My Skills!").mkdir()
    assert chosen(tmp_path / "My Skills!", InitOptions()).name == "my-skills"


def test_a_name_that_gives_no_package_asks_for_one(tmp_path: Path) -> None:
    """An import package cannot begin with a digit."""
    with pytest.raises(SettingsError, match=r"--package: .* must be the dotted name"):
        chosen(tmp_path, InitOptions(name="3d-tools"))


@pytest.mark.parametrize("name", ["ключ", "---", ""])
def test_a_name_that_no_distribution_can_have_is_refused(tmp_path: Path, name: str) -> None:
    """With the option that gives another."""
    with pytest.raises(SettingsError, match="--name: "):
        chosen(tmp_path, InitOptions(name=name))

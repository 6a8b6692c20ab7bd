"""What is found in a folder: packages, skills, files; nothing of it is run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from skills_bundle.errors import SettingsError
from skills_bundle.project.existing import read_files

if TYPE_CHECKING:
    from pathlib import Path


def touch(folder: Path, *paths: str) -> None:
    """Make empty files."""
    for path in paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).touch()


@pytest.mark.parametrize(
    ("files", "packages"),
    [
        (["src/acme/__init__.py", "src/acme/sub/__init__.py"], {"acme": "src/acme"}),
        (["acme/__init__.py", "tests/__init__.py", "docs/__init__.py"], {"acme": "acme"}),
        (["src/acme/tools/__init__.py"], {"acme.tools": "src/acme/tools"}),
        (["src/a/__init__.py", "tools/b/__init__.py"], {"a": "src/a"}),
        (["src/no-name/__init__.py", "src/.hidden/__init__.py"], {}),
        ([], {}),
    ],
    ids=["src", "flat", "namespace", "src goes first", "no names", "nothing"],
)
def test_packages_are_found_by_their_layout(
    tmp_path: Path, files: list[str], packages: dict[str, str]
) -> None:
    """The top one of each, or the first below a namespace."""
    touch(tmp_path, *files)
    assert read_files(tmp_path).packages == packages


def test_skills_that_tools_have_put_there_are_passed_over(tmp_path: Path) -> None:
    """An environment in the folder brings others' skills."""
    skill = "---\nname: x\ndescription: X.\n---\n"
    for place in (".venv/lib/pkg/.agents/skills/x", "node_modules/y/skills/x", "mine/x"):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "SKILL.md").write_text(skill, encoding="utf-8")
    assert read_files(tmp_path).skill_folders == ("mine/x",)


def test_a_folder_that_is_not_there_holds_nothing(tmp_path: Path) -> None:
    """It can be made."""
    found = read_files(tmp_path / "new")
    assert (found.present, found.packages, found.skill_folders) == (frozenset(), {}, ())


def test_a_file_in_the_place_of_a_project_is_refused(tmp_path: Path) -> None:
    """With its name."""
    touch(tmp_path, "file")
    with pytest.raises(SettingsError, match="file: is not a folder"):
        read_files(tmp_path / "file")


def test_every_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    """In one run; a folder under the name of a file is one."""
    (tmp_path / "pyproject.toml").mkdir()
    (tmp_path / ".gitattributes").symlink_to("elsewhere")
    with pytest.raises(SettingsError) as caught:
        read_files(tmp_path)
    assert [row.path for row in caught.value.problems] == ["pyproject.toml", ".gitattributes"]


def test_a_pipe_makes_nobody_wait(tmp_path: Path) -> None:
    """Where a module of a script could lie, too."""
    import os  # noqa: PLC0415 - only POSIX has pipes

    touch(tmp_path, "src/acme/__init__.py")
    os.mkfifo(tmp_path / "src/acme/__main__.py")
    assert read_files(tmp_path).command_modules == {}

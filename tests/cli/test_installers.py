"""Who made an environment, and the command that repairs it there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from skills_bundle import __version__
from skills_bundle.cli import installers

if TYPE_CHECKING:
    from pathlib import Path

WANTED = "skills-bundle==1.0"


def _environment(folder: Path, mark: str | None) -> Path:
    """Make what an installer leaves in an environment's folder."""
    folder.mkdir(parents=True)
    if mark is not None:
        (folder / mark).write_text("", encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("place", "mark", "has_pip", "command"),
    [
        ("tools/x", "uv-receipt.toml", False, f"uv tool install --reinstall {WANTED}"),
        ("venvs/mine", "pipx_metadata.json", True, "pipx reinstall mine"),
        (
            "cache/5d3f",
            "pipx_metadata.json",
            True,
            f"/p/python -m pip install --force-reinstall --no-deps {WANTED}",
        ),
        (
            ".venv",
            None,
            True,
            f"/p/python -m pip install --force-reinstall --no-deps {WANTED}",
        ),
        (".venv", None, False, f"uv pip install --python /p/python --reinstall {WANTED}"),
    ],
)
def test_each_environment_is_repaired_by_what_made_it(
    tmp_path: Path, place: str, mark: str | None, command: str, *, has_pip: bool
) -> None:
    """Never by a pip that is not there, nor by an interpreter that is another's."""
    prefix = _environment(tmp_path / place, mark)
    installer = installers.installer_of(prefix, "/p/python", has_pip=has_pip)
    assert installers.reinstall_command(WANTED, installer) == command


@pytest.mark.parametrize(
    ("kind", "command"),
    [
        ("uv_tool", f"uv tool install --reinstall --with acme==1 skills-bundle=={__version__}"),
        ("pipx", "pipx inject --force mine acme==1"),
    ],
)
def test_a_guest_in_our_environment_is_repaired_as_a_guest(
    kind: installers.Kind, command: str
) -> None:
    """Installing it as a tool of its own would leave ours as it is."""
    installer = installers.Installer(kind, "/p/python", "mine")
    assert installers.reinstall_command("acme==1", installer) == command


@pytest.mark.parametrize(
    ("kind", "start"),
    [
        ("uv_tool", "uv tool install "),
        ("pipx", "pipx install --force "),
        ("pip", "/p/python -m pip install "),
        ("uv", "uv pip install --python /p/python "),
    ],
)
def test_an_extra_is_added_by_a_command_that_a_shell_takes(
    kind: installers.Kind, start: str
) -> None:
    """Brackets are quoted, and the version stays."""
    installer = installers.Installer(kind, "/p/python", "skills-bundle")
    wanted = f"'skills-bundle[hatch]=={__version__}'"
    assert installers.extra_command("hatch", installer) == start + wanted


def test_a_path_with_a_space_is_quoted() -> None:
    """The command can be pasted."""
    installer = installers.Installer("pip", "/my place/python", "x")
    assert installers.reinstall_command(WANTED, installer).startswith("'/my place/python' -m pip ")

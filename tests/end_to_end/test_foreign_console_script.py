"""A project's own command runs from its wheel, with nothing installed, and serves it alone."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from uv import find_uv_bin

from tests.cli.runner import call
from tests.end_to_end.conftest import once
from tests.end_to_end.foreign_project import built, committed
from tests.end_to_end.test_build_foreign import offline

if TYPE_CHECKING:
    from pathlib import Path

LAUNCHERS = {
    "uvx": (find_uv_bin(), "tool", "run", "--python", sys.executable, "--from", "{wheel}"),
    "pipx": (sys.executable, "-m", "pipx", "run", "--python", sys.executable, "--spec", "{wheel}"),
}


@pytest.fixture(scope="module")
def wheel(wheelhouse: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build what `init --console-script` makes."""

    def make(folder: Path) -> None:
        ran = call("init", str(folder / "acme-skills"), "--console-script", "acme-skills")
        assert ran.code == 0, ran.stderr
        committed(folder / "acme-skills")
        built(folder / "acme-skills", wheelhouse, folder / "out")

    (found,) = once(tmp_path_factory, "own-command", make).glob("out/*.whl")
    return found


@pytest.mark.parametrize("launcher", LAUNCHERS.values(), ids=LAUNCHERS)
def test_the_command_runs_from_the_wheel(
    launcher: tuple[str, ...], wheel: Path, wheelhouse: Path, tmp_path: Path
) -> None:
    """Its version is the distribution's, its skills are its own, and a host is served them."""

    def run(*arguments: str) -> str:
        command = [word.format(wheel=wheel) for word in launcher]
        environment = {
            **offline(wheelhouse),
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": wheelhouse.as_uri(),
            "PIPX_HOME": str(tmp_path / "pipx"),
        }
        for name in ("PYTHONPATH", "PYTHONWARNDEFAULTENCODING"):
            environment.pop(name, None)
        done = subprocess.run(
            [*command, "acme-skills", *arguments],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
        return done.stdout

    assert run("--version").startswith("acme-skills 0.1.0 (skills-bundle ")
    found = json.loads(run("catalog", "search", "--json"))
    assert [row["path"] for row in found["skills"]] == ["example-skill"]
    report = json.loads(run("mcp", "check", "--json"))
    assert (report["ok"], report["provenance"]["package_name"]) == (True, "acme-skills")
    assert json.loads(run("verify", "--json"))["package_name"] == "acme-skills"

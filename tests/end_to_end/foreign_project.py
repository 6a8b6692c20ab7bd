"""Somebody else's project, built by uv from a folder of wheels and installed beside ours."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from dataclasses import dataclass
from typing import TYPE_CHECKING

from uv import find_uv_bin

from skills_bundle.bundle import receipt
from tests.end_to_end.test_build_foreign import built, offline
from tests.hatch_plugin.sample import git

if TYPE_CHECKING:
    from pathlib import Path

    from skills_bundle.bundle.receipt import BuildReceipt

SKILL = "---\nname: greet\ndescription: Greets. Use when somebody arrives.\n---\n\n# Greet\n"


@dataclass(frozen=True, slots=True)
class Place:
    """An environment, and a folder to stand in that has nothing to do with it."""

    environment: Path
    elsewhere: Path
    wheelhouse: Path

    def run(self, program: str, *arguments: str | Path) -> str:
        """Run a program of the environment; it has to exit 0."""
        command = self.environment / "bin" / program
        return ran(self.wheelhouse, command, *arguments, cwd=self.elsewhere)


def ran(wheelhouse: Path, *command: str | Path, cwd: Path) -> str:
    """Run a command that knows no index; it has to exit 0."""
    done = subprocess.run(
        command,
        cwd=cwd,
        env=offline(wheelhouse),
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def installed(room: Path, wheelhouse: Path, *wheels: str | Path) -> Place:
    """Install wheels into an environment of their own."""
    environment, elsewhere = room / "environment", room / "elsewhere"
    elsewhere.mkdir(parents=True)
    command = (find_uv_bin(), "venv", "--quiet", "--python", sys.executable)
    ran(wheelhouse, *command, environment, cwd=room)
    python = environment / "bin" / "python"
    command = (find_uv_bin(), "pip", "install", "--quiet", "--python", python)
    ran(wheelhouse, *command, *wheels, cwd=room)
    return Place(environment, elsewhere, wheelhouse)


def skill(folder: Path) -> None:
    """Write a skill called `greet` into a folder of skills."""
    (folder / "greet").mkdir(parents=True)
    (folder / "greet" / "SKILL.md").write_text(SKILL, encoding="utf-8", newline="\n")


def committed(repository: Path) -> str:
    """Commit everything; give the commit."""
    if not (repository / ".git").exists():
        git(repository, "init", "--quiet")
    git(repository, "add", ".")
    author = ("-c", "user.name=Acme", "-c", "user.email=acme@acme.example")
    git(repository, *author, "commit", "--quiet", "-m", "Ship our skills")
    return git(repository, "rev-parse", "HEAD").strip()


def receipt_of(wheel: Path) -> BuildReceipt:
    """Return the receipt in a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        name = next(row for row in archive.namelist() if row.endswith("build-receipt.json"))
        return receipt.parse(archive.read(name))


__all__ = ["Place", "built", "committed", "installed", "ran", "receipt_of", "skill"]

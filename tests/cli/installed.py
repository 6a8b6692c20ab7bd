"""This very package, installed with a small bundle, for commands that look at what runs them."""

from __future__ import annotations

import compileall
import json
import os
import shutil
import subprocess
import sysconfig
import venv
from dataclasses import dataclass
from pathlib import Path

import skills_bundle
from skills_bundle import __version__
from tests.cli.runner import Ran, spawn
from tests.installed_builder import (
    SAMPLE,
    Files,
    Installation,
    InstalledBuilder,
    lock_of,
    metadata_of,
    receipt_of,
)

LONG = b"# Long\n" + "ünïcödé ".encode() * 8_000
"""Longer than one page of a read, and not only ASCII."""

SKILLS: dict[str, Files] = {
    **SAMPLE,
    "long": {
        "SKILL.md": b"---\nname: long\ndescription: Long text.\n---\n",
        "references/long.md": LONG,
    },
}

WINDOWS = os.name == "nt"


@dataclass(kw_only=True)
class OwnInstallation(Installation):
    """An installation of this package in a virtual environment of its own.

    Attributes:
        environment: The environment's folder; a copy of it is another environment.
    """

    environment: Path

    @property
    def python(self) -> str:
        """The environment's interpreter."""
        name = "Scripts/python.exe" if WINDOWS else "bin/python"
        return str(self.environment / name)

    def ask(self, *arguments: str, cwd: Path | None = None) -> Ran:
        """Run a command of this installation in a process of its own."""
        return spawn(*arguments, cwd=cwd or self.environment, python=self.python)

    def copied(self, to: Path) -> OwnInstallation:
        """Copy the environment, links as links."""
        shutil.copytree(self.environment, to, symlinks=True)
        return at(to)


def at(environment: Path) -> OwnInstallation:
    """Return where our package is in an environment."""
    site = sysconfig.get_path("purelib", "venv", vars={"base": str(environment)})
    return OwnInstallation(
        environment=environment,
        site=Path(site),
        package="skills_bundle",
        name="skills-bundle",
        version=__version__,
    )


def install(
    environment: Path, fields: dict[str, dict[str, object]] | None = None
) -> OwnInstallation:
    """Make an environment that holds our own code, `SKILLS`, lock, receipt, metadata and RECORD.

    What we depend on comes from the environment that runs the tests.

    Args:
        environment: The folder to make.
        fields: By skill, what the lock says otherwise than `lock_of` would.
    """
    venv.EnvBuilder(symlinks=not WINDOWS).create(environment)
    made = at(environment)
    dependencies = Path(sysconfig.get_path("purelib"))
    (made.site / "dependencies.pth").write_text(f"{dependencies}\n", encoding="utf-8")
    source = Path(skills_bundle.__file__).parent
    shutil.copytree(source, made.folder, ignore=shutil.ignore_patterns("__pycache__", ".agents"))
    for path, files in SKILLS.items():
        for name, data in files.items():
            file = made.skills / path / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
    lock = lock_of(SKILLS, fields)
    made.lock.write_bytes(lock.to_bytes())
    receipt = receipt_of(lock, name="skills-bundle", version=__version__)
    made.receipt.write_bytes(receipt.to_bytes())
    made.dist_info.mkdir()
    (made.dist_info / "METADATA").write_bytes(metadata_of("skills-bundle", __version__))
    made.write_record()
    # As installers do; it also spares every test's process the compiling.
    compileall.compile_dir(made.folder, quiet=1)
    return made


def install_beside(made: OwnInstallation, collection: str = "acme") -> Installation:
    """Install another package that declares its skills as a collection.

    Args:
        made: The environment to install into.
        collection: What its entry point calls it.
    """
    other = InstalledBuilder(code={"__init__.py": b"raise RuntimeError\n"}).install(made.site)
    text = f"[skills_bundle.collections]\n{collection} = {other.package}\n"
    (other.dist_info / "entry_points.txt").write_text(text, encoding="utf-8")
    return other


class WarmProcess:
    """A process of this installation that runs one command after the other.

    For the many tests that ask a whole installation: starting Python for each would cost them half
    a second.

    Args:
        place: The installation.
    """

    def __init__(self, place: OwnInstallation) -> None:
        """Start it."""
        root = Path(__file__).parents[2]
        self._process = subprocess.Popen(
            [place.python, "-P", "-m", "tests.cli.warm"],
            env={**os.environ, "PYTHONPATH": str(root)},
            cwd=place.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def ask(self, *arguments: str) -> Ran:
        """Run one command and give what it printed and its exit code."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(json.dumps(arguments).encode() + b"\n")
        stdin.flush()
        return Ran(**json.loads(stdout.readline()))

    def close(self) -> None:
        """End it."""
        self._process.communicate(timeout=60)

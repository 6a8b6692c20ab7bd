"""A small project of somebody else's that uses the hook, in a real git repository.

`SampleProject.create` gives one that builds; a test changes one thing and builds again. Builds run
in this process through hatchling's own builders, so that a test takes tens of milliseconds.
"""

from __future__ import annotations

import io
import os
import subprocess
import tarfile
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hatchling.builders.sdist import SdistBuilder
from hatchling.builders.wheel import WheelBuilder

from skills_bundle.bundle import receipt
from skills_bundle.project import project

if TYPE_CHECKING:
    from skills_bundle.bundle.receipt import BuildReceipt
    from skills_bundle.hatch_plugin.selection import Builder

SKILL_MD = b"---\nname: greet\ndescription: Says hello. Use when greeting.\n---\n\n# Greet\n"

PYPROJECT = """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "Acme.Skills"
version = "1.0"

[project.entry-points."skills_bundle.collections"]
acme-skills = "acme_skills"

[tool.hatch.build]
ignore-vcs = true

[tool.hatch.build.targets.wheel]
packages = ["src/acme_skills"]

[tool.hatch.build.hooks.custom]
skills = "skills"
repository = "https://example.org/acme/skills"
source-ref = "refs/tags/v{version}"
"""

FILES = {
    "pyproject.toml": PYPROJECT.encode(),
    "hatch_build.py": (
        b"from skills_bundle.hatch_plugin.build_hook import SkillsBundleBuildHook\n"
        b"\n"
        b"__all__ = ['SkillsBundleBuildHook']\n"
    ),
    ".gitignore": b"dist/\n*.log\n.env\n",
    "src/acme_skills/__init__.py": b'"""Acme."""\n',
    "src/acme_skills/run.sh": b"#!/bin/sh\necho run\n",
    "skills/greet/SKILL.md": SKILL_MD,
    "skills/greet/scripts/hi.sh": b"#!/bin/sh\necho hi\n",
}
EXECUTABLE = ("src/acme_skills/run.sh", "skills/greet/scripts/hi.sh")
BUNDLE = "acme_skills/.agents"


@dataclass(frozen=True, slots=True)
class SampleProject:
    """The project's folder; the repository's unless a test says otherwise."""

    folder: Path

    @classmethod
    def create(cls, folder: Path, *, repository: Path | None = None) -> SampleProject:
        """Write the files, lock them and commit all of it.

        Args:
            folder: The project's; made with its parents.
            repository: Where `git init` runs, if not there.
        """
        sample = cls(folder)
        for path, data in FILES.items():
            sample.write(path, data)
        for path in EXECUTABLE:
            (folder / path).chmod(0o755)
        git(repository or folder, "init", "--quiet", "--initial-branch=main")
        return sample.locked().committed()

    def write(self, path: str, data: bytes) -> SampleProject:
        """Write a file, folders included."""
        place = self.folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
        return self

    def replace(self, path: str, old: str, new: str) -> SampleProject:
        """Change text that must be there exactly once."""
        text = (self.folder / path).read_text(encoding="utf-8")
        assert text.count(old) == 1
        return self.write(path, text.replace(old, new).encode())

    def configure(self, line: str) -> SampleProject:
        """Add a line to the hook's table, the last one in pyproject.toml."""
        place = self.folder / "pyproject.toml"
        return self.write("pyproject.toml", place.read_bytes() + line.encode() + b"\n")

    def locked(self) -> SampleProject:
        """Write the lock anew."""
        project.write_lock(project.load(self.folder))
        return self

    def committed(self) -> SampleProject:
        """Commit everything that git does not ignore."""
        git(self.folder, "add", "--all")
        git(self.folder, "commit", "--quiet", "--message", "A change")
        return self

    def commit_id(self) -> str:
        """Return the full id of the commit."""
        return git(self.folder, "rev-parse", "HEAD").strip()

    def wheel(self, name: str = "dist", *, version: str = "standard") -> Path:
        """Build a wheel into a folder of this name in the project."""
        builder = WheelBuilder(str(self.folder))
        return Path(next(builder.build(directory=self._out(name), versions=[version])))

    def sdist(self, name: str = "dist") -> Path:
        """Build an sdist likewise."""
        builder = SdistBuilder(str(self.folder))
        return Path(next(builder.build(directory=self._out(name), versions=["standard"])))

    def _out(self, name: str) -> str:
        return str(self.folder / name)


def wheel_builder(folder: Path) -> Builder:
    """Return hatchling's builder of wheels for a project."""
    return WheelBuilder(str(folder))


def git(folder: Path, *arguments: str) -> str:
    """Run git as somebody whose own configuration does not matter, at a fixed time."""
    who = {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in WHO}
    environment = {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": os.devnull, **who}
    finished = subprocess.run(
        ["git", "-c", "safe.directory=*", *arguments],
        cwd=folder,
        env=environment,
        check=True,
        capture_output=True,
        encoding="utf-8",
    )
    return finished.stdout


WHO = (("NAME", "Ada"), ("EMAIL", "ada@example.org"), ("DATE", "2026-01-02T03:04:05Z"))


def wheel_files(wheel: Path) -> dict[str, bytes]:
    """Return a wheel's members by path."""
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def sdist_files(sdist: Path) -> dict[str, bytes]:
    """Return an sdist's regular files by path below its top folder."""
    with tarfile.open(sdist) as archive:
        return {
            info.name.partition("/")[2]: file.read()
            for info in archive
            if (file := archive.extractfile(info)) is not None
        }


def unpacked(sdist: Path, folder: Path) -> SampleProject:
    """Unpack an sdist as an installer does."""
    with tarfile.open(fileobj=io.BytesIO(sdist.read_bytes())) as archive:
        archive.extractall(folder, filter="data")
    return SampleProject(folder / sdist.name.removesuffix(".tar.gz"))


def receipt_of(archive: Path) -> BuildReceipt:
    """Read the receipt of a wheel or sdist of the sample project."""
    if archive.suffix == ".whl":
        return receipt.parse(wheel_files(archive)[f"{BUNDLE}/build-receipt.json"])
    return receipt.parse(sdist_files(archive)["build-receipt.json"])

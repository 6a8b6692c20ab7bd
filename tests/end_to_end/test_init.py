"""From `init` to a server: what it makes is committed, built, installed, verified and served."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from tests.end_to_end.conftest import once
from tests.end_to_end.foreign_project import (
    Place,
    built,
    committed,
    installed,
    receipt_of,
    skill,
)
from tests.repository.pages import page

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

HATCHLING = """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "acme-tools"
version = "3.1"
"""
THREE_LINES = """\
[build-system]
requires = ["hatchling", "skills-bundle"]
build-backend = "hatchling.build"

[project]
name = "acme-tools"
version = "3.1"
entry-points."skills_bundle.collections" = { acme-tools = "acme_tools" }

[tool.hatch.build.hooks.skills-bundle]
"""


@pytest.fixture(scope="module")
def ours(wheelhouse: Path, tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Install our wheel alone, as `uv tool install` does."""

    def make(folder: Path) -> None:
        folder.mkdir()
        installed(folder, wheelhouse, "skills-bundle[hatch]")

    folder = once(tmp_path_factory, "init-tool", make)
    return Place(folder / "environment", folder / "elsewhere", wheelhouse)


def package(folder: Path, path: str, code: str = "") -> None:
    """Write an import package."""
    (folder / path).mkdir(parents=True)
    (folder / path / "__init__.py").write_text(code, encoding="utf-8")


def existing(folder: Path, path: str = "src/acme_tools") -> None:
    """Write a hatchling project with a skill."""
    package(folder, path)
    skill(folder / "skills")
    (folder / "pyproject.toml").write_text(HATCHLING, encoding="utf-8")


def flat(folder: Path) -> None:
    """Have the package at the top."""
    existing(folder, "acme_tools")


def namespace(folder: Path) -> None:
    """Have it in a namespace that others share."""
    existing(folder, "src/acme/tools")
    wheel = '\n[tool.hatch.build.targets.wheel]\npackages = ["src/acme"]\n'
    (folder / "pyproject.toml").write_text(HATCHLING + wheel, encoding="utf-8")


def with_hatch_toml(folder: Path) -> None:
    """Have the build's settings in a file of their own, and a computed version."""
    existing(folder)
    text = HATCHLING.replace('version = "3.1"', 'dynamic = ["version"]')
    (folder / "pyproject.toml").write_text(text, encoding="utf-8")
    version = 'version.path = "src/acme_tools/__init__.py"\n[build]\nexclude = ["*.md"]\n'
    (folder / "hatch.toml").write_text(version, encoding="utf-8")
    (folder / "src/acme_tools/__init__.py").write_text('__version__ = "3.1"\n', encoding="utf-8")


def excluding(folder: Path) -> None:
    """Have the wheel leave out everything that is not code."""
    existing(folder)
    wheel = "\n[tool.hatch.build.targets.wheel]\nexclude = ['*.md', '*.json']\n"
    sdist = "[tool.hatch.build.targets.sdist]\nonly-include = ['src']\n"
    (folder / "pyproject.toml").write_text(HATCHLING + wheel + sdist, encoding="utf-8")


def three_lines(folder: Path) -> None:
    """Have the hook by hand, with the three lines of the documentation."""
    existing(folder)
    (folder / "pyproject.toml").write_text(THREE_LINES, encoding="utf-8")


def nothing(folder: Path) -> None:
    """Have no project at all."""
    folder.mkdir(parents=True)


@dataclass(frozen=True, slots=True)
class Layout:
    """A project to be, where it lies below its repository, and what it is called."""

    make: Callable[[Path], None]
    below: str = "."
    collection: str = "acme-tools"
    options: tuple[str, ...] = ()


def new_namespace(folder: Path) -> None:
    """Have no project at all, beside code that is none of it."""
    skill(folder / "skills")
    package(folder, "tools/adapters")


LAYOUTS = {
    "src": Layout(existing),
    "flat": Layout(flat),
    "namespace": Layout(namespace),
    "monorepo": Layout(existing, "libs/tools"),
    "hatch.toml": Layout(with_hatch_toml),
    "excluding": Layout(excluding),
    "new": Layout(nothing, "acme-tools"),
    "new, in a namespace": Layout(new_namespace, "acme-tools", options=("--package", "acme.tools")),
}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_what_init_makes_builds_clean_and_serves(
    layout: Layout, ours: Place, wheelhouse: Path, tmp_path: Path
) -> None:
    """The receipt names the commit, and the installed collection is verified and read."""
    repository = tmp_path / "repository"
    folder = repository / layout.below
    layout.make(folder)
    ours.run("skills-bundle", "init", folder, *layout.options)
    commit = committed(repository)
    wheel = built(folder, wheelhouse, tmp_path / "out")
    assert (receipt_of(wheel).source.state, receipt_of(wheel).source.commit) == ("clean", commit)
    place = installed(tmp_path, wheelhouse, "skills-bundle", wheel)
    option = ("--collection", layout.collection)
    verified = json.loads(place.run("skills-bundle", "verify", *option, "--json"))
    assert verified["verdict"] == "match"
    assert json.loads(place.run("skills-bundle", "mcp", "check", *option, "--json"))["ok"] is True


def test_three_lines_are_enough(ours: Place, wheelhouse: Path, tmp_path: Path) -> None:
    """Those that the documentation shows; the lock is made by `lock`."""
    folder = tmp_path / "repository"
    three_lines(folder)
    ours.run("skills-bundle", "lock", folder)
    commit = committed(folder)
    wheel = built(folder, wheelhouse, tmp_path / "out")
    assert receipt_of(wheel).source.commit == commit
    place = installed(tmp_path, wheelhouse, "skills-bundle", wheel)
    assert "every file" in place.run("skills-bundle", "verify", "--collection", "acme-tools")


def test_the_documentation_shows_those_three_lines() -> None:
    """Each as it was tried."""
    blocks = page("docs/how-to/use-the-hook-in-your-project.md").blocks()
    (block,) = [row.text for row in blocks if "# anywhere" in row.text]
    shown = [line.split("  #")[0].split("   #")[0].strip() for line in block.splitlines()]
    tried = THREE_LINES.replace("acme-tools", "acme-skills").replace("acme_tools", "acme_skills")
    assert [line for line in shown if line.replace("==0.1.0", "") not in tried] == []

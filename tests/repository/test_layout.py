"""The top level and `build/` hold what they should, and nothing else."""

from __future__ import annotations

import subprocess

from tests.repository.pages import ROOT

TOP_LEVEL = {
    ".ci",
    ".gitattributes",
    ".gitignore",
    "LICENSE",
    "README.md",
    "benchmarks",
    "build-constraints.txt",
    "build",
    "catalog.lock.json",
    "docs",
    "noxfile.py",
    "pyproject.toml",
    "skills",
    "src",
    "tests",
}
ONLY_IN_AN_SDIST = {"PKG-INFO", "build-receipt.json"}
NOT_IN_AN_SDIST = {".ci"}
DATA = {"skill_folders", "vectors"}


def _files() -> set[str]:
    """Return the repository's files: what git tracks, or in an unpacked sdist what is on disk."""
    if (ROOT / ".git").exists():
        command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        listed = subprocess.run(
            command, cwd=ROOT, capture_output=True, check=True, encoding="utf-8"
        )
        return {name for name in listed.stdout.split("\0") if name and (ROOT / name).exists()}
    return {file.relative_to(ROOT).as_posix() for file in ROOT.rglob("*") if file.is_file()}


def test_the_top_level_holds_only_the_prescribed_entries() -> None:
    """Everything at the top has a purpose that the architecture page names."""
    found = {name.split("/")[0] for name in _files()}
    assert found - ONLY_IN_AN_SDIST | NOT_IN_AN_SDIST == TOP_LEVEL


def test_build_holds_exactly_the_doorway_and_its_readme() -> None:
    """An `__init__.py` in `build/` would hide the front end of the same name."""
    found = {name for name in _files() if name.startswith("build/")}
    assert found == {"build/README.md", "build/hatch_build.py"}


def test_build_is_not_ignored_by_the_ignore_file() -> None:
    """Hatchling drops ignored files from an sdist, and many ignore files list `build/`."""
    entries = (ROOT / ".gitignore").read_text(encoding="utf-8").split()
    assert not {"build", "build/", "/build", "/build/"} & set(entries)


def test_every_folder_of_tests_with_code_is_a_package() -> None:
    """Without `__init__.py` at every level, a test folder can hide an installed package."""
    files = [file.relative_to(ROOT / "tests") for file in (ROOT / "tests").rglob("*.py")]
    folders = {ROOT / "tests" / file.parent for file in files if file.parts[0] not in DATA}
    assert [folder for folder in sorted(folders) if not (folder / "__init__.py").exists()] == []

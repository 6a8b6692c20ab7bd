"""What git neither tracks nor ignores."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from skills_bundle.git.checkout import inspect
from tests.hatch_plugin.sample import SampleProject, git

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def sample(tmp_path: Path) -> SampleProject:
    """Give a committed project."""
    return SampleProject.create(tmp_path / "acme")


def test_a_file_that_only_libgit2_ignores_is_dirt(sample: SampleProject) -> None:
    """Git shows it as untracked, and so do we."""
    sample.write(".git/info/exclude", b"*.md\n").write(".gitignore", b"!notes.md\n").committed()
    sample.write("notes.md", b"")
    assert inspect(sample.folder, "skills").reason == "dirty_source"


def test_an_ignored_folder_is_not_looked_into(sample: SampleProject) -> None:
    """However much there is in it."""
    sample.write(".gitignore", b"/env/\n").committed().write("env/lib/x.py", b"")
    assert inspect(sample.folder, "skills").state == "clean"


def test_a_repository_of_its_own_is_one_untracked_path(sample: SampleProject) -> None:
    """Git does not look into it either."""
    git(sample.folder, "init", "--quiet", "vendored")
    sample.write("vendored/x.py", b"")
    assert inspect(sample.folder, "skills").detail.endswith("vendored.")
    shutil.rmtree(sample.folder / "vendored")

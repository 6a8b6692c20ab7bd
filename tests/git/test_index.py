"""Files that git was told not to look at are looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from skills_bundle.git.checkout import inspect
from tests.hatch_plugin.sample import SampleProject, git

if TYPE_CHECKING:
    from pathlib import Path

FLAGS = ("--assume-unchanged", "--skip-worktree")


@pytest.fixture
def sample(tmp_path: Path) -> SampleProject:
    """Give a committed project with a file of each kind; its folder is the repository's."""
    made = SampleProject.create(tmp_path / "acme")
    (made.folder / "link").symlink_to("pyproject.toml")
    return made.committed()


def look_away(sample: SampleProject, flag: str, path: str) -> None:
    """Tell git not to look at a file."""
    git(sample.folder, "update-index", flag, path)


@pytest.mark.parametrize("flag", FLAGS)
def test_an_edit_that_git_was_told_to_overlook_is_dirt(sample: SampleProject, flag: str) -> None:
    """A build's configuration ships in no archive; it decides what does."""
    look_away(sample, flag, "pyproject.toml")
    sample.replace("pyproject.toml", 'version = "1.0"', 'version = "1.1"')
    found = inspect(sample.folder, "skills")
    assert git(sample.folder, "status", "--porcelain") == ""
    assert (found.reason, found.detail) == (
        "dirty_source",
        "Not as in the commit: pyproject.toml.",
    )


@pytest.mark.parametrize("flag", FLAGS)
@pytest.mark.parametrize("path", ["pyproject.toml", "link"])
def test_a_flag_alone_is_no_dirt(sample: SampleProject, flag: str, path: str) -> None:
    """Only another content is."""
    look_away(sample, flag, path)
    assert inspect(sample.folder, "skills").state == "clean"


def retarget(sample: SampleProject) -> None:
    """Let the link lead elsewhere."""
    (sample.folder / "link").unlink()
    (sample.folder / "link").symlink_to("elsewhere")


def fill(sample: SampleProject) -> None:
    """Put a file in the link's place."""
    (sample.folder / "link").unlink()
    sample.write("link", b"pyproject.toml")


@pytest.mark.parametrize("change", [retarget, fill])
def test_a_link_that_git_was_told_to_overlook_is_compared_too(
    sample: SampleProject, change: object
) -> None:
    """By its target; and a file is not a link, whatever its bytes."""
    look_away(sample, "--assume-unchanged", "link")
    assert callable(change)
    change(sample)
    assert inspect(sample.folder, "skills").detail == "Not as in the commit: link."


def test_a_link_in_an_overlooked_files_place_is_dirt(sample: SampleProject) -> None:
    """Even one that leads to the same bytes."""
    look_away(sample, "--skip-worktree", ".gitignore")
    (sample.folder / ".gitignore").rename(sample.folder / ".git/kept")
    (sample.folder / ".gitignore").symlink_to(".git/kept")
    assert inspect(sample.folder, "skills").detail == "Not as in the commit: .gitignore."


def test_a_converted_file_that_git_was_told_to_overlook_is_as_git_checked_it_out(
    sample: SampleProject, tmp_path: Path
) -> None:
    """Line ends of a file that does not ship are git's affair: what it would commit is compared."""
    sample.write(".gitattributes", b"skills/** -text\ncatalog.lock.json -text\n").committed()
    clone = SampleProject(tmp_path / "crlf")
    git(sample.folder, "clone", "--quiet", "-c", "core.autocrlf=true", ".", str(clone.folder))
    look_away(clone, "--assume-unchanged", "pyproject.toml")
    assert inspect(clone.folder, "skills").state == "clean"


def test_a_neighbours_overlooked_edit_is_no_dirt(tmp_path: Path) -> None:
    """Only the project's folder counts."""
    repository = tmp_path / "all"
    made = SampleProject.create(repository / "libs/acme", repository=repository)
    neighbour = SampleProject(repository).write("neighbour.txt", b"a").committed()
    look_away(neighbour, "--assume-unchanged", "neighbour.txt")
    neighbour.write("neighbour.txt", b"b")
    assert inspect(made.folder, "skills").state == "clean"

"""What git knows of one file, through links too."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from skills_bundle.git.checkout import open_checkout
from skills_bundle.git.standing import standing
from tests.hatch_plugin.sample import SampleProject, git

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def sample(tmp_path: Path) -> SampleProject:
    """Give a committed project."""
    return SampleProject.create(tmp_path / "acme")


def place(sample: SampleProject, path: str) -> str:
    """Give where git has a file of the project."""
    checkout = open_checkout(sample.folder)
    return standing(checkout, str(checkout.project / path)).place


def test_a_committed_file_stands_in_the_commit(sample: SampleProject) -> None:
    """With the commit's mode and id."""
    checkout = open_checkout(sample.folder)
    found = standing(checkout, str(checkout.project / "src/acme_skills/run.sh"))
    oid = git(sample.folder, "rev-parse", "HEAD:src/acme_skills/run.sh").strip()
    assert found.entry == ("100755", oid)


def test_a_staged_file_stands_in_the_index(sample: SampleProject) -> None:
    """The commit knows nothing of it."""
    sample.write("new.py", b"")
    git(sample.folder, "add", "new.py")
    assert place(sample, "new.py") == "index"


@pytest.mark.parametrize(
    ("path", "expected"),
    [("new.py", "untracked"), ("new.log", "ignored"), ("../other", "elsewhere")],
)
def test_the_rest_stands_where_git_says(sample: SampleProject, path: str, expected: str) -> None:
    """Untracked, ignored, or outside the repository."""
    sample.write(path, b"")
    assert place(sample, path) == expected


def test_a_folder_is_no_file_of_the_commit(sample: SampleProject) -> None:
    """Nor is it untracked content: nothing ships under its name."""
    assert place(sample, "src") == "untracked"


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("hatch_build.py", "head"),
        ("src/../hatch_build.py", "head"),
        ("../acme/hatch_build.py", "head"),
        ("missing", "untracked"),
        ("made.log", "ignored"),
        ("/etc/hostname", "elsewhere"),
        ("../outside", "elsewhere"),
        ("link", "elsewhere"),
    ],
)
def test_a_committed_link_stands_where_its_target_does(
    sample: SampleProject, target: str, expected: str
) -> None:
    """Out of the repository, round in circles, or to what the commit holds."""
    (sample.folder / "link").symlink_to(target)
    sample.committed()
    assert place(sample, "link") == expected


def test_a_link_of_the_machine_is_not_followed(sample: SampleProject) -> None:
    """The commit does not hold it, so what it leads to is not the commit's."""
    (sample.folder / "link").symlink_to("hatch_build.py")
    assert place(sample, "link") == "untracked"


def test_a_committed_link_that_was_changed_is_not_followed(sample: SampleProject) -> None:
    """Both targets are committed; the way to this one is not."""
    link = sample.folder / "link"
    link.symlink_to("hatch_build.py")
    sample.committed()
    link.unlink()
    link.symlink_to("pyproject.toml")
    assert place(sample, "link") == "index"


def test_a_file_in_a_submodule_is_not_the_commits(sample: SampleProject, tmp_path: Path) -> None:
    """The commit names the submodule's commit and holds none of its files."""
    other = SampleProject.create(tmp_path / "other")
    add = ("-c", "protocol.file.allow=always", "submodule", "--quiet", "add")
    git(sample.folder, *add, str(other.folder), "vendor")
    sample.committed()
    assert place(sample, "vendor/hatch_build.py") == "index"

"""Which ignore files of a repository count, and which before which."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from skills_bundle.errors import CheckoutError
from skills_bundle.git import limits
from skills_bundle.git.checkout import open_checkout
from tests.hatch_plugin.sample import SampleProject, git

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def sample(tmp_path: Path) -> SampleProject:
    """Give a committed project with one untracked file, `notes.md`."""
    return SampleProject.create(tmp_path / "acme").write("notes.md", b"")


def ignored(sample: SampleProject, path: str = "notes.md") -> bool:
    """Ask anew."""
    return open_checkout(sample.folder).ignored(path)


def test_a_pattern_takes_back_what_a_file_of_less_weight_says(sample: SampleProject) -> None:
    """`!notes.md` here, `*.md` there: libgit2 alone would forget the first."""
    sample.write(".git/info/exclude", b"*.md\n").write(".gitignore", b"!notes.md\n")
    assert not ignored(sample)


def test_the_users_own_file_counts_least(sample: SampleProject, tmp_path: Path) -> None:
    """`core.excludesFile`, and `info/exclude` before it."""
    (tmp_path / "mine").write_bytes(b"*.md\n*.txt\n")
    git(sample.folder, "config", "core.excludesFile", str(tmp_path / "mine"))
    sample.write(".git/info/exclude", b"!*.md\n")
    assert (ignored(sample), ignored(sample, "notes.txt")) == (False, True)


def test_an_empty_name_of_the_users_file_means_none(sample: SampleProject) -> None:
    """Git says it so."""
    git(sample.folder, "config", "core.excludesFile", "")
    assert not ignored(sample)


def test_a_worktree_has_the_exclude_file_of_its_repository(
    sample: SampleProject, tmp_path: Path
) -> None:
    """`info/` is shared by all worktrees."""
    sample.write(".git/info/exclude", b"*.md\n")
    git(sample.folder, "worktree", "add", "--quiet", str(tmp_path / "tree"))
    assert ignored(SampleProject(tmp_path / "tree"))


def test_a_linked_ignore_file_is_not_followed(sample: SampleProject, tmp_path: Path) -> None:
    """As in git: a link could lead anywhere."""
    (tmp_path / "rules").write_bytes(b"*.md\n")
    (sample.folder / ".gitignore").unlink(missing_ok=True)
    (sample.folder / ".gitignore").symlink_to(tmp_path / "rules")
    assert not ignored(sample)


def test_rules_that_a_sparse_checkout_left_out_hold(sample: SampleProject) -> None:
    """Git reads the ignore file from its index then."""
    sample.write(".gitignore", b"*.md\n")
    git(sample.folder, "add", ".gitignore")
    git(sample.folder, "update-index", "--skip-worktree", ".gitignore")
    (sample.folder / ".gitignore").unlink()
    assert ignored(sample)


def test_capitals_may_count_for_nothing(sample: SampleProject) -> None:
    """`core.ignoreCase`, as git sets it on macOS and Windows."""
    sample.write(".gitignore", b"NOTES.MD\n")
    git(sample.folder, "config", "core.ignoreCase", "true")
    assert ignored(sample)


def test_a_huge_ignore_file_is_an_error(sample: SampleProject) -> None:
    """Nothing is guessed from a part of it."""
    sample.write(".gitignore", b"#" * (limits.IGNORE_FILE_MAX_BYTES + 1))
    with pytest.raises(CheckoutError, match=r"\.gitignore has more than"):
        ignored(sample)

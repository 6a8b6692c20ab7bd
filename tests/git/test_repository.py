"""Errors of libgit2 become ours, with a reason; and what git ignores."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pygit2
import pytest

from skills_bundle.errors import CheckoutError
from skills_bundle.git.repository import git_errors, open_checkout, reason_of
from tests.hatch_plugin.sample import SampleProject, git

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("repository path '/x' is not owned by current user", "not_owner"),
        ("/x: unknown object format 'sha256'", "unsupported_object_format"),
        ("anything else", "git_unavailable"),
    ],
)
def test_refusals_of_libgit2_are_told_apart(message: str, expected: str) -> None:
    """By their words, since its error codes are the same."""
    assert reason_of(message) == expected


@pytest.mark.parametrize(
    "error", [pygit2.GitError("x"), KeyError("x"), ValueError("x"), OSError("x"), ImportError("x")]
)
def test_what_git_raises_becomes_a_checkout_error(error: Exception) -> None:
    """Each kind that pygit2 is seen to raise for a broken repository."""
    with pytest.raises(CheckoutError) as caught, git_errors():
        raise error
    assert caught.value.reason == "git_unavailable"


def test_a_fault_of_our_own_is_not_taken_for_gits() -> None:
    """It must stay a traceback, or nobody would mend it."""
    with pytest.raises(TypeError), git_errors():
        raise TypeError


@pytest.fixture
def sample(tmp_path: Path) -> SampleProject:
    """Return a committed project with one untracked file, `notes.md`."""
    return SampleProject.create(tmp_path / "acme").write("notes.md", b"")


def ignored(sample: SampleProject, path: str = "notes.md") -> bool:
    """Return whether git ignores a path, asked anew."""
    return open_checkout(sample.folder).ignored(path)


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


def test_capitals_may_count_for_nothing(sample: SampleProject) -> None:
    """`core.ignoreCase`, as git sets it on macOS and Windows."""
    sample.write(".gitignore", b"NOTES.MD\n")
    git(sample.folder, "config", "core.ignoreCase", "true")
    assert ignored(sample)


@pytest.mark.parametrize(
    ("rules", "path"),
    [
        ("*\n!.gitignore\n!skills/\n!skills/**\n", "skills/a/b"),
        ("*\n!*.md\n", "skills/a.md"),
        ("build\n!skills/build\n", "skills/build/x"),
        ("/build\n", "skills/build/x"),
        ("**/node_modules/\n", "skills/node_modules/x"),
        (".env*\n!.env.example\n", "skills/.env.example"),
        ("*.py[cod]\n__pycache__/\n", "skills/x.pyc"),
        ("doc/**/*.pdf\n", "doc/b.pdf"),
        ("foo\\ \n", "foo "),
        ("secret \n", "secret"),
        ("a/*\n!a/b/\n", "a/b/x"),
        ("a/*\n!a/b/\n", "a/c/x"),
        ("\ufeff*.tmp\r\n", "x.tmp"),
    ],
)
def test_a_path_is_ignored_as_git_ignores_it(sample: SampleProject, rules: str, path: str) -> None:
    """Patterns that people write, each compared with git's own answer."""
    sample.write(".gitignore", rules.encode()).write(path, b"")
    try:
        expected = bool(git(sample.folder, "check-ignore", path))
    except subprocess.CalledProcessError:  # its way to say no
        expected = False
    assert ignored(sample, path) is expected


def test_a_pattern_that_another_file_takes_back_ignores_only_what_is_not_tracked(
    sample: SampleProject,
) -> None:
    """libgit2 does not apply `!notes.md` here; once the file is added, no rule matters."""
    sample.write(".git/info/exclude", b"*.md\n").write(".gitignore", b"!notes.md\n")
    before = ignored(sample)
    git(sample.folder, "add", "notes.md")
    assert (before, ignored(sample)) == (True, False)

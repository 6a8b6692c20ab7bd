"""The files of one commit, without a work tree."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from skills_bundle.files.tree import FileTree
from skills_bundle.git.commit import Commit
from tests.hatch_plugin.sample import SampleProject, git

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def sample(tmp_path: Path) -> SampleProject:
    """Return a committed project with links."""
    sample = SampleProject.create(tmp_path / "acme")
    (sample.folder / "one").symlink_to("src/acme_skills")
    (sample.folder / "two").symlink_to("one/run.sh")
    (sample.folder / "up").symlink_to("../elsewhere")
    (sample.folder / "gone").symlink_to("nothing")
    (sample.folder / "a").symlink_to("b")
    (sample.folder / "b").symlink_to("a")
    (sample.folder / "rooted").symlink_to("/etc/hostname")
    return sample.committed()


def commit_of(sample: SampleProject) -> Commit:
    """Return the commit, its objects read by git."""

    def read(kind: str, oid: str) -> bytes:
        command = ["git", "-C", str(sample.folder), "cat-file", kind, oid]
        return subprocess.run(command, check=True, capture_output=True).stdout

    return Commit(sample.commit_id(), read)


@pytest.mark.parametrize("path", ["two", "one/run.sh", "src/acme_skills/run.sh"])
def test_a_file_is_found_through_links_of_the_commit(sample: SampleProject, path: str) -> None:
    """The place it ends at is named."""
    found = commit_of(sample).file(path)
    assert found is not None
    assert (found.path, found.entry.mode) == ("src/acme_skills/run.sh", "100755")


@pytest.mark.parametrize("path", ["up", "gone", "a", "rooted", "src", "nothing", "one/none", ""])
def test_what_is_no_file_of_the_commit_is_none(sample: SampleProject, path: str) -> None:
    """A link that leaves it, leads nowhere or in circles; a folder; nothing."""
    assert commit_of(sample).file(path) is None


def test_every_file_of_a_folder_is_listed(sample: SampleProject) -> None:
    """As git lists them."""
    listed = git(sample.folder, "ls-tree", "-r", "--name-only", "HEAD", "skills/").split()
    assert sorted(commit_of(sample).files("skills")) == sorted(
        path.removeprefix("skills/") for path in listed
    )


def test_its_files_are_a_tree_like_any_other(sample: SampleProject) -> None:
    """Equal bytes have one identity, and the tree id is git's own."""
    tree = commit_of(sample).file_tree("skills")
    contents = {path: (sample.folder / "skills" / path).read_bytes() for path in tree}
    other = FileTree.from_bytes(contents, {"greet/scripts/hi.sh"})
    assert tree.git_tree() == git(sample.folder, "rev-parse", "HEAD:skills").strip()
    assert tree.content_identity(collection="acme") == other.content_identity(collection="acme")
    assert {path: tree.read(path) for path in tree} == contents


def test_links_of_a_commit_are_no_files_of_its_tree(sample: SampleProject) -> None:
    """They are listed as links."""
    tree = commit_of(sample).file_tree()
    assert sorted(path for path, row in tree.items() if row.kind == "linked") == sorted(
        ["a", "b", "gone", "one", "rooted", "two", "up"]
    )

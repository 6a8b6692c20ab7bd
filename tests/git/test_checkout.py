"""What is seen of a checkout, in every state a repository can be in; all of them made by git."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from skills_bundle.errors import CheckoutError
from skills_bundle.git import proof
from skills_bundle.git.checkout import has_repository, inspect, open_checkout
from tests.hatch_plugin.sample import SampleProject, git

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def sample(tmp_path: Path) -> SampleProject:
    """Give a committed project; its folder is the repository's."""
    return SampleProject.create(tmp_path / "acme")


def reason(folder: Path) -> str | None:
    """Give why a project's folder names no commit; None if it does."""
    return inspect(folder, "skills").reason


def test_a_clean_checkout_gives_its_commit_tree_and_proof(sample: SampleProject) -> None:
    """The ids are git's own, and the proof leads from one to the other."""
    found = inspect(sample.folder, "skills")
    assert (found.state, found.commit) == ("clean", sample.commit_id())
    assert found.skills_tree == git(sample.folder, "rev-parse", "HEAD:skills").strip()
    root = git(sample.folder, "rev-parse", "HEAD^{tree}").strip()
    assert proof.commit_tree(found.proof[0]) == root


def test_without_git_there_is_no_source(tmp_path: Path) -> None:
    """A plain folder."""
    assert reason(tmp_path) == "not_git_source"


def test_a_git_folder_that_is_no_repository_is_none(tmp_path: Path) -> None:
    """An empty `.git` is not one for git either."""
    (tmp_path / ".git").mkdir()
    assert reason(tmp_path) == "not_git_source"


def test_before_the_first_commit_there_is_none(sample: SampleProject) -> None:
    """The reason says what to do."""
    shutil.rmtree(sample.folder / ".git")
    git(sample.folder, "init", "--quiet")
    assert reason(sample.folder) == "no_commit"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_another_owners_repository_is_not_read(sample: SampleProject) -> None:
    """libgit2's safety check stays on; the detail names the folder for the build log."""
    for path in (sample.folder, *sample.folder.rglob("*")):
        os.chown(path, 12345, 12345)
    found = inspect(sample.folder, "skills")
    assert (found.state, found.reason) == ("archive", "not_owner")
    assert str(sample.folder) in found.detail


def test_a_sha256_repository_is_said_to_be_unsupported(tmp_path: Path) -> None:
    """Its ids have 64 digits; libgit2 cannot read it."""
    git(tmp_path, "init", "--quiet", "--object-format=sha256")
    assert reason(tmp_path) == "unsupported_object_format"


def test_a_repository_of_an_unknown_kind_cannot_be_read(sample: SampleProject) -> None:
    """An extension that this libgit2 does not know."""
    git(sample.folder, "config", "core.repositoryFormatVersion", "1")
    git(sample.folder, "config", "extensions.refStorage", "reftable")
    assert reason(sample.folder) == "git_unavailable"


def test_a_broken_repository_cannot_be_read(sample: SampleProject) -> None:
    """A truncated index gives a reason, not a traceback."""
    (sample.folder / ".git/index").write_bytes(b"DIRC")
    assert reason(sample.folder) == "git_unavailable"


def test_a_repository_that_lost_its_commit_cannot_be_read(sample: SampleProject) -> None:
    """Likewise."""
    name = sample.commit_id()
    (sample.folder / ".git/objects" / name[:2] / name[2:]).unlink()
    assert reason(sample.folder) == "git_unavailable"


def test_an_untracked_file_in_an_ignored_folder_is_ignored(sample: SampleProject) -> None:
    """Even if a later pattern would take it back: git never looks there, libgit2 does."""
    sample.write(".gitignore", b"*\n!*.md\n").committed().write("skills/greet/x.md", b"")
    assert git(sample.folder, "status", "--porcelain") == ""
    assert reason(sample.folder) is None


def test_without_pygit2_git_is_unavailable(sample: SampleProject) -> None:
    """A build without isolation may lack it; shown in a process where it cannot be imported."""
    script = (
        "import sys; sys.modules['pygit2'] = None\n"
        "from pathlib import Path\n"
        "from skills_bundle.git.checkout import inspect\n"
        "print(inspect(Path(sys.argv[1]), 'skills').reason)\n"
    )
    command = [sys.executable, "-c", script, str(sample.folder)]
    said = subprocess.run(command, check=True, capture_output=True, encoding="utf-8").stdout
    assert said == "git_unavailable\n"


def test_a_folder_that_the_commit_does_not_hold_is_not_in_the_repository(tmp_path: Path) -> None:
    """A new project in an old repository: its commit says nothing of it."""
    git(tmp_path, "init", "--quiet")
    SampleProject(tmp_path).write("README", b"").committed()
    inner = SampleProject(tmp_path / "new").write("skills/greet/SKILL.md", b"")
    assert reason(inner.folder) == "project_not_in_repository"


def test_an_ignored_folder_is_not_in_the_repository(tmp_path: Path) -> None:
    """A home folder under git that ignores everything is nobody's source."""
    git(tmp_path, "init", "--quiet")
    SampleProject(tmp_path).write(".gitignore", b"*\n!.gitignore\n").committed()
    inner = SampleProject(tmp_path / "work/acme").write("skills/greet/SKILL.md", b"")
    with pytest.raises(CheckoutError) as caught:
        open_checkout(inner.folder)
    assert caught.value.reason == "project_not_in_repository"


def test_a_bare_repository_has_no_work_tree(sample: SampleProject, tmp_path: Path) -> None:
    """A folder inside it is not in a checkout."""
    bare = tmp_path / "bare"
    git(sample.folder, "clone", "--quiet", "--bare", ".", str(bare / ".git"))
    (bare / "project").mkdir()
    assert reason(bare / "project") == "project_not_in_repository"


def test_an_unpacked_sdist_is_no_checkout(sample: SampleProject) -> None:
    """Its PKG-INFO says so, tracked or not."""
    sample.write("PKG-INFO", b"Metadata-Version: 2.4\n").committed()
    assert not has_repository(sample.folder)
    assert reason(sample.folder) == "not_git_source"


def test_a_worktree_is_a_checkout(sample: SampleProject, tmp_path: Path) -> None:
    """Its `.git` is a file."""
    git(sample.folder, "worktree", "add", "--quiet", str(tmp_path / "other"))
    found = inspect(tmp_path / "other", "skills")
    assert (found.state, found.commit) == ("clean", sample.commit_id())


def test_a_git_folder_elsewhere_is_found(sample: SampleProject, tmp_path: Path) -> None:
    """Nothing in it says where the work tree is."""
    folder, elsewhere = str(tmp_path / "project"), str(tmp_path / "elsewhere")
    git(sample.folder, "clone", "--quiet", "--separate-git-dir", elsewhere, ".", folder)
    found = inspect(tmp_path / "project", "skills")
    assert (found.state, found.commit) == ("clean", sample.commit_id())


def test_a_submodules_checkout_is_its_own(sample: SampleProject, tmp_path: Path) -> None:
    """The commit is the submodule's, not the one of the repository around it."""
    around = tmp_path / "around"
    around.mkdir()
    git(around, "init", "--quiet")
    add = ("-c", "protocol.file.allow=always", "submodule", "--quiet", "add")
    git(around, *add, str(sample.folder), "inner")
    SampleProject(around).committed()
    assert inspect(around / "inner", "skills").commit == sample.commit_id()


def test_a_shallow_clone_gives_the_same(sample: SampleProject, tmp_path: Path) -> None:
    """The parents of a commit are named in it and need not be there."""
    sample.write("more.txt", b"").committed()
    url = sample.folder.as_uri()
    git(tmp_path, "clone", "--quiet", "--depth=1", url, "shallow")
    assert inspect(tmp_path / "shallow", "skills") == inspect(sample.folder, "skills")


def test_a_partial_clone_gives_the_same(sample: SampleProject, tmp_path: Path) -> None:
    """Pip clones without the blobs of other commits."""
    git(sample.folder, "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "--quiet", "--filter=blob:none", sample.folder.as_uri(), "partial")
    assert inspect(tmp_path / "partial", "skills") == inspect(sample.folder, "skills")


def test_branches_tags_and_a_detached_head_change_nothing(sample: SampleProject) -> None:
    """Only the commit counts."""
    before = inspect(sample.folder, "skills")
    git(sample.folder, "branch", "other")
    git(sample.folder, "tag", "v9")
    git(sample.folder, "checkout", "--quiet", "--detach")
    assert inspect(sample.folder, "skills") == before


def test_a_project_reached_through_a_link_is_the_same(
    sample: SampleProject, tmp_path: Path
) -> None:
    """Its real folder counts."""
    (tmp_path / "link").symlink_to(sample.folder)
    assert inspect(tmp_path / "link", "skills") == inspect(sample.folder, "skills")


def test_a_merge_in_progress_is_dirty(sample: SampleProject) -> None:
    """Conflicts are neither side's bytes."""
    git(sample.folder, "checkout", "--quiet", "-b", "side")
    sample.write("hatch_build.py", b"side\n").committed()
    git(sample.folder, "checkout", "--quiet", "main")
    sample.write("hatch_build.py", b"main\n").committed()
    with pytest.raises(subprocess.CalledProcessError):
        git(sample.folder, "merge", "side")
    assert reason(sample.folder) == "dirty_source"


def test_skills_that_the_commit_does_not_hold_are_dirty(sample: SampleProject) -> None:
    """The folder is there, ignored, and the commit has none."""
    git(sample.folder, "rm", "--quiet", "-r", "--cached", "skills")
    sample.write(".gitignore", b"skills\n").committed()
    assert reason(sample.folder) == "dirty_source"


def test_an_untracked_repository_inside_is_dirty(sample: SampleProject) -> None:
    """Somebody's clone left in the project."""
    inner = sample.folder / "vendor"
    inner.mkdir()
    git(inner, "init", "--quiet")
    SampleProject(inner).write("x", b"").committed()
    assert reason(sample.folder) == "dirty_source"


def test_the_detail_names_the_files(sample: SampleProject) -> None:
    """For the build log: a few by name, the rest counted."""
    for number in range(30):
        sample.write(f"new/{number:02}.txt", b"")
    detail = inspect(sample.folder, "skills").detail
    assert "new/00.txt" in detail
    assert "10 more" in detail


def test_a_products_path_is_asked_about_relative_to_the_project(tmp_path: Path) -> None:
    """In a subfolder too: `dist/x.whl`, not `libs/acme/dist/x.whl`."""
    sample = SampleProject.create(tmp_path / "libs/acme", repository=tmp_path)
    sample.write(".gitignore", b"").committed().write("out/acme.whl", b"")
    asked: list[str] = []

    def own(path: str) -> bool:
        asked.append(path)
        return True

    assert inspect(sample.folder, "skills", own=own).state == "clean"
    assert asked == ["out/acme.whl"]


def test_an_error_of_our_own_is_not_taken_for_gits(sample: SampleProject) -> None:
    """Only what pygit2 raises becomes a reason; a bug stays a bug."""
    sample.write("new.txt", b"")

    def own(path: str) -> bool:
        raise AssertionError(path)

    with pytest.raises(AssertionError, match=r"new\.txt"):
        inspect(sample.folder, "skills", own=own)

"""How a checkout compares with its commit, in every state that git can put it in."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from skills_bundle.errors import CheckoutError
from skills_bundle.git.commit import commit_tree
from skills_bundle.git.repository import has_repository, open_checkout
from skills_bundle.git.status import file_status, inspect
from tests.hatch_plugin.sample import SampleProject, git

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow


@pytest.fixture
def sample(tmp_path: Path) -> SampleProject:
    """Return a committed project; its folder is the repository's."""
    return SampleProject.create(tmp_path / "acme")


def reason(folder: Path) -> str | None:
    """Return why a project's folder names no commit; None if it does."""
    return inspect(folder, "skills").reason


def test_a_clean_checkout_gives_its_commit_tree_and_proof(sample: SampleProject) -> None:
    """The ids are git's own, and the proof leads from one to the other."""
    found = inspect(sample.folder, "skills")
    assert (found.state, found.commit) == ("clean", sample.commit_id())
    assert found.skills_tree == git(sample.folder, "rev-parse", "HEAD:skills").strip()
    root = git(sample.folder, "rev-parse", "HEAD^{tree}").strip()
    assert commit_tree(found.proof[0]) == root


def test_a_file_that_git_converts_by_a_filter_is_clean_if_git_says_so(
    sample: SampleProject,
) -> None:
    """As with Git LFS: only git runs filters, so its own status counts for such a file."""
    git(sample.folder, "config", "filter.upper.clean", "tr a-z A-Z")
    sample.write(".gitattributes", b"*.big filter=upper\n").write("x.big", b"text\n").committed()
    assert git(sample.folder, "show", "HEAD:x.big") == "TEXT\n"
    assert inspect(sample.folder, "skills").state == "clean"
    sample.write("x.big", b"changed\n")
    assert reason(sample.folder) == "dirty_source"


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
        "from skills_bundle.git.status import file_status, inspect\n"
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


def test_the_detail_names_the_files(sample: SampleProject) -> None:
    """For the build log: a few by name, the rest counted."""
    paths = [f"new/{number:02}.txt" for number in range(30)]
    for path in paths:
        sample.write(path, b"")
    sample.committed()
    for path in paths:
        sample.write(path, b"changed")
    detail = inspect(sample.folder, "skills").detail
    assert "new/00.txt" in detail
    assert "10 more" in detail


def test_files_that_git_does_not_track_are_left_to_the_build(sample: SampleProject) -> None:
    """It knows which of them ship; a repository inside the project is no different."""
    git(sample.folder, "init", "--quiet", "vendored")
    sample.write("vendored/x.py", b"").write("notes.txt", b"").write("run.log", b"")
    assert inspect(sample.folder, "skills").state == "clean"


FLAGS = ("--assume-unchanged", "--skip-worktree")


@pytest.fixture
def with_link(sample: SampleProject) -> SampleProject:
    """Return the committed project with a link in it."""
    (sample.folder / "link").symlink_to("pyproject.toml")
    return sample.committed()


def look_away(sample: SampleProject, flag: str, path: str) -> None:
    """Hide a file from git status."""
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
        "Different from the commit: pyproject.toml.",
    )


@pytest.mark.parametrize("flag", FLAGS)
@pytest.mark.parametrize("path", ["pyproject.toml", "link"])
def test_a_flag_alone_is_no_dirt(with_link: SampleProject, flag: str, path: str) -> None:
    """Only another content is."""
    look_away(with_link, flag, path)
    assert inspect(with_link.folder, "skills").state == "clean"


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
    with_link: SampleProject, change: object
) -> None:
    """By its target; and a file is not a link, whatever its bytes."""
    look_away(with_link, "--assume-unchanged", "link")
    assert callable(change)
    change(with_link)
    assert inspect(with_link.folder, "skills").detail == "Different from the commit: link."


def test_a_link_in_an_overlooked_files_place_is_dirt(sample: SampleProject) -> None:
    """Even one that leads to the same bytes."""
    look_away(sample, "--skip-worktree", ".gitignore")
    (sample.folder / ".gitignore").rename(sample.folder / ".git/kept")
    (sample.folder / ".gitignore").symlink_to(".git/kept")
    assert inspect(sample.folder, "skills").detail == "Different from the commit: .gitignore."


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


def place(sample: SampleProject, path: str) -> str:
    """Return where git has a file of the project."""
    checkout = open_checkout(sample.folder)
    return file_status(checkout, str(checkout.project / path)).place


def test_a_committed_file_stands_in_the_commit(sample: SampleProject) -> None:
    """With the commit's mode and id."""
    checkout = open_checkout(sample.folder)
    found = file_status(checkout, str(checkout.project / "src/acme_skills/run.sh"))
    oid = git(sample.folder, "rev-parse", "HEAD:src/acme_skills/run.sh").strip()
    assert found.entry == ("100755", oid)


def test_a_staged_file_stands_in_the_index(sample: SampleProject) -> None:
    """The commit knows nothing of it."""
    sample.write("new.py", b"")
    git(sample.folder, "add", "new.py")
    assert place(sample, "new.py") == "tracked"


@pytest.mark.parametrize(
    ("path", "expected"),
    [("new.py", "untracked"), ("new.log", "ignored"), ("../other", "outside")],
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
        ("hatch_build.py", "committed"),
        ("src/../hatch_build.py", "committed"),
        ("../acme/hatch_build.py", "committed"),
        ("missing", "untracked"),
        ("made.log", "ignored"),
        ("/etc/hostname", "outside"),
        ("../outside", "outside"),
        ("link", "outside"),
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
    assert place(sample, "link") == "tracked"


def test_a_file_in_a_submodule_is_not_the_commits(sample: SampleProject, tmp_path: Path) -> None:
    """The commit names the submodule's commit and holds none of its files."""
    other = SampleProject.create(tmp_path / "other")
    add = ("-c", "protocol.file.allow=always", "submodule", "--quiet", "add")
    git(sample.folder, *add, str(other.folder), "vendor")
    sample.committed()
    assert place(sample, "vendor/hatch_build.py") == "tracked"

"""One commit in a folder of its own, for a build to run in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from skills_bundle.errors import RepositoryUnavailableError
from skills_bundle.git import limits
from skills_bundle.git.clone import clone
from skills_bundle.git.repository import open_repository
from skills_bundle.git.status import inspect
from tests.hatch_plugin.sample import SampleProject, git

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def sample(tmp_path: Path) -> SampleProject:
    """Return a committed project; its folder is the repository's."""
    return SampleProject.create(tmp_path / "acme")


def cloned(repository: Path, oid: str, folder: Path) -> Path:
    """Clone a commit."""
    opened = open_repository(repository)
    clone(opened, opened.commit(oid), folder)
    return folder


def test_the_clone_is_a_clean_checkout_of_the_commit(sample: SampleProject, tmp_path: Path) -> None:
    """Also when the repository has gone on since."""
    old = sample.commit_id()
    sample.write("README", b"new\n").committed()
    folder = cloned(sample.folder, old, tmp_path / "clone")
    found = inspect(folder, "skills")
    assert (found.state, found.commit) == ("clean", old)
    assert git(folder, "status", "--porcelain") == ""
    assert not (folder / "README").exists()


def test_files_are_their_blobs_whatever_attributes_say(
    sample: SampleProject, tmp_path: Path
) -> None:
    """A checkout that converts line ends would build another archive."""
    sample.write("a.txt", b"one\ntwo\n").write(".gitattributes", b"*.txt text eol=crlf\n")
    folder = cloned(sample.folder, sample.committed().commit_id(), tmp_path / "clone")
    assert (folder / "a.txt").read_bytes() == b"one\ntwo\n"
    assert inspect(folder, "skills").state == "clean"


def test_modes_and_links_are_the_commits(sample: SampleProject, tmp_path: Path) -> None:
    """As git would check them out."""
    (sample.folder / "link").symlink_to("hatch_build.py")
    folder = cloned(sample.folder, sample.committed().commit_id(), tmp_path / "clone")
    assert (folder / "link").is_symlink()
    assert (folder / "src/acme_skills/run.sh").stat().st_mode & 0o100


def test_nothing_is_shared_with_the_repository(sample: SampleProject, tmp_path: Path) -> None:
    """No hard link, no alternate: a build that breaks its clone breaks nothing else."""
    folder = cloned(sample.folder, sample.commit_id(), tmp_path / "clone")
    objects = [path for path in (folder / ".git/objects").rglob("*") if path.is_file()]
    assert {path.stat().st_nlink for path in objects} == {1}
    assert not (folder / ".git/objects/info/alternates").exists()


def test_version_tools_find_tags_and_history(sample: SampleProject, tmp_path: Path) -> None:
    """`git describe` counts commits since a tag; annotated tags keep what they say."""
    git(sample.folder, "tag", "-a", "-m", "one", "v1")
    git(sample.folder, "tag", "plain")
    old = sample.commit_id()
    sample.write("README", b"new\n").committed()
    git(sample.folder, "tag", "later")
    sample.write("README", b"newer\n").committed()
    new = git(sample.folder, "rev-parse", "HEAD^").strip()
    folder = cloned(sample.folder, new, tmp_path / "clone")
    assert git(folder, "describe", "--match", "v*").startswith("v1-1-g")
    assert git(folder, "tag", "--list").split() == ["later", "plain", "v1"]
    assert git(folder, "rev-parse", "v1^{commit}").strip() == old


def test_tags_of_other_commits_are_left_out(sample: SampleProject, tmp_path: Path) -> None:
    """They are no part of this one's history."""
    old = sample.commit_id()
    sample.write("README", b"new\n").committed()
    git(sample.folder, "tag", "later")
    folder = cloned(sample.folder, old, tmp_path / "clone")
    assert git(folder, "tag", "--list") == ""


@pytest.mark.parametrize("cut", ["source", "limit"])
def test_history_that_is_not_there_makes_a_shallow_clone(
    sample: SampleProject, tmp_path: Path, cut: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Git then knows that it is cut; the commit itself is whole."""
    sample.write("README", b"new\n").committed()
    source = sample.folder
    if cut == "source":
        git(tmp_path, "clone", "--quiet", "--depth", "1", sample.folder.as_uri(), "shallow")
        source = tmp_path / "shallow"
    else:
        monkeypatch.setattr(limits, "REBUILD_MAX_HISTORY", 1)
    folder = cloned(source, sample.commit_id(), tmp_path / "clone")
    assert git(folder, "rev-parse", "--is-shallow-repository").strip() == "true"
    assert git(folder, "rev-list", "--count", "HEAD").strip() == "1"
    assert inspect(folder, "skills").state == "clean"


def test_every_missing_file_of_the_commit_is_named(sample: SampleProject, tmp_path: Path) -> None:
    """A partial clone cannot be built; one command fetches what it lacks."""
    git(sample.folder, "config", "uploadpack.allowFilter", "true")
    filtered = ["--filter=blob:none", "--no-checkout"]
    git(tmp_path, "clone", "--quiet", *filtered, sample.folder.as_uri(), "partial")
    with pytest.raises(RepositoryUnavailableError, match="fetch origin") as caught:
        cloned(tmp_path / "partial", sample.commit_id(), tmp_path / "clone")
    named = {problem.path for problem in caught.value.problems}
    assert {"pyproject.toml", "skills/greet/SKILL.md", "hatch_build.py"} < named


def test_no_hook_of_the_repository_runs(sample: SampleProject, tmp_path: Path) -> None:
    """Nor does one of a template."""
    trap = tmp_path / "sprung"
    hook = sample.folder / ".git/hooks/post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {trap}\n", encoding="utf-8")
    hook.chmod(0o755)
    cloned(sample.folder, sample.commit_id(), tmp_path / "clone")
    assert not trap.exists()


def test_submodules_are_not_fetched(sample: SampleProject, tmp_path: Path) -> None:
    """Their folders stay empty."""
    other = SampleProject.create(tmp_path / "other")
    allow = ["-c", "protocol.file.allow=always"]
    git(sample.folder, *allow, "submodule", "--quiet", "add", str(other.folder), "vendor")
    folder = cloned(sample.folder, sample.committed().commit_id(), tmp_path / "clone")
    assert [*(folder / "vendor").iterdir()] == []

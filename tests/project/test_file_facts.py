"""What git says about the files of a skills folder."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from skills_bundle.bundle import lock
from skills_bundle.errors import CheckoutError
from skills_bundle.project.file_facts import GitFacts, open_facts
from skills_bundle.skills.model import FileFacts
from tests.hatch_plugin.sample import SampleProject, git

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def sample(tmp_path: Path) -> SampleProject:
    """Return a committed project in a subfolder of its repository."""
    return SampleProject.create(tmp_path / "libs/acme", repository=tmp_path)


def facts(sample: SampleProject) -> FileFacts:
    """Ask as the scan does, with the lock that is there."""
    found = lock.parse((sample.folder / "catalog.lock.json").read_bytes())
    return open_facts(sample.folder, "skills", found).facts


def test_the_index_gives_modes(sample: SampleProject) -> None:
    """Also of what is staged and not committed; None for what is not tracked."""
    sample.write("skills/greet/new.md", b"").write("skills/greet/other.md", b"")
    git(sample.folder, "add", "skills/greet/new.md")
    found = facts(sample)
    assert [found.mode(f"greet/{name}") for name in ("scripts/hi.sh", "new.md", "other.md")] == [
        "100755",
        "100644",
        None,
    ]


@pytest.mark.parametrize(
    ("rules", "path"),
    [
        ("libs/acme/skills/greet/.gitignore:*.tmp", "greet/x.tmp"),
        ("libs/acme/skills/greet/.gitignore:*.tmp", "x.tmp"),
        (".git/info/exclude:secret", "greet/secret"),
        (".gitignore:build/", "greet/build/x.md"),
        (".gitignore:build/", "greet/build"),
        (".gitignore:/build", "greet/build/x.md"),
        (".gitignore:*\n!*.md", "greet/x.md"),
        (".gitignore:*\n!*/\n!*.md", "greet/x.md"),
        (".gitignore:*.md\n!keep.md", "greet/keep.md"),
        (".gitignore:gr?et/**/*.md", "greet/a/b/x.md"),
        (".gitignore:SKILL.md", "greet/SKILL.md"),
    ],
)
def test_a_path_is_ignored_exactly_if_git_says_so(
    sample: SampleProject, tmp_path: Path, rules: str, path: str
) -> None:
    """Nested files, `info/exclude`, patterns that take back; what git tracks is never ignored."""
    file, _, text = rules.partition(":")
    SampleProject(tmp_path).write(file, text.encode() + b"\n")
    if not (sample.folder / "skills" / path).exists():
        sample.write(f"skills/{path}", b"")
    try:
        says = bool(git(sample.folder, "check-ignore", f"skills/{path}"))
    except subprocess.CalledProcessError:  # its way to say no
        says = False
    assert facts(sample).ignored(path) is says


def test_a_folder_that_holds_tracked_files_is_not_ignored(
    sample: SampleProject, tmp_path: Path
) -> None:
    """Else a scan would not look into it."""
    SampleProject(tmp_path).write(".gitignore", b"greet\n")
    assert not facts(sample).ignored("greet")


def test_the_index_goes_before_the_disk_for_x_bits(sample: SampleProject) -> None:
    """A mount may show every file as executable, or none."""
    found = facts(sample)
    assert found.executable("greet/scripts/hi.sh", on_disk=False)
    assert not found.executable("greet/SKILL.md", on_disk=True)


def test_the_old_lock_goes_before_the_disk_for_new_files(sample: SampleProject) -> None:
    """A file that is locked and not yet added keeps the bit it was locked with."""
    git(sample.folder, "rm", "--quiet", "--cached", "skills/greet/scripts/hi.sh")
    assert facts(sample).executable("greet/scripts/hi.sh", on_disk=False)


def test_the_disk_counts_for_the_rest_unless_it_is_not_trusted(sample: SampleProject) -> None:
    """`core.fileMode` says whether the disk's x bit means anything."""
    assert facts(sample).executable("greet/new.sh", on_disk=True)
    git(sample.folder, "config", "core.fileMode", "false")
    assert not facts(sample).executable("greet/new.sh", on_disk=True)


def test_submodules_are_told_relative_to_the_skills(sample: SampleProject, tmp_path: Path) -> None:
    """With the commit that the index records."""
    other = SampleProject.create(tmp_path / "other")
    add = ("-c", "protocol.file.allow=always", "submodule", "--quiet", "add")
    git(sample.folder, *add, str(other.folder), "skills/vendored")
    rows = [(row.path, row.mode, row.oid) for row in facts(sample).submodules()]
    assert rows == [("vendored", "160000", other.commit_id())]


def test_in_a_checkout_git_is_asked(sample: SampleProject) -> None:
    """And there is no reason why not."""
    found = open_facts(sample.folder, "skills", None)
    assert isinstance(found.facts, GitFacts)
    assert found.without_git is None


def test_elsewhere_the_disk_is_asked_and_the_reason_is_told(tmp_path: Path) -> None:
    """A caller can say why ignored files would be locked."""
    found = open_facts(tmp_path, "skills", None)
    assert type(found.facts) is FileFacts
    assert found.without_git is not None
    assert found.without_git.reason == "not_git_source"


def refusal(folder: Path) -> CheckoutError:
    """Return the error that choosing must raise."""
    with pytest.raises(CheckoutError) as caught:
        open_facts(folder, "skills", None)
    return caught.value


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_another_owners_checkout_is_not_guessed_at(sample: SampleProject, tmp_path: Path) -> None:
    """The remedy is git's own."""
    for path in (tmp_path, *tmp_path.rglob("*")):
        os.chown(path, 12345, 12345)
    (problem,) = refusal(sample.folder).problems
    assert f"git config --global --add safe.directory {tmp_path}" in problem.message


def test_a_checkout_with_other_object_ids_is_not_guessed_at(tmp_path: Path) -> None:
    """What it ignores cannot be known."""
    git(tmp_path, "init", "--quiet", "--object-format=sha256")
    assert refusal(tmp_path).reason == "unsupported_object_format"


def test_a_broken_checkout_is_not_guessed_at(sample: SampleProject, tmp_path: Path) -> None:
    """A truncated index does not say what is tracked."""
    (tmp_path / ".git/index").write_bytes(b"DIRC")
    assert refusal(sample.folder).reason == "git_unavailable"


def test_what_is_left_of_a_checkout_is_not_guessed_at(
    sample: SampleProject, tmp_path: Path
) -> None:
    """Even where git itself would not know it for a repository any more."""
    (tmp_path / ".git/HEAD").unlink()
    assert refusal(sample.folder).reason == "git_unavailable"


@pytest.mark.parametrize(
    ("arguments", "remedy"),
    [
        (("sparse-checkout", "set", "--cone", "--sparse-index", "none"), "sparse-checkout disable"),
        (("update-index", "--split-index"), "update-index --no-split-index"),
    ],
)
def test_an_index_that_cannot_be_read_is_not_guessed_at(
    sample: SampleProject, tmp_path: Path, arguments: tuple[str, ...], remedy: str
) -> None:
    """Forms of git's own that its library does not know; git can undo both."""
    sample.write("skills/more/a/b/c.md", b"").committed()
    git(tmp_path, *arguments)
    (problem,) = refusal(tmp_path).problems
    assert remedy in problem.message


def test_a_checkout_whose_git_folder_is_gone_is_not_guessed_at(tmp_path: Path) -> None:
    """A worktree or submodule that was moved."""
    (tmp_path / ".git").write_text("gitdir: /nowhere/at/all\n", encoding="utf-8")
    assert refusal(tmp_path).reason == "git_unavailable"


def test_a_broken_checkout_in_another_one_is_not_taken_for_its_content(
    sample: SampleProject,
) -> None:
    """The ignore rules of the outer repository say nothing of it."""
    (sample.folder / ".git").mkdir()
    (sample.folder / ".git/HEAD").write_bytes(b"")
    assert refusal(sample.folder).reason == "git_unavailable"


def test_without_pygit2_nothing_is_guessed(sample: SampleProject) -> None:
    """The remedy is to install it; shown in a process where it cannot be imported."""
    script = (
        "import sys; sys.modules['pygit2'] = None\n"
        "from pathlib import Path\n"
        "from skills_bundle.project.file_facts import open_facts\n"
        "from skills_bundle.errors import CheckoutError\n"
        "try:\n    open_facts(Path(sys.argv[1]), 'skills', None)\n"
        "except CheckoutError as error:\n    print(error.problems[0].message)\n"
    )
    command = [sys.executable, "-c", script, str(sample.folder)]
    said = subprocess.run(command, check=True, capture_output=True, encoding="utf-8").stdout
    assert said.strip().endswith("install pygit2")


def test_an_empty_git_folder_is_none(tmp_path: Path) -> None:
    """Git passes it by."""
    (tmp_path / ".git").mkdir()
    assert type(open_facts(tmp_path, "skills", None).facts) is FileFacts

"""`verify-source`: archives compared with the commit they name."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import zipfile
from typing import TYPE_CHECKING

import pytest

from skills_bundle.archives.model import Member
from skills_bundle.archives.reading import open_archive
from skills_bundle.errors import RepositoryUnavailableError, SourceMismatchError
from skills_bundle.git.repository import open_repository
from skills_bundle.supply_chain.source.verify import Wanted
from tests.hatch_plugin.sample import PYPROJECT, SampleProject, git
from tests.supply_chain.source_samples import (
    DIST_INFO,
    rewritten,
    row,
    state_of,
    verified,
)

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow


@pytest.fixture
def sample(tmp_path: Path) -> SampleProject:
    """Return a committed project at the top of its repository."""
    return SampleProject.create(tmp_path / "acme")


def code_of(error: RepositoryUnavailableError | SourceMismatchError) -> list[str]:
    """Return the codes of an error's problems."""
    return [problem.code for problem in error.problems]


def test_a_wheel_equals_its_commit(sample: SampleProject) -> None:
    """Each row names the blob, also if the archive has it at another path."""
    found = verified(sample.wheel(), sample.folder)
    assert (found.verdict, found.exit_code, found.commit) == ("match", 0, sample.commit_id())
    assert found.counts == {"equals_blob": 5, "generated": 6}
    module = row(found, "acme_skills/__init__.py")
    assert module.blob_path == "src/acme_skills/__init__.py"
    assert module.blob == git(sample.folder, "rev-parse", f"HEAD:{module.blob_path}").strip()


def test_an_sdist_equals_its_commit(sample: SampleProject) -> None:
    """All files but those that the build generates."""
    found = verified(sample.sdist(), sample.folder)
    assert (found.verdict, found.counts["generated"]) == ("match", 2)


@pytest.mark.parametrize("name", ["lock", "skills_tree", "proof", "inputs"])
def test_the_receipt_is_checked_against_the_repository(sample: SampleProject, name: str) -> None:
    """Trees, objects and inputs are recomputed from the commit."""
    assert state_of(verified(sample.wheel(), sample.folder), name)[0] == "holds"


def test_the_report_lists_what_is_not_proved(sample: SampleProject) -> None:
    """A match is about one repository."""
    assert verified(sample.wheel(), sample.folder).not_proved


@pytest.mark.parametrize(
    ("path", "state"),
    [
        ("acme_skills/__init__.py", "differs"),
        ("acme_skills/.agents/skills/greet/SKILL.md", "differs"),
        ("acme_skills/.agents/catalog.lock.json", "differs"),
        ("acme_skills/evil.py", "not_in_commit"),
        ("evil.pth", "not_in_commit"),
        ("acme_skills/.agents/skills/greet/more.md", "not_in_commit"),
        (f"{DIST_INFO}/entry_points.txt", "differs"),
        (f"{DIST_INFO}/METADATA", "differs"),
        (f"{DIST_INFO}/more.txt", "not_in_commit"),
        (f"{DIST_INFO}/sboms/acme-skills.cdx.json", "differs"),
        (f"{DIST_INFO}/sboms/other.cdx.json", "not_in_commit"),
    ],
)
def test_a_changed_or_added_file_is_reported(sample: SampleProject, path: str, state: str) -> None:
    """Even if RECORD agrees with it."""
    found = verified(rewritten(sample.wheel(), {path: b"other\n"}), sample.folder)
    assert (found.exit_code, row(found, path).state) == (1, state)


def test_a_record_that_does_not_agree_is_reported(sample: SampleProject) -> None:
    """RECORD is generated, so it is compared with the members."""
    wheel, record = sample.wheel(), f"{DIST_INFO}/RECORD"
    with zipfile.ZipFile(wheel) as archive:
        members = {info.filename: (info, archive.read(info)) for info in archive.infolist()}
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, (info, data) in members.items():
            archive.writestr(info, data.partition(b"\n")[2] if name == record else data)
    found = verified(wheel, sample.folder)
    assert (found.exit_code, row(found, record).state) == (1, "differs")


def test_a_different_executable_bit_is_reported(sample: SampleProject) -> None:
    """The commit has the right one."""
    change = {"acme_skills/__init__.py": Member(b'"""Acme."""\n', executable=True)}
    found = verified(rewritten(sample.wheel(), change), sample.folder)
    assert row(found, "acme_skills/__init__.py").detail.startswith("is executable")


def test_other_line_endings_are_reported_as_such(sample: SampleProject) -> None:
    """This is the most common difference."""
    change = {"acme_skills/__init__.py": b'"""Acme."""\r\n'}
    found = verified(rewritten(sample.wheel(), change), sample.folder)
    assert row(found, "acme_skills/__init__.py").detail == "has other line endings"


def test_a_file_of_the_commit_at_an_unexplained_place_is_moved(
    sample: SampleProject,
) -> None:
    """No configuration puts it there."""
    hook = (sample.folder / "hatch_build.py").read_bytes()
    found = verified(rewritten(sample.wheel(), {"sitecustomize.py": hook}), sample.folder)
    moved = row(found, "sitecustomize.py")
    assert (found.exit_code, moved.state, moved.blob_path) == (3, "moved", "hatch_build.py")


def test_two_swapped_files_differ(sample: SampleProject) -> None:
    """Both are blobs of the commit, but at the place of the other."""
    sample.write("src/acme_skills/a.py", b"a = 1\n").write("src/acme_skills/b.py", b"b = 2\n")
    wheel = sample.committed().wheel()
    change = {"acme_skills/a.py": b"b = 2\n", "acme_skills/b.py": b"a = 1\n"}
    found = verified(rewritten(wheel, change), sample.folder)
    assert {row(found, path).state for path in change} == {"differs"}


def test_a_missing_skill_is_reported(sample: SampleProject) -> None:
    """The lock lists it."""
    path = "acme_skills/.agents/skills/greet/scripts/hi.sh"
    found = verified(rewritten(sample.wheel(), {path: None}), sample.folder)
    assert (found.exit_code, state_of(found, "lock")[0]) == (1, "fails")


def test_a_missing_file_of_an_sdist_is_reported(sample: SampleProject) -> None:
    """The receipt lists the inputs of the build."""
    change = {"src/acme_skills/run.sh": None}
    found = verified(rewritten(sample.sdist(), change), sample.folder)
    assert (found.exit_code, state_of(found, "inputs")[0]) == (1, "fails")


# --- which commit ------------------------------------------------------------------------------


def test_a_receipt_without_a_commit_is_an_error(sample: SampleProject) -> None:
    """The message has the receipt's reason and a remedy."""
    sample.write("notes.txt", b"draft\n")
    with pytest.raises(RepositoryUnavailableError, match="--commit") as caught:
        verified(sample.wheel(), sample.folder)
    assert (caught.value.exit_code, code_of(caught.value)) == (3, ["no_source_commit"])
    assert "dirty_source" in str(caught.value)


def test_a_dirty_archive_may_equal_a_named_commit(sample: SampleProject) -> None:
    """The uncommitted file is not in it; a remark says that the receipt names no commit."""
    wheel = sample.write("notes.txt", b"draft\n").wheel()
    found = verified(wheel, sample.folder, Wanted("HEAD"))
    assert (found.verdict, state_of(found, "commit")[0]) == ("match", "remark")


def test_a_commit_other_than_the_receipts_fails(sample: SampleProject) -> None:
    """The detail has both."""
    wheel = sample.wheel()
    old = sample.commit_id()
    sample.write("README", b"new\n").committed()
    found = verified(wheel, sample.folder, Wanted("main"))
    assert (found.exit_code, state_of(found, "commit")) == (
        1,
        ("fails", f"you named main; the receipt names {old}"),
    )


@pytest.mark.parametrize("revision", ["nope", "HEAD:pyproject.toml", "", "0" * 40, "--all", "a\0b"])
def test_a_revision_that_is_not_a_commit_is_an_error(sample: SampleProject, revision: str) -> None:
    """A blob, an unknown name, an option."""
    with pytest.raises(RepositoryUnavailableError) as caught:
        verified(sample.wheel(), sample.folder, Wanted(revision))
    assert code_of(caught.value) == ["no_such_revision"]


@pytest.mark.parametrize("annotated", [True, False], ids=["annotated", "plain"])
def test_the_asserted_ref_is_looked_up(sample: SampleProject, *, annotated: bool) -> None:
    """An annotated tag is resolved to its commit."""
    git(sample.folder, "tag", *(["-a", "-m", "v1.0"] if annotated else []), "v1.0")
    found = verified(sample.wheel(), sample.folder)
    assert state_of(found, "source_ref")[0] == "holds"


def test_a_ref_that_is_missing_or_elsewhere_is_a_remark(sample: SampleProject) -> None:
    """A clone may lack it, and it was only asserted."""
    wheel = sample.wheel()
    missing = verified(wheel, sample.folder)
    sample.write("README", b"new\n").committed()
    git(sample.folder, "tag", "v1.0")
    elsewhere = verified(wheel, sample.folder)
    assert "lacks" in state_of(missing, "source_ref")[1]
    assert sample.commit_id() in state_of(elsewhere, "source_ref")[1]
    assert (missing.verdict, elsewhere.verdict) == ("match", "match")


# --- repositories ------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [["--bare"], ["--no-checkout"]])
def test_a_repository_needs_no_work_tree(
    sample: SampleProject, tmp_path: Path, arguments: list[str]
) -> None:
    """It may be bare, or have nothing checked out."""
    git(tmp_path, "clone", "--quiet", *arguments, str(sample.folder), "other")
    assert verified(sample.wheel(), tmp_path / "other").verdict == "match"


def test_the_work_tree_is_not_compared(sample: SampleProject) -> None:
    """Only objects are."""
    wheel = sample.wheel()
    sample.write("src/acme_skills/__init__.py", b"other\n")
    assert verified(wheel, sample.folder).verdict == "match"


def test_a_worktree_is_a_repository(sample: SampleProject, tmp_path: Path) -> None:
    """It shares the objects of the main one."""
    git(sample.folder, "worktree", "add", "--quiet", str(tmp_path / "tree"), "-b", "other")
    assert verified(sample.wheel(), tmp_path / "tree").verdict == "match"


def test_a_shallow_clone_without_the_commit_names_the_remedy(
    sample: SampleProject, tmp_path: Path
) -> None:
    """The message names `--unshallow`."""
    wheel = sample.wheel()
    sample.write("README", b"new\n").committed()
    git(tmp_path, "clone", "--quiet", "--depth", "1", sample.folder.as_uri(), "shallow")
    with pytest.raises(RepositoryUnavailableError, match="--unshallow") as caught:
        verified(wheel, tmp_path / "shallow")
    assert code_of(caught.value) == ["object_missing"]


def fetched(text: str) -> None:
    """Run the command that a message names."""
    command = shlex.split(re.findall(r"`(git .*?)`", text)[-1])
    subprocess.run(command, check=True, capture_output=True)


@pytest.mark.parametrize("name", ["wheel", "sdist"])
def test_a_blobless_clone_is_complete_after_the_one_command(
    sample: SampleProject, tmp_path: Path, name: str
) -> None:
    """The error lists every missing object by path, and the command that fetches them all."""
    sample.write("hatch.toml", b"[envs.default]\n").committed()
    archive = sample.wheel() if name == "wheel" else sample.sdist()
    git(sample.folder, "config", "uploadpack.allowFilter", "true")
    filtered = ["--filter=blob:none", "--no-checkout"]
    git(tmp_path, "clone", "--quiet", *filtered, sample.folder.as_uri(), "partial clone")
    with pytest.raises(RepositoryUnavailableError) as caught:
        verified(archive, tmp_path / "partial clone")
    assert set(code_of(caught.value)) == {"object_missing"}
    named = {problem.path for problem in caught.value.problems}
    assert {"pyproject.toml", "hatch.toml", "skills/greet/SKILL.md", ".gitignore"} < named
    fetched(caught.value.problems[0].message)
    assert verified(archive, tmp_path / "partial clone").verdict == "match"


def test_blobs_missing_from_a_clone_are_all_listed_with_the_command(
    sample: SampleProject, tmp_path: Path
) -> None:
    """Where the configuration is there, the report lists them."""
    git(sample.folder, "config", "uploadpack.allowFilter", "true")
    filtered = ["--filter=blob:none", "--no-checkout"]
    git(tmp_path, "clone", "--quiet", *filtered, sample.folder.as_uri(), "partial")
    pyproject = git(sample.folder, "rev-parse", "HEAD:pyproject.toml").strip()
    git(tmp_path / "partial", "fetch", "--quiet", "origin", pyproject)
    found = verified(sample.wheel(), tmp_path / "partial")
    state, detail = state_of(found, "objects")
    assert (found.verdict, state) == ("cannot_tell", "cannot_tell")
    assert "skills/greet/SKILL.md" in detail
    assert ".gitignore" in detail
    fetched(detail)
    found = verified(sample.wheel(), tmp_path / "partial")
    assert found.verdict == "match"
    assert "objects" not in {check.name for check in found.checks}


def test_blobs_missing_from_a_clone_are_reported(sample: SampleProject, tmp_path: Path) -> None:
    """Nothing is fetched, and equal object ids are not enough."""
    git(sample.folder, "config", "uploadpack.allowFilter", "true")
    filtered = ["--filter=blob:limit=20", "--no-checkout"]
    git(tmp_path, "clone", "--quiet", *filtered, sample.folder.as_uri(), "partial")
    # The comparison itself needs pyproject.toml.
    data = (sample.folder / "pyproject.toml").read_bytes()
    (tmp_path / "partial/pyproject.toml").write_bytes(data)
    git(tmp_path / "partial", "hash-object", "-w", "pyproject.toml")
    found = verified(sample.wheel(), tmp_path / "partial")
    lacking = row(found, "acme_skills/.agents/skills/greet/SKILL.md")
    assert (found.exit_code, lacking.state) == (3, "missing_object")


def test_a_partial_clone_without_the_configuration_is_an_error(
    sample: SampleProject, tmp_path: Path
) -> None:
    """The error names the object."""
    git(sample.folder, "config", "uploadpack.allowFilter", "true")
    filtered = ["--filter=blob:none", "--no-checkout"]
    git(tmp_path, "clone", "--quiet", *filtered, sample.folder.as_uri(), "partial")
    with pytest.raises(RepositoryUnavailableError) as caught:
        verified(sample.wheel(), tmp_path / "partial")
    assert set(code_of(caught.value)) == {"object_missing"}


def test_a_sha256_repository_is_not_supported(sample: SampleProject, tmp_path: Path) -> None:
    """Its ids have 64 digits."""
    git(tmp_path, "init", "--quiet", "--object-format=sha256", "other")
    with pytest.raises(RepositoryUnavailableError) as caught:
        verified(sample.wheel(), tmp_path / "other")
    assert code_of(caught.value) == ["unsupported_object_format"]


def test_a_folder_without_a_repository_is_an_error(sample: SampleProject, tmp_path: Path) -> None:
    """The message names the option."""
    (tmp_path / "plain").mkdir()
    with pytest.raises(RepositoryUnavailableError, match="--repo") as caught:
        verified(sample.wheel(), tmp_path / "plain")
    assert code_of(caught.value) == ["not_git_source"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_another_owners_repository_names_the_remedy(sample: SampleProject) -> None:
    """It is not opened, because of its configuration."""
    wheel = sample.wheel()
    for path in (sample.folder, *sample.folder.rglob("*")):
        os.chown(path, 12345, 12345)
    with pytest.raises(RepositoryUnavailableError, match=r"safe\.directory") as caught:
        verified(wheel, sample.folder)
    assert code_of(caught.value) == ["not_owner"]


def test_an_object_that_does_not_match_its_id_is_missing(
    sample: SampleProject, tmp_path: Path
) -> None:
    """The object store has another blob under its id."""
    wheel = sample.wheel()
    blob = git(sample.folder, "rev-parse", "HEAD:src/acme_skills/run.sh").strip()
    other = git(sample.folder, "rev-parse", "HEAD:src/acme_skills/__init__.py").strip()
    store = sample.folder / ".git/objects"
    place, other_place = store / blob[:2] / blob[2:], store / other[:2] / other[2:]
    place.unlink()
    shutil.copy(other_place, place)
    found = verified(wheel, sample.folder)
    assert (found.exit_code, row(found, "acme_skills/run.sh").state) == (3, "missing_object")
    assert tmp_path


def test_nothing_is_written_and_no_hook_runs(sample: SampleProject, tmp_path: Path) -> None:
    """The repository may have hostile hooks, filters and settings."""
    wheel = sample.wheel()
    trap = tmp_path / "sprung"
    for name in ("post-checkout", "reference-transaction", "post-index-change"):
        hook = sample.folder / ".git/hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\ntouch {trap}\n", encoding="utf-8")
        hook.chmod(0o755)
    git(sample.folder, "config", "core.fsmonitor", f"touch {trap}")
    git(sample.folder, "config", "filter.trap.clean", f"touch {trap}")
    git(sample.folder, "config", "filter.trap.smudge", f"touch {trap}")
    (sample.folder / ".git/info").mkdir(exist_ok=True)
    (sample.folder / ".git/info/attributes").write_text("* filter=trap\n", encoding="utf-8")
    trap.unlink(missing_ok=True)
    before = {path: path.stat().st_mtime_ns for path in sample.folder.rglob("*")}
    assert verified(wheel, sample.folder).verdict == "match"
    assert {path: path.stat().st_mtime_ns for path in sample.folder.rglob("*")} == before
    assert not trap.exists()


@pytest.mark.parametrize(
    "path",
    [*(f"{DIST_INFO}/{name}" for name in ("METADATA", "WHEEL", "entry_points.txt"))],
)
def test_a_missing_generated_file_is_reported(sample: SampleProject, path: str) -> None:
    """Without entry points, for example, commands are missing."""
    found = verified(rewritten(sample.wheel(), {path: None}), sample.folder)
    state, detail = state_of(found, "made")
    assert (found.exit_code, state, path in detail) == (1, "fails", True)


def test_a_renamed_archive_fails(sample: SampleProject) -> None:
    """Installers use the file name."""
    wheel = sample.wheel()
    other = wheel.rename(wheel.with_name("other-2.0-py3-none-any.whl"))
    found = verified(other, sample.folder)
    state, detail = state_of(found, "names")
    assert (found.exit_code, state) == (1, "fails")
    assert "is of acme-skills 1.0, unlike the file name" in detail


def test_a_generated_setup_script_is_not_checked(sample: SampleProject) -> None:
    """Its content cannot be derived."""
    table = "\n[tool.hatch.build.targets.sdist]\nsupport-legacy = true"
    sdist = sample.configure(table).committed().sdist()
    found = verified(sdist, sample.folder)
    assert (found.exit_code, row(found, "setup.py").state) == (3, "unchecked")


def test_an_entry_point_behind_a_comment_is_found(sample: SampleProject) -> None:
    """importlib.metadata ends a line, and the comment, at U+2028."""
    path = f"{DIST_INFO}/entry_points.txt"
    wheel = sample.wheel()
    text = open_archive(wheel).members[path].data + "# \u2028evil = os:abort\n".encode()
    found = verified(rewritten(wheel, {path: text}), sample.folder)
    assert row(found, path).state == "differs"


def test_another_file_in_the_bundle_folder_is_moved(sample: SampleProject) -> None:
    """The build puts only lock, receipt and skills there."""
    data = (sample.folder / "hatch_build.py").read_bytes()
    path = "acme_skills/.agents/hatch_build.py"
    found = verified(rewritten(sample.wheel(), {path: data}), sample.folder)
    assert (found.verdict, row(found, path).state) == ("cannot_tell", "moved")


# --- repositories that git would not write ------------------------------------------------------


def written(folder: Path, kind: str, data: bytes) -> str:
    """Write any object into a repository and return its id."""
    place = folder.parent / "object"
    place.write_bytes(data)
    command = ("hash-object", "-w", "--literally", "-t", kind, str(place))
    return git(folder, *command).strip()


def committed(folder: Path, tree: str) -> str:
    """Write a commit of a tree into a repository and return its id."""
    who = "a <a@example.org> 1 +0000"
    text = f"tree {tree}\nauthor {who}\ncommitter {who}\n\nA trap\n"
    return written(folder, "commit", text.encode())


def tree_row(mode: str, name: str, oid: str) -> bytes:
    """Return one row of a raw tree."""
    return f"{mode} {name}\0".encode(errors="surrogateescape") + bytes.fromhex(oid)


def error_codes(sample: SampleProject, commit: str) -> list[str]:
    """Return the codes of the error that a comparison with a commit raises."""
    wheel = sample.wheel()
    with pytest.raises(RepositoryUnavailableError) as caught:
        verified(wheel, sample.folder, Wanted(commit))
    return code_of(caught.value)


def test_trees_that_expand_to_billions_of_files_are_refused(sample: SampleProject) -> None:
    """Nine trees, each ten times in the next."""
    tree = git(sample.folder, "rev-parse", "HEAD^{tree}").strip()
    for _ in range(9):
        rows = b"".join(tree_row("40000", f"d{n}", tree) for n in range(10))
        tree = written(sample.folder, "tree", rows)
    assert error_codes(sample, committed(sample.folder, tree)) == ["object_unusable"]


def test_a_malformed_tree_is_refused(sample: SampleProject) -> None:
    """It does not crash."""
    tree = written(sample.folder, "tree", b"no tree")
    assert error_codes(sample, committed(sample.folder, tree)) == ["object_unusable"]


def test_a_blob_in_the_place_of_a_folder_is_refused(sample: SampleProject) -> None:
    """Its bytes could be those of a tree."""
    blob = git(sample.folder, "rev-parse", "HEAD:pyproject.toml").strip()
    tree = written(sample.folder, "tree", tree_row("40000", "folder", blob))
    assert error_codes(sample, committed(sample.folder, tree)) == ["object_missing"]


def test_a_blob_with_the_bytes_of_a_commit_is_not_a_commit(sample: SampleProject) -> None:
    """Otherwise a committed file could name any tree of the repository."""
    text = git(sample.folder, "cat-file", "commit", "HEAD").encode()
    blob = written(sample.folder, "blob", text)
    repository = open_repository(sample.folder)
    assert repository.holds_commit(sample.commit_id())
    assert not repository.holds_commit(blob)


def test_a_ref_in_a_receipt_is_not_an_expression(sample: SampleProject) -> None:
    """`^{/...}` would search commit messages."""
    repository = open_repository(sample.folder)
    assert repository.ref("refs/heads/main") == sample.commit_id()
    assert repository.ref("refs/heads/main^{/change}") is None
    assert repository.ref("HEAD") is None


def test_symbolic_and_broken_tags_are_skipped(sample: SampleProject) -> None:
    """Builds do not need them."""
    git(sample.folder, "tag", "v1")
    git(sample.folder, "symbolic-ref", "refs/tags/alias", "refs/heads/main")
    (sample.folder / ".git/refs/tags/broken").write_text("no id\n", encoding="ascii")
    found = list(open_repository(sample.folder).tags())
    assert found == [("refs/tags/v1", sample.commit_id())]


# --- which project -----------------------------------------------------------------------------


def monorepo(folder: Path) -> SampleProject:
    """Return a project in a folder of a repository."""
    return SampleProject.create(folder / "libs/acme", repository=folder)


def test_a_project_in_a_folder_is_found_by_its_lock(tmp_path: Path) -> None:
    """It need not be named."""
    sample = monorepo(tmp_path / "mono")
    found = verified(sample.wheel(), tmp_path / "mono")
    assert (found.verdict, found.project) == ("match", "libs/acme")


def test_two_projects_with_one_lock_are_ambiguous(tmp_path: Path) -> None:
    """The error lists both."""
    sample = monorepo(tmp_path / "mono")
    shutil.copytree(sample.folder, tmp_path / "mono/libs/copy")
    wheel = sample.committed().wheel()
    with pytest.raises(SourceMismatchError, match="--project") as caught:
        verified(wheel, tmp_path / "mono")
    assert [problem.path for problem in caught.value.problems] == ["libs/acme", "libs/copy"]
    assert verified(wheel, tmp_path / "mono", Wanted(project="libs/acme/")).verdict == "match"


def test_a_project_that_is_not_in_the_commit_fails(sample: SampleProject, tmp_path: Path) -> None:
    """For example in a commit of another repository."""
    other = SampleProject.create(tmp_path / "other")
    other.replace("pyproject.toml", '"Acme.Skills"', '"Other"')
    other.write("skills/greet/SKILL.md", b"---\nname: greet\ndescription: Hi.\n---\n")
    (other.folder / "pyproject.toml").write_bytes(
        (other.folder / "pyproject.toml").read_bytes().replace(b"acme-skills =", b"other =")
    )
    other.locked().committed()
    with pytest.raises(SourceMismatchError) as caught:
        verified(sample.wheel(), other.folder, Wanted("HEAD"))
    assert (caught.value.exit_code, code_of(caught.value)) == (1, ["project_not_in_commit"])


def test_a_named_folder_without_a_project_fails(sample: SampleProject) -> None:
    """The message names the file."""
    with pytest.raises(SourceMismatchError, match=r"nowhere/pyproject\.toml"):
        verified(sample.wheel(), sample.folder, Wanted(project="nowhere"))


# --- layouts -----------------------------------------------------------------------------------

WHEEL_TABLE = '[tool.hatch.build.targets.wheel]\npackages = ["src/acme_skills"]\n'


def laid_out(folder: Path, table: str, moves: dict[str, str]) -> SampleProject:
    """Return a committed project with another table of hatchling and moved files."""
    sample = SampleProject.create(folder)
    assert WHEEL_TABLE in PYPROJECT
    sample.replace("pyproject.toml", WHEEL_TABLE, table)
    for old, new in moves.items():
        (folder / new).parent.mkdir(parents=True, exist_ok=True)
        (folder / old).rename(folder / new)
    return sample.locked().committed()


LAYOUTS: dict[str, tuple[str, dict[str, str]]] = {
    "flat, found by name": ("", {"src/acme_skills": "acme_skills"}),
    "src, found by name": ("", {}),
    "flat, named": (
        '[tool.hatch.build.targets.wheel]\npackages = ["acme_skills"]\n',
        {"src/acme_skills": "acme_skills"},
    ),
    "sources": (
        '[tool.hatch.build.targets.wheel]\nonly-include = ["lib/acme_skills"]\nsources = ["lib"]\n',
        {"src/acme_skills": "lib/acme_skills"},
    ),
    "renamed by sources": (
        WHEEL_TABLE.replace("packages", "only-include").replace("src/acme_skills", "code")
        + '[tool.hatch.build.targets.wheel.sources]\n"code" = "acme_skills"\n',
        {"src/acme_skills": "code"},
    ),
    "force-include of a folder": (
        WHEEL_TABLE + '[tool.hatch.build.targets.wheel.force-include]\n"data" = "acme_skills/d"\n',
        {"src/acme_skills/run.sh": "data/run.sh"},
    ),
    "force-include of a file": (
        WHEEL_TABLE
        + '[tool.hatch.build.targets.wheel.force-include]\n"run.sh" = "acme_skills/x"\n',
        {"src/acme_skills/run.sh": "run.sh"},
    ),
    "shared data": (
        WHEEL_TABLE + '[tool.hatch.build.targets.wheel.shared-data]\n"data" = "share/acme"\n',
        {"src/acme_skills/run.sh": "data/run.sh"},
    ),
    "shared scripts": (
        WHEEL_TABLE + '[tool.hatch.build.targets.wheel.shared-scripts]\n"bin/run.sh" = "run.sh"\n',
        {"src/acme_skills/run.sh": "bin/run.sh"},
    ),
}


@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize("kind", ["wheel", "sdist"])
def test_every_layout_is_derived_from_the_configuration(
    tmp_path: Path, name: str, kind: str
) -> None:
    """No code of the project runs."""
    table, moves = LAYOUTS[name]
    sample = laid_out(tmp_path / "acme", table, moves)
    archive = sample.wheel() if kind == "wheel" else sample.sdist()
    found = verified(archive, sample.folder)
    assert (found.verdict, found.differences) == ("match", ())


def test_a_namespace_package_is_found(tmp_path: Path) -> None:
    """Its first folder has no module."""
    sample = SampleProject.create(tmp_path / "acme")
    (tmp_path / "acme/src/corp").mkdir()
    (tmp_path / "acme/src/acme_skills").rename(tmp_path / "acme/src/corp/acme_skills")
    sample.replace("pyproject.toml", '["src/acme_skills"]', '["src/corp"]')
    sample.replace(
        "pyproject.toml", 'acme-skills = "acme_skills"', 'acme-skills = "corp.acme_skills"'
    )
    wheel = sample.configure('package = "corp.acme_skills"').locked().committed().wheel()
    found = verified(wheel, sample.folder)
    assert (found.verdict, found.differences) == ("match", ())


def test_links_in_the_commit_are_followed(tmp_path: Path) -> None:
    """For example a license shared by several projects."""
    sample = monorepo(tmp_path / "mono")
    (tmp_path / "mono/LICENSE").write_bytes(b"All yours.\n")
    (sample.folder / "LICENSE").symlink_to("../../LICENSE")
    found = verified(sample.committed().wheel(), tmp_path / "mono")
    licence = row(found, f"{DIST_INFO}/licenses/LICENSE")
    assert (found.verdict, licence.blob_path) == ("match", "LICENSE")


def test_the_skills_folder_may_be_the_project(tmp_path: Path) -> None:
    """`skills = "."`."""
    sample = SampleProject.create(tmp_path / "acme")
    (sample.folder / "skills/greet").rename(sample.folder / "greet")
    sample.replace("pyproject.toml", 'skills = "skills"', 'skills = "."')
    found = verified(sample.locked().committed().wheel(), sample.folder)
    assert (found.verdict, found.differences) == ("match", ())

"""From a commit id to a skills tree by SHA-1 alone, on objects that git itself made."""

from __future__ import annotations

import base64
import subprocess
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skills_bundle.bundle.receipt import Source
from skills_bundle.formats.digest import git_object_id
from skills_bundle.git import limits, proof
from skills_bundle.git.commit import Entry, commit_tree, tree_entries
from tests.hatch_plugin.sample import SampleProject, git

if TYPE_CHECKING:
    from pathlib import Path


def raw(folder: Path, kind: str, name: str) -> bytes:
    """Return the bytes of an object, printed by git."""
    done = ["git", "-C", str(folder), "cat-file", kind, name]
    return subprocess.run(done, check=True, capture_output=True).stdout


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """Return a repository whose skills lie at `a/skills`."""
    sample = SampleProject(tmp_path)
    git(tmp_path, "init", "--quiet")
    sample.write("a/skills/greet/SKILL.md", b"x").write("other", b"y").committed()
    return tmp_path


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Source:
    """Return what a receipt would say of a commit whose skills lie at `a/skills`."""
    folder = tmp_path_factory.mktemp("proof")
    sample = SampleProject(folder)
    git(folder, "init", "--quiet")
    sample.write("a/skills/greet/SKILL.md", b"x").write("other", b"y").committed()
    names = (("commit", "HEAD"), ("tree", "HEAD^{tree}"), ("tree", "HEAD:a"))
    objects = tuple(raw(folder, kind, name) for kind, name in names)
    return Source(
        state="clean",
        reason=None,
        commit=sample.commit_id(),
        skills_tree=git(folder, "rev-parse", "HEAD:a/skills").strip(),
        proof=proof.encode(objects),
    )


def test_the_objects_of_a_commit_lead_to_its_skills(source: Source) -> None:
    """Every id is recomputed from the bytes above it."""
    assert proof.problems(source) == ()


def test_no_proof_no_problem(source: Source) -> None:
    """A project may leave it out; then nothing is claimed of it."""
    assert proof.problems(source.model_copy(update={"proof": None})) == ()


@pytest.mark.parametrize("position", [0, 1, 2])
def test_a_changed_object_is_noticed(source: Source, position: int) -> None:
    """One bit of the commit or of a tree."""
    objects = [*proof.decode(source.proof or ())]
    objects[position] = bytes([objects[position][0] ^ 1]) + objects[position][1:]
    changed = source.model_copy(update={"proof": proof.encode(objects)})
    assert proof.problems(changed) != ()


@pytest.mark.parametrize(
    "update",
    [
        {"commit": "f" * 40},
        {"skills_tree": "f" * 40},
        {"proof": ()},
        {"proof": ("bm8=",)},
        {"proof": ("not base64",)},
    ],
)
def test_a_claim_that_does_not_follow_is_noticed(source: Source, update: dict[str, object]) -> None:
    """Another commit, another tree, no objects, or something else than objects."""
    assert proof.problems(source.model_copy(update=update)) != ()


def test_a_tree_left_out_is_noticed(source: Source) -> None:
    """The chain has no gaps."""
    shorter = (source.proof or ())[:2]
    assert proof.problems(source.model_copy(update={"proof": shorter})) != ()


def test_a_file_with_the_id_of_the_tree_is_not_the_way(source: Source) -> None:
    """Only folders lead on: a submodule or file entry with that id proves nothing."""
    commit, root, parent = proof.decode(source.proof or ())
    forged = parent.replace(b"40000 skills", b"160000 skills")
    changed = source.model_copy(update={"proof": proof.encode((commit, root, forged))})
    assert [row.path for row in proof.problems(changed)] == [
        "source.proof[2]",
        "source.skills_tree",
    ]


def test_base64_that_is_not_canonical_is_noticed() -> None:
    """Several texts decode to the same bytes; one of them is ours."""
    assert base64.b64decode("eB==") == base64.b64decode("eA==")
    with pytest.raises(ValueError, match="canonical"):
        proof.decode(("eB==",))


def test_a_proof_that_is_too_long_is_left_out() -> None:
    """A folder with thousands of entries would swell every wheel."""
    assert proof.encode((b"x" * limits.PROOF_MAX_BYTES,)) is not None
    assert proof.encode((b"x" * limits.PROOF_MAX_BYTES, b"x")) is None


def told(source: Source, *objects: bytes) -> list[tuple[str | None, str]]:
    """Return place and message of everything that is wrong with these objects for this claim."""
    texts = tuple(base64.b64encode(data).decode() for data in objects)
    changed = source.model_copy(update={"proof": texts})
    return [(row.path, row.message) for row in proof.problems(changed)]


ROOT = "is not a folder of source.proof[0]"
BELOW = "is not a folder of source.proof[1]"
END = "is not a folder of source.proof[{}], where the proof ends"


def test_trees_in_another_order_are_reported(source: Source) -> None:
    """Each tree has its place."""
    commit, root, parent = proof.decode(source.proof or ())
    assert told(source, commit, parent, root) == [
        ("source.proof[1]", ROOT),
        ("source.proof[2]", BELOW),
        ("source.skills_tree", END.format(2)),
    ]


def test_a_missing_tree_is_reported(source: Source) -> None:
    """Below the commit its own tree is expected."""
    commit, _, parent = proof.decode(source.proof or ())
    assert told(source, commit, parent) == [("source.proof[1]", ROOT)]


def test_the_skills_tree_itself_is_one_too_many(source: Source, made: Path) -> None:
    """The proof ends above it: its content follows from the files."""
    skills = raw(made, "tree", "HEAD:a/skills")
    assert told(source, *proof.decode(source.proof or ()), skills) == [
        ("source.skills_tree", END.format(3))
    ]


def test_a_tree_from_elsewhere_at_the_end_is_reported(source: Source) -> None:
    """A tree that nothing leads to proves nothing."""
    found = dict(told(source, *proof.decode(source.proof or ()), b"100644 x\0" + b"x" * 20))
    assert found["source.proof[3]"] == "is not a folder of source.proof[2]"


def test_an_object_twice_is_reported(source: Source) -> None:
    """No tree contains itself."""
    commit, root, parent = proof.decode(source.proof or ())
    assert ("source.proof[2]", BELOW) in told(source, commit, root, root, parent)


def test_something_else_than_a_commit_first_is_told(source: Source) -> None:
    """A tree, a tag or a file in its place."""
    _, root, parent = proof.decode(source.proof or ())
    assert told(source, root, parent)[0] == (
        "source.proof[0]",
        "is not a commit: it does not start with a tree id",
    )


def test_more_objects_than_folders_can_lie_in_each_other_are_told(source: Source) -> None:
    """Nothing is decoded or hashed then."""
    many = source.model_copy(update={"proof": ("!",) * (limits.PROOF_MAX_OBJECTS + 1)})
    (problem,) = proof.problems(many)
    assert problem.message == f"has {limits.PROOF_MAX_OBJECTS + 1} objects, more than 65"


def test_a_proof_beyond_the_limit_is_told_before_it_is_decoded(source: Source) -> None:
    """Text that is not even base64 is measured first."""
    large = source.model_copy(update={"proof": ("!" * 4 * (limits.PROOF_MAX_BYTES // 3 + 1),)})
    (problem,) = proof.problems(large)
    assert problem.message == "has 65538 bytes, more than 65536"


@given(st.binary(max_size=100))
def test_the_size_of_base64_needs_no_decoding(data: bytes) -> None:
    """The law that the bound rests on."""
    assert proof.decoded_size(base64.b64encode(data).decode()) == len(data)


def test_a_proof_of_the_largest_size_is_read_again() -> None:
    """What the build writes, a reader takes: both measure alike."""
    texts = proof.encode((b"x" * limits.PROOF_MAX_BYTES,))
    assert texts is not None
    (data,) = proof.decode(texts)
    assert len(data) == limits.PROOF_MAX_BYTES


def test_the_way_names_the_folders(source: Source) -> None:
    """From the repository's top to the skills."""
    assert proof.folder_names(source) == (("a",), ("skills",))


def test_folders_of_the_same_content_are_all_named(made: Path, source: Source) -> None:
    """Their tree is one object; nobody can tell which of them was meant."""
    sample = SampleProject(made)
    sample.write("b/skills/greet/SKILL.md", b"x").committed()
    names = (("commit", "HEAD"), ("tree", "HEAD^{tree}"), ("tree", "HEAD:a"))
    objects = tuple(raw(made, kind, name) for kind, name in names)
    twice = source.model_copy(update={"commit": sample.commit_id(), "proof": proof.encode(objects)})
    assert proof.problems(twice) == ()
    assert proof.folder_names(twice) == (("a", "b"), ("skills",))


def test_skills_that_are_the_whole_repository_need_the_commit_alone(tmp_path: Path) -> None:
    """The commit names their tree."""
    sample = SampleProject(tmp_path)
    git(tmp_path, "init", "--quiet")
    sample.write("greet/SKILL.md", b"x").committed()
    whole = Source(
        state="clean",
        reason=None,
        commit=sample.commit_id(),
        skills_tree=git(tmp_path, "rev-parse", "HEAD^{tree}").strip(),
        proof=proof.encode((raw(tmp_path, "commit", "HEAD"),)),
    )
    assert proof.problems(whole) == ()
    assert proof.folder_names(whole) == ()


@pytest.mark.parametrize("mode", ["120000", "160000", "100644"])
def test_a_step_that_is_not_a_folder_is_reported(source: Source, mode: str) -> None:
    """A link or a submodule on the way leads out of the commit."""
    tree = f"{mode} skills\0".encode() + bytes.fromhex(source.skills_tree or "")
    tree_id = git_object_id("tree", tree)
    commit = f"tree {tree_id}\nauthor A <a@x> 1 +0000\ncommitter A <a@x> 1 +0000\n\nx".encode()
    claim = source.model_copy(update={"commit": git_object_id("commit", commit)})
    assert told(claim, commit, tree) == [("source.skills_tree", END.format(1))]


def test_a_hidden_meaning_behind_right_hashes_is_told(source: Source) -> None:
    """Everything hashes as it should, and the tree is still none that git would make."""
    row = b"40000 skills\0" + bytes.fromhex(source.skills_tree or "")
    tree = row + b"40000 ..\0" + b"x" * 20
    tree_id = git_object_id("tree", tree)
    commit = f"tree {tree_id}\nauthor A <a@x> 1 +0000\ncommitter A <a@x> 1 +0000\n\nx".encode()
    claim = source.model_copy(update={"commit": git_object_id("commit", commit)})
    assert told(claim, commit, tree) == [
        ("source.proof[1]", "contains the name '..', which git does not allow in a tree"),
        ("source.proof[1]", "is not in the order of a git tree"),
    ]


def test_a_tree_is_read_as_git_lists_it(tmp_path: Path) -> None:
    """Folders, files, x bits, links, names with spaces and names that are not ASCII."""
    sample = SampleProject(tmp_path)
    git(tmp_path, "init", "--quiet")
    sample.write("folder/x", b"").write("a file", b"").write("é", b"").write("run", b"")
    (tmp_path / "run").chmod(0o755)
    (tmp_path / "link").symlink_to("run")
    sample.committed()
    listed = git(tmp_path, "-c", "core.quotePath=false", "ls-tree", "HEAD").splitlines()
    expected = {
        name: Entry(kind.split()[0].lstrip("0"), kind.split()[2])
        for kind, name in (line.split("\t") for line in listed)
    }
    assert tree_entries(raw(tmp_path, "tree", "HEAD^{tree}")) == expected


@given(st.binary(max_size=80))
def test_any_bytes_are_a_tree_or_refused(data: bytes) -> None:
    """No other error, and every id has 40 digits."""
    try:
        entries = tree_entries(data)
    except ValueError:
        return
    assert all(len(entry.oid) == 40 for entry in entries.values())


@pytest.mark.parametrize("data", [b"", b"parent x\n", b"tree abc\n", b"tree " + b"g" * 40 + b"\n"])
def test_what_is_no_commit_is_refused(data: bytes) -> None:
    """A commit begins with the id of its tree."""
    with pytest.raises(ValueError, match="commit"):
        commit_tree(data)

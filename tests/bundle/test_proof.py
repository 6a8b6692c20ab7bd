"""From a commit id to a skills tree by SHA-1 alone, on objects that git itself made."""

from __future__ import annotations

import base64
import subprocess
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skills_bundle import limits
from skills_bundle.bundle import proof
from skills_bundle.bundle.proof import Entry
from skills_bundle.bundle.receipt import Source
from tests.hatch_plugin.sample import SampleProject, git

if TYPE_CHECKING:
    from pathlib import Path


def raw(folder: Path, kind: str, name: str) -> bytes:
    """Let git print an object's bytes."""
    done = ["git", "-C", str(folder), "cat-file", kind, name]
    return subprocess.run(done, check=True, capture_output=True).stdout


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Source:
    """Give what a receipt would say of a commit whose skills lie at `a/skills`."""
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
    assert proof.tree_entries(raw(tmp_path, "tree", "HEAD^{tree}")) == expected


@given(st.binary(max_size=80))
def test_any_bytes_are_a_tree_or_refused(data: bytes) -> None:
    """No other error, and every id has 40 digits."""
    try:
        entries = proof.tree_entries(data)
    except ValueError:
        return
    assert all(len(entry.oid) == 40 for entry in entries.values())


@pytest.mark.parametrize("data", [b"", b"parent x\n", b"tree abc\n", b"tree " + b"g" * 40 + b"\n"])
def test_what_is_no_commit_is_refused(data: bytes) -> None:
    """A commit begins with the id of its tree."""
    with pytest.raises(ValueError, match="commit"):
        proof.commit_tree(data)

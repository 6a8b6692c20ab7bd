"""The lock: one rendering, closed reading, and every fault named."""

from __future__ import annotations

import hashlib
import json

import pytest

from skills_bundle.bundle import limits, lock
from skills_bundle.errors import InvalidLockError
from skills_bundle.files.tree import FileTree
from tests.bundle.vectors import VECTORS, Vector, name, vectors

ALL = vectors("lock")
VALID = (VECTORS / "lock" / "valid.json").read_bytes()


def refusal(data: bytes) -> InvalidLockError:
    """Return the error that reading must raise."""
    with pytest.raises(InvalidLockError) as caught:
        lock.parse(data)
    return caught.value


@pytest.mark.parametrize("vector", [row for row in ALL if row.accept], ids=name)
def test_valid_locks_are_read_and_written_to_the_same_bytes(vector: Vector) -> None:
    """Reading and writing are one."""
    assert lock.parse(vector.data).to_bytes() == vector.data


@pytest.mark.parametrize("vector", [row for row in ALL if not row.accept], ids=name)
def test_each_fault_is_named_by_its_code(vector: Vector) -> None:
    """Each vector has one fault, and no other is reported."""
    assert {problem.code for problem in refusal(vector.data).problems} == {vector.code}


def test_every_vector_is_in_the_manifest() -> None:
    """None lies about unused."""
    files = {path.name for path in (VECTORS / "lock").glob("*.json")} - {"manifest.json"}
    assert files == {vector.path.name for vector in ALL}


def test_the_digest_is_what_sha256sum_prints() -> None:
    """Of the file as it is."""
    assert lock.catalog_sha256(VALID) == hashlib.sha256(VALID).hexdigest()


def test_every_single_bit_flip_is_refused_or_changes_the_digest() -> None:
    """All of them: a lock of 3 kB has some 25,000."""
    data = bytearray(VALID)
    digest = lock.catalog_sha256(VALID)
    unnoticed: list[int] = []
    for bit in range(len(data) * 8):
        data[bit // 8] ^= 1 << bit % 8
        if lock.catalog_sha256(bytes(data)) == digest:
            unnoticed.append(bit)
        data[bit // 8] ^= 1 << bit % 8
    assert unnoticed == []


def test_all_problems_come_at_once() -> None:
    """With their places."""
    value = json.loads(VALID)
    value["skills"][0]["files"][0]["size"] = -1
    value["skills"][2]["git_tree"] = "x"
    value["extra"] = 1
    found = [problem.path for problem in refusal(json.dumps(value).encode()).problems]
    assert found == ["skills[0].files[0].size", "skills[2].git_tree", "extra"]


def test_a_merge_conflict_names_the_command_that_mends_it() -> None:
    """Nobody should solve one by hand."""
    data = VALID.replace(b'  "collection"', b'<<<<<<< HEAD\n  "collection"')
    assert "skills-bundle lock" in str(refusal(data))


def test_a_merge_conflict_at_the_very_start_is_seen_too() -> None:
    """Where git put the mark on the first line."""
    assert refusal(b"<<<<<<< HEAD\n" + VALID).problems[0].code == "merge_conflict"


def test_a_lock_over_the_limit_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """By its bytes."""
    monkeypatch.setattr(limits, "LOCK_MAX_BYTES", len(VALID) - 1)
    assert refusal(VALID).problems[0].code == "json_too_large"


def test_files_are_given_by_their_path_below_the_skills_folder() -> None:
    """Of all skills together."""
    assert list(lock.parse(VALID).files()) == [
        "alpha/SKILL.md",
        "alpha/references/guide.md",
        "alpha/scripts/run.sh",
        "group/beta/SKILL.md",
        "小说拆条/SKILL.md",
    ]


def test_values_keep_their_types() -> None:
    """4.0 is no integer, and stays none."""
    beta = lock.parse(VALID).skills[1]
    assert json.dumps(beta.frontmatter["metadata"]) == (
        '{"tags": "b, a", "n": [1, 1.5, 4.0, true, null]}'
    )


def test_a_lock_cannot_be_changed() -> None:
    """Records are frozen."""
    found = lock.parse(VALID)
    with pytest.raises(ValueError, match="frozen"):
        found.collection = "other"


def test_the_tree_is_recomputed_from_bytes_and_what_does_not_ship() -> None:
    """As whoever verifies an installation does."""
    found = lock.parse(VALID)
    texts = {
        "alpha/SKILL.md": b"---\nname: alpha\ndescription: Does one thing.\n---\n\n# alpha\n",
        "alpha/references/guide.md": b"# Guide\n",
        "alpha/scripts/run.sh": b"echo\n",
        "group/beta/SKILL.md": (
            b'---\nname: beta\ndescription: "Says: it"\nlicense: MIT\nmetadata:\n  tags: b, a\n'
            b"  n: [1, 1.5, 4.0, true, null]\n---\n\n# beta\n"
        ),
        "小说拆条/SKILL.md": (
            "---\nname: 小说拆条\ndescription: Does one thing.\n---\n\n# 小说拆条\n".encode()
        ),
    }
    tree = FileTree.from_bytes({path: texts[path] for path in found.files()}).with_modes_of(
        found.tree()
    )
    assert tree.git_tree(found.unlocked_entries()) == found.digests.git_tree


def test_line_ends_that_git_converted_are_told_from_an_edit() -> None:
    """Writing the lock anew would not last; the message names what does."""
    error = refusal(VALID.replace(b"\n", b"\r\n"))
    assert "`catalog.lock.json -text`" in error.problems[0].message

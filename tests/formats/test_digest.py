"""Digests against published vectors, against Go's algorithm written again, and against git."""

from __future__ import annotations

import hashlib
import json
import subprocess
from pathlib import Path
from typing import NotRequired, TypedDict, cast

import pytest

from skills_bundle.formats import digest
from skills_bundle.formats.digest import TreeEntry
from tests.builders import GIT_ENVIRONMENT


class File(TypedDict):
    """A file of a vector."""

    text: str
    executable: bool


class Vector(TypedDict):
    """A set of files and its digests."""

    name: str
    files: dict[str, File]
    dir_hash: str
    git_tree: str
    different_from: NotRequired[str]


PATH = Path(__file__).parent.parent / "vectors" / "digests" / "vectors.json"
VECTORS = cast("list[Vector]", json.loads(PATH.read_text(encoding="utf-8")))
BY_NAME = {vector["name"]: vector for vector in VECTORS}
every_vector = pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])


def git_objects(repository: Path, *arguments: str, stdin: bytes = b"") -> str:
    """Ask real git's plumbing."""
    command = ["git", "-C", str(repository), *arguments]
    done = subprocess.run(
        command, input=stdin, capture_output=True, check=True, env=GIT_ENVIRONMENT
    )
    return done.stdout.decode().strip()


def mode(file: File) -> str:
    """Return git's mode of a file."""
    return "100755" if file["executable"] else "100644"


@every_vector
def test_dir_hash_is_as_published(vector: Vector) -> None:
    """What another tool's author compares with."""
    sums = {
        path: digest.sha256_hex(file["text"].encode()) for path, file in vector["files"].items()
    }
    assert digest.dir_hash(sums) == vector["dir_hash"]


@every_vector
def test_published_dir_hash_is_gos_algorithm(vector: Vector) -> None:
    """Go's Hash1: sha256sum lines in byte order, hashed; written without the product's code."""
    lines = [
        b"%s  %s\n" % (hashlib.sha256(file["text"].encode()).hexdigest().encode(), path.encode())
        for path, file in sorted(vector["files"].items(), key=lambda row: row[0].encode())
    ]
    assert hashlib.sha256(b"".join(lines)).hexdigest() == vector["dir_hash"]


@every_vector
def test_git_tree_is_as_published(vector: Vector) -> None:
    """The id of a folder with exactly these files."""
    entries = [
        TreeEntry(path, mode(file), digest.git_object_id("blob", file["text"].encode()))
        for path, file in vector["files"].items()
    ]
    assert digest.git_tree_id(entries) == vector["git_tree"]


@every_vector
def test_published_git_tree_is_gits(vector: Vector, tmp_path: Path) -> None:
    """Real git, through its index, so that no file system has a say in the names."""
    git_objects(tmp_path, "init", "--quiet")
    rows: list[bytes] = []
    for path, file in vector["files"].items():
        oid = git_objects(
            tmp_path, "hash-object", "-w", "--stdin", "--no-filters", stdin=file["text"].encode()
        )
        rows.append(f"{mode(file)} {oid}\t{path}\0".encode())
    git_objects(tmp_path, "update-index", "-z", "--index-info", stdin=b"".join(rows))
    assert git_objects(tmp_path, "write-tree") == vector["git_tree"]


@pytest.mark.parametrize(
    "vector", [row for row in VECTORS if "different_from" in row], ids=lambda row: row["name"]
)
def test_look_alikes_have_different_digests(vector: Vector) -> None:
    """{a: "bc"} and {ab: "c"}, NFC and NFD, line ends."""
    assert vector["dir_hash"] != BY_NAME[vector.get("different_from", "")]["dir_hash"]


def test_the_executable_bit_is_in_the_tree_alone() -> None:
    """Go's dirhash knows no modes."""
    one, other = BY_NAME["executable"], BY_NAME["not_executable"]
    assert one["dir_hash"] == other["dir_hash"]
    assert one["git_tree"] != other["git_tree"]


def test_a_blob_in_pieces_has_the_id_of_the_whole() -> None:
    """However it is cut."""
    assert digest.git_blob_id(6, [b"ab", b"", b"cdef"]) == digest.git_object_id("blob", b"abcdef")


def test_a_path_that_is_file_and_folder_has_no_tree() -> None:
    """No git could hold it."""
    entries = [TreeEntry("a", "100644", "0" * 40), TreeEntry("a/b", "100644", "0" * 40)]
    with pytest.raises(ValueError, match="both a file and a folder"):
        digest.git_tree_id(entries)


@pytest.mark.parametrize("again", ["a/b", "a"])
def test_a_path_that_comes_twice_has_no_tree(again: str) -> None:
    """Also where the second is a file in the place of a folder."""
    entries = [TreeEntry("a/b", "100644", "0" * 40), TreeEntry(again, "100644", "0" * 40)]
    with pytest.raises(ValueError, match="twice"):
        digest.git_tree_id(entries)


def test_links_and_submodules_are_entries_like_files() -> None:
    """Their modes are part of the tree."""
    plain = digest.git_tree_id([TreeEntry("a", "100644", "0" * 40)])
    others = {digest.git_tree_id([TreeEntry("a", m, "0" * 40)]) for m in ("120000", "160000")}
    assert len({plain, *others}) == 3


@pytest.mark.parametrize("algorithm", sorted(digest.RECORDED_ALGORITHMS))
def test_digests_of_others_can_be_recomputed(algorithm: str) -> None:
    """By every algorithm that has a length of its own."""
    found = digest.recorded_hex(algorithm, b"x")
    assert (len(found), found) == (
        2 * digest.recorded_size(algorithm),
        hashlib.new(algorithm, b"x").hexdigest(),
    )

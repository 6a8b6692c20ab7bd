"""A tree of files has one comparison and the same digests wherever its files come from."""

from __future__ import annotations

from dataclasses import replace

import pytest

from skills_bundle.errors import UnsafeFileError
from skills_bundle.files.tree import FileEntry, FileTree, compare
from skills_bundle.formats.digest import TreeEntry, dir_hash, sha256_hex

DEMO = {"references/a.md": b"A\n", "SKILL.md": b"# Demo\n"}
DEMO_TREE = FileTree.from_bytes(DEMO, executable=())


def test_paths_are_sorted_by_their_utf8_bytes() -> None:
    """Code point order and UTF-16 order would differ beyond the basic plane."""
    tree = FileTree.from_bytes({"\U0001f600": b"", "\uff5e": b"", "a": b""})
    assert list(tree) == ["a", "\uff5e", "\U0001f600"]


def test_package_digest_is_the_one_of_the_specification() -> None:
    """Section 3.2 of the evidence contract names the figure."""
    expected = "e00ae56059bc23abe4b0f60bd131588e4f6c3fe7d0b7547442bb54764e8c0eaf"
    assert DEMO_TREE.package_sha256() == expected


def test_content_identity_is_the_one_of_the_specification() -> None:
    """Section 5.1 of the evidence contract names the figure."""
    expected = "6d700c4278013d9f48dd2b0c7cf5796d52f51178a4994942933ea011e93045db"
    assert DEMO_TREE.content_identity(collection="synthetic", skill="demo-skill") == expected


def test_content_identity_of_a_collection_differs_from_that_of_a_skill() -> None:
    """The subject is part of what is hashed."""
    whole = DEMO_TREE.content_identity(collection="synthetic")
    assert whole != DEMO_TREE.content_identity(collection="synthetic", skill="synthetic")


def test_content_identity_needs_the_executable_bit() -> None:
    """A disk that lost the bit takes it from the lock."""
    lost = FileTree.from_bytes(DEMO)
    with pytest.raises(ValueError, match="executable"):
        lost.content_identity(collection="c")
    restored = lost.with_modes_of(DEMO_TREE)
    assert restored.content_identity(collection="c") == DEMO_TREE.content_identity(collection="c")


def test_digests_refuse_a_file_that_was_not_read() -> None:
    """A digest of the rest would be a claim about the whole."""
    tree = FileTree({"a": FileEntry("unreadable", executable=False)})
    for digest in (
        tree.dir_hash,
        tree.package_sha256,
        tree.git_tree,
        lambda: tree.content_identity(collection="c"),
    ):
        with pytest.raises(ValueError, match="a"):
            digest()


def test_dir_hash_is_that_of_the_lock() -> None:
    """The lock's `dir_hash` is computed the same way."""
    assert DEMO_TREE.dir_hash() == dir_hash({path: sha256_hex(DEMO[path]) for path in DEMO})


def test_git_tree_is_what_git_computes() -> None:
    """`git write-tree` printed this id for the two files, and the second with a link beside."""
    tree = FileTree.from_bytes({"a": b"x\n", "b/run.sh": b"y\n"}, executable={"b/run.sh"})
    assert tree.git_tree() == "5d26e2f3f94ac3e8ba569b50f0c7d648f84dd21e"
    link = TreeEntry("c", "120000", "2e65efe2a145dda7ee51d1741299f848e5bf752e")
    assert tree.git_tree([link]) != tree.git_tree()


def test_reading_returns_the_bytes() -> None:
    """Also below a folder, whose paths are relative to it."""
    assert DEMO_TREE.read("SKILL.md") == b"# Demo\n"
    below = DEMO_TREE.below("references")
    assert list(below) == ["a.md"]
    assert below.read("a.md") == b"A\n"
    assert DEMO_TREE.below("") == DEMO_TREE


def test_reading_what_is_not_there_fails() -> None:
    """An unknown path is a mistake of the caller; a source without bytes is a fact."""
    with pytest.raises(KeyError):
        DEMO_TREE.read("b")
    with pytest.raises(UnsafeFileError):
        FileTree(DEMO_TREE).read("SKILL.md")


FILE = FileEntry.of(b"x", executable=False)


@pytest.mark.parametrize(
    ("expected", "actual", "state"),
    [
        (FILE, FILE, None),
        (FILE, None, "missing"),
        (FILE, FileEntry("missing"), "missing"),
        (None, FileEntry("missing"), None),
        (None, FILE, "extra"),
        (None, FileEntry("linked"), "extra"),
        (None, FileEntry("unreadable"), "unreadable"),
        (FILE, FileEntry("unreadable"), "unreadable"),
        (FileEntry("unreadable"), FILE, "unreadable"),
        (FILE, FileEntry("linked"), "linked"),
        (FILE, FileEntry("not_regular"), "not_regular"),
        (FILE, FileEntry("size"), "changed"),
        (FILE, FileEntry.of(b"y", executable=False), "changed"),
        (FILE, FileEntry.of(b"x", executable=True), "executable"),
        (FILE, FileEntry.of(b"x"), None),
        (FileEntry(size=1), FILE, None),
        (FileEntry(size=2), FILE, "changed"),
        (FileEntry(recorded="aa"), replace(FILE, recorded="bb"), "changed"),
    ],
)
def test_each_pair_of_entries_has_one_answer(
    expected: FileEntry | None, actual: FileEntry | None, state: str | None
) -> None:
    """What one side does not state is not compared."""
    found = compare(
        {} if expected is None else {"p": expected}, {} if actual is None else {"p": actual}
    )
    assert [row.state for row in found] == ([] if state is None else [state])


def test_comparison_names_both_sides_in_order() -> None:
    """A report needs both, and one order."""
    found = compare({"b": FILE, "a": FILE}, {"b": FileEntry.of(b"y"), "c": FILE})
    assert [(row.path, row.state) for row in found] == [
        ("a", "missing"),
        ("b", "changed"),
        ("c", "extra"),
    ]
    assert (found[1].expected, found[1].actual) == (FILE, FileEntry.of(b"y"))

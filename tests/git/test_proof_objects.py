"""Raw commits and trees: all that git makes is taken, and nothing that it never makes."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skills_bundle.git.commit import Entry, tree_entries
from skills_bundle.git.proof import check_commit, check_tree
from tests.hatch_plugin.sample import SampleProject, git
from tests.ssh_keys import SshKey

if TYPE_CHECKING:
    from pathlib import Path

OID = b"\x11" * 20
LATIN_1 = "Zoë".encode("latin-1")
TREE_ID = b"1" * 40
HEAD = b"tree " + TREE_ID + b"\nauthor A <a@x> 1 +0000\ncommitter A <a@x> 1 +0000\n"
SHA256 = b"tree " + b"1" * 64 + HEAD[45:] + b"\nx"


def row(name: bytes, mode: bytes = b"100644", oid: bytes = OID) -> bytes:
    """Return one raw row of a tree."""
    return mode + b" " + name + b"\0" + oid


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a repository of every kind of commit that git makes."""
    folder = tmp_path_factory.mktemp("commits")
    sample = SampleProject(folder)
    git(folder, "init", "--quiet", "--initial-branch=main")
    sample.write("a.c", b"").write("a/x", b"").write("a-b", b"").write("a0", b"").committed()
    git(folder, "branch", "first")
    git(folder, "checkout", "--quiet", "-b", "side")
    sample.write("side", b"1").committed()
    key = SshKey.create(tmp_path_factory.mktemp("key") / "id")
    git(folder, *key.git_options, "tag", "--sign", "--message", "Side", "v1-side")
    git(folder, "checkout", "--quiet", "main")
    sample.write("main", b"1").committed()
    git(folder, "merge", "--quiet", "--no-ff", "--message", "Merge", "v1-side")
    git(folder, "branch", "merged")
    latin = ("-c", "i18n.commitEncoding=ISO-8859-1", "commit", "--quiet", "--allow-empty")
    git(folder, *latin, "--message", "Zo\udceb", "--author", "Zo\udceb <z@x>")
    git(folder, "branch", "encoded")
    git(folder, *key.git_options, "commit", "--quiet", "-S", "--allow-empty", "--message", "Signed")
    git(folder, "branch", "signed")
    git(folder, "commit", "--quiet", "--allow-empty", "--allow-empty-message", "--message", "")
    return folder


def raw(folder: Path, kind: str, name: str) -> bytes:
    """Return an object's bytes, printed by git."""
    done = ["git", "-C", str(folder), "cat-file", kind, name]
    return subprocess.run(done, check=True, capture_output=True).stdout


@pytest.mark.parametrize(
    ("name", "header"),
    [
        ("first", b"tree "),
        ("side", b"parent "),
        ("merged", b"mergetag object "),
        ("encoded", b"encoding ISO-8859-1"),
        ("signed", b"gpgsig -----BEGIN SSH SIGNATURE-----"),
        ("main", b"parent "),
    ],
)
def test_a_commit_of_git_is_taken(repository: Path, name: str, header: bytes) -> None:
    """The first, a child, a merge of a signed tag, other encoding, signed, without a message."""
    data = raw(repository, "commit", name)
    assert header in data
    assert [*check_commit(data)] == []


def test_a_name_that_is_not_utf8_is_taken(repository: Path) -> None:
    """An encoding's bytes are the commit's own business."""
    data = raw(repository, "commit", "encoded")
    assert LATIN_1 in data
    assert [*check_commit(data)] == []


def test_a_tree_of_git_is_taken(repository: Path) -> None:
    """`a.c` sorts before the folder `a`, which sorts as `a/` does, and that before `a0`."""
    data = raw(repository, "tree", "main^{tree}")
    assert [*tree_entries(data)][:4] == ["a-b", "a.c", "a", "a0"]
    assert [*check_tree(data)] == []


@pytest.mark.parametrize(
    "data",
    [
        HEAD + b"gpgsig -----BEGIN SSH SIGNATURE-----\n U1NI\n -----END SSH SIGNATURE-----\n\nx\n",
        HEAD + b"gpgsig-sha256 -----BEGIN PGP SIGNATURE-----\n \n iQ==\n\nx\n",
        HEAD + b"HG:extra branch:x\n\nx\n",
        HEAD + b"flag\n\nx\n",
        HEAD + b"\ntree " + b"2" * 40 + b"\nauthor nobody\n gpgsig x\n\0",
        HEAD,
    ],
    ids=["signed", "signed-sha256", "extra", "without-value", "message", "no-message"],
)
def test_headers_that_git_writes_are_taken(data: bytes) -> None:
    """Signatures, headers of other tools, and any message, also one that looks like headers."""
    assert [*check_commit(data)] == []


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "not a commit"),
        (b"object " + TREE_ID + b"\ntype commit\n", "not a commit"),
        (b"tree abc\n", "not a commit"),
        (b"tree " + b"A" * 40 + b"\n", "not a commit"),
        (row(b"x"), "not a commit"),
        (SHA256, "SHA-256"),
        (HEAD[:-1], "truncated"),
        (HEAD.replace(b"A <", b"A\0<", 1) + b"\nx", "NUL byte"),
        (HEAD[:46] + HEAD + b"\nx", "tree twice"),
        (HEAD + b"tree " + b"2" * 40 + b"\n\nx", "tree twice"),
        (HEAD + b"parent " + b"2" * 40 + b"\n\nx", "after its committer"),
        (HEAD + b" more\n\nx", "has not started"),
        (HEAD[:46] + b" more\n" + HEAD[46:] + b"\nx", "in this order"),
        (HEAD[:46] + b"parent abc\n" + HEAD[46:] + b"\nx", "in this order"),
        (HEAD[:46] + b"\nx", "in this order"),
        (HEAD + b"author B <b@x> 1 +0000\n\nx", "author twice"),
        (HEAD + b"gpgsig a\ngpgsig b\n\nx", "gpgsig twice"),
    ],
)
def test_what_git_never_writes_into_a_commit_is_told(data: bytes, why: str) -> None:
    """Another kind of object, another hash, headers twice, in another order or cut off."""
    assert why in "; ".join(check_commit(data))


@pytest.mark.parametrize("name", [b"", b".", b"..", b".git", b".GIT", b"git~1", b".git. ", b"a/b"])
def test_a_name_that_no_tree_may_hold_is_told(name: bytes) -> None:
    """It would lead out of the tree, into a repository's own folder, or nowhere."""
    assert any("which git does not allow in a tree" in text for text in check_tree(row(name)))


def test_a_git_folder_behind_invisible_characters_is_told() -> None:
    """HFS+ leaves them out when it looks for a name."""
    assert [*check_tree(row(".g\u200cit".encode(), b"40000"))] != []


@pytest.mark.parametrize("name", [b".gitignore", b".github", b"...", b"git~2", b"\xff", b"a b"])
def test_a_name_that_only_looks_odd_is_taken(name: bytes) -> None:
    """Git has no opinion about these."""
    assert [*check_tree(row(name))] == []


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (row(b"b") + row(b"a"), "not in the order"),
        (row(b"a", b"40000") + row(b"a.c"), "not in the order"),
        (row(b"a") + row(b"a"), "twice"),
        (row(b"a") + row(b"a.c") + row(b"a", b"40000"), "twice"),
        (row(b"a", b"100600"), "mode"),
        (row(b"a", b"4000x"), "mode"),
        (row(b"a", b"\xff"), "mode"),
        (row(b"a", b"0"), "mode"),
        (row(b"a", b"0" * 40), "mode"),
        (row(b"a")[:-1], "truncated"),
        (b"100644 a", "truncated"),
        (b"100644 a\0", "truncated"),
        (HEAD + b"\nx", "truncated"),
    ],
)
def test_what_git_never_writes_into_a_tree_is_told(data: bytes, why: str) -> None:
    """Order, names twice, modes, rows cut short, another kind of object, another hash."""
    assert why in "; ".join(check_tree(data))


def test_leading_zeros_of_a_mode_are_passed() -> None:
    """Some programs wrote them; git reads such trees, and calls them by the same hash."""
    data = row(b"a", b"0100644") + row(b"b", b"040000")
    assert [*check_tree(data)] == []
    assert tree_entries(data)["b"] == Entry("40000", "11" * 20)


@given(st.binary(max_size=200))
def test_any_bytes_are_judged(data: bytes) -> None:
    """Nobody's bytes make a reader fail, or wait."""
    assert [*check_commit(data)] or data.startswith(b"tree ")
    assert [*check_tree(data)] or data == b"" or b"\0" in data

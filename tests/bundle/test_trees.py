"""The git trees that lock and receipt name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skills_bundle.bundle import documents
from skills_bundle.bundle.documents import Document
from skills_bundle.bundle.lock import UnlockedEntry
from skills_bundle.files.tree import FileEntry
from skills_bundle.formats.digest import git_object_id
from tests.installed_builder import SAMPLE, lock_of, receipt_of

if TYPE_CHECKING:
    from skills_bundle.bundle.lock import CatalogLock
    from skills_bundle.bundle.receipt import BuildReceipt

LOCK = lock_of(SAMPLE)


def _read(lock: CatalogLock = LOCK) -> Document[CatalogLock]:
    return Document(state="ok", value=lock, sha256="a" * 64)


FILES = {
    f"{skill}/{path}": FileEntry.of(data)
    for skill, files in SAMPLE.items()
    for path, data in files.items()
}


def test_git_trees_that_follow_from_the_files_are_believed() -> None:
    """Of the whole folder, with what does not ship, and of each skill."""
    lock = lock_of(SAMPLE, unlocked=(UnlockedEntry(path="README.md", mode="100644", oid="a" * 40),))
    assert documents.check_trees(_read(lock), FILES).state == "ok"


def test_unlocked_entries_that_contradict_the_files_are_noticed() -> None:
    """A path that is locked cannot be unlocked, too."""
    entry = UnlockedEntry(path="alpha/SKILL.md", mode="100644", oid="a" * 40)
    lock = LOCK.model_copy(update={"unlocked": (entry,)})
    assert documents.check_trees(_read(lock), FILES).state == "altered"


def _of_tree(tree: str) -> Document[BuildReceipt]:
    receipt = receipt_of(LOCK)
    source = receipt.source.model_copy(update={"skills_tree": tree})
    return Document(state="ok", value=receipt.model_copy(update={"source": source}))


def test_a_receipt_whose_commit_holds_other_skills_is_altered() -> None:
    """Its skills tree is not the one the installed files have."""
    receipt = documents.check_revision(_of_tree("f" * 40), _read(), FILES)
    assert (receipt.state, receipt.problems[-1].code) == ("altered", "skills_tree")


def test_a_commit_that_holds_the_lock_among_the_skills_is_believed() -> None:
    """Where the skills folder is the whole project, the lock lies at its top."""
    entry = UnlockedEntry(
        path="catalog.lock.json", mode="100644", oid=git_object_id("blob", LOCK.to_bytes())
    )
    tree = lock_of(SAMPLE, unlocked=(entry,)).digests.git_tree
    assert documents.check_revision(_of_tree(tree), _read(), FILES).state == "ok"


def test_other_files_say_nothing_of_the_commit() -> None:
    """Whether its skills are the ones that were installed cannot be told any more."""
    receipt = _of_tree("f" * 40)
    assert documents.check_revision(receipt, _read(), None) is receipt


def test_without_the_files_nothing_is_said_of_the_trees() -> None:
    """Trees of altered files say nothing of the lock."""
    lock = _read()
    assert documents.check_trees(lock, None) is lock

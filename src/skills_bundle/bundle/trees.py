"""Decision: do the git trees that lock and receipt name follow from the files that were read?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from skills_bundle.bundle.documents import altered
from skills_bundle.bundle.lock import LOCK_FILE_NAME, UnlockedEntry, tree_of_bytes
from skills_bundle.formats.digest import git_object_id

if TYPE_CHECKING:
    from skills_bundle.bundle.documents import Document
    from skills_bundle.bundle.lock import CatalogLock
    from skills_bundle.bundle.receipt import BuildReceipt


def check_revision(
    receipt: Document[BuildReceipt], lock: Document[CatalogLock], blobs: dict[str, str] | None
) -> Document[BuildReceipt]:
    """Compare the skills tree of the receipt's commit with that of the installed files.

    They are equal, but where the skills folder is the whole project: then the commit's tree holds
    the lock as well, whose bytes are the ones installed.

    Args:
        receipt: A receipt that has been read.
        lock: The lock beside it.
        blobs: As for `check_trees`.
    """
    if receipt.believed is None or lock.believed is None:
        return receipt
    tree = receipt.believed.source.skills_tree
    if tree in {None, lock.believed.digests.git_tree} or blobs is None:
        return receipt
    if tree == _tree_with_lock(lock.believed, blobs):
        return receipt
    return altered(receipt, "skills_tree", "The commit it names holds other skills than these.")


def _tree_with_lock(lock: CatalogLock, blobs: dict[str, str]) -> str:
    oid = git_object_id("blob", lock.to_bytes())
    own = UnlockedEntry(path=LOCK_FILE_NAME, mode="100644", oid=oid)
    whole = {path: (blobs[path], file.executable) for path, file in lock.files().items()}
    return tree_of_bytes(whole, (*lock.unlocked, own))


def check_trees(lock: Document[CatalogLock], blobs: dict[str, str] | None) -> Document[CatalogLock]:
    """Recompute every git tree the lock names from the files' own blob ids.

    Args:
        lock: A lock that has been read.
        blobs: Locked path to git blob id; None unless every locked file matches the lock, since
            the trees of other files say nothing of the lock.
    """
    if lock.believed is None or blobs is None:
        return lock
    wrong = [place for place, named, found in _trees(lock.believed, blobs) if named != found]
    for place in wrong:
        lock = altered(lock, "git_tree", f"{place} does not follow from the files.")
    return lock


def _trees(lock: CatalogLock, blobs: dict[str, str]) -> list[tuple[str, str, str]]:
    """Give place, named and recomputed id of each git tree in a lock."""
    whole = {path: (blobs[path], file.executable) for path, file in lock.files().items()}
    try:
        found = tree_of_bytes(whole, lock.unlocked)
    except ValueError:  # `unlocked` names a locked path: no git tree is like that
        found = ""
    rows = [("digests.git_tree", lock.digests.git_tree, found)]
    for index, skill in enumerate(lock.skills):
        own = {
            file.path: (blobs[f"{skill.path}/{file.path}"], file.executable) for file in skill.files
        }
        rows.append((f"skills[{index}].git_tree", skill.git_tree, tree_of_bytes(own, ())))
    return rows

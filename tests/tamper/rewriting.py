"""Rewrites an installation the way its own program would: what follows from what is kept so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skills_bundle.bundle import lock as locks
from skills_bundle.bundle import receipt as receipts
from skills_bundle.bundle import sbom
from skills_bundle.files.tree import FileEntry, FileTree
from skills_bundle.formats.digest import dir_hash, sha256_hex
from tests.tamper.changes import append

if TYPE_CHECKING:
    from skills_bundle.bundle.lock import CatalogLock, LockedSkill
    from tests.installed_builder import Installation


def leave_out(made: Installation, path: str) -> None:
    """Lock everything but one skill."""
    lock = locks.parse(made.lock.read_bytes())
    kept = tuple(skill for skill in lock.skills if skill.path != path)
    made.lock.write_bytes(_with_digests(made, lock, kept).to_bytes())


def sealed(old: receipts.BuildReceipt, **parts: Any) -> receipts.BuildReceipt:
    """Return a receipt with other parts, and the inner digest that belongs to them."""
    names = ("package", "catalog", "inputs", "asserted", "source")
    return receipts.seal(**{name: parts.get(name, getattr(old, name)) for name in names})


def _with_digests(
    made: Installation, lock: CatalogLock, skills: tuple[LockedSkill, ...]
) -> CatalogLock:
    """Return a lock of other skills whose digests follow from what lies there."""
    files = {f"{skill.path}/{file.path}": file for skill in skills for file in skill.files}
    tree = FileTree(
        {
            path: FileEntry.of((made.skills / path).read_bytes(), executable=file.executable)
            for path, file in files.items()
        }
    )
    digests = lock.digests.model_copy(
        update={
            "dir_hash": dir_hash({path: file.sha256 for path, file in files.items()}),
            "git_tree": tree.git_tree(lock.unlocked_entries()),
        }
    )
    return lock.model_copy(update={"digests": digests, "skills": skills})


def _relocked(made: Installation) -> CatalogLock:
    """Return the lock of what lies there now."""
    lock = locks.parse(made.lock.read_bytes())
    return _with_digests(made, lock, tuple(_relocked_skill(made, skill) for skill in lock.skills))


def _relocked_skill(made: Installation, skill: LockedSkill) -> LockedSkill:
    data = {file.path: (made.skills / skill.path / file.path).read_bytes() for file in skill.files}
    files = tuple(
        file.model_copy(
            update={"size": len(data[file.path]), "sha256": sha256_hex(data[file.path])}
        )
        for file in skill.files
    )
    tree = FileTree.from_bytes(data, executable={file.path for file in files if file.executable})
    return skill.model_copy(update={"files": files, "git_tree": tree.git_tree()})


def rewrite(
    made: Installation, target: str, *, with_receipt: bool = True, with_record: bool = True
) -> None:
    """Change a skill and then, as far as asked for, everything that speaks of it."""
    append(made.skills / target)
    lock = _relocked(made)
    made.lock.write_bytes(lock.to_bytes())
    if with_receipt:
        old = receipts.parse(made.receipt.read_bytes())
        tree = lock.digests.git_tree
        receipt = sealed(
            old,
            catalog=receipts.CatalogClaim(sha256=sha256_hex(lock.to_bytes()), git_tree=tree),
            source=old.source.model_copy(update={"skills_tree": tree, "proof": None}),
        )
        made.receipt.write_bytes(receipt.to_bytes())
        place = made.dist_info / "sboms" / sbom.file_name(made.name)
        place.write_bytes(sbom.make(lock, receipt))
    if with_record:
        made.write_record()

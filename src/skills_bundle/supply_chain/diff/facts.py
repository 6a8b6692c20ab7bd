"""Decision: what lock, receipt and metadata say besides files, as named facts."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from skills_bundle.formats.digest import sha256_hex
from skills_bundle.formats.record_file import DIST_INFO_SUFFIX

if TYPE_CHECKING:
    from skills_bundle.bundle.lock import CatalogLock
    from skills_bundle.bundle.receipt import BuildReceipt
    from skills_bundle.supply_chain.diff.model import Item, Side


def of_lock(lock: CatalogLock | None) -> dict[str, str]:
    """Give what a lock says of the whole."""
    if lock is None:
        return {}
    return {
        "collection": lock.collection,
        "sha256": sha256_hex(lock.to_bytes()),
        "dir_hash": lock.digests.dir_hash,
        "git_tree": lock.digests.git_tree,
        "skills": str(len(lock.skills)),
        "files": str(len(lock.files())),
        "unlocked": str(len(lock.unlocked)),
    }


def of_skills(lock: CatalogLock | None, other: CatalogLock | None) -> dict[str, str]:
    """Give what a lock says of the skills that another one has, too, besides their files."""
    if lock is None or other is None:
        return {}
    common = {skill.path for skill in other.skills}
    facts: dict[str, str] = {}
    for skill in lock.skills:
        if skill.path in common:
            facts[f"{skill.path}: description"] = skill.description
            facts[f"{skill.path}: tags"] = ", ".join(skill.tags)
            facts[f"{skill.path}: diagnostics"] = ", ".join(skill.diagnostics)
            facts[f"{skill.path}: frontmatter"] = ", ".join(skill.frontmatter)
    return facts


def of_receipt(receipt: BuildReceipt | None) -> dict[str, str]:
    """Give every field of a receipt; of lists and proof how long they are."""
    if receipt is None:
        return {}
    source, asserted, package = receipt.source, receipt.asserted, receipt.package
    facts: dict[str, str | None] = {
        "package.name": package.name,
        "package.version": package.version,
        "package.metadata_sha256": package.metadata_sha256,
        "package.computed": ", ".join(package.computed),
        "catalog.sha256": receipt.catalog.sha256,
        "catalog.git_tree": receipt.catalog.git_tree,
        "inputs.dir_hash": receipt.inputs.dir_hash,
        "inputs.files": str(len(receipt.inputs.files)),
        "inputs.executable": str(len(receipt.inputs.executable)),
        "asserted.repository": asserted.repository,
        "asserted.source_ref": asserted.source_ref,
        "source.state": source.state,
        "source.reason": source.reason,
        "source.commit": source.commit,
        "source.skills_tree": source.skills_tree,
        "source.proof": None if source.proof is None else f"{len(source.proof)} objects",
    }
    return {name: value for name, value in facts.items() if value is not None}


def of_metadata(side: Side) -> dict[str, str]:
    """Give the fields of core metadata, a repeated one joined."""
    return _fields(side.files.get(side.metadata))


def of_wheel(side: Side) -> dict[str, str]:
    """Give the fields of WHEEL, which an sdist does not have, under its name."""
    folder = side.metadata.rpartition("/")[0]
    if not folder.endswith(DIST_INFO_SUFFIX):
        return {}
    fields = _fields(side.files.get(f"{folder}/WHEEL"))
    return {f"WHEEL {name}": value for name, value in fields.items()}


def _fields(item: Item | None) -> dict[str, str]:
    if item is None or item.data is None:
        return {}
    head, _, body = item.data.decode(errors="replace").replace("\r\n", "\n").partition("\n\n")
    fields: defaultdict[str, list[str]] = defaultdict(list)
    for line in head.splitlines():
        name, colon, value = line.partition(":")
        if colon and name and not name[0].isspace():
            fields[name].append(value.strip())
    joined = {name: ", ".join(sorted(values)) for name, values in fields.items()}
    return {**joined, "Description": f"{len(body)} characters"} if body else joined

"""Decision: what the receipt of one build says: made anew, or relayed from the sdist."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skills_bundle.bundle import limits
from skills_bundle.bundle.lock import catalog_sha256
from skills_bundle.bundle.receipt import (
    Asserted,
    BuildReceipt,
    CatalogClaim,
    Inputs,
    Source,
    parse,
    seal,
)
from skills_bundle.errors import InvalidReceiptError, Problem, SettingsError
from skills_bundle.formats.digest import dir_hash, sha256_hex
from skills_bundle.git import proof
from skills_bundle.git.proof import dirty
from skills_bundle.git.status import listed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skills_bundle.archives.model import Member
    from skills_bundle.bundle.lock import CatalogLock
    from skills_bundle.bundle.receipt import Package
    from skills_bundle.git.proof import Reason, Revision
    from skills_bundle.project.settings import Settings


def inputs(files: Mapping[str, Member]) -> Inputs:
    """Give the receipt's account of the files of an sdist.

    Args:
        files: By path in the sdist, PKG-INFO and receipt aside.

    Raises:
        SettingsError: If there are more than `limits.RECEIPT_MAX_INPUTS`.
    """
    if len(files) > limits.RECEIPT_MAX_INPUTS:
        raise _too_many(f"{len(files)} files; at most {limits.RECEIPT_MAX_INPUTS} can be listed")
    return Inputs(
        dir_hash=dir_hash({path: sha256_hex(member.data) for path, member in files.items()}),
        files=tuple(sorted(files, key=str.encode)),
        executable=tuple(
            sorted((path for path, member in files.items() if member.executable), key=str.encode)
        ),
    )


def fresh(
    settings: Settings, package: Package, lock: CatalogLock, found: Inputs, source: Source
) -> BuildReceipt:
    """Make the receipt of a build.

    Args:
        settings: What the project claims.
        package: The distribution.
        lock: The lock that ships.
        found: What the build is made of.
        source: What was seen of the checkout.

    Raises:
        SettingsError: If it would have more than `limits.RECEIPT_MAX_BYTES`.
    """
    receipt = seal(
        package=package,
        catalog=CatalogClaim(
            sha256=catalog_sha256(lock.to_bytes()), git_tree=lock.digests.git_tree
        ),
        inputs=found,
        asserted=Asserted(repository=settings.repository, source_ref=settings.ref(package.version)),
        source=source,
    )
    if (size := len(receipt.to_bytes())) > limits.RECEIPT_MAX_BYTES:
        raise _too_many(f"the list makes a receipt of {size} bytes; no reader takes it")
    return receipt


def _too_many(message: str) -> SettingsError:
    problem = Problem(
        code="too_many_inputs", message=message, path="tool.hatch.build.targets.sdist"
    )
    return SettingsError("The sdist has too many files for a receipt; select fewer.", (problem,))


def settle(
    before: Revision, after: Revision, dirt: Mapping[str, Reason], tree: str | None
) -> Revision:
    """Join what was seen of the checkout before, while and after the files were read.

    Args:
        before: The first look.
        after: The second.
        dirt: What the files that ship gave, by path.
        tree: The git tree that the lock gives for the skills folder, or None if its id cannot be
            the commit's (the skills folder is the project's, and holds the lock itself).
    """
    if before != after:
        return dirty("dirty_source", "The checkout changed while it was being built.")
    if after.state != "clean":
        return after
    if dirt:
        only_line_ends = set(dirt.values()) == {"eol_converted"}
        reason: Reason = "eol_converted" if only_line_ends else "dirty_source"
        return dirty(reason, f"Not as in the commit: {listed(sorted(dirt))}.")
    if tree is not None and after.skills_tree != tree:
        return dirty(
            "dirty_source", "The commit's skills folder has another tree id than the lock."
        )
    return after


def source(revision: Revision, *, with_proof: bool) -> Source:
    """Give what the receipt says of the checkout.

    A proof that readers would refuse, since no git of today writes such objects, is left out.
    """
    clean = revision.state == "clean"
    found = Source(
        state=revision.state,
        reason=revision.reason,
        commit=revision.commit,
        skills_tree=revision.skills_tree,
        proof=proof.encode(revision.proof) if clean and with_proof else None,
    )
    return found.model_copy(update={"proof": None}) if proof.problems(found) else found


def relayed(data: bytes, expected: BuildReceipt) -> tuple[BuildReceipt | None, str]:
    """Give the sdist's receipt if it speaks for this tree, else None and why not.

    Args:
        data: Bytes of the receipt at the sdist's root.
        expected: The receipt that this tree gives by itself, with no source.

    Returns:
        The receipt as it is: package, core metadata, lock, claims and inputs agree with the tree.
        Which files are executable is taken from it, since unpacking may lose the bit.
    """
    try:
        found = parse(data)
    except InvalidReceiptError as error:
        return None, str(error)
    own = expected.inputs.model_copy(update={"executable": found.inputs.executable})
    pairs = {
        "metadata": (found.package, expected.package),
        "catalog": (found.catalog, expected.catalog),
        "asserted": (found.asserted, expected.asserted),
        "inputs": (found.inputs, own),
    }
    differing = [name for name, (one, other) in pairs.items() if one != other]
    differing += ["proof"] if proof.problems(found.source) else []
    if differing:
        return None, f"The sdist's receipt speaks of other {', '.join(differing)}."
    return found, ""

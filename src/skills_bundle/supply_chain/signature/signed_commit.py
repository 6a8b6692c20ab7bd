"""Edge: is the commit of a proof signed by somebody in a file of allowed signers?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from skills_bundle.supply_chain.signature import ssh_keygen
from skills_bundle.supply_chain.signature.commit_signature import (
    GIT_NAMESPACE,
    answered,
    other_kind,
    outcome,
    take_apart,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skills_bundle.bundle.proof_report import ProofReport
    from skills_bundle.supply_chain.signature.commit_signature import SignatureReport


def check(proof: ProofReport, signers: bytes, environ: Mapping[str, str]) -> SignatureReport:
    """Check the signature of the commit in a proof, as `git verify-commit` would in a clone.

    Args:
        proof: Of an installation or of an archive.
        signers: Content of a file of allowed signers.
        environ: The environment, for PATH and the time zone.
    """
    if proof.commit_object is None:
        return outcome("no_commit", notes=(proof.shows,))
    found = take_apart(proof.commit_object)
    if found.signature is None or found.kind is None:
        return outcome("unsigned")
    if found.kind != "ssh":
        return other_kind(found.kind)
    question = ssh_keygen.Question(
        message=found.payload,
        signature=found.signature,
        signers=signers,
        namespace=GIT_NAMESPACE,
        time=found.committed,
    )
    return answered(ssh_keygen.ask(question, environ), found.committed)

"""Decision: provenance in words that claim no more than was checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from skills_bundle.bundle.provenance import GAP_SENTENCES

if TYPE_CHECKING:
    from skills_bundle.bundle.provenance import Provenance

LOCK_ROW: Final = "lock sha256"
"""Name of the row that holds the lock's digest."""


def rows(provenance: Provenance) -> list[tuple[str, str]]:
    """Give what is known of an answer's source as names and values, one claim a row."""
    claims = provenance.source_provenance
    package = f"{provenance.package_name} {provenance.package_version}"
    found = [
        ("package", f"{package}, collection {provenance.collection}"),
        (LOCK_ROW, provenance.catalog_sha256),
        ("integrity", _integrity(claims.integrity)),
        ("commit", _commit(provenance.resolved_git_sha)),
        ("ref", ref(provenance.source_ref, provenance.resolved_git_sha)),
        ("build", _build(claims.build_verification)),
    ]
    found += [("gap", f"{GAP_SENTENCES[code]} [{code}]") for code in provenance.gaps]
    return found


def _integrity(claim: str) -> str:
    if claim == "verified":
        return "verified: the bytes match the lock, recomputed here"
    return "unavailable: the bytes were not shown to match a lock"


def _commit(claim: str | None) -> str:
    return "unavailable: nothing names one" if claim is None else f"asserted, not proved: {claim}"


def ref(claim: str | None, commit: str | None) -> str:
    """Give a ref with whose word it is.

    Args:
        claim: The ref; a project that configures none has its commit there, or nothing.
        commit: The commit beside it.
    """
    if claim is not None and claim != commit:
        return f"by configuration, not looked up: {claim}"
    if commit is not None:
        return "the commit; no ref is configured"
    return "unavailable: nothing names one"


def _build(claim: str) -> str:
    if claim == "verified":
        return "recorded: the checkout held exactly that commit"
    return "unavailable: no record of a clean checkout"

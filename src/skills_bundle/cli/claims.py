"""Decision: provenance in words that claim no more than was checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from skills_bundle.bundle.provenance import Provenance

GAP_TEXTS: Final[dict[str, str]] = {
    "editable_install": "served live from a source checkout, which nothing pins",
    "missing_receipt": "the installation has no build receipt, so nothing names a revision",
    "invalid_receipt": "the build receipt cannot be believed, so nothing it says is repeated",
    "not_git_source": "the build did not run in a git checkout",
    "git_unavailable": "the build could not ask git",
    "not_owner": "the build did not own the checkout, so git would not say",
    "unsupported_object_format": "the checkout uses object ids other than SHA-1",
    "no_commit": "the checkout had no commit",
    "project_not_in_repository": "the commit does not hold the project",
    "eol_converted": "line ends were converted, so the bytes are not the commit's",
    "dirty_source": "the checkout had changes that no commit holds",
    "altered_files": "installed files differ from the lock; they are not served",
    "linked_install": "the installer made links, so the files belong to a cache",
    "record_absent": "no RECORD lists the installed files; the lock alone was compared",
    "extra_files": "there are files that neither lock nor RECORD lists; they are not served",
}
"""What each evidence gap means, in a few words; the reference has the long form."""


def gap_text(code: str) -> str:
    """Say what a gap means, with its code."""
    return f"{GAP_TEXTS.get(code, 'no description')} [{code}]"


def rows(provenance: Provenance) -> list[tuple[str, str]]:
    """Give what is known of an answer's source as names and values, one claim a row."""
    claims = provenance.source_provenance
    package = f"{provenance.package_name} {provenance.package_version}"
    found = [
        ("package", f"{package}, collection {provenance.collection}"),
        ("catalog", f"sha256:{provenance.catalog_sha256}"),
        ("integrity", _integrity(claims.integrity)),
        ("revision", _revision(provenance)),
        ("build", _build(claims.build_verification)),
    ]
    found += [("gap", gap_text(code)) for code in provenance.gaps]
    return found


def _integrity(claim: str) -> str:
    if claim == "verified":
        return "verified: the bytes match the lock, recomputed here"
    return "unavailable: the bytes were not shown to match a lock"


def _revision(provenance: Provenance) -> str:
    if provenance.resolved_git_sha is None:
        return "unavailable: nothing names a commit"
    named = f"asserted, not proved: commit {provenance.resolved_git_sha}"
    if provenance.source_ref not in {None, provenance.resolved_git_sha}:
        named += f" ({provenance.source_ref})"
    return named


def _build(claim: str) -> str:
    if claim == "verified":
        return "recorded: the checkout held exactly that commit"
    return "unavailable: no record of a clean checkout"

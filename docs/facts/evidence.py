"""Provenance: its fields, its gaps, and every state, computed by the code that answers."""

from __future__ import annotations

from facts.docstrings import attributes
from facts.markdown import code, table
from skills_bundle.bundle import provenance, receipt
from skills_bundle.bundle.provenance import BASES
from skills_bundle.files.paths import JUNK

WITHOUT_RECEIPT = {"editable_install", "missing_receipt", "invalid_receipt"}
FIELDS = ("repository", "source_ref", "resolved_git_sha")
CLAIMS = ("status", "build_verification", "integrity", "receipt_sha256")


def claims() -> str:
    """Return one row for each field: what was checked, what is asserted, what is not proved."""
    rows = [(code(field), *basis) for field, basis in BASES.items()]
    return table(("Field", "Checked here", "Asserted", "Not proved"), rows)


def fields() -> str:
    """Return the fields of the provenance object."""
    rows = [(code(name), text) for name, text in attributes(provenance.Provenance).items()]
    return table(("Field", "Meaning"), rows)


def claim_fields() -> str:
    """Return the fields of `source_provenance`."""
    rows = [(code(name), text) for name, text in attributes(provenance.SourceProvenance).items()]
    return table(("Field", "Meaning"), rows)


def reasons() -> str:
    """Return the reasons a receipt can have, in the order in which the first is picked."""
    rows = [(code(name), provenance.GAP_SENTENCES[name]) for name in receipt.REASONS]
    return table(("Code", "Meaning"), rows)


def gaps() -> str:
    """Return every gap in the order in which `reason` picks the first."""
    rows = [(code(name), sentence) for name, sentence in provenance.GAP_SENTENCES.items()]
    return table(("Gap", "Meaning"), rows)


def junk() -> str:
    """Return the patterns that are never locked."""
    rows = [(code(pattern), whose) for pattern, whose in JUNK]
    return table(("Component of a path", "By-product of"), rows)


def states() -> str:
    """Return one row for each state of an installation, with one column for each field."""
    head = ("State (`reason`)", *map(code, (*FIELDS, *CLAIMS)))
    return table(head, [_row(gap) for gap in (None, *provenance.GAPS)])


def _row(gap: str | None) -> list[str]:
    block = _describe(gap)
    claim = block.source_provenance
    values: list[str | None] = [getattr(block, name) for name in FIELDS]
    values += [getattr(claim, name) for name in CLAIMS]
    words = {"asserted", "verified", "unavailable"}
    shown = ["null" if v is None else v if v in words else "set" for v in values]
    return ["nothing is missing (null)" if gap is None else code(gap), *shown]


def _describe(gap: str | None) -> provenance.Provenance:
    """Return the answer's provenance when exactly this is missing."""
    made = None if gap in WITHOUT_RECEIPT else _receipt(gap)
    return provenance.describe(
        provenance.Bundle(
            collection="example",
            name="example",
            version="1.0",
            catalog_sha256="0" * 64,
            receipt=made,
            receipt_sha256=None if made is None else "1" * 64,
            gaps=frozenset([gap] if gap else []),
        )
    )


def _receipt(gap: str | None) -> receipt.BuildReceipt:
    """Return a receipt of a clean build, or one that a build with this reason writes."""
    clean = gap not in receipt.REASONS
    state = "clean" if clean else "dirty" if gap == "dirty_source" else "archive"
    source = {
        "state": state,
        "reason": None if clean else gap,
        "commit": "a" * 40 if clean else None,
        "skills_tree": "b" * 40 if clean else None,
        "proof": None,
    }
    return receipt.seal(
        package=receipt.Package(
            name="example", version="1.0", metadata_sha256="0" * 64, computed=()
        ),
        catalog=receipt.CatalogClaim(sha256="0" * 64, git_tree="b" * 40),
        inputs=receipt.Inputs(dir_hash="0" * 64, files=()),
        asserted=receipt.Asserted(
            repository="https://acme.example/skills", source_ref="refs/tags/v1.0"
        ),
        source=receipt.Source.model_validate(source),
    )

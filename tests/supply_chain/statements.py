"""Contents of archives, and the envelopes that other tools put statements into."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

from skills_bundle.archives.reading import open_archive
from skills_bundle.supply_chain.archive.contents import contents_of

if TYPE_CHECKING:
    from pathlib import Path

    from skills_bundle.supply_chain.archive.contents import ArchiveContents

Json = dict[str, Any]


def open_contents(archive: Path) -> ArchiveContents:
    """Read an archive."""
    return contents_of(open_archive(archive))


def encoded(value: object) -> str:
    """Return JSON as base64."""
    return base64.b64encode(json.dumps(value).encode()).decode()


def dsse(statement: object) -> Json:
    """Return a DSSE envelope with one signature."""
    return {
        "payload": encoded(statement),
        "payloadType": "application/vnd.in-toto+json",
        "signatures": [{"sig": "AAAA", "keyid": ""}],
    }


def sigstore_bundle(statement: object) -> Json:
    """Return a Sigstore bundle."""
    kind = "application/vnd.dev.sigstore.bundle.v0.3+json"
    return {"mediaType": kind, "verificationMaterial": {}, "dsseEnvelope": dsse(statement)}


def attestation(statement: object) -> Json:
    """Return an attestation object (PEP 740)."""
    envelope = {"statement": encoded(statement), "signature": "AAAA"}
    material: Json = {"certificate": "AAAA", "transparency_entries": [{}]}
    return {"version": 1, "verification_material": material, "envelope": envelope}


def provenance(*statements: object) -> Json:
    """Return a provenance object (PEP 740)."""
    publisher = {"kind": "GitHub", "repository": "a/b", "workflow": "w.yml"}
    bundle = {"publisher": publisher, "attestations": [*map(attestation, statements)]}
    return {"version": 1, "attestation_bundles": [bundle]}


def publish_attestation(name: str, sha256: str) -> Json:
    """Return the statement of an index's publish attestation."""
    return {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": name, "digest": {"sha256": sha256}}],
        "predicateType": "https://docs.pypi.org/attestations/publish/v1",
        "predicate": None,
    }

"""A real wheel, the statement about it, and the envelopes that others would put it into."""

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
    """Give what an archive carries."""
    return contents_of(open_archive(archive))


def encoded(value: object) -> str:
    """Give JSON as base64."""
    return base64.b64encode(json.dumps(value).encode()).decode()


def dsse(statement: object) -> Json:
    """Put a statement into a DSSE envelope with one signature."""
    return {
        "payload": encoded(statement),
        "payloadType": "application/vnd.in-toto+json",
        "signatures": [{"sig": "AAAA", "keyid": ""}],
    }


def sigstore_bundle(statement: object) -> Json:
    """Put it into a Sigstore bundle."""
    kind = "application/vnd.dev.sigstore.bundle.v0.3+json"
    return {"mediaType": kind, "verificationMaterial": {}, "dsseEnvelope": dsse(statement)}


def attestation(statement: object) -> Json:
    """Put it into an attestation object of PEP 740."""
    envelope = {"statement": encoded(statement), "signature": "AAAA"}
    material: Json = {"certificate": "AAAA", "transparency_entries": [{}]}
    return {"version": 1, "verification_material": material, "envelope": envelope}


def provenance(*statements: object) -> Json:
    """Put some into a provenance object of an index."""
    publisher = {"kind": "GitHub", "repository": "a/b", "workflow": "w.yml"}
    bundle = {"publisher": publisher, "attestations": [*map(attestation, statements)]}
    return {"version": 1, "attestation_bundles": [bundle]}


def publish_attestation(name: str, sha256: str) -> Json:
    """Give what an index's publish attestation states."""
    return {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": name, "digest": {"sha256": sha256}}],
        "predicateType": "https://docs.pypi.org/attestations/publish/v1",
        "predicate": None,
    }

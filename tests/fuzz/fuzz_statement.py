"""Any bytes hold statements or are refused with a reason; only one made of the file matches it."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING

from skills_bundle.archives.model import Archive, Member
from skills_bundle.errors import InvalidStatementError
from skills_bundle.supply_chain.archive.contents import contents_of
from skills_bundle.supply_chain.statement import statement as statements
from skills_bundle.supply_chain.statement.verify import read, verify
from tests.installed_builder import NAME, VERSION, InstalledBuilder, metadata_of
from tests.supply_chain.statements import (
    attestation,
    dsse,
    provenance,
    publish_attestation,
    sigstore_bundle,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skills_bundle.supply_chain.archive.contents import ArchiveContents

WHEEL = f"{NAME.replace('-', '_')}-{VERSION}-py3-none-any.whl"
SHA256 = "1" * 64


def check(data: bytes) -> None:
    """Take the bytes apart, and compare with a wheel what was found."""
    try:
        found = read(data)
    except InvalidStatementError as error:
        if not error.problems:
            raise AssertionError("refused without a reason") from error
        return
    report = verify(found, _contents(), "match", None)
    report.to_dict()
    if report.verdict == "match" and any(one != _statement() for one in found.statements):
        raise AssertionError("another statement matches")


@cache
def _contents() -> ArchiveContents:
    """Return a wheel whose lock and receipt are accepted."""
    builder = InstalledBuilder()
    files = {
        "acme_skills/.agents/catalog.lock.json": builder.lock.to_bytes(),
        "acme_skills/.agents/build-receipt.json": builder.receipt.to_bytes(),
        f"acme_skills-{VERSION}.dist-info/METADATA": metadata_of(NAME, VERSION),
    }
    members = {path: Member(data) for path, data in files.items()}
    return contents_of(
        Archive(kind="wheel", file_name=WHEEL, sha256=SHA256, size=1, top="", members=members)
    )


@cache
def _statement() -> object:
    return json.loads(statements.to_bytes(statements.make(_contents())))


def seeds() -> Iterator[bytes]:
    """Return our own statement and one of an index, bare and in every envelope."""
    foreign = publish_attestation(WHEEL, SHA256)
    for one in (_statement(), foreign):
        wrapped = (dsse(one), sigstore_bundle(one), attestation(one), provenance(one))
        yield from (json.dumps(value).encode() for value in (one, *wrapped))

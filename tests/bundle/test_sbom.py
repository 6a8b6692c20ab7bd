"""The bill of materials: what it says, that others take it, that it follows from its documents."""

from __future__ import annotations

import json
from base64 import b64encode
from typing import TYPE_CHECKING, Any

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from skills_bundle.bundle import sbom
from tests.installed_builder import SAMPLE, InstalledBuilder, lock_of, receipt_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from skills_bundle.bundle.receipt import BuildReceipt

BUILDER = InstalledBuilder()
LOCK, RECEIPT = BUILDER.lock, BUILDER.receipt
COMMIT = (
    b"tree %b\nauthor A <a@b.c> 1 +0000\ncommitter A <a@b.c> %b\n\ncommitter B <b@b.c> 9 +0000\n"
)


def _with_commit(raw: bytes) -> BuildReceipt:
    source = RECEIPT.source.model_copy(update={"proof": (b64encode(raw).decode(),)})
    return RECEIPT.model_copy(update={"source": source})


def _committed(time: bytes) -> BuildReceipt:
    return _with_commit(COMMIT % (b"a" * 40, time))


def _bom(receipt: BuildReceipt = RECEIPT, **fields: Any) -> dict[str, Any]:
    lock = lock_of(SAMPLE, {"alpha": fields})
    return json.loads(sbom.make(lock, receipt))


def _alpha(**fields: Any) -> dict[str, Any]:
    return _bom(**fields)["components"][0]


def _frontmatter(**values: object) -> dict[str, Any]:
    return {"frontmatter": {"name": "alpha", "description": "x", **values}}


@pytest.mark.parametrize(
    "fields",
    [
        {},
        _frontmatter(license="MIT"),
        _frontmatter(license="Complete terms in LICENSE.txt"),
        _frontmatter(license="MIT OR Apache-2.0", metadata={"version": "1.2"}),
        {"description": "Ünïcode, \n and\tmore"},
    ],
)
@pytest.mark.filterwarnings("ignore:'encoding' argument not specified")  # in the validator
def test_the_specifications_own_schema_takes_it(fields: dict[str, object]) -> None:
    """Strictly, in version 1.6: also no key that it does not know."""
    bom = sbom.make(lock_of(SAMPLE, {"alpha": fields}), _committed(b"1767323045 +0100"))
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(bom.decode()) is None


def test_the_library_of_the_specification_reads_it() -> None:
    """As a bill of one package and two components."""
    from cyclonedx.model.bom import Bom  # noqa: PLC0415 -- half a second that no other test needs

    read: Any = Bom  # a decorator adds the reader, unseen by type checkers
    bom = read.from_json(data=_bom())
    assert str(bom.metadata.component.purl) == "pkg:pypi/acme-skills@1.2.0"
    assert sorted(part.name for part in bom.components) == ["alpha", "beta"]


def test_every_locked_file_is_in_it_with_its_digest() -> None:
    """Below its skill, by its path below the skills folder."""
    found = {
        file["name"]: file["hashes"]
        for skill in _bom()["components"]
        for file in skill["components"]
    }
    assert found == {
        path: [{"alg": "SHA-256", "content": file.sha256}] for path, file in LOCK.files().items()
    }


def test_a_skill_has_the_id_that_software_archives_give_its_folder() -> None:
    """Its git tree as a SWHID."""
    assert _alpha()["swhid"] == [f"swh:1:dir:{LOCK.skills[0].git_tree}"]


@pytest.mark.parametrize(
    ("licence", "told"),
    [
        ("MIT", {"id": "MIT"}),
        (" Apache-2.0 ", {"id": "Apache-2.0"}),
        ("mit", {"name": "mit"}),
        ("Proprietary. See LICENSE.txt", {"name": "Proprietary. See LICENSE.txt"}),
    ],
)
def test_a_licence_is_told_by_id_or_as_the_author_calls_it(
    licence: str, told: dict[str, str]
) -> None:
    """An id only if it is exactly one of SPDX; declared by the author, concluded by nobody."""
    found = _alpha(**_frontmatter(license=licence))["licenses"]
    assert found == [{"license": {**told, "acknowledgement": "declared"}}]


@pytest.mark.parametrize("licence", ["", "  ", 1, None, ["MIT"]])
def test_what_is_no_licence_is_left_out(licence: object) -> None:
    """An empty text, or a value of another type."""
    assert "licenses" not in _alpha(**_frontmatter(license=licence))


def test_a_skill_has_the_version_of_its_frontmatter() -> None:
    """From `metadata`, where the Agent Skills specification has it; else none."""
    assert _alpha(**_frontmatter(metadata={"version": "1.2"}))["version"] == "1.2"
    assert "version" not in _alpha(**_frontmatter(metadata={"version": 1.2}))


@pytest.mark.parametrize(
    ("time", "told"),
    [
        (b"0 +0000", "1970-01-01T00:00:00Z"),
        (b"1767323045 +0100", "2026-01-02T03:04:05Z"),
        (b"253402300799 -1200", "9999-12-31T23:59:59Z"),
        (b"253402300800 +0000", None),
        (b"-1 +0000", None),
        (b"1767323045", None),
    ],
)
def test_the_time_is_the_committers(time: bytes, told: str | None) -> None:
    """In UTC, from the head of the commit; none where there is none that a date can hold."""
    assert _bom(_committed(time))["metadata"].get("timestamp") == told


def test_without_a_proof_there_is_no_time() -> None:
    """No clock is read instead."""
    assert "timestamp" not in _bom()["metadata"]


def test_the_serial_number_is_the_receipts() -> None:
    """The same for the same receipt, another for another commit or version."""
    serials = {
        _bom(receipt)["serialNumber"]
        for receipt in (RECEIPT, receipt_of(LOCK, version="2"), _committed(b"1 +0000"))
    }
    assert len(serials) == 3
    assert _bom()["serialNumber"] == _bom()["serialNumber"]


def test_a_version_is_escaped_in_the_package_url() -> None:
    """Of what a version may hold, an epoch's mark and a local label's plus."""
    bom = _bom(receipt_of(LOCK, version="1!2.0+local.1"))
    assert bom["metadata"]["component"]["purl"] == "pkg:pypi/acme-skills@1%212.0%2Blocal.1"


def test_what_it_leaves_out_it_says() -> None:
    """The package's code is not listed, and what it depends on is not known."""
    (whole, code, dependencies) = _bom()["compositions"]
    assert (whole["aggregate"], whole["assemblies"]) == (
        "complete",
        ["skill:alpha", "skill:group/beta"],
    )
    assert (code["aggregate"], dependencies["aggregate"]) == ("incomplete", "unknown")


def test_a_build_that_names_no_commit_has_one_too() -> None:
    """With the state that the receipt has, and without a commit."""
    lock = LOCK
    bom = json.loads(sbom.make(lock, receipt_of(lock, reason="dirty_source")))
    properties = {row["name"]: row["value"] for row in bom["metadata"]["properties"]}
    assert properties["skills-bundle:source_state"] == "dirty"
    assert "skills-bundle:commit" not in properties


OWN = sbom.make(LOCK, RECEIPT)
OTHER_FORM = OWN.replace(
    b'sbom_version",\n        "value": "1"', b'sbom_version",\n        "value": "2"'
)


@pytest.mark.parametrize(
    ("found", "state"),
    [
        (OWN, "follows"),
        (None, "missing"),
        (OWN.replace(b"alpha", b"omega", 1), "differs"),
        (OWN.replace(b"\n", b"\r\n"), "differs"),
        (b"{}", "differs"),
        (b"[" * 100_000, "differs"),
        (b'{"metadata": {"properties": [1]}}', "differs"),
        (OTHER_FORM, "not_compared"),
    ],
)
def test_it_is_compared_with_what_lock_and_receipt_give(found: bytes | None, state: str) -> None:
    """Byte by byte; one in the form of another version is not called altered."""
    assert sbom.state(found, LOCK, RECEIPT) == state


def test_without_lock_or_receipt_it_is_not_compared() -> None:
    """There is nothing that it could follow from."""
    assert sbom.state(OWN, None, RECEIPT) == sbom.state(OWN, LOCK, None) == "not_compared"


def _rewrite(data: bytes) -> bytes:
    return data.replace(b"pkg:pypi/acme", b"pkg:pypi/evil")


@pytest.mark.parametrize(
    ("change", "state", "exit_code"),
    [(bytes, "follows", 0), (_rewrite, "differs", 1)],
)
def test_verification_says_of_an_installed_one_whether_it_follows(
    tmp_path: Path, change: Callable[[bytes], bytes], state: str, exit_code: int
) -> None:
    """Also where RECORD was rewritten with it."""
    made = BUILDER.install(tmp_path)
    place = made.dist_info / "sboms/acme-skills.cdx.json"
    place.parent.mkdir()
    place.write_bytes(change(OWN))
    found = made.verify()
    assert (found.sbom, found.exit_code) == (state, exit_code)

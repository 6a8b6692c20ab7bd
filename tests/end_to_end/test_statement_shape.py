"""What `statement` writes about our own release is what libraries of others take it for."""

from __future__ import annotations

import base64
import hashlib
import json
import shutil
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pypi_attestations
import pytest
import sigstore.dsse

from skills_bundle.supply_chain.statement.statement import NAMESPACE
from tests.cli.runner import call
from tests.ssh_keys import SshKey, keygen

if TYPE_CHECKING:
    from tests.end_to_end.conftest import Dists

# None of these carries types.
in_toto: Any = import_module("in_toto_attestation.v1.statement")
in_toto_messages: Any = import_module("in_toto_attestation.v1.statement_pb2")
slsa_messages: Any = import_module("in_toto_attestation.predicates.provenance.v1.provenance_pb2")
protobuf_json: Any = import_module("google.protobuf.json_format")


@pytest.fixture(params=["wheel", "sdist"])
def archive(request: pytest.FixtureRequest, dists: Dists, tmp_path: Path) -> Path:
    """Return a copy of a release file in a writable folder."""
    return Path(shutil.copy(getattr(dists, request.param), tmp_path))


@pytest.fixture
def statement(archive: Path) -> Path:
    """Return the statement about it."""
    ran = call("statement", str(archive))
    assert ran.code == 0, ran.stderr
    return archive.with_name(f"{archive.name}.provenance.json")


def test_in_toto_accepts_it_as_a_statement(statement: Path) -> None:
    """Its parser refuses unknown fields, and its validator reports no problem."""
    message = protobuf_json.Parse(statement.read_bytes(), in_toto_messages.Statement())
    in_toto.Statement.copy_from_pb(message).validate()
    assert message.type == in_toto.STATEMENT_TYPE_URI


def test_in_toto_accepts_its_predicate_as_slsa_provenance(statement: Path) -> None:
    """The schema of the predicate has all of its fields."""
    predicate = json.loads(statement.read_bytes())["predicate"]
    message = protobuf_json.ParseDict(predicate, slsa_messages.Provenance())
    assert message.run_details.builder.id
    assert list(message.build_definition.internal_parameters)


def test_sigstore_can_sign_it(statement: Path, archive: Path) -> None:
    """It is signable without changes, and is about exactly this file."""
    found: Any = sigstore.dsse.Statement(statement.read_bytes())
    (subject,) = found._inner.subjects
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    assert (subject.name, subject.digest.root) == (archive.name, {"sha256": digest})


def test_an_index_accepts_it_in_an_attestation_of_the_file(statement: Path, archive: Path) -> None:
    """Certificate and signature in the attestation object are placeholders."""
    stand_in = base64.b64encode(b"stand-in").decode()
    attestation = pypi_attestations.Attestation.model_validate(
        {
            "version": 1,
            "verification_material": {"certificate": stand_in, "transparency_entries": [{}]},
            "envelope": {
                "statement": base64.b64encode(statement.read_bytes()).decode(),
                "signature": stand_in,
            },
        }
    )
    found = attestation.statement
    file = pypi_attestations.Distribution.from_file(archive)
    assert found["subject"] == [{"name": file.name, "digest": {"sha256": file.digest}}]
    kind = pypi_attestations.AttestationType(found["predicateType"])
    assert kind == pypi_attestations.AttestationType.SLSA_PROVENANCE_V1
    written = statement.with_name("attestation.json")
    written.write_text(attestation.model_dump_json(), encoding="utf-8")
    ran = call("verify-statement", str(written), str(archive), "--json")
    assert (ran.code, ran.json["form"], ran.json["unchecked_signatures"]) == (0, "pep740", 1)


def test_ssh_keygen_alone_checks_its_signature(statement: Path, tmp_path: Path) -> None:
    """Our program is not needed."""
    key = SshKey.create(tmp_path / "id")
    signature = key.sign(statement, NAMESPACE)
    (tmp_path / "allowed").write_text(f"ada@example.org {key.public}\n", encoding="utf-8")
    options = ("-f", str(tmp_path / "allowed"), "-I", "ada@example.org", "-s", str(signature))
    output = keygen("-Y", "verify", "-n", NAMESPACE, *options, given=statement.read_bytes())
    assert output.startswith(f'Good "{NAMESPACE}" signature for ada@example.org')

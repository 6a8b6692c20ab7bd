"""Statements are found in whatever others wrap them into; what is none is refused, with a cause."""

from __future__ import annotations

import base64
import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

from skills_bundle.errors import InvalidStatementError
from skills_bundle.supply_chain import limits
from skills_bundle.supply_chain.statement.verify import StatementFile, read
from tests.supply_chain.statements import (
    Json,
    attestation,
    dsse,
    provenance,
    publish_attestation,
    sigstore_bundle,
)

if TYPE_CHECKING:
    from collections.abc import Callable

STATEMENT = publish_attestation("a-1-py3-none-any.whl", "1" * 64)


def read_json(value: object) -> StatementFile:
    """Write a value as JSON, and take it apart."""
    return read(json.dumps(value).encode())


def told(data: bytes) -> list[tuple[str | None, str]]:
    """Give place and message of every problem of what is no statement."""
    with pytest.raises(InvalidStatementError) as caught:
        read(data)
    return [(problem.path, problem.message) for problem in caught.value.problems]


@pytest.mark.parametrize(
    ("wrap", "form", "signatures"),
    [
        (dict[str, Any], "statement", 0),
        (attestation, "pep740", 1),
        (provenance, "pep740_provenance", 1),
    ],
)
def test_a_statement_is_found_in_its_envelope(
    wrap: Callable[[Json], Json], form: str, signatures: int
) -> None:
    """Signatures are counted; nobody checked them."""
    found = read_json(wrap(STATEMENT))
    assert (found.form, found.statements, found.signatures) == (form, (STATEMENT,), signatures)


def test_every_statement_of_a_provenance_object_is_found() -> None:
    """An index keeps several for one file."""
    other = STATEMENT | {"predicateType": "https://slsa.dev/provenance/v1"}
    found = read_json(provenance(STATEMENT, other))
    assert (found.statements, found.signatures) == ((STATEMENT, other), 2)


def test_without_the_extra_an_attestation_is_refused_with_its_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The message says what to install; a bare statement needs no extra."""
    monkeypatch.setitem(sys.modules, "pypi_attestations", None)
    assert told(json.dumps(attestation(STATEMENT)).encode()) == [
        (None, "is an attestation; to read it, install skills-bundle[attestations]")
    ]
    assert read_json(STATEMENT).form == "statement"


def test_a_statement_of_the_version_before_is_read() -> None:
    """Its subjects have the same form."""
    older = STATEMENT | {"_type": "https://in-toto.io/Statement/v0.1"}
    assert read_json(older).statements == (older,)


@pytest.mark.parametrize(
    ("data", "path"),
    [
        (b"", None),
        (b"\xef\xbb\xbf{}", None),
        (b'{"_type": 1, "_type": 2}', None),
        (b"[]", None),
        (b"{}", "_type"),
        (json.dumps(STATEMENT | {"_type": "link"}).encode(), "_type"),
        (json.dumps(STATEMENT | {"predicateType": 1}).encode(), "predicateType"),
        (json.dumps(STATEMENT | {"subject": []}).encode(), "subject"),
        (json.dumps(STATEMENT | {"subject": {}}).encode(), "subject"),
        (json.dumps(STATEMENT | {"subject": [1]}).encode(), "subject[0]"),
        (json.dumps(STATEMENT | {"subject": [{"name": "a"}]}).encode(), "subject[0]"),
        (json.dumps(STATEMENT | {"subject": [{"digest": {}}]}).encode(), "subject[0]"),
        (json.dumps(dsse(STATEMENT)).encode(), "payload"),
        (json.dumps(sigstore_bundle(STATEMENT)).encode(), "dsseEnvelope"),
        (json.dumps({"dsseEnvelope": 1}).encode(), "dsseEnvelope"),
        (json.dumps({"messageSignature": {}}).encode(), "messageSignature"),
        (json.dumps({"envelope": 1}).encode(), None),
        (json.dumps({"envelope": {}}).encode(), None),
        (json.dumps(attestation([])).encode(), "statement[0]"),
        (json.dumps(attestation({})).encode(), "statement[0]._type"),
        (json.dumps({"attestation_bundles": []}).encode(), "attestation_bundles"),
        (json.dumps({"attestation_bundles": [1]}).encode(), None),
    ],
)
def test_what_is_no_statement_is_refused_with_its_place(data: bytes, path: str | None) -> None:
    """Not strict JSON, another document, or one without the form of a statement."""
    assert [where for where, _ in told(data)] == [path]


def test_every_problem_is_told_at_once() -> None:
    """Nobody has to try again to learn of the next."""
    broken = STATEMENT | {"predicateType": None, "subject": [1, {"digest": {"sha256": "1"}}, {}]}
    assert [where for where, _ in told(json.dumps(broken).encode())] == [
        "predicateType",
        "subject[0]",
        "subject[2]",
    ]


def test_a_file_of_many_documents_is_said_to_be_one() -> None:
    """Some tools write one a line."""
    line = json.dumps(STATEMENT).encode() + b"\n"
    assert told(line * 2)[0][1].startswith("contains one document per line")


def test_the_json_inside_an_envelope_is_as_strict() -> None:
    """Two readers must not see two subjects in it."""
    twice = b'{"_type": "https://in-toto.io/Statement/v1", "subject": [], "subject": [1]}'
    envelope = attestation(STATEMENT)
    envelope["envelope"]["statement"] = base64.b64encode(twice).decode()
    assert told(json.dumps(envelope).encode()) == [(None, "key 'subject' appears twice")]


def test_more_subjects_than_the_limit_are_refused() -> None:
    """A file that speaks of everything speaks of nothing."""
    many = STATEMENT | {"subject": STATEMENT["subject"] * (limits.STATEMENT_MAX_SUBJECTS + 1)}
    assert [where for where, _ in told(json.dumps(many).encode())] == ["subject"]


def test_a_document_of_two_forms_is_refused() -> None:
    """One tool would read the envelope, and another the statement beside it."""
    both = {**dsse(STATEMENT), **publish_attestation("b-1-py3-none-any.whl", "2" * 64)}
    assert told(json.dumps(both).encode()) == [(None, "is ambiguous: it has _type and payload")]

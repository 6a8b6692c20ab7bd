"""`verify-statement`: reading files of statements, and comparing them with a real wheel."""

from __future__ import annotations

import base64
import copy
import json
import sys
from typing import TYPE_CHECKING, Any, cast

import pytest

from skills_bundle.errors import InvalidStatementError
from skills_bundle.supply_chain import limits
from skills_bundle.supply_chain import signature as signatures
from skills_bundle.supply_chain.statement import statement as statements
from skills_bundle.supply_chain.statement.verify import StatementFile, read, verify
from tests.hatch_plugin.sample import SampleProject
from tests.supply_chain.statements import (
    Json,
    attestation,
    dsse,
    open_contents,
    provenance,
    publish_attestation,
    sigstore_bundle,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from skills_bundle.bundle.verdict import Verdict
    from skills_bundle.supply_chain.archive.contents import ArchiveContents
    from skills_bundle.supply_chain.signature import SignatureState
    from skills_bundle.supply_chain.statement.verify import StatementReport

STATEMENT = publish_attestation("a-1-py3-none-any.whl", "1" * 64)


def read_json(value: object) -> StatementFile:
    """Read a value written as JSON."""
    return read(json.dumps(value).encode())


def problems_of(data: bytes) -> list[tuple[str | None, str]]:
    """Return path and message of every problem."""
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
def test_a_statement_is_read_from_its_envelope(
    wrap: Callable[[Json], Json], form: str, signatures: int
) -> None:
    """Signatures are counted, not checked."""
    found = read_json(wrap(STATEMENT))
    assert (found.form, found.statements, found.signatures) == (form, (STATEMENT,), signatures)


def test_every_statement_of_a_provenance_object_is_read() -> None:
    """An index stores several for one file."""
    other = STATEMENT | {"predicateType": "https://slsa.dev/provenance/v1"}
    found = read_json(provenance(STATEMENT, other))
    assert (found.statements, found.signatures) == ((STATEMENT, other), 2)


def test_without_the_extra_an_attestation_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The message names the extra; a bare statement needs none."""
    monkeypatch.setitem(sys.modules, "pypi_attestations", None)
    assert problems_of(json.dumps(attestation(STATEMENT)).encode()) == [
        (None, "is an attestation; to read it, install skills-bundle[attestations]")
    ]
    assert read_json(STATEMENT).form == "statement"


def test_a_statement_of_version_0_1_is_read() -> None:
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
def test_a_file_without_a_valid_statement_is_refused(data: bytes, path: str | None) -> None:
    """The problem names the place."""
    assert [where for where, _ in problems_of(data)] == [path]


def test_every_problem_is_reported_at_once() -> None:
    """One run reports them all."""
    broken = STATEMENT | {"predicateType": None, "subject": [1, {"digest": {"sha256": "1"}}, {}]}
    assert [where for where, _ in problems_of(json.dumps(broken).encode())] == [
        "predicateType",
        "subject[0]",
        "subject[2]",
    ]


def test_a_file_with_one_document_per_line_is_refused_as_such() -> None:
    """Some tools write JSON Lines."""
    line = json.dumps(STATEMENT).encode() + b"\n"
    assert problems_of(line * 2)[0][1].startswith("contains one document per line")


def test_the_json_inside_an_envelope_is_strict_too() -> None:
    """Two readers must not read different subjects."""
    twice = b'{"_type": "https://in-toto.io/Statement/v1", "subject": [], "subject": [1]}'
    envelope = attestation(STATEMENT)
    envelope["envelope"]["statement"] = base64.b64encode(twice).decode()
    assert problems_of(json.dumps(envelope).encode()) == [(None, "key 'subject' appears twice")]


def test_more_subjects_than_the_limit_are_refused() -> None:
    """The limit protects memory."""
    many = STATEMENT | {"subject": STATEMENT["subject"] * (limits.STATEMENT_MAX_SUBJECTS + 1)}
    assert [where for where, _ in problems_of(json.dumps(many).encode())] == ["subject"]


def test_a_document_in_two_forms_is_refused() -> None:
    """One tool would read the envelope, another the statement beside it."""
    both = {**dsse(STATEMENT), **publish_attestation("b-1-py3-none-any.whl", "2" * 64)}
    assert problems_of(json.dumps(both).encode()) == [
        (None, "is ambiguous: it has _type and payload")
    ]


@pytest.fixture(scope="module")
def contents(tmp_path_factory: pytest.TempPathFactory) -> ArchiveContents:
    """Return the contents of a wheel."""
    return open_contents(SampleProject.create(tmp_path_factory.mktemp("acme")).wheel())


@pytest.fixture
def ours(contents: ArchiveContents) -> Json:
    """Return the statement about it, to be changed."""
    return copy.deepcopy(cast("Json", statements.make(contents)))


def verified(
    contents: ArchiveContents, *found: Json, archive: Verdict = "match"
) -> StatementReport:
    """Verify bare statements."""
    return verify(
        StatementFile(form="statement", statements=found, signatures=0), contents, archive, None
    )


def test_our_own_statement_matches(contents: ArchiveContents, ours: Json) -> None:
    """All of it is recomputed from the file."""
    report = verified(contents, ours)
    assert (report.verdict, report.exit_code) == ("match", 0)
    assert report.statements[0].predicate == "recomputed"


def _other_digest(statement: Json) -> None:
    statement["subject"][0]["digest"]["sha256"] = "0" * 64


def _other_name(statement: Json) -> None:
    statement["subject"][0]["name"] = "other-1.0-py3-none-any.whl"


def _other_file(statement: Json) -> None:
    _other_digest(statement)
    _other_name(statement)


def _no_sha256(statement: Json) -> None:
    statement["subject"][0]["digest"] = {"sha512": "0" * 128}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_other_digest, "is a different file with this name: its SHA-256 is 0000"),
        (_no_sha256, "is a different file with this name: its SHA-256 is missing"),
        (_other_name, "has this file's SHA-256 under a different name: 'other-1.0-"),
        (_other_file, "is not this file"),
    ],
)
def test_a_statement_of_another_file_differs(
    contents: ArchiveContents, ours: Json, change: Callable[[Json], None], message: str
) -> None:
    """The message says whether the name or the digest differs."""
    change(ours)
    report = verified(contents, ours)
    assert (report.verdict, report.exit_code) == ("differs", 1)
    assert report.statements[0].problems[0].message.startswith(message)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("predicate.buildDefinition.externalParameters.repository", "https://evil.example/x"),
        ("predicate.buildDefinition.externalParameters.sourceRef", "refs/heads/main"),
        ("predicate.buildDefinition.internalParameters.catalogSha256", "0" * 64),
        ("predicate.buildDefinition.internalParameters.source.state", "dirty"),
        ("predicate.buildDefinition.resolvedDependencies", []),
        ("predicate.runDetails.builder.id", "https://example.org/trusted-builder"),
        ("predicate.runDetails.metadata", {"finishedOn": "2026-01-01T00:00:00Z"}),
        ("_type", "https://in-toto.io/Statement/v0.1"),
        ("extra", 1),
    ],
)
def test_a_field_that_does_not_follow_differs(
    contents: ArchiveContents, ours: Json, path: str, value: Any
) -> None:
    """The field is reported by its path; an additional field differs too."""
    *steps, last = path.split(".")
    place = ours
    for step in steps:
        place = place[step]
    place[last] = value
    report = verified(contents, ours)
    assert (report.verdict, report.statements[0].predicate) == ("differs", "differs")
    assert [problem.path for problem in report.statements[0].problems] == [path]


def test_a_second_subject_differs(contents: ArchiveContents, ours: Json) -> None:
    """Our statements have one subject."""
    ours["subject"].append({"name": "other", "digest": {"sha256": "0" * 64}})
    assert verified(contents, ours).verdict == "differs"


@pytest.mark.parametrize("more", [{"uri": "x"}, {"digest": {"sha256": "", "sha512": "0"}}])
def test_additional_fields_of_the_subject_differ(
    contents: ArchiveContents, ours: Json, more: Json
) -> None:
    """A second digest would not be checked."""
    digest = ours["subject"][0]["digest"]["sha256"]
    ours["subject"][0] |= more
    ours["subject"][0]["digest"]["sha256"] = digest
    assert verified(contents, ours).verdict == "differs"


def test_a_statement_of_another_kind_cannot_be_recomputed(contents: ArchiveContents) -> None:
    """It is about this file, but its predicate is not ours."""
    archive = contents.archive
    report = verified(contents, publish_attestation(archive.file_name, archive.sha256))
    assert (report.verdict, report.exit_code) == ("cannot_tell", 3)
    assert (report.statements[0].is_subject, report.statements[0].problems) == (True, ())


def test_provenance_of_another_builder_cannot_be_recomputed(
    contents: ArchiveContents, ours: Json
) -> None:
    """The predicate type is ours, the build type is not."""
    ours["predicate"]["buildDefinition"]["buildType"] = "https://example.org/workflow"
    assert verified(contents, ours).statements[0].predicate == "not_checked"


@pytest.mark.parametrize("predicate", [None, 1, [], {}, {"buildDefinition": None}])
def test_a_predicate_of_any_other_form_is_not_checked(
    contents: ArchiveContents, ours: Json, predicate: object
) -> None:
    """Only our build type is checked."""
    ours["predicate"] = predicate
    assert verified(contents, ours).statements[0].predicate == "not_checked"


def test_one_of_several_subjects_may_be_the_file(contents: ArchiveContents) -> None:
    """A release may have one statement for all its files."""
    archive = contents.archive
    found = publish_attestation(archive.file_name, archive.sha256.upper())
    found["subject"].insert(0, {"name": "other", "digest": {"sha256": "0" * 64}})
    assert verified(contents, found).statements[0].is_subject


def test_nothing_is_recomputed_from_an_archive_that_does_not_verify(
    contents: ArchiveContents, ours: Json
) -> None:
    """The statement would repeat what is wrong."""
    report = verified(contents, ours, archive="differs")
    assert (report.verdict, report.statements[0].predicate) == ("differs", "archive_differs")


def test_one_wrong_statement_of_several_is_enough(contents: ArchiveContents, ours: Json) -> None:
    """`differs` outweighs `cannot_tell`, which outweighs `match`."""
    archive = contents.archive
    foreign = publish_attestation(archive.file_name, archive.sha256)
    wrong = publish_attestation(archive.file_name, "0" * 64)
    verdicts = [verified(contents, *rows).verdict for rows in ((ours, foreign), (foreign, wrong))]
    assert verdicts == ["cannot_tell", "differs"]


@pytest.mark.parametrize(("state", "code"), [("unsigned", 1), ("no_ssh_keygen", 3)])
def test_a_requested_signature_counts(
    contents: ArchiveContents, ours: Json, state: SignatureState, code: int
) -> None:
    """The statement matches, but the exit code is not 0."""
    wrapped = StatementFile(form="statement", statements=(ours,), signatures=0)
    report = verify(wrapped, contents, "match", signatures.report(state))
    assert (report.verdict, report.exit_code) == ("match", code)

"""A statement and a real wheel: of this file or not, and what it says follows or does not."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, cast

import pytest

from skills_bundle.supply_chain import signature as signatures
from skills_bundle.supply_chain.statement import statement as statements
from skills_bundle.supply_chain.statement.verify import StatementFile, verify
from tests.hatch_plugin.sample import SampleProject
from tests.supply_chain.statements import Json, open_contents, publish_attestation

if TYPE_CHECKING:
    from collections.abc import Callable

    from skills_bundle.bundle.verify import Verdict
    from skills_bundle.supply_chain.archive.contents import ArchiveContents
    from skills_bundle.supply_chain.signature import SignatureState
    from skills_bundle.supply_chain.statement.verify import StatementReport


@pytest.fixture(scope="module")
def contents(tmp_path_factory: pytest.TempPathFactory) -> ArchiveContents:
    """Give what a wheel carries."""
    return open_contents(SampleProject.create(tmp_path_factory.mktemp("acme")).wheel())


@pytest.fixture
def ours(contents: ArchiveContents) -> Json:
    """Give the statement about it, to be changed."""
    return copy.deepcopy(cast("Json", statements.make(contents)))


def checked(contents: ArchiveContents, *found: Json, archive: Verdict = "match") -> StatementReport:
    """Check bare statements."""
    return verify(
        StatementFile(form="statement", statements=found, signatures=0), contents, archive, None
    )


def test_our_own_statement_matches(contents: ArchiveContents, ours: Json) -> None:
    """Everything in it was made again from the file."""
    report = checked(contents, ours)
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
    ("change", "told"),
    [
        (_other_digest, "is a different file with this name: its SHA-256 is 0000"),
        (_no_sha256, "is a different file with this name: its SHA-256 is missing"),
        (_other_name, "has this file's SHA-256 under a different name: 'other-1.0-"),
        (_other_file, "is not this file"),
    ],
)
def test_a_statement_of_another_file_differs(
    contents: ArchiveContents, ours: Json, change: Callable[[Json], None], told: str
) -> None:
    """Which of name and digest does not fit is said."""
    change(ours)
    report = checked(contents, ours)
    assert (report.verdict, report.exit_code) == ("differs", 1)
    assert report.statements[0].problems[0].message.startswith(told)


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
    """Each field is told by its place; none can be added."""
    *steps, last = path.split(".")
    place = ours
    for step in steps:
        place = place[step]
    place[last] = value
    report = checked(contents, ours)
    assert (report.verdict, report.statements[0].predicate) == ("differs", "differs")
    assert [problem.path for problem in report.statements[0].problems] == [path]


def test_a_second_subject_is_none_of_ours(contents: ArchiveContents, ours: Json) -> None:
    """We write one file a statement."""
    ours["subject"].append({"name": "other", "digest": {"sha256": "0" * 64}})
    assert checked(contents, ours).verdict == "differs"


@pytest.mark.parametrize("more", [{"uri": "x"}, {"digest": {"sha256": "", "sha512": "0"}}])
def test_more_about_the_subject_is_none_of_ours(
    contents: ArchiveContents, ours: Json, more: Json
) -> None:
    """A second digest would be nobody's who looked."""
    digest = ours["subject"][0]["digest"]["sha256"]
    ours["subject"][0] |= more
    ours["subject"][0]["digest"]["sha256"] = digest
    assert checked(contents, ours).verdict == "differs"


def test_a_statement_of_another_kind_cannot_be_told(contents: ArchiveContents) -> None:
    """It is of this file; what else it claims is not ours to recompute."""
    archive = contents.archive
    report = checked(contents, publish_attestation(archive.file_name, archive.sha256))
    assert (report.verdict, report.exit_code) == ("cannot_tell", 3)
    assert (report.statements[0].is_subject, report.statements[0].problems) == (True, ())


def test_provenance_of_another_builder_cannot_be_told(
    contents: ArchiveContents, ours: Json
) -> None:
    """The same predicate, made by a build that we know nothing of."""
    ours["predicate"]["buildDefinition"]["buildType"] = "https://example.org/workflow"
    assert checked(contents, ours).statements[0].predicate == "not_checked"


@pytest.mark.parametrize("predicate", [None, 1, [], {}, {"buildDefinition": None}])
def test_a_predicate_of_any_form_is_passed_over(
    contents: ArchiveContents, ours: Json, predicate: object
) -> None:
    """It is not ours."""
    ours["predicate"] = predicate
    assert checked(contents, ours).statements[0].predicate == "not_checked"


def test_one_of_several_subjects_may_be_the_file(contents: ArchiveContents) -> None:
    """A release has one statement for all of its files."""
    archive = contents.archive
    found = publish_attestation(archive.file_name, archive.sha256.upper())
    found["subject"].insert(0, {"name": "other", "digest": {"sha256": "0" * 64}})
    assert checked(contents, found).statements[0].is_subject


def test_an_archive_that_does_not_verify_leaves_nothing_to_recompute(
    contents: ArchiveContents, ours: Json
) -> None:
    """What the statement repeats would be as wrong as the archive."""
    report = checked(contents, ours, archive="differs")
    assert (report.verdict, report.statements[0].predicate) == ("differs", "archive_differs")


def test_one_wrong_statement_of_several_is_enough(contents: ArchiveContents, ours: Json) -> None:
    """What is wrong outweighs what cannot be told, and that what matches."""
    archive = contents.archive
    foreign = publish_attestation(archive.file_name, archive.sha256)
    wrong = publish_attestation(archive.file_name, "0" * 64)
    verdicts = [checked(contents, *rows).verdict for rows in ((ours, foreign), (foreign, wrong))]
    assert verdicts == ["cannot_tell", "differs"]


@pytest.mark.parametrize(("state", "code"), [("unsigned", 1), ("no_ssh_keygen", 3)])
def test_a_signature_that_was_asked_for_counts(
    contents: ArchiveContents, ours: Json, state: SignatureState, code: int
) -> None:
    """The statement matches, and still the answer is not 0."""
    wrapped = StatementFile(form="statement", statements=(ours,), signatures=0)
    report = verify(wrapped, contents, "match", signatures.report(state))
    assert (report.verdict, report.exit_code) == ("match", code)

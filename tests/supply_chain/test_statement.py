"""Statements about a real wheel or sdist, made from the archive alone."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import TYPE_CHECKING, cast

import pytest

from skills_bundle.bundle.documents import Document
from skills_bundle.supply_chain.statement import statement as statements
from tests.hatch_plugin.sample import SampleProject, receipt_of, unpacked
from tests.supply_chain.statements import Json, open_contents

if TYPE_CHECKING:
    from pathlib import Path

UNASSERTED = 'repository = "https://example.org/acme/skills"\nsource-ref = "refs/tags/v{version}"\n'


@pytest.fixture
def sample(tmp_path: Path) -> SampleProject:
    """Return a committed project."""
    return SampleProject.create(tmp_path / "acme")


def made(archive: Path) -> Json:
    """Make the statement about an archive."""
    return cast("Json", statements.make(open_contents(archive)))


def definition(archive: Path) -> Json:
    """Return its `buildDefinition`."""
    return cast("Json", made(archive)["predicate"]["buildDefinition"])


@pytest.mark.parametrize("kind", ["wheel", "sdist"])
def test_the_subject_is_the_file(sample: SampleProject, kind: str) -> None:
    """By its name and the SHA-256 of its bytes."""
    archive = sample.wheel() if kind == "wheel" else sample.sdist()
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    assert made(archive)["subject"] == [{"name": archive.name, "digest": {"sha256": digest}}]


def test_the_commit_is_the_one_dependency(sample: SampleProject) -> None:
    """With the repository and the ref that the project asserts."""
    assert definition(sample.wheel())["resolvedDependencies"] == [
        {
            "uri": "git+https://example.org/acme/skills@refs/tags/v1.0",
            "digest": {"gitCommit": sample.commit_id()},
        }
    ]


def test_without_a_ref_the_location_has_the_commit(sample: SampleProject) -> None:
    """A location names what to check out."""
    sample.replace("pyproject.toml", 'source-ref = "refs/tags/v{version}"\n', "").committed()
    (dependency,) = definition(sample.wheel())["resolvedDependencies"]
    assert dependency["uri"] == f"git+https://example.org/acme/skills@{sample.commit_id()}"


def test_without_a_repository_there_is_no_location(sample: SampleProject) -> None:
    """The commit is named by its id alone."""
    sample.replace("pyproject.toml", UNASSERTED, "").committed()
    assert definition(sample.wheel())["resolvedDependencies"] == [
        {"digest": {"gitCommit": sample.commit_id()}}
    ]


@pytest.mark.parametrize(
    ("repository", "uri"),
    [
        ("https://x.org/a", "git+https://x.org/a@main"),
        ("ssh://git@x.org/a", "git+ssh://git@x.org/a@main"),
        ("git+https://x.org/a", "git+https://x.org/a@main"),
        ("git://x.org/a", "git://x.org/a@main"),
        ("git@x.org:a", None),
        (None, None),
    ],
)
def test_locations_have_the_form_of_spdx(repository: str | None, uri: str | None) -> None:
    """A repository that is not a URI has none."""
    assert statements.location(repository, "main") == uri


def test_a_dirty_build_has_no_source(sample: SampleProject) -> None:
    """The receipt names no commit; the reason is included."""
    found = definition(sample.write("new", b"").wheel())
    assert found["resolvedDependencies"] == []
    assert found["internalParameters"]["source"] == {
        "state": "dirty",
        "reason": "dirty_source",
        "commit": None,
        "skillsTree": None,
    }


def test_assertions_and_records_are_separate(sample: SampleProject) -> None:
    """External parameters are the project's, internal ones are the build's record and digests."""
    wheel = sample.wheel()
    found, receipt, contents = definition(wheel), receipt_of(wheel), open_contents(wheel)
    assert found["externalParameters"] == {
        "project": {"name": "acme-skills", "version": "1.0"},
        "repository": "https://example.org/acme/skills",
        "sourceRef": "refs/tags/v1.0",
    }
    inner = found["internalParameters"]
    assert inner["catalogSha256"] == receipt.catalog.sha256
    assert (
        inner["receiptSha256"]
        == hashlib.sha256(contents.archive.read(contents.receipt_path) or b"").hexdigest()
    )
    assert inner["inputsDirHash"] == receipt.inputs.dir_hash
    assert inner["skillsGitTree"] == receipt.catalog.git_tree


def test_the_builder_guarantees_nothing(sample: SampleProject) -> None:
    """Its id says so, and there is no time or invocation id."""
    assert made(sample.wheel())["predicate"]["runDetails"] == {
        "builder": {"id": statements.BUILDER_ID}
    }
    assert statements.BUILDER_ID.endswith("#unsigned-local-builder")


def test_the_same_commit_gives_the_same_statement(sample: SampleProject, tmp_path: Path) -> None:
    """Whether built from git or from the sdist."""
    inside = unpacked(sample.sdist(), tmp_path / "elsewhere")
    texts = {
        statements.to_bytes(statements.make(open_contents(p.wheel()))) for p in (sample, inside)
    }
    assert len(texts) == 1


def test_an_archive_that_does_not_verify_has_no_statement(sample: SampleProject) -> None:
    """Callers verify first."""
    lost = replace(open_contents(sample.wheel()), receipt=Document(state="missing"))
    with pytest.raises(ValueError, match="not verify"):
        statements.make(lost)


def test_a_statement_does_not_differ_from_itself(sample: SampleProject) -> None:
    """After it was written and read."""
    found = made(sample.wheel())
    assert [*statements.differences(found, json.loads(statements.to_bytes(found)))] == []


@pytest.mark.parametrize(
    ("expected", "found", "difference"),
    [
        ({"a": 1}, {"a": 2}, ("a", "is not 1, the archive's value")),
        ({"a": 1}, {"a": True}, ("a", "is not 1, the archive's value")),
        ({"a": 1}, {}, ("a", "is missing")),
        ({}, {"a": 1}, ("a", "is an unknown field")),
        ({"a": [{"b": 1}]}, {"a": [{"b": "1"}]}, ("a[0].b", "is not 1, the archive's value")),
        ({"a": [1]}, {"a": []}, ("a", "is not [1], the archive's value")),
        ({"a": None}, {"a": {}}, ("a", "is not null, the archive's value")),
    ],
)
def test_a_difference_is_reported_with_its_path(
    expected: Json, found: Json, difference: tuple[str, str]
) -> None:
    """A value, a type, a missing key or an additional one."""
    assert [(p.path, p.message) for p in statements.differences(expected, found)] == [difference]


def test_a_long_value_is_shortened() -> None:
    """The path identifies it."""
    (problem,) = statements.differences({"a": "x" * 500}, {"a": ""})
    assert len(problem.message) < 140

"""Decision: an in-toto Statement with SLSA provenance about a wheel or sdist.

It follows from the archive: the subject is its digest, and the predicate repeats its lock and its
build receipt. It is unsigned, so at most SLSA Build L1, but other tools can sign and read it.

Source:
    in-toto Attestation Framework, Statement v1; SLSA, Build provenance v1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

from skills_bundle.errors import Problem
from skills_bundle.formats import strict_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic import JsonValue

    from skills_bundle.bundle.lock import CatalogLock
    from skills_bundle.bundle.receipt import BuildReceipt
    from skills_bundle.supply_chain.archive.contents import ArchiveContents

STATEMENT_TYPE: Final = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE: Final = "https://slsa.dev/provenance/v1"
_PAGE: Final = (
    "https://github.com/skills-bundle/skills-bundle/blob/main/docs/reference/statement-format.md"
)
BUILD_TYPE: Final = f"{_PAGE}#build-type-v1"
"""What the fields of the predicate mean; the page describes them."""
BUILDER_ID: Final = f"{_PAGE}#unsigned-local-builder"
"""The builder: any machine. It guarantees nothing."""
NAMESPACE: Final = "skills-bundle-statement"
"""The namespace of SSH signatures over statements: `ssh-keygen -Y sign -n NAMESPACE`."""
SUFFIX: Final = ".provenance.json"
"""Suffix of a statement's file, after the name of its archive."""


def make(contents: ArchiveContents) -> dict[str, JsonValue]:
    """Make the statement about an archive.

    Args:
        contents: Of an archive that verifies.

    Raises:
        ValueError: If its lock or receipt is not valid.
    """
    lock, receipt = contents.lock.believed, contents.receipt.believed
    if lock is None or receipt is None:
        raise ValueError("The archive does not verify.")
    archive = contents.archive
    return {
        "_type": STATEMENT_TYPE,
        "subject": [{"name": archive.file_name, "digest": {"sha256": archive.sha256}}],
        "predicateType": PREDICATE_TYPE,
        "predicate": {
            "buildDefinition": {
                "buildType": BUILD_TYPE,
                "externalParameters": _external(receipt),
                "internalParameters": _internal(contents, lock, receipt),
                "resolvedDependencies": _dependencies(receipt),
            },
            "runDetails": {"builder": {"id": BUILDER_ID}},
        },
    }


def to_bytes(statement: dict[str, JsonValue]) -> bytes:
    """Return the statement's bytes: UTF-8, 2-space indent, final newline."""
    return strict_json.pretty(statement)


def is_ours(statement: dict[str, JsonValue]) -> bool:
    """Return whether a statement claims to be of the kind that `make` returns."""
    predicate = statement.get("predicate")
    definition = predicate.get("buildDefinition") if isinstance(predicate, dict) else None
    build_type = definition.get("buildType") if isinstance(definition, dict) else None
    return statement.get("predicateType") == PREDICATE_TYPE and build_type == BUILD_TYPE


def _external(receipt: BuildReceipt) -> dict[str, JsonValue]:
    """Return what the project asserts."""
    return {
        "project": {"name": receipt.package.name, "version": receipt.package.version},
        "repository": receipt.asserted.repository,
        "sourceRef": receipt.asserted.source_ref,
    }


def _internal(
    contents: ArchiveContents, lock: CatalogLock, receipt: BuildReceipt
) -> dict[str, JsonValue]:
    """Return what the build recorded, and the digests to compare it with."""
    source = receipt.source
    return {
        "collection": lock.collection,
        "catalogSha256": contents.lock.sha256,
        "receiptSha256": contents.receipt.sha256,
        "inputsDirHash": receipt.inputs.dir_hash,
        "skillsGitTree": lock.digests.git_tree,
        "source": {
            "state": source.state,
            "reason": source.reason,
            "commit": source.commit,
            "skillsTree": source.skills_tree,
        },
    }


def _dependencies(receipt: BuildReceipt) -> list[JsonValue]:
    """Return the commit, if the receipt names one; otherwise no source is claimed."""
    commit = receipt.source.commit
    if commit is None:
        return []
    digest: dict[str, JsonValue] = {"digest": {"gitCommit": commit}}
    uri = location(receipt.asserted.repository, receipt.asserted.source_ref or commit)
    return [digest if uri is None else {"uri": uri, **digest}]


def location(repository: str | None, ref: str) -> str | None:
    """Return a repository and a ref in it as one URI, in the form of SPDX download locations.

    Args:
        repository: As the project asserts it.
        ref: A ref or a commit.

    Returns:
        None if the repository is not asserted or not a URI, such as `git@h:p`.
    """
    if repository is None or "://" not in repository:
        return None
    prefix = "" if repository.startswith("git") else "git+"
    return f"{prefix}{repository}@{ref}"


def differences(expected: JsonValue, found: JsonValue, path: str = "") -> Iterator[Problem]:
    """Return where a statement differs from its archive; an additional key is a difference too.

    Args:
        expected: What `make` returns.
        found: What the statement contains.
        path: Dotted path of both.
    """
    if isinstance(expected, dict) and isinstance(found, dict):
        for key in sorted(expected.keys() | found.keys()):
            inner = f"{path}.{key}" if path else key
            if key not in expected:
                yield _problem(inner, "is an unknown field")
            elif key not in found:
                yield _problem(inner, "is missing")
            else:
                yield from differences(expected[key], found[key], inner)
    elif isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        for place, (one, other) in enumerate(zip(expected, found, strict=True)):
            yield from differences(one, other, f"{path}[{place}]")
    elif (wanted := strict_json.compact(expected)) != strict_json.compact(found):
        yield _problem(path, f"is not {_short(wanted)}, the archive's value")


def _short(data: bytes) -> str:
    text = data.decode()
    return text if len(text) <= 100 else f"{text[:96]} ..."


def _problem(path: str, message: str) -> Problem:
    return Problem(code="statement", message=message, path=path)


def subjects(statement: dict[str, JsonValue]) -> list[dict[str, JsonValue]]:
    """Return the subjects of any statement."""
    return [cast("dict[str, JsonValue]", one) for one in cast("list[Any]", statement["subject"])]

"""Decision: an in-toto Statement with SLSA provenance about a wheel or sdist, made from its bytes.

All of it follows from the archive: the subject is its digest, the predicate what its lock and its
build receipt say. It adds nothing that the archive does not say, and it is unsigned: at most SLSA
Build L1. It is there to be signed, and to be read by tools that know this format and not ours.

Source:
    in-toto Attestation Framework, Statement v1; SLSA, Build provenance v1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

from skills_bundle.errors import Problem
from skills_bundle.formats import rendering

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
"""Who built: any machine whatever. It vouches for nothing."""
NAMESPACE: Final = "skills-bundle-statement"
"""What an SSH signature over a statement is made for: `ssh-keygen -Y sign -n NAMESPACE`."""
SUFFIX: Final = ".provenance.json"
"""What a statement's file is called behind the name of its archive."""


def make(contents: ArchiveContents) -> dict[str, JsonValue]:
    """Make the statement about an archive.

    Args:
        contents: From an archive that verifies: its lock and its receipt are believed.

    Raises:
        ValueError: If they are not.
    """
    lock, receipt = contents.lock.believed, contents.receipt.believed
    if lock is None or receipt is None:
        raise ValueError("A statement is made of an archive that verifies.")
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
    """Give the one rendering: UTF-8, 2-space indent, keys as made, final newline."""
    return rendering.pretty(statement)


def is_ours(statement: dict[str, JsonValue]) -> bool:
    """Tell whether a statement says of itself that it is one of these."""
    predicate = statement.get("predicate")
    definition = predicate.get("buildDefinition") if isinstance(predicate, dict) else None
    build_type = definition.get("buildType") if isinstance(definition, dict) else None
    return statement.get("predicateType") == PREDICATE_TYPE and build_type == BUILD_TYPE


def _external(receipt: BuildReceipt) -> dict[str, JsonValue]:
    """Give what the project asserts; whoever configured the build chose it."""
    return {
        "project": {"name": receipt.package.name, "version": receipt.package.version},
        "repository": receipt.asserted.repository,
        "sourceRef": receipt.asserted.source_ref,
    }


def _internal(
    contents: ArchiveContents, lock: CatalogLock, receipt: BuildReceipt
) -> dict[str, JsonValue]:
    """Give what the build recorded, and the digests by which it can be compared."""
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
    """Give the commit, if the receipt names one; without one nothing is claimed as the source."""
    commit = receipt.source.commit
    if commit is None:
        return []
    digest: dict[str, JsonValue] = {"digest": {"gitCommit": commit}}
    uri = location(receipt.asserted.repository, receipt.asserted.source_ref or commit)
    return [digest if uri is None else {"uri": uri, **digest}]


def location(repository: str | None, ref: str) -> str | None:
    """Give a repository and a ref in it as one URI, as SPDX writes download locations.

    Args:
        repository: As the project asserts it.
        ref: A ref or a commit.

    Returns:
        None if the repository is not asserted, or as something that is no URI, such as `git@h:p`.
    """
    if repository is None or "://" not in repository:
        return None
    prefix = "" if repository.startswith("git") else "git+"
    return f"{prefix}{repository}@{ref}"


def differences(expected: JsonValue, found: JsonValue, path: str = "") -> Iterator[Problem]:
    """Say where a statement is not what its archive gives; a key too many is a difference, too.

    Args:
        expected: What `make` gives.
        found: What somebody claims.
        path: Dotted path of both.
    """
    if isinstance(expected, dict) and isinstance(found, dict):
        for key in sorted(expected.keys() | found.keys()):
            inner = f"{path}.{key}" if path else key
            if key not in expected:
                yield _problem(inner, "is none of its fields")
            elif key not in found:
                yield _problem(inner, "is missing")
            else:
                yield from differences(expected[key], found[key], inner)
    elif isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        for place, (one, other) in enumerate(zip(expected, found, strict=True)):
            yield from differences(one, other, f"{path}[{place}]")
    elif (wanted := rendering.compact(expected)) != rendering.compact(found):
        yield _problem(path, f"is not {_short(wanted)}, as the archive has it")


def _short(data: bytes) -> str:
    text = data.decode()
    return text if len(text) <= 100 else f"{text[:96]} ..."


def _problem(path: str, message: str) -> Problem:
    return Problem(code="statement", message=message, path=path)


def subjects(statement: dict[str, JsonValue]) -> list[dict[str, JsonValue]]:
    """Give the files that any statement speaks of."""
    return [cast("dict[str, JsonValue]", one) for one in cast("list[Any]", statement["subject"])]

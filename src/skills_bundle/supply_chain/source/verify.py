"""Edge: a wheel or sdist against the commit that it says it was built from. Runs no code."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from skills_bundle.archives.reading import open_archive
from skills_bundle.errors import Problem, RepositoryUnavailableError
from skills_bundle.git.repository import open_repository, unavailable
from skills_bundle.supply_chain.archive.contents import contents_of
from skills_bundle.supply_chain.source import checks as source_checks
from skills_bundle.supply_chain.source import files as source_files
from skills_bundle.supply_chain.source import project as source_project
from skills_bundle.supply_chain.source.checks import Named
from skills_bundle.supply_chain.source.report import (
    EXIT_CODES,
    VERDICT_OF_CHECK,
    VERDICT_OF_FILE,
    SourceVerification,
)

if TYPE_CHECKING:
    from pathlib import Path

    from skills_bundle.git.repository import Repository
    from skills_bundle.supply_chain.archive.contents import ArchiveContents
    from skills_bundle.supply_chain.source.project import SourceProject
    from skills_bundle.supply_chain.source.report import SourceCheck, SourceFile, Verdict


class Wanted(NamedTuple):
    """What somebody says of the source; None to find it out.

    Attributes:
        revision: The commit, in any way that git names one.
        project: The project's folder from the top of the repository.
    """

    revision: str | None = None
    project: str | None = None


def verify_source(file: Path, repository: Path, wanted: Wanted) -> SourceVerification:
    """Account for every file of an archive against the blobs of its commit.

    Args:
        file: A wheel or an sdist.
        repository: A folder of a git repository, or a bare one.
        wanted: What is said of the commit.

    Raises:
        UnreadableArchiveError: If the archive cannot be read.
        UnsafeArchiveError: If it is refused.
        RepositoryUnavailableError: If no commit is named, or the repository cannot answer.
        SourceMismatchError: If the commit does not hold the project.
    """
    found = contents_of(open_archive(file))
    opened = open_repository(repository)
    project = locate(found, opened, wanted)
    files = source_files.account(found, project)
    checks = source_checks.check(found, project, Named(wanted.revision), opened.ref)
    return _report(found, project, (opened.path, checks, files))


def locate(contents: ArchiveContents, repository: Repository, wanted: Wanted) -> SourceProject:
    """Find the commit and the project in it.

    Args:
        contents: The distribution.
        repository: Where to look.
        wanted: What is said of them.

    Raises:
        RepositoryUnavailableError: If there is no such commit.
        SourceMismatchError: If it does not hold the project.
    """
    commit = repository.commit(_commit_id(contents, repository, wanted.revision))
    return source_project.find(commit, contents, wanted.project)


def _commit_id(contents: ArchiveContents, repository: Repository, revision: str | None) -> str:
    if revision is not None:
        found = repository.resolved(revision)
        if found is None:
            raise unavailable("no_such_revision", repository.path, f"has no commit {revision!r}")
        return found
    receipt = contents.receipt.value  # also one that something contradicts: its row says so
    if receipt is not None and receipt.source.commit is not None:
        return receipt.source.commit
    raise _no_commit(contents)


def _no_commit(contents: ArchiveContents) -> RepositoryUnavailableError:
    """Say why the archive names no commit, and how to name one."""
    receipt = contents.receipt
    if receipt.believed is not None:
        source = receipt.believed.source
        told = f"was built from what is no commit: {source.state}, {source.reason}"
    elif receipt.state == "missing":
        told = "is not there"
    else:
        told = "; ".join(problem.message for problem in receipt.problems) or receipt.state
    message = f"{told}; `verify-source --commit REV` compares with a commit that you name"
    problem = Problem(code="no_source_commit", message=message, path=contents.receipt_path)
    summary = f"The receipt of {contents.archive.file_name} names no commit."
    return RepositoryUnavailableError(summary, (problem,))


def _report(
    contents: ArchiveContents,
    project: SourceProject,
    found: tuple[str, tuple[SourceCheck, ...], tuple[SourceFile, ...]],
) -> SourceVerification:
    repository, checks, files = found
    verdict = _verdict(checks, files)
    return SourceVerification(
        verdict=verdict,
        exit_code=EXIT_CODES[verdict],
        file_name=contents.archive.file_name,
        sha256=contents.archive.sha256,
        kind=contents.archive.kind,
        package_name=contents.identity.name,
        package_version=contents.identity.version,
        repository=repository,
        commit=project.commit.oid,
        project=project.folder or ".",
        checks=checks,
        counts=dict(sorted(Counter(str(row.state) for row in files).items())),
        files=files,
    )


def _verdict(checks: tuple[SourceCheck, ...], files: tuple[SourceFile, ...]) -> Verdict:
    """Let what is wrong outweigh what cannot be told, and that what matches."""
    found = {VERDICT_OF_CHECK[row.state] for row in checks}
    found |= {VERDICT_OF_FILE[row.state] for row in files}
    if "differs" in found:
        return "differs"
    return "cannot_tell" if "cannot_tell" in found else "match"

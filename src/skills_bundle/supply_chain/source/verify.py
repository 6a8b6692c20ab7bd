"""Edge: `verify-source`: a wheel or sdist compared with the commit it names. Runs no code."""

from __future__ import annotations

import base64
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from skills_bundle.archives.reading import open_archive
from skills_bundle.bundle.verdict import EXIT_CODES, worst
from skills_bundle.errors import Problem, RepositoryUnavailableError
from skills_bundle.formats.digest import dir_hash, sha256_hex
from skills_bundle.git.repository import open_repository, unavailable
from skills_bundle.supply_chain.archive.contents import contents_of, name_problems
from skills_bundle.supply_chain.source import files as source_files
from skills_bundle.supply_chain.source.project import find_project
from skills_bundle.supply_chain.source.report import (
    VERDICT_OF_CHECK,
    VERDICT_OF_FILE,
    SourceCheck,
    SourceVerification,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from skills_bundle.bundle.receipt import BuildReceipt, Inputs
    from skills_bundle.git.commit import Found
    from skills_bundle.git.repository import Repository
    from skills_bundle.supply_chain.archive.contents import ArchiveContents
    from skills_bundle.supply_chain.source.project import SourceProject
    from skills_bundle.supply_chain.source.report import (
        CheckState,
        SourceFile,
    )


class Wanted(NamedTuple):
    """The source as the user named it; None to find it.

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
    checks = _checks(found, project, wanted.revision, opened.ref)
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
    return find_project(commit, contents, wanted.project)


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
    """Return why the archive names no commit, and how to name one."""
    receipt = contents.receipt
    if receipt.believed is not None:
        source = receipt.believed.source
        told = f"records no commit: {source.state}, {source.reason}"
    elif receipt.state == "missing":
        told = "is missing"
    else:
        told = "; ".join(problem.message for problem in receipt.problems) or receipt.state
    message = f"{told}; to compare with another commit, use `verify-source --commit REV`"
    problem = Problem(code="no_source_commit", message=message, path=contents.receipt_path)
    summary = f"The receipt of {contents.archive.file_name} names no commit."
    return RepositoryUnavailableError(summary, (problem,))


def _report(
    contents: ArchiveContents,
    project: SourceProject,
    found: tuple[str, tuple[SourceCheck, ...], tuple[SourceFile, ...]],
) -> SourceVerification:
    repository, checks, files = found
    verdict = worst(
        [
            *(VERDICT_OF_CHECK[row.state] for row in checks),
            *(VERDICT_OF_FILE[row.state] for row in files),
        ]
    )
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


def _checks(
    contents: ArchiveContents,
    project: SourceProject,
    revision: str | None,
    ref: Callable[[str], str | None],
) -> tuple[SourceCheck, ...]:
    """Check receipt and lock against the commit.

    Args:
        contents: The distribution.
        project: As the commit holds it.
        revision: The commit as the user named it; None if it comes from the receipt.
        ref: Gives the commit that a full ref name points at in the repository, or None.
    """
    receipt = contents.receipt.value
    found = [
        _commit(receipt, project, revision),
        _names(contents),
        _lock(contents, project),
        _made(contents, project),
    ]
    if receipt is not None:
        found += [
            _skills_tree(receipt, project),
            _proof(receipt, project),
            _inputs(receipt, contents, project),
            _source_ref(receipt, project, ref),
        ]
    return tuple(found)


def _check(name: str, state: CheckState, detail: str) -> SourceCheck:
    return SourceCheck(name=name, state=state, detail=detail)


def _commit(
    receipt: BuildReceipt | None, project: SourceProject, revision: str | None
) -> SourceCheck:
    """Compare the commit the user named with the receipt's."""
    recorded = None if receipt is None else receipt.source.commit
    if revision is None:
        return _check("commit", "holds", "the receipt names it, and the repository holds it")
    if recorded is None:
        reason = "there is no readable receipt"
        if receipt is not None:
            reason = f"the receipt names none: {receipt.source.reason}"
        return _check("commit", "remark", f"you named it ({revision}); {reason}")
    if recorded == project.commit.oid:
        return _check("commit", "holds", f"you named it ({revision}), as the receipt does")
    return _check("commit", "fails", f"you named {revision}; the receipt names {recorded}")


def _names(contents: ArchiveContents) -> SourceCheck:
    """Compare all that names the distribution: installers go by the name of the file."""
    if found := name_problems(contents):
        return _check("names", "fails", "; ".join(f"{one.path} {one.message}" for one in found))
    return _check("names", "holds", "file name, folders, tags, metadata and entry point agree")


def _lock(contents: ArchiveContents, project: SourceProject) -> SourceCheck:
    """Look for locked files that the archive lacks; those that are there have rows of their own."""
    lock = contents.lock.value
    if contents.lock.state != "ok" or lock is None:
        told = "; ".join(problem.message for problem in contents.lock.problems)
        state: CheckState = "cannot_tell" if contents.lock.state == "missing" else "fails"
        return _check("lock", state, told or f"is {contents.lock.state}")
    skills = contents.skills
    if contents.archive.kind == "sdist":
        skills = "" if project.settings.skills == "." else project.settings.skills
    prefix = f"{skills}/" if skills else ""
    lacking = [path for path in lock.files() if prefix + path not in contents.archive.members]
    if lacking:
        return _check("lock", "fails", f"the archive lacks locked files: {_listed(lacking)}")
    return _check("lock", "holds", f"the archive has all {len(lock.files())} locked files")


def _listed(paths: list[str]) -> str:
    more = f" and {len(paths) - 3} more" if len(paths) > 3 else ""
    return ", ".join(sorted(paths)[:3]) + more


def _made(contents: ArchiveContents, project: SourceProject) -> SourceCheck:
    """Look for files that every build makes and the archive lacks; those there have rows."""
    wanted = {"PKG-INFO"}
    if contents.archive.kind == "wheel":
        names = {"METADATA", "WHEEL", "RECORD"}
        declared = any(map(project.metadata.get, ("scripts", "gui-scripts", "entry-points")))
        wanted = {f"{contents.dist_info}/{name}" for name in names}
        wanted |= {f"{contents.dist_info}/entry_points.txt"} if declared else set()
    if lacking := sorted(wanted - contents.archive.members.keys()):
        return _check("made", "fails", f"the archive lacks generated files: {_listed(lacking)}")
    return _check("made", "holds", "the archive has every file that a build always generates")


def _skills_tree(receipt: BuildReceipt, project: SourceProject) -> SourceCheck:
    recorded = receipt.source.skills_tree
    if recorded is None:
        return _check("skills_tree", "remark", "the receipt names none")
    entry = project.commit.entry(project.skills_folder)
    if entry is not None and entry.oid == recorded:
        place = project.skills_folder or "the top of the repository"
        return _check("skills_tree", "holds", f"it is the tree of {place} in the commit")
    found = "no such folder" if entry is None else entry.oid
    return _check("skills_tree", "fails", f"the receipt names {recorded}; the commit has {found}")


def _proof(receipt: BuildReceipt, project: SourceProject) -> SourceCheck:
    """Compare the objects in the receipt with the repository's own."""
    if receipt.source.proof is None:
        return _check("proof", "remark", "the receipt contains none")
    way = tuple(base64.b64encode(raw).decode() for raw in _way(project))
    if way == receipt.source.proof:
        return _check("proof", "holds", f"its {len(way)} objects are in the repository")
    return _check("proof", "fails", "its objects are not the ones from the commit to the skills")


def _way(project: SourceProject) -> Iterator[bytes]:
    if project.commit.entry(project.skills_folder) is not None:
        yield from project.commit.objects_to(project.skills_folder)


def _inputs(
    receipt: BuildReceipt, contents: ArchiveContents, project: SourceProject
) -> SourceCheck:
    """Recompute the digest of the build's inputs from the blobs of the commit."""
    recorded = receipt.inputs
    if receipt.source.state != "clean":
        return _check("inputs", "remark", "the receipt names no commit for them")
    found = {path: _source(path, project) for path in recorded.files}
    lacking = [path for path, one in found.items() if one is None]
    if lacking:
        return _check("inputs", "fails", f"the commit does not hold {_listed(lacking)}")
    if contents.archive.kind == "sdist" and (wrong := _unlisted(receipt, contents, project)):
        return _check("inputs", "fails", f"the receipt does not agree on {_listed(wrong)}")
    there = {path: one for path, one in found.items() if one is not None}
    return _recomputed(there, recorded, project)


def _recomputed(there: dict[str, Found], recorded: Inputs, project: SourceProject) -> SourceCheck:
    try:
        blobs = {path: project.commit.data(one.entry.oid) for path, one in there.items()}
    except RepositoryUnavailableError as error:
        return _check("inputs", "cannot_tell", error.problems[0].message)
    digest = dir_hash({path: sha256_hex(data) for path, data in blobs.items()})
    executable = tuple(path for path, one in there.items() if one.entry.mode == "100755")
    if digest != recorded.dir_hash or executable != recorded.executable:
        return _check("inputs", "fails", "they differ from the commit")
    return _check("inputs", "holds", f"{len(blobs)} files give the digest in the receipt")


def _source(path: str, project: SourceProject) -> Found | None:
    candidates = project.layout("sdist").place(path, "", "").candidates
    found = (project.commit.file(one) for one in candidates)
    return next((one for one in found if one is not None), None)


def _unlisted(
    receipt: BuildReceipt, contents: ArchiveContents, project: SourceProject
) -> list[str]:
    """Return the files that only one of the sdist and its receipt has."""
    layout = project.layout("sdist")
    members = {
        path for path in contents.archive.members if layout.place(path, "", "").role != "generated"
    }
    return sorted(members ^ set(receipt.inputs.files))


def _source_ref(
    receipt: BuildReceipt, project: SourceProject, ref: Callable[[str], str | None]
) -> SourceCheck:
    """Look the asserted ref up; a clone may lack it, and a tag may be made later."""
    name = receipt.asserted.source_ref
    if name is None:
        return _check("source_ref", "remark", "none is asserted")
    found = ref(name)
    if found is None:
        return _check("source_ref", "remark", f"asserted: {name}, which this repository lacks")
    if found == project.commit.oid:
        return _check("source_ref", "holds", f"{name} points at the commit in this repository")
    text = f"asserted: {name}, which points at {found} in this repository"
    return _check("source_ref", "remark", text)

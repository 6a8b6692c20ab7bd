"""Decision: what is checked of an archive against a commit besides its files."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, NamedTuple

from skills_bundle.errors import RepositoryUnavailableError
from skills_bundle.formats.digest import dir_hash, sha256_hex
from skills_bundle.supply_chain.archive.checks import name_problems
from skills_bundle.supply_chain.source.report import SourceCheck

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from skills_bundle.bundle.receipt import BuildReceipt, Inputs
    from skills_bundle.git.commit import Found
    from skills_bundle.supply_chain.archive.contents import ArchiveContents
    from skills_bundle.supply_chain.source.project import SourceProject
    from skills_bundle.supply_chain.source.report import CheckState


class Named(NamedTuple):
    """Who named the commit: the revision somebody gave, or None where the receipt was taken."""

    revision: str | None


def check(
    contents: ArchiveContents,
    project: SourceProject,
    named: Named,
    ref: Callable[[str], str | None],
) -> tuple[SourceCheck, ...]:
    """Check receipt and lock against the commit.

    Args:
        contents: The distribution.
        project: As the commit holds it.
        named: Who named the commit.
        ref: Gives the commit that a full ref name points at in the repository, or None.
    """
    receipt = contents.receipt.value
    found = [
        _commit(receipt, project, named),
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


def _told(name: str, state: CheckState, detail: str) -> SourceCheck:
    return SourceCheck(name=name, state=state, detail=detail)


def _commit(receipt: BuildReceipt | None, project: SourceProject, named: Named) -> SourceCheck:
    """Compare the commit that somebody named with the receipt's."""
    recorded = None if receipt is None else receipt.source.commit
    if named.revision is None:
        return _told("commit", "holds", "the receipt names it, and the repository holds it")
    if recorded is None:
        reason = "there is no receipt that can be read"
        if receipt is not None:
            reason = f"the receipt names none: {receipt.source.reason}"
        return _told("commit", "remark", f"you named it ({named.revision}); {reason}")
    if recorded == project.commit.oid:
        return _told("commit", "holds", f"you named it ({named.revision}), as the receipt does")
    return _told("commit", "fails", f"you named {named.revision}; the receipt names {recorded}")


def _names(contents: ArchiveContents) -> SourceCheck:
    """Compare all that names the distribution: installers go by the name of the file."""
    if found := name_problems(contents):
        return _told("names", "fails", "; ".join(f"{one.path} {one.message}" for one in found))
    return _told("names", "holds", "file name, folders, tags, metadata and entry point agree")


def _lock(contents: ArchiveContents, project: SourceProject) -> SourceCheck:
    """Look for locked files that the archive lacks; those that are there have rows of their own."""
    lock = contents.lock.value
    if contents.lock.state != "ok" or lock is None:
        told = "; ".join(problem.message for problem in contents.lock.problems)
        state: CheckState = "cannot_tell" if contents.lock.state == "missing" else "fails"
        return _told("lock", state, told or f"is {contents.lock.state}")
    skills = contents.skills
    if contents.archive.kind == "sdist":
        skills = "" if project.settings.skills == "." else project.settings.skills
    prefix = f"{skills}/" if skills else ""
    lacking = [path for path in lock.files() if prefix + path not in contents.archive.members]
    if lacking:
        return _told("lock", "fails", f"the archive lacks what it locks: {_listed(lacking)}")
    return _told("lock", "holds", f"the archive has every file that it locks: {len(lock.files())}")


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
        return _told("made", "fails", f"the archive lacks what a build makes: {_listed(lacking)}")
    return _told("made", "holds", "the archive has what a build always makes")


def _skills_tree(receipt: BuildReceipt, project: SourceProject) -> SourceCheck:
    recorded = receipt.source.skills_tree
    if recorded is None:
        return _told("skills_tree", "remark", "the receipt names none")
    entry = project.commit.entry(project.skills_folder)
    if entry is not None and entry.oid == recorded:
        place = project.skills_folder or "the top of the repository"
        return _told("skills_tree", "holds", f"it is the tree of {place} in the commit")
    found = "no such folder" if entry is None else entry.oid
    return _told("skills_tree", "fails", f"the receipt names {recorded}; the commit has {found}")


def _proof(receipt: BuildReceipt, project: SourceProject) -> SourceCheck:
    """Compare the objects in the receipt with the repository's own."""
    if receipt.source.proof is None:
        return _told("proof", "remark", "the receipt carries none")
    way = tuple(base64.b64encode(raw).decode() for raw in _way(project))
    if way == receipt.source.proof:
        return _told("proof", "holds", f"objects that are those of the repository: {len(way)}")
    return _told("proof", "fails", "its objects are not those from the commit to the skills")


def _way(project: SourceProject) -> Iterator[bytes]:
    if project.commit.entry(project.skills_folder) is not None:
        yield from project.commit.objects_to(project.skills_folder)


def _inputs(
    receipt: BuildReceipt, contents: ArchiveContents, project: SourceProject
) -> SourceCheck:
    """Recompute the digest of the build's inputs from the blobs of the commit."""
    recorded = receipt.inputs
    if receipt.source.state != "clean":
        return _told("inputs", "remark", "the receipt names no commit for them")
    found = {path: _source(path, project) for path in recorded.files}
    lacking = [path for path, one in found.items() if one is None]
    if lacking:
        return _told("inputs", "fails", f"the commit does not hold {_listed(lacking)}")
    if contents.archive.kind == "sdist" and (wrong := _unlisted(receipt, contents, project)):
        return _told("inputs", "fails", f"the receipt does not agree on {_listed(wrong)}")
    there = {path: one for path, one in found.items() if one is not None}
    return _recomputed(there, recorded, project)


def _recomputed(there: dict[str, Found], recorded: Inputs, project: SourceProject) -> SourceCheck:
    try:
        blobs = {path: project.commit.data(one.entry.oid) for path, one in there.items()}
    except RepositoryUnavailableError as error:
        return _told("inputs", "cannot_tell", error.problems[0].message)
    digest = dir_hash({path: sha256_hex(data) for path, data in blobs.items()})
    executable = tuple(path for path, one in there.items() if one.entry.mode == "100755")
    if digest != recorded.dir_hash or executable != recorded.executable:
        return _told("inputs", "fails", "they are not as the commit has them")
    return _told("inputs", "holds", f"files that give the digest in the receipt: {len(blobs)}")


def _source(path: str, project: SourceProject) -> Found | None:
    candidates = project.layout("sdist").place(path, "", "").candidates
    found = (project.commit.file(one) for one in candidates)
    return next((one for one in found if one is not None), None)


def _unlisted(
    receipt: BuildReceipt, contents: ArchiveContents, project: SourceProject
) -> list[str]:
    """Give the files that only one of the sdist and its receipt has."""
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
        return _told("source_ref", "remark", "none is asserted")
    found = ref(name)
    if found is None:
        return _told("source_ref", "remark", f"asserted: {name}, which this repository lacks")
    if found == project.commit.oid:
        return _told("source_ref", "holds", f"{name} points at the commit in this repository")
    text = f"asserted: {name}, which points at {found} in this repository"
    return _told("source_ref", "remark", text)

"""Decision: one file of an archive against the blobs of a commit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from skills_bundle.archives.canonical import is_script_of
from skills_bundle.errors import RepositoryUnavailableError
from skills_bundle.formats.digest import git_object_id
from skills_bundle.git.commit import FILE_MODES
from skills_bundle.supply_chain.source import generated as source_generated
from skills_bundle.supply_chain.source.report import SourceFile

if TYPE_CHECKING:
    from skills_bundle.archives.model import Member
    from skills_bundle.git.commit import Commit, Found
    from skills_bundle.supply_chain.archive.contents import ArchiveContents
    from skills_bundle.supply_chain.source.layout import Place
    from skills_bundle.supply_chain.source.project import SourceProject
    from skills_bundle.supply_chain.source.report import FileState


ALIKE_MAX: Final = 1000
"""Places of one blob that are looked at for the one most like a path; any of them would do."""


def account(contents: ArchiveContents, project: SourceProject) -> tuple[SourceFile, ...]:
    """Account for every file of an archive.

    Args:
        contents: The distribution.
        project: As the commit holds it.

    Raises:
        RepositoryUnavailableError: If the repository lacks a tree of the commit; a blob that it
            lacks is a row.
    """
    layout = project.layout(contents.archive.kind)
    bundle = contents.lock_path.rpartition("/")[0]
    places = {
        path: layout.place(path, bundle, contents.dist_info) for path in contents.archive.members
    }
    by_id = _paths_by_id(project.commit)
    return tuple(
        _generated(path, contents, project)
        if place.role == "generated"
        else _row(path, contents.archive.members[path], _find(project.commit, place), place, by_id)
        for path, place in places.items()
    )


def _paths_by_id(commit: Commit) -> _Blobs:
    """Give where each blob of the commit lies."""
    paths: dict[str, list[str]] = {}
    for path, entry in commit.files().items():
        if entry.mode.startswith(FILE_MODES):
            paths.setdefault(entry.oid, []).append(path)
    return _Blobs(commit, paths)


class _Blobs:
    """The blobs of a commit: where each lies, and its bytes."""

    def __init__(self, commit: Commit, paths: dict[str, list[str]]) -> None:
        self._commit = commit
        self._paths = paths

    def bytes_of(self, oid: str) -> bytes | None:
        """Give a blob's bytes; None if the repository lacks it."""
        try:
            return self._commit.data(oid)
        except RepositoryUnavailableError:
            return None

    def nearest(self, oid: str, path: str) -> str | None:
        """Give where a blob lies; if it is in several places, the one most like a path."""
        paths = self._paths.get(oid, [])[:ALIKE_MAX]
        return max(paths, key=lambda one: _alike(one, path), default=None)


def _alike(one: str, other: str) -> int:
    """Count the last components that two paths share."""
    pairs = zip(reversed(one.split("/")), reversed(other.split("/")), strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), len(one))


def _find(commit: Commit, place: Place) -> list[Found]:
    return [found for path in place.candidates if (found := commit.file(path)) is not None]


def _generated(path: str, contents: ArchiveContents, project: SourceProject) -> SourceFile:
    found = source_generated.check(path, contents, project)
    states: dict[bool | None, FileState] = {True: "generated", False: "differs", None: "unchecked"}
    state = states[found.holds]
    return SourceFile(path=path, state=state, blob_path=None, blob=None, detail=found.detail)


def _row(path: str, member: Member, found: list[Found], place: Place, blobs: _Blobs) -> SourceFile:
    """Compare a file with the blobs that may have given it."""
    oid = git_object_id("blob", member.data)
    for one in found:
        if one.entry.oid == oid or place.role == "script":
            state, detail = _compared(member, one, blobs, is_script=place.role == "script")
            if state != "differs" or one.entry.oid == oid or one is found[-1]:
                return _of(path, state, one, detail)
    if found:
        detail = _difference(member.data, blobs.bytes_of(found[0].entry.oid))
        return _of(path, "differs", found[0], detail)
    elsewhere = blobs.nearest(oid, path)
    if elsewhere is None:
        return SourceFile(path=path, state="not_in_commit", blob_path=None, blob=None, detail="")
    detail = "no configuration that can be read as data puts it here"
    return SourceFile(path=path, state="moved", blob_path=elsewhere, blob=oid, detail=detail)


def _of(path: str, state: FileState, found: Found, detail: str) -> SourceFile:
    return SourceFile(
        path=path, state=state, blob_path=found.path, blob=found.entry.oid, detail=detail
    )


def _compared(
    member: Member, found: Found, blobs: _Blobs, *, is_script: bool
) -> tuple[FileState, str]:
    """Compare bytes and executable bit; equal ids alone would trust SHA-1 with it."""
    data = blobs.bytes_of(found.entry.oid)
    if data is None:
        return "missing_object", "the repository lacks this blob"
    if data != member.data and not (is_script and is_script_of(member.data, data)):
        return "differs", _difference(member.data, data)
    if (found.entry.mode == "100755") != member.executable:
        text = "is" if member.executable else "is not"
        return "differs", f"{text} executable, and the commit has it otherwise"
    rewritten = "its first line names no interpreter of a machine, as installers want it"
    return "equals_blob", "" if data == member.data else rewritten


def _difference(data: bytes, blob: bytes | None) -> str:
    if blob is None:
        return "has other bytes"
    if data.replace(b"\r\n", b"\n") == blob.replace(b"\r\n", b"\n"):
        return "has other line ends"
    return f"has other bytes: {len(data)} of them, and {len(blob)} in the commit"

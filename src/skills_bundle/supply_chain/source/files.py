"""Decision: each file of an archive compared with the blobs of a commit.

Files that the build generates are in no commit; these are checked against what they follow from.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Final, NamedTuple

from skills_bundle.archives.canonical import is_script_of
from skills_bundle.bundle import sbom
from skills_bundle.bundle.receipt import RECEIPT_FILE_NAME
from skills_bundle.errors import RepositoryUnavailableError
from skills_bundle.formats import metadata_files
from skills_bundle.formats.digest import git_object_id, recorded_hex
from skills_bundle.git.commit import FILE_MODES
from skills_bundle.supply_chain.source import metadata as source_metadata
from skills_bundle.supply_chain.source.project import Place, SourceProject, Table, table, texts
from skills_bundle.supply_chain.source.report import SourceFile

if TYPE_CHECKING:
    from collections.abc import Callable

    from skills_bundle.archives.model import Member
    from skills_bundle.formats.metadata_files import RecordRow
    from skills_bundle.git.commit import Commit, Found
    from skills_bundle.supply_chain.archive.contents import ArchiveContents
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
    """Return where each blob of the commit lies."""
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
        """Return the bytes of a blob, or None if the repository lacks it."""
        try:
            return self._commit.data(oid)
        except RepositoryUnavailableError:
            return None

    def nearest(self, oid: str, path: str) -> str | None:
        """Return where a blob lies; if it is in several places, the one most like a path."""
        paths = self._paths.get(oid, [])[:ALIKE_MAX]
        return max(paths, key=lambda one: _alike(one, path), default=None)


def _alike(one: str, other: str) -> int:
    """Count the last components that two paths share."""
    pairs = zip(reversed(one.split("/")), reversed(other.split("/")), strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), len(one))


def _find(commit: Commit, place: Place) -> list[Found]:
    return [found for path in place.candidates if (found := commit.file(path)) is not None]


def _generated(path: str, contents: ArchiveContents, project: SourceProject) -> SourceFile:
    found = _check_generated(path, contents, project)
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
    detail = "no readable configuration puts it here"
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
        return "differs", f"{text} executable, unlike in the commit"
    rewritten = "its first line names no machine-specific interpreter, as installers require"
    return "equals_blob", "" if data == member.data else rewritten


def _difference(data: bytes, blob: bytes | None) -> str:
    if blob is None:
        return "has other bytes"
    if data.replace(b"\r\n", b"\n") == blob.replace(b"\r\n", b"\n"):
        return "has other line endings"
    return f"has other bytes: {len(data)}, and {len(blob)} in the commit"


SHOWN: Final = 3
"""Files that a sentence names before it counts the others."""


class Checked(NamedTuple):
    """What was checked of a file that a build makes.

    Attributes:
        holds: Whether what could be checked is right; None if nothing could.
        detail: What that was, or what is wrong.
    """

    holds: bool | None
    detail: str


def _check_generated(path: str, contents: ArchiveContents, project: SourceProject) -> Checked:
    """Check a file that the build makes against what it can be derived from as data.

    Args:
        path: In the archive.
        contents: The distribution.
        project: As the commit holds it.
    """
    checks: dict[str, Callable[[bytes, ArchiveContents, SourceProject], Checked]] = {
        "METADATA": _metadata,
        "PKG-INFO": _metadata,
        "WHEEL": _wheel,
        "RECORD": _record,
        "entry_points.txt": _entry_points,
        RECEIPT_FILE_NAME: _receipt,
    }
    bill = sbom.path(contents.dist_info, contents.identity.name)
    found = _sbom if path == bill else checks.get(posixpath.basename(path), _unknown)
    return found(contents.archive.members[path].data, contents, project)


def _unknown(_data: bytes, _contents: ArchiveContents, _project: SourceProject) -> Checked:
    return Checked(holds=None, detail="generated by the build; nothing was compared")


def _sbom(data: bytes, contents: ArchiveContents, _project: SourceProject) -> Checked:
    state = sbom.state(data, contents.lock.believed, contents.receipt.believed)
    words = {
        "follows": "follows exactly from lock and receipt",
        "not_compared": "not compared: lock or receipt is not valid, or its format is unknown",
    }
    return Checked(state != "differs", words.get(state, "does not follow from lock and receipt"))


def _metadata(data: bytes, contents: ArchiveContents, project: SourceProject) -> Checked:
    found = source_metadata.compare(data, project)
    if found.differing:
        return Checked(holds=False, detail="; ".join(found.differing))
    detail = "name, version and requirements match pyproject.toml"
    if found.not_compared:
        detail += f", but {', '.join(found.not_compared)} is computed by code and was not compared"
    receipt = contents.receipt.believed
    if receipt and receipt.package.metadata_sha256 == contents.identity.metadata_sha256:
        detail += "; its digest matches the receipt"
    return Checked(holds=True, detail=detail)


def _wheel(data: bytes, _contents: ArchiveContents, project: SourceProject) -> Checked:
    made_by = generator(data)
    requires = table(project.document, "build-system").get("requires")
    pins = [row for row in texts(requires) if "==" in row]
    text = f"made by {made_by or 'an unnamed tool'}"
    name, _, version = made_by.partition(" ")
    pin = next((row for row in pins if row.replace(" ", "").startswith(f"{name}==")), None)
    if name and pin is not None:
        same = pin.replace(" ", "").partition(";")[0] == f"{name}=={version}"
        text += ", as pyproject.toml pins it" if same else f", though pyproject.toml pins {pin}"
    return Checked(holds=True, detail=f"{text}; nothing else was compared")


def generator(data: bytes) -> str:
    """Return name and version of the tool that wrote a WHEEL file, "" if it names none."""
    rows = data.decode(errors="replace").splitlines()
    found = (row.partition(":")[2].strip() for row in rows if row.startswith("Generator:"))
    return next(found, "")


def _record(data: bytes, contents: ArchiveContents, _project: SourceProject) -> Checked:
    """Compare RECORD with every member."""
    found = metadata_files.parse_record(data)
    members = contents.archive.members
    own = f"{contents.dist_info}/RECORD"
    wrong = [str(problem.message) for problem in found.problems]
    wrong += [f"lists {path}, which is missing" for path in found.rows if path not in members]
    wrong += [f"does not list {path}" for path in members if path not in found.rows]
    wrong += [
        f"has a different digest or size for {path}"
        for path, row in found.rows.items()
        if path in members and path != own and not _is_of(row, members[path].data)
    ]
    if wrong:
        more = f"; and {len(wrong) - SHOWN} more" if len(wrong) > SHOWN else ""
        return Checked(holds=False, detail="; ".join(wrong[:SHOWN]) + more)
    return Checked(holds=True, detail="lists every member, each with its digest and size")


def _is_of(row: RecordRow, data: bytes) -> bool:
    return row.size in {None, len(data)} and row.digest == recorded_hex(row.algorithm, data)


def _entry_points(data: bytes, _contents: ArchiveContents, project: SourceProject) -> Checked:
    dynamic = texts(project.metadata.get("dynamic"))
    computed = sorted({"scripts", "gui-scripts", "entry-points"}.intersection(dynamic))
    if computed:
        text = f"computed by code: {', '.join(computed)}; nothing was compared"
        return Checked(holds=True, detail=text)
    found = metadata_files.parse_entry_points(data)
    if found is None:
        return Checked(holds=False, detail="tools could read it differently")
    if found == _declared(project.metadata):
        return Checked(holds=True, detail="exactly what pyproject.toml declares")
    return Checked(holds=False, detail="differs from pyproject.toml")


def _declared(metadata: Table) -> Table:
    groups = {
        "console_scripts": table(metadata, "scripts"),
        "gui_scripts": table(metadata, "gui-scripts"),
        **{group: table(metadata, "entry-points", group) for group in _groups(metadata)},
    }
    return {group: rows for group, rows in groups.items() if rows}


def _groups(metadata: Table) -> list[str]:
    return list(table(metadata, "entry-points"))


def _receipt(_data: bytes, contents: ArchiveContents, project: SourceProject) -> Checked:
    """Compare the receipt with the archive, and its claims with the configuration."""
    if contents.receipt.state != "ok" or contents.receipt.value is None:
        told = "; ".join(problem.message for problem in contents.receipt.problems)
        return Checked(holds=False, detail=told or f"is {contents.receipt.state}")
    claims, chosen = contents.receipt.value.asserted, project.settings
    wanted = (chosen.repository, chosen.ref(contents.receipt.value.package.version))
    if (claims.repository, claims.source_ref) != wanted:
        text = "its repository and ref differ from pyproject.toml"
        return Checked(holds=False, detail=text)
    return Checked(holds=True, detail="is consistent with lock, metadata and configuration")

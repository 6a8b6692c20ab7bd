"""Decision: files that a build makes and no commit holds, and what was checked of each instead."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Final, NamedTuple

from skills_bundle.bundle import sbom
from skills_bundle.bundle.receipt import RECEIPT_FILE_NAME
from skills_bundle.formats import entry_points, record_file
from skills_bundle.formats.digest import recorded_hex
from skills_bundle.supply_chain.source import metadata as source_metadata
from skills_bundle.supply_chain.source.layout import Table, table, texts

if TYPE_CHECKING:
    from collections.abc import Callable

    from skills_bundle.formats.record_file import RecordRow
    from skills_bundle.supply_chain.archive.contents import ArchiveContents
    from skills_bundle.supply_chain.source.project import SourceProject

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


def check(path: str, contents: ArchiveContents, project: SourceProject) -> Checked:
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
    return Checked(holds=None, detail="made by the build, and nothing of it was compared")


def _sbom(data: bytes, contents: ArchiveContents, _project: SourceProject) -> Checked:
    state = sbom.state(data, contents.lock.believed, contents.receipt.believed)
    words = {
        "follows": "exactly what lock and receipt give",
        "not_compared": "not compared: lock or receipt cannot be believed, or it has another form",
    }
    return Checked(state != "differs", words.get(state, "is not what lock and receipt give"))


def _metadata(data: bytes, contents: ArchiveContents, project: SourceProject) -> Checked:
    found = source_metadata.compare(data, project)
    if found.differing:
        return Checked(holds=False, detail="; ".join(found.differing))
    detail = "name, version and requirements are those of pyproject.toml"
    if found.not_compared:
        detail += f", but code gives {', '.join(found.not_compared)}, which was not compared"
    receipt = contents.receipt.believed
    if receipt and receipt.package.metadata_sha256 == contents.identity.metadata_sha256:
        detail += "; its digest is the one in the receipt"
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
    return Checked(holds=True, detail=f"{text}; nothing else of it was compared")


def generator(data: bytes) -> str:
    """Give name and version of the tool that wrote a WHEEL file, "" if it names none."""
    rows = data.decode(errors="replace").splitlines()
    found = (row.partition(":")[2].strip() for row in rows if row.startswith("Generator:"))
    return next(found, "")


def _record(data: bytes, contents: ArchiveContents, _project: SourceProject) -> Checked:
    """Compare RECORD with every member."""
    found = record_file.parse(data)
    members = contents.archive.members
    own = f"{contents.dist_info}/RECORD"
    wrong = [str(problem.message) for problem in found.problems]
    wrong += [f"lists {path}, which is not there" for path in found.rows if path not in members]
    wrong += [f"does not list {path}" for path in members if path not in found.rows]
    wrong += [
        f"has another digest or size of {path}"
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
        text = f"code gives {', '.join(computed)}; nothing of it was compared"
        return Checked(holds=True, detail=text)
    found = entry_points.parse(data)
    if found is None:
        return Checked(holds=False, detail="two tools could read it in two ways")
    if found == _declared(project.metadata):
        return Checked(holds=True, detail="exactly what pyproject.toml declares")
    return Checked(holds=False, detail="is not what pyproject.toml declares")


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
        text = "its repository and ref are not those that pyproject.toml configures"
        return Checked(holds=False, detail=text)
    return Checked(holds=True, detail="agrees with itself, lock, metadata and configuration")

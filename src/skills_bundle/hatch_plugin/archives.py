"""Edge: the wheel and the sdist that hatchling wrote, read back and written in canonical form.

Each comes out with the bundle, its receipt, only the files that the build admits, and only names
that the commands that verify would accept: what they would refuse later is not built at all.
"""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections import Counter
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from skills_bundle.archives import model
from skills_bundle.archives.model import Findings, Member, is_script_of
from skills_bundle.archives.names import check_names, install_problems
from skills_bundle.bundle import sbom
from skills_bundle.bundle.lock import LOCK_FILE_NAME
from skills_bundle.bundle.receipt import RECEIPT_FILE_NAME
from skills_bundle.errors import Problem, SettingsError
from skills_bundle.formats import metadata_files
from skills_bundle.git.status import listed
from skills_bundle.hatch_plugin import selection
from skills_bundle.hatch_plugin.receipt import GENERATED, read_candidate
from skills_bundle.hatch_plugin.selection import plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from hatchling.builders.wheel import WheelBuilder

    from skills_bundle.bundle.receipt import BuildReceipt
    from skills_bundle.hatch_plugin.receipt import Build
    from skills_bundle.hatch_plugin.selection import Builder, Candidate
    from skills_bundle.project.settings import Settings

AGENTS: Final = ".agents"
"""The folder of a package in which agents' tools look for skills."""
COMMANDS: Final = ("console_scripts", "gui_scripts")


class FinishedArchive(NamedTuple):
    """A finished archive.

    Attributes:
        data: Its bytes.
        receipt: The receipt in it.
        detail: Why the receipt names no commit; "" if it names one.
        warnings: What the project's authors may not expect, for the build log.
    """

    data: bytes
    receipt: BuildReceipt
    detail: str
    warnings: tuple[str, ...]


def read_wheel(data: bytes) -> dict[str, Member]:
    """Return the members of a wheel that hatchling wrote, under plain names.

    Two spellings of one name are left unchanged, for the build to refuse.
    """
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        spellings = Counter(map(plain, archive.namelist()))
        return {
            plain(info.filename) if spellings[plain(info.filename)] == 1 else info.filename: Member(
                archive.read(info), bool(info.external_attr >> 16 & 0o100)
            )
            for info in archive.infolist()
        }


def read_sdist(data: bytes) -> tuple[str, dict[str, Member | None]]:
    """Return the top folder of an sdist that hatchling wrote, and the members below it.

    A symbolic link's member is None: hatchling stores the link, and its target may exist only on
    this machine. A hard link is the file it is.
    """
    members: dict[str, Member | None] = {}
    top = ""
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:gz") as archive:
        for info in archive:
            top, _, name = info.name.partition("/")
            file = archive.extractfile(info) if info.isfile() or info.islnk() else None
            executable = bool(info.mode & 0o100)
            members[plain(name)] = None if file is None else Member(file.read(), executable)
    return top, members


def finish_sdist(
    build: Build, builder: Builder, build_data: dict[str, Any], archive: bytes
) -> FinishedArchive:
    """Return the sdist in canonical form, with lock, locked files and the receipt at its root.

    Args:
        build: What was prepared before hatchling wrote the archive.
        builder: hatchling's builder.
        build_data: What the hooks left in it.
        archive: The sdist that hatchling wrote.
    """
    root = str(build.root)
    top, members = read_sdist(archive)
    candidates = selection.of_build(builder, build_data)
    shipped = {name: row for name, row in candidates.items() if name in members}
    needed = selection.of_wheel(root, builder.metadata).values()

    def read(candidate: Candidate) -> Member | None:
        return members[candidate.target] or read_candidate(candidate)

    files = build.collect(shipped, read, needed)
    expected = selection.generated_for_sdist(root)
    build.check.check_complete([*candidates, *expected], members)
    # An unpacked sdist contains an earlier PKG-INFO, which is among the candidates.
    generated = {
        name: member
        for name, member in members.items()
        if member and (name in GENERATED or name not in candidates)
    }
    for name, member in generated.items():
        build.check.check_generated(name, member, {**expected, RECEIPT_FILE_NAME: None})
    whole = {**generated, **files}
    _require_portable([f"{top}/{path}" for path in dict.fromkeys([*whole, RECEIPT_FILE_NAME])])
    receipt, detail = build.receipt(files, [], selection.wheel_metadata(root))
    whole = {**whole, RECEIPT_FILE_NAME: Member(receipt.to_bytes())}
    return FinishedArchive(model.write_sdist(whole, top), receipt, detail, (*_left_out(build),))


def finish_wheel(
    build: Build, builder: Builder, build_data: dict[str, Any], archive: bytes
) -> FinishedArchive:
    """Return the wheel in canonical form, with the bundle in its package's `.agents` folder.

    Args:
        build: What was prepared before hatchling wrote the archive.
        builder: hatchling's builder.
        build_data: What the hooks left in it.
        archive: The wheel that hatchling wrote.

    Raises:
        SettingsError: If the package that receives the bundle is not in the wheel, or has a bundle,
            or the project ships a file where the bill of materials goes.
    """
    members = read_wheel(archive)
    dist_info = f"{cast('WheelBuilder', builder).artifact_project_id}.dist-info"
    _require_package(members, build.settings)
    candidates = selection.of_build(builder, build_data)
    files = build.sources(builder.metadata)
    expected = _generated(build, dist_info)
    build.check.check_complete([*candidates, *expected], members)
    admitted: dict[str, Member] = {}
    for name, member in members.items():
        candidate = candidates.get(name)
        if candidate is None:
            build.check.check_generated(name, member, expected)
            admitted[name] = member
        elif kept := build.check.admit(candidate, member):
            admitted[name] = kept
    shipped = {name: candidates[name] for name in admitted if name in candidates}
    receipt, detail = build.receipt(
        files,
        _unlisted(build, shipped, admitted, files),
        members.get(f"{dist_info}/{selection.METADATA}", Member(b"")).data,
    )
    bill = _bill_of_materials(build, receipt, dist_info)
    _require_free(members, bill)
    whole = {**admitted, **_bundle(build, receipt), **bill}
    _require_portable(whole)
    _require_one_installation(whole, dist_info)
    data = model.write_wheel(whole, dist_info, build.settings.compression)
    warnings = (*_left_out(build), *_twice(build, shipped))
    return FinishedArchive(data, receipt, detail, warnings)


def _left_out(build: Build) -> Iterator[str]:
    if paths := sorted(build.check.left_out):
        yield f"left out, because git ignores it: {listed(paths)}"


def _twice(build: Build, shipped: Mapping[str, Candidate]) -> Iterator[str]:
    """Warn of skills that the wheel has as files of a package, too."""
    skills = build.settings.skills
    prefix = "" if skills == "." else f"{skills}/"
    sources = {build.check.relative(candidate.source) for candidate in shipped.values()}
    if any(path.startswith(prefix) and path in sources for path in build.locked):
        yield (
            f"the wheel has the skills twice, as files of the package and in its {AGENTS} folder; "
            f'to ship them once, add exclude = ["{skills}"] to [tool.hatch.build.targets.wheel]'
        )


def _generated(build: Build, dist_info: str) -> dict[str, bytes | None]:
    """Return what hatchling makes from the project's metadata; None for RECORD, written anew."""
    made = selection.generated_for_wheel(str(build.root))
    rows = {f"{dist_info}/{name}": data for name, data in made.items()}
    return {**rows, f"{dist_info}/{selection.RECORD}": None}


def _unlisted(
    build: Build,
    shipped: Mapping[str, Candidate],
    members: Mapping[str, Member],
    files: Mapping[str, Member],
) -> list[str]:
    """Return the members whose bytes are not in a file of the sdist."""
    found: list[str] = []
    for name, candidate in shipped.items():
        original = files.get(build.check.relative(candidate.source) or "")
        data = members[name].data
        same = original is not None and (
            is_script_of(data, original.data) if candidate.is_script else data == original.data
        )
        found += [] if same else [name]
    return found


def _bundle(build: Build, receipt: BuildReceipt) -> dict[str, Member]:
    """Return the members that make up the bundle."""
    top = f"{build.settings.package.replace('.', '/')}/{AGENTS}"
    skills = build.settings.skills
    prefix = "" if skills == "." else f"{skills}/"
    return {
        **{f"{top}/skills/{path}": build.locked[prefix + path] for path in build.lock.files()},
        f"{top}/{LOCK_FILE_NAME}": build.locked[LOCK_FILE_NAME],
        f"{top}/{RECEIPT_FILE_NAME}": Member(receipt.to_bytes()),
    }


def _bill_of_materials(build: Build, receipt: BuildReceipt, dist_info: str) -> dict[str, Member]:
    if not build.settings.sbom:
        return {}
    place = sbom.path(dist_info, receipt.package.name)
    return {place: Member(sbom.make(build.lock, receipt))}


def _require_package(members: Mapping[str, Member], settings: Settings) -> None:
    """Raise unless there is a package to put the bundle into, and it has none yet."""
    folder = settings.package.replace(".", "/")
    place = f"{settings.where}.package"
    if f"{folder}/__init__.py" not in members:
        message = f"the wheel has no {folder}/__init__.py; name a package that it contains"
        problem = Problem(code="no_package", message=message, path=place)
        raise SettingsError("There is no package for the bundle.", (problem,))
    present = [name for name in members if name.startswith(f"{folder}/{AGENTS}/")]
    if present:
        message = f"already contains {present[0]}; the build makes this folder"
        problem = Problem(code="reserved_name", message=message, path=f"{folder}/{AGENTS}")
        raise SettingsError("The package already has a bundle.", (problem,))


def _require_free(members: Mapping[str, Member], bill: Mapping[str, Member]) -> None:
    """Raise if the project ships a bill of materials under the name of ours."""
    for name in bill:
        if name in members:
            message = "the build makes a file of this name; rename yours, or set sbom = false"
            problem = Problem(code="reserved_name", message=message, path=name)
            raise SettingsError("The wheel already has this bill of materials.", (problem,))


def _require_portable(paths: Iterable[str]) -> None:
    """Raise unless every system unpacks the same files from these names."""
    findings = Findings("the archive")
    check_names([*paths], findings)
    _refuse(findings.problems)


def _require_one_installation(members: Mapping[str, Member], dist_info: str) -> None:
    """Raise if a member would replace another, or installers would treat it differently."""
    member = members.get(f"{dist_info}/{selection.ENTRY_POINTS}")
    groups = None if member is None else metadata_files.parse_entry_points(member.data)
    commands = [name for group in COMMANDS for name in (groups or {}).get(group, {})]
    _refuse(tuple(install_problems(members, dist_info, commands)))


def _refuse(problems: tuple[Problem, ...]) -> None:
    if problems:
        summary = "Tools could read this archive differently; rename or exclude files."
        raise SettingsError(summary, problems)

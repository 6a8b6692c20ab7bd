"""Decision: does everything that names a distribution name the same one?

File name, folders, metadata and entry points of an archive, each of which some tool goes by.
"""

from __future__ import annotations

from itertools import islice, product
from typing import TYPE_CHECKING, Final

from skills_bundle.archives import limits
from skills_bundle.archives.names import install_problems
from skills_bundle.bundle.lock import LOCK_FILE_NAME
from skills_bundle.errors import Problem
from skills_bundle.formats import entry_points
from skills_bundle.formats.record_file import DIST_INFO_SUFFIX
from skills_bundle.installed.collections import GROUP
from skills_bundle.installed.distribution import normalised
from skills_bundle.installed.location import BUNDLE_FOLDER
from skills_bundle.supply_chain.archive.contents import metadata_path, named

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skills_bundle.supply_chain.archive.contents import ArchiveContents

WHEEL: Final = "WHEEL"
ENTRY_POINTS: Final = "entry_points.txt"
COMMAND_GROUPS: Final = ("console_scripts", "gui_scripts")
"""Groups of which installers make a script each (PyPA, Entry points specification)."""


def problems(contents: ArchiveContents) -> tuple[Problem, ...]:
    """Give every place that names another distribution, another package or another collection."""
    checks = (_wheel_problems, _entry_point_problems) if _is_wheel(contents) else (_sdist_problems,)
    return tuple(problem for check in checks for problem in check(contents))


def _is_wheel(contents: ArchiveContents) -> bool:
    return contents.archive.kind == "wheel"


def _problem(code: str, message: str, path: str) -> Problem:
    return Problem(code=code, message=message, path=path)


def _sdist_problems(contents: ArchiveContents) -> Iterator[Problem]:
    archive = contents.archive
    yield from _metadata_problems(contents)
    if archive.top != archive.file_name.removesuffix(".tar.gz"):
        yield _problem("top_folder", "is not the folder that the file's name says", archive.top)


def _metadata_problems(contents: ArchiveContents) -> Iterator[Problem]:
    """Compare the metadata with the file's name."""
    place, identity = metadata_path(contents), contents.identity
    if not identity.known:
        yield _problem("no_metadata", "is not there", place)
    elif named(contents.archive.file_name) != (identity.name, _escaped(identity.version)):
        told = f"{identity.name} {identity.version}"
        yield _problem("file_name", f"is of {told}, which the file's name does not say", place)


def _escaped(version: str) -> str:
    """Give a version as file names spell it (PyPA, Binary distribution format)."""
    return version.replace("-", "_")


def _wheel_problems(contents: ArchiveContents) -> Iterator[Problem]:
    archive = contents.archive
    tops = {path.partition("/")[0] for path in archive.members}
    found = sorted(top for top in tops if top.endswith(DIST_INFO_SUFFIX))
    if len(found) != 1:
        listed = ", ".join(found) or "none"
        yield _problem(
            "dist_info", f"needs exactly one .dist-info; there is {listed}", archive.file_name
        )
        return
    yield from _metadata_problems(contents)
    name, _, version = found[0].removesuffix(DIST_INFO_SUFFIX).rpartition("-")
    if (normalised(name), version) != named(archive.file_name):
        yield _problem("file_name", "is not what the file's name says", found[0])
    yield from islice(_place_problems(contents), limits.ARCHIVE_MAX_PROBLEMS)
    if contents.record is None:
        yield _problem("no_record", "is not there", f"{found[0]}/RECORD")
    else:
        yield from contents.record.problems
    if contents.lock.value is not None:  # others' wheels are renamed without further ado
        yield from _tag_problems(contents)


def _place_problems(contents: ArchiveContents) -> Iterator[Problem]:
    """Find what would not be installed as the wheel shows it."""
    commands = [name for group in COMMAND_GROUPS for name in _group(contents, group) or {}]
    return install_problems(contents.archive.members, contents.dist_info, commands)


def _tag_problems(contents: ArchiveContents) -> Iterator[Problem]:
    """Compare the tags, by which installers choose, with those in the file's name."""
    place = f"{contents.dist_info}/{WHEEL}"
    member = contents.archive.members.get(place)
    if member is None:
        yield _problem("no_metadata", "is not there", place)
        return
    parts = contents.archive.file_name.removesuffix(".whl").split("-")
    lines = member.data.decode(errors="replace").splitlines()
    tags = {line.partition(":")[2].strip() for line in lines if line.startswith("Tag:")}
    wanted = {"-".join(one) for one in product(*(part.split(".") for part in parts[-3:]))}
    if len(parts) not in {5, 6} or tags != wanted:
        yield _problem("file_name", "has other tags than the file's name", place)


def _entry_point_problems(contents: ArchiveContents) -> Iterator[Problem]:
    """Compare the entry point, by which a server finds the collection, with what is there."""
    mark = f"/{BUNDLE_FOLDER}/{LOCK_FILE_NAME}"
    for path in contents.archive.members:
        if path.endswith(mark) and path != contents.lock_path:
            yield _problem("second_bundle", "is the lock of a second bundle", path)
    place = f"{contents.dist_info}/{ENTRY_POINTS}"
    declared = _group(contents, GROUP)
    lock = contents.lock.value
    if declared is None:
        yield _problem("entry_point", "cannot be read in one way", place)
    elif lock is not None:
        wanted = {lock.collection: contents.package.replace("/", ".")}
        if declared != wanted:
            name, package = next(iter(wanted.items()))
            message = f"does not say `{name} = {package}`, and that alone, under {GROUP}"
            yield _problem("entry_point", message, place)


def _group(contents: ArchiveContents, group: str) -> dict[str, str] | None:
    """Give what a wheel declares in a group of entry points; None if that cannot be read."""
    member = contents.archive.members.get(f"{contents.dist_info}/{ENTRY_POINTS}")
    if member is None:
        return {}
    found = entry_points.parse(member.data)
    return None if found is None else found.get(group, {})

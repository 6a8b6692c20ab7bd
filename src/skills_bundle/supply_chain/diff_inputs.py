"""Edge: find and read what a user names for a comparison.

A file is a lock, a wheel or an sdist. A folder is an installation (a `.dist-info`, a package with a
bundle, or a site-packages with one such), a project with a lock, or plain files. A bare word is a
collection that is installed beside this program.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from skills_bundle.archives.reading import kind_of, open_archive
from skills_bundle.bundle import limits
from skills_bundle.bundle import lock as locks
from skills_bundle.bundle import receipt as receipts
from skills_bundle.bundle.lock import BUNDLE_FOLDER, LOCK_FILE_NAME, SKILLS_FOLDER
from skills_bundle.bundle.receipt import RECEIPT_FILE_NAME
from skills_bundle.errors import InvalidLockError, InvalidReceiptError
from skills_bundle.files.paths import from_disk, parents
from skills_bundle.files.reading import read_files, read_named, unread, unreadable, walk
from skills_bundle.files.tree import FileTree
from skills_bundle.formats.metadata_files import DIST_INFO_SUFFIX
from skills_bundle.installed import collections, distribution
from skills_bundle.installed.collections import UnknownCollectionError
from skills_bundle.supply_chain.archive.contents import contents_of
from skills_bundle.supply_chain.diff import DiffInput

if TYPE_CHECKING:
    from skills_bundle.bundle.lock import CatalogLock
    from skills_bundle.bundle.receipt import BuildReceipt
    from skills_bundle.installed.distribution import InstalledPackage


def open_input(name: str) -> DiffInput:
    """Find and read one input.

    Args:
        name: A path, or the name of an installed collection.

    Raises:
        UnreadableSideError: If it is missing, of an unknown kind, or cannot be read.
        UnreadableArchiveError: Likewise of an archive.
        UnsafeArchiveError: If it is an archive in which two tools could see different contents.
        UnknownCollectionError: If it is neither a path nor a collection.
    """
    if not name:  # an unset shell variable; Python would read it as the current folder
        raise unreadable("unreadable", "names nothing", "''")
    path = Path(name)
    if path.is_dir():
        return _folder(path, name)
    if kind_of(name) is not None:
        return _archive(path, name)
    if path.exists() or os.sep in name or "/" in name or name.endswith(".json"):
        lock = _read_lock(path, name)
        return DiffInput(kind="lock", place=name, lock=lock, skills=lock.tree())
    try:
        place = collections.find(name)()
    except UnknownCollectionError as error:
        error.add_note(f"There is no file or folder {name!r} either.")
        raise
    return _installation(distribution.of_package(place.site, place.package), name)


def _read_lock(path: Path, name: str) -> CatalogLock:
    try:
        return locks.parse(read_named(path, limits.LOCK_MAX_BYTES))
    except OSError as error:
        raise unreadable("unreadable", f"cannot be read: {error.strerror}", name) from error
    except InvalidLockError as error:
        cause = error.problems[0].message if error.problems else error.summary
        raise unreadable("invalid", f"is not a readable lock: {cause}", name) from error


def _archive(path: Path, name: str) -> DiffInput:
    contents = contents_of(open_archive(path))
    archive, lock = contents.archive, contents.lock.value
    skills = archive.files.below(contents.skills)
    if archive.kind == "sdist":  # a project's skills folder can hold other files as well
        locked = {} if lock is None else lock.files()
        entries = {path: entry for path, entry in skills.items() if path in locked}
        skills = FileTree(entries, skills.read)
    return DiffInput(
        kind=archive.kind,
        place=name,
        files=archive.files,
        skills=skills,
        lock=lock,
        receipt=contents.receipt.value,
        archive=archive,
        metadata=contents.metadata_path,
    )


def _folder(path: Path, name: str) -> DiffInput:
    """Find out what a folder is, and read it."""
    folder = Path(os.path.realpath(path))
    if folder.name.endswith(DIST_INFO_SUFFIX):
        return _installation(distribution.of_dist_info(folder), name)
    if (folder / BUNDLE_FOLDER / LOCK_FILE_NAME).exists():
        return _installation(distribution.around(folder), name)
    if (folder / LOCK_FILE_NAME).is_file():
        return _project(folder, name)
    found = distribution.in_site(folder)
    if len(found) == 1:
        return _installation(found[0], name)
    if found:
        listed = ", ".join(one.dist_info for one in found)
        raise unreadable("several_bundles", f"contains several bundles; name one of {listed}", name)
    tree = read_files(folder, walk(folder), with_mode=True)
    return DiffInput(kind="folder", place=name, files=_readable(tree), unread=unread(tree))


def _readable(tree: FileTree) -> FileTree:
    return FileTree({path: one for path, one in tree.items() if one.kind == "file"}, tree.read)


def _installation(found: InstalledPackage, name: str) -> DiffInput:
    paths = {*walk(found.site, found.package), *found.listed}
    if found.dist_info:
        paths.update(walk(found.site, found.dist_info))
    tree = read_files(found.site, paths, with_mode=False)
    files = _readable(tree)
    bundle = f"{found.package}/{BUNDLE_FOLDER}"
    return DiffInput(
        kind="installation",
        place=name,
        files=files,
        skills=files.below(f"{found.package}/{SKILLS_FOLDER}"),
        lock=_parse_lock(files, f"{bundle}/{LOCK_FILE_NAME}"),
        receipt=_parse_receipt(files, f"{bundle}/{RECEIPT_FILE_NAME}"),
        metadata=f"{found.dist_info}/METADATA" if found.dist_info else "",
        unread=unread(tree),
    )


def _parse_lock(files: FileTree, path: str) -> CatalogLock | None:
    """Parse a lock; None if it is missing or invalid: then its bytes are compared as a file."""
    try:
        return locks.parse(files.read(path)) if path in files else None
    except InvalidLockError:
        return None


def _parse_receipt(files: FileTree, path: str) -> BuildReceipt | None:
    """Parse a receipt; None if it is missing or invalid."""
    try:
        return receipts.parse(files.read(path)) if path in files else None
    except InvalidReceiptError:
        return None


def _project(folder: Path, name: str) -> DiffInput:
    """Read a folder with a lock at its top: its lock, and the locked skills."""
    lock = _read_lock(folder / LOCK_FILE_NAME, f"{name}/{LOCK_FILE_NAME}")
    skills = _skills_folder(folder, lock)
    root = folder / skills if skills else folder
    locked = {skill.path for skill in lock.skills}
    paths = {path for path in walk(root) if not locked.isdisjoint(parents(path))}
    tree = read_files(root, paths | lock.files().keys(), with_mode=True)
    files = _readable(tree)
    return DiffInput(
        kind="project", place=name, files=files, skills=files, lock=lock, unread=unread(tree)
    )


def _skills_folder(folder: Path, lock: CatalogLock) -> str:
    """Return the folder that holds the first locked skill: anywhere below, the nearest first."""
    mark = f"{lock.skills[0].path}/SKILL.md" if lock.skills else ""
    for candidate in ("skills", ""):
        if mark and (folder / candidate / mark).is_file():
            return candidate
    found = [path for path in walk(folder) if mark and path.endswith(f"/{mark}")]
    return from_disk(min(found, key=len).removesuffix(f"/{mark}")) if found else "skills"

"""Edge: what somebody names for a comparison, found and read.

A file is a lock, a wheel or an sdist. A folder is an installation (a `.dist-info`, a package with a
bundle, or a site-packages with one such), a project with a lock, or just files. A bare word is a
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
from skills_bundle.bundle.lock import LOCK_FILE_NAME
from skills_bundle.bundle.receipt import RECEIPT_FILE_NAME
from skills_bundle.errors import InvalidLockError, InvalidReceiptError
from skills_bundle.files import reading
from skills_bundle.files.names import from_disk
from skills_bundle.files.paths import parents
from skills_bundle.files.reading import read_files, unread, unreadable, walk
from skills_bundle.formats.digest import sha256_hex
from skills_bundle.formats.record_file import DIST_INFO_SUFFIX
from skills_bundle.installed import collections, installations
from skills_bundle.installed.collections import UnknownCollectionError
from skills_bundle.installed.location import BUNDLE_FOLDER, SKILLS_FOLDER
from skills_bundle.supply_chain.archive.contents import contents_of
from skills_bundle.supply_chain.diff.model import Item, Side

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skills_bundle.bundle.lock import CatalogLock
    from skills_bundle.bundle.receipt import BuildReceipt
    from skills_bundle.files.tree import FileTree
    from skills_bundle.installed.installations import Found


def open_side(name: str) -> Side:
    """Find and read what somebody named.

    Args:
        name: A path, or the name of an installed collection.

    Raises:
        UnreadableSideError: If there is nothing of the kind, or it cannot be read.
        UnreadableArchiveError: Likewise of an archive.
        UnsafeArchiveError: If it is an archive in which two tools could see two things.
        UnknownCollectionError: If it is no path, and no collection either.
    """
    if not name:  # as of a shell's unset variable: Python would take it for the folder at hand
        raise unreadable("unreadable", "names nothing", "''")
    path = Path(name)
    if path.is_dir():
        return _folder(path, name)
    if kind_of(name) is not None:
        return _archive(path, name)
    if path.exists() or os.sep in name or "/" in name or name.endswith(".json"):
        return _lock_file(path, name)
    try:
        place = collections.find(name)()
    except UnknownCollectionError as error:
        error.add_note(f"There is no file or folder {name!r} either.")
        raise
    found = installations.of_package(place.site, place.package)
    return _installation(found, name)


def _lock_file(path: Path, name: str) -> Side:
    try:
        data = reading.read_named(path, limits.LOCK_MAX_BYTES)
    except OSError as error:
        raise unreadable("unreadable", f"cannot be read: {error.strerror}", name) from error
    lock = _parsed_lock(data, name)
    return Side(kind="lock", place=name, lock=lock, skills=_locked(lock))


def _parsed_lock(data: bytes, name: str) -> CatalogLock:
    try:
        return locks.parse(data)
    except InvalidLockError as error:
        told = error.problems[0].message if error.problems else error.summary
        raise unreadable("invalid", f"is no lock that can be read: {told}", name) from error


def _locked(lock: CatalogLock) -> dict[str, Item]:
    return {
        path: Item(file.size, file.sha256, file.executable) for path, file in lock.files().items()
    }


def _archive(path: Path, name: str) -> Side:
    found = contents_of(open_archive(path))
    files = {
        member: Item(len(row.data), sha256_hex(row.data), row.executable, row.data)
        for member, row in found.archive.members.items()
    }
    skills = _below(files, found.skills)
    if found.lock.value is None:
        skills = skills if found.archive.kind == "wheel" else {}
    elif found.archive.kind == "sdist":  # a skills folder of a project may hold other files, too
        skills = {path: skills[path] for path in found.lock.value.files() if path in skills}
    return Side(
        kind=found.archive.kind,
        place=name,
        files=files,
        skills=skills,
        lock=found.lock.value,
        receipt=found.receipt.value,
        archive=found.archive,
        metadata=found.metadata_path,
    )


def _below(files: Mapping[str, Item], folder: str) -> dict[str, Item]:
    """Give the files of one folder by their path in it."""
    if not folder:
        return dict(files)
    start = f"{folder}/"
    return {
        path.removeprefix(start): item for path, item in files.items() if path.startswith(start)
    }


def _folder(path: Path, name: str) -> Side:
    """Tell what a folder is, and read it."""
    folder = Path(os.path.realpath(path))
    if folder.name.endswith(DIST_INFO_SUFFIX):
        return _installation(installations.of_dist_info(folder), name)
    if (folder / BUNDLE_FOLDER / LOCK_FILE_NAME).exists():
        return _installation(installations.around(folder), name)
    if (folder / LOCK_FILE_NAME).is_file():
        return _project(folder, name)
    found = installations.in_site(folder)
    if len(found) == 1:
        return _installation(found[0], name)
    if found:
        listed = ", ".join(one.dist_info for one in found)
        raise unreadable("several_bundles", f"holds several; name one of {listed}", name)
    tree = read_files(folder, walk(folder), with_mode=True)
    return Side(kind="folder", place=name, files=_items(tree), unread=unread(tree))


def _items(tree: FileTree) -> dict[str, Item]:
    return {
        path: Item(entry.size, entry.sha256, entry.executable, tree.read(path))
        for path, entry in tree.items()
        if entry.size is not None and entry.sha256 is not None
    }


def _installation(found: Found, name: str) -> Side:
    paths = {*walk(found.site, found.package), *found.listed}
    if found.dist_info:
        paths.update(walk(found.site, found.dist_info))
    tree = read_files(found.site, paths, with_mode=False)
    files = _items(tree)
    bundle = f"{found.package}/{BUNDLE_FOLDER}"
    return Side(
        kind="installation",
        place=name,
        files=files,
        skills=_below(files, f"{found.package}/{SKILLS_FOLDER}"),
        lock=_lock_of(files.get(f"{bundle}/{LOCK_FILE_NAME}")),
        receipt=_receipt_of(files.get(f"{bundle}/{RECEIPT_FILE_NAME}")),
        metadata=f"{found.dist_info}/METADATA" if found.dist_info else "",
        unread=unread(tree),
    )


def _lock_of(item: Item | None) -> CatalogLock | None:
    try:
        return None if item is None or item.data is None else locks.parse(item.data)
    except InvalidLockError:
        return None  # its bytes are compared as a file's


def _receipt_of(item: Item | None) -> BuildReceipt | None:
    try:
        return None if item is None or item.data is None else receipts.parse(item.data)
    except InvalidReceiptError:
        return None  # likewise


def _project(folder: Path, name: str) -> Side:
    """Read a folder with a lock at its top: its lock, and the files that it locks."""
    lock = _lock_file(folder / LOCK_FILE_NAME, f"{name}/{LOCK_FILE_NAME}").lock
    if lock is None:
        raise unreadable("invalid", "has no lock that can be read", name)
    skills = _skills_folder(folder, lock)
    root = folder / skills if skills else folder
    locked = {skill.path for skill in lock.skills}
    paths = {path for path in walk(root) if not locked.isdisjoint(parents(path))}
    paths |= lock.files().keys()
    tree = read_files(root, paths, with_mode=True)
    files = _items(tree)
    return Side(
        kind="project", place=name, files=files, skills=files, lock=lock, unread=unread(tree)
    )


def _skills_folder(folder: Path, lock: CatalogLock) -> str:
    """Give the folder in which the first locked skill lies: anywhere below, the nearest first."""
    mark = f"{lock.skills[0].path}/SKILL.md" if lock.skills else ""
    for candidate in ("skills", ""):
        if mark and (folder / candidate / mark).is_file():
            return candidate
    found = [path for path in walk(folder) if mark and path.endswith(f"/{mark}")]
    return from_disk(min(found, key=len).removesuffix(f"/{mark}")) if found else "skills"

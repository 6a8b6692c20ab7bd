"""Decision: how two locks, wheels, sdists, installations or folders differ."""

from __future__ import annotations

import posixpath
from collections import defaultdict
from dataclasses import dataclass, field
from difflib import unified_diff
from email import message_from_string
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from skills_bundle.archives.names import DATA_SUFFIX, INSTALLER_FILES
from skills_bundle.bundle.documents import ProblemRow, problem_rows
from skills_bundle.bundle.lock import LOCK_FILE_NAME
from skills_bundle.bundle.receipt import RECEIPT_FILE_NAME
from skills_bundle.errors import UnsafeFileError
from skills_bundle.files.paths import parents
from skills_bundle.files.tree import FileEntry, FileTree, compare, path_bytes
from skills_bundle.formats.digest import sha256_hex
from skills_bundle.formats.metadata_files import DIST_INFO_SUFFIX, RECORD_FILE_NAME
from skills_bundle.formats.record import Record
from skills_bundle.skills.model import SKILL_MD
from skills_bundle.supply_chain import limits

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from skills_bundle.archives.model import Archive, Entry
    from skills_bundle.bundle.lock import CatalogLock
    from skills_bundle.bundle.receipt import BuildReceipt
    from skills_bundle.errors import Problem
    from skills_bundle.files.tree import FileDifference

InputKind: TypeAlias = Literal["lock", "wheel", "sdist", "installation", "project", "folder"]
"""`project`: a folder with a lock at its top: a source checkout, or exported skills."""

Scope: TypeAlias = Literal["archive", "distribution", "skills", "files"]
"""What two inputs have in common, and is compared.

`archive`: everything two wheels or two sdists hold, and how they store it. `distribution`: what a
wheel installs. `skills`: the skills, by their path below the skills folder. `files`: all files.
"""

DiffVerdict: TypeAlias = Literal["same", "different", "cannot_tell"]
FileChangeKind: TypeAlias = Literal["added", "removed", "changed", "executable"]
"""`changed`: other bytes. `executable`: another executable bit; can come with `changed`."""

INSTALLED_ONLY: Final = INSTALLER_FILES | {RECORD_FILE_NAME, "uv_build.json"}
"""What installers write into a `.dist-info`; RECORD lists these and the byte code."""
_NO_FILE: Final = FileEntry()


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffInput:
    """One of two things to compare.

    Attributes:
        kind: What it is.
        place: As the user named it.
        files: All its files; of a wheel and an installation relative to the folder that holds the
            package. Without those that could not be read.
        skills: The skills, by path below the skills folder; None if nothing says which they are.
        lock: Its lock, if there is a valid one.
        receipt: Its build receipt, if there is a valid one.
        archive: The wheel or sdist.
        metadata: Path of the core metadata among the files; "" if there is none.
        unread: What could not be read.
    """

    kind: InputKind
    place: str
    files: FileTree = field(default_factory=lambda: FileTree({}))
    skills: FileTree | None = None
    lock: CatalogLock | None = None
    receipt: BuildReceipt | None = None
    archive: Archive | None = None
    metadata: str = ""
    unread: tuple[Problem, ...] = ()

    @property
    def skill_files(self) -> FileTree:
        """The skills; all files if nothing says which are skills."""
        return self.files if self.skills is None else self.skills


class InputReport(Record):
    """What was compared: its kind, and where it is."""

    kind: InputKind
    place: str


class Change(Record):
    """One named fact that differs; null if one side does not have it."""

    name: str
    before: str | None
    after: str | None


class FileChange(Record):
    """One file that only one side has, or that differs.

    Attributes:
        path: Below an sdist's top folder.
        kinds: What differs.
        before_size: In bytes; null if the first has no such file. So are all that follow.
        before_sha256: Digest of the bytes.
        before_executable: Whether it has the executable bit; also null if the source does not say.
        after_size: Likewise of the second.
        after_sha256: Likewise.
        after_executable: Likewise.
    """

    path: str
    kinds: tuple[FileChangeKind, ...]
    before_size: int | None
    before_sha256: str | None
    before_executable: bool | None
    after_size: int | None
    after_sha256: str | None
    after_executable: bool | None


class EntryDifference(Record):
    """A file or folder that both archives list and store differently.

    Attributes:
        path: Below an sdist's top folder; a folder's ends in a slash.
        changes: Mode, date, compression and other facts stored beside the bytes.
    """

    path: str
    changes: tuple[Change, ...]


class ArchiveDiff(Record):
    """How two archives of one kind differ.

    Attributes:
        identical: Whether they are the same file, byte for byte.
        same_content: Whether they hold the same files with the same bytes and executable bits.
        members: The files that differ, sorted by path.
        wrapping: Facts of the archive as a whole: name, size, top folder, order and so on.
        entries: Files and folders that both list and store differently, sorted by path.
        folders: Folders that only one of them lists; no installer needs them.
    """

    identical: bool
    same_content: bool
    members: tuple[FileChange, ...]
    wrapping: tuple[Change, ...]
    entries: tuple[EntryDifference, ...]
    folders: tuple[Change, ...]


class TextDifference(Record):
    """The lines in which a file differs, as a unified diff.

    Attributes:
        path: Of the file.
        lines: Without line feeds.
        cut: Whether there are more.
    """

    path: str
    lines: tuple[str, ...]
    cut: bool


class Difference(Record):
    """How two things differ.

    Attributes:
        verdict: `different` also if they hold the same files and store them differently.
            `cannot_tell` if nothing differs in what could be read, but something could not be read.
        exit_code: 0, 1 or 3.
        before: The first.
        after: The second.
        compared: What they have in common.
        same_content: Whether they hold the same files, as far as these could be read.
        skills_added: Paths of skills that only the second has.
        skills_removed: Paths of skills that only the first has.
        skills_changed: Paths of skills that differ.
        files: The files that differ.
        lock: Facts of both locks that differ; empty if one side has no lock.
        receipt: Likewise of the build receipts.
        metadata: Likewise of core metadata and of WHEEL.
        packing: How two archives store their files; null if they are not both wheels or sdists.
        texts: Unified diffs of text files.
        unread: What could not be read.
    """

    verdict: DiffVerdict
    exit_code: Literal[0, 1, 3]
    before: InputReport
    after: InputReport
    compared: Scope
    same_content: bool
    skills_added: tuple[str, ...]
    skills_removed: tuple[str, ...]
    skills_changed: tuple[str, ...]
    files: tuple[FileChange, ...]
    lock: tuple[Change, ...]
    receipt: tuple[Change, ...]
    metadata: tuple[Change, ...]
    packing: ArchiveDiff | None
    texts: tuple[TextDifference, ...]
    unread: tuple[ProblemRow, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as a JSON object."""
        return self.model_dump(mode="json")


def compare_inputs(before: DiffInput, after: DiffInput, *, text: bool = True) -> Difference:
    """Compare two inputs in what they have in common.

    Args:
        before: The first, or older.
        after: The second, or newer.
        text: Whether to return unified diffs of text files.
    """
    scope, old, new = _common(before, after)
    files = compare_files(old, new)
    added, removed, changed = _compare_skills(before, after)
    packing = _compare_packing(before, after)
    lock = _compare_facts(
        _lock_facts(before.lock, after.lock), _lock_facts(after.lock, before.lock)
    )
    receipt = _compare_facts(_receipt_facts(before.receipt), _receipt_facts(after.receipt))
    metadata = [
        change
        for name in ("metadata", "wheel")
        for change in _compare_facts(_metadata_facts(before, name), _metadata_facts(after, name))
    ]
    is_different = any((files, added, removed, changed, lock, receipt, metadata)) or (
        packing is not None and not packing.identical
    )
    unread = (*before.unread, *after.unread)
    return Difference(
        verdict="different" if is_different else "cannot_tell" if unread else "same",
        exit_code=1 if is_different else 3 if unread else 0,
        before=InputReport(kind=before.kind, place=before.place),
        after=InputReport(kind=after.kind, place=after.place),
        compared=scope,
        same_content=not files,
        skills_added=added,
        skills_removed=removed,
        skills_changed=changed,
        files=files,
        lock=lock,
        receipt=receipt,
        metadata=tuple(metadata),
        packing=packing,
        texts=_compare_texts(files, old, new) if text else (),
        unread=problem_rows(unread),
    )


def compare_archives(before: Archive, after: Archive) -> ArchiveDiff:
    """Compare two wheels or two sdists.

    Args:
        before: The given or older one.
        after: The rebuilt or newer one.
    """
    members = compare_files(before.files, after.files)
    first, second = _entries(before), _entries(after)
    both = _sorted(first.keys() & second.keys())
    return ArchiveDiff(
        identical=before.sha256 == after.sha256,
        same_content=not members and before.kind == after.kind and before.top == after.top,
        members=members,
        wrapping=(*_changes(_wrapping(before), _wrapping(after)), *_order_change(first, second)),
        entries=tuple(
            EntryDifference(path=path, changes=changes)
            for path in both
            if (changes := _changes(first[path].facts, second[path].facts))
        ),
        folders=_changes(_folder_facts(first), _folder_facts(second)),
    )


def compare_files(
    before: Mapping[str, FileEntry], after: Mapping[str, FileEntry]
) -> tuple[FileChange, ...]:
    """Compare files by path; an executable bit that one side does not state is not compared."""
    return tuple(map(_file_change, compare(before, after)))


def _file_change(row: FileDifference) -> FileChange:
    before, after = row.expected or _NO_FILE, row.actual or _NO_FILE
    return FileChange(
        path=row.path,
        kinds=tuple(_kinds(row)),
        before_size=before.size,
        before_sha256=before.sha256,
        before_executable=before.executable,
        after_size=after.size,
        after_sha256=after.sha256,
        after_executable=after.executable,
    )


def _kinds(row: FileDifference) -> Iterator[FileChangeKind]:
    if row.expected is None or row.actual is None:
        yield "added" if row.expected is None else "removed"
        return
    if row.state != "executable":
        yield "changed"
    bits = {row.expected.executable, row.actual.executable}
    if bits == {True, False}:
        yield "executable"


def _common(before: DiffInput, after: DiffInput) -> tuple[Scope, FileTree, FileTree]:
    """Choose what to compare, and return it of both."""
    kinds = {before.kind, after.kind}
    if kinds in ({"wheel"}, {"sdist"}):
        return "archive", _renamed(before, after), after.files
    if kinds <= {"wheel", "installation"}:
        return "distribution", _installed(_renamed(before, after)), _installed(after.files)
    if kinds == {"folder"}:
        return "files", before.files, after.files
    return "skills", before.skill_files, after.skill_files


def _renamed(before: DiffInput, after: DiffInput) -> FileTree:
    """Return the first input's files, with metadata folders named as in the second.

    Their names hold the version. Otherwise, for a new version, every file there would appear as
    removed and added.
    """
    one, other = _metadata_stem(before), _metadata_stem(after)
    if not one or not other or one == other:
        return before.files
    names = {f"{one}{end}": f"{other}{end}" for end in (DIST_INFO_SUFFIX, DATA_SUFFIX)}
    old_paths: dict[str, str] = {}
    for path in before.files:
        top, slash, rest = path.partition("/")
        old_paths[f"{names.get(top, top)}{slash}{rest}"] = path
    entries = {path: before.files[old] for path, old in old_paths.items()}
    return FileTree(entries, lambda path: before.files.read(old_paths[path]))


def _metadata_stem(one: DiffInput) -> str:
    """Return the name of the `.dist-info` folder without its suffix, "" if there is none."""
    folder = one.metadata.partition("/")[0]
    return folder.removesuffix(DIST_INFO_SUFFIX) if folder.endswith(DIST_INFO_SUFFIX) else ""


def _installed(files: FileTree) -> FileTree:
    """Return the files without those that an installer writes, or moves elsewhere."""

    def is_kept(path: str) -> bool:
        folder, _, name = path.rpartition("/")
        is_moved = path.partition("/")[0].endswith(DATA_SUFFIX)
        return not is_moved and not (folder.endswith(DIST_INFO_SUFFIX) and name in INSTALLED_ONLY)

    return FileTree({path: files[path] for path in files if is_kept(path)}, files.read)


def _compare_skills(
    before: DiffInput, after: DiffInput
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Return the paths of added, removed and changed skills."""
    if before.kind == after.kind == "folder" and before.skills is None and after.skills is None:
        return (), (), ()
    old, new = _skill_folders(before.skill_files), _skill_folders(after.skill_files)
    rows = compare(before.skill_files, after.skill_files)
    changed = {folder for row in rows for folder in parents(row.path)} & old & new
    return _sorted(new - old), _sorted(old - new), _sorted(changed)


def _skill_folders(files: Iterable[str]) -> set[str]:
    """Return the outermost folders that hold a SKILL.md."""
    found = {path.rpartition("/")[0] for path in files if posixpath.basename(path) == SKILL_MD}
    return {path for path in found if found.isdisjoint(parents(path))}


def _sorted(paths: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(paths, key=path_bytes))


def _compare_packing(before: DiffInput, after: DiffInput) -> ArchiveDiff | None:
    one, other = before.archive, after.archive
    if one is None or other is None or one.kind != other.kind:
        return None
    return compare_archives(one, other)


def _wrapping(archive: Archive) -> dict[str, str]:
    return {
        "kind": archive.kind,
        "file name": archive.file_name,
        "size": str(archive.size),
        "top folder": archive.top,
        **archive.wrapping,
    }


def _entries(archive: Archive) -> dict[str, Entry]:
    prefix = f"{archive.top}/" if archive.top else ""
    return {entry.path.removeprefix(prefix): entry for entry in archive.entries}


def _folder_facts(entries: Mapping[str, Entry]) -> dict[str, str]:
    return {path: "listed" for path in _sorted(entries) if path.endswith("/")}


def _order_change(first: Mapping[str, Entry], second: Mapping[str, Entry]) -> Iterator[Change]:
    """Yield the first path at which the order of entries listed by both differs."""
    pairs = zip(
        (path for path in first if path in second),
        (path for path in second if path in first),
        strict=True,
    )
    for one, other in pairs:
        if one != other:
            yield Change(name="order", before=one, after=other)
            return


def _compare_facts(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[Change, ...]:
    """Compare facts if both have some: an input without a lock does not lack one."""
    return _changes(before, after) if before and after else ()


def _changes(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[Change, ...]:
    """Compare named facts, in the order of the first, then those that only the second has."""
    return tuple(
        Change(name=name, before=before.get(name), after=after.get(name))
        for name in {**before, **after}
        if before.get(name) != after.get(name)
    )


def _lock_facts(lock: CatalogLock | None, other: CatalogLock | None) -> dict[str, str]:
    """Return what a lock states besides files; of skills only if the other lock has them too."""
    if lock is None or other is None:
        return {}
    facts = {
        "collection": lock.collection,
        "sha256": sha256_hex(lock.to_bytes()),
        "dir_hash": lock.digests.dir_hash,
        "git_tree": lock.digests.git_tree,
        "skills": str(len(lock.skills)),
        "files": str(len(lock.files())),
        "unlocked": str(len(lock.unlocked)),
    }
    common = {skill.path for skill in other.skills}
    for skill in lock.skills:
        if skill.path in common:
            facts[f"{skill.path}: description"] = skill.description
            facts[f"{skill.path}: tags"] = ", ".join(skill.tags)
            facts[f"{skill.path}: diagnostics"] = ", ".join(skill.diagnostics)
            facts[f"{skill.path}: frontmatter"] = ", ".join(skill.frontmatter)
    return facts


def _receipt_facts(receipt: BuildReceipt | None) -> dict[str, str]:
    """Return every field of a receipt; of inputs and proof their number."""
    if receipt is None:
        return {}
    facts: dict[str, str] = {}
    document = receipt.model_dump(mode="json")
    for part in ("package", "catalog", "inputs", "asserted", "source"):
        for key, value in document[part].items():
            if value is not None:
                facts[f"{part}.{key}"] = _receipt_text(part, value)
    if receipt.source.proof is not None:
        facts["source.proof"] += " objects"
    return facts


def _receipt_text(part: str, value: str | list[str]) -> str:
    if isinstance(value, str):
        return value
    return ", ".join(value) if part == "package" else str(len(value))


def _metadata_facts(one: DiffInput, name: Literal["metadata", "wheel"]) -> dict[str, str]:
    """Return the fields of core metadata, or those of WHEEL under its name."""
    path, prefix = one.metadata, ""
    if name == "wheel":
        folder = one.metadata.rpartition("/")[0]
        path, prefix = f"{folder}/WHEEL", "WHEEL "
    if path not in one.files:
        return {}
    text = one.files.read(path).decode(errors="replace").replace("\r\n", "\n")
    message = message_from_string(text)
    fields: defaultdict[str, list[str]] = defaultdict(list)
    for key, value in message.items():
        fields[prefix + key].append(value.strip())
    facts = {key: ", ".join(sorted(values)) for key, values in fields.items()}
    body = text.partition("\n\n")[2]
    return {**facts, f"{prefix}Description": f"{len(body)} characters"} if body else facts


def _compare_texts(
    files: Sequence[FileChange], before: FileTree, after: FileTree
) -> tuple[TextDifference, ...]:
    """Return a unified diff of every changed file that is text on both sides, up to a limit."""
    found: list[TextDifference] = []
    left = limits.DIFF_MAX_LINES
    for row in files:
        if "changed" not in row.kinds or left <= 0 or _is_generated(row.path):
            continue
        one, other = _lines(before, row.path), _lines(after, row.path)
        if one is None or other is None:
            continue
        lines = unified_diff(one, other, f"a/{row.path}", f"b/{row.path}", lineterm="")
        shown = [*islice(lines, left + 1)]
        found.append(
            TextDifference(path=row.path, lines=tuple(shown[:left]), cut=len(shown) > left)
        )
        left -= len(shown)
    return tuple(found)


def _is_generated(path: str) -> bool:
    """Return whether a build writes the file: its fields are compared instead, or follow."""
    folder, _, name = path.rpartition("/")
    top = folder.partition("/")[0]
    return name in {LOCK_FILE_NAME, RECEIPT_FILE_NAME} or (
        top.endswith(DIST_INFO_SUFFIX) and (name == RECORD_FILE_NAME or folder != top)
    )


def _lines(tree: FileTree, path: str) -> list[str] | None:
    """Return a text's lines; None if it is not text, or too long to be compared in time."""
    if (tree[path].size or 0) > limits.DIFF_TEXT_MAX_BYTES:
        return None
    try:
        lines = tree.read(path).decode("utf-8").split("\n")
    except (UnicodeDecodeError, UnsafeFileError):  # the second of a lock, which has no bytes
        return None
    if len(lines) > limits.DIFF_TEXT_MAX_LINES or any("\0" in line for line in lines):
        return None
    if lines[-1]:  # as diff prints it
        return [*lines, "\\ No newline at end of file"]
    return lines[:-1]

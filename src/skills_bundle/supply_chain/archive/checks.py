"""Decision: check the names in an archive, and compare its files with whatever lists them.

For a wheel, the lock lists the skills and RECORD every file. For an sdist, the lock lists the
skills and the receipt every file, but with one digest for all of them; the git trees in the
receipt's proof can confirm or refute single files.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from packaging.tags import parse_tag
from packaging.utils import InvalidWheelFilename, canonicalize_version, parse_wheel_filename

from skills_bundle.archives import limits
from skills_bundle.archives.names import install_problems
from skills_bundle.bundle.lock import BUNDLE_FOLDER, ENTRY_POINT_GROUP, LOCK_FILE_NAME
from skills_bundle.bundle.receipt import RECEIPT_FILE_NAME
from skills_bundle.bundle.verification import FileRow
from skills_bundle.errors import Problem
from skills_bundle.files.paths import parents
from skills_bundle.files.tree import FileEntry, FileTree, compare, path_bytes
from skills_bundle.formats import metadata_files
from skills_bundle.formats.digest import TREE_MODE, dir_hash, git_object_id, recorded_hex
from skills_bundle.formats.metadata_files import DIST_INFO_SUFFIX, RECORD_FILE_NAME
from skills_bundle.git import proof
from skills_bundle.git.commit import Commit
from skills_bundle.supply_chain.archive.contents import PKG_INFO, dist_infos, name_and_version

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from skills_bundle.bundle.verification import FileState, Witness
    from skills_bundle.git.commit import Entry
    from skills_bundle.supply_chain.archive.contents import ArchiveContents

COMMAND_GROUPS: Final = ("console_scripts", "gui_scripts")
"""Entry point groups for which installers write scripts (PyPA, Entry points specification)."""
SIGNATURES: Final = frozenset({"RECORD.jws", "RECORD.p7s"})
"""Signatures of RECORD, which cannot list them (PyPA, Binary distribution format)."""
NOT_INPUTS: Final = frozenset({PKG_INFO, RECEIPT_FILE_NAME})
"""Files of an sdist that are not inputs of the receipt; both are checked in other ways."""

_Differences: TypeAlias = dict[str, list[tuple["Witness", "FileState"]]]
_ProofState: TypeAlias = Literal["same", "changed", "unknown"]


def name_problems(contents: ArchiveContents) -> tuple[Problem, ...]:
    """Return every name that belongs to another distribution, package or collection.

    File name, folders, metadata and entry points are compared; some tool relies on each of them.
    """
    checks = [_sdist_problems]
    if contents.archive.kind == "wheel":
        checks = [_wheel_problems, _entry_point_problems]
    return tuple(problem for check in checks for problem in check(contents))


def _problem(code: str, message: str, path: str) -> Problem:
    return Problem(code=code, message=message, path=path)


def _sdist_problems(contents: ArchiveContents) -> Iterator[Problem]:
    archive = contents.archive
    yield from _metadata_problems(contents)
    if archive.top != archive.file_name.removesuffix(".tar.gz"):
        yield _problem("top_folder", "is not the folder named in the file name", archive.top)


def _metadata_problems(contents: ArchiveContents) -> Iterator[Problem]:
    """Compare the metadata with the file name."""
    place, identity = contents.metadata_path, contents.identity
    named = name_and_version(contents.archive.file_name)
    if not identity.known:
        yield _problem("no_metadata", "is missing", place)
    elif named != (identity.name, _normalised(identity.version)):
        message = f"is of {identity.name} {identity.version}, unlike the file name"
        yield _problem("file_name", message, place)


def _normalised(version: str) -> str:
    return canonicalize_version(version, strip_trailing_zero=False)


def _wheel_problems(contents: ArchiveContents) -> Iterator[Problem]:
    archive = contents.archive
    if not contents.dist_info:
        listed = ", ".join(dist_infos(archive)) or "none"
        message = f"must have exactly one .dist-info folder; it has {listed}"
        yield _problem("dist_info", message, archive.file_name)
        return
    yield from _metadata_problems(contents)
    stem = contents.dist_info.removesuffix(DIST_INFO_SUFFIX)
    if name_and_version(f"{stem}-py3-none-any.whl") != name_and_version(archive.file_name):
        yield _problem("file_name", "is not the folder named in the file name", contents.dist_info)
    commands = [name for group in COMMAND_GROUPS for name in _entry_points(contents, group) or {}]
    found = install_problems(archive.members, contents.dist_info, commands)
    yield from islice(found, limits.ARCHIVE_MAX_PROBLEMS)
    if contents.record is None:
        yield _problem("no_record", "is missing", f"{contents.dist_info}/{RECORD_FILE_NAME}")
    else:
        yield from contents.record.problems
    if contents.lock.value is not None:  # wheels of others are often renamed
        yield from _tag_problems(contents)


def _tag_problems(contents: ArchiveContents) -> Iterator[Problem]:
    """Compare the tags, by which installers choose, with those in the file name."""
    place = f"{contents.dist_info}/WHEEL"
    data = contents.archive.read(place)
    if data is None:
        yield _problem("no_metadata", "is missing", place)
        return
    lines = data.decode(errors="replace").splitlines()
    declared = [line.partition(":")[2].strip() for line in lines if line.startswith("Tag:")]
    try:
        tags = frozenset(tag for text in declared for tag in parse_tag(text))
        holds = parse_wheel_filename(contents.archive.file_name)[3] == tags
    except (InvalidWheelFilename, ValueError):
        holds = False
    if not holds:
        yield _problem("file_name", "has other tags than the file name", place)


def _entry_point_problems(contents: ArchiveContents) -> Iterator[Problem]:
    """Compare the entry point, by which a server finds the collection, with what is there."""
    mark = f"/{BUNDLE_FOLDER}/{LOCK_FILE_NAME}"
    for path in contents.archive.members:
        if path.endswith(mark) and path != contents.lock_path:
            yield _problem("second_bundle", "is the lock of a second bundle", path)
    place = f"{contents.dist_info}/entry_points.txt"
    declared = _entry_points(contents, ENTRY_POINT_GROUP)
    lock = contents.lock.value
    if declared is None:
        yield _problem("entry_point", "is malformed: tools read it differently", place)
    elif lock is not None:
        name, package = lock.collection, contents.package.replace("/", ".")
        if declared != {name: package}:
            message = f"does not have `{name} = {package}` as the only entry of {ENTRY_POINT_GROUP}"
            yield _problem("entry_point", message, place)


def _entry_points(contents: ArchiveContents, group: str) -> dict[str, str] | None:
    """Return a group of a wheel's entry points; None if the file is malformed."""
    data = contents.archive.read(f"{contents.dist_info}/entry_points.txt")
    if data is None:
        return {}
    groups = metadata_files.parse_entry_points(data)
    return None if groups is None else groups.get(group, {})


def compare_files(contents: ArchiveContents) -> tuple[FileRow, ...]:
    """Compare every file that is present or expected; sorted by path."""
    files = contents.archive.files
    expected: dict[str, FileEntry] = dict(_locked(contents))
    differences: _Differences = defaultdict(list)
    _compare(differences, "lock", expected, _lockable(contents))
    _compare_metadata(differences, expected, contents)
    if contents.archive.kind == "wheel":
        open_paths = _compare_record(differences, expected, contents)
    else:
        open_paths = _compare_inputs(differences, contents)
    paths = {*files, *expected, *differences}
    rows: list[FileRow] = []
    for path in sorted(paths, key=path_bytes):
        found = differences.get(path, [])
        state: FileState = "unconfirmed" if path in open_paths else "ok"
        wanted, actual = expected.get(path, FileEntry()), files.get(path, FileEntry())
        rows.append(
            FileRow(
                path=path,
                state=found[0][1] if found else state,
                contradicted_by=tuple(dict.fromkeys(witness for witness, _ in found)),
                expected_size=wanted.size,
                expected_sha256=wanted.sha256,
                found_size=actual.size,
                found_sha256=actual.sha256,
            )
        )
    return tuple(rows)


def _compare(
    differences: _Differences,
    witness: Witness,
    expected: Mapping[str, FileEntry],
    actual: Mapping[str, FileEntry],
) -> None:
    """Compare two trees; add each difference, with who expected something else."""
    for row in compare(expected, actual):
        state: FileState = "changed" if row.state == "executable" else row.state
        differences[row.path].append((witness, state))


def locked_files(contents: ArchiveContents) -> FileTree:
    """Return the files that the lock lists, by their path in the archive."""
    return FileTree(_locked(contents))


def _locked(contents: ArchiveContents) -> dict[str, FileEntry]:
    lock = contents.lock.value
    files = {} if lock is None else lock.files()
    return {
        contents.skill_path(path): FileEntry(
            size=file.size, sha256=file.sha256, executable=file.executable
        )
        for path, file in files.items()
    }


def _lockable(contents: ArchiveContents) -> dict[str, FileEntry]:
    """Return the files that the lock should list: in a wheel, all of the bundle's folder."""
    locked = _locked(contents)
    documents = {contents.lock_path, contents.receipt_path}
    is_bundle = contents.archive.kind == "wheel" and contents.lock.value is not None
    return {
        path: entry
        for path, entry in contents.archive.files.items()
        if path in locked
        or (is_bundle and path not in documents and f"/{BUNDLE_FOLDER}/" in f"/{path}")
    }


def _compare_metadata(
    differences: _Differences, expected: dict[str, FileEntry], contents: ArchiveContents
) -> None:
    """Compare the core metadata, of which the receipt has a digest of its own."""
    receipt, found = contents.receipt.value, contents.identity.metadata_sha256
    if receipt is not None and found not in {None, receipt.package.metadata_sha256}:
        path = contents.metadata_path
        expected[path] = FileEntry(sha256=receipt.package.metadata_sha256)
        differences[path].append(("receipt", "changed"))


def _compare_record(
    differences: _Differences, expected: dict[str, FileEntry], contents: ArchiveContents
) -> set[str]:
    """Compare a wheel with its RECORD; return the files that nothing confirms."""
    files = contents.archive.files
    if contents.record is None:
        return files.keys() - _locked(contents).keys()
    exempt = {f"{contents.dist_info}/{name}" for name in {RECORD_FILE_NAME, *SIGNATURES}}
    actual = {path: entry for path, entry in files.items() if path not in exempt}
    recorded: dict[str, FileEntry] = {}
    for path, row in contents.record.rows.items():
        if path in exempt or row.digest is None:
            continue  # without a digest a row confirms nothing
        recorded[path] = FileEntry(size=row.size, sha256=row.sha256)
        if row.algorithm != "sha256":
            recorded[path] = FileEntry(size=row.size, recorded=row.digest)
            if path in actual:
                digest = recorded_hex(row.algorithm, files.read(path))
                actual[path] = replace(actual[path], recorded=digest)
    _compare(differences, "record", recorded, actual)
    for path, entry in recorded.items():
        expected.setdefault(path, entry)
    return set()


def _compare_inputs(differences: _Differences, contents: ArchiveContents) -> set[str]:
    """Compare an sdist with the inputs in its receipt; return the files that nothing confirms."""
    receipt = contents.receipt.value
    files = contents.archive.files
    if receipt is None:
        return files.keys() - _locked(contents).keys()
    known = {path: entry.sha256 for path, entry in _locked(contents).items()}
    known[contents.lock_path] = receipt.catalog.sha256
    executable = frozenset(receipt.inputs.executable)
    listed = {
        path: FileEntry(sha256=known.get(path), executable=path in executable)
        for path in receipt.inputs.files
    }
    unlisted = contents.sdist_only - listed.keys()
    inputs = {path: files[path] for path in files.keys() - NOT_INPUTS - unlisted}
    _compare(differences, "receipt", listed, inputs)
    both = inputs.keys() & listed.keys()
    digests = {path: known.get(path) or files[path].sha256 or "" for path in both}
    if digests.keys() == listed.keys() and dir_hash(digests) == receipt.inputs.dir_hash:
        return set(unlisted)
    states = _ask_proof(contents, FileTree({path: files[path] for path in both}))
    for path in both - known.keys():
        if states[path] == "changed":
            differences[path].append(("receipt", "changed"))
    return {*unlisted, *(path for path in both - known.keys() if states[path] == "unknown")}


def _ask_proof(contents: ArchiveContents, files: FileTree) -> dict[str, _ProofState]:
    """Compare files with the trees in the receipt's proof.

    The trees on the way from the commit to the skills folder name the blobs beside that way, and
    the ids of the folders beside it.
    """
    project = _project_in_proof(contents)
    if project is None:
        return dict.fromkeys(files, "unknown")
    commit, prefix = project
    intact: dict[str, bool] = {}
    states: dict[str, _ProofState] = {}
    for path, entry in files.items():
        named = _entry(commit, prefix + path)
        if named is not None and named.mode.startswith("100"):
            states[path] = "same" if named.oid == entry.git_blob else "changed"
            continue
        for folder in parents(path):
            if folder not in intact:
                tree = _entry(commit, prefix + folder)
                intact[folder] = (
                    tree is not None
                    and tree.mode == TREE_MODE
                    and files.below(folder).git_tree() == tree.oid
                )
        states[path] = "same" if any(intact[folder] for folder in parents(path)) else "unknown"
    return states


def _entry(commit: Commit, path: str) -> Entry | None:
    """Return what the commit has at a path; None if the proof does not reach it."""
    try:
        return commit.entry(path)
    except (KeyError, ValueError):
        return None


def _project_in_proof(contents: ArchiveContents) -> tuple[Commit, str] | None:
    """Return the commit as far as the proof holds it, and the prefix of the project in it."""
    receipt = contents.receipt.value
    source = None if receipt is None else receipt.source
    if source is None or not source.proof or source.commit is None or proof.problems(source):
        return None
    raw = proof.decode(source.proof)
    kinds = ["commit", *["tree"] * (len(raw) - 1)]
    objects = {git_object_id(kind, data): data for kind, data in zip(kinds, raw, strict=True)}
    way = proof.folder_names(source)
    below = contents.skills.count("/") + 1 if contents.skills else 0
    above = way[: max(0, len(way) - below)]
    if any(len(names) != 1 for names in above):
        return None  # folders with equal content: the project could be either
    commit = Commit(source.commit, lambda _kind, oid: objects[oid])
    return commit, "".join(f"{names[0]}/" for names in above)

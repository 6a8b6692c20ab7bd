"""Record: `catalog.lock.json`, what a bundle must contain.

The lock depends on the skills alone: not on commit, time, machine, locale, umask or order. Its
bytes are one deterministic rendering; a file that re-renders differently is refused, so
`sha256sum catalog.lock.json` is the digest every answer carries.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Final, Literal

from pydantic import Field, JsonValue, StringConstraints, ValidationError

from skills_bundle.bundle import limits
from skills_bundle.errors import InvalidLockError, MalformedJsonError, Problem
from skills_bundle.files import limits as file_limits
from skills_bundle.files import paths
from skills_bundle.files.tree import FileEntry, FileTree
from skills_bundle.formats import strict_json
from skills_bundle.formats.digest import TreeEntry, sha256_hex
from skills_bundle.formats.record import ObjectId, Record, Sha256Hex, problems_of
from skills_bundle.skills import limits as skill_limits
from skills_bundle.skills.model import LOCK_FILE_NAME, SKILL_MD

LOCK_VERSION: Final = 1
ENTRY_POINT_GROUP: Final = "skills_bundle.collections"
"""Entry points in which distributions declare their collections; the build hook demands one."""

BUNDLE_FOLDER: Final = ".agents"
"""Folder in a package that holds lock, receipt and skills."""
SKILLS_FOLDER: Final = ".agents/skills"
"""Folder in a package that locked paths are relative to."""

Text = Annotated[str, StringConstraints(min_length=1)]
LockPath = Annotated[
    str, StringConstraints(min_length=1, max_length=file_limits.PATH_MAX_CHARACTERS)
]


class LockedFile(Record):
    """One file that ships. `path` is relative to its skill's folder; `size` is in bytes."""

    path: LockPath
    size: Annotated[int, Field(ge=0, le=skill_limits.SKILL_MAX_BYTES)]
    sha256: Sha256Hex
    executable: bool


class LockedSkill(Record):
    """One skill that ships.

    `path` is its folder below the skills folder. `frontmatter` is every field of the SKILL.md's
    YAML head, in the author's order. `diagnostics` are the codes of what was tolerated. `git_tree`
    is the id git gives the skill's folder with exactly these files.
    """

    name: Text
    path: LockPath
    description: Text
    frontmatter: dict[str, JsonValue]
    tags: tuple[Text, ...]
    git_tree: ObjectId
    diagnostics: tuple[Text, ...]
    files: Annotated[
        tuple[LockedFile, ...], Field(min_length=1, max_length=skill_limits.SKILL_MAX_FILES)
    ]


class UnlockedEntry(Record):
    """What git holds in the skills folder and does not ship; needed to recompute `git_tree`."""

    path: LockPath
    mode: Literal["100644", "100755", "120000", "160000"]
    oid: ObjectId


class Algorithms(Record):
    """What was hashed and how, so that a reviewer with other tools can repeat it."""

    file: Literal["sha256"] = "sha256"
    dir_hash: Literal["go-dirhash-h1-hex"] = "go-dirhash-h1-hex"
    git_tree: Literal["git-sha1-tree"] = "git-sha1-tree"


class Digests(Record):
    """Two digests of the whole: Go's dirhash of the locked files, git's tree of the folder."""

    dir_hash: Sha256Hex
    git_tree: ObjectId


class CatalogLock(Record):
    """A whole lock. Construct with `parse` (bytes) or `bundle.assemble` (skills)."""

    lock_version: Literal[1]
    collection: Text
    algorithms: Algorithms
    digests: Digests
    unlocked: tuple[UnlockedEntry, ...]
    skills: tuple[LockedSkill, ...]

    def to_bytes(self) -> bytes:
        """Return the one rendering: UTF-8, 2-space indent, keys in this order, final newline."""
        return strict_json.pretty(self.model_dump(mode="json"))

    def files(self) -> dict[str, LockedFile]:
        """Return every locked file by its path below the skills folder."""
        return {f"{skill.path}/{file.path}": file for skill in self.skills for file in skill.files}

    def tree(self) -> FileTree:
        """Return the locked files as a tree without bytes."""
        return FileTree(
            {
                path: FileEntry("file", file.size, file.sha256, file.executable)
                for path, file in self.files().items()
            }
        )

    def unlocked_entries(self) -> tuple[TreeEntry, ...]:
        """Return what git holds in the skills folder and does not ship."""
        return tuple(TreeEntry(entry.path, entry.mode, entry.oid) for entry in self.unlocked)


def catalog_sha256(lock_bytes: bytes) -> str:
    """Return the digest in every answer: what `sha256sum` prints for the lock file."""
    return sha256_hex(lock_bytes)


def parse(data: bytes) -> CatalogLock:
    """Read a lock.

    Args:
        data: The file's bytes, at most `limits.LOCK_MAX_BYTES`.

    Raises:
        InvalidLockError: With every problem: not strict JSON, merge-conflict marks, another
            `lock_version`, unknown or missing keys, unsorted or colliding paths, digests that do
            not follow from the entries, or bytes that are not the one rendering.
    """
    try:
        value = strict_json.loads(data, limit=limits.LOCK_MAX_BYTES)
    except MalformedJsonError as error:
        raise _unreadable(data, error) from error
    _refuse_other_version(value)
    try:
        lock = CatalogLock.model_validate_json(data)
    except ValidationError as error:
        raise InvalidLockError("The file is not a valid lock.", problems_of(error)) from error
    problems = rule_problems(lock)
    if problems:
        raise InvalidLockError("The lock is inconsistent.", problems)
    if lock.to_bytes() != data:
        if lock.to_bytes() == data.replace(b"\r\n", b"\n"):
            raise _converted()
        message = "is not in canonical form: it was edited by hand or by a formatter"
        raise _invalid("The lock was not written by `skills-bundle lock`.", "rendering", message)
    return lock


def _invalid(summary: str, code: str, message: str) -> InvalidLockError:
    """Return an error with one problem, which writing a new lock solves."""
    message = f"{message}; run `skills-bundle lock` to write a new one"
    return InvalidLockError(summary, (Problem(code=code, message=message, path=LOCK_FILE_NAME),))


def _converted() -> InvalidLockError:
    """Return the error for converted line ends; a new lock would be converted again."""
    message = (
        "has CRLF line endings; put `catalog.lock.json -text` and `skills/** -text` (with your "
        "skills folder) into .gitattributes and check the files out again"
    )
    problem = Problem(code="lock_line_ends", message=message, path=LOCK_FILE_NAME)
    return InvalidLockError("Git converted the line endings of the lock.", (problem,))


def _unreadable(data: bytes, error: MalformedJsonError) -> InvalidLockError:
    """Return why the bytes are not JSON; a merge conflict is by far the likeliest cause."""
    if any(data.startswith(mark) or b"\n" + mark in data for mark in (b"<<<<<<< ", b">>>>>>> ")):
        return _invalid(
            "The lock cannot be read.", "merge_conflict", "contains merge conflict markers"
        )
    problems = tuple(replace(problem, path=LOCK_FILE_NAME) for problem in error.problems)
    return InvalidLockError("The lock cannot be read.", problems)


def _refuse_other_version(value: JsonValue) -> None:
    """Refuse a lock of another version before its unknown keys become problems."""
    version = value.get("lock_version") if isinstance(value, dict) else None
    if type(version) is int and version != LOCK_VERSION:
        raise _invalid(
            "The lock has an unsupported version.",
            "other_version",
            f"has lock_version {version}, not {LOCK_VERSION}; use the version that wrote it",
        )


def rule_problems(lock: CatalogLock) -> tuple[Problem, ...]:
    """Return what a schema cannot check: order, uniqueness, portable paths, totals, digests."""
    problems = [
        *_order_problems(lock),
        *_path_problems(lock),
        *_unlocked_problems(lock),
        *_size_problems(lock),
    ]
    if not problems:  # digests of a set of paths that is broken would only repeat it
        problems = [*_digest_problems(lock)]
    return tuple(problems)


def _order_problems(lock: CatalogLock) -> list[Problem]:
    rows = [
        ("skills", [skill.path for skill in lock.skills]),
        ("unlocked", [entry.path for entry in lock.unlocked]),
    ]
    rows += [
        (f"skills[{i}].files", [file.path for file in skill.files])
        for i, skill in enumerate(lock.skills)
    ]
    rows += [(f"skills[{i}].tags", list(skill.tags)) for i, skill in enumerate(lock.skills)]
    rows += [
        (f"skills[{i}].diagnostics", list(skill.diagnostics)) for i, skill in enumerate(lock.skills)
    ]
    return [
        Problem(code="order", message="must be sorted by bytes, without duplicates", path=place)
        for place, values in rows
        if values != sorted(set(values), key=str.encode)
    ]


def _path_problems(lock: CatalogLock) -> list[Problem]:
    problems = [
        Problem(code=code, message=f"{path!r}: {message}", path="skills")
        for path in lock.files()
        for code, message in paths.problems(path)
    ]
    problems += [
        Problem(
            code="path_collision",
            message=f"{one!r} and {other!r} are the same path on some systems",
            path="skills",
        )
        for one, other in paths.collisions(lock.files())
    ]
    for i, skill in enumerate(lock.skills):
        if not any(file.path == SKILL_MD for file in skill.files):
            problems.append(
                Problem(code="no_skill_md", message="has no SKILL.md", path=f"skills[{i}].files")
            )
    problems += [
        Problem(
            code="nested_skill",
            message=f"{inner!r} is inside another locked skill",
            path="skills",
        )
        for inner in _nested([skill.path for skill in lock.skills])
    ]
    return problems


def _unlocked_problems(lock: CatalogLock) -> list[Problem]:
    """Refuse what git cannot hold beside the locked files: its tree could not be computed."""
    locked = set(lock.files())
    known = locked | {entry.path for entry in lock.unlocked}
    folders = {folder for path in known for folder in paths.parents(path)}
    problems: list[Problem] = []
    for entry in lock.unlocked:
        if not {"", ".", ".."}.isdisjoint(entry.path.split("/")):
            message = f"{entry.path!r} is not a path in a git tree"
            problems.append(Problem(code="unlocked_path", message=message, path="unlocked"))
        if entry.path in locked or entry.path in folders:
            message = f"{entry.path!r} is also locked, or a folder"
            problems.append(Problem(code="unlocked_conflict", message=message, path="unlocked"))
    problems += [
        Problem(code="unlocked_conflict", message=f"{path!r} is also a folder", path="unlocked")
        for path in sorted(locked & folders)
    ]
    return problems


def _nested(skill_paths: list[str]) -> list[str]:
    known = set(skill_paths)
    return [path for path in skill_paths if any(parent in known for parent in paths.parents(path))]


def _size_problems(lock: CatalogLock) -> list[Problem]:
    return [
        Problem(
            code="skill_too_large",
            message=f"more than {skill_limits.SKILL_MAX_BYTES} bytes",
            path=f"skills[{i}]",
        )
        for i, skill in enumerate(lock.skills)
        if sum(file.size for file in skill.files) > skill_limits.SKILL_MAX_BYTES
    ]


def _digest_problems(lock: CatalogLock) -> list[Problem]:
    """Recompute what the lock's own entries determine.

    `git_tree` cannot be recomputed from the lock alone: it holds SHA-256 digests of files, git's
    tree holds SHA-1 object ids. `documents.check_trees` checks it where the bytes are known.
    """
    found = lock.tree().dir_hash()
    if found == lock.digests.dir_hash:
        return []
    return [
        Problem(
            code="dir_hash", message=f"computed from the entries: {found}", path="digests.dir_hash"
        )
    ]

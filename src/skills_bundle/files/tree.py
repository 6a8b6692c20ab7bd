"""Record: a tree of files, from any source, and the one comparison of two trees.

A folder, a commit, a lock, an installation, a wheel and an sdist all become a `FileTree`. What one
source does not state (a lock has no bytes, a disk on Windows no executable bit) is None and is
not compared. Equal files give equal digests, wherever the tree came from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal

from skills_bundle.errors import UnsafeFileError, UnsafeFileKind
from skills_bundle.files.paths import parents
from skills_bundle.formats import strict_json
from skills_bundle.formats.digest import (
    TreeEntry,
    dir_hash,
    git_object_id,
    git_tree_id,
    sha256_hex,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator
    from typing import Self

    from pydantic import JsonValue

FileKind = Literal["file"] | UnsafeFileKind
"""`file`: a regular file that was read. Else the kind of the `UnsafeFileError` that kept it from
being read."""

DifferenceState = Literal[
    "missing", "extra", "changed", "executable", "linked", "not_regular", "unreadable"
]
"""How the actual file differs from the expected one.

`changed`: other bytes. `executable`: the same bytes with another executable bit. `linked`: it, or
a folder on the way, is a link. `not_regular`: a folder, pipe, socket or device. `unreadable`: the
system refuses to read it, so it may hold anything.
"""

FOLDER_MODE: Final = 0o755
FILE_MODE: Final = 0o644
EXECUTABLE_MODE: Final = 0o755


@dataclass(frozen=True, slots=True)
class FileEntry:
    """One file.

    Attributes:
        kind: `file`, or why it was not read.
        size: In bytes; None if unknown.
        sha256: Digest of the bytes as hex; None if unknown.
        executable: Whether its owner may run it; None where the source does not say.
        git_blob: Git's object id of the bytes; None unless computed.
        recorded: Digest by the algorithm that RECORD uses for this file, where that is not SHA-256.
    """

    kind: FileKind = "file"
    size: int | None = None
    sha256: str | None = None
    executable: bool | None = None
    git_blob: str | None = None
    recorded: str | None = None

    @classmethod
    def of(cls, data: bytes, *, executable: bool | None = None) -> Self:
        """Return the entry of a regular file with these bytes, git's object id included."""
        return cls("file", len(data), sha256_hex(data), executable, git_object_id("blob", data))


@dataclass(frozen=True, slots=True)
class FileDifference:
    """One path at which two trees differ.

    Attributes:
        path: In both trees.
        state: How they differ.
        expected: What was expected; None if the path was not.
        actual: What was found; None if nothing was.
    """

    path: str
    state: DifferenceState
    expected: FileEntry | None
    actual: FileEntry | None


class FileTree(Mapping[str, FileEntry]):
    """Files by their path, sorted by the UTF-8 bytes of the path.

    Args:
        entries: By path below the root, `/` between components.
        read: Returns the bytes of a path; None if the source holds no bytes, as a lock does.
    """

    __slots__ = ("_entries", "_read")

    def __init__(
        self, entries: Mapping[str, FileEntry], read: Callable[[str], bytes] | None = None
    ) -> None:
        """Sort the entries; nothing is read."""
        self._entries = {path: entries[path] for path in sorted(entries, key=path_bytes)}
        self._read = read

    @classmethod
    def from_bytes(
        cls, contents: Mapping[str, bytes], executable: Container[str] | None = None
    ) -> Self:
        """Make a tree of files in memory.

        Args:
            contents: Bytes by path.
            executable: Paths of files that are executable; None if the source does not say.
        """
        entries = {
            path: FileEntry.of(data, executable=None if executable is None else path in executable)
            for path, data in contents.items()
        }
        return cls(entries, contents.__getitem__)

    def __getitem__(self, path: str) -> FileEntry:
        """Return one entry."""
        return self._entries[path]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the paths in order."""
        return iter(self._entries)

    def __len__(self) -> int:
        """Return the number of files."""
        return len(self._entries)

    def __repr__(self) -> str:
        """Return the number of files; the paths may be thousands."""
        return f"<FileTree of {len(self)} files>"

    def read(self, path: str) -> bytes:
        """Read one file. The bytes are read now, so compare their digest with the entry's.

        Raises:
            KeyError: If the tree has no such file.
            UnsafeFileError: If the source holds no bytes, or the file cannot be read any more.
        """
        if path not in self._entries:
            raise KeyError(path)
        if self._read is None:
            raise UnsafeFileError("unreadable", path)
        return self._read(path)

    def below(self, prefix: str) -> FileTree:
        """Return the files below a folder, with paths relative to it; "" returns the whole tree.

        Args:
            prefix: The folder's path, with or without a final slash.
        """
        start = f"{prefix.rstrip('/')}/" if prefix else ""
        entries = {
            path.removeprefix(start): entry
            for path, entry in self._entries.items()
            if path.startswith(start)
        }
        read = self._read
        return FileTree(entries, None if read is None else lambda path: read(start + path))

    def with_modes_of(self, other: Mapping[str, FileEntry]) -> FileTree:
        """Return this tree with the executable bits of another, where that states them.

        An installation's disk may have lost the bit, so the lock is the authority on it.
        """
        entries = {
            path: replace(entry, executable=other[path].executable)
            if path in other and other[path].executable is not None
            else entry
            for path, entry in self._entries.items()
        }
        return FileTree(entries, self._read)

    def dir_hash(self) -> str:
        """Return Go's `dirhash` h1 of all files, as hex.

        Raises:
            ValueError: If a file was not read.
        """
        return dir_hash({path: _digest(path, entry) for path, entry in self.items()})

    def package_sha256(self) -> str:
        """Return the package-tree digest: SHA-256 over `path NUL digest LF` of every file.

        Raises:
            ValueError: If a file was not read.
        """
        rows = (f"{path}\0{_digest(path, entry)}\n" for path, entry in self.items())
        return sha256_hex("".join(rows).encode())

    def git_tree(self, others: Iterable[TreeEntry] = ()) -> str:
        """Return the id that git gives a folder with these files.

        Args:
            others: What else git holds in the folder.

        Raises:
            ValueError: If a file has no blob id or executable bit, or if two paths clash.
        """
        entries: list[TreeEntry] = []
        for path, entry in self.items():
            if entry.git_blob is None or entry.executable is None:
                raise ValueError(f"{path} has no known git object")
            mode = "100755" if entry.executable else "100644"
            entries.append(TreeEntry(path, mode, entry.git_blob))
        return git_tree_id([*entries, *others])

    def content_identity(self, *, collection: str, skill: str | None = None) -> str:
        """Return the content identity (`sha256-observation-v1`) of a collection or a skill.

        Files have the mode 0644, or 0755 if they are executable; folders and the root 0755.

        Args:
            collection: Name of the collection.
            skill: Name of the skill that this tree is; None if it is the whole collection.

        Raises:
            ValueError: If a file was not read, or its executable bit is unknown.
        """
        subject: dict[str, JsonValue] = {
            "scope": "collection" if skill is None else "skill",
            "collection": collection,
            "skill": skill,
        }
        rows: dict[str, JsonValue] = {
            folder: {"path": folder, "type": "directory", "mode": FOLDER_MODE}
            for path in self
            for folder in parents(path)
        }
        rows |= {path: _observed(path, entry) for path, entry in self.items()}
        inventory: dict[str, JsonValue] = {
            "root_mode": FOLDER_MODE,
            "entries": [rows[path] for path in sorted(rows, key=path_bytes)],
        }
        return sha256_hex(strict_json.compact({"subject": subject, "inventory": inventory}))


def _observed(path: str, entry: FileEntry) -> JsonValue:
    if entry.executable is None:
        raise ValueError(f"{path}: whether it is executable is unknown")
    return {
        "path": path,
        "type": "file",
        "mode": EXECUTABLE_MODE if entry.executable else FILE_MODE,
        "size": entry.size,
        "sha256": _digest(path, entry),
    }


def _digest(path: str, entry: FileEntry) -> str:
    if entry.kind != "file" or entry.sha256 is None:
        raise ValueError(f"{path} was not read")
    return entry.sha256


def compare(
    expected: Mapping[str, FileEntry], actual: Mapping[str, FileEntry]
) -> tuple[FileDifference, ...]:
    """Compare two trees, file by file; a fact that one side does not state is not compared.

    Returns:
        Every path that differs, sorted by its UTF-8 bytes; nothing if the trees agree.
    """
    differences: list[FileDifference] = []
    for path in sorted(expected.keys() | actual.keys(), key=path_bytes):
        wanted, found = expected.get(path), actual.get(path)
        state = difference(wanted, found)
        if state is not None:
            differences.append(FileDifference(path, state, wanted, found))
    return tuple(differences)


def difference(expected: FileEntry | None, actual: FileEntry | None) -> DifferenceState | None:
    """Return how a file differs from what was expected, or None if it does not."""
    if actual is None or actual.kind == "missing":
        return None if expected is None else "missing"
    if actual.kind == "unreadable" or (expected is not None and expected.kind == "unreadable"):
        return "unreadable"
    return "extra" if expected is None else _contradiction(expected, actual)


def _contradiction(expected: FileEntry, actual: FileEntry) -> DifferenceState | None:
    if actual.kind == "linked" or actual.kind == "not_regular":  # noqa: PLR1714 - narrows the type
        return actual.kind
    facts = [
        (expected.size, actual.size),
        (expected.sha256, actual.sha256),
        (expected.recorded, actual.recorded),
    ]
    if actual.kind != "file" or any(_contradict(*pair) for pair in facts):
        return "changed"
    return "executable" if _contradict(expected.executable, actual.executable) else None


def _contradict(one: object, other: object) -> bool:
    return one is not None and other is not None and one != other


def path_bytes(path: str) -> bytes:
    """Return a path's UTF-8 bytes, the sort key of every list of files."""
    return path.encode("utf-8", "surrogatepass")

"""Decision: how two archives differ: in what they hold, and in how they keep it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from skills_bundle.formats.digest import sha256_hex
from skills_bundle.formats.record import Record

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skills_bundle.archives.model import Archive, Entry, Member

MemberKind: TypeAlias = Literal["added", "removed", "changed", "executable"]
"""`changed`: other bytes. `executable`: the executable bit; may come with `changed`."""


class Change(Record):
    """One named fact that two things have differently; null where one has it not."""

    name: str
    before: str | None
    after: str | None


class MemberDifference(Record):
    """One file that only one archive holds, or that both hold differently.

    Attributes:
        path: Below an sdist's top folder.
        kinds: What differs.
        before_size: In bytes; null if the first archive has no such file. So are all that follow.
        before_sha256: Digest of the bytes.
        before_executable: Whether it has the executable bit.
        after_size: Likewise of the second archive.
        after_sha256: Likewise.
        after_executable: Likewise.
    """

    path: str
    kinds: tuple[MemberKind, ...]
    before_size: int | None
    before_sha256: str | None
    before_executable: bool | None
    after_size: int | None
    after_sha256: str | None
    after_executable: bool | None


class EntryDifference(Record):
    """A file or folder that both archives list and keep differently.

    Attributes:
        path: Below an sdist's top folder; a folder's ends in a slash.
        changes: Mode, date, compression and whatever else is kept beside the bytes.
    """

    path: str
    changes: tuple[Change, ...]


class ArchiveDiff(Record):
    """The difference of two archives of one kind.

    Attributes:
        identical: Whether they are the same file, byte for byte.
        same_content: Whether they hold the same files with the same bytes and executable bits.
        members: What they hold differently, sorted by path.
        wrapping: What holds of the archive as a whole: name, size, top folder, order and so on.
        entries: What they keep differently of files and folders that both list, sorted by path.
        folders: Folders that only one of them lists; no installer needs them.
    """

    identical: bool
    same_content: bool
    members: tuple[MemberDifference, ...]
    wrapping: tuple[Change, ...]
    entries: tuple[EntryDifference, ...]
    folders: tuple[Change, ...]

    def to_dict(self) -> dict[str, Any]:
        """Give everything as a JSON object."""
        return self.model_dump(mode="json")


def compare_archives(before: Archive, after: Archive) -> ArchiveDiff:
    """Compare two wheels or two sdists.

    Args:
        before: The one that is given, or older.
        after: The one that was made anew, or newer.
    """
    members = compare_members(before.members, after.members)
    first, second = _entries(before), _entries(after)
    return ArchiveDiff(
        identical=before.sha256 == after.sha256,
        same_content=not members and before.kind == after.kind and before.top == after.top,
        members=members,
        wrapping=changes(_wrapping(before), _wrapping(after), _order(first, second)),
        entries=tuple(
            EntryDifference(path=path, changes=found)
            for path in _sorted(first.keys() & second.keys())
            if (found := changes(first[path].facts, second[path].facts))
        ),
        folders=tuple(_folders(first, second)),
    )


def compare_members(
    before: Mapping[str, Member], after: Mapping[str, Member]
) -> tuple[MemberDifference, ...]:
    """Compare files by path: which came, went, or have other bytes or another executable bit."""
    return tuple(
        _difference(path, before.get(path), after.get(path))
        for path in _sorted(before.keys() | after.keys())
        if before.get(path) != after.get(path)
    )


def _difference(path: str, before: Member | None, after: Member | None) -> MemberDifference:
    return MemberDifference(
        path=path,
        kinds=_kinds(before, after),
        before_size=None if before is None else len(before.data),
        before_sha256=None if before is None else sha256_hex(before.data),
        before_executable=None if before is None else before.executable,
        after_size=None if after is None else len(after.data),
        after_sha256=None if after is None else sha256_hex(after.data),
        after_executable=None if after is None else after.executable,
    )


def _kinds(before: Member | None, after: Member | None) -> tuple[MemberKind, ...]:
    if before is None:
        return ("added",)
    if after is None:
        return ("removed",)
    kinds: list[MemberKind] = ["changed"] if before.data != after.data else []
    return (*kinds, "executable") if before.executable != after.executable else tuple(kinds)


def changes(
    before: Mapping[str, str], after: Mapping[str, str], *more: Change
) -> tuple[Change, ...]:
    """Compare named facts, in the order in which the first has them, then the second's own."""
    return tuple(
        Change(name=name, before=before.get(name), after=after.get(name))
        for name in {**before, **after}
        if before.get(name) != after.get(name)
    ) + tuple(change for change in more if change.before != change.after)


def _wrapping(archive: Archive) -> dict[str, str]:
    return {
        "kind": archive.kind,
        "file name": archive.file_name,
        "size": str(archive.size),
        "top folder": archive.top,
        **archive.wrapping,
    }


def _order(first: Mapping[str, Entry], second: Mapping[str, Entry]) -> Change:
    """Say where the order of what both list begins to differ."""
    common = zip(
        (path for path in first if path in second),
        (path for path in second if path in first),
        strict=True,
    )
    one, other = next((pair for pair in common if pair[0] != pair[1]), ("", ""))
    return Change(name="order", before=one, after=other)


def _entries(archive: Archive) -> dict[str, Entry]:
    prefix = f"{archive.top}/" if archive.top else ""
    return {entry.path.removeprefix(prefix): entry for entry in archive.entries}


def _folders(first: Mapping[str, Entry], second: Mapping[str, Entry]) -> list[Change]:
    return [
        Change(
            name=path,
            before="listed" if path in first else None,
            after="listed" if path in second else None,
        )
        for path in _sorted(first.keys() ^ second.keys())
        if path.endswith("/")
    ]


def _sorted(paths: set[str]) -> list[str]:
    return sorted(paths, key=str.encode)

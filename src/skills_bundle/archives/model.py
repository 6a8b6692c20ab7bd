"""Record: a wheel or sdist as it was read: its files, and how it keeps them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

ArchiveKind: TypeAlias = Literal["wheel", "sdist"]
Compression: TypeAlias = Literal["stored", "deflated"]


@dataclass(frozen=True, slots=True)
class Member:
    """One regular file of an archive.

    Attributes:
        data: The bytes.
        executable: Whether it is written as 0755 or 0644; no other bit survives.
    """

    data: bytes = field(repr=False)
    executable: bool = False

    @property
    def permissions(self) -> int:
        """The one mode such a member has."""
        return 0o755 if self.executable else 0o644


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """How an archive keeps one file or folder.

    Attributes:
        path: As the archive spells it, an sdist's top folder included; folders end in a slash.
        facts: What is said of it besides its bytes, by name: mode, date, compression and so on,
            each as text for people. Two archives are compared by them; nothing is decided by them.
    """

    path: str
    facts: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Archive:
    """A whole wheel or sdist in which no confusion was found.

    Attributes:
        kind: Which of both.
        file_name: Without folders.
        sha256: Digest of the file's bytes.
        size: Of the file, in bytes.
        top: An sdist's top folder; "" for a wheel.
        members: Regular files by path below `top`, sorted by the bytes of the path.
        entries: Everything that the archive lists, in its order.
        wrapping: What is said of the archive as a whole, by name, as for `Entry.facts`.
        canonical: Whether it is, byte for byte, what `canonical` writes for these members; `partly`
            if that holds of some of its parts alone, as after a change to a finished archive.
    """

    kind: ArchiveKind
    file_name: str
    sha256: str
    size: int
    top: str
    members: Mapping[str, Member]
    entries: tuple[Entry, ...] = ()
    wrapping: Mapping[str, str] = field(default_factory=dict[str, str])
    canonical: Literal["yes", "no", "partly"] = "no"

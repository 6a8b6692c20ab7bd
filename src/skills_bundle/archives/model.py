"""Record: a wheel or sdist, the problems found in it, and the form in which a build writes it.

The bytes that `write_wheel` and `write_sdist` return depend only on the members and their modes:
not on zlib (nothing is compressed unless the project asks for it), the operating system, the clock
or `SOURCE_DATE_EPOCH`.
"""

from __future__ import annotations

import base64
import csv
import io
import re
import struct
import tarfile
import zipfile
import zlib
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from skills_bundle.archives import limits
from skills_bundle.errors import Problem, UnsafeArchiveError
from skills_bundle.files.paths import shown
from skills_bundle.files.tree import FileEntry, FileTree
from skills_bundle.formats.digest import sha256_hex

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

ArchiveKind: TypeAlias = Literal["wheel", "sdist"]
Compression: TypeAlias = Literal["stored", "deflated"]

ZIP_DATE: Final = (1980, 1, 1, 0, 0, 0)
"""The earliest date a zip can hold."""
TAR_TIME: Final = 315_532_800
"""The same instant, in seconds since 1970: tools that zip an unpacked sdist refuse earlier ones."""
UNIX: Final = 3
REGULAR: Final = 0o100000
STORED_BLOCK: Final = 0xFFFF
"""Bytes in the largest stored block (RFC 1951, section 3.2.4)."""
GZIP_HEAD: Final = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
"""No name, time 0, unknown system (RFC 1952)."""
_PYTHON_SHEBANG: Final = re.compile(rb"#!.*(?:pythonw?|pypyw?)[0-9.]*(.*)", re.DOTALL)
"""The first line that hatchling rewrites; what follows the interpreter is kept."""


@dataclass(frozen=True, slots=True)
class Member:
    """A regular file of an archive.

    Attributes:
        data: The bytes.
        executable: Whether it is written with mode 0755 or 0644; other mode bits are not kept.
    """

    data: bytes = field(repr=False)
    executable: bool = False

    @property
    def permissions(self) -> int:
        """The mode the build writes: 0o755 or 0o644."""
        return 0o755 if self.executable else 0o644


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """How an archive stores one file or folder.

    Attributes:
        path: As the archive spells it, including an sdist's top folder; folders end in a slash.
        facts: What the archive records besides the bytes (mode, date, compression, ...), by name,
            as text for people. Comparisons print them; no check depends on them.
    """

    path: str
    facts: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Archive:
    """A wheel or sdist that every tool reads the same way.

    Attributes:
        kind: `wheel` or `sdist`.
        file_name: Without folders.
        sha256: Digest of the archive file.
        size: Size of the archive file, in bytes.
        top: The top folder of an sdist; "" for a wheel.
        members: Regular files by path below `top`, sorted by the bytes of the path.
        entries: Everything the archive lists, in its order.
        wrapping: Facts about the archive as a whole, by name, like `Entry.facts`.
        canonical: `yes` if the bytes are those that a build writes for these members, `partly`
            if this holds for only some of the members, as when a finished archive was edited.
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

    @cached_property
    def files(self) -> FileTree:
        """The members as a tree of files."""
        entries = {
            path: FileEntry.of(member.data, executable=member.executable)
            for path, member in self.members.items()
        }
        return FileTree(entries, lambda path: self.members[path].data)

    def read(self, path: str) -> bytes | None:
        """Return the bytes of a member; None if there is no such member."""
        member = self.members.get(path)
        return None if member is None else member.data


class Findings:
    """Collects the problems of an archive, up to a limit, in the order they are found.

    Args:
        file_name: The archive's, without folders.
    """

    def __init__(self, file_name: str) -> None:
        """Start with no problems."""
        self.file_name = file_name
        self._problems: list[Problem] = []
        self._omitted = 0

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The problems found so far, up to the limit."""
        return tuple(self._problems)

    def add(self, code: str, message: str, member: str | None = None) -> None:
        """Add a problem of one member, or of the archive as a whole."""
        if len(self._problems) >= limits.ARCHIVE_MAX_PROBLEMS:
            self._omitted += 1
            return
        place = self.file_name if member is None else shown(member)
        self._problems.append(Problem(code=code, message=message, path=place))

    def refuse(self) -> None:
        """Raise `UnsafeArchiveError` with every problem found so far, if there are any."""
        if not self._problems:
            return
        problems = self.problems
        if self._omitted:
            message = f"and {self._omitted} more"
            problems += (Problem(code="more_problems", message=message, path=self.file_name),)
        raise UnsafeArchiveError(self.file_name, problems)


def write_wheel(members: Mapping[str, Member], dist_info: str, compression: Compression) -> bytes:
    """Return a wheel: members sorted by bytes, metadata last as PEP 427 advises, with a new RECORD.

    Args:
        members: By path; a RECORD among them is replaced.
        dist_info: Name of the `.dist-info` folder.
        compression: With `deflated` the bytes depend on the installed zlib.
    """
    *names, record = order_of_wheel(members, dist_info)
    whole = {name: members[name] for name in names}
    whole[record] = Member(_record(whole, record))
    buffer = io.BytesIO()
    method = zipfile.ZIP_DEFLATED if compression == "deflated" else zipfile.ZIP_STORED
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, member in whole.items():
            info = zipfile.ZipInfo(name, ZIP_DATE)
            info.create_system = UNIX
            info.external_attr = (REGULAR | member.permissions) << 16
            archive.writestr(info, member.data, compress_type=method)
    return buffer.getvalue()


def order_of_wheel(members: Iterable[str], dist_info: str) -> list[str]:
    """Return the paths of a wheel's members in canonical order, with RECORD last."""
    record = f"{dist_info}/RECORD"
    names = sorted(
        (name for name in members if name != record),
        key=lambda name: (name.startswith(f"{dist_info}/"), name.encode()),
    )
    return [*names, record]


def _record(members: Mapping[str, Member], record: str) -> bytes:
    """Return the RECORD of a wheel (PyPA, Recording installed projects)."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for name, member in members.items():
        digest = base64.urlsafe_b64encode(bytes.fromhex(sha256_hex(member.data)))
        writer.writerow((name, f"sha256={digest.decode().rstrip('=')}", len(member.data)))
    writer.writerow((record, "", ""))
    return text.getvalue().encode()


def write_sdist(members: Mapping[str, Member], top: str) -> bytes:
    """Return an sdist: a tar of regular files below `top`, sorted by bytes, in stored gzip."""
    return stored_gzip(write_tar(members, top))


def write_tar(members: Mapping[str, Member], top: str) -> bytes:
    """Return the tar inside `write_sdist`."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name in sorted(members, key=str.encode):
            info = tarfile.TarInfo(f"{top}/{name}")
            info.size = len(members[name].data)
            info.mode = members[name].permissions
            info.mtime = TAR_TIME
            archive.addfile(info, io.BytesIO(members[name].data))
    return buffer.getvalue()


def stored_gzip(data: bytes) -> bytes:
    """Wrap bytes in gzip without compressing them, so the result does not depend on zlib.

    Source:
        RFC 1952 (no name, time 0, unknown system) around stored blocks of RFC 1951.
    """
    return (
        GZIP_HEAD
        + b"".join(_stored_blocks(data))
        + struct.pack("<II", zlib.crc32(data), len(data) & 0xFFFFFFFF)
    )


def _stored_blocks(data: bytes) -> Iterator[bytes]:
    for start in range(0, len(data) or 1, STORED_BLOCK):
        block = data[start : start + STORED_BLOCK]
        last = start + STORED_BLOCK >= len(data)
        yield struct.pack("<BHH", last, len(block), len(block) ^ 0xFFFF) + block


def is_script_of(member: bytes, source: bytes) -> bool:
    """Return whether a wheel's script is a source file, unchanged or with `#!python` as first line.

    Installers replace `#!python` with the environment's interpreter (PyPA, Binary distribution
    format), so a build may rewrite that line, and nothing else.

    Args:
        member: The script in the wheel.
        source: The file it was built from.
    """
    if member == source:
        return True
    line, feed, body = source.partition(b"\n")
    shebang = _PYTHON_SHEBANG.fullmatch(line + feed)
    return shebang is not None and member == b"#!python" + shebang[1] + body

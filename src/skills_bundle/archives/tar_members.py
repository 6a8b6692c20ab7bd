"""Decision: the members of a tar, each with the one name and size that every reader gives it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from skills_bundle.archives import limits, tar_headers
from skills_bundle.archives.tar_headers import BLOCK, ZERO_BLOCK

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from skills_bundle.archives.findings import Findings
    from skills_bundle.archives.tar_headers import Header

GLOBAL_KEYS: Final = frozenset({"comment"})
"""What a header for all members may say: `git archive` puts the commit there."""
MEMBER_KEYS: Final = frozenset(
    {"atime", "comment", "ctime", "gid", "gname", "mtime", "path", "size", "uid", "uname"}
)
"""What POSIX defines that speaks of a plain file, its character set aside."""
_KEPT_BESIDE: Final = (
    "LIBARCHIVE.creationtime",
    "LIBARCHIVE.xattr.",
    "SCHILY.acl.",
    "SCHILY.dev",
    "SCHILY.fflags",
    "SCHILY.ino",
    "SCHILY.nlink",
    "SCHILY.xattr.",
)
"""How keys begin that keep something beside a file; others can give it another size or kind."""
_NUMBERS: Final = frozenset({"atime", "ctime", "gid", "mtime", "size", "uid"})
_NUMBER: Final = re.compile(r"-?[0-9]{1,20}(?:\.[0-9]{1,20})?")
_PLAIN: Final = frozenset({tar_headers.REGULAR, tar_headers.OLD_REGULAR, tar_headers.FOLDER})


@dataclass(frozen=True, slots=True)
class TarMember:
    """A file or folder of a tar.

    Attributes:
        name: A folder's ends in a slash.
        header: As it stands before its bytes.
        data: The bytes; none for a folder.
        pax: What its extended header says, empty if it has none.
    """

    name: str
    header: Header
    data: memoryview = field(repr=False)
    pax: Mapping[str, str]


@dataclass(slots=True)
class _Pending:
    """What headers before a member said of it."""

    pax: dict[str, str] | None = None
    gnu_name: str | None = None

    def __bool__(self) -> bool:
        return self.pax is not None or self.gnu_name is not None


class TarReader:
    """Goes through a tar once, from its first block to its last.

    Args:
        tar: The whole tar.
        findings: Takes what speaks against it.
    """

    def __init__(self, tar: bytes, findings: Findings) -> None:
        """Stand before the first block."""
        self._tar = tar
        self._view = memoryview(tar)
        self._findings = findings
        self._position = 0
        self._headers = 0

    def members(self) -> Iterator[TarMember]:
        """Give the members, as far as each can be found without doubt."""
        pending = _Pending()
        while (block := self._tar[self._position : self._position + BLOCK]) != ZERO_BLOCK:
            header = self._header(block)
            data = None if header is None else self._data(header)
            if header is None or data is None:
                return
            if header.kind in {tar_headers.PAX, tar_headers.GLOBAL_PAX, tar_headers.GNU_NAME}:
                self._extend(pending, header, bytes(data))
                continue
            member = self._member(header, data, pending)
            pending = _Pending()
            yield member
        if pending:
            self._findings.add("tar_header", "has an extended header that belongs to no member")
        self._check_end()

    def _header(self, block: bytes) -> Header | None:
        """Read the next header; None if from here on nobody can say where members begin."""
        self._headers += 1
        if len(block) < BLOCK:
            self._findings.add("tar_end", "ends without the two blocks of zeros that end a tar")
            return None
        if self._headers > limits.ARCHIVE_MAX_MEMBERS:
            most = limits.ARCHIVE_MAX_MEMBERS
            self._findings.add("archive_too_many", f"has more than {most} members")
            return None
        header = tar_headers.read_header(block)
        if not header.has_checksum or header.size is None:
            self._findings.add(
                "tar_header", f"has no valid header at {self._position}", _decoded(header.name)
            )
            return None
        self._position += BLOCK
        return header

    def _data(self, header: Header) -> memoryview | None:
        """Take a member's bytes and the zeros that fill its last block."""
        size, start = header.size or 0, self._position
        end = start + size
        after = end + -size % BLOCK
        if size < 0 or after > len(self._tar):
            self._findings.add("tar_size", "reaches behind the end", _decoded(header.name))
            return None
        if any(self._view[end:after]):
            self._findings.add(
                "tar_padding", "has bytes between it and the next", _decoded(header.name)
            )
        self._position = after
        return self._view[start:end]

    def _extend(self, pending: _Pending, header: Header, data: bytes) -> None:
        """Keep what an extended header says of the next member."""
        for message in _header_problems(header):
            self._findings.add("tar_header", message, _decoded(header.name))
        if len(data) > limits.ARCHIVE_HEADER_MAX_BYTES:
            most = limits.ARCHIVE_HEADER_MAX_BYTES
            self._findings.add("tar_header", f"has an extended header of more than {most} bytes")
        elif header.kind == tar_headers.GNU_NAME:
            if pending or header.name != tar_headers.LONG_LINK or data.find(b"\0") != len(data) - 1:
                self._findings.add("tar_header", "has a malformed or a second long name")
            pending.gnu_name = _decoded(data[:-1])
        else:
            self._extend_pax(pending, header, data)

    def _extend_pax(self, pending: _Pending, header: Header, data: bytes) -> None:
        found = tar_headers.read_pax(data)
        if found is None:
            self._findings.add("tar_header", "has a malformed extended header, or a key twice")
            found = {}
        if header.kind == tar_headers.GLOBAL_PAX:
            for key in sorted(found.keys() - GLOBAL_KEYS):
                self._findings.add("tar_header", f"has a header that sets {key!r} for all members")
            return
        if pending:
            self._findings.add("tar_header", "has two extended headers for one member")
        pending.pax = found

    def _member(self, header: Header, data: memoryview, pending: _Pending) -> TarMember:
        pax = pending.pax or {}
        name = pax.get("path", pending.gnu_name) or _decoded(header.name)
        is_folder = header.kind == tar_headers.FOLDER
        self._check(header, name, pax)
        if is_folder and len(data):
            self._findings.add("special_member", "is a folder and holds bytes", name)
        if is_folder and not name.endswith("/"):
            name += "/"
        elif not is_folder and name.endswith("/"):
            self._findings.add("special_member", "is a file, and named like a folder", name)
        return TarMember(name, header, data, pax)

    def _check(self, header: Header, name: str, pax: Mapping[str, str]) -> None:
        """Note what speaks against one member."""
        if header.kind not in _PLAIN:
            what = tar_headers.KINDS.get(header.kind, "of a kind that not all tools know")
            self._findings.add("special_member", f"is {what}", name)
        elif header.link:
            self._findings.add("special_member", "has a link's target", name)
        for message in _header_problems(header):
            self._findings.add("tar_header", message, name)
        self._check_pax(header, name, pax)

    def _check_pax(self, header: Header, name: str, pax: Mapping[str, str]) -> None:
        """Note what an extended header says of a member that another tool could take otherwise."""
        if "size" in pax and pax["size"] != str(header.size):
            self._findings.add("tar_size", f"has a second size, {pax['size']!r}", name)
        if pax.get("path") == "":
            self._findings.add("tar_header", "has an empty name in its extended header", name)
        for key in sorted(pax.keys() - MEMBER_KEYS):
            if not key.startswith(_KEPT_BESIDE):
                self._findings.add("tar_header", f"has {key!r} in its extended header", name)
        for key in sorted(pax.keys() & _NUMBERS):
            if not _NUMBER.fullmatch(pax[key]):
                self._findings.add("tar_header", f"has {key!r} without a number", name)

    def _check_end(self) -> None:
        """Insist on nothing but zeros from the first block of zeros on, and on two of them."""
        rest = self._tar[self._position :]
        if len(rest) < 2 * BLOCK:
            self._findings.add("tar_end", "ends without the two blocks of zeros that end a tar")
        if rest.count(0) != len(rest):
            self._findings.add("tar_trailing", "has bytes behind its end")


def _decoded(name: bytes) -> str:
    return name.decode("utf-8", "surrogateescape")


def _header_problems(header: Header) -> Iterator[str]:
    if header.magic not in {tar_headers.POSIX_MAGIC, tar_headers.GNU_MAGIC}:
        yield "has a header of no known format"
    elif not header.is_clean:
        yield "has bytes in unused parts of its header"
    numbers = (header.mode, header.uid, header.gid, header.mtime, header.major, header.minor)
    if None in numbers:
        yield "has a number that is none in its header"

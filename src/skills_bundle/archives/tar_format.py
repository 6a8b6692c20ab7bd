"""Decision: read a tar in gzip so that no tool can find other members, or other bytes, in it.

There must be exactly one gzip stream (RFC 1952), since some tools stop after the first and others
continue; and each member must have one name and one size, in its header and in any extended header
before it (POSIX pax, and GNU's long names).
"""

from __future__ import annotations

import re
import struct
import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from skills_bundle.archives import limits
from skills_bundle.errors import Problem, UnreadableArchiveError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from skills_bundle.archives.model import Findings

POSIX_MAGIC: Final = b"ustar\x0000"
GZIP_HEADER_SIZE: Final = 10

_GZIP_MAGIC: Final = b"\x1f\x8b"
_GZIP_DEFLATE: Final = 8
_GZIP_IS_TEXT: Final = 0x01
_GZIP_HAS_NAME: Final = 0x08

_BLOCK: Final = 512
_GNU_MAGIC: Final = b"ustar  \0"
_LONG_LINK: Final = b"././@LongLink"
"""What GNU tar calls a member that holds the name of the next one."""
_CHECKSUM: Final = slice(148, 156)
_OCTAL: Final = re.compile(rb" *([0-7]+)[ \0]*")
_BLANK: Final = re.compile(rb"[ \0]*")
_NO_TYPE_NAME: Final = "of a type that not all tools know"
_FOLDER: Final = b"5"
_PAX: Final = b"x"
_GLOBAL_PAX: Final = b"g"
_GNU_NAME: Final = b"L"
_PLAIN: Final = frozenset({b"0", b"\0", _FOLDER})
_EXTENDED: Final = frozenset({_PAX, _GLOBAL_PAX, _GNU_NAME})
_TYPES: Final = {
    b"1": "a hard link",
    b"2": "a symbolic link",
    b"3": "a device",
    b"4": "a device",
    b"6": "a pipe",
    b"S": "a sparse file",
}

_PAX_SIZE: Final = re.compile(rb"([1-9][0-9]{0,8}) ")
_GLOBAL_KEYS: Final = frozenset({"comment"})
"""`git archive` puts the commit there."""
_NUMERIC_KEYS: Final = frozenset({"atime", "ctime", "gid", "mtime", "size", "uid"})
_MEMBER_KEYS: Final = _NUMERIC_KEYS | {"comment", "gname", "path", "uname"}
"""What POSIX defines for a plain file, except its character set."""
_IGNORED_KEYS: Final = (
    "LIBARCHIVE.creationtime",
    "LIBARCHIVE.xattr.",
    "SCHILY.acl.",
    "SCHILY.dev",
    "SCHILY.fflags",
    "SCHILY.ino",
    "SCHILY.nlink",
    "SCHILY.xattr.",
)
"""Prefixes of keys that change neither bytes nor type; other keys can."""
_NUMBER: Final = re.compile(r"-?[0-9]{1,20}(?:\.[0-9]{1,20})?")


def unpack_gzip(data: bytes, findings: Findings) -> bytes:
    """Unpack a file that is one gzip stream, never to more than the limits allow.

    Args:
        data: The file.
        findings: Receives the problems.

    Returns:
        The bytes; empty if they could not be unpacked.

    Raises:
        UnreadableArchiveError: If the file does not start like gzip.
    """
    is_gzip = data[:2] == _GZIP_MAGIC and data[2:3] == bytes([_GZIP_DEFLATE])
    if len(data) < GZIP_HEADER_SIZE or not is_gzip:
        problem = Problem(code="no_gzip", message="is not a gzip file", path=findings.file_name)
        raise UnreadableArchiveError("The archive cannot be read.", (problem,))
    flags = data[3]
    if flags & ~(_GZIP_HAS_NAME | _GZIP_IS_TEXT):
        findings.add("gzip_header", f"has a gzip header with the flags {flags:#04x}")
    start = GZIP_HEADER_SIZE
    if flags & _GZIP_HAS_NAME:
        start = data.find(b"\0", start) + 1 or len(data)
    return _inflate(data, start, findings)


def _inflate(data: bytes, start: int, findings: Findings) -> bytes:
    """Unpack the stream that starts at `start`; report a bomb, a wrong CRC, and trailing bytes."""
    ratio_limit = limits.ARCHIVE_RATIO_FREE_BYTES + limits.ARCHIVE_MAX_RATIO * len(data)
    most = min(limits.ARCHIVE_MAX_UNPACKED_BYTES, ratio_limit)
    inflater = zlib.decompressobj(-zlib.MAX_WBITS)
    try:
        unpacked = inflater.decompress(memoryview(data)[start:], most + 1)
    except zlib.error:
        findings.add("gzip_data", "is not valid deflate data")
        return b""
    if len(unpacked) > most:
        findings.add("archive_bomb", f"unpacks from {len(data)} to more than {most} bytes")
        return b""
    if not inflater.eof:
        findings.add("gzip_data", "is truncated")
        return b""
    trailer, behind = inflater.unused_data[:8], inflater.unused_data[8:]
    if trailer != struct.pack("<2L", zlib.crc32(unpacked), len(unpacked)):
        findings.add("gzip_crc", "has a wrong CRC or size")
    if behind.startswith(_GZIP_MAGIC):
        findings.add("gzip_members", "has a second gzip stream after the first")
    elif behind:
        findings.add("gzip_trailing", f"has {len(behind)} bytes after its gzip stream")
    return unpacked


class Header(NamedTuple):
    """A member's header; numbers are None where the field is not a number."""

    name: bytes
    mode: int | None
    uid: int | None
    gid: int | None
    size: int | None
    mtime: int | None
    type: bytes
    link: bytes
    magic: bytes
    owner: bytes
    group: bytes
    has_checksum: bool
    problem: str | None


def read_header(block: bytes) -> Header:
    """Read one block of 512 bytes as a header."""
    magic = block[257:265]
    is_gnu = magic == _GNU_MAGIC
    name, link, owner, group = block[0:100], block[157:257], block[265:297], block[297:329]
    prefix = b"" if is_gnu else block[345:500]
    mode, uid, gid = (_number(block[start : start + 8]) for start in (100, 108, 116))
    size, mtime = _number(block[124:136]), _number(block[136:148])
    devices = _number(block[329:337]), _number(block[337:345])
    total = sum(block) - sum(block[_CHECKSUM]) + 8 * ord(" ")
    problem = None
    if magic not in {POSIX_MAGIC, _GNU_MAGIC}:
        problem = "has a header of an unknown format"
    elif None in (mode, uid, gid, mtime, *devices):
        problem = "has a header field that is not a number"
    elif any(block[345 if is_gnu else 500 :]) or not all(
        map(_is_clean, (name, link, owner, group, prefix))
    ):
        problem = "has bytes in unused parts of its header"
    folder = _text(prefix)
    return Header(
        name=folder + b"/" + _text(name) if folder else _text(name),
        mode=mode,
        uid=uid,
        gid=gid,
        size=size,
        mtime=mtime,
        type=block[156:157],
        link=_text(link),
        magic=magic,
        owner=_text(owner),
        group=_text(group),
        has_checksum=_number(block[_CHECKSUM]) == total,
        problem=problem,
    )


def _text(field: bytes) -> bytes:
    return field.partition(b"\0")[0]


def _is_clean(field: bytes) -> bool:
    return not field.partition(b"\0")[2].strip(b"\0")


def _number(field: bytes) -> int | None:
    """Read octal digits, or the binary form that GNU tar uses for large numbers."""
    if field[0] in {0x80, 0xFF}:
        value = int.from_bytes(field[1:], "big")
        return value if field[0] == 0x80 else value - (1 << 8 * (len(field) - 1))
    digits = _OCTAL.fullmatch(field)
    if digits is not None:
        return int(digits[1], 8)
    return 0 if _BLANK.fullmatch(field) else None


def read_pax(data: bytes) -> dict[str, str] | None:
    """Read an extended header: lines of `length key=value`, where the length counts itself.

    Returns:
        Keys and values; None if it is malformed or has a key twice.
    """
    pairs: dict[str, str] = {}
    position = 0
    while position < len(data):
        head = _PAX_SIZE.match(data, position)
        if head is None:
            return None
        end = position + int(head[1])
        key, equals, value = data[head.end() : end - 1].partition(b"=")
        if end > len(data) or data[end - 1 : end] != b"\n" or not equals or not key:
            return None
        name = _decode(key)
        if name in pairs:
            return None
        pairs[name] = _decode(value)
        position = end
    return pairs


def _decode(name: bytes) -> str:
    return name.decode("utf-8", "surrogateescape")


@dataclass(frozen=True, slots=True)
class TarMember:
    """A file or folder of a tar.

    Attributes:
        name: A folder's ends in a slash.
        header: The header before its bytes.
        data: The bytes; empty for a folder.
        pax: Its extended header; empty if it has none.
    """

    name: str
    header: Header
    data: memoryview = field(repr=False)
    pax: Mapping[str, str]


class TarReader:
    """Reads a tar once, from its first block to its last.

    Args:
        tar: The whole tar.
        findings: Receives the problems.
    """

    def __init__(self, tar: bytes, findings: Findings) -> None:
        """Start at the first block."""
        self._tar = tar
        self._view = memoryview(tar)
        self._findings = findings
        self._position = 0
        self._headers = 0

    def members(self) -> Iterator[TarMember]:
        """Yield the members, up to the first one whose place is in doubt."""
        pax: dict[str, str] = {}
        while (block := self._tar[self._position : self._position + _BLOCK]) != bytes(_BLOCK):
            header = self._header(block)
            data = None if header is None else self._data(header)
            if header is None or data is None:
                return
            if header.type in _EXTENDED:
                found = self._extension(header, bytes(data))
                if found and pax:
                    self._findings.add("tar_header", "has two extended headers for one member")
                pax = found or pax
                continue
            yield self._member(header, data, pax)
            pax = {}
        if pax:
            self._findings.add("tar_header", "has an extended header without a member")
        rest = self._tar[self._position :]
        if len(rest) < 2 * _BLOCK:
            self._findings.add("tar_end", "does not end with two blocks of zeros")
        if rest.count(0) != len(rest):
            self._findings.add("tar_trailing", "has bytes after its end")

    def _header(self, block: bytes) -> Header | None:
        """Read the next header; None if the members after it cannot be found."""
        self._headers += 1
        if len(block) < _BLOCK:
            self._findings.add("tar_end", "does not end with two blocks of zeros")
            return None
        if self._headers > limits.ARCHIVE_MAX_MEMBERS:
            most = limits.ARCHIVE_MAX_MEMBERS
            self._findings.add("archive_too_many", f"has more than {most} members")
            return None
        header = read_header(block)
        if not header.has_checksum or header.size is None:
            message = f"has no valid header at {self._position}"
            self._findings.add("tar_header", message, _decode(header.name))
            return None
        self._position += _BLOCK
        return header

    def _data(self, header: Header) -> memoryview | None:
        """Take a member's bytes and the zeros that fill its last block."""
        size, start = header.size or 0, self._position
        end = start + size
        after = end + -size % _BLOCK
        if size < 0 or after > len(self._tar):
            self._findings.add("tar_size", "extends past the end", _decode(header.name))
            return None
        if any(self._view[end:after]):
            message = "has bytes between its end and the next member"
            self._findings.add("tar_padding", message, _decode(header.name))
        self._position = after
        return self._view[start:end]

    def _extension(self, header: Header, data: bytes) -> dict[str, str]:
        """Read an extended header; return what it says about the next member."""
        if header.problem:
            self._findings.add("tar_header", header.problem, _decode(header.name))
        if len(data) > limits.ARCHIVE_HEADER_MAX_BYTES:
            most = limits.ARCHIVE_HEADER_MAX_BYTES
            self._findings.add("tar_header", f"has an extended header of more than {most} bytes")
            return {}
        if header.type == _GNU_NAME:
            if header.name != _LONG_LINK or data.find(b"\0") != len(data) - 1:
                self._findings.add("tar_header", "has a malformed long name")
            return {"path": _decode(data[:-1])}
        pax = read_pax(data)
        if pax is None:
            self._findings.add("tar_header", "has an extended header that is malformed")
            return {}
        if header.type == _PAX:
            return pax
        for key in sorted(pax.keys() - _GLOBAL_KEYS):
            self._findings.add("tar_header", f"has a header that sets {key!r} for all members")
        return {}

    def _member(self, header: Header, data: memoryview, pax: Mapping[str, str]) -> TarMember:
        name = pax.get("path") or _decode(header.name)
        is_folder = header.type == _FOLDER
        if header.type not in _PLAIN:
            what = _TYPES.get(header.type, _NO_TYPE_NAME)
            self._findings.add("special_member", f"is {what}", name)
        elif header.link:
            self._findings.add("special_member", "has a link target", name)
        if is_folder and len(data):
            self._findings.add("special_member", "is a folder, but has contents", name)
        elif not is_folder and name.endswith("/"):
            self._findings.add("special_member", "is a file with the name of a folder", name)
        if header.problem:
            self._findings.add("tar_header", header.problem, name)
        self._check_pax(header, name, pax)
        return TarMember(f"{name.removesuffix('/')}/" if is_folder else name, header, data, pax)

    def _check_pax(self, header: Header, name: str, pax: Mapping[str, str]) -> None:
        """Report extended headers that tools could read differently."""
        if "size" in pax and pax["size"] != str(header.size):
            self._findings.add("tar_size", f"has a second size, {pax['size']!r}", name)
        if pax.get("path") == "":
            self._findings.add("tar_header", "has an empty name in its extended header", name)
        for key in sorted(pax.keys() - _MEMBER_KEYS):
            if not key.startswith(_IGNORED_KEYS):
                self._findings.add("tar_header", f"has {key!r} in its extended header", name)
        for key in sorted(pax.keys() & _NUMERIC_KEYS):
            if not _NUMBER.fullmatch(pax[key]):
                self._findings.add("tar_header", f"has a {key!r} that is not a number", name)

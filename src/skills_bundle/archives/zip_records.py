"""Record: the records of a zip archive, as bytes have them (APPNOTE.TXT, section 4.3)."""

from __future__ import annotations

import struct
from typing import Final, NamedTuple

LOCAL: Final = b"PK\x03\x04"
CENTRAL: Final = b"PK\x01\x02"
DESCRIPTOR: Final = b"PK\x07\x08"
END: Final = b"PK\x05\x06"
END64: Final = b"PK\x06\x06"
LOCATOR64: Final = b"PK\x06\x07"

SENTINEL_2: Final = 0xFFFF
SENTINEL_4: Final = 0xFFFFFFFF
"""What a field of two or four bytes holds if its value stands in a zip64 record."""

ENCRYPTED: Final = 0x2041
"""Flags of any encryption: of the member, strong, or of the directory."""
HAS_DESCRIPTOR: Final = 0x0008
IS_UTF8: Final = 0x0800
KNOWN_FLAGS: Final = HAS_DESCRIPTOR | IS_UTF8 | 0x0006
"""The last two say how hard the writer tried to compress."""

STORED: Final = 0
DEFLATED: Final = 8

ZIP64_EXTRA: Final = 0x0001
NAME_EXTRA: Final = 0x7075
AES_EXTRA: Final = 0x9901
KNOWN_EXTRA: Final = frozenset({ZIP64_EXTRA, NAME_EXTRA, 0x000A, 0x5455, 0x5855, 0x7855, 0x7875})
"""Besides these two: times and owners, as NTFS and Info-ZIP keep them. Other kinds can make a
member a link or give it another mode, for the tools that know them."""
NEEDED_MAX: Final = 45
"""The version that zip64 asks for; what asks for more is skipped by some tools."""

_END: Final = struct.Struct("<4s4H2LH")
_END64: Final = struct.Struct("<4sQ2H2L4Q")
_LOCATOR64: Final = struct.Struct("<4sLQL")
_CENTRAL: Final = struct.Struct("<4s6H3L5H2L")
_LOCAL: Final = struct.Struct("<4s5H3L2H")

END_SIZE: Final = _END.size
END64_SIZE: Final = _END64.size
LOCATOR64_SIZE: Final = _LOCATOR64.size


class End(NamedTuple):
    """The end record; `position` is where it begins."""

    position: int
    disk: int
    directory_disk: int
    disk_entries: int
    entries: int
    directory_size: int
    directory_offset: int
    comment_size: int


class End64(NamedTuple):
    """The zip64 end record."""

    position: int
    disk: int
    directory_disk: int
    disk_entries: int
    entries: int
    directory_size: int
    directory_offset: int


class Header(NamedTuple):
    """What a local header and the directory both say of a member, extra field included."""

    needed: int
    flags: int
    method: int
    time: int
    date: int
    crc: int
    packed: int
    size: int
    name: bytes
    extra: bytes

    @property
    def length(self) -> int:
        """Bytes of a local header that says this."""
        return _LOCAL.size + len(self.name) + len(self.extra)


class Row(NamedTuple):
    """A member as the directory lists it, sizes and offset as zip64 has them where it does."""

    header: Header
    made_by: int
    internal: int
    external: int
    offset: int
    disk: int
    comment: bytes
    length: int


def read_end(data: bytes, position: int) -> End:
    """Read an end record; there are `END_SIZE` bytes."""
    return End(position, *_END.unpack_from(data, position)[1:])


def read_end64(data: bytes, position: int) -> End64 | None:
    """Read a zip64 end record of the only size there is; None if there is none."""
    if position < 0 or data[position : position + 4] != END64:
        return None
    if len(data) < position + END64_SIZE:
        return None
    _, size, _, _, *rest = _END64.unpack_from(data, position)
    return End64(position, *rest) if size == END64_SIZE - 12 else None


def read_locator(data: bytes, position: int) -> tuple[int, int, int] | None:
    """Read a zip64 locator: its disk, the record's offset, the number of disks; None if none."""
    if position < 0 or data[position : position + 4] != LOCATOR64:
        return None
    return _LOCATOR64.unpack_from(data, position)[1:]


def read_row(data: bytes, position: int, end: int) -> Row | None:
    """Read a row of the directory, which ends at `end`; None if there is no whole one."""
    if position + _CENTRAL.size > end or data[position : position + 4] != CENTRAL:
        return None
    _, made_by, needed, flags, method, time, date, crc, packed, size, *rest = _CENTRAL.unpack_from(
        data, position
    )
    name_size, extra_size, comment_size, disk, internal, external, offset = rest
    first = position + _CENTRAL.size
    second = first + name_size
    third = second + extra_size
    last = third + comment_size
    if last > end:
        return None
    name, extra = data[first:second], data[second:third]
    header = Header(needed, flags, method, time, date, crc, packed, size, name, extra)
    comment = data[third:last]
    return Row(header, made_by, internal, external, offset, disk, comment, last - position)


def read_local(data: bytes, position: int) -> Header | None:
    """Read a local header; None if there is no whole one."""
    if position + _LOCAL.size > len(data) or data[position : position + 4] != LOCAL:
        return None
    _, needed, flags, method, time, date, crc, packed, size, *rest = _LOCAL.unpack_from(
        data, position
    )
    name_size, extra_size = rest
    first = position + _LOCAL.size
    second = first + name_size
    third = second + extra_size
    if third > len(data):
        return None
    name, extra = data[first:second], data[second:third]
    return Header(needed, flags, method, time, date, crc, packed, size, name, extra)


def read_extra(extra: bytes) -> dict[int, bytes] | None:
    """Give an extra field's parts by id; None if it is malformed or has one id twice."""
    parts: dict[int, bytes] = {}
    position = 0
    while position < len(extra):
        if position + 4 > len(extra):
            return None
        kind, size = struct.unpack_from("<2H", extra, position)
        position += 4
        if position + size > len(extra) or kind in parts:
            return None
        parts[kind] = extra[position : position + size]
        position += size
    return parts


def descriptors(header: Header) -> list[bytes]:
    """Give every form in which a data descriptor can say what the directory says, longest first."""
    forms = [
        struct.pack(f"<L2{width}", header.crc, header.packed, header.size) for width in ("Q", "L")
    ]
    return [DESCRIPTOR + forms[0], forms[0], DESCRIPTOR + forms[1], forms[1]]

"""Record: the headers of a tar, as bytes have them (POSIX pax, and GNU's long names)."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

BLOCK: Final = 512
ZERO_BLOCK: Final = bytes(BLOCK)

REGULAR: Final = b"0"
OLD_REGULAR: Final = b"\0"
FOLDER: Final = b"5"
PAX: Final = b"x"
GLOBAL_PAX: Final = b"g"
GNU_NAME: Final = b"L"

POSIX_MAGIC: Final = b"ustar\x0000"
GNU_MAGIC: Final = b"ustar  \0"
LONG_LINK: Final = b"././@LongLink"
"""What GNU tar calls a member that holds the next one's name."""

_CHECKSUM: Final = slice(148, 156)
_OCTAL: Final = re.compile(rb" *([0-7]+)[ \0]*")
_BLANK: Final = re.compile(rb"[ \0]*")
_PAX_SIZE: Final = re.compile(rb"([1-9][0-9]{0,8}) ")

KINDS: Final = {
    b"1": "a hard link",
    b"2": "a symbolic link",
    b"3": "a device",
    b"4": "a device",
    b"6": "a pipe",
    b"7": "a contiguous file, which not all tools know",
    b"D": "a folder of an incremental backup",
    b"K": "a long link",
    b"M": "the rest of a file of another volume",
    b"S": "a sparse file",
    b"V": "a volume's name",
}
"""What members are called that are neither plain files nor folders."""


class Header(NamedTuple):
    """One header; numbers are None where the field holds none."""

    name: bytes
    mode: int | None
    uid: int | None
    gid: int | None
    size: int | None
    mtime: int | None
    kind: bytes
    link: bytes
    magic: bytes
    owner: bytes
    group: bytes
    major: int | None
    minor: int | None
    has_checksum: bool
    is_clean: bool
    """Whether every text field holds nothing behind its end, and every unused one nothing."""


def read_header(block: bytes) -> Header:
    """Read one block of 512 bytes as a header."""
    name, prefix = block[0:100], block[345:500]
    magic = block[257:265]
    is_gnu = magic == GNU_MAGIC
    texts = [name, block[157:257], block[265:297], block[297:329], *([] if is_gnu else [prefix])]
    short = _text(name)
    long = short if is_gnu or not _text(prefix) else _text(prefix) + b"/" + short
    return Header(
        name=long,
        mode=_number(block[100:108]),
        uid=_number(block[108:116]),
        gid=_number(block[116:124]),
        size=_number(block[124:136]),
        mtime=_number(block[136:148]),
        kind=block[156:157],
        link=_text(block[157:257]),
        magic=magic,
        owner=_text(block[265:297]),
        group=_text(block[297:329]),
        major=_number(block[329:337]),
        minor=_number(block[337:345]),
        has_checksum=_number(block[_CHECKSUM]) == _sum(block),
        is_clean=all(map(_is_clean, texts)) and not any(block[345 if is_gnu else 500 :]),
    )


def _text(field: bytes) -> bytes:
    return field.partition(b"\0")[0]


def _is_clean(field: bytes) -> bool:
    return not field.partition(b"\0")[2].strip(b"\0")


def _sum(block: bytes) -> int:
    return sum(block) - sum(block[_CHECKSUM]) + 8 * ord(" ")


def _number(field: bytes) -> int | None:
    """Read octal digits, or the binary form that GNU tar uses for what does not fit."""
    if field[0] in {0x80, 0xFF}:
        value = int.from_bytes(field[1:], "big")
        return value if field[0] == 0x80 else value - (1 << 8 * (len(field) - 1))
    found = _OCTAL.fullmatch(field)
    if found is not None:
        return int(found[1], 8)
    return 0 if _BLANK.fullmatch(field) else None


def read_pax(data: bytes) -> dict[str, str] | None:
    """Read an extended header; None if it is malformed or has a key twice.

    Source:
        POSIX, pax, "Extended Header": lines of `length key=value`, where the length counts itself.
    """
    found: dict[str, str] = {}
    position = 0
    while position < len(data):
        head = _PAX_SIZE.match(data, position)
        if head is None:
            return None
        end = position + int(head[1])
        key, equals, value = data[head.end() : end - 1].partition(b"=")
        if end > len(data) or data[end - 1 : end] != b"\n" or not equals or not key:
            return None
        word = key.decode("utf-8", "surrogateescape")
        if word in found:
            return None
        found[word] = value.decode("utf-8", "surrogateescape")
        position = end
    return found

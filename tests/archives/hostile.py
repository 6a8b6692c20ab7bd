"""Zips and tars from bytes: valid to begin with, each field free to say something else."""

from __future__ import annotations

import gzip
import struct
import zlib
from dataclasses import dataclass, field, replace


def deflated(data: bytes) -> bytes:
    """Return a raw deflate stream."""
    maker = zlib.compressobj(9, zlib.DEFLATED, -15)
    return maker.compress(data) + maker.flush()


@dataclass(frozen=True, kw_only=True)
class ZipMember:
    """One member; None means what follows from the rest."""

    name: bytes = b"acme/a.py"
    data: bytes = b"x = 1\n"
    method: int = 0
    flags: int = 0
    packed: bytes | None = None
    crc: int | None = None
    size: int | None = None
    external: int = 0o100644 << 16
    made_by: int = 3 << 8 | 20
    extra: bytes = b""
    local_extra: bytes | None = None
    comment: bytes = b""
    disk: int = 0
    local: dict[str, int | bytes] = field(default_factory=dict[str, "int | bytes"])
    listed_figures: dict[str, int | bytes] = field(default_factory=dict[str, "int | bytes"])
    before: bytes = b""
    behind: bytes = b""
    offset: int | None = None
    listed: bool = True
    written: bool = True

    @property
    def stream(self) -> bytes:
        """The packed bytes."""
        if self.packed is not None:
            return self.packed
        return deflated(self.data) if self.method == 8 else self.data

    def figures(self) -> dict[str, int | bytes]:
        """What the directory says."""
        return {
            "needed": 20,
            "flags": self.flags,
            "method": self.method,
            "time": 0,
            "date": 0x21,
            "crc": zlib.crc32(self.data) if self.crc is None else self.crc,
            "packed": len(self.stream),
            "size": len(self.data) if self.size is None else self.size,
            "name": self.name,
            "extra": self.extra,
        }

    def local_bytes(self) -> bytes:
        """The local header, the packed bytes and what comes behind them."""
        values = self.figures()
        values["extra"] = self.extra if self.local_extra is None else self.local_extra
        values |= self.local
        name, extra = values.pop("name"), values.pop("extra")
        assert isinstance(name, bytes)
        assert isinstance(extra, bytes)
        head = struct.pack("<4s5H3L2H", b"PK\3\4", *values.values(), len(name), len(extra))
        return self.before + head + name + extra + self.stream + self.behind

    def row(self, offset: int) -> bytes:
        """The directory's row."""
        values = self.figures() | self.listed_figures
        del values["name"], values["extra"]
        sizes = (len(self.name), len(self.extra), len(self.comment), self.disk, 0)
        place = offset + len(self.before) if self.offset is None else self.offset
        head = struct.pack(
            "<4s6H3L5H2L",
            b"PK\1\2",
            self.made_by,
            *values.values(),
            *sizes,
            self.external,
            place,
        )
        return head + self.name + self.extra + self.comment


@dataclass(frozen=True, kw_only=True)
class Zip:
    """A whole zip; None means what follows from the rest."""

    members: tuple[ZipMember, ...] = (
        ZipMember(),
        ZipMember(name=b"acme-1.0.dist-info/RECORD", data=b""),
    )
    prefix: bytes = b""
    gap: bytes = b""
    before_end: bytes = b""
    end: dict[str, int] = field(default_factory=dict[str, int])
    comment: bytes = b""
    suffix: bytes = b""

    def with_first(self, **changes: object) -> Zip:
        """Change the first member."""
        return replace(self, members=(replace(self.members[0], **changes), *self.members[1:]))  # pyright: ignore[reportArgumentType]

    def adding(self, *members: ZipMember) -> Zip:
        """Put members behind the others."""
        return replace(self, members=(*self.members, *members))

    def to_bytes(self) -> bytes:
        """Write it."""
        data, rows = self.prefix, b""
        for member in self.members:
            if member.listed:
                rows += member.row(len(data))
            if member.written:
                data += member.local_bytes()
        data += self.gap
        count = sum(member.listed for member in self.members)
        values = {
            "disk": 0,
            "directory_disk": 0,
            "disk_entries": count,
            "entries": count,
            "directory_size": len(rows),
            "directory_offset": len(data),
            "comment_size": len(self.comment),
        } | self.end
        end = struct.pack("<4s4H2LH", b"PK\5\6", *values.values())
        return data + rows + self.before_end + end + self.comment + self.suffix


def zip64_end(entries: int, size: int, offset: int) -> bytes:
    """Return a zip64 end record and its locator, for a directory of this place and size."""
    figures = (44, 45, 45, 0, 0, entries, entries, size, offset)
    record = struct.pack("<4sQ2H2L4Q", b"PK\6\6", *figures)
    return record + struct.pack("<4sLQL", b"PK\6\7", 0, offset + size, 1)


@dataclass(frozen=True, kw_only=True)
class TarMember:
    """One member of a tar, with its header as POSIX has it."""

    name: bytes = b"acme-1.0/a.py"
    data: bytes = b"x = 1\n"
    kind: bytes = b"0"
    mode: bytes = b"0000644\0"
    link: bytes = b""
    magic: bytes = b"ustar\x0000"
    prefix: bytes = b""
    device: bytes = b""
    size: bytes | None = None
    checksum: bytes | None = None
    padding: bytes | None = None

    def to_bytes(self) -> bytes:
        """Write header and bytes."""
        size = b"%011o\0" % len(self.data) if self.size is None else self.size
        fields = (self.name, self.mode, b"0000000\0", b"0000000\0", size, b"02263653000\0")
        head = struct.pack("100s8s8s8s12s12s", *fields) + b" " * 8
        head += struct.pack("c100s8s", self.kind, self.link, self.magic)
        head += struct.pack("32s32s8s8s155s12s", b"", b"", self.device, b"", self.prefix, b"")
        checksum = b"%06o\0 " % sum(head) if self.checksum is None else self.checksum
        padding = bytes(-len(self.data) % 512) if self.padding is None else self.padding
        return head[:148] + checksum + head[156:] + self.data + padding


def pax(**records: str) -> TarMember:
    """Return an extended header; `__` in a key becomes a dot."""
    data = b"".join(
        pax_record(key.replace("__", "."), value.encode()) for key, value in records.items()
    )
    return TarMember(name=b"acme-1.0/PaxHeaders/a.py", kind=b"x", data=data)


def pax_record(key: str, value: bytes) -> bytes:
    """Return one line of an extended header."""
    text = b" " + key.encode() + b"=" + value + b"\n"
    size = len(text)
    while len(str(size)) + len(text) != size:
        size = len(str(size)) + len(text)
    return str(size).encode() + text


def long_name(name: bytes, *, end: bytes = b"\0") -> TarMember:
    """Return the header of GNU tar for a name that does not fit."""
    return TarMember(name=b"././@LongLink", kind=b"L", data=name + end, magic=b"ustar  \0")


def sdist(*members: TarMember, end: bytes = bytes(1024), behind: bytes = b"") -> bytes:
    """Return a tar.gz of these members."""
    tar = b"".join(member.to_bytes() for member in members) + end
    return gzip.compress(tar, mtime=0) + behind

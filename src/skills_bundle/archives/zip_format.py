"""Decision: read a zip so that no tool can find another list of members, or other bytes, in it.

Some tools find members through the directory at the end, some go from local header to local header,
some skip what comes before the first member or after the last. They agree only if every byte is
accounted for: members follow each other without gaps, each local header repeats its directory row,
the directory follows the last member, and the end record closes the file. Zip64 is refused: only
files larger than the limit need it, and not every tool reads it (APPNOTE.TXT, section 4.3).
"""

from __future__ import annotations

import stat
import struct
import zlib
from typing import TYPE_CHECKING, Final, NamedTuple

from skills_bundle.archives import limits
from skills_bundle.archives.names import check_names, check_size
from skills_bundle.errors import Problem, UnreadableArchiveError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skills_bundle.archives.model import Findings

STORED: Final = 0
DEFLATED: Final = 8
IS_UTF8: Final = 0x0800

_LOCAL: Final = struct.Struct("<4s5H3L2H")
_CENTRAL: Final = struct.Struct("<4s6H3L5H2L")
_END: Final = struct.Struct("<4s4H2LH")
_LOCAL_SIGNATURE: Final = b"PK\x03\x04"
_CENTRAL_SIGNATURE: Final = b"PK\x01\x02"
_DESCRIPTOR_SIGNATURE: Final = b"PK\x07\x08"
_END_SIGNATURE: Final = b"PK\x05\x06"
_LOCATOR64: Final = b"PK\x06\x07"
_LOCATOR64_SIZE: Final = 20
_MAX_COMMENT: Final = 0xFFFF

_ENCRYPTED: Final = 0x2041
"""Flags of any encryption: of the member, strong, or of the directory."""
_HAS_DESCRIPTOR: Final = 0x0008
_KNOWN_FLAGS: Final = _HAS_DESCRIPTOR | IS_UTF8 | 0x0006
"""The last two bits are the compression level."""
_ZIP64_EXTRA: Final = 0x0001
_KNOWN_EXTRA: Final = frozenset({0x000A, 0x5455, 0x5855, 0x7855, 0x7875})
"""Times and owners, as NTFS and Info-ZIP keep them. Other kinds can rename a member, make it a link
or give it another mode, for the tools that know them."""
_MAX_VERSION: Final = 45
"""Tools skip members that need a later version of the format."""
_DOS_FOLDER: Final = 0x10
_DOS_LABEL: Final = 0x08
"""Marks a volume's name; some tools skip such a member."""
_FILE_TYPES: Final = {
    stat.S_IFLNK: "a symbolic link",
    stat.S_IFDIR: "a folder with the name of a file",
    stat.S_IFREG: "a file with the name of a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


class Header(NamedTuple):
    """What both a local header and the directory record about a member."""

    version: int
    flags: int
    method: int
    time: int
    date: int
    crc: int
    packed_size: int
    size: int
    name: bytes
    extra: bytes


class Row(NamedTuple):
    """A member as the directory lists it."""

    header: Header
    made_by: int
    internal: int
    external: int
    offset: int
    disk: int
    comment: bytes

    @property
    def name(self) -> str:
        """The member's name; bytes that are not UTF-8 become lone surrogates."""
        return self.header.name.decode("utf-8", "surrogateescape")

    @property
    def is_folder(self) -> bool:
        """Whether the name is that of a folder."""
        return self.header.name.endswith(b"/")

    @property
    def mode(self) -> int:
        """The Unix mode, 0 if the archive has none."""
        return self.external >> 16


def read_zip(data: bytes, findings: Findings) -> list[tuple[Row, bytes]]:
    """Read a zip.

    Args:
        data: The file, at most `limits.ARCHIVE_MAX_BYTES`.
        findings: Receives the problems.

    Returns:
        Every member with its bytes, in the order of the directory.

    Raises:
        UnreadableArchiveError: If the file is not a zip.
        UnsafeArchiveError: With every problem, if tools can read the file differently.
    """
    rows, directory = _read_directory(data, findings)
    check_names([row.name for row in rows], findings)
    for row in rows:
        _check_row(row, findings)
        check_size(row.name, row.header.size, findings)
    _check_sizes(sum(row.header.size for row in rows), len(data), findings)
    packed = _packed_bytes(data, rows, directory, findings)
    findings.refuse()
    members = [(row, _unpack(row, packed[row.offset], findings)) for row in rows]
    findings.refuse()
    return members


def _read_directory(data: bytes, findings: Findings) -> tuple[list[Row], int]:
    """Read the directory; return its rows and where it starts."""
    end = _end_position(data, findings)
    _, disk, first_disk, disk_count, count, size, start, _ = _END.unpack_from(data, end)
    if data[max(0, end - _LOCATOR64_SIZE) :].startswith(_LOCATOR64):
        findings.add("zip64", "has a zip64 end record, which no file of this size needs")
    if (disk, first_disk, disk_count) != (0, 0, count):
        findings.add("zip_end", "the end record belongs to a zip that spans several disks")
    if count > limits.ARCHIVE_MAX_MEMBERS:
        findings.add("archive_too_many", f"lists more than {limits.ARCHIVE_MAX_MEMBERS} members")
    elif start + size == end:
        return _read_rows(data, (start, end), count, findings), start
    else:
        message = f"the end record places the directory at {start} to {start + size}, not {end}"
        findings.add("zip_end", message)
    findings.refuse()  # without a directory there is nothing left to check
    return [], end


def _end_position(data: bytes, findings: Findings) -> int:
    """Return where the end record starts; report bytes after it."""
    position = data.rfind(_END_SIGNATURE, max(0, len(data) - _END.size - _MAX_COMMENT))
    behind = len(data) - position - _END.size
    if position < 0 or behind < 0:
        message = "is not a zip, or is truncated: it has no end record"
        problem = Problem(code="no_zip", message=message, path=findings.file_name)
        raise UnreadableArchiveError("The archive cannot be read.", (problem,))
    comment_size = _END.unpack_from(data, position)[-1]
    if comment_size and comment_size == behind:
        findings.add("zip_comment", f"has a comment of {behind} bytes after its end record")
    elif behind:
        findings.add("zip_trailing", f"has {behind} bytes after its end record")
    elif comment_size:
        findings.add("zip_end", "the end record announces a comment that is missing")
    return position


def _read_rows(
    data: bytes, directory: tuple[int, int], count: int, findings: Findings
) -> list[Row]:
    rows: list[Row] = []
    position, end = directory
    for number in range(count):
        found = _read_row(data, position, end)
        if found is None:
            findings.add("zip_directory", f"row {number + 1} of the directory is incomplete")
            return rows
        row, position = found
        rows.append(row)
    if position != end:
        findings.add("zip_directory", f"the directory has {end - position} bytes after its rows")
    return rows


def _read_row(data: bytes, position: int, end: int) -> tuple[Row, int] | None:
    """Read a directory row; return it and where the next one starts, None if it is incomplete."""
    if position + _CENTRAL.size > end or data[position : position + 4] != _CENTRAL_SIGNATURE:
        return None
    _, made_by, *fields = _CENTRAL.unpack_from(data, position)
    name_size, extra_size, comment_size, disk, internal, external, offset = fields[8:]
    extra = position + _CENTRAL.size + name_size
    comment = extra + extra_size
    last = comment + comment_size
    if last > end:
        return None
    name = data[position + _CENTRAL.size : extra]
    header = Header._make((*fields[:8], name, data[extra:comment]))
    return Row(header, made_by, internal, external, offset, disk, data[comment:last]), last


def _read_local(data: bytes, position: int) -> tuple[Header, int] | None:
    """Read a local header; return it and where it ends, None if it is incomplete."""
    if position + _LOCAL.size > len(data) or data[position : position + 4] != _LOCAL_SIGNATURE:
        return None
    _, *fields, name_size, extra_size = _LOCAL.unpack_from(data, position)
    extra = position + _LOCAL.size + name_size
    end = extra + extra_size
    if end > len(data):
        return None
    name = data[position + _LOCAL.size : extra]
    return Header._make((*fields, name, data[extra:end])), end


def _check_sizes(unpacked: int, packed: int, findings: Findings) -> None:
    """Report an archive whose members are too large, in all or for its size."""
    if unpacked > limits.ARCHIVE_MAX_UNPACKED_BYTES:
        most = limits.ARCHIVE_MAX_UNPACKED_BYTES
        findings.add("archive_bomb", f"unpacks to {unpacked} bytes; the limit is {most}")
    elif unpacked > limits.ARCHIVE_RATIO_FREE_BYTES + limits.ARCHIVE_MAX_RATIO * packed:
        findings.add("archive_bomb", f"unpacks from {packed} to {unpacked} bytes: a bomb")


def _check_row(row: Row, findings: Findings) -> None:
    """Report a member that is not a plain file or folder, or that not every tool can unpack."""
    name, header = row.name, row.header
    if row.disk:
        findings.add("zip_directory", "is listed as being on another disk", name)
    if row.comment:
        findings.add("zip_comment", f"has a comment of {len(row.comment)} bytes", name)
    if not (header.flags & IS_UTF8 or header.name.isascii()):
        findings.add("path_not_utf8", "is not marked as UTF-8: tools decode it differently", name)
    _check_extra(header.extra, name, findings)
    if what := _special_type(row):
        findings.add("special_member", what, name)
    _check_compression(header, name, findings)


def _check_compression(header: Header, name: str, findings: Findings) -> None:
    if header.flags & _ENCRYPTED:
        findings.add("zip_encrypted", "is encrypted", name)
    elif header.flags & ~_KNOWN_FLAGS:
        findings.add("zip_flags", f"has the unknown flags {header.flags:#06x}", name)
    if header.version & 0xFF > _MAX_VERSION:
        findings.add("zip_method", f"needs version {header.version} of the zip format", name)
    if header.method not in {STORED, DEFLATED}:
        findings.add("zip_method", f"is compressed by method {header.method}", name)
    elif header.method == STORED and header.packed_size != header.size:
        findings.add("zip_size", "is stored, but its packed size is not its size", name)


def _check_extra(extra: bytes, name: str, findings: Findings) -> None:
    """Report an extra field that is malformed, or whose meaning not every tool knows."""
    position = 0
    seen: set[int] = set()
    while position < len(extra):
        kind, size = struct.unpack("<2H", extra[position : position + 4].ljust(4, b"\xff"))
        position += 4 + size
        if position > len(extra) or kind in seen:
            findings.add("zip_extra", "has a malformed extra field", name)
            return
        seen.add(kind)
        if kind not in _KNOWN_EXTRA:
            code = "zip64" if kind == _ZIP64_EXTRA else "zip_extra"
            findings.add(code, f"has an extra field of kind {kind:#06x}", name)


def _special_type(row: Row) -> str | None:
    """Return what a member is according to its attributes, None for a plain file or folder."""
    file_type = stat.S_IFMT(row.mode)
    if file_type not in {0, stat.S_IFDIR if row.is_folder else stat.S_IFREG}:
        return f"is {_FILE_TYPES.get(file_type, 'a special file')}"
    if row.is_folder:
        return "is a folder, but has contents" if row.header.size else None
    if row.external & (_DOS_FOLDER | _DOS_LABEL):
        return "is marked as a folder or a volume, but has the name of a file"
    is_ambiguous = not file_type and row.mode & 0o111
    return "is executable, but its mode has no file type" if is_ambiguous else None


def _packed_bytes(
    data: bytes, rows: Sequence[Row], directory: int, findings: Findings
) -> dict[int, memoryview]:
    """Return the packed bytes of members by offset; report gaps, overlaps and other headers."""
    packed: dict[int, memoryview] = {}
    ordered = sorted(rows, key=lambda row: row.offset)
    if first := ordered[0].offset if ordered else directory:
        findings.add("zip_prefix", f"has {first} bytes before its first member")
    ends = [*(row.offset for row in ordered[1:]), directory]
    for row, end in zip(ordered, ends, strict=False):
        local = _read_local(data, row.offset) if row.offset < end else None
        if local is None:
            message = "has no local header, or shares it with another member"
            findings.add("zip_overlap", message, row.name)
            continue
        header, start = local
        _check_local(row, header, findings)
        stop = start + row.header.packed_size
        if stop > end:
            findings.add("zip_overlap", "extends into what follows it", row.name)
            continue
        packed[row.offset] = memoryview(data)[start:stop]
        _check_gap(row, packed[row.offset], data[stop:end], findings)
    return packed


def _check_local(row: Row, local: Header, findings: Findings) -> None:
    """Compare a local header with the directory; a streamed member may leave out CRC and sizes."""
    _check_extra(local.extra, row.name, findings)
    header = row.header
    if local.flags & _HAS_DESCRIPTOR and not (local.crc or local.packed_size or local.size):
        local = local._replace(crc=header.crc, packed_size=header.packed_size, size=header.size)
    fields = [field for field in Header._fields if field != "extra"]
    differing = [field for field in fields if getattr(header, field) != getattr(local, field)]
    if differing:
        listed = ", ".join(differing).replace("_", " ")
        message = f"differs from the directory in its local header: {listed}"
        findings.add("zip_local_header", message, row.name)


def _check_gap(row: Row, packed: memoryview, gap: bytes, findings: Findings) -> None:
    """Report bytes after a member that are not its data descriptor."""
    header = row.header
    if header.flags & _HAS_DESCRIPTOR:
        descriptor = struct.pack("<3L", header.crc, header.packed_size, header.size)
        if gap not in {descriptor, _DESCRIPTOR_SIGNATURE + descriptor}:
            findings.add("zip_descriptor", "has a data descriptor that differs", row.name)
        stored = bytes(packed) if header.method == STORED else b""
        if _DESCRIPTOR_SIGNATURE in stored or _LOCAL_SIGNATURE in stored:
            findings.add("zip_descriptor", "contains what looks like its own end", row.name)
    elif gap:
        unlisted = gap.startswith(_LOCAL_SIGNATURE)
        what = "a member missing from the directory" if unlisted else "unused bytes"
        findings.add("zip_gap", f"is followed by {what} ({len(gap)} bytes)", row.name)


def _unpack(row: Row, packed: memoryview, findings: Findings) -> bytes:
    """Unpack a member, never to more bytes than the directory announces."""
    header, name = row.header, row.name
    data = bytes(packed)
    if header.method == DEFLATED:
        inflater = zlib.decompressobj(-zlib.MAX_WBITS)
        try:
            data = inflater.decompress(packed, header.size + 1)
        except zlib.error:
            findings.add("zip_data", "is not valid deflate data", name)
            return b""
        if not inflater.eof or inflater.unused_data or len(data) != header.size:
            findings.add("zip_size", f"does not unpack to exactly {header.size} bytes", name)
            return data
    if zlib.crc32(data) != header.crc:
        findings.add("zip_crc", "has a wrong CRC", name)
    return data

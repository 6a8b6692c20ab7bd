"""Decision: the members of a zip, one behind the other from its first byte to its directory.

Each local header must say what the directory says, and no byte may lie between two members: a
reader that goes from header to header then sees what one sees that goes by the directory.
"""

from __future__ import annotations

import stat
import struct
import zlib
from typing import TYPE_CHECKING, Final

from skills_bundle.archives import limits
from skills_bundle.archives import zip_records as records
from skills_bundle.archives.zip_directory import is_same_name, name_of
from skills_bundle.archives.zip_records import SENTINEL_4

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skills_bundle.archives.findings import Findings
    from skills_bundle.archives.zip_records import Header, Row

DOS_FOLDER: Final = 0x10
"""The bit of the external attributes by which DOS marks a folder."""
DOS_LABEL: Final = 0x08
"""The bit by which DOS marks the name of a volume; some tools skip such a member."""
_COMPARED: Final = {
    "version needed": "needed",
    "flags": "flags",
    "compression": "method",
    "time": "time",
    "date": "date",
    "name": "name",
}


def check_sizes(data: bytes, rows: Sequence[Row], findings: Findings) -> None:
    """Refuse what would unpack to too much, before anything is unpacked."""
    whole = sum(row.header.size for row in rows)
    note_bomb(whole, len(data), findings)


def note_bomb(unpacked: int, packed: int, findings: Findings) -> None:
    """Note an archive whose members are too large, or too large for the bytes they come from."""
    if unpacked > limits.ARCHIVE_MAX_UNPACKED_BYTES:
        most = limits.ARCHIVE_MAX_UNPACKED_BYTES
        findings.add("archive_bomb", f"unpacks to {unpacked} bytes; at most {most} are unpacked")
    elif unpacked > limits.ARCHIVE_RATIO_FREE_BYTES + limits.ARCHIVE_MAX_RATIO * packed:
        findings.add("archive_bomb", f"unpacks {packed} bytes to {unpacked}: a bomb")


def check_attributes(row: Row, findings: Findings) -> None:
    """Note members that are neither plain files nor folders, or that nobody can unpack."""
    name, header = name_of(row), row.header
    if what := _what_is_special(row, is_folder=name.endswith("/")):
        findings.add("special_member", what, name)
    if name.endswith("/") and header.size:
        findings.add("special_member", "is named like a folder and holds bytes", name)
    if header.flags & records.ENCRYPTED:
        findings.add("zip_encrypted", "is encrypted", name)
    elif header.flags & ~records.KNOWN_FLAGS:
        findings.add("zip_flags", f"has the unknown flags {header.flags:#06x}", name)
    if header.needed & 0xFF > records.NEEDED_MAX:
        findings.add("zip_method", f"asks for version {header.needed} of the format", name)
    if header.method not in {records.STORED, records.DEFLATED}:
        findings.add("zip_method", f"is compressed by method {header.method}", name)
    elif header.method == records.STORED and header.packed != header.size:
        findings.add("zip_size", "is stored, and has two sizes", name)


def _what_is_special(row: Row, *, is_folder: bool) -> str | None:
    """Say what the attributes make of a member besides a plain file or folder."""
    mode = row.external >> 16
    kind = stat.S_IFMT(mode)
    if kind not in {0, stat.S_IFDIR if is_folder else stat.S_IFREG}:
        return f"is {_KINDS.get(kind, 'a special file')}"
    if row.external & DOS_FOLDER and not is_folder:
        return "is marked as a folder and named like a file"
    if row.external & DOS_LABEL:
        return "is marked as the name of a volume"
    if not kind and mode & 0o111 and not is_folder:
        return "is executable for some tools alone: it is marked as no kind of file"
    return None


_KINDS: Final = {
    stat.S_IFLNK: "a symbolic link",
    stat.S_IFDIR: "a folder, and named like a file",
    stat.S_IFREG: "a file, and named like a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def packed_bytes(
    data: bytes, rows: Sequence[Row], directory: int, findings: Findings
) -> dict[int, memoryview]:
    """Find every member's packed bytes.

    Args:
        data: The archive.
        rows: The directory.
        directory: Where it begins.
        findings: Takes gaps, overlaps, and headers that differ.

    Returns:
        By offset of the member; those that could not be found are missing.
    """
    found: dict[int, memoryview] = {}
    ordered = sorted(rows, key=lambda row: row.offset)
    ends = [*(row.offset for row in ordered), directory][1:]
    if first := ordered[0].offset if ordered else directory:
        findings.add("zip_prefix", f"has {first} bytes before its first member")
    for row, end in zip(ordered, ends, strict=True):
        local = records.read_local(data, row.offset) if row.offset < end else None
        if local is None:
            findings.add(
                "zip_overlap", "has no local header, or shares it with another", name_of(row)
            )
            continue
        if not _check_local(row.header, local, name_of(row), findings):
            continue
        start = row.offset + local.length
        stop = start + row.header.packed
        if stop > end:
            findings.add("zip_overlap", "reaches into what follows it", name_of(row))
            continue
        _check_behind(data, row, (stop, end), findings)
        found[row.offset] = memoryview(data)[start:stop]
    return found


def _check_local(header: Header, local: Header, name: str, findings: Findings) -> bool:
    """Compare a local header with the directory; tell whether its sizes are those."""
    differing = [
        word for word, field in _COMPARED.items() if getattr(header, field) != getattr(local, field)
    ]
    parts = records.read_extra(local.extra)
    if parts is None:
        findings.add("zip_extra", "has a malformed extra field in its local header", name)
        return False
    for kind in sorted(parts.keys() - records.KNOWN_EXTRA):
        findings.add("zip_extra", f"has an extra field of kind {kind:#06x} in its header", name)
    if not is_same_name(parts.get(records.NAME_EXTRA), local.name):
        differing.append("Unicode path")
    figures = _figures(local, parts)
    wanted = (header.crc, header.packed, header.size)
    streamed = bool(local.flags & records.HAS_DESCRIPTOR)
    if figures is None:
        findings.add("zip64", "has sizes that its local zip64 field does not fit", name)
        return False
    differing += [
        word
        for word, one, other in zip(("CRC", "packed size", "size"), wanted, figures, strict=True)
        if one != other and not (streamed and other == 0)
    ]
    if differing:
        listed = ", ".join(differing)
        findings.add("zip_local_header", f"has another {listed} in its local header", name)
    return not differing


def _figures(local: Header, parts: dict[int, bytes]) -> tuple[int, int, int] | None:
    """Give CRC and sizes of a local header; None if zip64's field does not fit.

    A writer that does not know the size yet may announce zip64 and then not need it, so the field
    is there with both sizes whenever it is there.
    """
    part = parts.get(records.ZIP64_EXTRA)
    wide = [value == SENTINEL_4 for value in (local.size, local.packed)]
    if part is None:
        return None if any(wide) else (local.crc, local.packed, local.size)
    if len(part) != 16 or not all(wide):
        return None
    size, packed = struct.unpack("<2Q", part)
    return local.crc, packed, size


def _check_behind(data: bytes, row: Row, gap: tuple[int, int], findings: Findings) -> None:
    """Note bytes between a member and what follows that are not its data descriptor."""
    start, end = gap
    name = name_of(row)
    behind = data[start : min(end, start + 32)] if end - start <= 32 else None
    if row.header.flags & records.HAS_DESCRIPTOR:
        if behind not in records.descriptors(row.header):
            findings.add("zip_descriptor", "has a data descriptor that says something else", name)
        packed = data[start - row.header.packed : start]
        if row.header.method == records.STORED and _may_mislead(packed):
            findings.add("zip_descriptor", "holds what looks like its own end", name)
    elif start != end:
        unlisted = data[start : start + 4] == records.LOCAL
        what = "a member that the directory does not list" if unlisted else "bytes of nobody"
        findings.add("zip_gap", f"is followed by {what} ({end - start} bytes)", name)


def _may_mislead(packed: bytes) -> bool:
    """Tell whether a reader that looks for the end of a stored member could find another one."""
    return records.DESCRIPTOR in packed or records.LOCAL in packed


def unpacked(row: Row, packed: memoryview, findings: Findings) -> bytes:
    """Unpack a member: never more than the directory says, which was bounded before.

    Returns:
        The bytes; what there is of them if they are not those that the directory announces.
    """
    header, name = row.header, name_of(row)
    data = bytes(packed)
    if header.method == records.DEFLATED:
        inflater = zlib.decompressobj(-zlib.MAX_WBITS)
        try:
            data = inflater.decompress(packed, header.size + 1)
        except zlib.error:
            findings.add("zip_data", "cannot be inflated", name)
            return b""
        if not inflater.eof or inflater.unused_data or len(data) != header.size:
            findings.add("zip_size", f"does not unpack to exactly {header.size} bytes", name)
            return data
    if zlib.crc32(data) != header.crc:
        findings.add("zip_crc", "has bytes of another CRC", name)
    return data

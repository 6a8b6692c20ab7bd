"""Decision: where a zip's directory is, such that no reader can find another one; its rows.

Readers look for the end record from the end; some take a comment into account, some skip what lies
before the first member, some go from header to header. They agree only if there is nothing else:
the end record closes the file, the directory lies right before it, and every row is whole.
"""

from __future__ import annotations

import struct
import zlib
from typing import TYPE_CHECKING, Final

from skills_bundle.archives import limits
from skills_bundle.archives import zip_records as records
from skills_bundle.archives.zip_records import SENTINEL_2, SENTINEL_4
from skills_bundle.errors import Problem, UnreadableArchiveError

if TYPE_CHECKING:
    from skills_bundle.archives.findings import Findings
    from skills_bundle.archives.zip_records import End, Row

_SEARCHED: Final = 0xFFFF + records.END_SIZE
"""How far from the end an end record can begin: its comment has two bytes for its size."""


def read_directory(data: bytes, findings: Findings) -> tuple[list[Row], int]:
    """Find the directory and read it.

    Args:
        data: The archive.
        findings: Takes what speaks against it.

    Returns:
        The rows in their order, as far as they are whole, and where the directory begins.

    Raises:
        UnreadableArchiveError: If there is no end record: this is no zip.
        UnsafeArchiveError: If there is no directory where the end record places it.
    """
    end = _find_end(data, findings)
    end, limit = _with_zip64(data, end, findings)
    if (end.disk, end.directory_disk, end.disk_entries) != (0, 0, end.entries):
        findings.add("zip_end", "the end record speaks of several disks")
    if end.entries > limits.ARCHIVE_MAX_MEMBERS:
        findings.add("archive_too_many", f"lists more than {limits.ARCHIVE_MAX_MEMBERS} members")
    elif end.directory_offset + end.directory_size != limit:
        findings.add(
            "zip_end",
            f"the end record places a directory of {end.directory_size} bytes at "
            f"{end.directory_offset}; it would have to end at {limit}",
        )
    else:
        return _rows(data, end, limit, findings), end.directory_offset
    findings.refuse()  # without a directory there is nothing more to tell
    return [], limit


def _find_end(data: bytes, findings: Findings) -> End:
    """Find the end record that all readers that find one find."""
    last = len(data) - records.END_SIZE
    position = data.rfind(records.END, max(0, len(data) - _SEARCHED))
    if position < 0 or position > last:
        problem = Problem(
            code="no_zip", message="has no end record: it is no zip, or cut short",
            path=findings.file_name,
        )  # fmt: skip
        raise UnreadableArchiveError("The archive cannot be read.", (problem,))
    end = records.read_end(data, position)
    behind = len(data) - position - records.END_SIZE
    if end.comment_size and end.comment_size == behind:
        findings.add("zip_comment", f"has a comment of {behind} bytes behind its end record")
    elif behind:
        findings.add("zip_trailing", f"has {behind} bytes behind its end record")
    elif end.comment_size:
        findings.add("zip_end", "the end record announces a comment that is not there")
    return end


def _with_zip64(data: bytes, end: End, findings: Findings) -> tuple[End, int]:
    """Give the end record with zip64's values, and where the directory has to end."""
    locator = records.read_locator(data, end.position - records.LOCATOR64_SIZE)
    if locator is None:
        return end, end.position
    place = end.position - records.LOCATOR64_SIZE - records.END64_SIZE
    wide = records.read_end64(data, place)
    if wide is None or locator != (0, place, 1):
        findings.add("zip64", "the zip64 locator does not point at the record before it")
        return end, end.position - records.LOCATOR64_SIZE
    narrow = end[1:7]
    sentinels = (SENTINEL_2,) * 4 + (SENTINEL_4,) * 2
    for value, other, sentinel in zip(narrow, wide[1:], sentinels, strict=True):
        if value not in {other, sentinel}:
            findings.add("zip64", "the zip64 end record contradicts the end record")
            break
    return records.End(end.position, *wide[1:], end.comment_size), place


def _rows(data: bytes, end: End, limit: int, findings: Findings) -> list[Row]:
    rows: list[Row] = []
    position = end.directory_offset
    for number in range(end.entries):
        row = records.read_row(data, position, limit)
        if row is None:
            findings.add("zip_directory", f"row {number + 1} of the directory is not whole")
            return rows
        position += row.length
        rows.append(_checked(row, findings))
    if position != limit:
        findings.add(
            "zip_directory", f"the directory has {limit - position} bytes behind its last row"
        )
    return rows


def name_of(row: Row) -> str:
    """Give a member's name; what is not UTF-8 becomes lone surrogates, which no name may hold."""
    return row.header.name.decode("utf-8", "surrogateescape")


def _checked(row: Row, findings: Findings) -> Row:
    """Note what speaks against a row by itself; give it with zip64's values."""
    name = name_of(row)
    if row.disk:
        findings.add("zip_directory", "is said to lie on another disk", name)
    if row.comment:
        findings.add("zip_comment", f"has a comment of {len(row.comment)} bytes", name)
    if not (row.header.flags & records.IS_UTF8 or row.header.name.isascii()):
        findings.add("path_not_utf8", "is not marked as UTF-8: tools read it differently", name)
    parts = records.read_extra(row.header.extra)
    if parts is None:
        findings.add("zip_extra", "has a malformed extra field", name)
        return row
    if records.AES_EXTRA in parts:
        findings.add("zip_encrypted", "is encrypted", name)
    for kind in sorted(parts.keys() - records.KNOWN_EXTRA - {records.AES_EXTRA}):
        findings.add("zip_extra", f"has an extra field of kind {kind:#06x}", name)
    if not is_same_name(parts.get(records.NAME_EXTRA), row.header.name):
        findings.add("zip_unicode_path", "has another name in its extra field", name)
    return _widened(row, parts.get(records.ZIP64_EXTRA), findings)


def is_same_name(part: bytes | None, name: bytes) -> bool:
    """Tell whether Info-ZIP's Unicode path, which some tools prefer, is the name itself."""
    return part is None or part == b"\x01" + struct.pack("<L", zlib.crc32(name)) + name


def _widened(row: Row, part: bytes | None, findings: Findings) -> Row:
    """Take sizes and offset from zip64's extra field where the row says so, and only there."""
    header = row.header
    asked = [value == SENTINEL_4 for value in (header.size, header.packed, row.offset)]
    if part is None and not any(asked):
        return row
    values = [0] * (0 if part is None else len(part) // 8)
    if part is None or len(part) != 8 * sum(asked) or not part:
        findings.add("zip64", "has sizes that its zip64 field does not fit", name_of(row))
        return row
    values = [*struct.unpack(f"<{len(values)}Q", part)]
    size, packed, offset = (
        values.pop(0) if wide else value
        for wide, value in zip(asked, (header.size, header.packed, row.offset), strict=True)
    )
    return row._replace(header=header._replace(size=size, packed=packed), offset=offset)

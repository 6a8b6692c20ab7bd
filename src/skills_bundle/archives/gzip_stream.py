"""Decision: one gzip stream, nothing before it, nothing behind it (RFC 1952).

Some readers stop after the first stream of a file, some go on with the next, some mind what comes
behind it and some do not; so there must be exactly one.
"""

from __future__ import annotations

import struct
import zlib
from typing import TYPE_CHECKING, Final

from skills_bundle.archives import limits
from skills_bundle.errors import Problem, UnreadableArchiveError
from skills_bundle.formats import limits as format_limits

if TYPE_CHECKING:
    from skills_bundle.archives.findings import Findings

MAGIC: Final = b"\x1f\x8b"
_HEAD_SIZE: Final = 10
_HAS_NAME: Final = 0x08
_IS_TEXT: Final = 0x01
_DEFLATE: Final = 8
_CHUNK: Final = format_limits.MIB


def unpack(data: bytes, findings: Findings) -> bytes:
    """Unpack a file that is one gzip stream; never more than the limits allow.

    Args:
        data: The file.
        findings: Takes what speaks against it.

    Returns:
        The bytes, as far as they were unpacked.

    Raises:
        UnreadableArchiveError: If it does not begin like gzip.
    """
    if len(data) < _HEAD_SIZE or data[:2] != MAGIC or data[2] != _DEFLATE:
        problem = Problem(code="no_gzip", message="is no gzip", path=findings.file_name)
        raise UnreadableArchiveError("The archive cannot be read.", (problem,))
    start = _head_size(data, findings)
    whole, end = _inflated(data, start, findings)
    if end is not None:
        _check_tail(data, end, whole, findings)
    return whole


def _head_size(data: bytes, findings: Findings) -> int:
    """Give where the deflated bytes begin."""
    flags = data[3]
    if flags & ~(_HAS_NAME | _IS_TEXT):
        findings.add("gzip_header", f"has a gzip header with the flags {flags:#04x}")
    if not flags & _HAS_NAME:
        return _HEAD_SIZE
    end = data.find(b"\0", _HEAD_SIZE)
    return len(data) if end < 0 else end + 1


def _inflated(data: bytes, start: int, findings: Findings) -> tuple[bytes, int | None]:
    """Give the unpacked bytes, and where the deflated ones end, if they do."""
    most = min(
        limits.ARCHIVE_MAX_UNPACKED_BYTES,
        limits.ARCHIVE_RATIO_FREE_BYTES + limits.ARCHIVE_MAX_RATIO * len(data),
    )
    inflater = zlib.decompressobj(-zlib.MAX_WBITS)
    whole = bytearray()
    try:
        for position in range(start, len(data), _CHUNK):
            chunk = memoryview(data)[position : position + _CHUNK]
            whole += inflater.decompress(chunk, most + 1 - len(whole))
            if len(whole) > most:
                findings.add("archive_bomb", f"unpacks {len(data)} bytes to more than {most}")
                return b"", None
            if inflater.eof:
                return bytes(whole), position + len(chunk) - len(inflater.unused_data)
    except zlib.error:
        findings.add("gzip_data", "cannot be inflated")
        return b"", None
    findings.add("gzip_data", "is cut short")
    return b"", None


def _check_tail(data: bytes, end: int, whole: bytes, findings: Findings) -> None:
    """Compare CRC and size, and note whatever comes behind them."""
    tail = data[end : end + 8]
    if tail != struct.pack("<2L", zlib.crc32(whole), len(whole) & 0xFFFFFFFF):
        findings.add("gzip_crc", "unpacks to bytes of another CRC or size")
    behind = data[end + 8 : end + 10]
    if behind == MAGIC:
        findings.add("gzip_members", "has a second gzip stream behind the first")
    elif behind:
        findings.add("gzip_trailing", f"has {len(data) - end - 8} bytes behind its gzip stream")

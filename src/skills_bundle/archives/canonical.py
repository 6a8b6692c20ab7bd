"""Decision: the one form in which a build writes wheels and sdists.

The bytes depend only on the members and their modes: not on zlib (nothing is compressed unless the
project asks for it), the operating system, the clock or `SOURCE_DATE_EPOCH`.
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
from typing import TYPE_CHECKING, Final

from skills_bundle.archives.model import Member
from skills_bundle.formats.digest import sha256_hex

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from skills_bundle.archives.model import Compression

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

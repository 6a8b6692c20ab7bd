"""Edge: open a wheel or sdist, read once; every check of the archive itself is made here.

Nothing is unpacked to disk. What `open_archive` returns is what every tool sees in the file, or it
raises.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Literal

from skills_bundle.archives import limits, model, zip_format
from skills_bundle.archives.model import Archive, Entry, Findings, Member
from skills_bundle.archives.names import check_names, check_size
from skills_bundle.archives.tar_format import (
    GZIP_HEADER_SIZE,
    POSIX_MAGIC,
    TarMember,
    TarReader,
    unpack_gzip,
)
from skills_bundle.errors import Problem, UnreadableArchiveError
from skills_bundle.files.paths import from_disk, shown
from skills_bundle.formats.digest import sha256_hex

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from skills_bundle.archives.model import ArchiveKind
    from skills_bundle.archives.zip_format import Row

SUFFIXES: dict[str, ArchiveKind] = {".whl": "wheel", ".tar.gz": "sdist"}
"""File name suffixes (PyPA, Binary distribution format; PEP 625)."""
_METHODS = {zip_format.STORED: "stored", zip_format.DEFLATED: "deflated"}


def open_archive(path: Path, *, kind: ArchiveKind | None = None) -> Archive:
    """Read a wheel or sdist.

    Args:
        path: The file; a link is followed.
        kind: What it must be; by default either.

    Raises:
        UnreadableArchiveError: If the file is missing, unreadable, too large, or of another kind.
        UnsafeArchiveError: If two tools could see different contents in it, or it is a bomb.
    """
    name = shown(from_disk(path.name or str(path)))
    found = kind_of(name)
    if found is None or kind not in {None, found}:
        wanted = " or ".join(f"*{end}" for end, one in SUFFIXES.items() if kind in {None, one})
        hint = f"; use `skills-bundle verify-{found}`" if found else ""
        raise _unreadable(name, "archive_kind", f"is not called {wanted}{hint}")
    data = _read(path, name)
    return read_wheel(data, name) if found == "wheel" else read_sdist(data, name)


def kind_of(file_name: str) -> ArchiveKind | None:
    """Return what kind of archive a file name is for; None if neither wheel nor sdist."""
    return next((kind for end, kind in SUFFIXES.items() if file_name.endswith(end)), None)


def _read(path: Path, name: str) -> bytes:
    """Read the file once, up to the limit."""
    try:
        # Non-blocking: opening a pipe would otherwise wait for a writer.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with open(descriptor, "rb") as file:  # noqa: PTH123 -- a descriptor has no path
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise _unreadable(name, "not_regular", "is not a regular file")
            data = file.read(limits.ARCHIVE_MAX_BYTES + 1)
    except OSError as error:
        cause = error.strerror or type(error).__name__
        raise _unreadable(name, "unreadable", f"cannot be read: {cause}") from error
    if len(data) > limits.ARCHIVE_MAX_BYTES:
        most = limits.ARCHIVE_MAX_BYTES
        raise _unreadable(name, "archive_too_large", f"has more than {most} bytes")
    return data


def _unreadable(name: str, code: str, message: str) -> UnreadableArchiveError:
    problem = Problem(code=code, message=message, path=name)
    return UnreadableArchiveError("The archive cannot be read.", (problem,))


def read_wheel(data: bytes, file_name: str) -> Archive:
    """Read a wheel.

    Args:
        data: The file, at most `limits.ARCHIVE_MAX_BYTES`.
        file_name: Without folders.

    Raises:
        UnsafeArchiveError: With every problem, if two tools could see different contents.
        UnreadableArchiveError: If it is not a zip.
    """
    rows = zip_format.read_zip(data, Findings(file_name))
    members = {
        row.name: Member(unpacked, bool(row.mode & 0o111))
        for row, unpacked in sorted(rows, key=lambda found: found[0].name.encode())
        if not row.is_folder
    }
    listed = [row for row, _ in rows]
    return Archive(
        kind="wheel",
        file_name=file_name,
        sha256=sha256_hex(data),
        size=len(data),
        top="",
        members=members,
        entries=tuple(Entry(path=row.name, facts=_zip_facts(row)) for row in listed),
        canonical=_wheel_form(data, listed, members),
    )


def _zip_facts(row: Row) -> dict[str, str]:
    header = row.header
    date, time = header.date, header.time
    return {
        "mode": f"{row.mode:06o}",
        "date": f"{1980 + (date >> 9)}-{date >> 5 & 15:02}-{date & 31:02} "
        f"{time >> 11:02}:{time >> 5 & 63:02}:{(time & 31) * 2:02}",
        "compression": _METHODS[header.method],
        "packed size": str(header.packed_size),
        "made by": f"system {row.made_by >> 8}, version {row.made_by & 255}",
        "needs version": str(header.version),
        "flags": f"{header.flags:#06x}",
        "attributes": f"{row.external & 0xFFFF:#06x}, {row.internal:#06x}",
        "extra": header.extra.hex(),
    }


def _wheel_form(
    data: bytes, rows: Sequence[Row], members: Mapping[str, Member]
) -> Literal["yes", "no", "partly"]:
    """Return whether this is what `model.write_wheel` writes for these members."""
    tops = {name.partition("/")[0] for name in members}
    dist_infos = [top for top in tops if top.endswith(".dist-info")]
    plain = [_is_canonical_row(row) for row in rows if not row.is_folder]
    if len(dist_infos) != 1 or not any(plain):
        return "no"
    if {row.header.method for row in rows} == {zip_format.STORED}:
        return "yes" if model.write_wheel(members, dist_infos[0], "stored") == data else "partly"
    # The bytes of deflated members depend on zlib, so only the headers are compared.
    order = model.order_of_wheel(members, dist_infos[0])
    if all(plain) and [row.name for row in rows] == order:
        return "yes"
    return "partly" if not all(plain) else "no"


def _is_canonical_row(row: Row) -> bool:
    """Return whether a member is listed as the canonical form lists it."""
    header = row.header
    utf8 = 0 if header.name.isascii() else zip_format.IS_UTF8
    modes = {(model.REGULAR | mode) << 16 for mode in (0o644, 0o755)}
    found = (row.made_by, header.version, header.flags, header.date, header.time, header.extra)
    wanted = (model.UNIX << 8 | 20, 20, utf8, 0x21, 0, b"")
    return found == wanted and row.external in modes and not row.internal


def read_sdist(data: bytes, file_name: str) -> Archive:
    """Read an sdist: one gzip stream, with one tar, with one folder of plain files.

    Args:
        data: The file, at most `limits.ARCHIVE_MAX_BYTES`.
        file_name: Without folders.

    Raises:
        UnsafeArchiveError: With every problem, if two tools could see different contents.
        UnreadableArchiveError: If it is not gzip.
    """
    findings = Findings(file_name)
    tar = unpack_gzip(data, findings)
    findings.refuse()
    rows = [*TarReader(tar, findings).members()]
    check_names([row.name for row in rows], findings)
    for row in rows:
        check_size(row.name, len(row.data), findings)
    top = _top(rows, findings)
    findings.refuse()
    members = {
        row.name[len(top) + 1 :]: Member(bytes(row.data), bool((row.header.mode or 0) & 0o111))
        for row in sorted(rows, key=lambda row: row.name.encode())
        if not row.name.endswith("/")
    }
    return Archive(
        kind="sdist",
        file_name=file_name,
        sha256=sha256_hex(data),
        size=len(data),
        top=top,
        members=members,
        entries=tuple(Entry(path=row.name, facts=_tar_facts(row)) for row in rows),
        wrapping={"gzip header": data[:GZIP_HEADER_SIZE].hex(), "tar size": str(len(tar))},
        canonical=_sdist_form(data, tar, rows, members, top),
    )


def _top(rows: Sequence[TarMember], findings: Findings) -> str:
    """Return the one folder that holds everything; report members outside it."""
    if not rows:
        findings.add("tar_top", "is empty")
        return ""
    top = rows[0].name.partition("/")[0]
    for row in rows:
        if not row.name.startswith(f"{top}/"):
            message = f"is outside {top!r}, the folder of the first member"
            findings.add("tar_top", message, row.name)
    return top


def _tar_facts(row: TarMember) -> dict[str, str]:
    header, pax = row.header, row.pax
    is_posix = header.magic == POSIX_MAGIC
    return {
        "mode": f"{header.mode or 0:04o}",
        "time": pax.get("mtime", str(header.mtime)),
        "owner": f"{pax.get('uid', header.uid)}:{pax.get('gid', header.gid)}",
        "owner's name": ":".join(
            pax.get(key, text.decode("utf-8", "backslashreplace"))
            for key, text in (("uname", header.owner), ("gname", header.group))
        ),
        "format": ("pax" if pax else "ustar") if is_posix else "GNU",
        "extended header": ", ".join(sorted(pax)),
    }


def _sdist_form(
    data: bytes, tar: bytes, rows: Sequence[TarMember], members: Mapping[str, Member], top: str
) -> Literal["yes", "no", "partly"]:
    """Return whether this is what `model.write_sdist` writes for these members."""
    if not any(map(_is_canonical_header, rows)):
        return "no"
    wanted = model.write_tar(members, top)
    whole = model.stored_gzip(wanted)
    if data == whole:
        return "yes"
    # An equal tar that was compressed is only packed differently; anything else was edited.
    return "no" if tar == wanted and len(data) != len(whole) else "partly"


def _is_canonical_header(row: TarMember) -> bool:
    """Return whether a header has the canonical form's values where other tools' differ."""
    header = row.header
    found = (header.mtime, header.uid, header.gid, header.owner, header.group, header.magic)
    return found == (model.TAR_TIME, 0, 0, b"", b"", POSIX_MAGIC)

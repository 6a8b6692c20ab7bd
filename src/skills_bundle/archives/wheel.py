"""Decision: a wheel's bytes become its members, or the reasons why they cannot be trusted.

Every byte of the file is accounted for: members one behind the other, the directory, its end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from skills_bundle.archives import canonical, zip_directory, zip_members, zip_records
from skills_bundle.archives.findings import Findings
from skills_bundle.archives.model import Archive, Entry, Member
from skills_bundle.archives.names import check_names, check_size
from skills_bundle.archives.zip_directory import name_of
from skills_bundle.formats.digest import sha256_hex

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Literal

    from skills_bundle.archives.zip_records import Row

_METHODS = {zip_records.STORED: "stored", zip_records.DEFLATED: "deflated"}


def read(data: bytes, file_name: str) -> Archive:
    """Read a wheel.

    Args:
        data: The file's bytes, at most `limits.ARCHIVE_MAX_BYTES`.
        file_name: The archive's, without folders.

    Raises:
        UnsafeArchiveError: With everything in it that two tools could see differently.
        UnreadableArchiveError: If it is no zip at all.
    """
    findings = Findings(file_name)
    rows, directory = zip_directory.read_directory(data, findings)
    check_names([name_of(row) for row in rows], findings)
    for row in rows:
        zip_members.check_attributes(row, findings)
        check_size(name_of(row), row.header.size, findings)
    zip_members.check_sizes(data, rows, findings)
    packed = zip_members.packed_bytes(data, rows, directory, findings)
    findings.refuse()
    found = {name_of(row): _member(row, packed[row.offset], findings) for row in rows}
    findings.refuse()
    files = {name: found[name] for name in sorted(found, key=str.encode) if name[-1] != "/"}
    return Archive(
        kind="wheel",
        file_name=file_name,
        sha256=sha256_hex(data),
        size=len(data),
        top="",
        members=files,
        entries=tuple(Entry(path=name_of(row), facts=_facts(row)) for row in rows),
        canonical=_form(data, rows, files),
    )


def _member(row: Row, packed: memoryview, findings: Findings) -> Member:
    return Member(zip_members.unpacked(row, packed, findings), bool(row.external >> 16 & 0o111))


def _facts(row: Row) -> dict[str, str]:
    """Put into words how a member is kept."""
    header = row.header
    date, time = header.date, header.time
    return {
        "mode": f"{row.external >> 16:06o}",
        "date": f"{1980 + (date >> 9)}-{date >> 5 & 15:02}-{date & 31:02} "
        f"{time >> 11:02}:{time >> 5 & 63:02}:{(time & 31) * 2:02}",
        "compression": _METHODS[header.method],
        "packed size": str(header.packed),
        "made by": f"system {row.made_by >> 8}, version {row.made_by & 255}",
        "needs version": str(header.needed),
        "flags": f"{header.flags:#06x}",
        "attributes": f"{row.external & 0xFFFF:#06x}, {row.internal:#06x}",
        "extra": header.extra.hex(),
    }


def _form(
    data: bytes, rows: Sequence[Row], members: Mapping[str, Member]
) -> Literal["yes", "no", "partly"]:
    """Tell whether this is what `canonical.write_wheel` writes for these members."""
    tops = {name.partition("/")[0] for name in members}
    dist_infos = [top for top in tops if top.endswith(".dist-info")]
    plain = [_is_plain(row) for row in rows if not row.header.name.endswith(b"/")]
    if len(dist_infos) != 1 or not any(plain):
        return "no"
    methods = {row.header.method for row in rows}
    if methods == {zip_records.STORED}:
        if canonical.write_wheel(members, dist_infos[0], "stored") == data:
            return "yes"
        return "partly"
    order = canonical.order_of_wheel(members, dist_infos[0])
    if all(plain) and [name_of(row) for row in rows] == order:
        return "yes"  # how zlib deflated is nobody's business
    return "partly" if not all(plain) else "no"


def _is_plain(row: Row) -> bool:
    """Tell whether a member is listed exactly as the canonical form lists it."""
    header = row.header
    utf8 = 0 if header.name.isascii() else zip_records.IS_UTF8
    modes = {(canonical.REGULAR | mode) << 16 for mode in (0o644, 0o755)}
    found = (row.made_by, header.needed, header.flags, header.date, header.time, header.extra)
    wanted = (canonical.UNIX << 8 | 20, 20, utf8, 0x21, 0, b"")
    return found == wanted and row.external in modes and not row.internal

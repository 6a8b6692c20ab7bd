"""Decision: an sdist's bytes become its members, or the reasons why they cannot be trusted.

One gzip stream, one tar in it, one folder in that, plain files in the folder.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from skills_bundle.archives import canonical, gzip_stream, tar_headers
from skills_bundle.archives.findings import Findings
from skills_bundle.archives.model import Archive, Entry, Member
from skills_bundle.archives.names import check_names, check_size
from skills_bundle.archives.tar_members import TarReader
from skills_bundle.formats.digest import sha256_hex

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skills_bundle.archives.tar_members import TarMember

_GZIP_HEAD_SIZE = len(canonical.GZIP_HEAD)


def read(data: bytes, file_name: str) -> Archive:
    """Read an sdist.

    Args:
        data: The file's bytes, at most `limits.ARCHIVE_MAX_BYTES`.
        file_name: The archive's, without folders.

    Raises:
        UnsafeArchiveError: With everything in it that two tools could see differently.
        UnreadableArchiveError: If it is no gzip at all.
    """
    findings = Findings(file_name)
    tar = gzip_stream.unpack(data, findings)
    findings.refuse()
    rows = [*TarReader(tar, findings).members()]
    check_names([row.name for row in rows], findings)
    for row in rows:
        check_size(row.name, len(row.data), findings)
    top = _top(rows, findings)
    findings.refuse()
    files = {
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
        members=files,
        entries=tuple(Entry(path=row.name, facts=_facts(row)) for row in rows),
        wrapping={"gzip header": data[:_GZIP_HEAD_SIZE].hex(), "tar size": str(len(tar))},
        canonical=_form(data, tar, rows, files, top),
    )


def _top(rows: Sequence[TarMember], findings: Findings) -> str:
    """Give the one folder that everything lies in."""
    tops = {row.name.partition("/")[0] for row in rows}
    if len(tops) == 1:
        top = next(iter(tops))
        if not any(row.name == top for row in rows):
            return top
    first = rows[0].name.partition("/")[0] if rows else ""
    if not rows:
        findings.add("tar_top", "is empty")
    for row in rows:
        if not row.name.startswith(f"{first}/"):
            findings.add("tar_top", f"lies outside {first!r}, the folder of the first", row.name)
    return first


def _facts(row: TarMember) -> dict[str, str]:
    """Put into words how a member is kept."""
    header, pax = row.header, row.pax
    is_posix = header.magic == tar_headers.POSIX_MAGIC
    return {
        "mode": f"{header.mode or 0:04o}",
        "time": pax.get("mtime", str(header.mtime)),
        "owner": f"{pax.get('uid', header.uid)}:{pax.get('gid', header.gid)}",
        "owner's name": ":".join(
            pax.get(key, text.decode("utf-8", "backslashreplace"))
            for key, text in (("uname", header.owner), ("gname", header.group))
        ),
        "format": "pax" if pax else "ustar" if is_posix else "GNU",
        "extended header": ", ".join(sorted(pax)),
    }


def _form(
    data: bytes, tar: bytes, rows: Sequence[TarMember], members: Mapping[str, Member], top: str
) -> Literal["yes", "no", "partly"]:
    """Tell whether this is what `canonical.write_sdist` writes for these members."""
    if not any(map(_is_plain, rows)):
        return "no"
    wanted = canonical.write_tar(members, top)
    whole = canonical.stored_gzip(wanted)
    if data == whole:
        return "yes"
    # The same tar, compressed by another tool, was packed again; anything else was changed.
    return "no" if tar == wanted and len(data) != len(whole) else "partly"


def _is_plain(row: TarMember) -> bool:
    """Tell whether a member's header is the canonical form's in what other tools write."""
    header = row.header
    found = (header.mtime, header.uid, header.gid, header.owner, header.group, header.magic)
    return found == (canonical.TAR_TIME, 0, 0, b"", b"", tar_headers.POSIX_MAGIC)

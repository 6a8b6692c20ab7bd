"""Real archives of a small project, and copies with one thing changed."""

from __future__ import annotations

import io
import tarfile
import zipfile
from typing import TYPE_CHECKING

from skills_bundle.archives import model
from skills_bundle.archives.model import Member, write_sdist, write_wheel
from skills_bundle.archives.reading import read_sdist, read_wheel
from skills_bundle.supply_chain.archive.contents import contents_of
from skills_bundle.supply_chain.archive.verify import verify

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skills_bundle.supply_chain.archive.verify import ArchiveVerification

WHEEL = "acme_skills-1.0-py2.py3-none-any.whl"
SDIST = "acme_skills-1.0.tar.gz"
DIST_INFO = "acme_skills-1.0.dist-info"
TOP = "acme_skills-1.0"


def verified(data: bytes, name: str = "") -> ArchiveVerification:
    """Verify an archive given as bytes, a wheel unless it is gzip."""
    is_sdist = data.startswith(b"\x1f\x8b")
    read = read_sdist if is_sdist else read_wheel
    return verify(contents_of(read(data, name or (SDIST if is_sdist else WHEEL))))


def changed_members(
    members: Mapping[str, Member], changes: Mapping[str, bytes | Member | None]
) -> dict[str, Member]:
    """Change, add or (with None) remove members; bytes keep the executable bit."""
    found = dict(members)
    for path, change in changes.items():
        if change is None:
            del found[path]
        elif isinstance(change, Member):
            found[path] = change
        else:
            found[path] = Member(change, path in found and found[path].executable)
    return found


def with_record(data: bytes, changes: Mapping[str, bytes | Member | None]) -> bytes:
    """Change a wheel and renew its RECORD."""
    members = changed_members(read_wheel(data, WHEEL).members, changes)
    return write_wheel(members, DIST_INFO, "stored")


def without_record(data: bytes, changes: Mapping[str, bytes | Member | None]) -> bytes:
    """Change a wheel, but not its RECORD, and keep the build's form."""
    members = changed_members(read_wheel(data, WHEEL).members, changes)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in sorted(members, key=lambda name: (name.startswith(DIST_INFO), name.encode())):
            info = zipfile.ZipInfo(name, model.ZIP_DATE)
            info.create_system = model.UNIX
            info.external_attr = (model.REGULAR | members[name].permissions) << 16
            archive.writestr(info, members[name].data)
    return buffer.getvalue()


def repacked(data: bytes) -> bytes:
    """Pack the same members like another tool: deflated, with folders, dated today."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.mkdir("acme_skills/")
        for name, member in read_wheel(data, WHEEL).members.items():
            info = zipfile.ZipInfo(name, (2026, 11, 30, 12, 0, 0))
            info.external_attr = (model.REGULAR | member.permissions) << 16
            archive.writestr(info, member.data, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def sdist_with(data: bytes, changes: Mapping[str, bytes | Member | None]) -> bytes:
    """Change an sdist, keeping the build's form."""
    return write_sdist(changed_members(read_sdist(data, SDIST).members, changes), TOP)


def sdist_repacked(data: bytes) -> bytes:
    """Pack the same members like another tool."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz", format=tarfile.GNU_FORMAT) as archive:
        for name, member in read_sdist(data, SDIST).members.items():
            info = tarfile.TarInfo(f"{TOP}/{name}")
            info.size, info.mode, info.mtime = len(member.data), member.permissions, 1_800_000_000
            archive.addfile(info, io.BytesIO(member.data))
    return buffer.getvalue()

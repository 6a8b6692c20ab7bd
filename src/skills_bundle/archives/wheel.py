"""Decision: a wheel's bytes become its members, or the reasons why they cannot be trusted."""

from __future__ import annotations

import io
import zipfile

from skills_bundle.archives.model import Archive, Entry, Member
from skills_bundle.errors import UnreadableArchiveError
from skills_bundle.formats.digest import sha256_hex


def read(data: bytes, file_name: str) -> Archive:
    """Read a wheel.

    Args:
        data: The file's bytes, at most `limits.ARCHIVE_MAX_BYTES`.
        file_name: The archive's, without folders.

    Raises:
        UnsafeArchiveError: With everything in it that two tools could see differently.
        UnreadableArchiveError: If it is no zip at all.
    """
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except zipfile.BadZipFile as error:
        raise UnreadableArchiveError(f"{file_name} is no zip archive.") from error
    members = {
        info.filename: Member(archive.read(info), bool(info.external_attr >> 16 & 0o100))
        for info in archive.infolist()
        if not info.is_dir()
    }
    return Archive(
        kind="wheel",
        file_name=file_name,
        sha256=sha256_hex(data),
        size=len(data),
        top="",
        members={name: members[name] for name in sorted(members, key=str.encode)},
        entries=tuple(Entry(path=info.filename, facts={}) for info in archive.infolist()),
    )

"""Decision: an sdist's bytes become its members, or the reasons why they cannot be trusted."""

from __future__ import annotations

import io
import tarfile

from skills_bundle.archives.model import Archive, Entry, Member
from skills_bundle.errors import UnreadableArchiveError
from skills_bundle.formats.digest import sha256_hex


def read(data: bytes, file_name: str) -> Archive:
    """Read an sdist.

    Args:
        data: The file's bytes, at most `limits.ARCHIVE_MAX_BYTES`.
        file_name: The archive's, without folders.

    Raises:
        UnsafeArchiveError: With everything in it that two tools could see differently.
        UnreadableArchiveError: If it is no gzip at all.
    """
    members: dict[str, Member] = {}
    entries: list[Entry] = []
    top = ""
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:gz") as archive:
            for info in archive:
                entries.append(Entry(path=info.name, facts={}))
                top, _, name = info.name.partition("/")
                file = archive.extractfile(info) if info.isfile() else None
                if file is not None:
                    members[name] = Member(file.read(), bool(info.mode & 0o100))
    except (tarfile.TarError, OSError, EOFError) as error:
        raise UnreadableArchiveError(f"{file_name} is no tar.gz archive.") from error
    return Archive(
        kind="sdist",
        file_name=file_name,
        sha256=sha256_hex(data),
        size=len(data),
        top=top,
        members={name: members[name] for name in sorted(members, key=str.encode)},
        entries=tuple(entries),
    )

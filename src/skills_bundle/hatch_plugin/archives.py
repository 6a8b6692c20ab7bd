"""Decision: wheels and sdists as hatchling wrote them, read back.

They were made a moment ago by this process, so nothing in them is suspected; archives from
elsewhere go through `skills_bundle.archives`.
"""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections import Counter

from skills_bundle.archives.model import Member
from skills_bundle.hatch_plugin.names import plain


def read_wheel(data: bytes) -> dict[str, Member]:
    """Give the members of a wheel that hatchling wrote, under plain names.

    Two spellings of one name are left as they are, for the build to refuse.
    """
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        spellings = Counter(map(plain, archive.namelist()))
        return {
            plain(info.filename) if spellings[plain(info.filename)] == 1 else info.filename: Member(
                archive.read(info), bool(info.external_attr >> 16 & 0o100)
            )
            for info in archive.infolist()
        }


def read_sdist(data: bytes) -> tuple[str, dict[str, Member | None]]:
    """Give the top folder of an sdist that hatchling wrote, and the members below it.

    A symbolic link's member is None: hatchling stores the link, whose target nobody else may
    have. A hard link is the file it is.
    """
    members: dict[str, Member | None] = {}
    top = ""
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:gz") as archive:
        for info in archive:
            top, _, name = info.name.partition("/")
            file = archive.extractfile(info) if info.isfile() or info.islnk() else None
            executable = bool(info.mode & 0o100)
            members[plain(name)] = None if file is None else Member(file.read(), executable)
    return top, members

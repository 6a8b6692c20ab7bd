"""Archives of a sample project and ways to change them, as with a zip tool."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skills_bundle.archives import model
from skills_bundle.archives.model import Member
from skills_bundle.archives.reading import open_archive
from skills_bundle.supply_chain.source.verify import Wanted, verify_source

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from skills_bundle.supply_chain.source.files import SourceFile
    from skills_bundle.supply_chain.source.verify import SourceVerification

DIST_INFO = "acme_skills-1.0.dist-info"
NOTHING = Wanted()


def rewritten(archive: Path, changes: Mapping[str, Member | bytes | None]) -> Path:
    """Rewrite an archive with other members; a wheel's RECORD agrees with them.

    Args:
        archive: A wheel or sdist; replaced.
        changes: By path; None removes a member.
    """
    found = open_archive(archive)
    members = dict(found.members)
    for path, value in changes.items():
        old = members.pop(path, Member(b""))
        if value is not None:
            members[path] = Member(value, old.executable) if isinstance(value, bytes) else value
    if found.kind == "sdist":
        archive.write_bytes(model.write_sdist(members, found.top))
    else:
        archive.write_bytes(model.write_wheel(members, DIST_INFO, "stored"))
    return archive


def verified(archive: Path, repository: Path, wanted: Wanted = NOTHING) -> SourceVerification:
    """Compare an archive with a repository."""
    return verify_source(archive, repository, wanted)


def row(found: SourceVerification, path: str) -> SourceFile:
    """Return the row of one file."""
    return next(one for one in found.files if one.path == path)


def state_of(found: SourceVerification, name: str) -> tuple[str, str]:
    """Return state and detail of one check."""
    return next((one.state, one.detail) for one in found.checks if one.name == name)

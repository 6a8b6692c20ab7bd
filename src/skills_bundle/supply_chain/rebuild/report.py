"""Record: what `rebuild` found: the verdict, its causes in words, and the whole difference."""

from __future__ import annotations

from typing import Any, Final, Literal

from skills_bundle.archives.model import ArchiveKind
from skills_bundle.formats.record import Record
from skills_bundle.supply_chain.diff import ArchiveDiff

RebuildVerdict = Literal[
    "identical", "same_content_different_archive", "different_content", "not_rebuildable"
]

EXIT_CODES: Final[dict[RebuildVerdict, Literal[0, 1, 3]]] = {
    "identical": 0,
    "same_content_different_archive": 1,
    "different_content": 1,
    "not_rebuildable": 3,
}
"""What `skills-bundle rebuild` exits with. Another archive of the same content is not the archive:
its digest is not the one that an index, a lock file or a signature names."""


class Cause(Record):
    """One reason for a verdict.

    Attributes:
        code: Stable; documented in the reference.
        message: In words, with what to do where we know it.
    """

    code: str
    message: str


class Rebuilt(Record):
    """The archive that was made anew.

    Attributes:
        file_name: Its name.
        sha256: Digest of its bytes.
        size: In bytes.
    """

    file_name: str
    sha256: str
    size: int


class Rebuild(Record):
    """What came of building a commit again.

    Attributes:
        verdict: `identical`: bit for bit. `same_content_different_archive`: the same files with the
            same bytes and modes, packed or named otherwise. `different_content`: other files.
            `not_rebuildable`: nothing was built that could be compared.
        exit_code: 0, 1, 1 or 3, in that order.
        file_name: Of the archive that was given.
        kind: `wheel` or `sdist`.
        sha256: Digest of the archive that was given.
        package_name: Normalised name of the distribution.
        package_version: Its version.
        repository: The folder that was cloned; null if it could not be opened.
        commit: Full id of the commit; null if none was found.
        project: The project's folder in it, `.` for the top; null likewise.
        front_end: `uv`, `build`, `pip` or `hatch`; null if none was run.
        rebuilt: What was made; null if nothing was.
        causes: Why the verdict is not `identical`.
        diff: The difference, from the given archive to the rebuilt one; null if nothing was made.
        log: The last lines of the front end's log, if it failed.
    """

    verdict: RebuildVerdict
    exit_code: Literal[0, 1, 3]
    file_name: str
    kind: ArchiveKind
    sha256: str
    package_name: str
    package_version: str
    repository: str | None = None
    commit: str | None = None
    project: str | None = None
    front_end: str | None = None
    rebuilt: Rebuilt | None = None
    causes: tuple[Cause, ...] = ()
    diff: ArchiveDiff | None = None
    log: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Give everything as a JSON object."""
        return self.model_dump(mode="json")

"""Record: what `verify-source` found: every file of an archive accounted for against a commit."""

from __future__ import annotations

from typing import Final, Literal

from skills_bundle.archives.model import ArchiveKind
from skills_bundle.bundle.verdict import Report, Verdict
from skills_bundle.formats.record import Record

FileState = Literal[
    "equals_blob", "generated", "unchecked", "moved", "missing_object", "differs", "not_in_commit"
]
"""What a file of the archive is.

`equals_blob`: the bytes and the executable bit of the blob at the place that the configuration
gives. `generated`: made by the build; `detail` says what was checked instead. `unchecked`: made by
the build, and nothing of it was. `moved`: the bytes of
a blob of the commit, at a place that no configuration explains. `missing_object`: the repository
lacks the blob. `differs`: the commit has other bytes at that place, or a check of a generated file
fails. `not_in_commit`: the commit has nothing of the kind.
"""

CheckState = Literal["holds", "fails", "cannot_tell", "remark"]
"""`remark`: worth knowing, and no reason for a verdict."""

VERDICT_OF_FILE: Final[dict[FileState, Verdict]] = {
    "equals_blob": "match",
    "generated": "match",
    "unchecked": "cannot_tell",
    "moved": "cannot_tell",
    "missing_object": "cannot_tell",
    "differs": "differs",
    "not_in_commit": "differs",
}
VERDICT_OF_CHECK: Final[dict[CheckState, Verdict]] = {
    "holds": "match",
    "remark": "match",
    "cannot_tell": "cannot_tell",
    "fails": "differs",
}

NOT_PROVED: Final = (
    "that the commit is in its author's repository: it is in yours",
    "that generated files follow from the commit, beyond the listed checks",
    "that the package's code is complete: a file the commit would ship may be missing",
    "who made the commit, the tag or the archive: receipts are not signed",
)
"""What a match does not show, in sentences that go on from "not proved"."""


class SourceFile(Record):
    """One file of the archive.

    Attributes:
        path: In the archive, below an sdist's top folder.
        state: What it is; see `FileState`.
        blob_path: From the top of the repository; null if no file of the commit is meant.
        blob: That file's git object id, or null.
        detail: What was checked, or what is wrong; "" if the state says it all.
    """

    path: str
    state: FileState
    blob_path: str | None
    blob: str | None
    detail: str


class SourceCheck(Record):
    """Something that was checked besides the files.

    Attributes:
        name: `commit`, `names`, `lock`, `made`, `skills_tree`, `proof`, `inputs` or `source_ref`.
        state: What came of it.
        detail: In words.
    """

    name: str
    state: CheckState
    detail: str


class SourceVerification(Report):
    """What there is to say about an archive and a commit.

    Attributes:
        verdict: `match`: every file equals a blob of the commit, or is made by the build and passes
            what can be checked of it. `differs`: something is not as the commit has it.
            `cannot_tell`: an object is missing, or a file is where no configuration puts it.
        exit_code: 0, 1 or 3, in that order.
        file_name: The archive's.
        sha256: Digest of the archive.
        kind: `wheel` or `sdist`.
        package_name: Normalised name of the distribution.
        package_version: Its version.
        repository: The folder that was compared with.
        commit: Full id of the commit.
        project: The project's folder in it, `.` for the top.
        checks: What was checked besides the files.
        counts: Number of files in each state.
        files: One row a file, sorted by path.
        not_proved: What a match does not show.
    """

    file_name: str
    sha256: str
    kind: ArchiveKind
    package_name: str
    package_version: str
    repository: str
    commit: str
    project: str
    checks: tuple[SourceCheck, ...]
    counts: dict[str, int]
    files: tuple[SourceFile, ...]
    not_proved: tuple[str, ...] = NOT_PROVED

    @property
    def differences(self) -> tuple[SourceFile, ...]:
        """The files that keep the verdict from being `match`."""
        return tuple(row for row in self.files if VERDICT_OF_FILE[row.state] != "match")

"""Record: the verdict of a verification, its exit code, and what every report begins with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

from skills_bundle.formats.record import Record

if TYPE_CHECKING:
    from collections.abc import Iterable

Verdict = Literal["match", "differs", "cannot_tell"]
"""`match`: everything that was to be compared is as it should be. `differs`: something is not.
`cannot_tell`: nothing differs as far as it could be read, and something could not be."""

ExitCode = Literal[0, 1, 3]

EXIT_CODES: Final[dict[Verdict, ExitCode]] = {"match": 0, "differs": 1, "cannot_tell": 3}
"""The exit code of a command with each verdict."""


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the verdict of the whole: a difference outweighs doubt, and doubt a match."""
    reached = set(verdicts)
    if "differs" in reached:
        return "differs"
    return "cannot_tell" if "cannot_tell" in reached else "match"


class Report(Record):
    """What every verification report begins with; each command adds its own fields.

    Attributes:
        verdict: See `Verdict`.
        exit_code: 0, 1 or 3; see `EXIT_CODES`.
    """

    verdict: Verdict
    exit_code: ExitCode

    def to_dict(self) -> dict[str, Any]:
        """Return the report as a JSON object."""
        return self.model_dump(mode="json")

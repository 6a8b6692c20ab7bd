"""Record: whether a statement is of a file, and whether what it says follows from that file."""

from __future__ import annotations

from typing import Any, Final, Literal

from skills_bundle.bundle.document_report import ProblemRow
from skills_bundle.bundle.verify import EXIT_CODES, Verdict
from skills_bundle.formats.record import Record
from skills_bundle.supply_chain.signature.commit_signature import SignatureReport
from skills_bundle.supply_chain.statement.documents import Form

PredicateState = Literal["recomputed", "differs", "not_checked", "archive_differs"]
"""What became of a statement's predicate.

`recomputed`: it is what the archive gives. `differs`: it is not. `not_checked`: it is of another
kind than ours. `archive_differs`: it is of ours, and the archive does not verify, so that nothing
can be recomputed.
"""

VERDICTS: Final[dict[PredicateState, Verdict]] = {
    "recomputed": "match",
    "differs": "differs",
    "not_checked": "cannot_tell",
    "archive_differs": "differs",
}


class StatementRow(Record):
    """One statement.

    Attributes:
        predicate_type: What kind of claim it makes.
        is_subject: Whether it is of this file: name and SHA-256.
        predicate: See `PredicateState`.
        problems: Everything that does not follow.
    """

    predicate_type: str
    is_subject: bool
    predicate: PredicateState
    problems: tuple[ProblemRow, ...]

    @property
    def verdict(self) -> Verdict:
        """The verdict on this one."""
        return VERDICTS[self.predicate] if self.is_subject else "differs"


class StatementReport(Record):
    """What there is to say about a file of statements and an archive.

    Attributes:
        verdict: `match`: every statement is of this file, and all they say follows from it.
            `differs`: something does not. `cannot_tell`: they are of this file, and what they say
            of it cannot be recomputed here.
        exit_code: 0, 1 or 3, in that order; also for the signature, if one was asked for.
        file_name: Of the archive.
        sha256: Of the archive.
        form: How the statements came.
        unchecked_signatures: Signatures that came with them; none was checked.
        statements: One row a statement.
        signature: What the check of a detached signature came to; null if none was asked for.
    """

    verdict: Verdict
    exit_code: Literal[0, 1, 3]
    file_name: str
    sha256: str
    form: Form
    unchecked_signatures: int
    statements: tuple[StatementRow, ...]
    signature: SignatureReport | None = None

    def to_dict(self) -> dict[str, Any]:
        """Give everything as a JSON object."""
        return self.model_dump(mode="json")


def exit_code(verdicts: set[Verdict], signature: SignatureReport | None) -> Literal[0, 1, 3]:
    """Join verdicts and a signature: what is wrong outweighs what cannot be told."""
    codes = [EXIT_CODES[one] for one in verdicts]
    codes += [] if signature is None else [signature.exit_code]
    return 1 if 1 in codes else 3 if 3 in codes else 0

"""Record: what became of lock, receipt or RECORD, as a report tells it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skills_bundle.bundle.documents import DocumentState
from skills_bundle.formats.record import Record

if TYPE_CHECKING:
    from skills_bundle.bundle.documents import Document
    from skills_bundle.errors import Problem


class ProblemRow(Record):
    """One thing that is wrong, with its place in the document, if it has one."""

    code: str
    message: str
    path: str | None
    line: int | None


class DocumentReport(Record):
    """What became of lock, receipt or RECORD.

    Attributes:
        state: See `documents.DocumentState`; RECORD knows all but `altered`.
        sha256: Digest of the bytes, null when they could not be read (and for RECORD).
        recorded_sha256: What RECORD says it should be, null when it says nothing.
        problems: Why the state is not `ok`.
    """

    state: DocumentState
    sha256: str | None
    recorded_sha256: str | None
    problems: tuple[ProblemRow, ...]


def report_of(document: Document[Any]) -> DocumentReport:
    """Report a document.

    Args:
        document: As it was read and compared.
    """
    return DocumentReport(
        state=document.state,
        sha256=document.sha256,
        recorded_sha256=document.recorded_sha256,
        problems=tuple(map(_problem, document.problems)),
    )


def _problem(problem: Problem) -> ProblemRow:
    return ProblemRow(
        code=problem.code, message=problem.message, path=problem.path, line=problem.line
    )

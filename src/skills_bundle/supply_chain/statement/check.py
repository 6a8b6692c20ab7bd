"""Decision: is a statement of this file, and does what it says follow from the file?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from skills_bundle.bundle.document_report import ProblemRow
from skills_bundle.errors import Problem
from skills_bundle.supply_chain.statement import statement as statements
from skills_bundle.supply_chain.statement.report import (
    StatementReport,
    StatementRow,
    exit_code,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skills_bundle.archives.model import Archive
    from skills_bundle.bundle.verify import Verdict
    from skills_bundle.supply_chain.archive.contents import ArchiveContents
    from skills_bundle.supply_chain.signature.commit_signature import SignatureReport
    from skills_bundle.supply_chain.statement.documents import Json, Wrapped
    from skills_bundle.supply_chain.statement.report import PredicateState


def check(
    wrapped: Wrapped,
    contents: ArchiveContents,
    archive_verdict: Verdict,
    signature: SignatureReport | None,
) -> StatementReport:
    """Compare statements with an archive.

    Args:
        wrapped: What was in the file.
        contents: The archive.
        archive_verdict: Whether it verifies.
        signature: What the check of a detached signature came to, if one was asked for.
    """
    rows = tuple(_row(one, contents, archive_verdict) for one in wrapped.statements)
    verdicts: set[Verdict] = {row.verdict for row in rows}
    return StatementReport(
        verdict=next(one for one in _WORST_FIRST if one in verdicts),
        exit_code=exit_code(verdicts, signature),
        file_name=contents.archive.file_name,
        sha256=contents.archive.sha256,
        form=wrapped.form,
        unchecked_signatures=wrapped.signatures,
        statements=rows,
        signature=signature,
    )


_WORST_FIRST: tuple[Verdict, ...] = ("differs", "cannot_tell", "match")


def _row(statement: Json, contents: ArchiveContents, archive_verdict: Verdict) -> StatementRow:
    about_subject = list(_subject_problems(statement, contents.archive))
    state, about_predicate = _predicate(statement, contents, archive_verdict)
    return StatementRow(
        predicate_type=str(statement["predicateType"]),
        is_subject=not about_subject,
        predicate=state,
        problems=tuple(
            ProblemRow(code=one.code, message=one.message, path=one.path, line=one.line)
            for one in (*about_subject, *about_predicate)
        ),
    )


def _subject_problems(statement: Json, archive: Archive) -> Iterator[Problem]:
    """Say why no subject is this file."""
    rows = [(one.get("name"), _sha256(one)) for one in statements.subjects(statement)]
    if (archive.file_name, archive.sha256) in rows:
        return
    digests = [digest for name, digest in rows if name == archive.file_name]
    names = [name for name, digest in rows if digest == archive.sha256]
    if digests:
        yield _subject(
            f"is of another file of this name: its SHA-256 is {digests[0] or 'not given'}, "
            f"not {archive.sha256}"
        )
    elif names:
        yield _subject(f"has this file's SHA-256 under another name: {names[0]!r}")
    else:
        yield _subject("does not speak of this file: neither its name nor its SHA-256 is there")


def _sha256(subject: Json) -> str | None:
    value: Any = cast("Json", subject["digest"]).get("sha256")
    return value.lower() if isinstance(value, str) else None


def _predicate(
    statement: Json, contents: ArchiveContents, archive_verdict: Verdict
) -> tuple[PredicateState, list[Problem]]:
    if not statements.is_ours(statement):
        return "not_checked", []
    if archive_verdict != "match":
        message = "cannot be recomputed: the archive itself does not verify"
        return "archive_differs", [Problem(code="statement", message=message, path="predicate")]
    expected = statements.make(contents)
    ours = {key: value for key, value in expected.items() if key != "subject"}
    theirs = {key: value for key, value in statement.items() if key != "subject"}
    found = [*statements.differences(ours, theirs), *_form_of_subject(expected, statement)]
    return ("differs" if found else "recomputed"), found


def _form_of_subject(expected: Json, statement: Json) -> list[Problem]:
    """Hold the subject to exactly what we write: one file, and nothing more about it."""
    if not isinstance(statement["subject"], list) or len(statement["subject"]) != 1:
        return [_subject("is not one file alone, as we write it")]
    ours, theirs = statements.subjects(expected)[0], statements.subjects(statement)[0]
    if theirs.keys() != ours.keys() or cast("Json", theirs["digest"]).keys() != {"sha256"}:
        return [_subject("has more than the name and SHA-256 that we write")]
    return []


def _subject(message: str) -> Problem:
    return Problem(code="subject", message=message, path="subject")

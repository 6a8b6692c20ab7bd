"""Decision: `verify-statement`: is a statement about this archive, and does it follow from it?

`skills-bundle statement` writes bare in-toto statements. Attestation and provenance objects of
PEP 740 are read with the library `pypi-attestations` (extra `attestations`); the signatures inside
them are counted, not checked.

Source:
    in-toto Statement v1; PEP 740, Index support for digital attestations.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, cast

from skills_bundle.bundle.documents import ProblemRow
from skills_bundle.bundle.verdict import EXIT_CODES, ExitCode, Report, Verdict, worst
from skills_bundle.errors import InvalidStatementError, MalformedJsonError, Problem
from skills_bundle.formats import strict_json
from skills_bundle.formats.record import Record
from skills_bundle.supply_chain import limits
from skills_bundle.supply_chain.signature import SignatureReport
from skills_bundle.supply_chain.statement import statement as statements

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic import JsonValue

    from skills_bundle.archives.model import Archive
    from skills_bundle.supply_chain.archive.contents import ArchiveContents

Form: TypeAlias = Literal["statement", "pep740", "pep740_provenance"]
Json: TypeAlias = "dict[str, JsonValue]"

STATEMENT_TYPES: Final = (
    "https://in-toto.io/Statement/v1",
    "https://in-toto.io/Statement/v0.1",
)
EXTRA: Final = "attestations"
"""The extra that installs `pypi-attestations`."""

_OTHER_ENVELOPES: Final = {
    "payload": "a DSSE envelope",
    "dsseEnvelope": "a Sigstore bundle",
    "messageSignature": "a Sigstore bundle",
}
_PEP_740: Final[dict[str, Form]] = {
    "envelope": "pep740",
    "attestation_bundles": "pep740_provenance",
}

PredicateState = Literal["recomputed", "differs", "not_checked", "archive_differs"]
"""The result of checking a statement's predicate.

`recomputed`: it follows from the archive. `differs`: it does not. `not_checked`: it is of another
kind than `skills-bundle statement` writes. `archive_differs`: it is of our kind, but the archive
does not verify, so nothing can be recomputed.
"""

VERDICTS: Final[dict[PredicateState, Verdict]] = {
    "recomputed": "match",
    "differs": "differs",
    "not_checked": "cannot_tell",
    "archive_differs": "differs",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementFile:
    """The statements in a file.

    Attributes:
        form: The kind of file.
        statements: The in-toto statements; each subject has a digest.
        signatures: Number of signatures in the file; none was checked.
    """

    form: Form
    statements: tuple[Json, ...]
    signatures: int


class StatementRow(Record):
    """One statement.

    Attributes:
        predicate_type: The kind of claim.
        is_subject: Whether it is about this file: name and SHA-256.
        predicate: See `PredicateState`.
        problems: Everything that does not follow from the archive.
    """

    predicate_type: str
    is_subject: bool
    predicate: PredicateState
    problems: tuple[ProblemRow, ...]

    @property
    def verdict(self) -> Verdict:
        """The verdict on this statement."""
        return VERDICTS[self.predicate] if self.is_subject else "differs"


class StatementReport(Report):
    """The result of comparing a file of statements with an archive.

    Attributes:
        verdict: `match`: every statement is about this archive, and all of it follows from the
            archive. `differs`: something does not. `cannot_tell`: they are about this archive, but
            their contents cannot be recomputed.
        exit_code: 0, 1 or 3, in that order; includes the signature, if one was requested.
        file_name: Of the archive.
        sha256: Of the archive.
        form: The kind of statement file.
        unchecked_signatures: Number of signatures in the file; none was checked.
        statements: One row per statement.
        signature: The result of checking a detached signature; null if not requested.
    """

    file_name: str
    sha256: str
    form: Form
    unchecked_signatures: int
    statements: tuple[StatementRow, ...]
    signature: SignatureReport | None = None


def read(data: bytes) -> StatementFile:
    """Parse a file of statements.

    Args:
        data: Its bytes.

    Raises:
        InvalidStatementError: If it contains no valid statement, with every problem.
    """
    top = _object(_json(data, ""), "")
    markers = sorted({*_OTHER_ENVELOPES, *_PEP_740, "_type"} & top.keys())
    if len(markers) > 1:
        raise _refused(None, f"is ambiguous: it has {' and '.join(markers)}")
    if markers and markers[0] in _OTHER_ENVELOPES:
        raise _refused(
            markers[0],
            f"is {_OTHER_ENVELOPES[markers[0]]}, which is not supported; check it with the tool "
            "that made it, or pass the statement inside it",
        )
    if not markers or markers[0] == "_type":
        return StatementFile(form="statement", statements=(_statement(top, ""),), signatures=0)
    form = _PEP_740[markers[0]]
    payloads = _pep740_statements(data, form)
    found = tuple(
        _statement(_json(payload, f"statement[{number}]"), f"statement[{number}]")
        for number, payload in enumerate(payloads)
    )
    return StatementFile(form=form, statements=found, signatures=len(found))


def _pep740_statements(data: bytes, form: Form) -> list[bytes]:
    """Return the raw statements in an attestation or provenance object."""
    try:
        from pypi_attestations import Attestation, Provenance  # noqa: PLC0415 - an extra
    except ImportError as error:
        message = f"is an attestation; to read it, install skills-bundle[{EXTRA}]"
        raise _refused(None, message) from error
    try:
        if form == "pep740":
            return [Attestation.model_validate_json(data).envelope.statement]
        bundles = Provenance.model_validate_json(data).attestation_bundles
    except ValueError as error:
        raise _refused(None, f"is not a valid attestation: {error}") from error
    payloads = [one.envelope.statement for bundle in bundles for one in bundle.attestations]
    if not 0 < len(payloads) <= limits.STATEMENT_MAX_SUBJECTS:
        raise _refused("attestation_bundles", "contains no attestations, or too many")
    return payloads


def _json(data: bytes, path: str) -> JsonValue:
    try:
        return strict_json.loads(data, limit=limits.STATEMENT_MAX_BYTES)
    except MalformedJsonError as error:
        lines = data.strip().splitlines()
        if len(lines) > 1 and all(line.startswith(b"{") for line in lines):
            message = "contains one document per line; pass one of them in a separate file"
            raise _refused(path or None, message) from error
        raise InvalidStatementError("This is not a statement.", error.problems) from error


def _object(value: JsonValue, path: str) -> Json:
    if not isinstance(value, dict):
        raise _refused(path or None, "is not a JSON object")
    return value


def _statement(value: JsonValue, path: str) -> Json:
    """Check the parts that all statements have; predicates differ."""
    statement = _object(value, path)
    inner = f"{path}." if path else ""
    if statement.get("_type") not in STATEMENT_TYPES:
        kinds = " or ".join(STATEMENT_TYPES)
        raise _refused(f"{inner}_type", f"is not {kinds}: this is not an in-toto statement")
    problems: list[Problem] = []
    if not isinstance(statement.get("predicateType"), str):
        problems.append(_problem(f"{inner}predicateType", "is not a string"))
    problems += _subject_form(statement.get("subject"), f"{inner}subject")
    if problems:
        raise InvalidStatementError("This is not a statement.", tuple(problems))
    return statement


def _subject_form(value: JsonValue, path: str) -> list[Problem]:
    if not isinstance(value, list) or len(value) > limits.STATEMENT_MAX_SUBJECTS:
        most = limits.STATEMENT_MAX_SUBJECTS
        return [_problem(path, f"is not an array of at most {most} entries")]
    if not value:
        return [_problem(path, "names no file")]
    return [
        _problem(f"{path}[{number}]", "has no digests")
        for number, subject in enumerate(value)
        if not _has_digest(subject)
    ]


def _has_digest(value: JsonValue) -> bool:
    digest = cast("Any", value.get("digest")) if isinstance(value, dict) else None
    return isinstance(digest, dict) and bool(cast("Json", digest))


def _refused(path: str | None, message: str) -> InvalidStatementError:
    return InvalidStatementError("This is not a statement.", (_problem(path, message),))


def _problem(path: str | None, message: str) -> Problem:
    return Problem(code="statement_form", message=message, path=path)


def verify(
    file: StatementFile,
    contents: ArchiveContents,
    archive_verdict: Verdict,
    signature: SignatureReport | None,
) -> StatementReport:
    """Compare statements with an archive.

    Args:
        file: The parsed statements.
        contents: The archive.
        archive_verdict: The archive's own verdict.
        signature: The result of checking a detached signature, if one was requested.
    """
    rows = tuple(_row(one, contents, archive_verdict) for one in file.statements)
    verdict = worst(row.verdict for row in rows)
    codes: set[ExitCode] = {EXIT_CODES[verdict]}
    codes |= set() if signature is None else {signature.exit_code}
    return StatementReport(
        verdict=verdict,
        exit_code=1 if 1 in codes else 3 if 3 in codes else 0,
        file_name=contents.archive.file_name,
        sha256=contents.archive.sha256,
        form=file.form,
        unchecked_signatures=file.signatures,
        statements=rows,
        signature=signature,
    )


def _row(statement: Json, contents: ArchiveContents, archive_verdict: Verdict) -> StatementRow:
    about_subject = list(_subject_problems(statement, contents.archive))
    state, about_predicate = _predicate(statement, contents, archive_verdict)
    return StatementRow(
        predicate_type=str(statement["predicateType"]),
        is_subject=not about_subject,
        predicate=state,
        problems=tuple(map(_problem_row, (*about_subject, *about_predicate))),
    )


def _problem_row(problem: Problem) -> ProblemRow:
    return ProblemRow(
        code=problem.code, message=problem.message, path=problem.path, line=problem.line
    )


def _subject_problems(statement: Json, archive: Archive) -> Iterator[Problem]:
    """Return why no subject is this file."""
    rows = [(one.get("name"), _sha256(one)) for one in statements.subjects(statement)]
    if (archive.file_name, archive.sha256) in rows:
        return
    digests = [digest for name, digest in rows if name == archive.file_name]
    names = [name for name, digest in rows if digest == archive.sha256]
    if digests:
        yield _subject(
            f"is a different file with this name: its SHA-256 is {digests[0] or 'missing'}, "
            f"not {archive.sha256}"
        )
    elif names:
        yield _subject(f"has this file's SHA-256 under a different name: {names[0]!r}")
    else:
        yield _subject("is not this file: neither its name nor its SHA-256 is listed")


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
    found = [*statements.differences(ours, theirs), *_extra_subjects(expected, statement)]
    return ("differs" if found else "recomputed"), found


def _extra_subjects(expected: Json, statement: Json) -> list[Problem]:
    """Return a problem if the subject is more than one file's name and SHA-256."""
    if not isinstance(statement["subject"], list) or len(statement["subject"]) != 1:
        return [_subject("is not exactly one file")]
    ours, theirs = statements.subjects(expected)[0], statements.subjects(statement)[0]
    if theirs.keys() != ours.keys() or cast("Json", theirs["digest"]).keys() != {"sha256"}:
        return [_subject("has more fields than the name and SHA-256")]
    return []


def _subject(message: str) -> Problem:
    return Problem(code="subject", message=message, path="subject")

"""Decision: any bytes become the statements in them, whoever wrapped them, or are refused.

We write bare statements. Others put them into envelopes together with signatures: DSSE, Sigstore
bundles, the attestation objects of PEP 740 and the provenance objects of an index. Those are taken
apart so that one can see what they speak of; the signatures in them are counted and not checked.

Source:
    in-toto Statement v1; DSSE, protocol and envelope v1; PEP 740, Index support for digital
    attestations; Sigstore, bundle format.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, cast

from skills_bundle.errors import InvalidStatementError, MalformedJsonError, Problem
from skills_bundle.formats import strict_json
from skills_bundle.supply_chain import limits

if TYPE_CHECKING:
    from pydantic import JsonValue

Form: TypeAlias = Literal["statement", "dsse", "sigstore_bundle", "pep740", "pep740_provenance"]
Json: TypeAlias = "dict[str, JsonValue]"

STATEMENT_TYPES: Final = (
    "https://in-toto.io/Statement/v1",
    "https://in-toto.io/Statement/v0.1",
)
PAYLOAD_TYPE: Final = "application/vnd.in-toto+json"
"""What the payload of a DSSE envelope around a statement is called."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wrapped:
    """The statements in a file.

    Attributes:
        form: What the file is.
        statements: Each in the form of an in-toto Statement: its subjects are objects with a name
            and digests.
        signatures: How many signatures came with them; none of them was checked.
    """

    form: Form
    statements: tuple[Json, ...]
    signatures: int


def read(data: bytes) -> Wrapped:
    """Take a file apart.

    Args:
        data: Its bytes.

    Raises:
        InvalidStatementError: If there is no statement in it, or one without the form of one; with
            every problem.
    """
    form, payloads = _payloads(_object(_json(data, ""), ""))
    statements = tuple(_statement(value, path) for path, value, _ in payloads)
    return Wrapped(
        form=form, statements=statements, signatures=sum(count for _, _, count in payloads)
    )


Payload: TypeAlias = "tuple[str, JsonValue, int]"
"""Where a statement is, the statement, and how many signatures lie beside it."""


_MARKS: Final = frozenset(
    {"payload", "dsseEnvelope", "messageSignature", "envelope", "attestation_bundles", "_type"}
)
"""Keys of which every form has exactly one; readers that look for another see another document."""


def _payloads(top: Json) -> tuple[Form, list[Payload]]:
    if len(found := sorted(_MARKS & top.keys())) > 1:
        raise _refused(None, f"can be read in several ways: it has {' and '.join(found)}")
    if "payload" in top:
        return "dsse", [_of_dsse(top, "")]
    if "dsseEnvelope" in top:
        return "sigstore_bundle", [_of_dsse(_object(top["dsseEnvelope"], "dsseEnvelope"), "")]
    if "messageSignature" in top:
        raise _refused("messageSignature", "signs a file itself: there is no statement in it")
    if "envelope" in top:
        return "pep740", [_of_attestation(top, "")]
    if "attestation_bundles" in top:
        return "pep740_provenance", _of_provenance(top)
    return "statement", [("", top, 0)]


def _of_dsse(envelope: Json, path: str) -> Payload:
    if envelope.get("payloadType") != PAYLOAD_TYPE:
        raise _refused(f"{path}payloadType", f"is not {PAYLOAD_TYPE}: no in-toto statement")
    signatures = _array(envelope.get("signatures", []), f"{path}signatures")
    place = f"{path}payload"
    return place, _json(_base64(envelope.get("payload"), place), place), len(signatures)


def _of_attestation(attestation: Json, path: str) -> Payload:
    place = f"{path}envelope"
    envelope = _object(attestation.get("envelope"), place)
    place = f"{place}.statement"
    return place, _json(_base64(envelope.get("statement"), place), place), 1


def _of_provenance(top: Json) -> list[Payload]:
    found: list[Payload] = []
    for number, bundle in enumerate(_array(top["attestation_bundles"], "attestation_bundles")):
        path = f"attestation_bundles[{number}]"
        inner = _array(_object(bundle, path).get("attestations"), f"{path}.attestations")
        for place, attestation in enumerate(inner):
            where = f"{path}.attestations[{place}]"
            found.append(_of_attestation(_object(attestation, where), f"{where}."))
    if not found:
        raise _refused("attestation_bundles", "holds no attestation")
    return found


def _json(data: bytes, path: str) -> JsonValue:
    try:
        return strict_json.loads(data, limit=limits.STATEMENT_MAX_BYTES)
    except MalformedJsonError as error:
        lines = data.strip().splitlines()
        if len(lines) > 1 and all(line.startswith(b"{") for line in lines):
            message = "is a document a line; give one of them in a file of its own"
            raise _refused(path or None, message) from error
        raise InvalidStatementError("This is no statement.", error.problems) from error


def _object(value: JsonValue, path: str) -> Json:
    if not isinstance(value, dict):
        raise _refused(path or None, "is no JSON object")
    return value


def _array(value: JsonValue, path: str) -> list[JsonValue]:
    if not isinstance(value, list) or len(value) > limits.STATEMENT_MAX_SUBJECTS:
        message = f"is no array of at most {limits.STATEMENT_MAX_SUBJECTS} entries"
        raise _refused(path, message)
    return value


def _base64(value: JsonValue, path: str) -> bytes:
    """Decode base64, of either alphabet: DSSE allows both."""
    if not isinstance(value, str):
        raise _refused(path, "is no text")
    try:
        return base64.b64decode(value.translate({45: "+", 95: "/"}), validate=True)
    except ValueError as error:
        raise _refused(path, "is not base64") from error


def _statement(value: JsonValue, path: str) -> Json:
    """Hold a statement to the form that all statements have; predicates differ."""
    statement = _object(value, path)
    inner = f"{path}." if path else ""
    if statement.get("_type") not in STATEMENT_TYPES:
        kinds = " or ".join(STATEMENT_TYPES)
        raise _refused(f"{inner}_type", f"is not {kinds}: this is no in-toto statement")
    problems: list[Problem] = []
    if not isinstance(statement.get("predicateType"), str):
        problems.append(_problem(f"{inner}predicateType", "is no text"))
    subjects = _array(statement.get("subject"), f"{inner}subject")
    if not subjects:
        problems.append(_problem(f"{inner}subject", "names no file"))
    for number, subject in enumerate(subjects):
        if not _is_subject(subject):
            problems.append(_problem(f"{inner}subject[{number}]", "has no digests"))
    if problems:
        raise InvalidStatementError("This is no statement.", tuple(problems))
    return statement


def _is_subject(value: JsonValue) -> bool:
    digest = cast("Any", value.get("digest")) if isinstance(value, dict) else None
    return isinstance(digest, dict) and bool(cast("Json", digest))


def _refused(path: str | None, message: str) -> InvalidStatementError:
    return InvalidStatementError("This is no statement.", (_problem(path, message),))


def _problem(path: str | None, message: str) -> Problem:
    return Problem(code="statement_form", message=message, path=path)

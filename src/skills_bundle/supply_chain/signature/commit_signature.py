"""Decision: the signature inside a raw commit, and what a check of it comes to.

Git signs the commit as it is without its `gpgsig` headers, and puts the signature into one. So a
raw commit holds all that is needed, but for whose keys one trusts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from skills_bundle.formats.record import Record

if TYPE_CHECKING:
    from skills_bundle.supply_chain.signature.ssh_keygen import Answer

GIT_NAMESPACE: Final = "git"
"""What git has SSH signatures made for."""

SignatureKind = Literal["ssh", "openpgp", "x509", "other"]
SignatureState = Literal[
    "trusted",
    "untrusted",
    "bad",
    "unsigned",
    "no_commit",
    "other_kind",
    "signers_unreadable",
    "no_ssh_keygen",
    "ssh_keygen_failed",
]
"""What a check of a signature comes to."""

EXIT_CODES: Final[dict[SignatureState, Literal[0, 1, 3]]] = {
    "trusted": 0,
    "untrusted": 1,
    "bad": 1,
    "unsigned": 1,
    "no_commit": 3,
    "other_kind": 3,
    "signers_unreadable": 3,
    "no_ssh_keygen": 3,
    "ssh_keygen_failed": 3,
}
"""Who asks for a signature gets 0 only for one that is good and by a signer named."""

_KINDS: Final[dict[bytes, SignatureKind]] = {
    b"-----BEGIN SSH SIGNATURE-----": "ssh",
    b"-----BEGIN PGP SIGNATURE-----": "openpgp",
    b"-----BEGIN PGP MESSAGE-----": "openpgp",
    b"-----BEGIN SIGNED MESSAGE-----": "x509",
}
_HEADER: Final = b"gpgsig "
_ANY_HEADER: Final = b"gpgsig"
_COMMITTER: Final = re.compile(rb"^committer [^\n]*> (\d{1,18}) [+-]\d{4}$", re.MULTILINE)

_SAYS: Final[dict[SignatureState, str]] = {
    "trusted": "Good, by an allowed signer.",
    "untrusted": "Good, by a key that is not allowed here.",
    "bad": "Bad: it is no signature of this content.",
    "unsigned": "None: it is not signed.",
    "no_commit": "Not checked: there is no commit to look at.",
    "other_kind": "Not checked: it is of another kind than SSH.",
    "signers_unreadable": "Good; whether by an allowed signer is open, since lines of that file "
    "cannot be read.",
    "no_ssh_keygen": "Not checked: there is no ssh-keygen.",
    "ssh_keygen_failed": "Not checked: ssh-keygen failed.",
}
_TOOLS: Final[dict[SignatureKind, str]] = {
    "openpgp": "For OpenPGP: `git verify-commit` with GnuPG and the signer's key "
    "checks it, in a clone.",
    "x509": "For X.509: `git verify-commit` with gpgsm checks it, in a clone.",
    "other": "It begins like none that we know.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitSignature:
    """A raw commit taken apart.

    Attributes:
        payload: What was signed: the commit without its signatures.
        signature: Armoured; None if there is none by git's rules for SHA-1 repositories.
        kind: Who can check it.
        committed: The committer's time, seconds since 1970, at which git wants the key valid; None
            if it has none.
    """

    payload: bytes
    signature: bytes | None
    kind: SignatureKind | None
    committed: int | None


class SignatureReport(Record):
    """What a check of a signature came to.

    Attributes:
        state: See `SignatureState`.
        exit_code: 0, 1 or 3.
        says: One sentence.
        kind: `ssh`, `openpgp`, `x509` or `other`; null if there is no signature.
        principal: Who signed, as the allowed signers name them; null unless trusted.
        key_type: Kind of the key; null unless the signature is good.
        fingerprint: Of the key, as ssh-keygen prints it; likewise.
        committed: The committer's time, at which the key had to be valid; null where it played no
            part.
        notes: What else there is to know.
    """

    state: SignatureState
    exit_code: Literal[0, 1, 3]
    says: str
    kind: SignatureKind | None = None
    principal: str | None = None
    key_type: str | None = None
    fingerprint: str | None = None
    committed: int | None = None
    notes: tuple[str, ...] = ()


def take_apart(raw: bytes) -> CommitSignature:
    """Part a raw commit from its signature, exactly as git does.

    Args:
        raw: A commit in which `proof_objects.check_commit` finds nothing.
    """
    head, end, message = raw.partition(b"\n\n")
    payload: list[bytes] = []
    signature: list[bytes] = []
    target = payload
    for line in head.split(b"\n"):
        if line.startswith(b" ") and target is not payload:
            target.append(line[1:])
            continue
        if line.startswith(_HEADER):
            target = signature
            signature.append(line[len(_HEADER) :])
        elif line.startswith(_ANY_HEADER):  # `gpgsig-sha256`: of the same commit by another hash
            target = []
        else:
            target = payload
            payload.append(line)
    text = b"\n".join(signature) + b"\n" if signature else None
    committed = _COMMITTER.search(head)
    return CommitSignature(
        payload=b"\n".join(payload) + end + message,
        signature=text,
        kind=_KINDS.get(signature[0].rstrip(), "other") if signature else None,
        committed=int(committed[1]) if committed else None,
    )


def other_kind(kind: SignatureKind) -> SignatureReport:
    """Give the report of a signature that is not checked here, with the tool that checks it."""
    return outcome("other_kind", kind=kind, notes=(_TOOLS[kind],))


def outcome(
    state: SignatureState, *, kind: SignatureKind | None = None, notes: tuple[str, ...] = ()
) -> SignatureReport:
    """Give the report of a state in which no key plays a part."""
    return SignatureReport(
        state=state, exit_code=EXIT_CODES[state], says=_SAYS[state], kind=kind, notes=notes
    )


def answered(answer: Answer, committed: int | None) -> SignatureReport:
    """Give the report of what ssh-keygen said.

    Args:
        answer: What it said.
        committed: The time it was asked about.
    """
    return SignatureReport(
        state=answer.outcome,
        exit_code=EXIT_CODES[answer.outcome],
        says=_SAYS[answer.outcome],
        kind="ssh",
        principal=answer.principal,
        key_type=answer.key_type,
        fingerprint=answer.fingerprint,
        committed=committed,
        notes=answer.notes,
    )

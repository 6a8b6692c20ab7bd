"""Edge: SSH signatures of commits and statements, checked by `ssh-keygen`.

Git signs a commit without its `gpgsig` headers and stores the signature in one, so a raw commit
holds everything needed except the keys to trust. `ssh-keygen` runs only when a signature check was
requested. It is looked up in the absolute folders of PATH, because a relative one depends on the
working folder, and gets copies of everything in a private folder. Its exit code decides; its
output is only shown.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from skills_bundle.formats.record import Record
from skills_bundle.supply_chain import limits

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from skills_bundle.bundle.proof_report import ProofReport

PROGRAM: Final = "ssh-keygen"
GIT_NAMESPACE: Final = "git"
"""The namespace of git's SSH signatures."""

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
"""The result of checking a signature.

`trusted`: good and by an allowed signer. `untrusted`: good, but its key is not allowed. `bad`: not
a signature of this content. `signers_unreadable`: as `untrusted`, but the file of allowed signers
has lines that cannot be read.
"""

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
"""0 only for a good signature by an allowed signer."""

_SENTENCES: Final[dict[SignatureState, str]] = {
    "trusted": "Good, by an allowed signer.",
    "untrusted": "Good, by a key that is not allowed here.",
    "bad": "Bad: it is not a signature of this content.",
    "unsigned": "None: it is not signed.",
    "no_commit": "Not checked: there is no commit object.",
    "other_kind": "Not checked: it is not an SSH signature.",
    "signers_unreadable": "Good, but the file of allowed signers has unreadable lines, so the "
    "signer may or may not be allowed.",
    "no_ssh_keygen": "Not checked: ssh-keygen is not installed.",
    "ssh_keygen_failed": "Not checked: ssh-keygen failed.",
}
_OTHER_TOOLS: Final[dict[SignatureKind, str]] = {
    "openpgp": "OpenPGP: check it in a clone with `git verify-commit`, GnuPG and the signer's key.",
    "x509": "X.509: check it in a clone with `git verify-commit` and gpgsm.",
    "other": "The kind of signature is unknown.",
}
_KINDS: Final[dict[bytes, SignatureKind]] = {
    b"-----BEGIN SSH SIGNATURE-----": "ssh",
    b"-----BEGIN PGP SIGNATURE-----": "openpgp",
    b"-----BEGIN PGP MESSAGE-----": "openpgp",
    b"-----BEGIN SIGNED MESSAGE-----": "x509",
}
_HEADER: Final = b"gpgsig "
_ANY_HEADER: Final = b"gpgsig"
_COMMITTER: Final = re.compile(rb"^committer [^\n]*> (\d{1,18}) [+-]\d{4}$", re.MULTILINE)

_ENVIRONMENT: Final = ("TZ", "SYSTEMROOT", "SystemRoot", "TMPDIR", "TEMP", "TMP")
"""Variables it needs: the time zone, and what Windows requires to start any program."""
_GOOD: Final = re.compile(r'^Good ".*" signature .*?with (\S+) key (\S+)$', re.MULTILINE)
_NOT_GOOD: Final = re.compile(r"Could not verify signature|Couldn't parse signature|sshsig_armor")
_LINE_NOTE: Final = re.compile(r"^signers:(\d+): (.*)$", re.MULTILINE)
_READABLE_LINE: Final = re.compile(r"expired|not yet valid|namespace|certificate|principal")
"""Words in notes about a line that was read but does not allow the key."""


class SignatureReport(Record):
    """The result of checking a signature.

    Attributes:
        state: See `SignatureState`.
        exit_code: 0, 1 or 3.
        says: One sentence.
        kind: `ssh`, `openpgp`, `x509` or `other`; null if there is no signature.
        principal: The signer, as named in the allowed signers; null unless trusted.
        key_type: Kind of the key, such as `ED25519`; null unless the signature is good.
        fingerprint: Of the key, as ssh-keygen prints it; null unless the signature is good.
        committed: The committer's time in seconds since 1970, when the key had to be valid; null
            if it was not used.
        notes: Further remarks.
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


def report(
    state: SignatureState,
    *,
    kind: SignatureKind | None = None,
    notes: tuple[str, ...] = (),
    **key: str | int | None,
) -> SignatureReport:
    """Return the report of a state.

    Args:
        state: See `SignatureState`.
        kind: The kind of signature, if there is one.
        notes: Further remarks.
        **key: `principal`, `key_type`, `fingerprint` and `committed`, as far as known.
    """
    return SignatureReport.model_validate(
        {
            "state": state,
            "exit_code": EXIT_CODES[state],
            "says": _SENTENCES[state],
            "kind": kind,
            "notes": notes,
            **key,
        }
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitSignature:
    """A raw commit, split into what was signed and its signature.

    Attributes:
        payload: The commit without its signatures.
        signature: Armoured; None if there is none by git's rules for SHA-1 repositories.
        kind: The kind of signature.
        committed: The committer's time in seconds since 1970, when git requires the key to be
            valid; None if it has none.
    """

    payload: bytes
    signature: bytes | None
    kind: SignatureKind | None
    committed: int | None


def split_commit(raw: bytes) -> CommitSignature:
    """Split a raw commit into what was signed and its signature, exactly as git does.

    Args:
        raw: A commit without format errors.
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


def check_commit(proof: ProofReport, signers: bytes, environ: Mapping[str, str]) -> SignatureReport:
    """Check the signature of the commit in a proof, as `git verify-commit` would in a clone.

    Args:
        proof: Of an installation or of an archive.
        signers: Content of a file of allowed signers.
        environ: The environment, for PATH and the time zone.
    """
    if proof.commit_object is None:
        return report("no_commit", notes=(proof.shows,))
    commit = split_commit(proof.commit_object)
    if commit.signature is None or commit.kind is None:
        return report("unsigned")
    if commit.kind != "ssh":
        return report("other_kind", kind=commit.kind, notes=(_OTHER_TOOLS[commit.kind],))
    signed = Signed(
        message=commit.payload,
        signature=commit.signature,
        signers=signers,
        namespace=GIT_NAMESPACE,
        time=commit.committed,
    )
    return check(signed, environ)


@dataclass(frozen=True, slots=True, kw_only=True)
class Signed:
    """A signed message, and who may have signed it.

    Attributes:
        message: The bytes that were signed.
        signature: Armoured, as `ssh-keygen -Y sign` writes it.
        signers: Content of a file in the `allowed_signers` format of ssh-keygen(1).
        namespace: The purpose of the signature; `git` for commits.
        time: Seconds since 1970 at which a key must have been valid; None for now.
        identity: The one principal who may have signed; None for anyone in the file.
    """

    message: bytes = field(repr=False)
    signature: bytes = field(repr=False)
    signers: bytes = field(repr=False)
    namespace: str
    time: int | None = None
    identity: str | None = None


def check(signed: Signed, environ: Mapping[str, str]) -> SignatureReport:
    """Check an SSH signature with `ssh-keygen`.

    Args:
        signed: The message and its signature.
        environ: The environment; PATH locates `ssh-keygen`.
    """
    program = find_ssh_keygen(environ.get("PATH", ""))
    if program is None:
        note = f"{PROGRAM} is in no absolute folder of PATH; install OpenSSH."
        return report("no_ssh_keygen", kind="ssh", committed=signed.time, notes=(note,))
    with tempfile.TemporaryDirectory(prefix="skills-bundle-") as folder:
        try:
            return _SshKeygen(signed, program, Path(folder), environ).check()
        except (OSError, OverflowError, ValueError, subprocess.TimeoutExpired) as error:
            notes = (str(error),)
            return report("ssh_keygen_failed", kind="ssh", committed=signed.time, notes=notes)


def find_ssh_keygen(path: str) -> str | None:
    """Return the absolute path of `ssh-keygen`, or None.

    Args:
        path: The variable PATH; relative and empty folders in it are skipped.
    """
    for folder in path.split(os.pathsep):
        if Path(folder).is_absolute() and (found := shutil.which(str(Path(folder) / PROGRAM))):
            return found
    return None


@dataclass(frozen=True, slots=True)
class _Output:
    code: int
    stdout: str
    stderr: str


class _SshKeygen:
    """One check, with its files in a private folder."""

    def __init__(
        self, signed: Signed, program: str, folder: Path, environ: Mapping[str, str]
    ) -> None:
        self._signed = signed
        self._program = program
        self._folder = folder
        self._environ = {name: environ[name] for name in _ENVIRONMENT if name in environ}
        for name in ("message", "signature", "signers"):
            (folder / name).write_bytes(getattr(signed, name))
        self._time = [] if signed.time is None else [f"-Overify-time={_local(signed.time)}"]

    def check(self) -> SignatureReport:
        """Do what git does: find principals, try each, else check the signature alone."""
        remarks: list[str] = []
        for principal in self._principals(remarks):
            ran = self._run("verify", "-n", self._signed.namespace, *self._signers, "-I", principal)
            if ran.code == 0:
                return self._report("trusted", ran, principal=principal)
            remarks.append(ran.stderr)
        ran = self._run("check-novalidate", "-n", self._signed.namespace)
        if ran.code == 0:
            rows = list(dict.fromkeys(_LINE_NOTE.findall("\n".join(remarks))))
            unreadable = any(not _READABLE_LINE.search(text) for _, text in rows)
            lines = [f"line {number} of the allowed signers: {text}" for number, text in rows]
            notes = (*lines, *self._other_signers())
            return self._report("signers_unreadable" if unreadable else "untrusted", ran, notes)
        if _NOT_GOOD.search(f"{ran.stdout}\n{ran.stderr}"):
            return self._report("bad", ran, _lines(ran.stderr))
        return self._report(
            "ssh_keygen_failed", ran, _lines(ran.stderr) or ("It printed nothing.",)
        )

    def _report(
        self,
        state: SignatureState,
        ran: _Output,
        notes: tuple[str, ...] = (),
        principal: str | None = None,
    ) -> SignatureReport:
        good = _GOOD.search(ran.stdout)
        key_type, fingerprint = good.groups() if good else (None, None)
        return report(
            state,
            kind="ssh",
            notes=notes,
            principal=principal,
            key_type=key_type,
            fingerprint=fingerprint,
            committed=self._signed.time,
        )

    def _principals(self, remarks: list[str]) -> Iterator[str]:
        if self._signed.identity is not None:
            yield self._signed.identity
            return
        ran = self._run("find-principals", *self._signers)
        remarks.append(ran.stderr)
        yield from (_lines(ran.stdout) if ran.code == 0 else ())

    def _other_signers(self) -> tuple[str, ...]:
        """Return a note on whose key it is, if a particular signer was required."""
        if self._signed.identity is None:
            return ()
        ran = self._run("find-principals", *self._signers)
        names = ", ".join(_lines(ran.stdout)) if ran.code == 0 else "no one"
        wanted = f"The key of {self._signed.identity} was required"
        return (f"{wanted}; according to the allowed signers, this key belongs to {names}.",)

    @property
    def _signers(self) -> tuple[str, str]:
        return "-f", str(self._folder / "signers")

    def _run(self, operation: str, *arguments: str) -> _Output:
        signature = ("-s", str(self._folder / "signature"))
        with (self._folder / "message").open("rb") as message:
            ran = subprocess.run(  # noqa: S603 - an absolute path, a list of arguments, no shell
                [self._program, "-Y", operation, *arguments, *signature, *self._time],
                stdin=message,
                capture_output=True,
                cwd=self._folder,
                env={"LC_ALL": "C", **self._environ},
                timeout=limits.SSH_KEYGEN_SECONDS,
                check=False,
            )
        stdout, stderr = (
            data[: limits.SSH_KEYGEN_MAX_OUTPUT_BYTES]
            .decode("utf-8", "replace")
            .replace("\r\n", "\n")
            for data in (ran.stdout, ran.stderr)
        )
        return _Output(ran.returncode, stdout, stderr.replace(f"{self._folder}{os.sep}", ""))


def _local(seconds: int) -> str:
    """Format a time as ssh-keygen expects it and git passes it: in the local time zone.

    Raises:
        ValueError: If the year does not have four digits.
    """
    text = time.strftime("%Y%m%d%H%M%S", time.localtime(seconds))
    if seconds < 0 or len(text) != len("YYYYMMDDHHMMSS"):
        raise ValueError("The commit's time is outside the range that ssh-keygen accepts.")
    return text


def _lines(text: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in text.splitlines() if line.strip())

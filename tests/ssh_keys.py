"""Real SSH keys, made by ssh-keygen, and git told to sign with them."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from pathlib import Path

Kind = Literal["ed25519", "rsa", "ecdsa"]


@dataclass(frozen=True, slots=True)
class SshKey:
    """A key pair on disk, without a passphrase.

    Attributes:
        path: The private key; the public one lies beside it.
    """

    path: Path

    @classmethod
    def create(cls, path: Path, kind: Kind = "ed25519") -> SshKey:
        """Make a key pair."""
        bits = {"rsa": ("-b", "2048")}.get(kind, ())
        keygen("-q", "-t", kind, *bits, "-N", "", "-C", "test", "-f", str(path))
        return cls(path)

    @property
    def public(self) -> str:
        """The public key: its type and its base64, as a line of an allowed signers file ends."""
        text = self.path.with_suffix(f"{self.path.suffix}.pub").read_text(encoding="utf-8")
        return " ".join(text.split()[:2])

    @property
    def fingerprint(self) -> str:
        """The fingerprint as ssh-keygen prints it."""
        return keygen("-l", "-f", str(self.path)).split()[1]

    @property
    def git_options(self) -> tuple[str, ...]:
        """Options between `git` and its command that make it sign with this key."""
        return ("-c", "gpg.format=ssh", "-c", f"user.signingKey={self.path}")

    def sign(self, file: Path, namespace: str) -> Path:
        """Sign a file as `ssh-keygen -Y sign` does; the signature lies beside it."""
        keygen("-Y", "sign", "-q", "-f", str(self.path), "-n", namespace, str(file))
        return file.with_name(f"{file.name}.sig")


def keygen(*arguments: str, given: bytes = b"") -> str:
    """Run ssh-keygen with this standard input, and give what it prints."""
    command = ["ssh-keygen", *arguments]
    return subprocess.run(command, check=True, capture_output=True, input=given).stdout.decode()

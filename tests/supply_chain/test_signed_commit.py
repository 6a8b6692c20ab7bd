"""Commits that git itself signed, in receipts of real builds; git's own verdict beside ours."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING, get_args

import pytest

from skills_bundle.supply_chain import signature
from tests.hatch_plugin.sample import SampleProject, git
from tests.installed_wheel import install_wheel, signed_project
from tests.ssh_keys import Kind, SshKey

if TYPE_CHECKING:
    from pathlib import Path

    from skills_bundle.bundle.proof_report import ProofReport

ENVIRON = {"PATH": os.environ["PATH"]}
SIGNER = "ada@example.org"


def proof_of(sample: SampleProject, site: Path) -> ProofReport:
    """Build and install a project, and give what is said of its proof."""
    return install_wheel(sample.wheel(), site).verify().proof


def with_commit(proof: ProofReport, raw: bytes) -> ProofReport:
    """Give another commit in a proof's place."""
    return proof.model_copy(update={"commit_object": raw})


def accepted_by_git(folder: Path, signers: str) -> bool:
    """Let `git verify-commit` decide."""
    file = folder.parent / "allowed"
    file.write_text(signers, encoding="utf-8")
    options = ("-c", f"gpg.ssh.allowedSignersFile={file}")
    command = ["git", *options, "-C", str(folder), "verify-commit", "HEAD"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> SshKey:
    """Give the key of the author."""
    return SshKey.create(tmp_path_factory.mktemp("key") / "id")


@pytest.fixture(scope="module")
def sample(key: SshKey, tmp_path_factory: pytest.TempPathFactory) -> SampleProject:
    """Give a project whose commit that key signed."""
    return signed_project(tmp_path_factory.mktemp("signed") / "acme", key)


@pytest.fixture(scope="module")
def proof(sample: SampleProject, tmp_path_factory: pytest.TempPathFactory) -> ProofReport:
    """Give what its wheel, installed, proves."""
    return proof_of(sample, tmp_path_factory.mktemp("site"))


@pytest.mark.parametrize("kind", get_args(Kind))
def test_a_commit_signed_by_an_allowed_signer_is_trusted(kind: Kind, tmp_path: Path) -> None:
    """By every kind of key that needs no hardware; git says so, too."""
    key = SshKey.create(tmp_path / "id", kind)
    sample = signed_project(tmp_path / "acme", key)
    signers = f"{SIGNER} {key.public}\n"
    found = signature.check_commit(proof_of(sample, tmp_path / "site"), signers.encode(), ENVIRON)
    assert (found.state, found.exit_code, found.principal) == ("trusted", 0, SIGNER)
    assert found.fingerprint == key.fingerprint
    assert accepted_by_git(sample.folder, signers)


@pytest.mark.parametrize(
    "options",
    [
        'valid-before="20250101"',
        'valid-after="20270101"',
        'valid-after="20250101",valid-before="20270101"',
        'namespaces="file"',
        'namespaces="git"',
    ],
)
def test_git_and_we_agree_on_what_a_file_allows(
    key: SshKey, sample: SampleProject, proof: ProofReport, options: str
) -> None:
    """Dates are those of the commit, which says it is of 2026."""
    signers = f"{SIGNER} {options} {key.public}\n"
    found = signature.check_commit(proof, signers.encode(), ENVIRON)
    assert (found.exit_code == 0) == accepted_by_git(sample.folder, signers)
    assert found.state in {"trusted", "untrusted"}


def test_a_changed_commit_is_bad(key: SshKey, proof: ProofReport) -> None:
    """A signature of another message; the proof would not hold either."""
    assert proof.commit_object is not None
    raw = proof.commit_object.replace(b"A change", b"A chance")
    found = signature.check_commit(
        with_commit(proof, raw), f"{SIGNER} {key.public}\n".encode(), ENVIRON
    )
    assert (found.state, found.exit_code) == ("bad", 1)


def test_a_signed_merge_of_a_signed_tag_is_trusted(key: SshKey, tmp_path: Path) -> None:
    """The tag's own signature inside the commit is part of what was signed."""
    sample = signed_project(tmp_path / "acme", key)
    git(sample.folder, "checkout", "--quiet", "-b", "side")
    sample.write("skills/greet/more.md", b"x").locked().committed()
    git(sample.folder, *key.git_options, "tag", "--sign", "--message", "Side", "side-1")
    git(sample.folder, "checkout", "--quiet", "main")
    merge = ("merge", "--quiet", "--no-ff", "-S", "--message", "Merge", "side-1")
    git(sample.folder, *key.git_options, *merge)
    proof = proof_of(sample, tmp_path / "site")
    assert b"mergetag" in (proof.commit_object or b"")
    signers = f"{SIGNER} {key.public}\n"
    assert signature.check_commit(proof, signers.encode(), ENVIRON).state == "trusted"
    assert accepted_by_git(sample.folder, signers)


def test_a_commit_in_another_encoding_is_trusted(key: SshKey, tmp_path: Path) -> None:
    """Its bytes are what was signed."""
    sample = SampleProject.create(tmp_path / "acme")
    latin = ("-c", "i18n.commitEncoding=ISO-8859-1")
    amend = ("commit", "--quiet", "--amend", "-S", "--message", "Zo\udceb")
    git(sample.folder, *key.git_options, *latin, *amend)
    proof = proof_of(sample, tmp_path / "site")
    assert b"encoding ISO-8859-1" in (proof.commit_object or b"")
    signers = f"{SIGNER} {key.public}\n".encode()
    assert signature.check_commit(proof, signers, ENVIRON).state == "trusted"


def test_an_unsigned_commit_is_wrong_when_a_signature_is_wanted(tmp_path: Path) -> None:
    """Exit 1: it was asked for."""
    proof = proof_of(SampleProject.create(tmp_path / "acme"), tmp_path / "site")
    found = signature.check_commit(proof, b"", ENVIRON)
    assert (found.state, found.exit_code) == ("unsigned", 1)


@pytest.mark.parametrize(
    ("armour", "kind", "tool"),
    [
        (b"-----BEGIN PGP SIGNATURE-----", "openpgp", "GnuPG"),
        (b"-----BEGIN SIGNED MESSAGE-----", "x509", "gpgsm"),
        (b"something else", "other", "kind of signature is unknown"),
    ],
)
def test_a_signature_of_another_kind_cannot_be_told(
    proof: ProofReport, armour: bytes, kind: str, tool: str
) -> None:
    """Which tool checks it is said."""
    head, _, rest = (proof.commit_object or b"").partition(b"gpgsig ")
    raw = head + b"gpgsig " + armour + b"\n" + rest.partition(b"\n")[2]
    found = signature.check_commit(with_commit(proof, raw), b"", ENVIRON)
    assert (found.state, found.exit_code, found.kind) == ("other_kind", 3, kind)
    assert tool in found.notes[0]


def test_without_a_proof_it_cannot_be_told(key: SshKey, tmp_path: Path) -> None:
    """And why there is none."""
    sample = signed_project(tmp_path / "acme", key).configure("proof = false").committed()
    found = signature.check_commit(proof_of(sample, tmp_path / "site"), b"", ENVIRON)
    assert (found.state, found.exit_code) == ("no_commit", 3)
    assert "proof = false" in found.notes[0]


def test_without_ssh_keygen_it_cannot_be_told(proof: ProofReport) -> None:
    """Nothing is found out, and nothing is claimed."""
    found = signature.check_commit(proof, b"", {})
    assert (found.state, found.exit_code) == ("no_ssh_keygen", 3)

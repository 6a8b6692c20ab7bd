"""SSH signatures of commits and files, made by the real git and ssh-keygen."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING, get_args

import pytest

from skills_bundle.supply_chain import limits
from skills_bundle.supply_chain.signature import (
    Signed,
    check,
    check_commit,
    find_ssh_keygen,
    split_commit,
)
from tests.hatch_plugin.sample import SampleProject, git
from tests.installed_wheel import install_wheel, signed_project
from tests.ssh_keys import Kind, SshKey, keygen

if TYPE_CHECKING:
    from pathlib import Path

    from skills_bundle.bundle.proof_report import ProofReport
    from skills_bundle.supply_chain.signature import SignatureReport

pytestmark = pytest.mark.slow

ENVIRON = {"PATH": os.environ["PATH"], "TZ": "UTC"}
SIGNER = "ada@example.org"
MESSAGE = b"What was signed\n"
IN_2026 = 1_770_000_000
HEAD = b"tree " + b"1" * 40 + b"\nauthor A <a@x> 1 +0000\ncommitter A <a@x> 1700000000 +0100\n"
SSH = b"-----BEGIN SSH SIGNATURE-----\n \n U1NIU0lH\n -----END SSH SIGNATURE-----\n"
ARMOUR = b"-----BEGIN SSH SIGNATURE-----\n\nU1NIU0lH\n-----END SSH SIGNATURE-----\n"
COMMIT_MESSAGE = b"\nA change\n\ngpgsig is no header here\n"
MERGED = b"mergetag object " + b"2" * 40 + b"\n type commit\n gpgsig x\n"


def test_the_payload_is_the_commit_without_its_signature() -> None:
    """The message is unchanged."""
    found = split_commit(HEAD + b"gpgsig " + SSH + COMMIT_MESSAGE)
    assert (found.payload, found.signature) == (HEAD + COMMIT_MESSAGE, ARMOUR)


def test_headers_around_the_signature_are_kept() -> None:
    """An encoding after it, and a merged tag before it with a signature of its own."""
    extra = b"encoding ISO-8859-1\n"
    found = split_commit(HEAD + MERGED + b"gpgsig " + SSH + extra + COMMIT_MESSAGE)
    assert (found.payload, found.signature) == (HEAD + MERGED + extra + COMMIT_MESSAGE, ARMOUR)


def test_a_signature_for_another_hash_is_left_out() -> None:
    """Git leaves `gpgsig-sha256` out of what `gpgsig` signs."""
    other = b"gpgsig-sha256 -----BEGIN PGP SIGNATURE-----\n \n iQ==\n"
    found = split_commit(HEAD + other + b"gpgsig " + SSH + COMMIT_MESSAGE)
    assert (found.payload, found.signature) == (HEAD + COMMIT_MESSAGE, ARMOUR)


def test_a_signature_for_another_hash_alone_does_not_count() -> None:
    """In a SHA-1 repository, git calls such a commit unsigned."""
    found = split_commit(HEAD + b"gpgsig-sha256 " + SSH + COMMIT_MESSAGE)
    assert (found.signature, found.kind) == (None, None)


def test_an_unsigned_commit_is_its_own_payload() -> None:
    """With and without a message."""
    assert [split_commit(raw).payload for raw in (HEAD + COMMIT_MESSAGE, HEAD)] == [
        HEAD + COMMIT_MESSAGE,
        HEAD,
    ]


@pytest.mark.parametrize(
    ("first", "kind"),
    [
        (b"-----BEGIN SSH SIGNATURE-----", "ssh"),
        (b"-----BEGIN PGP SIGNATURE-----", "openpgp"),
        (b"-----BEGIN PGP MESSAGE-----", "openpgp"),
        (b"-----BEGIN SIGNED MESSAGE-----", "x509"),
        (b"untrusted comment: signify", "other"),
    ],
)
def test_the_first_line_identifies_the_kind(first: bytes, kind: str) -> None:
    """Git does the same."""
    assert split_commit(HEAD + b"gpgsig " + first + b"\n x\n" + COMMIT_MESSAGE).kind == kind


def test_the_committers_time_is_used() -> None:
    """The key must have been valid then, not at the author's time."""
    assert split_commit(HEAD + COMMIT_MESSAGE).committed == 1_700_000_000


@pytest.mark.parametrize("date", [b"", b" x +0000", b" " + b"9" * 30 + b" +0000", b" -1 +0000"])
def test_a_commit_without_a_time_has_none(date: bytes) -> None:
    """The message is not searched."""
    head = HEAD.replace(b" 1700000000 +0100", date)
    late = b"\ncommitter A <a@x> 1 +0000\n"
    assert split_commit(head + late).committed is None


def proof_of(sample: SampleProject, site: Path) -> ProofReport:
    """Build and install a project, and return the report on its proof."""
    return install_wheel(sample.wheel(), site).verify().proof


def with_commit(proof: ProofReport, raw: bytes) -> ProofReport:
    """Return a proof with another commit."""
    return proof.model_copy(update={"commit_object": raw})


def accepted_by_git(folder: Path, signers: str) -> bool:
    """Return whether `git verify-commit` succeeds."""
    file = folder.parent / "allowed"
    file.write_text(signers, encoding="utf-8")
    options = ("-c", f"gpg.ssh.allowedSignersFile={file}")
    command = ["git", *options, "-C", str(folder), "verify-commit", "HEAD"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> SshKey:
    """Return the author's key."""
    return SshKey.create(tmp_path_factory.mktemp("key") / "id")


@pytest.fixture(scope="module")
def sample(key: SshKey, tmp_path_factory: pytest.TempPathFactory) -> SampleProject:
    """Return a project whose commit that key signed."""
    return signed_project(tmp_path_factory.mktemp("signed") / "acme", key)


@pytest.fixture(scope="module")
def proof(sample: SampleProject, tmp_path_factory: pytest.TempPathFactory) -> ProofReport:
    """Return the report on the proof of its installed wheel."""
    return proof_of(sample, tmp_path_factory.mktemp("site"))


@pytest.mark.parametrize("kind", get_args(Kind))
def test_a_commit_signed_by_an_allowed_signer_is_trusted(kind: Kind, tmp_path: Path) -> None:
    """Git agrees, for every kind of key that needs no hardware."""
    key = SshKey.create(tmp_path / "id", kind)
    sample = signed_project(tmp_path / "acme", key)
    signers = f"{SIGNER} {key.public}\n"
    found = check_commit(proof_of(sample, tmp_path / "site"), signers.encode(), ENVIRON)
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
def test_options_of_allowed_signers_are_read_as_git_reads_them(
    key: SshKey, sample: SampleProject, proof: ProofReport, options: str
) -> None:
    """Dates are compared with the commit's, which is in 2026."""
    signers = f"{SIGNER} {options} {key.public}\n"
    found = check_commit(proof, signers.encode(), ENVIRON)
    assert (found.exit_code == 0) == accepted_by_git(sample.folder, signers)
    assert found.state in {"trusted", "untrusted"}


def test_a_changed_commit_is_bad(key: SshKey, proof: ProofReport) -> None:
    """The signature is of another message."""
    assert proof.commit_object is not None
    raw = proof.commit_object.replace(b"A change", b"A chance")
    found = check_commit(with_commit(proof, raw), f"{SIGNER} {key.public}\n".encode(), ENVIRON)
    assert (found.state, found.exit_code) == ("bad", 1)


def test_a_signed_merge_of_a_signed_tag_is_trusted(key: SshKey, tmp_path: Path) -> None:
    """The tag's signature is part of what was signed."""
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
    assert check_commit(proof, signers.encode(), ENVIRON).state == "trusted"
    assert accepted_by_git(sample.folder, signers)


def test_a_commit_in_another_encoding_is_trusted(key: SshKey, tmp_path: Path) -> None:
    """The raw bytes were signed."""
    sample = SampleProject.create(tmp_path / "acme")
    latin = ("-c", "i18n.commitEncoding=ISO-8859-1")
    amend = ("commit", "--quiet", "--amend", "-S", "--message", "Zo\udceb")
    git(sample.folder, *key.git_options, *latin, *amend)
    proof = proof_of(sample, tmp_path / "site")
    assert b"encoding ISO-8859-1" in (proof.commit_object or b"")
    signers = f"{SIGNER} {key.public}\n".encode()
    assert check_commit(proof, signers, ENVIRON).state == "trusted"


def test_an_unsigned_commit_fails_when_a_signature_is_required(tmp_path: Path) -> None:
    """The exit code is 1."""
    proof = proof_of(SampleProject.create(tmp_path / "acme"), tmp_path / "site")
    found = check_commit(proof, b"", ENVIRON)
    assert (found.state, found.exit_code) == ("unsigned", 1)


@pytest.mark.parametrize(
    ("armour", "kind", "tool"),
    [
        (b"-----BEGIN PGP SIGNATURE-----", "openpgp", "GnuPG"),
        (b"-----BEGIN SIGNED MESSAGE-----", "x509", "gpgsm"),
        (b"something else", "other", "kind of signature is unknown"),
    ],
)
def test_a_signature_of_another_kind_is_not_checked(
    proof: ProofReport, armour: bytes, kind: str, tool: str
) -> None:
    """The note names the tool that checks it."""
    head, _, rest = (proof.commit_object or b"").partition(b"gpgsig ")
    raw = head + b"gpgsig " + armour + b"\n" + rest.partition(b"\n")[2]
    found = check_commit(with_commit(proof, raw), b"", ENVIRON)
    assert (found.state, found.exit_code, found.kind) == ("other_kind", 3, kind)
    assert tool in found.notes[0]


def test_without_a_proof_the_signature_is_not_checked(key: SshKey, tmp_path: Path) -> None:
    """The note says why there is none."""
    sample = signed_project(tmp_path / "acme", key).configure("proof = false").committed()
    found = check_commit(proof_of(sample, tmp_path / "site"), b"", ENVIRON)
    assert (found.state, found.exit_code) == ("no_commit", 3)
    assert "proof = false" in found.notes[0]


def test_without_ssh_keygen_the_signature_is_not_checked(proof: ProofReport) -> None:
    """The exit code is 3."""
    found = check_commit(proof, b"", {})
    assert (found.state, found.exit_code) == ("no_ssh_keygen", 3)


@pytest.fixture(scope="module")
def question(key: SshKey) -> Signed:
    """Return a good signature by an allowed signer."""
    return signed(key, key.path.parent, f"ada@example.org {key.public}\n")


def signed(key: SshKey, folder: Path, signers: str, namespace: str = "git") -> Signed:
    """Sign a message with a key."""
    file = folder / "message"
    file.write_bytes(MESSAGE)
    signature = key.sign(file, namespace)
    data = signature.read_bytes()
    signature.unlink()
    return Signed(message=MESSAGE, signature=data, signers=signers.encode(), namespace="git")


def checked(question: Signed, **changes: object) -> SignatureReport:
    """Check a signature with something changed."""
    return check(replace(question, **changes), ENVIRON)


@pytest.mark.parametrize("kind", get_args(Kind))
def test_an_allowed_signer_is_named_with_the_key(kind: Kind, tmp_path: Path) -> None:
    """Principal, kind of key and fingerprint, as ssh-keygen prints them."""
    key = SshKey.create(tmp_path / "id", kind)
    answer = check(signed(key, tmp_path, f"ada@example.org {key.public}\n"), ENVIRON)
    found = (answer.state, answer.principal, answer.key_type, answer.fingerprint)
    assert found == ("trusted", "ada@example.org", kind.upper(), key.fingerprint)


def test_a_key_that_is_not_in_the_file_is_untrusted(question: Signed, tmp_path: Path) -> None:
    """The signature is good; the report has the key's fingerprint."""
    other = SshKey.create(tmp_path / "other")
    answer = checked(question, signers=f"zoe@example.org {other.public}\n".encode())
    assert (answer.state, answer.principal) == ("untrusted", None)
    assert answer.fingerprint == check(question, ENVIRON).fingerprint is not None


def test_an_empty_file_allows_no_one(question: Signed) -> None:
    """It is readable."""
    assert checked(question, signers=b"# empty\n").state == "untrusted"


def test_another_message_makes_the_signature_bad(question: Signed) -> None:
    """One additional byte."""
    answer = checked(question, message=MESSAGE + b"x")
    assert (answer.state, answer.fingerprint) == ("bad", None)
    assert answer.notes == ("Signature verification failed: incorrect signature",)


def test_a_signature_in_another_namespace_is_bad(key: SshKey, tmp_path: Path) -> None:
    """A signature of a file is not one of a commit."""
    signers = f"ada@example.org {key.public}\n"
    assert check(signed(key, tmp_path, signers, namespace="file"), ENVIRON).state == "bad"


@pytest.mark.parametrize("data", [b"", b"garbage", b"-----BEGIN SSH SIGNATURE-----\n\nAAAA\n"])
def test_malformed_signatures_are_bad(question: Signed, data: bytes) -> None:
    """Truncated, or of another form."""
    assert checked(question, signature=data).state == "bad"


def test_a_key_that_had_expired_is_untrusted_with_the_reason(key: SshKey, question: Signed) -> None:
    """At the given time."""
    signers = f'ada@example.org valid-before="20250101" {key.public}\n'.encode()
    answer = checked(question, signers=signers, time=IN_2026)
    assert answer.state == "untrusted"
    assert "line 1 of the allowed signers: key has expired" in answer.notes[0]


def test_a_key_that_has_expired_since_is_trusted(key: SshKey, question: Signed) -> None:
    """It was valid when the commit was made."""
    signers = f'ada@example.org valid-before="20270101" {key.public}\n'.encode()
    assert checked(question, signers=signers, time=IN_2026).state == "trusted"


def test_a_key_for_another_use_is_untrusted_with_the_reason(key: SshKey, question: Signed) -> None:
    """The file can restrict a key to a namespace."""
    signers = f'ada@example.org namespaces="file" {key.public}\n'.encode()
    answer = checked(question, signers=signers)
    assert answer.state == "untrusted"
    assert "not permitted for use in signature namespace" in answer.notes[0]


def test_unreadable_lines_leave_the_result_open(question: Signed) -> None:
    """The key may be in one of them; each is reported by its number."""
    answer = checked(question, signers=b"# keys\nada@example.org ssh-ed25519 AAAA\n")
    assert answer.state == "signers_unreadable"
    assert answer.notes == ("line 2 of the allowed signers: invalid key",)


def test_an_unreadable_line_does_not_affect_others(key: SshKey, question: Signed) -> None:
    """ssh-keygen skips it."""
    signers = f"garbage\nada@example.org {key.public}\n".encode()
    assert checked(question, signers=signers).state == "trusted"


def test_a_certificate_of_an_allowed_authority_is_trusted(tmp_path: Path) -> None:
    """The file names the authority and its principals."""
    authority, key = SshKey.create(tmp_path / "ca"), SshKey.create(tmp_path / "id")
    keygen("-q", "-s", str(authority.path), "-I", "x", "-n", "ada@example.org", f"{key.path}.pub")
    certified = SshKey(tmp_path / "id-cert.pub")
    signers = f"*@example.org cert-authority {authority.public}\n"
    answer = check(signed(certified, tmp_path, signers), ENVIRON)
    found = (answer.state, answer.principal, answer.key_type)
    assert found == ("trusted", "ada@example.org", "ED25519-CERT")


def test_a_required_identity_must_match(key: SshKey, question: Signed) -> None:
    """The key of another allowed signer is untrusted."""
    signers = f"ada@example.org {key.public}\n".encode()
    answers = [
        checked(question, signers=signers, identity=f"{name}@example.org").state
        for name in ("ada", "zoe")
    ]
    assert answers == ["trusted", "untrusted"]


@pytest.mark.parametrize("time", [-1, 10**12, 10**17])
def test_a_time_outside_the_calendar_is_an_error(question: Signed, time: int) -> None:
    """ssh-keygen cannot check it."""
    assert checked(question, time=time).state == "ssh_keygen_failed"


@pytest.mark.parametrize("path", ["", ".", "relative:", "/nonexistent"])
def test_a_program_in_a_relative_folder_is_not_run(
    question: Signed, path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The current folder does not select the program."""
    for folder in (tmp_path, tmp_path / "relative"):
        program(folder, "echo 'Good \"git\" signature with X key Y'")
    monkeypatch.chdir(tmp_path)
    assert check(question, {"PATH": path}).state == "no_ssh_keygen"


def program(folder: Path, script: str) -> dict[str, str]:
    """Write an `ssh-keygen` script, and return an environment with it in PATH."""
    folder.mkdir(exist_ok=True)
    (folder / "ssh-keygen").write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    (folder / "ssh-keygen").chmod(0o755)
    return {"PATH": str(folder)}


def test_an_old_program_is_reported(question: Signed, tmp_path: Path) -> None:
    """It does not know the operation, which says nothing about the signature."""
    environ = program(tmp_path / "bin", "echo 'unknown option -- Y' >&2; exit 1")
    answer = check(question, environ)
    assert (answer.state, answer.notes) == ("ssh_keygen_failed", ("unknown option -- Y",))


def test_a_program_that_does_not_start_is_reported(question: Signed, tmp_path: Path) -> None:
    """With the system's message."""
    environ = program(tmp_path / "bin", "")
    (tmp_path / "bin/ssh-keygen").write_bytes(b"#!/nonexistent\n")
    assert check(question, environ).state == "ssh_keygen_failed"


def test_a_program_that_hangs_is_stopped(
    question: Signed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The time-out is reported."""
    monkeypatch.setattr(limits, "SSH_KEYGEN_SECONDS", 0.2)
    environ = program(tmp_path / "bin", "/bin/sleep 600 & wait")
    answer = check(question, environ)
    assert answer.state == "ssh_keygen_failed"
    assert "timed out after 0.2 seconds" in answer.notes[0]


def test_the_program_gets_a_minimal_environment(question: Signed, tmp_path: Path) -> None:
    """No loader variables, agent or helpers."""
    environ = program(tmp_path / "bin", f"/usr/bin/env > {tmp_path}/seen; exit 1")
    check(question, {**environ, "LD_PRELOAD": "/x", "SSH_AUTH_SOCK": "/y", "TZ": "Asia/Tokyo"})
    seen = {line.split("=")[0] for line in (tmp_path / "seen").read_text("utf-8").splitlines()}
    assert seen - {"_", "PWD", "SHLVL", "OLDPWD"} == {"LC_ALL", "TZ"}


def test_temporary_files_are_private_and_removed(question: Signed, tmp_path: Path) -> None:
    """The folder has mode 700."""
    script = f"/bin/pwd > {tmp_path}/seen; /usr/bin/stat -c %a . >> {tmp_path}/seen; exit 1"
    check(question, {**program(tmp_path / "bin", script), "TMPDIR": str(tmp_path)})
    folder, mode = (tmp_path / "seen").read_text(encoding="utf-8").split()
    assert mode == "700"
    assert not os.path.lexists(folder)


def test_the_first_absolute_folder_with_the_program_is_used(tmp_path: Path) -> None:
    """Relative folders are skipped."""
    program(tmp_path / "bin", "")
    path = os.pathsep.join([".", str(tmp_path), str(tmp_path / "bin"), "/usr/bin"])
    assert find_ssh_keygen(path) == str(tmp_path / "bin/ssh-keygen")


def test_the_owner_of_a_key_is_reported_if_another_was_required(
    key: SshKey, question: Signed
) -> None:
    """Often only the name is wrong."""
    signers = f"ada@example.org {key.public}\n".encode()
    answer = checked(question, signers=signers, identity="zoe@example.org")
    assert answer.notes[-1].endswith("this key belongs to ada@example.org.")

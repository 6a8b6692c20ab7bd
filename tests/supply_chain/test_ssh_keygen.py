"""Real keys and the real program: who made a signature, and what a program that fails comes to."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, get_args

import pytest

from skills_bundle.supply_chain import limits
from skills_bundle.supply_chain.signature import Signed, check, find_ssh_keygen
from tests.ssh_keys import Kind, SshKey, keygen

if TYPE_CHECKING:
    from pathlib import Path

    from skills_bundle.supply_chain.signature import SignatureReport

MESSAGE = b"What was signed\n"
ENVIRON = {"PATH": os.environ["PATH"], "TZ": "UTC"}
IN_2026 = 1_770_000_000


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> SshKey:
    """Give a key that nobody has to know."""
    return SshKey.create(tmp_path_factory.mktemp("key") / "id")


@pytest.fixture(scope="module")
def question(key: SshKey) -> Signed:
    """Ask about a good signature by an allowed signer."""
    return asking(key, key.path.parent, f"ada@example.org {key.public}\n")


def asking(key: SshKey, folder: Path, signers: str, namespace: str = "git") -> Signed:
    """Sign with a key, and ask about it."""
    file = folder / "message"
    file.write_bytes(MESSAGE)
    signature = key.sign(file, namespace)
    data = signature.read_bytes()
    signature.unlink()
    return Signed(message=MESSAGE, signature=data, signers=signers.encode(), namespace="git")


def asked(question: Signed, **changes: object) -> SignatureReport:
    """Ask with something changed."""
    return check(replace(question, **changes), ENVIRON)


@pytest.mark.parametrize("kind", get_args(Kind))
def test_an_allowed_signer_is_named_with_the_key(kind: Kind, tmp_path: Path) -> None:
    """Principal, kind of key and fingerprint, as ssh-keygen itself gives them."""
    key = SshKey.create(tmp_path / "id", kind)
    answer = check(asking(key, tmp_path, f"ada@example.org {key.public}\n"), ENVIRON)
    found = (answer.state, answer.principal, answer.key_type, answer.fingerprint)
    assert found == ("trusted", "ada@example.org", kind.upper(), key.fingerprint)


def test_a_key_that_is_not_in_the_file_is_untrusted(question: Signed, tmp_path: Path) -> None:
    """The signature is good; which key made it is said."""
    other = SshKey.create(tmp_path / "other")
    answer = asked(question, signers=f"zoe@example.org {other.public}\n".encode())
    assert (answer.state, answer.principal) == ("untrusted", None)
    assert answer.fingerprint == check(question, ENVIRON).fingerprint is not None


def test_an_empty_file_allows_nobody(question: Signed) -> None:
    """It can be read; it just names no one."""
    assert asked(question, signers=b"# nobody yet\n").state == "untrusted"


def test_another_message_makes_the_signature_bad(question: Signed) -> None:
    """One byte more."""
    answer = asked(question, message=MESSAGE + b"x")
    assert (answer.state, answer.fingerprint) == ("bad", None)
    assert answer.notes == ("Signature verification failed: incorrect signature",)


def test_a_signature_for_something_else_is_bad(key: SshKey, tmp_path: Path) -> None:
    """What was signed as a file was not signed as a commit."""
    signers = f"ada@example.org {key.public}\n"
    assert check(asking(key, tmp_path, signers, namespace="file"), ENVIRON).state == "bad"


@pytest.mark.parametrize("data", [b"", b"garbage", b"-----BEGIN SSH SIGNATURE-----\n\nAAAA\n"])
def test_what_is_no_signature_is_bad(question: Signed, data: bytes) -> None:
    """Cut short, or never one."""
    assert asked(question, signature=data).state == "bad"


def test_a_key_that_had_expired_is_untrusted_with_the_reason(key: SshKey, question: Signed) -> None:
    """As of the time that is asked about."""
    signers = f'ada@example.org valid-before="20250101" {key.public}\n'.encode()
    answer = asked(question, signers=signers, time=IN_2026)
    assert answer.state == "untrusted"
    assert "line 1 of the allowed signers: key has expired" in answer.notes[0]


def test_a_key_that_has_expired_since_is_trusted(key: SshKey, question: Signed) -> None:
    """It was valid when the commit was made, as git sees it."""
    signers = f'ada@example.org valid-before="20270101" {key.public}\n'.encode()
    assert asked(question, signers=signers, time=IN_2026).state == "trusted"


def test_a_key_for_another_use_is_untrusted_with_the_reason(key: SshKey, question: Signed) -> None:
    """The file can bind a key to a namespace."""
    signers = f'ada@example.org namespaces="file" {key.public}\n'.encode()
    answer = asked(question, signers=signers)
    assert answer.state == "untrusted"
    assert "not permitted for use in signature namespace" in answer.notes[0]


def test_lines_that_cannot_be_read_leave_it_open(question: Signed) -> None:
    """The key may be in one of them; each is named by its number."""
    answer = asked(question, signers=b"# keys\nada@example.org ssh-ed25519 AAAA\n")
    assert answer.state == "signers_unreadable"
    assert answer.notes == ("line 2 of the allowed signers: invalid key",)


def test_a_line_that_cannot_be_read_harms_no_other(key: SshKey, question: Signed) -> None:
    """As ssh-keygen has it."""
    signers = f"garbage\nada@example.org {key.public}\n".encode()
    assert asked(question, signers=signers).state == "trusted"


def test_a_certificate_of_an_allowed_authority_is_trusted(tmp_path: Path) -> None:
    """The file names the authority, and whose certificates it may give."""
    authority, key = SshKey.create(tmp_path / "ca"), SshKey.create(tmp_path / "id")
    keygen("-q", "-s", str(authority.path), "-I", "x", "-n", "ada@example.org", f"{key.path}.pub")
    certified = SshKey(tmp_path / "id-cert.pub")
    signers = f"*@example.org cert-authority {authority.public}\n"
    answer = check(asking(certified, tmp_path, signers), ENVIRON)
    found = (answer.state, answer.principal, answer.key_type)
    assert found == ("trusted", "ada@example.org", "ED25519-CERT")


def test_the_one_identity_that_is_wanted_is_tried(key: SshKey, question: Signed) -> None:
    """Somebody else's key does not do, though the file has it."""
    signers = f"ada@example.org {key.public}\n".encode()
    answers = [
        asked(question, signers=signers, identity=f"{name}@example.org").state
        for name in ("ada", "zoe")
    ]
    assert answers == ["trusted", "untrusted"]


@pytest.mark.parametrize("time", [-1, 10**12, 10**17])
def test_a_time_beyond_the_calendar_cannot_be_asked_about(question: Signed, time: int) -> None:
    """Nobody can say whether a key was valid then."""
    assert asked(question, time=time).state == "ssh_keygen_failed"


@pytest.mark.parametrize("path", ["", ".", "relative:", "/nonexistent"])
def test_a_program_in_a_relative_folder_is_none(
    question: Signed, path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where somebody stands has no say in what is run."""
    for folder in (tmp_path, tmp_path / "relative"):
        program(folder, "echo 'Good \"git\" signature with X key Y'")
    monkeypatch.chdir(tmp_path)
    assert check(question, {"PATH": path}).state == "no_ssh_keygen"


def program(folder: Path, script: str) -> dict[str, str]:
    """Put a program of this name into a folder, and give an environment that finds it."""
    folder.mkdir(exist_ok=True)
    (folder / "ssh-keygen").write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    (folder / "ssh-keygen").chmod(0o755)
    return {"PATH": str(folder)}


def test_a_program_that_cannot_do_this_is_said(question: Signed, tmp_path: Path) -> None:
    """An old one knows no such operation: that says nothing about the signature."""
    environ = program(tmp_path / "bin", "echo 'unknown option -- Y' >&2; exit 1")
    answer = check(question, environ)
    assert (answer.state, answer.notes) == ("ssh_keygen_failed", ("unknown option -- Y",))


def test_a_program_that_cannot_be_started_is_said(question: Signed, tmp_path: Path) -> None:
    """The system's own word for it."""
    environ = program(tmp_path / "bin", "")
    (tmp_path / "bin/ssh-keygen").write_bytes(b"#!/nonexistent\n")
    assert check(question, environ).state == "ssh_keygen_failed"


def test_a_program_that_never_ends_is_ended(
    question: Signed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And so is what it started, which would keep its output open."""
    monkeypatch.setattr(limits, "SSH_KEYGEN_SECONDS", 0.2)
    environ = program(tmp_path / "bin", "/bin/sleep 600 & wait")
    answer = check(question, environ)
    assert answer.state == "ssh_keygen_failed"
    assert "timed out after 0.2 seconds" in answer.notes[0]


def test_the_program_gets_nothing_of_the_environment_it_has_no_use_for(
    question: Signed, tmp_path: Path
) -> None:
    """Its loader, its agent and its helpers come from nobody."""
    environ = program(tmp_path / "bin", f"/usr/bin/env > {tmp_path}/seen; exit 1")
    check(question, {**environ, "LD_PRELOAD": "/x", "SSH_AUTH_SOCK": "/y", "TZ": "Asia/Tokyo"})
    seen = {line.split("=")[0] for line in (tmp_path / "seen").read_text("utf-8").splitlines()}
    assert seen - {"_", "PWD", "SHLVL", "OLDPWD"} == {"LC_ALL", "TZ"}


def test_its_files_are_private_and_gone_afterwards(question: Signed, tmp_path: Path) -> None:
    """Nobody else reads or swaps them, and nothing stays."""
    script = f"/bin/pwd > {tmp_path}/seen; /usr/bin/stat -c %a . >> {tmp_path}/seen; exit 1"
    check(question, {**program(tmp_path / "bin", script), "TMPDIR": str(tmp_path)})
    folder, mode = (tmp_path / "seen").read_text(encoding="utf-8").split()
    assert mode == "700"
    assert not os.path.lexists(folder)


def test_the_program_is_found_by_its_absolute_folder(tmp_path: Path) -> None:
    """The first of them that has it."""
    program(tmp_path / "bin", "")
    path = os.pathsep.join([".", str(tmp_path), str(tmp_path / "bin"), "/usr/bin"])
    assert find_ssh_keygen(path) == str(tmp_path / "bin/ssh-keygen")


def test_whose_key_it_is_instead_of_the_one_that_was_wanted_is_said(
    key: SshKey, question: Signed
) -> None:
    """Else somebody looks for a wrong key, where only the name is another."""
    signers = f"ada@example.org {key.public}\n".encode()
    answer = asked(question, signers=signers, identity="zoe@example.org")
    assert answer.notes[-1].endswith("this key belongs to ada@example.org.")

"""`verify-statement`: ours and others', signed and not, of this file and of another."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from skills_bundle.supply_chain import limits
from skills_bundle.supply_chain.statement.statement import NAMESPACE
from tests.cli.runner import call
from tests.hatch_plugin.sample import SampleProject
from tests.ssh_keys import SshKey
from tests.supply_chain.statements import (
    attestation,
    open_contents,
    provenance,
    publish_attestation,
)

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.runner import Ran

ENVIRON = {"PATH": os.environ["PATH"]}


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    """Return a real wheel with its statement beside it."""
    made = SampleProject.create(tmp_path / "acme").wheel()
    assert call("statement", str(made)).code == 0
    return made


@pytest.fixture
def statement(wheel: Path) -> Path:
    """Return the statement."""
    return wheel.with_name(f"{wheel.name}.provenance.json")


@pytest.fixture
def key(tmp_path: Path) -> SshKey:
    """Return a key."""
    return SshKey.create(tmp_path / "id")


@pytest.fixture
def signers(key: SshKey, tmp_path: Path) -> Path:
    """Return allowed signers: two people who share the key."""
    file = tmp_path / "allowed_signers"
    file.write_text(f"ada@x {key.public}\nzoe@x {key.public}\n", encoding="utf-8")
    return file


def ask(*arguments: object) -> Ran:
    """Run the command."""
    return call("verify-statement", *map(str, arguments), environ=ENVIRON)


def test_a_statement_about_the_file_matches(statement: Path, wheel: Path) -> None:
    """Exit 0; the output says that it is not signed."""
    ran = ask(statement, wheel)
    text = " ".join(ran.stdout.split())
    assert (ran.code, ran.stderr) == (0, "")
    assert "is about this file and matches it" in text
    assert "not checked, so at most SLSA Build L1" in text


def test_a_statement_about_another_file_fails(statement: Path, tmp_path: Path) -> None:
    """Exit 1, with both digests."""
    sample = SampleProject.create(tmp_path / "other")
    wheel = sample.write("src/acme_skills/more.py", b"").committed().wheel()
    ran = ask(statement, wheel)
    assert ran.code == 1
    assert "is a different file with this name" in " ".join(ran.stdout.split())


def test_the_json_output_is_the_report(statement: Path, wheel: Path) -> None:
    """Verdict, subject, and one row per statement."""
    report = ask(statement, wheel, "--json").json
    assert (report["verdict"], report["exit_code"], report["signature"]) == ("match", 0, None)
    assert [row["predicate"] for row in report["statements"]] == ["recomputed"]
    assert report["sha256"] == open_contents(wheel).archive.sha256


def test_a_signed_statement_names_its_signer(
    statement: Path, wheel: Path, key: SshKey, signers: Path
) -> None:
    """The signature by `ssh-keygen -Y sign` is read from the file beside it."""
    key.sign(statement, NAMESPACE)
    ran = ask(statement, wheel, "--signed-by", signers)
    assert ran.code == 0
    assert "✓ signature of the statement: good, by an allowed signer" in ran.stdout
    assert "ada@x, from the file of allowed signers" in ran.stdout


def test_a_particular_signer_can_be_required(
    statement: Path, wheel: Path, key: SshKey, signers: Path, tmp_path: Path
) -> None:
    """Exit 1 for another signer; the signature may have any path."""
    elsewhere = key.sign(statement, NAMESPACE).rename(tmp_path / "elsewhere.sig")
    options = ("--signature", elsewhere, "--signed-by", signers, "--identity")
    codes = [ask(statement, wheel, *options, name).code for name in ("zoe@x", "eve@x")]
    assert codes == [0, 1]


def test_a_signature_in_another_namespace_is_bad(
    statement: Path, wheel: Path, key: SshKey, signers: Path
) -> None:
    """A signature of a file is not one of a statement."""
    key.sign(statement, "file")
    ran = ask(statement, wheel, "--signed-by", signers)
    assert ran.code == 1
    assert "bad: it is not a signature of this content" in ran.stdout


def test_a_missing_signature_fails_if_one_is_required(
    statement: Path, wheel: Path, signers: Path
) -> None:
    """Exit 1, with the path of the missing file."""
    ran = ask(statement, wheel, "--signed-by", signers)
    assert ran.code == 1
    assert f"{statement.name}.sig" in "".join(ran.stdout.split())


def test_without_ssh_keygen_a_signature_is_not_checked(
    statement: Path, wheel: Path, key: SshKey, signers: Path
) -> None:
    """Exit 3."""
    key.sign(statement, NAMESPACE)
    ran = call("verify-statement", str(statement), str(wheel), "--signed-by", str(signers))
    assert ran.code == 3


@pytest.mark.parametrize("option", ["--signature", "--identity"])
def test_options_of_signing_need_the_signers(statement: Path, wheel: Path, option: str) -> None:
    """Exit 2: otherwise a signature would silently not be checked."""
    assert ask(statement, wheel, option, statement).code == 2


def test_an_attestation_of_an_index_is_read_but_not_checked(wheel: Path, tmp_path: Path) -> None:
    """Exit 3: it is about this file, but signature and predicate are not checked."""
    archive = open_contents(wheel).archive
    one = publish_attestation(archive.file_name, archive.sha256)
    (tmp_path / "provenance.json").write_text(json.dumps(provenance(one, one)), encoding="utf-8")
    ran = ask(tmp_path / "provenance.json", wheel)
    text = " ".join(ran.stdout.split())
    assert ran.code == 3
    assert "its claims cannot be checked here" in text
    assert "2 signatures in the envelope; check with the tool that made it" in text


def test_an_attestation_of_another_file_fails(wheel: Path, tmp_path: Path) -> None:
    """Exit 1, even if its signature is good."""
    one = publish_attestation(wheel.name, "0" * 64)
    (tmp_path / "attestation.json").write_text(json.dumps(attestation(one)), encoding="utf-8")
    assert ask(tmp_path / "attestation.json", wheel).code == 1


def test_our_statement_in_an_envelope_matches(statement: Path, wheel: Path) -> None:
    """Exit 0: all of it is recomputed; the output says that the signature was not checked."""
    text = json.dumps(attestation(json.loads(statement.read_bytes())))
    statement.write_text(text, encoding="utf-8")
    ran = ask(statement, wheel)
    assert ran.code == 0
    assert "1 signature in the envelope" in ran.stdout


def test_a_file_that_is_not_a_statement_fails(wheel: Path, tmp_path: Path) -> None:
    """Exit 1, with the problem."""
    (tmp_path / "receipt.json").write_text("{}", encoding="utf-8")
    ran = ask(tmp_path / "receipt.json", wheel)
    assert ran.code == 1
    assert "this is not an in-toto statement" in ran.stderr
    assert f"error: {tmp_path / 'receipt.json'}: " in ran.stderr


def test_a_statement_over_the_size_limit_is_a_usage_error(wheel: Path, tmp_path: Path) -> None:
    """Exit 2."""
    (tmp_path / "large").write_bytes(b" " * (limits.STATEMENT_MAX_BYTES + 1))
    assert ask(tmp_path / "large", wheel).code == 2


def test_a_missing_statement_is_a_usage_error(wheel: Path, tmp_path: Path) -> None:
    """Exit 2: a typo must not look like a verdict."""
    assert ask(tmp_path / "missing", wheel).code == 2


def test_swapped_arguments_are_a_usage_error(statement: Path, wheel: Path) -> None:
    """Exit 2: the wheel is not an invalid statement."""
    ran = ask(wheel, statement)
    assert ran.code == 2
    assert "is a wheel. Name the statement first" in ran.stderr

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
    """Give a real wheel with its statement beside it."""
    made = SampleProject.create(tmp_path / "acme").wheel()
    assert call("statement", str(made)).code == 0
    return made


@pytest.fixture
def statement(wheel: Path) -> Path:
    """Give that statement."""
    return wheel.with_name(f"{wheel.name}.provenance.json")


@pytest.fixture
def key(tmp_path: Path) -> SshKey:
    """Give a key."""
    return SshKey.create(tmp_path / "id")


@pytest.fixture
def signers(key: SshKey, tmp_path: Path) -> Path:
    """Allow two people, who share that key."""
    file = tmp_path / "allowed_signers"
    file.write_text(f"ada@x {key.public}\nzoe@x {key.public}\n", encoding="utf-8")
    return file


def ask(*arguments: object) -> Ran:
    """Run the command."""
    return call("verify-statement", *map(str, arguments), environ=ENVIRON)


def test_a_statement_of_the_file_is_confirmed(statement: Path, wheel: Path) -> None:
    """Exit 0, and that nobody signed it."""
    ran = ask(statement, wheel)
    told = " ".join(ran.stdout.split())
    assert (ran.code, ran.stderr) == (0, "")
    assert "is about this file and matches it" in told
    assert "not checked, so at most SLSA Build L1" in told


def test_one_of_another_file_is_not(statement: Path, tmp_path: Path) -> None:
    """Exit 1, with both digests."""
    sample = SampleProject.create(tmp_path / "other")
    wheel = sample.write("src/acme_skills/more.py", b"").committed().wheel()
    ran = ask(statement, wheel)
    assert ran.code == 1
    assert "is a different file with this name" in " ".join(ran.stdout.split())


def test_a_program_gets_the_report(statement: Path, wheel: Path) -> None:
    """Verdict, subject, and one row a statement."""
    told = ask(statement, wheel, "--json").json
    assert (told["verdict"], told["exit_code"], told["signature"]) == ("match", 0, None)
    assert [row["predicate"] for row in told["statements"]] == ["recomputed"]
    assert told["sha256"] == open_contents(wheel).archive.sha256


def test_a_signed_statement_names_its_signer(
    statement: Path, wheel: Path, key: SshKey, signers: Path
) -> None:
    """What `ssh-keygen -Y sign` wrote is found beside it."""
    key.sign(statement, NAMESPACE)
    ran = ask(statement, wheel, "--signed-by", signers)
    assert ran.code == 0
    assert "✓ signature of the statement: good, by an allowed signer" in ran.stdout
    assert "ada@x, from the file of allowed signers" in ran.stdout


def test_one_signer_can_be_demanded(
    statement: Path, wheel: Path, key: SshKey, signers: Path, tmp_path: Path
) -> None:
    """Exit 1 for somebody else whom the file does not name; the signature may lie anywhere."""
    elsewhere = key.sign(statement, NAMESPACE).rename(tmp_path / "elsewhere.sig")
    options = ("--signature", elsewhere, "--signed-by", signers, "--identity")
    codes = [ask(statement, wheel, *options, name).code for name in ("zoe@x", "eve@x")]
    assert codes == [0, 1]


def test_a_signature_made_for_something_else_is_none(
    statement: Path, wheel: Path, key: SshKey, signers: Path
) -> None:
    """Whoever signed the file as a file said nothing of it as a statement."""
    key.sign(statement, "file")
    ran = ask(statement, wheel, "--signed-by", signers)
    assert ran.code == 1
    assert "bad: it is not a signature of this content" in ran.stdout


def test_a_missing_signature_is_wrong_when_one_is_wanted(
    statement: Path, wheel: Path, signers: Path
) -> None:
    """Exit 1, naming the file that was looked for."""
    ran = ask(statement, wheel, "--signed-by", signers)
    assert ran.code == 1
    assert f"{statement.name}.sig" in "".join(ran.stdout.split())


def test_without_ssh_keygen_a_signature_cannot_be_told(
    statement: Path, wheel: Path, key: SshKey, signers: Path
) -> None:
    """Exit 3."""
    key.sign(statement, NAMESPACE)
    ran = call("verify-statement", str(statement), str(wheel), "--signed-by", str(signers))
    assert ran.code == 3


@pytest.mark.parametrize("option", ["--signature", "--identity"])
def test_options_of_signing_need_the_signers(statement: Path, wheel: Path, option: str) -> None:
    """Exit 2: a signature that nobody looks at would be worse than none."""
    assert ask(statement, wheel, option, statement).code == 2


def test_an_attestation_of_an_index_is_read_and_not_believed(wheel: Path, tmp_path: Path) -> None:
    """Exit 3: it is of this file; signature and predicate are for other tools."""
    archive = open_contents(wheel).archive
    one = publish_attestation(archive.file_name, archive.sha256)
    (tmp_path / "provenance.json").write_text(json.dumps(provenance(one, one)), encoding="utf-8")
    ran = ask(tmp_path / "provenance.json", wheel)
    told = " ".join(ran.stdout.split())
    assert ran.code == 3
    assert "its claims cannot be checked here" in told
    assert "2 signatures in the envelope; check with the tool that made it" in told


def test_an_attestation_of_another_file_is_wrong(wheel: Path, tmp_path: Path) -> None:
    """Exit 1, however good its signature may be."""
    one = publish_attestation(wheel.name, "0" * 64)
    (tmp_path / "attestation.json").write_text(json.dumps(attestation(one)), encoding="utf-8")
    assert ask(tmp_path / "attestation.json", wheel).code == 1


def test_our_statement_in_an_envelope_follows_all_the_same(statement: Path, wheel: Path) -> None:
    """Exit 0: whoever signed it, all it says was made again; that nobody checked who, is said."""
    text = json.dumps(attestation(json.loads(statement.read_bytes())))
    statement.write_text(text, encoding="utf-8")
    ran = ask(statement, wheel)
    assert ran.code == 0
    assert "1 signature in the envelope" in ran.stdout


def test_a_file_that_is_no_statement_is_wrong(wheel: Path, tmp_path: Path) -> None:
    """Exit 1, saying what is missing."""
    (tmp_path / "receipt.json").write_text("{}", encoding="utf-8")
    ran = ask(tmp_path / "receipt.json", wheel)
    assert ran.code == 1
    assert "this is not an in-toto statement" in ran.stderr
    assert f"error: {tmp_path / 'receipt.json'}: " in ran.stderr


def test_a_statement_beyond_the_limit_is_a_wrong_argument(wheel: Path, tmp_path: Path) -> None:
    """Exit 2."""
    (tmp_path / "large").write_bytes(b" " * (limits.STATEMENT_MAX_BYTES + 1))
    assert ask(tmp_path / "large", wheel).code == 2


def test_a_statement_that_is_not_there_is_a_wrong_argument(wheel: Path, tmp_path: Path) -> None:
    """Exit 2: a spelling mistake must not look like a verdict."""
    assert ask(tmp_path / "missing", wheel).code == 2


def test_the_wrong_way_round_is_a_wrong_argument(statement: Path, wheel: Path) -> None:
    """Exit 2: the wheel is no broken statement."""
    ran = ask(wheel, statement)
    assert ran.code == 2
    assert "is a wheel. Name the statement first" in ran.stderr

"""`verify`: the verdict, on one screen and as JSON, of installations whole and broken."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

from skills_bundle import __version__
from skills_bundle.bundle.provenance import BASES
from skills_bundle.cli import installers
from skills_bundle.supply_chain import limits
from tests.cli.runner import call

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.cli.installed import OwnInstallation
    from tests.cli.runner import Ran

    Ask = Callable[..., Ran]

pytestmark = pytest.mark.slow


def test_a_whole_installation_is_confirmed_on_one_screen(ask_whole: Ask) -> None:
    """Exit 0, within 24 lines, with what was verified and what is only asserted."""
    ran = ask_whole("verify")
    assert (ran.code, ran.stderr) == (0, "")
    lines = ran.stdout.splitlines()
    assert len(lines) <= 24
    assert lines[0].endswith("every file matches the lock")
    assert any(line.split()[:2] == ["integrity", "verified:"] for line in lines)
    assert any(line.split()[:2] == ["commit", "asserted,"] for line in lines)


def test_cached_byte_code_is_called_that(ask_whole: Ask) -> None:
    """A number of `tolerated` files would make one wonder what was tolerated."""
    files = next(line for line in ask_whole("verify").stdout.splitlines() if "files " in line)
    assert files.endswith("byte-code caches")
    assert "tolerated" not in files


def test_a_record_that_differs_without_a_lock_says_nothing_of_the_lock(
    place: OwnInstallation,
) -> None:
    """No lock confirms anything then."""
    file = place.folder / "cli/completion.py"
    file.write_bytes(file.read_bytes() + b"# changed\n")
    place.lock.unlink()
    told = " ".join(place.ask("verify").stdout.split())
    assert "RECORD is not valid, or does not match the installed files." in told
    assert "the lock confirms" not in told


def test_json_gives_every_file_with_its_digests(whole: OwnInstallation, ask_whole: Ask) -> None:
    """A program gets the whole verification, and nothing but it."""
    ran = ask_whole("verify", "--json")
    assert ran.json == whole.verify().to_dict()


def test_verbose_lists_every_file_with_its_digest(whole: OwnInstallation, ask_whole: Ask) -> None:
    """A reviewer can compare each digest with one of their own."""
    ran = ask_whole("verify", "--verbose")
    digests = {row.found_sha256 for row in whole.verify().files if row.found_sha256}
    assert all(digest in ran.stdout for digest in digests)


def test_explain_says_of_every_field_what_it_does_not_prove(ask_whole: Ask) -> None:
    """Each field of the provenance block has its basis."""
    ran = ask_whole("verify", "--explain")
    assert ran.code == 0
    assert all(f"\n{field}: " in ran.stdout for field in BASES)
    assert ran.stdout.count("\n  not proved  ") == len(BASES)


def test_explanations_are_given_to_programs_too(ask_whole: Ask) -> None:
    """`--json --explain` adds them under one key."""
    explained = ask_whole("verify", "--json", "--explain").json["explanations"]
    assert [row["field"] for row in explained] == list(BASES)


def _change(place: OwnInstallation) -> None:
    (place.skills / "alpha/SKILL.md").write_text("changed", encoding="utf-8")


def _remove(place: OwnInstallation) -> None:
    (place.skills / "alpha/references/guide.md").unlink()


def _add(place: OwnInstallation) -> None:
    (place.skills / "alpha/references/new.md").write_text("new", encoding="utf-8")


def _link(place: OwnInstallation) -> None:
    file = place.skills / "alpha/SKILL.md"
    file.rename(place.site / "elsewhere.md")
    file.symlink_to(place.site / "elsewhere.md")


@pytest.mark.parametrize(
    ("break_it", "state", "path"),
    [
        (_change, "changed", "alpha/SKILL.md"),
        (_remove, "missing", "alpha/references/guide.md"),
        (_add, "extra", "alpha/references/new.md"),
        (_link, "linked", "alpha/SKILL.md"),
    ],
)
def test_a_broken_installation_names_the_file_and_how_to_repair_it(
    place: OwnInstallation, break_it: Callable[[OwnInstallation], None], state: str, path: str
) -> None:
    """Exit 1, the file with its state, and the command that installs again."""
    break_it(place)
    ran = place.ask("verify")
    assert ran.code == 1
    assert "does not match what was installed" in ran.stdout
    shown = "".join(ran.stdout.split())
    assert state in ran.stdout
    assert f"skills_bundle/.agents/skills/{path}" in shown
    # The environment sees the packages of the one that runs the tests, which may have no pip.
    installer = installers.installer_of(
        place.environment, place.python, has_pip=find_spec("pip") is not None
    )
    command = installers.reinstall_command(f"skills-bundle=={__version__}", installer)
    assert f"To repair it, run: {command}" in ran.stderr


def test_a_missing_lock_cannot_be_told(place: OwnInstallation) -> None:
    """Exit 3: nothing is known to be wrong, and nothing to be right."""
    place.lock.unlink()
    place.write_record()
    ran = place.ask("verify")
    assert ran.code == 3
    assert "cannot tell" in ran.stdout


def test_a_source_checkout_cannot_be_told(tmp_path: Path) -> None:
    """Nothing pins a checkout; the answer says so and what to do instead."""
    ran = call("verify")
    assert ran.code == 3
    assert "install a wheel" in ran.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_folder_one_stands_in_has_no_say(whole: OwnInstallation, tmp_path: Path) -> None:
    """A hostile package and lock in the working directory change nothing."""
    (tmp_path / "skills_bundle").mkdir()
    (tmp_path / "skills_bundle/__init__.py").write_text("raise SystemExit(9)", encoding="utf-8")
    (tmp_path / "catalog.lock.json").write_text("{}", encoding="utf-8")
    assert whole.ask("verify", cwd=tmp_path).code == 0


def test_many_differences_are_cut_with_their_number(place: OwnInstallation) -> None:
    """The summary stays short and says what it leaves out."""
    for number in range(40):
        (place.skills / f"alpha/extra-{number}.md").write_text("x", encoding="utf-8")
    ran = place.ask("verify")
    assert "40 files differ" in ran.stdout
    assert "and 28 more; --verbose shows all" in ran.stdout


def test_a_proof_is_told_in_one_row(with_proof: OwnInstallation) -> None:
    """From where to where it was recomputed, and how much that took."""
    told = " ".join(with_proof.ask("verify", "--collection", "acme-skills").stdout.split())
    assert "proof verified from the commit to the files in skills; 2 git objects, " in told


def test_explain_gives_each_link_of_a_proof(with_proof: OwnInstallation) -> None:
    """With its id, what follows and what does not."""
    told = with_proof.ask("verify", "--collection", "acme-skills", "--explain", "--json").json
    shown = with_proof.ask("verify", "--collection", "acme-skills", "--explain").stdout
    section = shown.split("What the receipt's proof shows")[1]
    assert all(link["id"] in section for link in told["proof"]["links"])
    assert section.count("not proved") == len(told["proof"]["not_shown"]) > 0


def test_a_proof_that_is_not_there_is_told_with_its_reason(ask_whole: Ask) -> None:
    """A receipt may leave it out."""
    assert (
        "  proof      none in the receipt: disabled by a setting, or too long\n"
        in ask_whole("verify").stdout
    )


def test_who_signed_the_commit_is_told_when_asked_for(
    with_proof: OwnInstallation, signers: Path
) -> None:
    """Exit 0, the signer as the file names them, and the key."""
    ran = with_proof.ask("verify", "--collection", "acme-skills", "--signed-by", str(signers))
    assert (ran.code, ran.stderr) == (0, "")
    told = " ".join(ran.stdout.split())
    assert "✓ signature of the commit: good, by an allowed signer" in told
    assert "signer ada@example.org, from the file of allowed signers key ED25519 SHA256:" in told
    assert "valid at 2026-01-02 03:04:05 UTC" in told


def test_a_signature_is_given_to_programs_too(with_proof: OwnInstallation, signers: Path) -> None:
    """Under one key, which is there only when it was asked for."""
    asked = ("verify", "--collection", "acme-skills", "--json")
    signature = with_proof.ask(*asked, "--signed-by", str(signers)).json["signature"]
    assert (signature["state"], signature["principal"]) == ("trusted", "ada@example.org")
    assert "signature" not in with_proof.ask(*asked).json


def test_a_signature_that_is_not_trusted_ends_with_1(
    with_proof: OwnInstallation, tmp_path: Path
) -> None:
    """Though every byte matches: it was asked for."""
    (tmp_path / "nobody").write_text("", encoding="utf-8")
    options = ("--collection", "acme-skills", "--signed-by", str(tmp_path / "nobody"))
    ran = with_proof.ask("verify", *options)
    assert ran.code == 1
    assert "every file matches the lock" in ran.stdout
    assert "good, by a key that is not allowed here" in ran.stdout


def test_a_receipt_without_a_proof_cannot_tell_who_signed(ask_whole: Ask, tmp_path: Path) -> None:
    """Exit 3, and why there is none."""
    (tmp_path / "anybody").write_text("", encoding="utf-8")
    ran = ask_whole("verify", "--signed-by", str(tmp_path / "anybody"))
    assert ran.code == 3
    assert "The receipt contains no proof." not in ran.stderr
    assert "the receipt contains no proof" in " ".join(ran.stdout.split())


def test_signers_that_are_not_there_are_a_wrong_argument(ask_whole: Ask, tmp_path: Path) -> None:
    """Exit 2: a spelling mistake must not look like a verdict."""
    ran = ask_whole("verify", "--signed-by", str(tmp_path / "missing"))
    assert ran.code == 2
    assert "does not exist" in ran.stderr


def test_signers_beyond_the_limit_are_a_wrong_argument(ask_whole: Ask, tmp_path: Path) -> None:
    """Nobody trusts that many."""
    (tmp_path / "large").write_bytes(b"#" * (limits.ALLOWED_SIGNERS_MAX_BYTES + 1))
    ran = ask_whole("verify", "--signed-by", str(tmp_path / "large"))
    assert ran.code == 2
    assert f"more than {limits.ALLOWED_SIGNERS_MAX_BYTES} bytes" in ran.stderr

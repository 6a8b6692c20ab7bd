"""`verify-wheel` and `verify-sdist` on the command line: one screen, JSON, exit codes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cli.runner import call, on_terminal
from tests.hatch_plugin.sample import SampleProject
from tests.supply_chain.archive_samples import sdist_with, verified, with_record

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> SampleProject:
    """A committed project."""
    return SampleProject.create(tmp_path_factory.mktemp("project"))


def test_a_matching_wheel_fits_on_one_screen(project: SampleProject) -> None:
    """The verdict first, then what was verified and what is only asserted."""
    ran = call("verify-wheel", str(project.wheel()))
    assert (ran.code, ran.stderr) == (0, "")
    assert len(ran.stdout.splitlines()) <= 24
    assert ran.stdout.startswith("✓ acme_skills-1.0-py2.py3-none-any.whl: every file")
    assert "integrity  verified: the bytes match the lock" in ran.stdout
    assert "commit     asserted, not proved: " in ran.stdout


def test_a_matching_sdist_fits_on_one_screen(project: SampleProject) -> None:
    """Without RECORD, which it has not."""
    ran = call("verify-sdist", str(project.sdist()))
    assert (ran.code, ran.stderr) == (0, "")
    assert "RECORD" not in ran.stdout


def test_the_json_is_the_whole_report(project: SampleProject) -> None:
    """One document, with a row a file."""
    wheel = project.wheel()
    ran = call("verify-wheel", str(wheel), "--json")
    assert ran.json == verified(wheel.read_bytes()).to_dict()


def test_verbose_lists_every_file_with_its_digest(project: SampleProject) -> None:
    """As `sha256sum` does, for comparing with one's own."""
    wheel = project.wheel()
    ran = call("verify-wheel", str(wheel), "--verbose")
    rows = verified(wheel.read_bytes()).files
    assert [row.path for row in rows if f"{row.found_sha256}  {row.path}" not in ran.stdout] == []


def test_a_changed_wheel_names_the_file_and_what_to_do(
    project: SampleProject, tmp_path: Path
) -> None:
    """Exit 1."""
    wheel = project.wheel()
    changed = tmp_path / wheel.name
    skill = "acme_skills/.agents/skills/greet/SKILL.md"
    changed.write_bytes(with_record(wheel.read_bytes(), {skill: b"changed"}))
    ran = call("verify-wheel", str(changed))
    assert ran.code == 1
    assert "does not match what was built" in ran.stdout
    assert skill in "".join(ran.stdout.split())
    assert "Do not install it" in ran.stderr


def test_a_patched_sdist_says_what_is_wrong_besides_its_files(
    project: SampleProject, tmp_path: Path
) -> None:
    """The digest of everything the build read."""
    sdist = project.sdist()
    changed = tmp_path / sdist.name
    changed.write_bytes(sdist_with(sdist.read_bytes(), {"src/acme_skills/__init__.py": b"x"}))
    ran = call("verify-sdist", str(changed))
    assert ran.code == 1
    assert "inputs.dir_hash: does not have the recorded digest" in ran.stdout
    assert "unconfirmed" in ran.stdout


def test_a_wheel_without_a_bundle_says_how_it_came_about(
    project: SampleProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit 3, the cause and the next step."""
    monkeypatch.setenv("HATCH_BUILD_NO_HOOKS", "1")
    ran = call("verify-wheel", str(project.wheel("dist/bare")))
    assert ran.code == 3
    assert "cannot tell" in ran.stdout
    assert "without HATCH_BUILD_NO_HOOKS" in ran.stderr


def test_a_file_made_for_an_sdist_alone_is_named_with_the_reason(tmp_path: Path) -> None:
    """Exit 3: nothing says that it was changed, and nothing that it was not."""
    table = "\n[tool.hatch.build.targets.sdist]\nsupport-legacy = true\n"
    project = SampleProject.create(tmp_path / "legacy").configure(table).committed()
    ran = call("verify-sdist", str(project.sdist()))
    assert ran.code == 3
    assert "setup.py" in ran.stdout
    assert "for an sdist only" in ran.stderr


def test_a_refused_wheel_names_every_cause(project: SampleProject, tmp_path: Path) -> None:
    """Exit 1, nothing on standard output; under `--json` one document."""
    wheel = project.wheel()
    refused = tmp_path / wheel.name
    refused.write_bytes(wheel.read_bytes() + b"more")
    ran = call("verify-wheel", str(refused))
    assert (ran.code, ran.stdout) == (1, "")
    assert f"{wheel.name}: has 4 bytes after its end record [zip_trailing]" in ran.stderr
    error = call("verify-wheel", str(refused), "--json").json["error"]
    assert (error["code"], error["problems"][0]["code"]) == ("unsafe_archive", "zip_trailing")


@pytest.mark.parametrize(
    ("command", "name"),
    [("verify-wheel", "no.whl"), ("verify-sdist", "no.tar.gz"), ("verify-wheel", "no.tar.gz")],
)
def test_a_missing_file_cannot_be_verified(tmp_path: Path, command: str, name: str) -> None:
    """Exit 3, with the file's name."""
    ran = call(command, str(tmp_path / name))
    assert (ran.code, ran.stdout) == (3, "")
    assert name in ran.stderr


def test_no_file_is_a_usage_error() -> None:
    """Exit 2."""
    assert call("verify-wheel").code == 2


def test_an_unsigned_commit_is_reported(project: SampleProject, tmp_path: Path) -> None:
    """`--signed-by` works on the receipt's proof, wherever that lies."""
    signers = tmp_path / "allowed_signers"
    signers.write_text("", encoding="utf-8")
    ran = call("verify-wheel", str(project.wheel()), "--signed-by", str(signers), "--json")
    assert ran.code in {1, 3}
    assert "signature" in ran.json


def test_a_terminal_is_no_obstacle(project: SampleProject) -> None:
    """Colour and spinner come and go."""
    ran = on_terminal("verify-wheel", str(project.wheel()))
    assert ran.code == 0

"""`receipt show` and `receipt preview`."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from skills_bundle import __version__
from skills_bundle.bundle import receipt
from tests.builders import sample_receipt
from tests.cli.runner import call
from tests.hatch_plugin.sample import SampleProject, receipt_of
from tests.installed_builder import COMMIT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.cli.installed import OwnInstallation
    from tests.cli.runner import Ran

    Ask = Callable[..., Ran]


@pytest.fixture
def sample(tmp_path: Path) -> SampleProject:
    """Return a project that uses the hook, committed."""
    return SampleProject.create(tmp_path / "acme")


def test_show_says_whose_word_each_value_is(ask_whole: Ask) -> None:
    """Recorded by the build, or asserted by the settings; and that nothing is signed."""
    ran = ask_whole("receipt", "show")
    assert (ran.code, ran.stderr) == (0, "")
    assert "(unsigned)" in ran.stdout
    assert f"recorded: {COMMIT}" in ran.stdout
    assert "configured, not looked up: refs/tags/v1.2.0" in ran.stdout


def test_show_gives_the_digest_of_the_metadata_and_what_no_commit_gives(tmp_path: Path) -> None:
    """A reviewer sees which fields are the build's word alone, and that there are none."""
    shown: list[str] = []
    for computed in (("version",), ()):
        made = sample_receipt()
        package = made.package.model_copy(update={"computed": computed})
        sealed = receipt.seal(
            package=package,
            catalog=made.catalog,
            inputs=made.inputs,
            asserted=made.asserted,
            source=made.source,
        )
        (tmp_path / "receipt.json").write_bytes(sealed.to_bytes())
        told = call("receipt", "show", "--file", str(tmp_path / "receipt.json")).stdout
        shown.append(" ".join(told.split()))
    assert all(f"metadata {'5' * 64}" in told for told in shown)
    assert "code or the environment, not from the commit: version" in shown[0]
    assert "computed no field: all of them come from files of the commit" in shown[1]


def test_json_is_the_receipts_own_bytes(whole: OwnInstallation, ask_whole: Ask) -> None:
    """So its digest is the one that answers carry."""
    ran = ask_whole("receipt", "show", "--json")
    assert ran.stdout.encode() == whole.receipt.read_bytes()


def test_a_receipt_file_is_shown(whole: OwnInstallation) -> None:
    """An sdist's receipt can be read without installing it."""
    ran = call("receipt", "show", "--file", str(whole.receipt), "--json")
    assert ran.stdout.encode() == whole.receipt.read_bytes()


def test_a_file_that_is_no_receipt_is_refused(tmp_path: Path) -> None:
    """Exit 1, naming the file, with every cause."""
    file = tmp_path / "other.json"
    file.write_text("{}", encoding="utf-8")
    ran = call("receipt", "show", "--file", str(file))
    assert (ran.code, ran.stdout) == (1, "")
    assert f"error: {file}: " in ran.stderr
    assert "receipt_version" in ran.stderr


def test_a_file_that_is_not_there_cannot_be_told(tmp_path: Path) -> None:
    """Exit 3, naming it."""
    ran = call("receipt", "show", "--file", str(tmp_path / "none.json"))
    assert (ran.code, ran.stdout) == (3, "")
    assert "none.json: No such file or directory." in ran.stderr


def test_a_source_checkout_has_none_and_says_what_to_ask_instead() -> None:
    """Exit 3 and the command that looks ahead."""
    ran = call("receipt", "show", "--json")
    assert (ran.code, ran.json["error"]["code"]) == (3, "no_receipt")
    assert "`skills-bundle receipt preview`" in ran.json["error"]["message"]


def test_an_installation_that_lost_it_says_so(place: OwnInstallation) -> None:
    """Exit 3, naming the file that should be there."""
    place.receipt.unlink()
    ran = place.ask("receipt", "show")
    assert (ran.code, ran.stdout) == (3, "")
    assert "build-receipt.json is missing" in ran.stderr


def test_preview_gives_what_a_build_records(sample: SampleProject) -> None:
    """To the byte, without building."""
    ran = call("receipt", "preview", str(sample.folder), "--json")
    assert ran.code == 0
    assert receipt.parse(ran.stdout.encode()) == receipt_of(sample.wheel())


def test_preview_of_a_dirty_checkout_says_why(sample: SampleProject) -> None:
    """The code for programs, the files for the person."""
    sample.write("src/acme_skills/new.py", b"x = 1\n")
    ran = call("receipt", "preview", str(sample.folder))
    assert ran.code == 0
    assert "[dirty_source]" in ran.stdout
    assert "src/acme_skills/new.py" in ran.stderr


def test_preview_fails_as_the_build_would(sample: SampleProject) -> None:
    """A stale lock is told before a build is tried."""
    sample.write("skills/greet/SKILL.md", b"---\nname: greet\ndescription: Other.\n---\n")
    ran = call("receipt", "preview", str(sample.folder))
    assert (ran.code, ran.stdout) == (1, "")
    assert "skills/greet/SKILL.md: content differs from the lock [changed]" in ran.stderr


def test_preview_without_a_configured_ref_says_what_the_answers_carry(
    sample: SampleProject,
) -> None:
    """The commit, as provenance has it, and not `nothing`."""
    line = 'source-ref = "refs/tags/v{version}"\n'
    sample.replace("pyproject.toml", line, "").locked().committed()
    ran = call("receipt", "preview", str(sample.folder))
    assert "none configured; see the commit" in ran.stdout


def test_preview_without_hatchling_gives_a_command_that_adds_it(
    sample: SampleProject, whole: OwnInstallation
) -> None:
    """One for the environment that asks, to be copied."""
    # An installation whose dependencies lack it: `-S` would lose the others, so it is hidden.
    code = (
        "import sys\n"
        "sys.modules['hatchling.metadata.core'] = None\n"
        "from skills_bundle.cli.main import main\n"
        f"main(['receipt', 'preview', {str(sample.folder)!r}])\n"
    )
    done = subprocess.run([whole.python, "-P", "-c", code], capture_output=True, check=False)
    assert done.returncode == 2
    assert f"'skills-bundle[hatch]=={__version__}'" in done.stderr.decode()


def test_preview_of_a_folder_without_a_project_says_so(tmp_path: Path) -> None:
    """Exit 2: there is no pyproject.toml that a table could be added to."""
    ran = call("receipt", "preview", str(tmp_path))
    assert (ran.code, ran.stdout) == (2, "")
    assert "pyproject.toml: does not exist" in ran.stderr
    assert "add a table" not in ran.stderr


def test_preview_without_the_hook_says_what_to_add(tmp_path: Path) -> None:
    """Exit 2: a build of this folder would record nothing."""
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'a'\n", encoding="utf-8")
    ran = call("receipt", "preview", str(tmp_path))
    assert (ran.code, ran.stdout) == (2, "")
    assert "[tool.hatch.build.hooks.skills-bundle]" in ran.stderr

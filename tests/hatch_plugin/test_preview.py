"""The receipt shown before a build is the one that the build ships."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from skills_bundle.errors import SettingsError, StaleLockError
from skills_bundle.hatch_plugin.preview import preview
from skills_bundle.project import project
from tests.hatch_plugin.sample import SKILL_MD, SampleProject, receipt_of, unpacked

if TYPE_CHECKING:
    from pathlib import Path


def test_the_preview_of_a_clean_checkout_is_the_receipt_of_its_wheel(
    sample: SampleProject,
) -> None:
    """Nothing is built for it, and nothing differs."""
    shown = preview(project.load(sample.folder))
    assert (shown.receipt, shown.detail) == (receipt_of(sample.wheel()), "")


def test_the_preview_names_the_files_behind_a_reason(sample: SampleProject) -> None:
    """The receipt must not; whoever looks at a preview wants to know."""
    sample.write("src/acme_skills/new.py", b"")
    shown = preview(project.load(sample.folder))
    assert shown.receipt == receipt_of(sample.wheel())
    assert "src/acme_skills/new.py" in shown.detail


def test_the_preview_of_an_sdist_is_what_it_relays(sample: SampleProject, tmp_path: Path) -> None:
    """Looked at unpacked, it speaks of the commit it was made from."""
    inside = unpacked(sample.sdist(), tmp_path / "out")
    assert preview(project.load(inside.folder)).receipt.source.commit == sample.commit_id()


def test_a_stale_lock_is_told_as_by_the_build(sample: SampleProject) -> None:
    """There is no receipt of what cannot be built."""
    sample.write("skills/greet/SKILL.md", SKILL_MD + b"More.\n")
    with pytest.raises(StaleLockError):
        preview(project.load(sample.folder))


def test_a_project_without_the_hook_has_none(tmp_path: Path) -> None:
    """Its builds ship no bundle."""
    text = '[project]\nname = "plain"\nversion = "1"\n'
    (tmp_path / "pyproject.toml").write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError, match=r"tool\.hatch\.build\.hooks\.skills-bundle"):
        preview(project.load(tmp_path))


def test_metadata_that_hatchling_refuses_is_told(sample: SampleProject) -> None:
    """As a problem of pyproject.toml, not as a traceback."""
    sample.replace("pyproject.toml", 'version = "1.0"', 'version = "one"')
    with pytest.raises(SettingsError, match="version"):
        preview(project.load(sample.folder))


def test_without_hatchling_the_extra_is_named(sample: SampleProject) -> None:
    """An installation that serves skills need not have it; shown where it cannot be imported."""
    script = (
        "import sys; sys.modules['hatchling.metadata'] = None\n"
        "from pathlib import Path\n"
        "from skills_bundle.project import project\n"
        "from skills_bundle.errors import SettingsError\n"
        "from skills_bundle.hatch_plugin.preview import preview\n"
        "try:\n"
        "    preview(project.load(Path(sys.argv[1])))\n"
        "except SettingsError as error:\n"
        "    print(error)\n"
    )
    command = [sys.executable, "-c", script, str(sample.folder)]
    said = subprocess.run(command, check=True, capture_output=True, encoding="utf-8").stdout
    assert "skills-bundle[hatch]" in said

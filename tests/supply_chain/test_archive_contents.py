"""What wheels and sdists hold of a bundle, from real builds of a small project."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from skills_bundle.archives.reading import open_archive
from skills_bundle.supply_chain.archive.contents import contents_of, name_and_version
from tests.hatch_plugin.sample import BUNDLE, SampleProject

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> SampleProject:
    """A committed project."""
    return SampleProject.create(tmp_path_factory.mktemp("project"))


def test_a_wheel_holds_its_bundle_in_its_package(project: SampleProject) -> None:
    """Lock and receipt are valid, and the skills are beside them."""
    found = contents_of(open_archive(project.wheel()))
    assert (found.lock.state, found.receipt.state) == ("ok", "ok")
    assert (found.package, found.skills) == ("acme_skills", f"{BUNDLE}/skills")
    assert (found.identity.name, found.identity.version) == ("acme-skills", "1.0")
    assert found.skill_path("greet/SKILL.md") in found.archive.members


def test_an_sdist_holds_lock_and_receipt_at_its_top(project: SampleProject) -> None:
    """The skills are where the project has them."""
    found = contents_of(open_archive(project.sdist()))
    assert (found.lock.state, found.receipt.state) == ("ok", "ok")
    assert (found.package, found.skills, found.archive.top) == ("", "skills", "acme_skills-1.0")


def test_a_project_may_keep_its_skills_anywhere(tmp_path: Path) -> None:
    """The folder is the one that holds the locked files."""
    project = SampleProject.create(tmp_path)
    (project.folder / "skills").rename(project.folder / "lore")
    project.replace("pyproject.toml", 'skills = "skills"', 'skills = "lore"').locked().committed()
    assert contents_of(open_archive(project.sdist())).skills == "lore"


def test_a_wheel_built_without_the_hook_holds_nothing(
    project: SampleProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is reported, not raised."""
    monkeypatch.setenv("HATCH_BUILD_NO_HOOKS", "1")
    found = contents_of(open_archive(project.wheel("dist/bare")))
    assert (found.lock.state, found.receipt.state, found.package) == ("missing", "missing", "")
    assert found.lock_bytes is None


@pytest.mark.parametrize(
    ("file_name", "identity"),
    [
        ("Acme.Skills-1.0-py3-none-any.whl", ("acme-skills", "1.0")),
        ("acme_skills-1.0.tar.gz", ("acme-skills", "1.0")),
        ("acme-skills-1.0.tar.gz", ("acme-skills", "1.0")),
        ("acme.whl", ("", "")),
    ],
)
def test_a_file_name_gives_name_and_version(file_name: str, identity: tuple[str, str]) -> None:
    """As the packaging specifications spell them."""
    assert name_and_version(file_name) == identity

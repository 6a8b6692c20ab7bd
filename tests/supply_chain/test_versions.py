"""Versions that are not in PEP 440's normal form, which hatchling writes as they were typed."""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING

import pytest

from skills_bundle.bundle import documents
from skills_bundle.formats.metadata_files import same_version
from skills_bundle.installed import location as installed
from skills_bundle.installed.bundle import verify_installed
from skills_bundle.supply_chain.archive.verify import verify
from tests.hatch_plugin.sample import SampleProject, receipt_of
from tests.supply_chain.source_samples import verified
from tests.supply_chain.statements import open_contents

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

VERSIONS = ("2026.01.05", "1.0.0-rc1", "v1.2.0", "1.2.0-1", "1.0.0+Corp-7", "1.00")


@pytest.mark.parametrize("version", VERSIONS)
def test_every_check_accepts_a_version_as_it_was_typed(tmp_path: Path, version: str) -> None:
    """Wheel, sdist, comparison with the source, and the installation agree with the build."""
    sample = SampleProject.create(tmp_path / "acme")
    sample.replace("pyproject.toml", 'version = "1.0"', f'version = "{version}"').committed()
    archives = (sample.wheel(), sample.sdist())
    assert [receipt_of(archive).source.state for archive in archives] == ["clean"] * 2
    assert [verify(open_contents(archive)).verdict for archive in archives] == ["match"] * 2
    assert [verified(archive, sample.folder).verdict for archive in archives] == ["match"] * 2
    with zipfile.ZipFile(archives[0]) as wheel:
        wheel.extractall(tmp_path / "site")
    file = str(tmp_path / "site/acme_skills/__init__.py")
    place = installed.locate(file, import_name="acme_skills", name="acme-skills")
    assert same_version(place.version, version)
    assert verify_installed(place).exit_code == 0


def test_the_ref_has_the_normal_form_of_the_version(tmp_path: Path) -> None:
    """A tag that is spelled differently is not found by it; the settings reference says so."""
    made = SampleProject.create(tmp_path / "acme")
    made.replace("pyproject.toml", 'version = "1.0"', 'version = "2026.01.05"').committed()
    found = receipt_of(made.wheel())
    assert found.package.version == "2026.1.5"
    assert found.asserted.source_ref == "refs/tags/v2026.1.5"


def test_another_version_is_still_another_distribution(sample_wheel: Path) -> None:
    """What is no version at all is compared as text."""
    contents = open_contents(sample_wheel)
    for version, state in (("1.0.0", "ok"), ("1.0.1", "altered"), ("one", "altered")):
        identity = documents.Identity("acme-skills", version, known=True)
        _, receipt = documents.cross_check(contents.lock, contents.receipt, identity)
        assert receipt.state == state

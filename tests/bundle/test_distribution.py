"""The metadata folder beside a package."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from skills_bundle.bundle import distribution
from tests import odd_files
from tests.installed_builder import PACKAGE, InstalledBuilder

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("spelling", ["acme-skills", "Acme_Skills", "acme.skills"])
def test_a_distribution_is_found_under_any_spelling(tmp_path: Path, spelling: str) -> None:
    """Names are compared in their normalised form."""
    InstalledBuilder().install(tmp_path)
    found = distribution.find(tmp_path, spelling, PACKAGE)
    assert found is not None
    assert (found.name, found.version) == ("acme-skills", "1.2.0")


def test_no_folder_no_distribution(tmp_path: Path) -> None:
    """Nothing is guessed from other folders."""
    assert distribution.find(tmp_path, "acme-skills", PACKAGE) is None
    assert distribution.find(tmp_path / "none", "acme-skills", PACKAGE) is None


def test_a_name_that_only_begins_alike_is_another(tmp_path: Path) -> None:
    """`acme-skills-extra` is not `acme-skills`."""
    InstalledBuilder(name="acme-skills-extra").install(tmp_path)
    assert distribution.find(tmp_path, "acme-skills", PACKAGE) is None


def test_metadata_decides_and_not_the_name_of_the_folder(tmp_path: Path) -> None:
    """A folder whose METADATA names something else is not the one."""
    made = InstalledBuilder().install(tmp_path)
    metadata = made.dist_info / "METADATA"
    metadata.write_text("Name: other\nVersion: 1\n", encoding="utf-8")
    assert distribution.find(tmp_path, "acme-skills", PACKAGE) is None


@pytest.mark.parametrize(
    "text", ["", "Name: acme-skills\n", "no colon\n", "\nName: acme-skills\nVersion: 1\n"]
)
def test_metadata_without_name_and_version_is_none(tmp_path: Path, text: str) -> None:
    """Both are read from the head only, never from the description below it."""
    made = InstalledBuilder().install(tmp_path)
    (made.dist_info / "METADATA").write_text(text, encoding="utf-8")
    assert distribution.find(tmp_path, "acme-skills", PACKAGE) is None


def test_of_two_the_one_that_lists_the_package_is_meant(tmp_path: Path) -> None:
    """An interrupted upgrade leaves an empty folder behind; it does not win by its name."""
    InstalledBuilder().install(tmp_path)
    stale = tmp_path / "acme_skills-9.0.dist-info"
    stale.mkdir()
    (stale / "METADATA").write_text("Name: acme-skills\nVersion: 9.0\n", encoding="utf-8")
    (stale / "RECORD").write_text("other/a.py,,\n", encoding="utf-8")
    found = distribution.find(tmp_path, "acme-skills", PACKAGE)
    assert found is not None
    assert found.version == "1.2.0"


@pytest.mark.parametrize("change", [odd_files.missing, odd_files.fifo, odd_files.folder])
def test_without_a_record_there_is_still_a_name(tmp_path: Path, change: object) -> None:
    """Some distributors remove RECORD; a pipe in its place makes nobody wait."""
    made = InstalledBuilder().install(tmp_path)
    assert callable(change)
    change(made.record)
    found = distribution.find(tmp_path, "acme-skills", PACKAGE)
    assert found is not None
    assert found.record is None


def test_a_pipe_for_metadata_makes_nobody_wait(tmp_path: Path) -> None:
    """Nothing in the folder is opened in a way that blocks."""
    made = InstalledBuilder().install(tmp_path)
    odd_files.fifo(made.dist_info / "METADATA")
    assert distribution.find(tmp_path, "acme-skills", PACKAGE) is None

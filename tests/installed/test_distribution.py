"""The metadata folder beside a package."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from skills_bundle.installed import distribution
from tests import odd_files
from tests.installed_builder import PACKAGE, InstalledBuilder

if TYPE_CHECKING:
    from collections.abc import Callable
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


def test_a_folder_whose_metadata_names_another_is_not_the_one(tmp_path: Path) -> None:
    """Unless its RECORD lists the package."""
    made = InstalledBuilder().install(tmp_path)
    (made.dist_info / "METADATA").write_text("Name: other\nVersion: 1\n", encoding="utf-8")
    found = distribution.find(tmp_path, "acme-skills", PACKAGE)
    assert found is not None
    assert (found.name, found.record is not None) == ("other", True)
    made.record.write_text("other/a.py,,\n", encoding="utf-8")
    assert distribution.find(tmp_path, "acme-skills", PACKAGE) is None


@pytest.mark.parametrize(
    "text", ["", "Name: acme-skills\n", "no colon\n", "\nName: other\nVersion: 1\n"]
)
def test_metadata_without_name_and_version_leaves_those_of_the_folder(
    tmp_path: Path, text: str
) -> None:
    """Both are read from the head only, never from the description below it."""
    made = InstalledBuilder().install(tmp_path)
    (made.dist_info / "METADATA").write_text(text, encoding="utf-8")
    found = distribution.find(tmp_path, "acme-skills", PACKAGE)
    assert found is not None
    assert (found.name, found.version) == ("acme-skills", "1.2.0")


@pytest.mark.parametrize("change", [odd_files.missing, odd_files.fifo, odd_files.folder])
def test_a_record_is_found_without_metadata(tmp_path: Path, change: Callable[[Path], None]) -> None:
    """Whoever removes METADATA does not get rid of RECORD with it; a pipe makes nobody wait."""
    made = InstalledBuilder().install(tmp_path)
    change(made.dist_info / "METADATA")
    found = distribution.find(tmp_path, "acme-skills", PACKAGE)
    assert found is not None
    assert (found.version, found.metadata_sha256) == ("1.2.0", None)
    assert found.record is not None


def test_an_empty_folder_is_none(tmp_path: Path) -> None:
    """An interrupted removal leaves one."""
    (tmp_path / "acme_skills-1.2.0.dist-info").mkdir()
    assert distribution.find(tmp_path, "acme-skills", PACKAGE) is None


def test_a_folder_that_nobody_may_list_leaves_it_open(tmp_path: Path) -> None:
    """Whether there is a RECORD is not known then, which is not the same as none."""
    del tmp_path
    with odd_files.unprivileged_folder() as folder:
        InstalledBuilder().install(folder)
        folder.chmod(0o711)
        with odd_files.without_privileges():
            found = distribution.find(folder, "acme-skills", PACKAGE, version="0")
    assert found is not None
    assert (found.version, found.folder, found.record) == ("0", None, None)
    assert found.record_refused is not None


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


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        (odd_files.missing, None),
        (odd_files.fifo, "not_regular"),
        (odd_files.folder, "not_regular"),
        (odd_files.symlink_to_a_copy, "linked"),
    ],
)
def test_without_a_record_there_is_still_a_name(
    tmp_path: Path, change: Callable[[Path], None], kind: str | None
) -> None:
    """Some distributors remove RECORD; one that is there and is no file is told apart from that."""
    made = InstalledBuilder().install(tmp_path)
    change(made.record)
    found = distribution.find(tmp_path, "acme-skills", PACKAGE)
    assert found is not None
    assert (found.name, found.record) == ("acme-skills", None)
    assert (found.record_refused.kind if found.record_refused else None) == kind

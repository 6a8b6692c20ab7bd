"""The metadata folder beside a package."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from skills_bundle.installed import distribution
from tests import odd_files
from tests.installed_builder import PACKAGE, Installation, InstalledBuilder

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


@pytest.mark.parametrize(
    "text", ["Name: other\nVersion: 1.2.0\n", "Name: acme-skills\nVersion: 1.2.1\n"]
)
def test_the_folder_decides_the_identity_and_other_metadata_is_a_problem(
    tmp_path: Path, text: str
) -> None:
    """METADATA is one of the files to be verified; it cannot take RECORD away."""
    made = InstalledBuilder().install(tmp_path)
    (made.dist_info / "METADATA").write_text(text, encoding="utf-8")
    found = distribution.find(tmp_path, "acme-skills", PACKAGE)
    assert found is not None
    assert (found.name, found.version) == ("acme-skills", "1.2.0")
    assert found.record is not None
    assert [problem.code for problem in found.problems] == ["metadata"]
    made.record.unlink()
    report = made.verify()
    assert (report.verdict, report.package_name) == ("differs", "acme-skills")
    assert {"record_mismatch", "invalid_receipt"} <= {*report.gaps}


@pytest.mark.parametrize("version", ["1.2", "v1.2.0", "1.2.0.0"])
def test_one_version_in_two_spellings_is_the_same(tmp_path: Path, version: str) -> None:
    """As METADATA spells it; the folder has the normal form."""
    made = InstalledBuilder().install(tmp_path)
    text = f"Name: Acme.Skills\nVersion: {version}\n"
    (made.dist_info / "METADATA").write_text(text, encoding="utf-8")
    found = distribution.find(tmp_path, "acme-skills", PACKAGE)
    assert found is not None
    assert (found.version, found.problems) == (version, ())


@pytest.mark.parametrize(
    "text", ["", "Name: acme-skills\n", "no colon\n", "\nName: other\nVersion: 1\n"]
)
def test_metadata_without_name_and_version_is_a_problem_of_the_folder(
    tmp_path: Path, text: str
) -> None:
    """Both are read from the head only, never from the description below it."""
    made = InstalledBuilder().install(tmp_path)
    (made.dist_info / "METADATA").write_text(text, encoding="utf-8")
    found = distribution.find(tmp_path, "acme-skills", PACKAGE)
    assert found is not None
    assert (found.name, found.version) == ("acme-skills", "1.2.0")
    assert [problem.code for problem in found.problems] == ["metadata"]


@pytest.mark.parametrize("change", [odd_files.missing, odd_files.fifo, odd_files.folder])
def test_a_record_is_found_without_metadata(tmp_path: Path, change: Callable[[Path], None]) -> None:
    """Whoever removes METADATA does not get rid of RECORD with it; a pipe makes nobody wait."""
    made = InstalledBuilder().install(tmp_path)
    change(made.dist_info / "METADATA")
    found = distribution.find(tmp_path, "acme-skills", PACKAGE)
    assert found is not None
    assert (found.version, found.metadata_sha256) == ("1.2.0", None)
    assert found.record is not None


def test_a_receipt_of_another_distribution_is_noticed_without_metadata(tmp_path: Path) -> None:
    """The name that was looked for is known also where no metadata lies beside the package."""
    made = InstalledBuilder(name="other").install(tmp_path)
    odd_files.remove(made.dist_info)
    made.name = "acme-skills"
    assert made.verify().gaps[0] == "invalid_receipt"


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


def _beside(tmp_path: Path, *versions: str) -> Installation:
    """Install versions over each other, as an interrupted upgrade does; return the last."""
    made = [
        InstalledBuilder(version=one, code={"__init__.py": one.encode()}).install(tmp_path)
        for one in versions
    ]
    return made[-1]


@pytest.mark.parametrize(
    ("versions", "leftover"),
    [(("1.9.0", "1.10.0"), "1.9.0"), (("1.10.0", "1.9.0"), "1.10.0")],
    ids=["upgrade", "downgrade"],
)
def test_a_leftover_of_another_version_is_named_and_not_used(
    tmp_path: Path, versions: tuple[str, str], leftover: str
) -> None:
    """The one whose RECORD fits what is installed counts, whatever the order of the names."""
    made = _beside(tmp_path, *versions)
    report = made.verify()
    assert (report.verdict, report.package_version) == ("match", versions[1])
    assert report.gaps == ()
    assert [note.split()[0] for note in report.notes] == [f"acme_skills-{leftover}.dist-info"]
    assert distribution.of_package(tmp_path, PACKAGE).dist_info == made.dist_info.name
    assert made.open().current().provenance.gaps == ()


def test_of_two_that_fit_alike_the_higher_version_counts(tmp_path: Path) -> None:
    """1.10 is higher than 1.9."""
    made = _beside(tmp_path, "1.9.0", "1.10.0")
    for version in ("1.9.0", "1.10.0"):
        (tmp_path / f"acme_skills-{version}.dist-info/RECORD").write_bytes(made.record.read_bytes())
    found = distribution.find(tmp_path, "acme-skills", PACKAGE)
    assert found is not None
    assert found.version == "1.10.0"


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

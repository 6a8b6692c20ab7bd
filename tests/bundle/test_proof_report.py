"""What is said of a proof: link by link, of real wheels installed whole, broken and without one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from skills_bundle.bundle import receipt as receipts
from skills_bundle.bundle.proof_report import NOT_SHOWN
from tests.hatch_plugin.sample import SampleProject, git
from tests.installed_wheel import install_wheel

if TYPE_CHECKING:
    from pathlib import Path

    from skills_bundle.bundle.proof_report import ProofReport
    from tests.installed_builder import Installation


@pytest.fixture
def sample(tmp_path: Path) -> SampleProject:
    """Return a committed project in a subfolder of its repository."""
    (tmp_path / "repository").mkdir()
    folder = tmp_path / "repository/packages/acme"
    return SampleProject.create(folder, repository=tmp_path / "repository")


@pytest.fixture
def place(sample: SampleProject, tmp_path: Path) -> Installation:
    """Return its wheel, installed."""
    return install_wheel(sample.wheel(), tmp_path / "site")


def report(place: Installation) -> ProofReport:
    """Verify an installation and give what is said of the proof."""
    return place.verify().proof


def test_each_link_has_gits_own_id(sample: SampleProject, place: Installation) -> None:
    """Commit, top, and each folder on the way, by name; the skills tree is where it ends."""
    found = report(place)
    revisions = ("HEAD", "HEAD^{tree}", "HEAD:packages", "HEAD:packages/acme")
    ids = [git(sample.folder, "rev-parse", f"{name}").strip() for name in revisions]
    assert found.state == "recomputed"
    assert [link.id for link in found.links] == ids
    assert [link.names for link in found.links] == [(), (), ("packages",), ("acme",)]
    assert found.skills_tree == git(sample.folder, "rev-parse", "HEAD:packages/acme/skills").strip()
    assert found.folder == "packages/acme/skills"


def test_sizes_add_up(place: Installation) -> None:
    """One object is named with its bytes, and all together."""
    found = report(place)
    assert found.size == sum(link.size for link in found.links) > 0


def test_what_does_not_follow_is_said(place: Installation) -> None:
    """However well it holds."""
    assert report(place).not_shown == NOT_SHOWN


def test_the_raw_commit_is_in_no_report(place: Installation) -> None:
    """It shows an address; who wants it finds it in the receipt."""
    found = report(place)
    assert found.commit_object is not None
    assert "commit_object" not in place.verify().to_dict()["proof"]


def test_an_altered_file_leaves_the_last_link_open(place: Installation) -> None:
    """The commit still leads to the tree; that the files are that tree was not shown."""
    (place.skills / "greet/SKILL.md").write_bytes(b"other")
    found = report(place)
    assert (found.state, found.holds) == ("chain_only", True)
    assert "was not shown" in found.shows


def test_a_name_that_is_not_utf8_is_shown_escaped(tmp_path: Path) -> None:
    """Any JSON can hold it."""
    top = tmp_path / "repository"
    sample = SampleProject.create(top / "caf\udce9", repository=top.mkdir() or top)
    found = report(install_wheel(sample.wheel(), tmp_path / "site"))
    assert found.folder == "caf\\xe9/skills"


def test_folders_of_the_same_content_leave_it_open(sample: SampleProject, tmp_path: Path) -> None:
    """Both names are given, and no folder is."""
    sample.write("../../copy/x", b"")
    top = sample.folder.parents[1]
    git(top, "rm", "--quiet", "--cached", "-r", "copy", "--ignore-unmatch")
    for path in git(top, "ls-files", "packages").split():
        sample.write(f"../../{path.replace('packages', 'copy', 1)}", (top / path).read_bytes())
        mode = (top / path).stat().st_mode
        (top / path.replace("packages", "copy", 1)).chmod(mode)
    (top / "copy/x").unlink()
    git(top, "add", "--all")
    git(top, "commit", "--quiet", "--message", "Copy")
    found = report(install_wheel(sample.wheel(), tmp_path / "site"))
    assert found.folder is None
    assert found.links[2].names == ("copy", "packages")


def test_a_forged_proof_is_refused(place: Installation) -> None:
    """Nothing is shown then, and the receipt is not believed."""
    claim = receipts.parse(place.receipt.read_bytes())
    source = claim.source.model_copy(update={"commit": "f" * 40})
    forged = receipts.seal(
        package=claim.package,
        catalog=claim.catalog,
        inputs=claim.inputs,
        asserted=claim.asserted,
        source=source,
    )
    place.receipt.write_bytes(forged.to_bytes())
    place.write_record()
    found = report(place)
    assert (found.state, found.links, found.not_shown) == ("refused", (), ())


def test_a_proof_left_out_by_setting_is_absent(sample: SampleProject, tmp_path: Path) -> None:
    """The receipt still names its commit."""
    wheel = sample.configure("proof = false").committed().wheel()
    found = report(install_wheel(wheel, tmp_path / "site"))
    assert (found.state, found.reason) == ("absent", "left_out")


def test_a_proof_that_would_be_too_long_is_absent(sample: SampleProject, tmp_path: Path) -> None:
    """A folder of thousands of entries on the way; the sentence names the bound."""
    for number in range(2000):
        sample.write(f"../{number:040}", b"")
    git(sample.folder.parent, "add", "--all")
    found = report(install_wheel(sample.committed().wheel(), tmp_path / "site"))
    assert found.reason == "left_out"
    assert "64 KiB" in found.shows


def test_without_a_commit_the_reason_is_said(sample: SampleProject, tmp_path: Path) -> None:
    """A dirty build names none."""
    sample.write("new", b"")
    found = report(install_wheel(sample.wheel(), tmp_path / "site"))
    assert found.reason == "no_commit"
    assert found.shows.endswith("What was built is not exactly what the commit contains.")


def test_without_a_receipt_there_is_none(place: Installation) -> None:
    """Nothing could carry it."""
    place.receipt.unlink()
    assert report(place).reason == "no_receipt"


def test_a_receipt_that_is_not_believed_shows_nothing(place: Installation) -> None:
    """Whatever its proof says."""
    (place.dist_info / "METADATA").write_bytes(b"Name: acme-skills\nVersion: 1.0\n")
    assert report(place).reason == "receipt_not_believed"

"""A wheel built from an sdist: the receipt that the sdist carries, and when it is not believed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from skills_bundle.archives.model import Member
from skills_bundle.bundle import limits
from skills_bundle.bundle import receipt as receipt_record
from skills_bundle.bundle.receipt import Inputs, Package
from skills_bundle.errors import SettingsError
from skills_bundle.formats.digest import sha256_hex
from skills_bundle.git.proof import Revision, archive, dirty
from skills_bundle.hatch_plugin import receipt as build_receipt
from skills_bundle.project import project
from tests.hatch_plugin.sample import (
    SKILL_MD,
    SampleProject,
    git,
    receipt_of,
    sdist_files,
    unpacked,
    wheel_files,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.slow

CLEAN = Revision(
    state="clean", reason=None, commit="c" * 40, skills_tree="d" * 40, proof=(b"commit",)
)


def test_wheel_from_git_and_wheel_from_sdist_are_the_same_bytes(
    sample: SampleProject, tmp_path: Path
) -> None:
    """The front ends that build the wheel from the sdist give what those give that do not."""
    inside = unpacked(sample.sdist(), tmp_path / "out")
    assert inside.wheel().read_bytes() == sample.wheel().read_bytes()


def test_an_sdist_of_an_sdist_is_the_same_bytes(sample: SampleProject, tmp_path: Path) -> None:
    """Repacking loses nothing and adds nothing."""
    sdist = sample.sdist()
    assert unpacked(sdist, tmp_path / "out").sdist().read_bytes() == sdist.read_bytes()


def test_a_dirty_sdist_stays_dirty(sample: SampleProject, tmp_path: Path) -> None:
    """The receipt that names no commit is relayed like any other."""
    sample.write("src/acme_skills/new.py", b"")
    inside = unpacked(sample.sdist(), tmp_path / "out")
    assert inside.wheel().read_bytes() == sample.wheel().read_bytes()
    assert receipt_of(inside.wheel()).source.reason == "dirty_source"


def test_x_bits_lost_in_unpacking_are_found_again(sample: SampleProject, tmp_path: Path) -> None:
    """The receipt says which files git calls executable; the disk is not asked."""
    inside = unpacked(sample.sdist(), tmp_path / "out")
    for path in inside.folder.rglob("*"):
        if path.is_file():
            path.chmod(0o777 if path.suffix == ".py" else 0o644)
    assert inside.wheel().read_bytes() == sample.wheel().read_bytes()


def test_an_sdist_inside_somebodys_repository_claims_nothing_of_it(
    sample: SampleProject, tmp_path: Path
) -> None:
    """Unpacked and even committed there, it relays its own receipt."""
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "--quiet")
    inside = unpacked(sample.sdist(), other)
    inside.committed()
    assert receipt_of(inside.wheel()).source.commit == sample.commit_id()


SUMMARY_HOOK = b"""\
from hatchling.metadata.plugin.interface import MetadataHookInterface


class Hook(MetadataHookInterface):
    def update(self, metadata):
        metadata["description"] = "Made by code"
"""


def with_computed_summary(sample: SampleProject) -> SampleProject:
    """Let code give the distribution's summary."""
    sample.write("summary.py", SUMMARY_HOOK)
    sample.replace(
        "pyproject.toml", 'version = "1.0"', 'version = "1.0"\ndynamic = ["description"]'
    )
    sample.configure('[tool.hatch.metadata.hooks.custom]\npath = "summary.py"')
    return sample.committed()


def change_code(inside: SampleProject) -> None:
    """Patch a file that ships."""
    inside.write("src/acme_skills/__init__.py", b'"""Patched."""\n')


def change_another_file(inside: SampleProject) -> None:
    """Patch a file that no wheel ships."""
    inside.write(".gitignore", b"")


def add_code(inside: SampleProject) -> None:
    """Add a file that ships."""
    inside.write("src/acme_skills/more.py", b"")


def remove_code(inside: SampleProject) -> None:
    """Remove a file that ships."""
    (inside.folder / "src/acme_skills/run.sh").unlink()


def change_skill_and_lock(inside: SampleProject) -> None:
    """Patch a skill and lock it anew."""
    inside.write("skills/greet/SKILL.md", SKILL_MD + b"Patched.\n").locked()


def change_version(inside: SampleProject) -> None:
    """Call it another version."""
    inside.replace("pyproject.toml", 'version = "1.0"', 'version = "2.0"')
    inside.replace("PKG-INFO", "Version: 1.0", "Version: 2.0")


def change_a_computed_field(inside: SampleProject) -> None:
    """Patch what the sdist says of a field that code gives: hatchling believes PKG-INFO."""
    inside.replace("PKG-INFO", "Summary: Made by code", "Summary: Patched")


def lose_receipt(inside: SampleProject) -> None:
    """Delete the receipt."""
    (inside.folder / "build-receipt.json").unlink()


def break_receipt(inside: SampleProject) -> None:
    """Cut the receipt short."""
    place = inside.folder / "build-receipt.json"
    place.write_bytes(place.read_bytes()[:-20])


def break_proof(inside: SampleProject) -> None:
    """Claim another commit than the proof leads to, and seal the receipt again."""
    place = inside.folder / "build-receipt.json"
    found = receipt_record.parse(place.read_bytes())
    source = found.source.model_copy(update={"commit": "f" * 40})
    parts = {name: getattr(found, name) for name in ("package", "catalog", "inputs", "asserted")}
    place.write_bytes(receipt_record.seal(**parts, source=source).to_bytes())


PATCHES = (
    change_code,
    change_another_file,
    add_code,
    remove_code,
    change_skill_and_lock,
    change_version,
    lose_receipt,
    break_receipt,
    break_proof,
)


@pytest.mark.parametrize("patch", PATCHES)
def test_a_patched_sdist_names_no_commit(
    sample: SampleProject, tmp_path: Path, patch: Callable[[SampleProject], None]
) -> None:
    """Whoever patches an sdist gets a wheel, and a receipt that claims nothing."""
    inside = unpacked(sample.sdist(), tmp_path / "out")
    patch(inside)
    source = receipt_of(inside.wheel()).source
    assert (source.state, source.reason, source.commit) == ("archive", "not_git_source", None)


def test_a_patched_pkg_info_names_no_commit(sample: SampleProject, tmp_path: Path) -> None:
    """Hatchling takes fields that code gives from PKG-INFO, which no list of inputs covers."""
    inside = unpacked(with_computed_summary(sample).sdist(), tmp_path / "out")
    clean = receipt_of(inside.wheel())
    change_a_computed_field(inside)
    patched = receipt_of(inside.wheel())
    assert clean.source.commit == sample.commit_id()
    assert (patched.source.reason, patched.source.commit) == ("not_git_source", None)


def test_the_wheel_of_computed_metadata_is_the_same_from_the_sdist(
    sample: SampleProject, tmp_path: Path
) -> None:
    """What code gave when the sdist was made is what its PKG-INFO says; the receipt names it."""
    with_computed_summary(sample)
    wheel = sample.wheel()
    assert unpacked(sample.sdist(), tmp_path / "out").wheel().read_bytes() == wheel.read_bytes()
    assert receipt_of(wheel).package.computed == ("description",)


def test_an_ignore_file_above_an_sdist_that_decides_what_ships_is_said_to(
    sample: SampleProject, tmp_path: Path
) -> None:
    """Hatchling would go by it, and leave code out of the wheel that the list of inputs holds."""
    sample.replace("pyproject.toml", "ignore-vcs = true", "")
    sample.replace(
        "pyproject.toml",
        "targets.wheel]",
        "targets.sdist]\nignore-vcs = true\n[tool.hatch.build.targets.wheel]",
    )
    git(sample.folder, "rm", "--quiet", ".gitignore")
    inside = unpacked(sample.committed().sdist(), tmp_path / "out")
    (tmp_path / ".gitignore").write_bytes(b"*.sh\n")
    wheel = inside.wheel()
    assert "acme_skills/run.sh" not in wheel_files(wheel)
    assert receipt_of(wheel).source.commit is None


def test_junk_that_git_tracks_is_in_the_wheel_from_the_sdist_too(
    sample: SampleProject, tmp_path: Path
) -> None:
    """A name is no reason to leave out what the receipt lists."""
    for name in ("Thumbs.db", "notes~", "#x#"):
        sample.write(f"src/acme_skills/{name}", b"kept\n")
    wheel = sample.committed().wheel()
    assert wheel_files(wheel)["acme_skills/notes~"] == b"kept\n"
    assert unpacked(sample.sdist(), tmp_path / "out").wheel().read_bytes() == wheel.read_bytes()


def test_junk_and_archives_in_an_sdist_change_nothing(
    sample: SampleProject, tmp_path: Path
) -> None:
    """Bytecode, Finder files and earlier wheels do not make it a patched one."""
    inside = unpacked(sample.sdist(), tmp_path / "out")
    inside.write("src/acme_skills/__pycache__/x.pyc", b"x")
    inside.write("src/acme_skills/Thumbs.db", b"x")
    inside.wheel()
    assert receipt_of(inside.wheel()).source.commit == sample.commit_id()


def test_a_folder_without_git_names_no_commit(sample: SampleProject, tmp_path: Path) -> None:
    """A plain copy of the files, such as a downloaded archive of the repository."""
    copy = SampleProject(tmp_path / "copy")
    for path, data in sdist_files(sample.sdist()).items():
        if path not in {"PKG-INFO", "build-receipt.json"}:
            copy.write(path, data)
    assert receipt_of(copy.wheel()).source.reason == "not_git_source"


def test_the_receipt_shows_only_what_the_project_says_and_git_holds(sample: SampleProject) -> None:
    """No time, host, user, folder or branch is in it; name and claims come from pyproject.toml."""
    value = json.loads(receipt_of(sample.wheel()).to_bytes())
    metadata = wheel_files(sample.wheel())["acme_skills-1.0.dist-info/METADATA"]
    assert value["package"] == {
        "name": "acme-skills",
        "version": "1.0",
        "metadata_sha256": sha256_hex(metadata),
        "computed": [],
    }
    assert value["asserted"] == {
        "repository": "https://example.org/acme/skills",
        "source_ref": "refs/tags/v1.0",
    }
    assert sorted(value["inputs"]["files"]) == sorted(
        name
        for name in sdist_files(sample.sdist())
        if name not in {"PKG-INFO", "build-receipt.json"}
    )


def test_a_project_may_leave_the_proof_out(sample: SampleProject) -> None:
    """The commit is named all the same; who wrote it is not told."""
    source = receipt_of(sample.configure("proof = false").committed().wheel()).source
    assert source.proof is None
    assert source.commit == sample.commit_id()


def test_a_checkout_that_changes_while_it_is_built_is_dirty() -> None:
    """Two looks that differ name no commit, even if both were clean."""
    other = Revision(state="clean", reason=None, commit="e" * 40, skills_tree="d" * 40)
    assert build_receipt.settle(CLEAN, other, {}, "d" * 40).reason == "dirty_source"


def test_another_skills_tree_than_the_locks_is_dirty() -> None:
    """The commit's folder and the lock's must be one tree."""
    assert build_receipt.settle(CLEAN, CLEAN, {}, "e" * 40).reason == "dirty_source"


def test_the_checkouts_own_reason_goes_first() -> None:
    """What could not be looked at is not said to be dirty."""
    unknown = archive("not_owner", "whose?")
    assert build_receipt.settle(unknown, unknown, {"a": "dirty_source"}, None) == unknown


def test_one_real_change_among_converted_line_ends_is_a_real_change() -> None:
    """The finer reason is given only where it is the whole truth."""
    found = build_receipt.settle(CLEAN, CLEAN, {"a": "eol_converted", "b": "dirty_source"}, None)
    assert found == dirty("dirty_source", "Different from the commit: a, b.")


def test_more_files_than_a_receipt_lists_are_told() -> None:
    """Before an archive is written that no reader takes."""
    many = {f"f{number}": Member(b"") for number in range(limits.RECEIPT_MAX_INPUTS + 1)}
    with pytest.raises(SettingsError, match=r"tool\.hatch\.build\.targets\.sdist"):
        build_receipt.inputs_of(many)


def test_a_list_that_makes_too_long_a_receipt_is_told(sample: SampleProject) -> None:
    """Long paths reach the bound of bytes before the bound of files."""
    long = tuple(f"{number:05}{'x' * 500}" for number in range(3000))
    found = project.load(sample.folder)
    lock, _ = project.make_lock(found)
    inputs = Inputs(dir_hash="0" * 64, files=long)
    source = build_receipt.source_of(archive("no_commit", ""), with_proof=True)
    package = Package(name="acme", version="1", metadata_sha256="0" * 64, computed=())
    with pytest.raises(SettingsError, match="bytes"):
        build_receipt.new_receipt(found.settings, package, lock, inputs, source)

"""`diff` of whatever two things a user names: real builds and installations, one thing changed."""

from __future__ import annotations

import shutil
import sys
import zipfile
from typing import TYPE_CHECKING

import pytest

from skills_bundle.errors import UnreadableArchiveError, UnsafeArchiveError
from skills_bundle.files import limits as file_limits
from skills_bundle.files.reading import UnreadableSideError
from skills_bundle.installed.collections import UnknownCollectionError
from skills_bundle.supply_chain import limits
from skills_bundle.supply_chain.diff import INSTALLED_ONLY, Change, compare_inputs
from skills_bundle.supply_chain.diff_inputs import open_input
from tests.hatch_plugin.sample import SKILL_MD, SampleProject
from tests.supply_chain.archive_samples import repacked, with_record

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from skills_bundle.supply_chain.diff import Difference, DiffInput

SKILL = "acme_skills/.agents/skills/greet/SKILL.md"
LONGER = SKILL_MD + b"\nMore.\n"


def differ(before: Path, after: Path, *, text: bool = True) -> Difference:
    """Compare two paths."""
    return compare_inputs(open_input(str(before)), open_input(str(after)), text=text)


def changed_wheel(wheel: Path, folder: Path, changes: dict[str, bytes | None]) -> Path:
    """Give a copy of a wheel with other members."""
    folder.mkdir(exist_ok=True)
    target = folder / wheel.name
    target.write_bytes(with_record(wheel.read_bytes(), dict(changes)))
    return target


def installed(wheel: Path, site: Path) -> Path:
    """Lay a wheel out as an installer does."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    (site / "acme_skills-1.0.dist-info/INSTALLER").write_text("pip\n", encoding="utf-8")
    return site


def _lock(sample: SampleProject, _wheel: Path, _folder: Path) -> Path:
    return sample.folder / "catalog.lock.json"


def _project(sample: SampleProject, _wheel: Path, _folder: Path) -> Path:
    return sample.folder


def _wheel(_sample: SampleProject, wheel: Path, _folder: Path) -> Path:
    return wheel


def _sdist(sample: SampleProject, _wheel: Path, _folder: Path) -> Path:
    return sample.sdist()


def _site(_sample: SampleProject, wheel: Path, folder: Path) -> Path:
    return installed(wheel, folder / "site")


def _package(_sample: SampleProject, wheel: Path, folder: Path) -> Path:
    return installed(wheel, folder / "site") / "acme_skills"


def _dist_info(_sample: SampleProject, wheel: Path, folder: Path) -> Path:
    return installed(wheel, folder / "site") / "acme_skills-1.0.dist-info"


def _skills(sample: SampleProject, _wheel: Path, _folder: Path) -> Path:
    return sample.folder / "skills"


SIDES: dict[str, tuple[Callable[[SampleProject, Path, Path], Path], str]] = {
    "lock": (_lock, "lock"),
    "project": (_project, "project"),
    "wheel": (_wheel, "wheel"),
    "sdist": (_sdist, "sdist"),
    "site-packages": (_site, "installation"),
    "package": (_package, "installation"),
    ".dist-info": (_dist_info, "installation"),
    "skills": (_skills, "folder"),
}


@pytest.mark.parametrize("one", SIDES)
@pytest.mark.parametrize("other", ["lock", "wheel"])
def test_whatever_comes_of_one_commit_is_the_same(
    sample: SampleProject, sample_wheel: Path, tmp_path: Path, one: str, other: str
) -> None:
    """In what both have: their skills, at least."""
    make, kind = SIDES[one]
    found = differ(
        make(sample, sample_wheel, tmp_path), SIDES[other][0](sample, sample_wheel, tmp_path)
    )
    assert (found.before.kind, found.verdict, found.exit_code) == (kind, "same", 0)


@pytest.mark.parametrize("one", SIDES)
def test_a_changed_skill_is_found_whatever_it_is_compared_with(
    sample: SampleProject, sample_wheel: Path, tmp_path: Path, one: str
) -> None:
    """By its path below the skills folder."""
    changed = changed_wheel(sample_wheel, tmp_path / "changed", {SKILL: LONGER})
    found = differ(SIDES[one][0](sample, sample_wheel, tmp_path), changed)
    assert (found.verdict, found.exit_code, found.skills_changed) == ("different", 1, ("greet",))
    row = next(row for row in found.files if row.path.endswith("greet/SKILL.md"))
    assert (row.kinds, row.before_size, row.after_size) == (
        ("changed",),
        len(SKILL_MD),
        len(LONGER),
    )


def test_the_lines_of_a_changed_text_are_shown(sample_wheel: Path, tmp_path: Path) -> None:
    """As a unified diff; `--no-text` leaves them out."""
    changed = changed_wheel(sample_wheel, tmp_path / "changed", {SKILL: LONGER})
    (shown,) = differ(sample_wheel, changed).texts
    assert (shown.path, shown.lines[-2:], shown.cut) == (SKILL, ("+", "+More."), False)
    assert differ(sample_wheel, changed, text=False).texts == ()


def test_a_missing_last_line_feed_is_shown(sample_wheel: Path, tmp_path: Path) -> None:
    """A text that differs in it alone would show no line at all."""
    changed = changed_wheel(sample_wheel, tmp_path / "changed", {SKILL: SKILL_MD[:-1]})
    assert differ(sample_wheel, changed).texts[0].lines[-1] == "+\\ No newline at end of file"


def test_bytes_and_long_texts_are_compared_by_their_digest(
    sample_wheel: Path, tmp_path: Path
) -> None:
    """Nobody reads them line by line."""
    path = "acme_skills/data"
    for number, data in enumerate((b"\0\1", b"\xff", b"x\n" * (limits.DIFF_TEXT_MAX_LINES + 1))):
        one = changed_wheel(sample_wheel, tmp_path / f"one-{number}", {path: b"y\n"})
        other = changed_wheel(sample_wheel, tmp_path / f"other-{number}", {path: data})
        found = differ(one, other)
        assert [row.path for row in found.files] == ["acme_skills-1.0.dist-info/RECORD", path]
        assert found.texts == ()


def test_lines_beyond_the_limit_are_cut(sample_wheel: Path, tmp_path: Path) -> None:
    """A program is told that there are more."""
    lines = [b"%d\n" % number for number in range(limits.DIFF_TEXT_MAX_LINES - 1)]
    path, twice = "acme_skills/data", [line * 1 for line in reversed(lines)]
    one = changed_wheel(sample_wheel, tmp_path / "one", {path: b"".join(lines)})
    other = changed_wheel(sample_wheel, tmp_path / "other", {path: b"".join(twice)})
    (shown,) = differ(one, other).texts
    assert (len(shown.lines), shown.cut) == (limits.DIFF_MAX_LINES, True)


def test_a_wheel_packed_again_differs_in_its_packing_alone(
    sample_wheel: Path, tmp_path: Path
) -> None:
    """Exit 1: they are not the same file."""
    (tmp_path / sample_wheel.name).write_bytes(repacked(sample_wheel.read_bytes()))
    found = differ(sample_wheel, tmp_path / sample_wheel.name)
    assert (found.verdict, found.same_content, found.files) == ("different", True, ())
    assert found.packing is not None
    names = {change.name for row in found.packing.entries for change in row.changes}
    assert names == {"date", "compression", "packed size"}


def test_lock_receipt_and_metadata_are_compared_field_by_field(
    sample: SampleProject, sample_wheel: Path, tmp_path: Path
) -> None:
    """A new version, with another description of a skill."""
    other = SampleProject(tmp_path / "other")
    SampleProject.create(other.folder)
    other.replace("pyproject.toml", 'version = "1.0"', 'version = "1.1"')
    other.replace("skills/greet/SKILL.md", "Says hello.", "Greets.").locked().committed()
    found = differ(sample_wheel, other.wheel())
    assert Change(name="Version", before="1.0", after="1.1") in found.metadata
    assert Change(name="package.version", before="1.0", after="1.1") in found.receipt
    assert "source.commit" in {change.name for change in found.receipt}
    described = next(change for change in found.lock if change.name == "greet: description")
    assert described.after == "Greets. Use when greeting."
    assert sample.commit_id() in {change.before for change in found.receipt}


def test_skills_that_came_and_went_are_named(
    sample: SampleProject, sample_wheel: Path, tmp_path: Path
) -> None:
    """By their folders."""
    new = "acme_skills/.agents/skills/more/SKILL.md"
    changed = changed_wheel(sample_wheel, tmp_path / "changed", {SKILL: None, new: SKILL_MD})
    found = differ(sample.folder / "catalog.lock.json", changed)
    assert (found.skills_added, found.skills_removed) == (("more",), ("greet",))


def test_the_executable_bit_is_compared_where_it_says_something(
    sample: SampleProject, tmp_path: Path
) -> None:
    """On the disk of a project, not on that of an installation."""
    other = SampleProject.create(tmp_path / "other")
    (other.folder / "skills/greet/scripts/hi.sh").chmod(0o644)
    found = differ(sample.folder / "catalog.lock.json", other.folder)
    assert [(row.path, row.kinds) for row in found.files] == [
        ("greet/scripts/hi.sh", ("executable",))
    ]


def test_an_altered_installation_is_compared_with_its_wheel(
    sample_wheel: Path, tmp_path: Path
) -> None:
    """What the installer itself writes is no difference; what somebody added is one."""
    site = installed(sample_wheel, tmp_path / "site")
    (site / "acme_skills/run.sh").write_bytes(b"changed\n")
    (site / "acme_skills/more.py").write_bytes(b"")
    (site / "acme_skills/__pycache__").mkdir()
    (site / "acme_skills/__pycache__/x.pyc").write_bytes(b"")
    found = differ(sample_wheel, site)
    assert {row.path: row.kinds for row in found.files} == {
        "acme_skills/run.sh": ("changed",),
        "acme_skills/more.py": ("added",),
    }


def test_what_cannot_be_read_cannot_be_told(sample_wheel: Path, tmp_path: Path) -> None:
    """A link is not followed: nobody can say what it stands for later."""
    site = installed(sample_wheel, tmp_path / "site")
    file = site / "acme_skills/run.sh"
    file.rename(tmp_path / "elsewhere")
    file.symlink_to(tmp_path / "elsewhere")
    found = differ(site, site)
    assert (found.verdict, found.exit_code) == ("cannot_tell", 3)
    assert {(row.path, row.code) for row in found.unread} == {("acme_skills/run.sh", "linked")}


def test_two_plain_folders_are_compared_file_by_file(tmp_path: Path) -> None:
    """By-products of tools left out."""
    for name, data in (("a", b"1\n"), ("b", b"2\n")):
        (tmp_path / name / "deep/__pycache__").mkdir(parents=True)
        (tmp_path / name / "deep/file").write_bytes(data)
        (tmp_path / name / "deep/__pycache__/x.pyc").write_bytes(data)
    found = differ(tmp_path / "a", tmp_path / "b")
    assert (found.compared, [row.path for row in found.files]) == ("files", ["deep/file"])
    assert differ(tmp_path / "a", tmp_path / "a").verdict == "same"


def test_a_bare_word_is_an_installed_collection() -> None:
    """One that nobody declares is a usage error that says which there are."""
    with pytest.raises(UnknownCollectionError, match="Installed: ") as raised:
        open_input("no-such-collection")
    assert raised.value.__notes__ == ["There is no file or folder 'no-such-collection' either."]


def test_a_site_with_several_bundles_asks_for_one(sample_wheel: Path, tmp_path: Path) -> None:
    """It names them."""
    site = installed(sample_wheel, tmp_path / "site")
    other = site / "other-1.0.dist-info"
    other.mkdir()
    record = "other/.agents/catalog.lock.json,,\n"
    (other / "RECORD").write_text(record, encoding="utf-8")
    with pytest.raises(UnreadableSideError, match=r"acme_skills-1\.0\.dist-info, other-1\.0"):
        open_input(str(site))


@pytest.mark.parametrize("name", ["no/such/folder", "no.lock.json", "no/such/file"])
def test_what_is_not_there_cannot_be_compared(tmp_path: Path, name: str) -> None:
    """Exit 3."""
    with pytest.raises(UnreadableSideError) as caught:
        open_input(str(tmp_path / name))
    assert caught.value.exit_code == 3


def test_a_file_that_is_no_lock_cannot_be_compared(tmp_path: Path) -> None:
    """The lock's own problem is told."""
    (tmp_path / "x.json").write_text("{}", encoding="utf-8")
    with pytest.raises(UnreadableSideError, match="is not a readable lock"):
        open_input(str(tmp_path / "x.json"))


def test_a_dist_info_without_a_bundle_cannot_be_compared(tmp_path: Path) -> None:
    """There is nothing of ours in it."""
    (tmp_path / "x-1.0.dist-info").mkdir()
    with pytest.raises(UnreadableSideError, match="no package with a bundle"):
        open_input(str(tmp_path / "x-1.0.dist-info"))


def test_an_archive_is_opened_as_every_command_opens_one(
    sample_wheel: Path, tmp_path: Path
) -> None:
    """One that is no plain archive is refused; one that is not there is not."""
    (tmp_path / sample_wheel.name).write_bytes(b"x" + sample_wheel.read_bytes())
    with pytest.raises(UnsafeArchiveError):
        open_input(str(tmp_path / sample_wheel.name))
    with pytest.raises(UnreadableArchiveError):
        open_input(str(tmp_path / "no.whl"))


def test_a_folder_beyond_the_limits_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither by its number of files nor by their bytes."""
    (tmp_path / "a").write_bytes(b"1")
    (tmp_path / "b").write_bytes(b"2")
    monkeypatch.setattr(file_limits, "FOLDER_MAX_BYTES", 1)
    with pytest.raises(UnreadableSideError, match="too much"):
        open_input(str(tmp_path))
    monkeypatch.setattr(file_limits, "FOLDER_MAX_FILES", 1)
    with pytest.raises(UnreadableSideError, match="too many"):
        open_input(str(tmp_path))


@pytest.mark.parametrize("name", sorted(INSTALLED_ONLY - {"RECORD"}))
def test_what_installers_write_is_no_difference(
    sample_wheel: Path, tmp_path: Path, name: str
) -> None:
    """Each of the files that pip and uv leave beside the metadata."""
    site = installed(sample_wheel, tmp_path / "site")
    (site / "acme_skills-1.0.dist-info" / name).write_text("{}", encoding="utf-8")
    assert compare_inputs(open_input(str(sample_wheel)), _side(site)).files == ()


def _side(site: Path) -> DiffInput:
    return open_input(str(site / "acme_skills-1.0.dist-info"))


def test_an_installation_without_metadata_is_compared_by_its_package(
    sample_wheel: Path, tmp_path: Path
) -> None:
    """Whoever copied the package alone still has its skills."""
    site = installed(sample_wheel, tmp_path / "site")
    shutil.rmtree(site / "acme_skills-1.0.dist-info")
    found = differ(sample_wheel, site / "acme_skills")
    assert found.after.kind == "installation"
    assert {row.path.partition("/")[0] for row in found.files} == {"acme_skills-1.0.dist-info"}


@pytest.mark.parametrize("name", ["catalog.lock.json", "build-receipt.json"])
def test_a_broken_document_of_an_installation_is_compared_as_a_file(
    sample_wheel: Path, tmp_path: Path, name: str
) -> None:
    """Its fields cannot be; its bytes can."""
    site = installed(sample_wheel, tmp_path / "site")
    (site / "acme_skills/.agents" / name).write_text("{}", encoding="utf-8")
    found = differ(sample_wheel, site)
    assert [row.path for row in found.files] == [f"acme_skills/.agents/{name}"]
    assert found.texts == ()


def test_a_project_keeps_its_skills_anywhere(sample: SampleProject, tmp_path: Path) -> None:
    """They are found by what its lock names."""
    other = tmp_path / "other"
    shutil.copytree(sample.folder / "skills", other / "deep/lore")
    shutil.copy(sample.folder / "catalog.lock.json", other)
    found = differ(sample.folder, other)
    assert (found.after.kind, found.verdict) == ("project", "same")


def test_an_installed_collection_is_found_by_its_name(sample_wheel: Path, tmp_path: Path) -> None:
    """In the environment of this program, whatever folder one stands in."""
    site = installed(sample_wheel, tmp_path / "site")
    sys.path.insert(0, str(site))
    try:
        found = compare_inputs(open_input("acme-skills"), open_input(str(sample_wheel)))
    finally:
        sys.path.remove(str(site))
    assert (found.before.kind, found.verdict) == ("installation", "same")


def test_a_new_version_makes_no_new_files_of_the_metadata(tmp_path: Path) -> None:
    """Its folder has the version in its name; what did not change in it is no difference."""
    sample = SampleProject.create(tmp_path / "acme")
    old = sample.wheel()
    pyproject = sample.folder / "pyproject.toml"
    text = pyproject.read_text(encoding="utf-8")
    pyproject.write_text(text.replace('version = "1.0"', 'version = "2.0"'), encoding="utf-8")
    found = differ(old, sample.wheel(), text=False)
    told = {row.path: row.kinds for row in found.files}
    assert told["acme_skills-2.0.dist-info/METADATA"] == ("changed",)
    assert "acme_skills-2.0.dist-info/WHEEL" not in told
    assert set(told.values()) == {("changed",)}


def test_an_empty_name_is_not_taken_for_the_folder_at_hand() -> None:
    """It is what a shell makes of a variable that nobody set."""
    with pytest.raises(UnreadableSideError, match="names nothing"):
        open_input("")

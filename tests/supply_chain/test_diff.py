"""`diff` of real builds and installations with one thing changed."""

from __future__ import annotations

import shutil
import sys
import zipfile
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from skills_bundle.archives.model import Archive, Entry, Member, write_sdist, write_wheel
from skills_bundle.archives.reading import read_sdist, read_wheel
from skills_bundle.errors import UnreadableArchiveError, UnsafeArchiveError
from skills_bundle.files import limits as file_limits
from skills_bundle.files.reading import UnreadableSideError
from skills_bundle.installed.collections import UnknownCollectionError
from skills_bundle.supply_chain import limits
from skills_bundle.supply_chain.diff import (
    INSTALLED_ONLY,
    Change,
    compare_archives,
    compare_inputs,
)
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
    """Return a copy of a wheel with other members."""
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


INPUTS: dict[str, tuple[Callable[[SampleProject, Path, Path], Path], str]] = {
    "lock": (_lock, "lock"),
    "project": (_project, "project"),
    "wheel": (_wheel, "wheel"),
    "sdist": (_sdist, "sdist"),
    "site-packages": (_site, "installation"),
    "package": (_package, "installation"),
    ".dist-info": (_dist_info, "installation"),
    "skills": (_skills, "folder"),
}


@pytest.mark.parametrize("one", INPUTS)
@pytest.mark.parametrize("other", ["lock", "wheel"])
def test_inputs_from_one_commit_are_the_same(
    sample: SampleProject, sample_wheel: Path, tmp_path: Path, one: str, other: str
) -> None:
    """In what both have: their skills, at least."""
    make, kind = INPUTS[one]
    found = differ(
        make(sample, sample_wheel, tmp_path), INPUTS[other][0](sample, sample_wheel, tmp_path)
    )
    assert (found.before.kind, found.verdict, found.exit_code) == (kind, "same", 0)


@pytest.mark.parametrize("one", INPUTS)
def test_equal_skills_have_one_content_identity(
    sample: SampleProject, sample_wheel: Path, tmp_path: Path, one: str
) -> None:
    """Wherever they come from; an installation's disk takes the executable bits of the lock."""
    locked = open_input(str(_lock(sample, sample_wheel, tmp_path))).skill_files
    found = open_input(str(INPUTS[one][0](sample, sample_wheel, tmp_path))).skill_files
    identity = found.with_modes_of(locked).content_identity(collection="acme-skills")
    assert identity == locked.content_identity(collection="acme-skills")


@pytest.mark.parametrize("one", INPUTS)
def test_a_changed_skill_is_found_in_every_kind_of_input(
    sample: SampleProject, sample_wheel: Path, tmp_path: Path, one: str
) -> None:
    """By its path below the skills folder."""
    changed = changed_wheel(sample_wheel, tmp_path / "changed", {SKILL: LONGER})
    found = differ(INPUTS[one][0](sample, sample_wheel, tmp_path), changed)
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
    """They are not compared line by line."""
    path = "acme_skills/data"
    for number, data in enumerate((b"\0\1", b"\xff", b"x\n" * (limits.DIFF_TEXT_MAX_LINES + 1))):
        one = changed_wheel(sample_wheel, tmp_path / f"one-{number}", {path: b"y\n"})
        other = changed_wheel(sample_wheel, tmp_path / f"other-{number}", {path: data})
        found = differ(one, other)
        assert [row.path for row in found.files] == ["acme_skills-1.0.dist-info/RECORD", path]
        assert found.texts == ()


def test_lines_beyond_the_limit_are_cut(sample_wheel: Path, tmp_path: Path) -> None:
    """`cut` says that there are more."""
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


def test_the_executable_bit_is_compared_where_the_source_states_it(
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
    """Files that the installer writes are ignored; an added file is reported."""
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


def test_an_unreadable_file_makes_the_verdict_cannot_tell(
    sample_wheel: Path, tmp_path: Path
) -> None:
    """A link is not followed: its target can change."""
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
    """An unknown name is a usage error that lists the installed ones."""
    with pytest.raises(UnknownCollectionError, match="Installed: ") as raised:
        open_input("no-such-collection")
    assert raised.value.__notes__ == ["There is no file or folder 'no-such-collection' either."]


def test_a_site_with_several_bundles_is_refused(sample_wheel: Path, tmp_path: Path) -> None:
    """It names them."""
    site = installed(sample_wheel, tmp_path / "site")
    other = site / "other-1.0.dist-info"
    other.mkdir()
    record = "other/.agents/catalog.lock.json,,\n"
    (other / "RECORD").write_text(record, encoding="utf-8")
    with pytest.raises(UnreadableSideError, match=r"acme_skills-1\.0\.dist-info, other-1\.0"):
        open_input(str(site))


@pytest.mark.parametrize("name", ["no/such/folder", "no.lock.json", "no/such/file"])
def test_a_missing_input_cannot_be_compared(tmp_path: Path, name: str) -> None:
    """Exit 3."""
    with pytest.raises(UnreadableSideError) as caught:
        open_input(str(tmp_path / name))
    assert caught.value.exit_code == 3


def test_a_file_that_is_not_a_lock_cannot_be_compared(tmp_path: Path) -> None:
    """The lock's own problem is reported."""
    (tmp_path / "x.json").write_text("{}", encoding="utf-8")
    with pytest.raises(UnreadableSideError, match="is not a readable lock"):
        open_input(str(tmp_path / "x.json"))


def test_a_dist_info_without_a_bundle_cannot_be_compared(tmp_path: Path) -> None:
    """It has no bundle."""
    (tmp_path / "x-1.0.dist-info").mkdir()
    with pytest.raises(UnreadableSideError, match="no package with a bundle"):
        open_input(str(tmp_path / "x-1.0.dist-info"))


def test_an_archive_is_opened_as_every_command_opens_one(
    sample_wheel: Path, tmp_path: Path
) -> None:
    """An unsafe archive is refused; a missing one is unreadable."""
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
    with pytest.raises(UnreadableSideError, match="too large"):
        open_input(str(tmp_path))
    monkeypatch.setattr(file_limits, "FOLDER_MAX_FILES", 1)
    with pytest.raises(UnreadableSideError, match="too many"):
        open_input(str(tmp_path))


@pytest.mark.parametrize("name", sorted(INSTALLED_ONLY - {"RECORD"}))
def test_files_that_installers_write_are_ignored(
    sample_wheel: Path, tmp_path: Path, name: str
) -> None:
    """Each of the files that pip and uv leave beside the metadata."""
    site = installed(sample_wheel, tmp_path / "site")
    (site / "acme_skills-1.0.dist-info" / name).write_text("{}", encoding="utf-8")
    assert compare_inputs(open_input(str(sample_wheel)), _open(site)).files == ()


def _open(site: Path) -> DiffInput:
    return open_input(str(site / "acme_skills-1.0.dist-info"))


def test_an_installation_without_metadata_is_compared_by_its_package(
    sample_wheel: Path, tmp_path: Path
) -> None:
    """A copy of the package alone still has its skills."""
    site = installed(sample_wheel, tmp_path / "site")
    shutil.rmtree(site / "acme_skills-1.0.dist-info")
    found = differ(sample_wheel, site / "acme_skills")
    assert found.after.kind == "installation"
    assert {row.path.partition("/")[0] for row in found.files} == {"acme_skills-1.0.dist-info"}


@pytest.mark.parametrize("name", ["catalog.lock.json", "build-receipt.json"])
def test_a_broken_document_of_an_installation_is_compared_as_a_file(
    sample_wheel: Path, tmp_path: Path, name: str
) -> None:
    """Only its bytes can be compared."""
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
    """In the environment of this program, from any working folder."""
    site = installed(sample_wheel, tmp_path / "site")
    sys.path.insert(0, str(site))
    try:
        found = compare_inputs(open_input("acme-skills"), open_input(str(sample_wheel)))
    finally:
        sys.path.remove(str(site))
    assert (found.before.kind, found.verdict) == ("installation", "same")


def test_a_new_version_is_compared_with_the_old_metadata(tmp_path: Path) -> None:
    """The folder's name has the version; unchanged files in it are not reported."""
    sample = SampleProject.create(tmp_path / "acme")
    old = sample.wheel()
    pyproject = sample.folder / "pyproject.toml"
    text = pyproject.read_text(encoding="utf-8")
    pyproject.write_text(text.replace('version = "1.0"', 'version = "2.0"'), encoding="utf-8")
    found = differ(old, sample.wheel(), text=False)
    kinds = {row.path: row.kinds for row in found.files}
    assert kinds["acme_skills-2.0.dist-info/METADATA"] == ("changed",)
    assert "acme_skills-2.0.dist-info/WHEEL" not in kinds
    assert set(kinds.values()) == {("changed",)}


def test_an_empty_name_is_not_the_current_folder() -> None:
    """A shell passes it for an unset variable."""
    with pytest.raises(UnreadableSideError, match="names nothing"):
        open_input("")


MEMBERS = {"acme/a.py": Member(b"a\n"), "acme/run.sh": Member(b"r\n", executable=True)}


def _archive(members: dict[str, Member]) -> Archive:
    return read_wheel(write_wheel(members, "acme-1.0.dist-info", "stored"), "acme-1.0.whl")


def test_the_same_bytes_are_identical() -> None:
    """Nothing is reported."""
    found = compare_archives(_archive(MEMBERS), _archive(MEMBERS))
    assert (found.identical, found.same_content) == (True, True)
    assert (found.members, found.wrapping, found.entries, found.folders) == ((), (), (), ())


@pytest.mark.parametrize(
    ("path", "member", "kinds"),
    [
        ("acme/a.py", Member(b"b\n"), ("changed",)),
        ("acme/a.py", Member(b"a\n", executable=True), ("executable",)),
        ("acme/a.py", Member(b"b\n", executable=True), ("changed", "executable")),
        ("acme/new.py", Member(b""), ("added",)),
    ],
)
def test_a_member_that_differs_is_reported_with_its_kinds(
    path: str, member: Member, kinds: tuple[str, ...]
) -> None:
    """RECORD, which names the digests, differs with it where bytes do."""
    found = compare_archives(_archive(MEMBERS), _archive({**MEMBERS, path: member}))
    assert (found.identical, found.same_content) == (False, False)
    assert {row.path: row.kinds for row in found.members}[path] == kinds


def test_a_member_of_the_first_alone_was_removed() -> None:
    """With size and digest on one side alone."""
    found = compare_archives(_archive(MEMBERS), _archive({"acme/a.py": MEMBERS["acme/a.py"]}))
    row = next(row for row in found.members if row.path == "acme/run.sh")
    assert (row.kinds, row.before_size, row.after_size) == (("removed",), 2, None)


def test_content_stored_differently_is_reported_as_packing() -> None:
    """Order, dates and folders are not content."""
    one = replace(
        _archive(MEMBERS),
        entries=(
            Entry(path="acme/a.py", facts={"date": "1980"}),
            Entry(path="acme/run.sh", facts={}),
        ),
    )
    other = replace(
        one,
        sha256="0" * 64,
        entries=(
            Entry(path="acme/", facts={}),
            Entry(path="acme/run.sh", facts={}),
            Entry(path="acme/a.py", facts={"date": "2026"}),
        ),
    )
    found = compare_archives(one, other)
    assert (found.identical, found.same_content) == (False, True)
    assert found.wrapping == (Change(name="order", before="acme/a.py", after="acme/run.sh"),)
    assert [(row.path, row.changes) for row in found.entries] == [
        ("acme/a.py", (Change(name="date", before="1980", after="2026"),))
    ]
    assert found.folders == (Change(name="acme/", before=None, after="listed"),)


def test_another_top_folder_is_other_content() -> None:
    """An sdist of another name or version unpacks elsewhere."""
    one, other = (
        read_sdist(write_sdist(MEMBERS, top), f"{top}.tar.gz") for top in ("acme-1.0", "acme-1.1")
    )
    found = compare_archives(one, other)
    assert (found.same_content, found.members, found.folders) == (False, (), ())
    assert Change(name="top folder", before="acme-1.0", after="acme-1.1") in found.wrapping

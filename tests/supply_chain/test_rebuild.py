"""Causes of a difference between archives that differ in one respect."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

import pytest

from skills_bundle.archives import model
from skills_bundle.archives.reading import open_archive
from skills_bundle.supply_chain.archive.contents import contents_of
from skills_bundle.supply_chain.diff import compare_archives
from skills_bundle.supply_chain.rebuild.rebuild import causes_of
from tests.hatch_plugin.sample import SampleProject
from tests.supply_chain.source_samples import DIST_INFO, rewritten


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a wheel that no test changes."""
    return SampleProject.create(tmp_path_factory.mktemp("acme")).wheel()


@pytest.fixture
def other(wheel: Path, tmp_path: Path) -> Path:
    """Return a copy of it to change."""
    return Path(shutil.copy(wheel, tmp_path / wheel.name))


def causes(given: Path, rebuilt: Path) -> dict[str, str]:
    """Return the causes of the difference by code."""
    one, two = contents_of(open_archive(given)), contents_of(open_archive(rebuilt))
    found = causes_of(one, two, compare_archives(one.archive, two.archive))
    return {cause.code: cause.message for cause in found}


def test_a_different_generator_is_reported_with_both_versions(wheel: Path, other: Path) -> None:
    """The message has the pin for the first one."""
    text = open_archive(wheel).members[f"{DIST_INFO}/WHEEL"].data
    old = text.replace(text.split(b"\n")[1], b"Generator: hatchling 1.2.3")
    found = causes(rewritten(other, {f"{DIST_INFO}/WHEEL": old}), wheel)
    assert [*found] == ["generator"]
    assert "hatchling 1.2.3" in found["generator"]
    assert "hatchling==1.2.3 for --build-constraint" in found["generator"]


def test_metadata_is_reported_by_field(wheel: Path, other: Path) -> None:
    """The field that differs is named."""
    path = f"{DIST_INFO}/METADATA"
    text = open_archive(wheel).members[path].data + b"Summary: Other\n"
    found = causes(rewritten(other, {path: text}), wheel)
    assert found["metadata"] == "METADATA differs in Summary"


@pytest.mark.parametrize(
    ("changes", "code", "word"),
    [
        ({"acme_skills/__init__.py": b"x = 1\n"}, "files", "acme_skills/__init__.py"),
        ({"acme_skills/more.py": b"x = 1\n"}, "only_given", "acme_skills/more.py"),
        ({"acme_skills/run.sh": None}, "only_rebuilt", "acme_skills/run.sh"),
    ],
)
def test_files_are_listed(
    wheel: Path, other: Path, changes: dict[str, bytes | None], code: str, word: str
) -> None:
    """RECORD, which follows from them, is not."""
    found = causes(rewritten(other, changes), wheel)
    assert [*found] == [code]
    assert word in found[code]


def test_a_record_alone_is_reported(wheel: Path, other: Path) -> None:
    """If nothing else differs."""
    with zipfile.ZipFile(wheel) as archive:
        members = {info.filename: (info, archive.read(info)) for info in archive.infolist()}
    with zipfile.ZipFile(other, "w") as archive:
        for name, (info, data) in members.items():
            archive.writestr(info, data + b"\n" if name.endswith("/RECORD") else data)
    assert [*causes(other, wheel)] == ["record"]


def packed(source: Path, target: Path, level: int) -> Path:
    """Pack a wheel again with other compression, dates and order."""
    with zipfile.ZipFile(source) as archive:
        members = {info.filename: (info, archive.read(info)) for info in archive.infolist()}
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=level) as archive:
        for name in reversed(members):
            info, data = members[name]
            info.date_time = (2020, 1, 1, 0, 0, 0)
            archive.writestr(info, data, zipfile.ZIP_DEFLATED, compresslevel=level)
    return target


def test_a_repacked_archive_is_reported_as_such(wheel: Path, other: Path) -> None:
    """Each fact that differs is reported once."""
    one, two = contents_of(open_archive(packed(wheel, other, 9))), contents_of(open_archive(wheel))
    found = causes_of(one, two, compare_archives(one.archive, two.archive))
    assert found[0].code == "packed_again"
    messages = [cause.message for cause in found if cause.code == "packing"]
    assert len(messages) == len({text.partition(" ")[0] for text in messages})
    assert any(text.startswith("compression") for text in messages)


def test_the_same_bytes_with_another_name_are_reported_as_such(wheel: Path, tmp_path: Path) -> None:
    """Installers use the name."""
    other = Path(shutil.copy(wheel, tmp_path / "other-2.0-py3-none-any.whl"))
    found = causes(other, wheel)
    assert [*found] == ["file_name"]
    assert "is called other-2.0-py3-none-any.whl" in found["file_name"]


def test_two_compressed_archives_differ_by_their_zlib(
    wheel: Path, other: Path, tmp_path: Path
) -> None:
    """A project that enables compression gets this on another machine."""
    (tmp_path / "two").mkdir()
    again = packed(wheel, tmp_path / "two" / wheel.name, 1)
    assert [*causes(packed(wheel, other, 9), again)] == ["compression"]


def test_another_version_is_reported_by_name_and_files(wheel: Path, tmp_path: Path) -> None:
    """Every path of the `.dist-info` differs."""
    sample = SampleProject.create(tmp_path / "acme")
    later = sample.replace("pyproject.toml", 'version = "1.0"', 'version = "1.1"').committed()
    found = causes(wheel, later.wheel())
    assert "acme_skills-1.1" in found["file_name"]
    assert "only_given" in found


def test_a_dirty_rebuild_is_reported(wheel: Path, tmp_path: Path) -> None:
    """The receipt of the rebuild has the reason."""
    sample = SampleProject.create(tmp_path / "acme").write("notes.txt", b"draft\n")
    assert "dirty_source" in causes(wheel, sample.wheel())["receipt"]


def test_receipts_of_two_commits_differ_in_their_source(wheel: Path, tmp_path: Path) -> None:
    """The fields are listed."""
    sample = SampleProject.create(tmp_path / "acme").write("notes.txt", b"x\n").committed()
    assert causes(wheel, sample.wheel())["receipt"] == "the receipts differ in inputs, source"


def test_another_top_folder_of_an_sdist_is_reported(tmp_path: Path) -> None:
    """The files below it are the same."""
    one = SampleProject.create(tmp_path / "acme").sdist()
    members = open_archive(one).members
    two = tmp_path / "acme_skills-2.0.tar.gz"
    two.write_bytes(model.write_sdist(members, "acme_skills-2.0"))
    assert "acme_skills-2.0" in causes(one, two)["file_name"]

"""Collections that distributions declare: found by metadata and folders, no code of theirs run."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest

from skills_bundle import wiring
from skills_bundle.bundle.lock import ENTRY_POINT_GROUP
from skills_bundle.errors import BundleUnavailableError
from skills_bundle.formats import limits as format_limits
from skills_bundle.installed import collections
from skills_bundle.installed import limits as installed_limits
from skills_bundle.installed import location as installed
from skills_bundle.installed.bundle import InstalledBundle
from skills_bundle.installed.collections import (
    AmbiguousCollectionError,
    Declared,
    UnknownCollectionError,
    UnreadableCollectionError,
)
from tests.installed_builder import (
    Installation,
    InstalledBuilder,
    metadata_of,
    recorded_digest,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.slow

ACME = Declared("acme-skills", "acme-skills", "1.2.0", "acme_skills")
BOMB = {"__init__.py": b"raise RuntimeError('imported')\n"}


def declare(made: Installation, line: str = "acme-skills = acme_skills") -> str:
    """Add the entry point to an installation; give the folder to look in."""
    text = f"[{ENTRY_POINT_GROUP}]\n{line}\n"
    (made.dist_info / "entry_points.txt").write_text(text, encoding="utf-8")
    return str(made.site)


def metadata_alone(site: Path, name: str, line: str, version: str = "1") -> str:
    """Write a distribution that is nothing but metadata; give the folder to look in."""
    made = Installation(site=site, name=name, version=version)
    made.dist_info.mkdir(parents=True)
    (made.dist_info / "METADATA").write_bytes(metadata_of(name, version))
    return declare(made, line)


def no_text(made: Installation) -> None:
    """Write entry points that are no text."""
    (made.dist_info / "entry_points.txt").write_bytes(b"\xff\xfe")


def no_metadata(made: Installation) -> None:
    """Take the name away, as an interrupted installation does."""
    (made.dist_info / "METADATA").unlink()


def test_a_declared_collection_is_listed_beside_ours(tmp_path: Path) -> None:
    """With its distribution, version and package."""
    site = declare(InstalledBuilder().install(tmp_path))
    assert collections.installed_collections([site]) == (ACME, collections.OWN)


def test_a_collection_is_found_without_running_its_code(tmp_path: Path) -> None:
    """A package that fails on import is located like any other."""
    made = InstalledBuilder(code=BOMB).install(tmp_path)
    assert collections.find("acme-skills", [declare(made)])() == made.locate()
    assert "acme_skills" not in sys.modules


def test_a_package_below_another_is_found_without_running_either(tmp_path: Path) -> None:
    """Only the top is looked up; the rest is a path."""
    folder = tmp_path / "acme" / "skills"
    (folder / ".agents").mkdir(parents=True)
    for file in (folder / "__init__.py", folder.parent / "__init__.py"):
        file.write_bytes(BOMB["__init__.py"])
    site = metadata_alone(tmp_path, "acme", "acme = acme.skills")
    place = collections.find("acme", [site])()
    assert (place.site, place.package) == (tmp_path.resolve(), "acme/skills")


def test_of_a_namespace_the_part_that_carries_the_bundle_is_found(tmp_path: Path) -> None:
    """Its other parts lie in other folders."""
    (tmp_path / "one/acme/skills").mkdir(parents=True)
    (tmp_path / "two/acme/skills/.agents").mkdir(parents=True)
    one = metadata_alone(tmp_path / "one", "acme", "acme = acme.skills")
    place = collections.find("acme", [one, str(tmp_path / "two")])()
    assert place.site == (tmp_path / "two").resolve()


def test_without_an_entry_point_nothing_is_declared(tmp_path: Path) -> None:
    """A bundle alone is no collection."""
    made = InstalledBuilder().install(tmp_path)
    assert collections.installed_collections([str(made.site)]) == (collections.OWN,)


def test_an_unknown_name_is_answered_with_the_installed_ones(tmp_path: Path) -> None:
    """Exit 2, and the one that was probably meant."""
    site = declare(InstalledBuilder().install(tmp_path))
    with pytest.raises(UnknownCollectionError) as refused:
        collections.find("acme-skill", [site])
    assert refused.value.exit_code == 2
    assert str(refused.value).endswith(
        "Did you mean 'acme-skills'? Installed: acme-skills, skills-bundle."
    )


@pytest.mark.parametrize("order", [("a", "b"), ("b", "a")])
def test_a_name_that_two_distributions_declare_is_refused_with_both(
    tmp_path: Path, order: tuple[str, str]
) -> None:
    """In one order, wherever they lie."""
    sites = {
        "a": metadata_alone(tmp_path / "a", "alpha", "acme = alpha"),
        "b": metadata_alone(tmp_path / "b", "beta", "acme = beta"),
    }
    with pytest.raises(AmbiguousCollectionError, match=r"alpha 1 and beta 1\. Uninstall"):
        collections.find("acme", [sites[one] for one in order])


def test_no_package_takes_our_own_name_away(tmp_path: Path) -> None:
    """With the option as without it: ours is the code that runs, and the other is named."""
    site = metadata_alone(tmp_path, "evil", "skills-bundle = evil")
    assert collections.find("skills-bundle", [site])() == installed.locate()
    (note,) = collections.survey([site]).notes_about({"skills-bundle"})
    assert note.startswith("evil 1 also declares the collection 'skills-bundle'; only the one of ")


def test_our_own_is_the_code_that_runs() -> None:
    """Also from source, where no metadata declares it."""
    assert collections.find("skills-bundle", [])() == installed.locate()


def test_of_one_distribution_installed_twice_the_first_on_the_path_counts(tmp_path: Path) -> None:
    """As imports have it."""
    sites = [
        metadata_alone(tmp_path / version, "acme-skills", "acme-skills = acme_skills", version)
        for version in ("2", "1")
    ]
    assert [row.version for row in collections.installed_collections(sites)] == [
        "2",
        collections.OWN.version,
    ]


def test_a_package_without_a_bundle_is_unavailable_with_what_to_do(tmp_path: Path) -> None:
    """Its wheel was built without the hook."""
    made = InstalledBuilder().install(tmp_path)
    made.bundle.rename(tmp_path / "gone")
    made.write_record()
    find = collections.find("acme-skills", [declare(made)])
    with pytest.raises(BundleUnavailableError, match="contains no bundle") as told:
        find()
    assert (told.value.exit_code, told.value.problems[0].code) == (3, "no_bundle")


@pytest.mark.parametrize("name", ["acme_skills/.agents", "acme_skills"])
def test_files_that_are_gone_since_the_installation_differ(tmp_path: Path, name: str) -> None:
    """RECORD lists them, so the builder is not the cause; a server starts and says so."""
    made = InstalledBuilder().install(tmp_path)
    find = collections.find("acme-skills", [declare(made)])
    (tmp_path / name).rename(tmp_path / "gone")
    report = wiring.verify_installation(find=find)
    assert (report.verdict, report.exit_code) == ("differs", 1)
    assert "Install the package again" in report.lock.problems[0].message
    states = {row.path: row.state for row in report.files}
    assert states["acme_skills/.agents/skills/alpha/SKILL.md"] == "missing"
    chosen = wiring.ChosenCollections(finders={"acme-skills": find})
    assert chosen.identify() is not None
    problem = wiring.open_chosen(chosen).problem()
    assert problem is not None
    (tmp_path / "gone").rename(tmp_path / name)
    assert wiring.open_chosen(chosen).problem() is None


def test_every_flipped_bit_of_the_metadata_is_noticed(tmp_path: Path) -> None:
    """It may not decide whose RECORD and receipt it is compared with."""
    made = InstalledBuilder().install(tmp_path)
    site = declare(made)
    path = made.dist_info / "METADATA"
    data = path.read_bytes()
    unnoticed: list[int] = []
    for bit in range(len(data) * 8):
        changed = bytearray(data)
        changed[bit // 8] ^= 1 << bit % 8
        path.write_bytes(changed)
        try:
            report = wiring.verify_installation(find=collections.find("acme-skills", [site]))
        except UnreadableCollectionError:
            continue
        has_gaps = {"record_mismatch", "invalid_receipt"} <= {*report.gaps}
        if report.exit_code != 1 or not has_gaps or report.package_name != "acme-skills":
            unnoticed.append(bit)
    assert unnoticed == []


def test_a_letter_changed_in_the_name_hides_nothing_from_an_answer(tmp_path: Path) -> None:
    """`Name: acme-skilms` once switched RECORD and receipt off, with `verified` in each answer."""
    made = InstalledBuilder().install(tmp_path)
    path = made.dist_info / "METADATA"
    path.write_bytes(path.read_bytes().replace(b"Name: acme-skills", b"Name: acme-skilms"))
    find = collections.find("acme-skills", [declare(made)])
    block = InstalledBundle(find).current().provenance
    assert (block.package_name, block.resolved_git_sha) == ("acme-skills", None)
    assert block.gaps == ("invalid_receipt", "record_mismatch")


def test_a_metadata_folder_of_another_name_is_noticed(tmp_path: Path) -> None:
    """Receipt and RECORD are of the other one."""
    made = InstalledBuilder().install(tmp_path)
    site = declare(made)
    made.dist_info.rename(tmp_path / "other-1.2.0.dist-info")
    report = wiring.verify_installation(find=collections.find("acme-skills", [site]))
    assert report.exit_code == 1
    assert {"record_mismatch", "invalid_receipt"} <= {*report.gaps}


@pytest.mark.parametrize(
    ("old", "new"), [("1.9.0", "1.10.0"), ("1.10.0", "1.9.0")], ids=["upgrade", "downgrade"]
)
def test_of_two_versions_in_one_folder_the_installed_one_counts(
    tmp_path: Path, old: str, new: str
) -> None:
    """The other was left by an interrupted upgrade: it is named."""
    for version in (old, new):
        code = {"__init__.py": version.encode()}
        made = InstalledBuilder(version=version, code=code).install(tmp_path)
        site = declare(made)
    survey = collections.survey([site])
    assert [row.version for row in survey.declared if row.name == "acme-skills"] == [new]
    assert [f"acme_skills-{old}.dist-info" in note for note in survey.notes()] == [True]
    assert survey.notes_about({"acme-skills"}) == survey.notes()
    assert InstalledBundle(survey.finder("acme-skills")).current().provenance.gaps == ()


def _without_entry_points(made: Installation) -> None:
    name = f"{made.dist_info.name}/entry_points.txt"
    with made.record.open("a", encoding="utf-8") as file:
        file.write(f"{name},{recorded_digest(b'[x]')},3\n")
    (made.site / name).unlink()


def _garbage_entry_points(made: Installation) -> None:
    _without_entry_points(made)
    (made.dist_info / "entry_points.txt").write_bytes(b"[skills_bundle.collections\nx")


def _garbage(made: Installation) -> None:
    (made.dist_info / "METADATA").write_bytes(b"\xff\xfe\x00")


def _huge_metadata(made: Installation) -> None:
    _huge(made.dist_info / "METADATA")


def _emptied(made: Installation) -> None:
    for path in made.dist_info.iterdir():
        path.unlink()


@pytest.mark.parametrize(
    "harm",
    [
        no_text,
        no_metadata,
        _garbage,
        _huge_metadata,
        _emptied,
        _without_entry_points,
        _garbage_entry_points,
    ],
)
def test_a_collection_whose_metadata_cannot_be_read_is_not_called_unknown(
    tmp_path: Path, harm: Callable[[Installation], None]
) -> None:
    """Exit 3, with the folder: whether it declares the collection cannot be told."""
    made = InstalledBuilder().install(tmp_path)
    site = declare(made)
    harm(made)
    with pytest.raises(UnreadableCollectionError, match=r"acme_skills-1\.2\.0") as refused:
        collections.find("acme-skills", [site])
    assert refused.value.exit_code == 3


def test_a_collection_of_others_is_unknown_beside_broken_metadata(tmp_path: Path) -> None:
    """Entry points that can be read say what it does not declare."""
    made = InstalledBuilder().install(tmp_path)
    site = declare(made)
    no_metadata(made)
    with pytest.raises(UnknownCollectionError):
        collections.find("other", [site])


@pytest.mark.parametrize("value", ["no_such_package", "../acme_skills", "sys", "a:b", "/etc"])
def test_a_package_that_is_not_there_is_unavailable(tmp_path: Path, value: str) -> None:
    """Names that are no package lead nowhere, least of all out of the environment."""
    find = collections.find("acme", [metadata_alone(tmp_path, "acme", f"acme = {value}")])
    with pytest.raises(BundleUnavailableError) as told:
        find()
    assert told.value.problems[0].code == "no_package"


@pytest.mark.parametrize("data", [b"\xff\xfe", b"[skills_bundle.collections\nx", b"= =\n"])
def test_metadata_that_cannot_be_read_declares_nothing(tmp_path: Path, data: bytes) -> None:
    """And keeps nobody else from being found."""
    site = declare(InstalledBuilder().install(tmp_path))
    broken = tmp_path / "broken-1.dist-info"
    broken.mkdir()
    (broken / "entry_points.txt").write_bytes(data)
    assert ACME in collections.installed_collections([site])


def test_a_distribution_without_a_name_declares_nothing(tmp_path: Path) -> None:
    """Nobody could say whose the collection is."""
    folder = tmp_path / "acme-1.dist-info"
    folder.mkdir()
    (folder / "entry_points.txt").write_text(f"[{ENTRY_POINT_GROUP}]\nx = y\n", encoding="utf-8")
    assert collections.installed_collections([str(tmp_path)]) == (collections.OWN,)


def test_the_working_directory_declares_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though Python's path may name it as the empty folder."""
    declare(InstalledBuilder().install(tmp_path))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["", *sys.path])
    assert ACME not in collections.installed_collections()


def two_owners(tmp_path: Path, name: str = "acme") -> list[str]:
    """Have two distributions declare one name."""
    return [
        metadata_alone(tmp_path / one, one, f"{name} = {one}_package") for one in ("alpha", "beta")
    ]


def test_every_collection_has_a_finder_by_name(tmp_path: Path) -> None:
    """Sorted, ours among them; each finds its own."""
    made = InstalledBuilder(code=BOMB).install(tmp_path)
    finders = collections.survey([declare(made)]).finders()
    assert list(finders) == ["acme-skills", "skills-bundle"]
    assert [find() for find in finders.values()] == [made.locate(), installed.locate()]


def test_a_name_of_two_owners_takes_nothing_from_others(tmp_path: Path) -> None:
    """It alone cannot be found, with both owners in the reason."""
    site = declare(InstalledBuilder().install(tmp_path / "site"))
    survey = collections.survey([site, *two_owners(tmp_path)])
    finders = survey.finders()
    assert (list(finders), survey.ambiguous) == (["acme", "acme-skills", "skills-bundle"], {"acme"})
    assert finders["acme-skills"]().name == "acme-skills"
    with pytest.raises(BundleUnavailableError, match=r"alpha 1 and beta 1\.") as told:
        finders["acme"]()
    assert told.value.problems[0].code == "ambiguous_collection"


def test_nobody_takes_ours_away_by_its_name(tmp_path: Path) -> None:
    """It is the code that runs; whoever claims the name is told of."""
    survey = collections.survey([metadata_alone(tmp_path, "evil", "skills-bundle = evil")])
    assert survey.finders()["skills-bundle"]() == installed.locate()
    assert survey.ambiguous == frozenset()
    assert survey.notes() == (
        (
            "evil 1 also declares the collection 'skills-bundle'; only the one of skills-bundle is "
            "served under this name"
        ),
    )


@pytest.mark.parametrize("harm", [no_text, no_metadata])
def test_metadata_that_cannot_be_read_is_told_of(
    tmp_path: Path, harm: Callable[[Installation], None]
) -> None:
    """With its folder: nobody knows what it declares."""
    made = InstalledBuilder().install(tmp_path)
    declare(made)
    harm(made)
    survey = collections.survey([str(made.site)])
    assert survey.declared == (collections.OWN,)
    assert survey.unreadable == (str(made.dist_info),)
    assert str(made.dist_info) in survey.notes()[0]


def test_more_than_can_be_served_together_are_refused() -> None:
    """With the option that chooses."""
    names = [str(number) for number in range(installed_limits.COLLECTIONS_MAX + 1)]
    collections.bounded(names[1:])
    with pytest.raises(collections.TooManyCollectionsError, match="--collection") as refused:
        collections.bounded(names)
    assert refused.value.exit_code == 2


@pytest.mark.parametrize(
    "name",
    ["..", ".", "a/b", "ACME", "we ird", "a\x1b[31m", "a\x00b", "n" * 65, "[x]", ""],
    ids=ascii,
)
def test_a_name_that_no_collection_can_have_is_left_out_and_told(tmp_path: Path, name: str) -> None:
    """It would stand in every URI and answer, and no build with the hook gives it."""
    site = metadata_alone(tmp_path, "odd", f"good = odd\n{name} = odd")
    found = collections.survey([site])
    assert [row.name for row in found.declared] == ["good", collections.OWN.name]
    assert ["odd-1.dist-info" in note for note in found.notes()] == [True]


@pytest.mark.parametrize("name", ["x" * 100_000, "x\x1b[31m"], ids=["long", "escape"])
def test_a_distribution_whose_name_no_answer_can_carry_is_unreadable(
    tmp_path: Path, name: str
) -> None:
    """Its name would stand in the provenance of every answer."""
    made = Installation(site=tmp_path, name="odd", version="1")
    made.dist_info.mkdir()
    (made.dist_info / "METADATA").write_bytes(metadata_of(name, "1"))
    found = collections.survey([declare(made, "odd = odd")])
    assert (found.declared, len(found.unreadable)) == ((collections.OWN,), 1)


def _pipe(path: Path) -> None:
    path.unlink(missing_ok=True)
    os.mkfifo(path)


def _huge(path: Path) -> None:
    with path.open("ab") as file:
        file.truncate(format_limits.METADATA_MAX_BYTES + 1)


def _folder(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.mkdir()


@pytest.mark.parametrize("name", ["entry_points.txt", "METADATA"])
@pytest.mark.parametrize("break_file", [_pipe, _huge, _folder])
def test_metadata_that_cannot_be_read_takes_nothing_from_others(
    tmp_path: Path, name: str, break_file: Callable[[Path], None]
) -> None:
    """A pipe is not waited for, and a file of any size not read; the distribution is named."""
    site = metadata_alone(tmp_path, "odd", "odd = odd")
    break_file(tmp_path / "odd-1.dist-info" / name)
    metadata_alone(tmp_path, "good", "good = good")
    found = collections.survey([site])
    assert [row.name for row in found.declared] == ["good", collections.OWN.name]
    assert [name.endswith("odd-1.dist-info") for name in found.unreadable] == [True]

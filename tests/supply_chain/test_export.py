"""Verified copies of installed skills: what is written, and what prevents it."""

from __future__ import annotations

import json
import os
import resource
import stat
from typing import TYPE_CHECKING

import pytest

from skills_bundle.bundle import lock as locks
from skills_bundle.bundle.lock import UnlockedEntry
from skills_bundle.errors import (
    AlteredSkillsError,
    BundleUnavailableError,
    ExportTargetError,
    UnknownSkillError,
)
from skills_bundle.files import limits, writing
from skills_bundle.files.writing import Written
from skills_bundle.installed import location as installed
from skills_bundle.project import project
from skills_bundle.supply_chain.export import export
from tests import odd_files
from tests.installed_builder import SAMPLE, InstalledBuilder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.installed_builder import Installation

GUIDE = "alpha/references/guide.md"
DOCUMENTS = {"build-receipt.json", "catalog.lock.json"}


@pytest.fixture
def made(tmp_path: Path) -> Installation:
    """A valid installation."""
    return InstalledBuilder().install(tmp_path / "site")


@pytest.fixture
def target(tmp_path: Path) -> Path:
    """A place for an export, in a folder that holds nothing else."""
    (tmp_path / "out").mkdir()
    return tmp_path / "out" / "skills"


def _files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def _assert_nothing_stays(target: Path) -> None:
    assert list(target.parent.iterdir()) == []


def test_every_skill_is_copied_with_lock_and_receipt(made: Installation, target: Path) -> None:
    """One folder a skill, as in the installation, and the documents of the installation."""
    export(made.locate, target)
    whole = {f"{path}/{one}": data for path, files in SAMPLE.items() for one, data in files.items()}
    documents = {name: (made.bundle / name).read_bytes() for name in DOCUMENTS}
    assert _files(target) == whole | documents


def test_the_export_names_its_package(made: Installation, target: Path) -> None:
    """Digests as the installation has them."""
    found = export(made.locate, target)
    assert (found.lock, found.receipt, found.gaps) == ("installed", True, ())
    lock = made.lock.read_bytes()
    assert found.catalog_sha256 == found.installed_catalog_sha256 == locks.catalog_sha256(lock)
    assert found.dir_hash == json.loads(lock)["digests"]["dir_hash"]
    assert [(row.path, row.files) for row in found.skills] == [("alpha", 4), ("group/beta", 2)]


def test_executables_are_what_the_lock_calls_so(made: Installation, target: Path) -> None:
    """Whatever the modes of the installed files are."""
    for path in made.skills.rglob("*"):
        path.chmod(0o755 if path.is_dir() or path.suffix == ".md" else 0o600)
    export(made.locate, target)
    executable = {
        path.relative_to(target).as_posix()
        for path in target.rglob("*")
        if path.is_file() and path.stat().st_mode & 0o111
    }
    assert executable == {"alpha/scripts/run.py"}


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o755), (0o077, 0o700)])
def test_modes_heed_the_umask(made: Installation, target: Path, umask: int, mode: int) -> None:
    """A user whose files are private gets private copies."""
    before = os.umask(umask)
    try:
        export(made.locate, target)
    finally:
        os.umask(before)
    modes = {stat.S_IMODE((target / path).stat().st_mode) for path in ("", "alpha/scripts/run.py")}
    assert modes == {mode}


@pytest.mark.parametrize("key", ["beta", "group/beta"])
def test_a_skill_is_chosen_by_name_or_path(made: Installation, target: Path, key: str) -> None:
    """It keeps its path; the lock beside it is of its files alone, and there is no receipt."""
    found = export(made.locate, target, [key, key])
    lock = locks.parse((target / "catalog.lock.json").read_bytes())
    assert {*_files(target)} == {*lock.files(), "catalog.lock.json"}
    assert {*lock.files()} == {f"group/beta/{name}" for name in SAMPLE["group/beta"]}
    assert (found.lock, found.receipt) == ("recomputed", False)
    assert found.catalog_sha256 != found.installed_catalog_sha256


@pytest.mark.parametrize("keys", [[], ["alpha"]])
def test_what_was_exported_has_the_digests_of_its_lock(
    made: Installation, target: Path, keys: list[str]
) -> None:
    """Recomputed from the files, also those that git gives folders."""
    export(made.locate, target, keys)
    lock = locks.parse((target / "catalog.lock.json").read_bytes())
    skills = {
        path: {
            name.removeprefix(f"{path}/"): data
            for name, data in _files(target).items()
            if name.startswith(f"{path}/")
        }
        for path in (row.path for row in lock.skills)
    }
    again = InstalledBuilder(skills=skills).lock
    assert lock.digests == again.digests


VALID = {
    "alpha": {
        "SKILL.md": b"---\nname: alpha\ndescription: What alpha is for.\n---\n",
        "scripts/run.py": b"print()\n",
    },
    "beta": {"SKILL.md": b"---\nname: beta\ndescription: What beta is for.\n---\n"},
}


@pytest.mark.parametrize("keys", [[], ["alpha"]])
def test_an_export_is_a_folder_of_skills_whose_lock_is_current(
    tmp_path: Path, target: Path, keys: list[str]
) -> None:
    """`lock --check` with the collection's name agrees: what was locked came out again."""
    made = InstalledBuilder(skills=VALID).install(tmp_path / "site")
    found = export(made.locate, target, keys)
    again, _ = project.check_lock(project.load(target, collection="acme-skills"))
    assert locks.catalog_sha256(again.to_bytes()) == found.catalog_sha256
    assert again.digests.dir_hash == found.dir_hash


def test_a_lock_that_speaks_of_what_does_not_ship_is_made_anew(
    tmp_path: Path, target: Path
) -> None:
    """Of every skill, but without the files that git holds beside them."""
    stray = UnlockedEntry(path="README.md", mode="100644", oid="e" * 40)
    made = InstalledBuilder(unlocked=(stray,)).install(tmp_path / "site")
    found = export(made.locate, target)
    lock = locks.parse((target / "catalog.lock.json").read_bytes())
    assert (found.lock, found.receipt, lock.unlocked) == ("recomputed", False, ())


def test_an_empty_folder_is_filled(made: Installation, target: Path) -> None:
    """Whoever made it already may have meant just that."""
    target.mkdir()
    export(made.locate, target)
    assert (target / "alpha/SKILL.md").is_file()


def test_an_altered_skill_stops_the_export(made: Installation, target: Path) -> None:
    """With every altered file named, and nothing written."""
    (made.skills / GUIDE).write_bytes(b"Obey.\n")
    (made.skills / "group/beta/SKILL.md").unlink()
    with pytest.raises(AlteredSkillsError) as refused:
        export(made.locate, target)
    assert [row.path for row in refused.value.problems] == [GUIDE, "group/beta/SKILL.md"]
    _assert_nothing_stays(target)


def test_an_altered_skill_that_is_not_wanted_stops_nothing(
    made: Installation, target: Path
) -> None:
    """The others are what was locked; the gap says that something is amiss."""
    (made.skills / GUIDE).write_bytes(b"Obey.\n")
    assert export(made.locate, target, ["beta"]).gaps == ("altered_files",)


@pytest.mark.parametrize("kind", ["symlink_to_a_copy", "symlinked_parent", "fifo", "sparse"])
def test_what_became_something_else_is_not_copied(
    made: Installation, target: Path, kind: str
) -> None:
    """Links are not followed, and pipes not waited for."""
    odd_files.KINDS[kind][0](made.skills / GUIDE)
    with pytest.raises(AlteredSkillsError):
        export(made.locate, target)
    _assert_nothing_stays(target)


def test_extra_files_are_left_behind(made: Installation, target: Path) -> None:
    """A file that is not locked is not exported."""
    (made.skills / "alpha/more.md").write_bytes(b"Obey.\n")
    assert export(made.locate, target).gaps == ("extra_files",)
    assert not (target / "alpha/more.md").exists()


def test_without_a_receipt_the_skills_are_exported(made: Installation, target: Path) -> None:
    """The lock is what they are compared with."""
    made.receipt.unlink()
    found = export(made.locate, target)
    assert (found.lock, found.receipt, found.gaps[0]) == ("installed", False, "missing_receipt")
    assert not (target / "build-receipt.json").exists()


def test_without_a_lock_nothing_is_exported(made: Installation, target: Path) -> None:
    """There is nothing to compare with."""
    made.lock.unlink()
    with pytest.raises(BundleUnavailableError):
        export(made.locate, target)
    _assert_nothing_stays(target)


def test_a_source_checkout_cannot_be_exported(target: Path) -> None:
    """This one: its files are what they are now."""
    with pytest.raises(BundleUnavailableError) as refused:
        export(installed.locate, target)
    assert [row.code for row in refused.value.problems] == ["editable_install"]
    _assert_nothing_stays(target)


def test_every_unknown_skill_is_named(made: Installation, target: Path) -> None:
    """With what was probably meant."""
    with pytest.raises(UnknownSkillError) as refused:
        export(made.locate, target, ["alpah", "nothing-like-it", "beta"])
    rows = [(row.path, row.message) for row in refused.value.problems]
    assert rows == [
        ("alpah", "is not a skill of this collection; did you mean alpha?"),
        ("nothing-like-it", "is not a skill of this collection"),
    ]
    _assert_nothing_stays(target)


def test_a_name_that_several_skills_have_is_not_guessed(tmp_path: Path, target: Path) -> None:
    """Their paths are named instead."""
    files = SAMPLE["group/beta"]
    made = InstalledBuilder(skills={"one/beta": files, "two/beta": files}).install(
        tmp_path / "site"
    )
    with pytest.raises(UnknownSkillError) as refused:
        export(made.locate, target, ["beta"])
    assert "use a path: one/beta, two/beta" in str(refused.value)


def _entries(target: Path) -> None:
    target.mkdir()
    (target / "mine.md").write_bytes(b"mine")
    (target / ".hidden").write_bytes(b"mine")


def _file(target: Path) -> None:
    target.write_bytes(b"mine")


def _link(target: Path) -> None:
    target.symlink_to(target.parent.parent)


def _dangling(target: Path) -> None:
    target.symlink_to("nowhere")


@pytest.mark.parametrize(
    ("occupy", "problems"),
    [
        (_entries, [("target_not_empty", ".hidden"), ("target_not_empty", "mine.md")]),
        (_file, [("target_exists", "skills")]),
        (_link, [("target_is_link", "skills")]),
        (_dangling, [("target_is_link", "skills")]),
    ],
)
def test_what_lies_at_the_target_is_named_and_kept(
    made: Installation,
    target: Path,
    occupy: Callable[[Path], None],
    problems: list[tuple[str, str]],
) -> None:
    """Nothing is replaced, nothing is followed."""
    occupy(target)
    before = sorted(path.lstat() for path in target.parent.rglob("*"))
    with pytest.raises(ExportTargetError) as refused:
        export(made.locate, target)
    rows = [(row.code, str(row.path).rpartition("/")[2]) for row in refused.value.problems]
    assert rows == problems
    assert sorted(path.lstat() for path in target.parent.rglob("*")) == before


def test_a_full_folder_is_counted_and_not_listed(made: Installation, target: Path) -> None:
    """Ten names tell that it is the wrong folder."""
    target.mkdir()
    for number in range(limits.EXPORT_ENTRIES_SHOWN + 3):
        (target / str(number)).touch()
    with pytest.raises(ExportTargetError) as refused:
        export(made.locate, target)
    assert refused.value.problems[-1].message == "and 3 more"


def test_a_target_in_no_folder_is_an_error(made: Installation, tmp_path: Path) -> None:
    """Folders above are not made: a slip of the pen would leave them somewhere."""
    with pytest.raises(ExportTargetError):
        export(made.locate, tmp_path / "not" / "there")


def test_a_disk_that_takes_no_more_leaves_nothing(made: Installation, target: Path) -> None:
    """As when it is full: the error is the system's, and names the file."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (40, before[1]))
    try:
        with pytest.raises(OSError, match="too large") as caught:
            export(made.locate, target)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    _assert_nothing_stays(target)
    assert str(caught.value.filename).startswith(f"{target}/")


def _interrupted(write: Callable[[Written], None]) -> None:
    write(Written("alpha/SKILL.md", b"x"))
    raise KeyboardInterrupt


def test_an_interrupt_leaves_nothing(target: Path) -> None:
    """In the middle of writing."""
    with pytest.raises(KeyboardInterrupt):
        writing.make(target, _interrupted)
    _assert_nothing_stays(target)


def test_nothing_has_the_name_before_all_is_written(target: Path) -> None:
    """Until it is complete, or after the process was killed, no folder has that name."""
    seen: list[bool] = []

    def fill(write: Callable[[Written], None]) -> None:
        write(Written("one", b"1"))
        seen.append(target.exists())

    writing.make(target, fill)
    assert (seen, (target / "one").read_bytes()) == ([False], b"1")


def test_what_appears_at_the_target_meanwhile_is_kept(target: Path) -> None:
    """The last step replaces nothing either."""

    def fill(write: Callable[[Written], None]) -> None:
        write(Written("one", b"1"))
        _entries(target)

    with pytest.raises(ExportTargetError):
        writing.make(target, fill)
    assert [path.name for path in target.parent.iterdir()] == ["skills"]
    assert (target / "mine.md").read_bytes() == b"mine"


def test_what_a_disk_does_not_keep_is_noticed(target: Path) -> None:
    """Written files are read back and compared."""

    def fill(write: Callable[[Written], None]) -> None:
        write(Written("one", b"1"))
        (partial,) = target.parent.glob(".*.partial")
        (partial / "one").write_bytes(b"2")

    with pytest.raises(OSError, match="does not contain the bytes"):
        writing.make(target, fill)
    _assert_nothing_stays(target)


def test_a_link_that_appears_on_the_way_is_not_written_through(
    target: Path, tmp_path: Path
) -> None:
    """A file that is there already is never opened for writing."""
    victim = tmp_path / "victim"
    victim.write_bytes(b"mine")

    def fill(write: Callable[[Written], None]) -> None:
        (partial,) = target.parent.glob(".*.partial")
        (partial / "one").symlink_to(victim)
        write(Written("one", b"1"))

    with pytest.raises(FileExistsError):
        writing.make(target, fill)
    assert victim.read_bytes() == b"mine"


@pytest.mark.parametrize("place", [".agents/skills/copy", ".agents", "copy"])
def test_no_export_goes_into_the_installed_package(
    made: Installation, tmp_path: Path, place: str
) -> None:
    """Else the installation would not match its lock any more; a link leads there, too."""
    (tmp_path / "link").symlink_to((made.folder / place).parent)
    for target in (made.folder / place, tmp_path / "link" / place.rpartition("/")[2]):
        with pytest.raises(ExportTargetError):
            export(made.locate, target)
    assert made.verify().verdict == "match"


def test_a_folder_may_have_the_longest_name_that_a_disk_takes(
    made: Installation, target: Path
) -> None:
    """The hidden folder beside it is not longer."""
    long = target.with_name("n" * 255)
    export(made.locate, long)
    assert [path.name for path in target.parent.iterdir()] == [long.name]


@pytest.mark.parametrize("name", ["catalog.lock.json", "Build-Receipt.json"])
def test_a_skill_named_like_a_document_of_the_export_is_refused(
    tmp_path: Path, target: Path, name: str
) -> None:
    """Both cannot lie there; the others can still be exported."""
    made = InstalledBuilder(skills={name: SAMPLE["alpha"], **SAMPLE}).install(tmp_path / "site")
    with pytest.raises(ExportTargetError, match=f"{name}: has the same name"):
        export(made.locate, target)
    _assert_nothing_stays(target)
    export(made.locate, target, ["group/beta"])
    assert (target / "group/beta/SKILL.md").is_file()

"""What programs may use of us: names, paths and verified bytes of installed collections."""

from __future__ import annotations

import doctest
import runpy
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import skills_bundle
from skills_bundle import api
from skills_bundle.formats.digest import sha256_hex
from tests.installed_builder import SAMPLE, InstalledBuilder

if TYPE_CHECKING:
    from tests.installed_builder import Installation

ALPHA = SAMPLE["alpha"]

USER = Path(__file__).with_name("user_program.py")


@pytest.fixture
def acme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Installation:
    """Install somebody's collection where this process imports from; its code must not run."""
    made = InstalledBuilder(code={"__init__.py": b"raise RuntimeError\n"}).install(tmp_path)
    entry = f"[skills_bundle.collections]\nacme-skills = {made.package}\n"
    (made.dist_info / "entry_points.txt").write_text(entry, encoding="utf-8")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    return made


@pytest.mark.usefixtures("acme")
def test_a_collection_tells_whose_it_is() -> None:
    """Names and version are those of the installed distribution."""
    found = skills_bundle.collection("acme-skills")
    assert (found.name, found.package_name, found.version) == (
        "acme-skills",
        "acme-skills",
        "1.2.0",
    )
    assert repr(found) == "<Collection 'acme-skills' of acme-skills 1.2.0: 2 skills>"


@pytest.mark.usefixtures("acme")
def test_a_collections_provenance_is_what_a_server_would_answer() -> None:
    """Asserted, recorded and verified stay apart."""
    found = skills_bundle.collection("acme-skills").provenance
    assert found.source_provenance.status == "asserted"
    assert found.source_provenance.integrity == "verified"


@pytest.mark.usefixtures("acme")
def test_skills_carry_what_the_lock_says() -> None:
    """All of them, sorted by path, nested ones too."""
    alpha, beta = skills_bundle.collection("acme-skills").skills
    assert (alpha.name, alpha.description, alpha.tags) == ("alpha", "What alpha is for.", ())
    assert (beta.name, beta.path_in_collection) == ("beta", "group/beta")
    assert {path: file.sha256 for path, file in alpha.files.items()} == {
        path: sha256_hex(data) for path, data in ALPHA.items()
    }
    assert repr(beta) == "<Skill 'group/beta' of 'acme-skills': 2 files>"


@pytest.mark.usefixtures("acme")
def test_a_frontmatter_is_a_copy_of_the_callers() -> None:
    """What one caller does to it no other caller sees."""
    skill = skills_bundle.collection("acme-skills").skill("alpha")
    skill.frontmatter["name"] = "mine"
    assert skill.frontmatter["name"] == "alpha"


@pytest.mark.usefixtures("acme")
@pytest.mark.parametrize("name", ["beta", "group/beta"])
def test_a_skill_is_found_by_name_and_by_path(name: str) -> None:
    """As the tools find it."""
    assert skills_bundle.collection("acme-skills").skill(name).name == "beta"


@pytest.mark.usefixtures("acme")
def test_an_unknown_skill_names_the_one_that_was_meant() -> None:
    """A typo need not be looked for."""
    with pytest.raises(skills_bundle.UnknownSkillError, match=r"Did you mean 'alpha'\?"):
        skills_bundle.collection("acme-skills").skill("alhpa")


def test_an_unknown_collection_names_those_there_are() -> None:
    """And is told by the error of the command line."""
    with pytest.raises(skills_bundle.UnknownCollectionError, match="Installed: skills-bundle"):
        skills_bundle.collection("nobody")


@pytest.mark.usefixtures("acme")
@pytest.mark.parametrize("path", sorted(ALPHA))
def test_a_read_gives_the_locked_bytes(path: str) -> None:
    """Of every file, scripts too."""
    assert skills_bundle.collection("acme-skills").skill("alpha").read(path) == ALPHA[path]


def test_a_read_of_an_altered_file_gives_no_bytes(acme: Installation) -> None:
    """Also when it was altered after the collection was opened, and keeps its size."""
    skill = skills_bundle.collection("acme-skills").skill("alpha")
    altered = ALPHA["SKILL.md"].replace(b"First", b"Worst")
    (acme.skills / "alpha" / "SKILL.md").write_bytes(altered)
    with pytest.raises(skills_bundle.UnsafeFileError) as caught:
        skill.read()
    assert (caught.value.kind, caught.value.path) == ("changed", "alpha/SKILL.md")


def test_the_other_files_of_an_altered_skill_can_be_read(acme: Installation) -> None:
    """One bad file hides no other."""
    (acme.skills / "alpha" / "SKILL.md").unlink()
    skill = skills_bundle.collection("acme-skills").skill("alpha")
    assert skill.read("scripts/run.py") == ALPHA["scripts/run.py"]


def test_a_file_that_became_a_link_is_not_read(acme: Installation) -> None:
    """Whatever it points to, and be it the same bytes."""
    file = acme.skills / "alpha" / "SKILL.md"
    file.rename(acme.site / "elsewhere.md")
    file.symlink_to(acme.site / "elsewhere.md")
    with pytest.raises(skills_bundle.UnsafeFileError) as caught:
        skills_bundle.collection("acme-skills").skill("alpha").read()
    assert (caught.value.kind, caught.value.path) == ("linked", "alpha/SKILL.md")


@pytest.mark.usefixtures("acme")
@pytest.mark.parametrize("path", ["SKIL.md", "../group/beta/SKILL.md", "/etc/passwd", ""])
def test_only_files_of_the_skill_are_read(path: str) -> None:
    """A path is a key of `files`, and nothing is looked up on the disk."""
    with pytest.raises(skills_bundle.UnknownFileError):
        skills_bundle.collection("acme-skills").skill("alpha").read(path)


@pytest.mark.usefixtures("acme")
def test_text_is_utf_8_with_its_line_ends() -> None:
    """What `read_text` gives is the bytes, decoded."""
    skill = skills_bundle.collection("acme-skills").skill("alpha")
    assert skill.read_text() == ALPHA["SKILL.md"].decode()


def test_paths_are_those_on_disk(acme: Installation) -> None:
    """For programs that have to be given one."""
    found = skills_bundle.collection("acme-skills")
    assert found.path == acme.skills
    assert found.skill("beta").path == acme.skills / "group" / "beta"


def test_verification_looks_anew(acme: Installation) -> None:
    """A collection opened before a change is not believed after it."""
    found = skills_bundle.collection("acme-skills")
    assert found.verify().verdict == "match"
    (acme.skills / "alpha" / "SKILL.md").write_bytes(b"other")
    assert found.verify().verdict == "differs"


def test_a_package_without_a_lock_is_no_collection(acme: Installation) -> None:
    """The lock is the authority; without one there is nothing to compare with."""
    acme.lock.unlink()
    with pytest.raises(skills_bundle.BundleUnavailableError):
        skills_bundle.collection("acme-skills")


@pytest.mark.usefixtures("acme")
def test_installed_collections_are_listed_with_their_distributions() -> None:
    """Ours is one of them."""
    rows = {row.name: row.distribution for row in skills_bundle.collections()}
    assert rows == {"acme-skills": "acme-skills", "skills-bundle": "skills-bundle"}


@pytest.mark.usefixtures("acme")
def test_many_threads_read_one_collection() -> None:
    """Each gets whole, right files."""
    skill = skills_bundle.collection("acme-skills").skill("alpha")
    wrong: list[str] = []

    def read_all() -> None:
        for _ in range(20):
            wrong.extend(path for path in skill.files if skill.read(path) != ALPHA[path])

    threads = [threading.Thread(target=read_all) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_source_checkout_gives_its_skills_as_they_are() -> None:
    """Our own, run from source; nothing is verified then, and the provenance says so."""
    own = skills_bundle.collection("skills-bundle")
    assert own.skills[0].read().startswith(b"---\n")
    assert own.path.is_dir()


@pytest.mark.parametrize("name", skills_bundle.__all__)
def test_every_public_name_is_there(name: str) -> None:
    """Each is imported on demand, and is listed."""
    assert getattr(skills_bundle, name)
    assert name in dir(skills_bundle)


def test_a_name_that_is_not_public_is_missing() -> None:
    """As of any module."""
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        skills_bundle.nothing  # noqa: B018 - asking is the test


def test_importing_the_package_imports_nothing_else() -> None:
    """A program pays for what it asks for."""
    probe = "import sys, skills_bundle; print(*sorted(m for m in sys.modules if 'skills_b' in m))"
    ran = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True, check=True, encoding="utf-8"
    )
    assert ran.stdout.split() == ["skills_bundle", "skills_bundle._version"]


def test_a_program_of_a_user_does_what_its_types_say(acme: Installation) -> None:
    """The check of types holds the same program to the strict mode of pyright."""
    names = runpy.run_path(str(USER))
    assert (names["names"], names["folder"]) == (["alpha", "beta"], acme.skills / "alpha")
    assert names["sizes"](names["acme"].skill("alpha"))["SKILL.md"] == len(names["data"])


def test_the_examples_of_the_docstrings_run() -> None:
    """Every `>>>` of the module."""
    result = doctest.testmod(api, raise_on_error=True)
    assert result.attempted > 0

"""Skills served from a source checkout, as they are at the moment of asking."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from skills_bundle.catalog.service import Catalog
from skills_bundle.errors import BundleUnavailableError, ToolError, UnsafeFileError
from skills_bundle.formats.digest import sha256_hex
from skills_bundle.installed import location as installed
from skills_bundle.installed.bundle import SourceBundle
from tests import odd_files

if TYPE_CHECKING:
    from pathlib import Path

PYPROJECT = """
[project]
name = "acme-skills"
version = "1.0"
[tool.hatch.build.hooks.skills-bundle]
skills = "our skills"
exclude = ["drafts"]
"""


def _skill(project: Path, name: str, description: str = "Does it.") -> Path:
    folder = project / "our skills" / name
    folder.mkdir(parents=True, exist_ok=True)
    own = name.rsplit("/", 1)[-1]
    file = folder / "SKILL.md"
    text = f"---\nname: {own}\ndescription: {description}\n---\n\n# {own}\n"
    file.write_text(text, encoding="utf-8")
    return file


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with one skill, which its package runs from the source of."""
    package = tmp_path / "src/acme_skills"
    package.mkdir(parents=True)
    (package / "__init__.py").write_bytes(b"")
    (tmp_path / "pyproject.toml").write_text(PYPROJECT, encoding="utf-8")
    _skill(tmp_path, "alpha")
    return tmp_path


def _bundle(project: Path) -> SourceBundle:
    place = installed.locate(
        str(project / "src/acme_skills/__init__.py"),
        import_name="acme_skills",
        name="acme-skills",
        version="1.0",
    )
    assert place.project == project
    return SourceBundle(place, project)


def test_skills_are_served_with_the_gap(project: Path) -> None:
    """Nothing is claimed: no revision, no integrity, no receipt."""
    block = Catalog({"acme-skills": _bundle(project)}).read("alpha").provenance
    source = block.source_provenance
    assert block.gaps == ("editable_install",)
    assert (source.status, source.build_verification, source.integrity) == ("unavailable",) * 3
    assert (block.resolved_git_sha, source.receipt_sha256) == (None, None)
    assert (block.collection, block.package_version) == ("acme-skills", "1.0")


@pytest.mark.parametrize("name", ["pyproject.toml", "hatch.toml"])
def test_a_pipe_in_the_place_of_the_settings_makes_nobody_wait(project: Path, name: str) -> None:
    """They are read with every question, and an `open` that waits hears no signal."""
    bundle = _bundle(project)
    bundle.current()
    (project / name).touch()
    odd_files.fifo(project / name)
    with pytest.raises(BundleUnavailableError, match="cannot be read"):
        bundle.current()


def test_an_edit_is_served_at_once(project: Path) -> None:
    """That is what an editable installation is for."""
    catalog = Catalog({"acme-skills": _bundle(project)})
    before = catalog.read("alpha")
    _skill(project, "alpha", "Does it better.")
    after = catalog.read("alpha")
    assert "better" in after.content
    assert after.content_sha256 != before.content_sha256
    assert after.provenance.catalog_sha256 != before.provenance.catalog_sha256
    assert catalog.search("better").total == 1


def test_a_new_skill_is_found_at_once(project: Path) -> None:
    """Wherever it lies."""
    catalog = Catalog({"acme-skills": _bundle(project)})
    assert catalog.search().total == 1
    _skill(project, "group/beta")
    assert [row.path for row in catalog.search().skills] == ["alpha", "group/beta"]


def test_the_settings_are_those_of_the_project(project: Path) -> None:
    """Its folder, and what it leaves out."""
    _skill(project, "drafts/gamma")
    assert Catalog({"acme-skills": _bundle(project)}).search("gamma").total == 0


def test_a_refused_skill_is_counted_and_hides_no_other(project: Path) -> None:
    """It may be half written."""
    (project / "our skills/broken").mkdir()
    (project / "our skills/broken/SKILL.md").write_bytes(b"no frontmatter")
    catalog = Catalog({"acme-skills": _bundle(project)})
    assert catalog.search().total == 1
    assert "1 more skill cannot be read here." in catalog.overview().overview


def test_the_same_skills_give_the_same_view(project: Path) -> None:
    """Whatever is prepared for them can be kept."""
    bundle = _bundle(project)
    assert bundle.current() is bundle.current()


def test_a_file_edited_after_the_scan_is_not_read(project: Path) -> None:
    """The answer's digest would be about something else."""
    bundle = _bundle(project)
    bundle.current()
    _skill(project, "alpha", "Done it.")
    with pytest.raises(UnsafeFileError, match="changed"):
        bundle.read("alpha/SKILL.md")


def test_nothing_is_read_before_the_first_scan(project: Path) -> None:
    """There is nothing to compare with."""
    with pytest.raises(UnsafeFileError, match="missing"):
        _bundle(project).read("alpha/SKILL.md")


def test_the_committed_lock_gives_the_same_digest(project: Path) -> None:
    """While nothing is edited, the catalog is the one that would ship."""
    bundle = _bundle(project)
    first = bundle.current()
    (project / "catalog.lock.json").write_bytes(first.lock.to_bytes())
    assert bundle.current().provenance.catalog_sha256 == sha256_hex(first.lock.to_bytes())


def test_a_broken_committed_lock_does_not_matter(project: Path) -> None:
    """`lock --check` is where to learn of it."""
    (project / "catalog.lock.json").write_bytes(b"<<<<<<< ours\n")
    assert Catalog({"acme-skills": _bundle(project)}).search().total == 1


@pytest.mark.parametrize("name", ["our skills", "pyproject.toml"])
def test_without_skills_or_settings_nothing_can_be_served(project: Path, name: str) -> None:
    """And the operator is told why."""
    bundle = _bundle(project)
    odd_files.remove(project / name)
    with pytest.raises(BundleUnavailableError, match="source checkout"):
        bundle.current()
    with pytest.raises(ToolError) as refused:
        Catalog({"acme-skills": bundle}).search()
    assert refused.value.code == "catalog_unavailable"


def test_verification_cannot_tell(project: Path) -> None:
    """Exit 3, with the provenance that answers carry."""
    found = _bundle(project).verification()
    assert (found.exit_code, found.layout, found.gaps) == (3, "source", ("editable_install",))
    assert found.provenance is not None
    assert found.files == ()

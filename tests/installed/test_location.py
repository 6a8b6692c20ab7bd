"""Where the running package lies."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

import skills_bundle
from skills_bundle.errors import BundleUnavailableError
from skills_bundle.installed import location as installed
from tests import odd_files
from tests.installed_builder import Installation, InstalledBuilder


def _source(root: Path, package: str) -> Path:
    """Lay out a project that a package runs from; give the package's file."""
    file = root / package / "__init__.py"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"")
    (root / "pyproject.toml").write_bytes(b"")
    return file


def test_an_installed_package_is_found_with_its_metadata(tmp_path: Path) -> None:
    """Paths are relative to the folder that holds the package, as RECORD's are."""
    place = InstalledBuilder().install(tmp_path).locate()
    assert (place.site, place.package) == (tmp_path, "acme_skills")
    assert (place.name, place.version) == ("acme-skills", "1.2.0")
    assert place.lock_path == "acme_skills/.agents/catalog.lock.json"
    assert place.project is None
    assert not place.linked


def test_nothing_but_the_module_decides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another bundle in the working directory, the home folder or the path changes nothing."""
    made = InstalledBuilder().install(tmp_path / "site")
    decoy = InstalledBuilder(version="6.6.6").install(tmp_path / "decoy")
    before = made.locate()
    monkeypatch.chdir(decoy.site)
    monkeypatch.setenv("HOME", str(decoy.site))
    monkeypatch.setenv("PYTHONPATH", str(decoy.site))
    monkeypatch.setattr(sys, "path", [str(decoy.site), *sys.path])
    assert made.locate() == before


def test_a_linked_environment_is_resolved_once(tmp_path: Path) -> None:
    """A link above the package is somebody's way of naming the folder, not tampering."""
    InstalledBuilder().install(tmp_path / "real")
    (tmp_path / "alias").symlink_to("real")
    place = Installation(site=tmp_path / "alias").locate()
    assert place.site == tmp_path / "real"


def test_a_nested_package_is_relative_to_the_top(tmp_path: Path) -> None:
    """`acme.skills` lies two folders below what RECORD's paths are relative to."""
    file = tmp_path / "acme/skills/__init__.py"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"")
    place = installed.locate(str(file), import_name="acme.skills", name="acme", version="1")
    assert (place.site, place.package) == (tmp_path, "acme/skills")


def test_without_metadata_the_package_speaks_for_itself(tmp_path: Path) -> None:
    """A folder that was copied has the version its code names, and no RECORD."""
    made = InstalledBuilder().install(tmp_path)
    odd_files.remove(made.dist_info)
    place = made.locate()
    assert (place.name, place.version, place.distribution) == ("acme-skills", "0", None)


@pytest.mark.parametrize("package", ["src/acme_skills", "acme_skills"])
def test_a_source_checkout_is_recognised(tmp_path: Path, package: str) -> None:
    """`<project>/src/<package>` and `<project>/<package>`, with a pyproject.toml and no bundle."""
    file = _source(tmp_path, package)
    place = installed.locate(str(file), import_name="acme_skills", name="acme", version="1")
    assert place.project == tmp_path


def test_a_bundle_beside_the_source_is_what_counts(tmp_path: Path) -> None:
    """A package that carries a bundle is no source checkout, whatever lies around it."""
    made = InstalledBuilder().install(tmp_path)
    odd_files.remove(made.dist_info)
    (tmp_path / "pyproject.toml").write_bytes(b"")
    assert made.locate().project is None


def test_an_installed_package_without_a_bundle_is_no_source_checkout(tmp_path: Path) -> None:
    """A stray pyproject.toml in site-packages does not turn a wheel into a checkout."""
    made = InstalledBuilder().install(tmp_path)
    odd_files.remove(made.bundle)
    (tmp_path / "pyproject.toml").write_bytes(b"")
    assert made.locate().project is None


def test_an_installation_made_of_links_is_recognised(tmp_path: Path) -> None:
    """When the module itself and the lock are links, an installer made them."""
    made = InstalledBuilder().install(tmp_path)
    for path in (made.folder / "__init__.py", made.lock):
        odd_files.symlink_to_a_copy(path)
    assert made.locate().linked


@pytest.mark.parametrize("name", ["__init__.py", ".agents/catalog.lock.json"])
def test_one_link_is_not_an_installation_made_of_links(tmp_path: Path, name: str) -> None:
    """Somebody replaced one file; that is for the verification to say."""
    made = InstalledBuilder().install(tmp_path)
    odd_files.symlink_to_a_copy(made.folder / name)
    assert not made.locate().linked


def test_a_package_without_an_init_file_is_found(tmp_path: Path) -> None:
    """Only its folder counts."""
    made = InstalledBuilder().install(tmp_path)
    odd_files.remove(made.folder / "__init__.py")
    assert not made.locate().linked


@pytest.mark.parametrize("file", [None, "/archive.pyz/skills_bundle/__init__.py"])
def test_an_archive_is_refused_with_what_to_do(file: str | None) -> None:
    """Code can run from a zip file; skills cannot be read from one."""
    with pytest.raises(BundleUnavailableError, match="pip, pipx or uv") as caught:
        installed.locate(file)
    assert [problem.code for problem in caught.value.problems] == ["not_a_folder"]


def test_the_default_is_the_running_package() -> None:
    """Without arguments it is this package that is looked for."""
    place = installed.locate()
    assert place.site / place.package == Path(os.path.realpath(skills_bundle.__file__)).parent
    assert place.name == "skills-bundle"

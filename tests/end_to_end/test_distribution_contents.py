"""Wheel and sdist hold exactly what they should: nothing forgotten, nothing picked up."""

from __future__ import annotations

import subprocess
import tarfile
import tomllib
import zipfile
from typing import TYPE_CHECKING

from skills_bundle import __version__
from skills_bundle.bundle import lock, receipt

if TYPE_CHECKING:
    from pathlib import Path

    from tests.end_to_end.conftest import Dists

NAME = f"skills_bundle-{__version__}"
BUNDLE = "skills_bundle/.agents"
METADATA = {
    "METADATA",
    "RECORD",
    "WHEEL",
    "entry_points.txt",
    "licenses/LICENSE",
    "sboms/skills-bundle.cdx.json",
}
MADE = {"PKG-INFO", "build-receipt.json"}


def _tracked(clone: Path) -> set[str]:
    """Return every file of the commit."""
    listed = subprocess.run(
        ["git", "ls-tree", "-r", "-z", "--name-only", "HEAD"],
        cwd=clone,
        capture_output=True,
        check=True,
        encoding="utf-8",
    )
    return set(listed.stdout.split("\0")) - {""}


def _locked(clone: Path) -> set[str]:
    """Return every locked path below the skills folder."""
    return set(lock.parse((clone / "catalog.lock.json").read_bytes()).files())


def _in_wheel(dists: Dists) -> list[str]:
    with zipfile.ZipFile(dists.wheel) as archive:
        return archive.namelist()


def _in_sdist(dists: Dists) -> list[str]:
    with tarfile.open(dists.sdist) as archive:
        return [name.removeprefix(f"{NAME}/") for name in archive.getnames()]


def _carried(dists: Dists) -> receipt.BuildReceipt:
    with tarfile.open(dists.sdist) as archive:
        file = archive.extractfile(f"{NAME}/build-receipt.json")
        assert file is not None
        return receipt.parse(file.read())


def test_the_wheel_holds_code_bundle_and_metadata_and_nothing_else(
    dists: Dists, clone: Path
) -> None:
    """Every file of the package in the commit, every locked file, lock, receipt, metadata."""
    code = {
        name.removeprefix("src/")
        for name in _tracked(clone)
        if name.startswith("src/skills_bundle")
    }
    skills = {f"{BUNDLE}/skills/{path}" for path in _locked(clone)}
    documents = {f"{BUNDLE}/catalog.lock.json", f"{BUNDLE}/build-receipt.json"}
    metadata = {f"{NAME}.dist-info/{name}" for name in METADATA}
    assert sorted(_in_wheel(dists)) == sorted(code | skills | documents | metadata)


def test_the_sdist_holds_the_named_parts_of_the_commit_and_nothing_else(
    dists: Dists, clone: Path
) -> None:
    """Every file of the commit below what `only-include` names, `PKG-INFO` and the receipt."""
    pyproject = tomllib.loads((clone / "pyproject.toml").read_text(encoding="utf-8"))
    named = pyproject["tool"]["hatch"]["build"]["targets"]["sdist"]["only-include"]
    parts = {
        name
        for name in _tracked(clone)
        if any(name == each or name.startswith(f"{each}/") for each in named)
    }
    assert sorted(_in_sdist(dists)) == sorted(parts | MADE)


def test_every_tracked_skill_file_is_locked(clone: Path) -> None:
    """Nothing in the collection is left out of the lock, so nothing vanishes on the way."""
    tracked = {name for name in _tracked(clone) if name.startswith("skills/")}
    assert sorted(tracked) == sorted(f"skills/{path}" for path in _locked(clone))


def test_the_receipt_lists_exactly_the_files_of_the_sdist(dists: Dists) -> None:
    """What the receipt speaks for is what a patched sdist is compared with."""
    assert sorted(_carried(dists).inputs.files) == sorted(set(_in_sdist(dists)) - MADE)


def test_wheel_and_sdist_carry_one_receipt(dists: Dists) -> None:
    """The wheel was built from the sdist, without git, and relays its receipt byte for byte."""
    with zipfile.ZipFile(dists.wheel) as archive:
        relayed = archive.read(f"{BUNDLE}/build-receipt.json")
    assert relayed == _carried(dists).to_bytes()

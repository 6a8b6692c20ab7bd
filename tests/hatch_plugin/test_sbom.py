"""The bill of materials in a wheel that the hook made."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from skills_bundle.bundle import lock, sbom
from tests.hatch_plugin.sample import BUNDLE, SampleProject, receipt_of, unpacked, wheel_files

if TYPE_CHECKING:
    from pathlib import Path

PLACE = "acme_skills-1.0.dist-info/sboms/acme-skills.cdx.json"


def _bom(wheel: Path) -> dict[str, Any]:
    return json.loads(wheel_files(wheel)[PLACE])


def test_a_wheel_carries_one_where_pep_770_has_it(sample: SampleProject) -> None:
    """Listed in RECORD, and exactly what lock and receipt in the same wheel give."""
    wheel = sample.wheel()
    files = wheel_files(wheel)
    locked = lock.parse(files[f"{BUNDLE}/catalog.lock.json"])
    assert files[PLACE] == sbom.make(locked, receipt_of(wheel))
    assert PLACE.encode() in files["acme_skills-1.0.dist-info/RECORD"]


def test_its_time_is_the_commits(sample: SampleProject) -> None:
    """From the raw commit in the receipt, so that a build from the sdist has it too."""
    assert _bom(sample.wheel())["metadata"]["timestamp"] == "2026-01-02T03:04:05Z"


def test_a_wheel_from_the_sdist_has_the_same_one(sample: SampleProject, tmp_path: Path) -> None:
    """There is no git there; the relayed receipt has all of it."""
    inside = unpacked(sample.sdist(), tmp_path / "out")
    assert wheel_files(inside.wheel())[PLACE] == wheel_files(sample.wheel())[PLACE]


def test_without_a_proof_it_has_no_time(sample: SampleProject) -> None:
    """`proof = false` leaves the commit's date out of the wheel, here as well."""
    sample.configure("proof = false").committed()
    assert "timestamp" not in _bom(sample.wheel())["metadata"]


def test_a_project_that_wants_none_gets_none(sample: SampleProject) -> None:
    """`sbom = false`."""
    sample.configure("sbom = false").committed()
    assert [name for name in wheel_files(sample.wheel()) if "sboms" in name] == []


def _with_own(sample: SampleProject, path: str) -> SampleProject:
    packages = 'packages = ["src/acme_skills"]'
    sample.replace("pyproject.toml", packages, f'{packages}\nsbom-files = ["{path}"]')
    return sample.write(path, b"{}\n").committed()


def test_a_bill_of_the_projects_own_ships_beside_it(sample: SampleProject) -> None:
    """Hatchling puts those into the same folder."""
    files = wheel_files(_with_own(sample, "boms/more.cdx.json").wheel())
    assert {PLACE, "acme_skills-1.0.dist-info/sboms/more.cdx.json"} <= set(files)


def test_a_bill_of_the_same_name_is_never_replaced(
    sample: SampleProject, capsys: pytest.CaptureFixture[str]
) -> None:
    """The build ends and says what to do."""
    with pytest.raises(SystemExit):
        _with_own(sample, "acme-skills.cdx.json").wheel()
    assert "set sbom = false" in capsys.readouterr().err

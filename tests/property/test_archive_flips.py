"""Every single-bit flip of a built wheel and sdist is noticed: refused, or another verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from skills_bundle.archives.reading import read_sdist, read_wheel
from skills_bundle.errors import SkillsBundleError
from skills_bundle.supply_chain.archive.contents import contents_of
from skills_bundle.supply_chain.archive.verify import verify
from tests.hatch_plugin.sample import SampleProject

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> SampleProject:
    """Return a committed project."""
    return SampleProject.create(tmp_path_factory.mktemp("project"))


def _unnoticed(file: Path, position: int) -> list[int]:
    """Return the bits at one position of each byte whose flip leaves the verdict at `match`."""
    read = read_sdist if file.name.endswith(".gz") else read_wheel
    data = bytearray(file.read_bytes())
    found: list[int] = []
    for bit in range(position, len(data) * 8, 8):
        data[bit // 8] ^= 1 << bit % 8
        try:
            if verify(contents_of(read(bytes(data), file.name))).verdict == "match":
                found.append(bit)
        except SkillsBundleError:
            pass
        data[bit // 8] ^= 1 << bit % 8
    return found


@pytest.mark.parametrize("position", range(8))
def test_every_flipped_bit_of_a_wheel_is_noticed(project: SampleProject, position: int) -> None:
    """All of them, one at a time; modes and dates, which RECORD does not cover, included."""
    assert _unnoticed(project.wheel(), position) == []


@pytest.mark.parametrize("position", range(8))
def test_every_flipped_bit_of_an_sdist_is_noticed(project: SampleProject, position: int) -> None:
    """All of them, one at a time."""
    assert _unnoticed(project.sdist(), position) == []

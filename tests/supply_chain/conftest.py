"""Fixtures: a committed project and its archives, built once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.hatch_plugin.sample import SampleProject

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> SampleProject:
    """Give a project that nobody may change."""
    return SampleProject.create(tmp_path_factory.mktemp("sample") / "project")


@pytest.fixture(scope="session")
def sample_wheel(sample: SampleProject) -> Path:
    """Give its wheel."""
    return sample.wheel()


@pytest.fixture(scope="session")
def sample_sdist(sample: SampleProject) -> Path:
    """Give its sdist."""
    return sample.sdist()

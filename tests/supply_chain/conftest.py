"""Fixtures: a committed project and its archives, built once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.hatch_plugin.sample import SampleProject

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> SampleProject:
    """Return a project that no test changes."""
    return SampleProject.create(tmp_path_factory.mktemp("sample") / "project")


@pytest.fixture(scope="session")
def sample_wheel(sample: SampleProject) -> Path:
    """Return its wheel."""
    return sample.wheel()


@pytest.fixture(scope="session")
def sample_sdist(sample: SampleProject) -> Path:
    """Return its sdist."""
    return sample.sdist()

"""Fixtures of the build hook's tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.hatch_plugin.sample import SampleProject

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def sample(tmp_path: Path) -> SampleProject:
    """Return a project that builds; its folder is the repository's."""
    return SampleProject.create(tmp_path / "acme")

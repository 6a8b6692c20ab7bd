"""Record: limits of a project's settings, with their units and reasons."""

from __future__ import annotations

from typing import Final

from skills_bundle.formats.limits import MIB

# --- Settings -------------------------------------------------------------------------------------
PYPROJECT_MAX_BYTES: Final = 4 * MIB
"""Bytes of `pyproject.toml` or `hatch.toml`."""
SETTING_MAX_CHARACTERS: Final = 1024
"""Code points of one text in the hook's settings: they ship in the receipt."""
COLLECTION_MAX_CHARACTERS: Final = 64
"""Characters of a collection's name."""

"""Junk: by-products that are never locked, and what only looks like them."""

from __future__ import annotations

import pytest

from skills_bundle.files.paths import is_junk


@pytest.mark.parametrize(
    "path",
    [
        ".git",
        "a/.git/config",
        "__pycache__/x.pyc",
        "a/__pycache__",
        ".DS_Store",
        "a/.DS_Store",
        "Thumbs.db",
        ".SKILL.md.swp",
        ".x.swo",
        ".x.swa",
        "notes.md~",
        ".#notes.md",
        "#notes.md#",
        ".notes.md.kate-swp",
    ],
)
def test_by_products_of_tools_are_junk(path: str) -> None:
    """Wherever they lie."""
    assert is_junk(path)


@pytest.mark.parametrize(
    "path",
    [
        ".gitignore",
        ".gitattributes",
        ".github/x",
        "x.pyc",
        ".env",
        "thumbs.txt",
        "a.swp",
        ".swp",
        "#1.md",
        "C#",
        ".x.swz",
        "git",
        "DS_Store",
        "~a",
        "pycache",
    ],
)
def test_an_authors_files_are_not(path: str) -> None:
    """Dot-files least of all."""
    assert not is_junk(path)

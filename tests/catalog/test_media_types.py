"""Media types by ending."""

from __future__ import annotations

import pytest

from skills_bundle.catalog import media_types


@pytest.mark.parametrize(
    ("path", "media_type"),
    [
        ("SKILL.md", "text/markdown"),
        ("references/A.MD", "text/markdown"),
        ("scripts/run.py", "text/x-python"),
        ("data/x.tar.json", "application/json"),
        ("LICENSE", "text/plain"),
        (".md", "text/plain"),
        ("a.md/file", "text/plain"),
        ("x.unknown", "text/plain"),
        ("x.", "text/plain"),
    ],
)
def test_the_ending_of_the_name_decides(path: str, media_type: str) -> None:
    """In any letter case; whatever has none we know is plain text."""
    assert media_types.of(path) == media_type


def test_the_table_is_sorted_and_lower_case() -> None:
    """So that an ending is easy to find, and found."""
    assert list(media_types.BY_SUFFIX) == sorted(media_types.BY_SUFFIX)
    assert all(suffix == suffix.lower() for suffix in media_types.BY_SUFFIX)

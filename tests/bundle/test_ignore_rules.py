"""What one ignore file says of one path; git's own word on random ones is a property test."""

from __future__ import annotations

import pytest

from skills_bundle.git import ignore_rules


def says(lines: bytes, path: str, *, folder: bool = False, any_case: bool = False) -> bool | None:
    """Ask one file at the top about one path."""
    rules = ignore_rules.read(lines, any_case=any_case)
    return ignore_rules.verdict(rules[::-1], path, "", lambda: folder)


@pytest.mark.parametrize(
    ("lines", "path", "expected"),
    [
        (b"*.md", "a/b.md", True),
        (b"/*.md", "a/b.md", None),
        (b"*.md\n!b.md", "a/b.md", False),
        (b"\xef\xbb\xbfa", "a", True),
        (b"a\r\n", "a", True),
        (b"a  ", "a", True),
        (b"a\\ ", "a ", True),
        (b"#a", "#a", None),
        (b"\\#a", "#a", True),
        (b"a**/b", "ab", True),
        (b"a/**/b", "a/b", True),
        (b"a/**", "a", None),
        (b"[]a]", "]", True),
        (b"[!a]", "b", True),
        (b"[a-c]", "b", True),
        (b"[[:digit:]]", "7", True),
        (b"[[:no:]]", "7", None),
        (b"[a", "[a", None),
        (b"a\\", "a\\", None),
        (b"?", "\xc3\xa9", None),
        (b"??", "\xc3\xa9", True),
    ],
)
def test_a_pattern_means_what_gitignore_says(
    *, lines: bytes, path: str, expected: bool | None
) -> None:
    """Paths are bytes in Latin-1: a letter of two bytes needs two question marks."""
    assert says(lines, path) is expected


@pytest.mark.parametrize("folder", [True, False])
def test_a_slash_at_the_end_means_folders_only(*, folder: bool) -> None:
    """A file of that name is not ignored."""
    assert says(b"a/", "a", folder=folder) is (folder or None)


@pytest.mark.parametrize(
    ("lines", "expected"), [(b"Readme", True), (b"[R]eadme", None), (b"[Q-S]eadme", True)]
)
def test_case_counts_for_nothing_as_git_understands_it(
    *, lines: bytes, expected: bool | None
) -> None:
    """Where `core.ignoreCase` is set; a lone capital in brackets is git's own blind spot."""
    assert says(lines, "README", any_case=True) is expected

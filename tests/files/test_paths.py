"""Portable paths: what no system may mistake for something else."""

from __future__ import annotations

import pytest

from skills_bundle.files import paths


@pytest.mark.parametrize(
    "path",
    [
        "SKILL.md",
        "a/b/c.txt",
        ".hidden",
        "..a",
        "a..b",
        "小说拆条/SKILL.md",
        "café.md",
        "com",
        "com10",
        "console",
        "nul_",
        "a b",
        "x" * 255,
        "a/.gitignore",
        "👩‍💻.md",
        "aux-file",
        "#1",
        "a+b,c;d=e@f!",
    ],
)
def test_portable_paths_have_no_problem(path: str) -> None:
    """Also those that look odd."""
    assert paths.problems(path) == []


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("", "path_empty_component"),
        ("/a", "path_empty_component"),
        ("a/", "path_empty_component"),
        ("a//b", "path_empty_component"),
        (".", "path_dot_component"),
        ("a/../b", "path_dot_component"),
        ("./a", "path_dot_component"),
        ("a\\b", "path_backslash"),
        ("é\\b", "path_backslash"),
        ("C:/x", "path_reserved_character"),
        ("a?", "path_reserved_character"),
        ('"é"', "path_reserved_character"),
        ("a\x00b", "path_control_character"),
        ("a\nb", "path_control_character"),
        ("a\x7f", "path_control_character"),
        ("a\x85", "path_control_character"),
        ("a\u2028b", "path_control_character"),
        ("a\u202eb", "path_control_character"),
        ("cafe\u0301", "path_not_nfc"),
        ("a\udcffb", "path_not_utf8"),
        ("a.", "path_trailing_dot_or_space"),
        ("a ", "path_trailing_dot_or_space"),
        ("a./b", "path_trailing_dot_or_space"),
        ("...", "path_trailing_dot_or_space"),
        ("CON", "path_device_name"),
        ("nul.txt", "path_device_name"),
        ("a/Aux.tar.gz", "path_device_name"),
        ("com1", "path_device_name"),
        ("LPT¹", "path_device_name"),
        ("prn .x", "path_device_name"),
        ("x" * 256, "path_too_long"),
        ("é" * 128, "path_too_long"),
    ],
)
def test_a_path_with_one_fault_has_one_problem(path: str, code: str) -> None:
    """Named by its code."""
    assert [found for found, _ in paths.problems(path)] == [code]


def test_length_is_counted_in_utf_16_units_and_inclusive() -> None:
    """An emoji counts twice, as it does for Windows."""
    longest = "/".join(["😀" * 50] * 10) + "/" + "x" * 14
    assert len(longest.encode("utf-16-le")) // 2 == 1024
    assert paths.problems(longest) == []
    assert [code for code, _ in paths.problems(longest + "x")] == ["path_too_long"]


def test_depth_is_inclusive() -> None:
    """Twenty-four components."""
    assert paths.problems("/".join("x" * 24)) == []
    assert [code for code, _ in paths.problems("/".join("x" * 25))] == ["path_too_deep"]


def test_each_fault_is_told_once_and_all_of_them() -> None:
    """A path can be wrong in many ways."""
    found = [code for code, _ in paths.problems("a\\b/c\\d/nul/e. /..")]
    assert found == [
        "path_backslash",
        "path_device_name",
        "path_trailing_dot_or_space",
        "path_dot_component",
    ]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("A", "a"),
        ("straße", "STRASSE"),
        ("ﬁle", "FILE"),
        ("café", "cafe\u0301"),
        ("①", "1"),
        ("a/X", "a/x"),
        ("K", "\u212a"),
    ],
)
def test_names_that_some_system_takes_for_one_collide(one: str, other: str) -> None:
    """NFKC and case folding."""
    assert paths.collisions([other, one]) == [tuple(sorted([one, other], key=str.encode))]


def test_folders_collide_though_their_files_do_not() -> None:
    """On macOS the two would become one folder."""
    assert paths.collisions(["Docs/a", "docs/b"]) == [("Docs", "docs")]


def test_a_file_collides_with_a_folder() -> None:
    """Of the same name, in any spelling."""
    assert paths.collisions(["a", "A/b"]) == [("A", "a")]
    assert paths.collisions(["a", "a/b"]) == [("a", "a/b")]


def test_equal_names_in_other_folders_do_not_collide() -> None:
    """Nor do a path and itself."""
    assert paths.collisions(["a/x", "b/X", "a/x", "小说/a", "拆条/a"]) == []


def test_a_character_that_unfolds_to_a_slash_makes_no_folder() -> None:
    """℀ is a/c after NFKC; it is one component all the same."""
    assert paths.collisions(["a/c", "℀"]) == []


def test_three_spellings_are_told_against_the_first() -> None:
    """Not each against each."""
    assert paths.collisions(["ab", "aB", "AB"]) == [("AB", "aB"), ("AB", "ab")]


def test_parents_are_given_from_the_top() -> None:
    """Without the path itself."""
    assert (paths.parents("a/b/c"), paths.parents("a")) == (["a", "a/b"], [])

"""The fields of frontmatter by the specification, one fault each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from skills_bundle.skills import fields

if TYPE_CHECKING:
    from pydantic import JsonValue

VALID: dict[str, JsonValue] = {
    "name": "pdf-forms",
    "description": "Fill PDF forms.",
    "license": "MIT",
    "compatibility": "Needs Python.",
    "allowed-tools": "Read Bash(git:*)",
    "metadata": {"author": "Ada", "version": "1"},
}


def found(folder: str = "pdf-forms", **changed: JsonValue) -> list[tuple[str, str]]:
    """Give code and field of every problem after a change; None takes a field away."""
    value = {**VALID, **{key.replace("_", "-"): value for key, value in changed.items()}}
    value = {key: item for key, item in value.items() if item is not None}
    return [(code, key) for code, key, _ in fields.problems(value, folder)]


def test_the_valid_fields_have_no_problem() -> None:
    """From which every case below changes one."""
    assert found() == []


@pytest.mark.parametrize(
    ("name", "code"),
    [
        (None, "no_name"),
        ("", "no_name"),
        (12, "name_not_text"),
        (["x"], "name_not_text"),
        ("other", "name_mismatch"),
        (" pdf-forms", "name_mismatch"),
    ],
)
def test_names_that_refuse(name: JsonValue, code: str) -> None:
    """Missing, no text, or not the folder's."""
    assert found(name=name)[0] == (code, "name")


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("PDF", "name_form"),
        ("pdf_forms", "name_form"),
        ("-pdf", "name_form"),
        ("pdf-", "name_form"),
        ("pdf--forms", "name_form"),
        ("pdf forms", "name_form"),
        ("小说拆条", "name_not_ascii"),
        ("café", "name_not_ascii"),
        ("x" * 65, "name_too_long"),
    ],
)
def test_names_that_are_warned_about(name: str, code: str) -> None:
    """Each for one reason; the folder has the same name."""
    assert found(folder=name, name=name) == [(code, "name")]


@pytest.mark.parametrize("name", ["x" * 64, "a", "1", "a-b-c", "2fa"])
def test_names_that_are_fine(name: str) -> None:
    """The bound is inclusive."""
    assert found(folder=name, name=name) == []


def test_a_name_is_compared_with_its_folder_in_nfc() -> None:
    """An author may type the accent either way."""
    assert found(folder="café", name="cafe\u0301") == [("name_not_ascii", "name")]


@pytest.mark.parametrize(
    ("description", "code"),
    [
        (None, "no_description"),
        ("", "no_description"),
        (" \n", "no_description"),
        (["x"], "description_not_text"),
        ({"a": "b"}, "description_not_text"),
        (True, "description_not_text"),
        ("x" * 1025, "description_too_long"),
        ("x" * 20_000, "description_too_long"),
    ],
)
def test_descriptions_with_a_problem(description: JsonValue, code: str) -> None:
    """Missing, no text, or long."""
    assert found(description=description) == [(code, "description")]


def test_a_description_of_just_the_limit_is_fine() -> None:
    """1,024 characters, surrounding blanks not counted."""
    assert found(description=" " + "é" * 1024 + "\n") == []


@pytest.mark.parametrize("key", ["license", "compatibility", "allowed_tools", "metadata"])
def test_optional_fields_of_another_type_are_warned_about(key: str) -> None:
    """A list is neither text nor mapping."""
    changed: dict[str, JsonValue] = {key: ["x"]}
    assert found("pdf-forms", **changed) == [("field_type", key.replace("_", "-"))]


def test_metadata_values_that_are_no_text_are_warned_about() -> None:
    """The specification has text to text."""
    assert found(metadata={"version": 1.0, "a": "b"}) == [("field_type", "metadata")]


def test_compatibility_has_its_own_limit() -> None:
    """500 characters, inclusive."""
    assert found(compatibility="x" * 500) == []
    assert found(compatibility="x" * 501) == [("compatibility_too_long", "compatibility")]


def test_each_unknown_field_is_told() -> None:
    """In the author's order."""
    assert found(model="x", tags="a") == [("unknown_field", "model"), ("unknown_field", "tags")]


@pytest.mark.parametrize(
    ("value", "tags"),
    [
        ("a, b ,a", ("a", "b")),
        (["b", "a"], ("a", "b")),
        (["a, b"], ("a, b",)),
        ("", ()),
        (", ,", ()),
        (None, ()),
        (12, ()),
        ([1, True, None, "x"], ("1", "x")),
        ({"a": "b"}, ()),
        ("cafe\u0301, café", ("café",)),
        ("公众号, 초과근무", ("公众号", "초과근무")),
        ("b, B", ("B", "b")),
    ],
)
def test_tags_are_text_each_once_in_byte_order(value: JsonValue, tags: tuple[str, ...]) -> None:
    """From metadata and from the top level alike."""
    assert fields.tags({"metadata": {"tags": value}}) == tags
    assert fields.tags({"tags": value}) == tags


def test_tags_of_both_places_are_joined() -> None:
    """No tag is lost."""
    assert fields.tags({"tags": ["b"], "metadata": {"tags": "c, a"}}) == ("a", "b", "c")

"""The two renderings: the bytes people review, the bytes of the wire."""

from __future__ import annotations

import pytest

from skills_bundle.formats import rendering


def test_pretty_is_two_spaces_raw_unicode_and_a_final_newline() -> None:
    """Keys stay in the order given."""
    value: dict[str, object] = {"b": [1, {"é": None}], "a": {}}
    expected = '{\n  "b": [\n    1,\n    {\n      "é": null\n    }\n  ],\n  "a": {}\n}\n'
    assert rendering.pretty(value).decode() == expected  # type: ignore[arg-type]


def test_compact_has_no_white_space() -> None:
    """Nor an end of line."""
    assert rendering.compact({"a": [1, "ß"]}) == '{"a":[1,"ß"]}'.encode()


@pytest.mark.parametrize("render", [rendering.pretty, rendering.compact])
@pytest.mark.parametrize("value", [float("nan"), float("inf"), "\ud800"])
def test_what_is_not_json_is_not_rendered(render: object, value: object) -> None:
    """Rather an error here than a file nobody can read."""
    with pytest.raises(ValueError, match=r"JSON|surrogates"):
        render([value])  # type: ignore[operator]

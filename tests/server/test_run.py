"""What `mcp serve` decides before the first message."""

from __future__ import annotations

import pytest

from skills_bundle.server import tools


@pytest.mark.parametrize("text", ["catalog", "all", "catalog,all", " catalog , catalog "])
def test_toolsets_are_named_in_any_order_and_number(text: str) -> None:
    """The answer has each group once."""
    assert tools.parse_toolsets(text) == ("catalog",)


@pytest.mark.parametrize("text", ["nope", "catalog,nope", "Catalog", "", ",", "catalog;all"])
def test_an_unknown_toolset_is_a_usage_error(text: str) -> None:
    """Exit code 2, in exact letters."""
    with pytest.raises(tools.UnknownToolsetError) as caught:
        tools.parse_toolsets(text)
    assert caught.value.exit_code == 2


def test_every_unknown_toolset_is_named_with_the_known_ones() -> None:
    """One run is enough to mend it."""
    with pytest.raises(tools.UnknownToolsetError) as caught:
        tools.parse_toolsets("b,catalog,a")
    assert caught.value.summary == "Unknown toolset: a, b. Known: catalog, all."

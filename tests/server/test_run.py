"""What `mcp serve` decides before the first message."""

from __future__ import annotations

import pytest

from skills_bundle.server import run
from skills_bundle.server.tools import toolsets


@pytest.mark.parametrize("text", ["catalog", "all", "catalog,all", " catalog , catalog "])
def test_toolsets_are_named_in_any_order_and_number(text: str) -> None:
    """The answer has each group once."""
    assert run.parse_toolsets(text) == ("catalog",)


@pytest.mark.parametrize("text", ["nope", "catalog,nope", "Catalog", "", ",", "catalog;all"])
def test_an_unknown_toolset_is_a_usage_error(text: str) -> None:
    """Exit code 2, in exact letters."""
    with pytest.raises(run.UnknownToolsetError) as caught:
        run.parse_toolsets(text)
    assert caught.value.exit_code == 2


def test_every_unknown_toolset_is_named_with_the_known_ones() -> None:
    """One run is enough to mend it."""
    with pytest.raises(run.UnknownToolsetError) as caught:
        run.parse_toolsets("b,catalog,a")
    assert caught.value.summary == "Unknown toolset: a, b. Known: catalog, all."


def test_the_names_are_those_of_the_groups() -> None:
    """Names are known without importing the tools; they must not drift from them."""
    assert tuple(toolsets.GROUPS) == run.TOOLSETS

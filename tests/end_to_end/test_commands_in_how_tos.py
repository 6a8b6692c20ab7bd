"""Every command of the how-tos works as it stands; beside the other pages, as both take long."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.end_to_end.following import follow, to_follow

if TYPE_CHECKING:
    from pathlib import Path

    from tests.end_to_end.following import Places
    from tests.repository.pages import Page


@pytest.mark.parametrize("page", to_follow(how_to=True), ids=lambda page: page.name)
def test_a_reader_can_follow_the_page(page: Page, places: Places, tmp_path: Path) -> None:
    """Files are written, commands run and servers started in the page's order, without an index."""
    assert follow(page, places, tmp_path) >= 1

"""Which pages a reader can follow, what readers share, and how one follows a page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.end_to_end.reader import Reader, launch_commands
from tests.repository.pages import Block, Page, pages

if TYPE_CHECKING:
    from pathlib import Path

HOW_TOS = "docs/how-to/"
IN_A_CLONE = {
    "README.md",
    "build/README.md",
    "docs/contributing.md",
    "docs/explanation/reproducibility.md",
    "docs/how-to/release.md",
    "docs/reference/cli.md",
}


@dataclass(frozen=True, slots=True)
class Places:
    """What all readers share: every wheel there is, a clone, an interpreter, uv's cache."""

    wheelhouse: Path
    clone: Path
    python: Path
    cache: Path


def _acts(block: Block) -> bool:
    """Return whether there is something to run or start in a block."""
    if block.directive.startswith(("skip,", "elsewhere,")):
        return False
    return block.language == "console" or any(launch_commands(block))


def to_follow(*, how_to: bool) -> list[Page]:
    """Return the pages with something to run: the how-tos, or all others."""
    return [
        page
        for page in pages()
        if page.name.startswith(HOW_TOS) == how_to and any(_acts(block) for block in page.blocks())
    ]


def follow(page: Page, places: Places, room: Path) -> int:
    """Follow a page to the letter; give how many homes that took."""
    reader = Reader(
        room=room,
        python=places.python,
        wheelhouse=places.wheelhouse,
        cache=places.cache,
        clone=places.clone if page.name in IN_A_CLONE else None,
    )
    reader.follow(page)
    return reader.visit

"""Every command of the README and the documentation works as it stands; how-tos are next door."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.end_to_end.following import follow, to_follow
from tests.repository.pages import ROOT, pages

if TYPE_CHECKING:
    from pathlib import Path

    from tests.end_to_end.following import Places
    from tests.repository.pages import Page

SKIPPED: list[str] = []
"""Every command that nothing runs, as `page: command (reason)`. Empty, and meant to stay so."""


@pytest.mark.parametrize("page", to_follow(how_to=False), ids=lambda page: page.name)
def test_a_reader_can_follow_the_page(page: Page, places: Places, tmp_path: Path) -> None:
    """Files are written, commands run and servers started in the page's order, without an index."""
    assert follow(page, places, tmp_path) >= 1


def test_nothing_is_skipped_but_what_is_listed() -> None:
    """A command that nothing runs is a deliberate exception with a reason."""
    skipped = [
        f"{page.name}: {step.command} ({block.directive.removeprefix('skip, ')})"
        for page in pages()
        for block in page.blocks()
        if block.directive.startswith("skip,")
        for step in block.steps()
    ]
    assert skipped == SKIPPED


def test_what_runs_elsewhere_stands_there() -> None:
    """A page may point to the file that runs its command; then that file holds the command."""
    wrong = [
        f"{page.name}: {step.command}"
        for page in pages()
        for block in page.blocks()
        if block.directive.startswith("elsewhere,")
        for step in block.steps()
        if not _is_run_by(block.directive.removeprefix("elsewhere, "), page, step.command)
    ]
    assert wrong == []


def _is_run_by(file: str, page: Page, command: str) -> bool:
    """Return whether a file runs a command: it contains it, or names its page or mark.

    One that names a page follows all of it, as the reader here does.
    """
    text = (ROOT / file).read_text(encoding="utf-8")
    if file == ".ci/run":
        readme = next(page for page in pages() if page.name == "README.md")
        marked = [block for block in readme.blocks() if block.directive == f"elsewhere, {file}"]
        return "<!-- tests -->" in text and any(command in block.text for block in marked)
    return command in text or f'PAGE: Final = "{page.name}"' in text

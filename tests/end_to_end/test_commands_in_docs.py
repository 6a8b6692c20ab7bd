"""Every command of the README and the documentation works as it stands."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from tests.end_to_end.conftest import once, run
from tests.end_to_end.reader import Reader, launch_commands
from tests.repository.pages import ROOT, Block, Page, pages

if TYPE_CHECKING:
    from pathlib import Path

IN_A_CLONE = {
    "README.md",
    "build/README.md",
    "docs/contributing.md",
    "docs/explanation/reproducibility.md",
    "docs/how-to/release.md",
    "docs/reference/cli.md",
}
SKIPPED: list[str] = []
"""Every command that nothing runs, as `page: command (reason)`. Empty, and meant to stay so."""


def _acts(block: Block) -> bool:
    """Tell whether there is something to run or start in a block."""
    if block.directive.startswith(("skip,", "elsewhere,")):
        return False
    return block.language == "console" or any(launch_commands(block))


def _to_follow() -> list[Page]:
    return [page for page in pages() if any(_acts(block) for block in page.blocks())]


@dataclass(frozen=True, slots=True)
class Places:
    """What all readers share: every wheel there is, a clone, an interpreter, uv's cache."""

    wheelhouse: Path
    clone: Path
    python: Path
    cache: Path


@pytest.fixture(scope="session")
def places(wheelhouse: Path, clone: Path, tmp_path_factory: pytest.TempPathFactory) -> Places:
    """Give readers an interpreter of their own, and one cache for all of them."""

    def make(folder: Path) -> None:
        run(sys.executable, "-m", "venv", folder / "python")

    folder = once(tmp_path_factory, "readers", make)
    return Places(wheelhouse, clone, folder / "python" / "bin" / "python3", folder / "cache")


@pytest.mark.parametrize("page", _to_follow(), ids=lambda page: page.name)
def test_a_reader_can_follow_the_page(page: Page, places: Places, tmp_path: Path) -> None:
    """Files are written, commands run and servers started in the page's order, without an index."""
    reader = Reader(
        room=tmp_path,
        python=places.python,
        wheelhouse=places.wheelhouse,
        cache=places.cache,
        clone=places.clone if page.name in IN_A_CLONE else None,
    )
    reader.follow(page)
    assert reader.visit >= 1


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
    """Tell whether a file runs a command: it holds it, or names the page or mark it takes it from.

    One that names a page follows all of it, as the reader here does.
    """
    text = (ROOT / file).read_text(encoding="utf-8")
    if file == ".ci/run":
        readme = next(page for page in pages() if page.name == "README.md")
        marked = [block for block in readme.blocks() if block.directive == f"elsewhere, {file}"]
        return "<!-- tests -->" in text and any(command in block.text for block in marked)
    return command in text or f'PAGE: Final = "{page.name}"' in text

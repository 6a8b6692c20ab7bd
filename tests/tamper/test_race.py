"""Somebody swaps a file while it is read: no altered byte is served, and then all is well again."""

from __future__ import annotations

import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING

import pytest

from skills_bundle.errors import ToolError
from tests.installed_builder import SAMPLE, InstalledBuilder
from tests.tamper.swapper import Swapper

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from contextlib import AbstractContextManager

    from skills_bundle.catalog.service import Catalog
    from tests.installed_builder import Installation

pytestmark = pytest.mark.slow

READS = 500
"""However long they take; each one is a chance for the swapper."""
GUIDE = "references/guide.md"
LONG = b"# Guide\n" + b"Read me, and only me. " * 20_000
ROOT = Path(__file__).parents[2]


@contextmanager
def by_a_thread(file: Path, aside: Path) -> Generator[None]:
    """Swap in a thread of this process."""
    swapper, stop = Swapper(file, aside), Event()
    thread = Thread(target=swapper.run, args=(stop.is_set,))
    thread.start()
    yield
    stop.set()
    thread.join()
    assert swapper.swaps > 0


@contextmanager
def by_a_process(file: Path, aside: Path) -> Generator[None]:
    """Swap in a process of its own, which no lock of the interpreter holds back."""
    stop = aside / "stop"
    command = [sys.executable, "-m", "tests.tamper.swapper", file, stop]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as process:
        yield
        stop.touch()
        assert process.stdout is not None
        assert int(process.stdout.read()) > 0
    assert process.returncode == 0


@pytest.fixture
def made(tmp_path: Path) -> Installation:
    """An installation with a file that takes several steps to write and to read."""
    skills = {**SAMPLE, "alpha": {**SAMPLE["alpha"], GUIDE: LONG}}
    return InstalledBuilder(skills=skills).install(tmp_path / "site")


def _read(catalog: Catalog, resource: str) -> bytes | None:
    try:
        return catalog.read("alpha", resource).content.encode()
    except ToolError as error:
        assert error.code == "resource_unavailable"  # noqa: PT017 -- a refusal is one of two ends
        return None


@pytest.mark.parametrize("swapping", [by_a_thread, by_a_process])
def test_no_altered_byte_is_served_while_files_are_swapped(
    made: Installation,
    tmp_path: Path,
    swapping: Callable[[Path, Path], AbstractContextManager[None]],
) -> None:
    """Every read gives the locked bytes or a refusal; what nobody touches is served each time."""
    catalog = made.catalog()
    whole = _read(catalog, GUIDE)
    assert whole is not None
    assert LONG.startswith(whole)
    aside = tmp_path / "aside"
    aside.mkdir()
    served: set[bytes | None] = set()
    with swapping(made.skills / "alpha" / GUIDE, aside):
        for _ in range(READS):
            served.add(_read(catalog, GUIDE))
            assert _read(catalog, "SKILL.md") == SAMPLE["alpha"]["SKILL.md"]
    assert served <= {whole, None}
    assert _read(catalog, GUIDE) == whole
    assert catalog.search().provenance.gaps == ()

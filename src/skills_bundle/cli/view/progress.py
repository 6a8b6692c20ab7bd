"""Edge: a word of progress on a terminal, for work that takes longer than people like to wait."""

from __future__ import annotations

from contextlib import contextmanager
from threading import Timer
from typing import TYPE_CHECKING, Final

from rich.console import Console
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Generator

    from skills_bundle.cli.output import Output

PATIENCE_SECONDS: Final = 1.0
"""Work that is done sooner says nothing."""


@contextmanager
def patience(output: Output, doing: str) -> Generator[None]:
    """Say on standard error what is being done, once it takes too long; only on a terminal."""
    if not output.error_terminal.interactive:
        yield
        return
    console = Console(stderr=True, no_color=not output.error_terminal.colour, highlight=False)
    status = console.status(Text(doing), spinner="line")
    timer = Timer(PATIENCE_SECONDS, status.start)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()  # it may be starting the status right now
        status.stop()

"""Progress: on a terminal, for work that takes long, and nowhere else."""

from __future__ import annotations

import io
import sys
from threading import Event
from typing import TYPE_CHECKING

from skills_bundle.cli.output import Output
from skills_bundle.cli.view import pretty

if TYPE_CHECKING:
    import pytest


class _Screen(io.StringIO):
    """A terminal that says when something was drawn on it."""

    def __init__(self) -> None:
        super().__init__()
        self.drawn = Event()

    def isatty(self) -> bool:
        """Return True."""
        return True

    def write(self, text: str) -> int:
        """Draw."""
        written = super().write(text)
        if "Reading" in text:
            self.drawn.set()
        return written


def _screen(monkeypatch: pytest.MonkeyPatch, *, patience: float) -> _Screen:
    """Return a terminal that is this process's standard error, and set how long work may be silent.

    Not a fixture: between a fixture and its test pytest puts its own standard error back.
    """
    screen = _Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(pretty, "PROGRESS_AFTER_SECONDS", patience)
    return screen


def test_long_work_says_what_it_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once patience is used up, the terminal shows it."""
    screen = _screen(monkeypatch, patience=0.0)
    with pretty.progress(Output(None, screen, {}), "Reading"):
        assert screen.drawn.wait(timeout=30)


def test_short_work_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Work that ends before patience does leaves the terminal alone."""
    screen = _screen(monkeypatch, patience=3600.0)
    with pretty.progress(Output(None, screen, {}), "Reading"):
        pass
    assert screen.getvalue() == ""


def test_a_pipe_is_never_drawn_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Logs hold no spinners."""
    screen = _screen(monkeypatch, patience=0.0)
    with pretty.progress(Output(None, io.StringIO(), {}), "Reading"):
        drawn = screen.drawn.wait(timeout=0.1)
    assert not drawn

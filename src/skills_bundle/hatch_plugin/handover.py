"""Edge: hatchling's last step, putting an archive in its place, done with the finished bytes.

hatchling moves its archive to where archives go and calls `finalize` after that. A build that is
killed between the two leaves an archive without bundle and receipt, under the name of a good one.
So the move is taken over: what arrives is the finished archive, at once, or nothing.

hatchling has no hook for this; the function that it moves files with is replaced until it is
called. A build that fails before it moves anything leaves the claim behind, so a claim is good for
one builder alone. Where a hatchling has no such function, or another hook has a say after the move,
it stays with `finalize`.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from skills_bundle.files.writing import replace_file

if TYPE_CHECKING:
    from collections.abc import Callable

MOVE: Final = "replace_file"
"""What hatchling's builders of wheels and of sdists call the function they move archives with."""


@dataclass(frozen=True, slots=True)
class Handover:
    """Stands where hatchling's function was.

    Attributes:
        module: The builder's.
        original: hatchling's function.
        builder: Whose move is taken over; that of another one is none of ours.
        finish: Gives the finished archive for the one that hatchling wrote.
    """

    module: Any
    original: Callable[[str, str], None]
    builder: object
    finish: Callable[[bytes], bytes]

    def __call__(self, source: str, destination: str) -> None:
        """Put the finished archive in its place; called once, by hatchling."""
        self.give_back()
        frame = inspect.currentframe()
        caller = None if frame is None or frame.f_back is None else frame.f_back.f_locals
        if caller is None or caller.get("self") is not self.builder:
            self.original(source, destination)
            return
        try:
            replace_file(Path(destination), self.finish(Path(source).read_bytes()))
        finally:
            Path(source).unlink(missing_ok=True)

    def give_back(self) -> None:
        """Let hatchling have its function again."""
        setattr(self.module, MOVE, self.original)


def take_over(target: str, builder: object, finish: Callable[[bytes], bytes]) -> None:
    """Take over the next move of an archive.

    Args:
        target: `wheel` or `sdist`.
        builder: Whose; hatchling moves an archive in one of its methods.
        finish: Gives the finished archive for the one that hatchling wrote; whatever it raises
            ends the build, and nothing is put in place.
    """
    module = import_module(f"hatchling.builders.{target}")
    current = getattr(module, MOVE, None)
    if isinstance(current, Handover):  # of a build that ended before it moved anything
        current = current.original
    if current is not None:
        setattr(module, MOVE, Handover(module, current, builder, finish))

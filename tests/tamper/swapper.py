"""Swaps a locked file for a hostile one and back, in every way, as fast as it can.

Runs as a thread of a test, or as a process: `python -m tests.tamper.swapper FILE STOP`.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class Swapper:
    """Swaps one file.

    Args:
        file: The file; what it holds now is what it holds again in the end.
        aside: A folder on the same file system, for what waits its turn.
    """

    def __init__(self, file: Path, aside: Path) -> None:
        """Keep the good bytes and make bad ones of the same size, with the same times."""
        self.good = file.read_bytes()
        self.evil = self.good.swapcase()
        assert self.evil != self.good
        self._file = file
        self._aside = aside
        self._facts = file.stat()
        self._bad = self._made("bad.md", self.evil)
        self._folder = aside / "folder"
        shutil.copytree(file.parent, self._folder)
        self._write(self._folder / file.name, self.evil)
        self.swaps = 0

    def _made(self, name: str, data: bytes) -> Path:
        path = self._aside / name
        self._write(path, data)
        return path

    def _write(self, path: Path, data: bytes) -> None:
        path.write_bytes(data)
        os.utime(path, ns=(self._facts.st_atime_ns, self._facts.st_mtime_ns))

    def run(self, stopped: Callable[[], bool]) -> None:
        """Swap until told to stop, then leave everything as it was."""
        ways = (self._renamed, self._in_place, self._linked, self._parent, self._grown)
        while not stopped():
            ways[self.swaps % len(ways)]()
            self.swaps += 1

    def _put_back(self) -> None:
        self._made("good.md", self.good).replace(self._file)

    def _renamed(self) -> None:
        self._made("next.md", self.evil).replace(self._file)
        self._put_back()

    def _in_place(self) -> None:
        self._write(self._file, self.evil)
        self._write(self._file, self.good)

    def _linked(self) -> None:
        link = self._aside / "link.md"
        link.symlink_to(self._bad)
        link.replace(self._file)
        self._put_back()

    def _parent(self) -> None:
        here, kept = self._file.parent, self._aside / "kept"
        here.rename(kept)
        self._folder.rename(here)
        here.rename(self._folder)
        kept.rename(here)

    def _grown(self) -> None:
        with self._file.open("ab") as file:
            file.write(self.evil)
        os.truncate(self._file, len(self.good))


def main(file: str, stop: str) -> None:
    """Swap until there is a file of a given name, and then say how often."""
    stopper = Path(stop)
    swapper = Swapper(Path(file), stopper.parent)
    swapper.run(stopper.exists)
    sys.stdout.write(f"{swapper.swaps}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])

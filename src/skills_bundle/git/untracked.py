"""Edge: the files of a folder that git neither tracks nor ignores.

libgit2 lists them too, but by its own reading of the ignore rules, which is not git's.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from skills_bundle.files.names import from_disk, to_disk

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator
    from pathlib import Path


def untracked(
    top: Path,
    folder: str,
    tracked: tuple[Container[str], Container[str]],
    ignored: Callable[[str], bool],
) -> Iterator[str]:
    """Give them, relative to the work tree's top; a repository of its own as one path.

    Args:
        top: The work tree.
        folder: Where to look, relative to it; empty for all of it.
        tracked: The paths of the index, submodules among them; and the folders above them.
        ignored: Tells whether git ignores a path.

    Raises:
        OSError: If a folder cannot be listed.
    """
    files, folders = tracked
    for entry in sorted(os.scandir(top / to_disk(folder)), key=lambda entry: entry.name):
        path = f"{folder}/{from_disk(entry.name)}" if folder else from_disk(entry.name)
        if entry.name == ".git" or path in files or ignored(path):
            continue
        if not entry.is_dir(follow_symlinks=False) or (
            path not in folders and os.path.lexists(f"{entry.path}/.git")
        ):
            yield path
        else:
            yield from untracked(top, path, tracked, ignored)

"""Edge: where a repository's `.git` lies, found without opening it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def repository_folder(project: Path) -> Path | None:
    """Give the nearest folder that holds a `.git`, the project's own or one above it."""
    project = project.resolve()
    folders = (project, *project.parents)
    return next((folder for folder in folders if is_repository(folder / ".git")), None)


def is_repository(place: Path) -> bool:
    """Tell whether a `.git` is more than nothing and an empty folder, as git sees it too."""
    try:
        return any(place.iterdir())
    except NotADirectoryError:
        return True
    except OSError:
        return os.path.lexists(place)


def is_of(folder: Path | None, found: Path) -> bool:
    """Tell whether a repository is the one of a folder's `.git`, and not one further up."""
    own = None if folder is None else folder / ".git"
    return own is None or not own.is_dir() or own.resolve() == found.resolve()

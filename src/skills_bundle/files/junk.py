"""Decision: what is never locked, wherever it lies: by-products of tools, never an author's work.

The list is short and published on purpose. Everything else in a skill is locked, dot-files too.
"""

from __future__ import annotations

import re
from fnmatch import translate
from typing import Final

JUNK: Final[tuple[tuple[str, str], ...]] = (
    (".git", "git's own folder, or a worktree's pointer to it"),
    ("__pycache__", "Python bytecode"),
    (".DS_Store", "macOS Finder"),
    ("Thumbs.db", "Windows Explorer"),
    (".*.sw[a-p]", "Vim swap files"),
    ("*~", "editors' backups"),
    (".#*", "Emacs locks"),
    ("#*#", "Emacs auto-saves"),
    (".*.kate-swp", "Kate swap files"),
)
"""Shell patterns of one component of a path, case counts; and whose by-product it is."""

_PATTERN: Final = re.compile("|".join(translate(pattern) for pattern, _ in JUNK), re.DOTALL)


def is_junk(path: str) -> bool:
    """Tell whether a path, or a folder on the way to it, is junk.

    Args:
        path: Relative, `/` between components.
    """
    return any(_PATTERN.match(component) for component in path.split("/"))

"""Decision: which paths are one on some system, and which characters none should hold."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

BIDI_CONTROLS: Final = frozenset(
    "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
)
"""Characters that reorder what a reviewer sees (Unicode TR 36)."""


def is_control(character: str) -> bool:
    """Tell whether a character has no look of its own, or reorders what a reviewer sees."""
    return unicodedata.category(character) in {"Cc", "Zl", "Zp"} or character in BIDI_CONTROLS


def fold(component: str) -> str:
    """Give the form under which two names of one folder count as the same: NFKC and casefold."""
    if component.isascii():
        return component.lower()
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", component).casefold())


def collisions(paths: Iterable[str]) -> list[tuple[str, str]]:
    """Give every two paths that are one on some system: files or folders, each pair once.

    Compared component by component, since NFKC can turn one character into text with a slash.
    A file that is also a folder of another path collides with it.

    Args:
        paths: Files, relative, `/` between components; a path that comes twice counts once.
    """
    files = set(paths)
    spelled: dict[tuple[int, str], tuple[int, str]] = {}
    found: set[tuple[str, str]] = set()
    for path in sorted(files, key=_bytes):
        folder = 0  # its number stands for all that is above: a key of fixed size
        for prefix in [*parents(path), path]:
            key = (folder, fold(prefix.rsplit("/", 1)[-1]))
            folder, first = spelled.setdefault(key, (len(spelled) + 1, prefix))
            if first != prefix:
                found.add((first, prefix))
            if prefix != path and prefix in files:
                found.add((prefix, path))
    return sorted(found)


def _bytes(path: str) -> bytes:
    return path.encode("utf-8", "surrogatepass")


def parents(path: str) -> list[str]:
    """Give the folders above a path, outermost first: `a/b/c` gives `a`, `a/b`."""
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts))]

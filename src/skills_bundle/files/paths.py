"""Decision: which paths can be locked, which two are one on some system, and how names are decoded.

A path that is fine here and impossible there (a device name, a trailing dot, two names that differ
in case) gives a wheel that installs on one machine and not on the next, or installs other bytes
than were locked. By-products of tools are never locked, wherever they lie; that list is short and
published on purpose. Everything else in a skill is locked, dot-files too.

File names are bytes on disk, and always UTF-8 here. Python decodes them by the locale's encoding:
with `LC_ALL=C` the same file would have another name, and a lock of it other bytes.
"""

from __future__ import annotations

import os
import re
import unicodedata
from fnmatch import translate
from typing import TYPE_CHECKING, Final

from skills_bundle.files import limits

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

DEVICE_NAMES: Final = frozenset(
    ["con", "prn", "aux", "nul", "conin$", "conout$", "clock$"]
    + [f"{port}{digit}" for port in ("com", "lpt") for digit in "0123456789¹²³"]
)
"""Names that Windows gives to devices, with any extension (Microsoft, Naming Files)."""

RESERVED: Final = frozenset('<>:"|?*')
"""Characters no Windows file name can hold; a colon would name an alternate data stream."""


def problems(path: str) -> list[tuple[str, str]]:
    """Return everything that keeps a path out of a lock, as (code, sentence without the path).

    Args:
        path: Relative, `/` between components.
    """
    found = list(_length_problems(path))
    seen: set[str] = set()
    for component in path.split("/"):
        for code, message in _component_problems(component):
            if code not in seen:
                seen.add(code)
                found.append((code, message))
    return found


def _length_problems(path: str) -> Iterator[tuple[str, str]]:
    units = len(path) + sum(character > "\uffff" for character in path)
    if units > limits.PATH_MAX_CHARACTERS:
        yield "path_too_long", f"is longer than {limits.PATH_MAX_CHARACTERS} characters"
    if path.count("/") >= limits.PATH_MAX_COMPONENTS:
        yield "path_too_deep", f"has more than {limits.PATH_MAX_COMPONENTS} components"


def _component_problems(component: str) -> Iterator[tuple[str, str]]:
    if not component:
        yield "path_empty_component", "has an empty component"
        return
    if component in {".", ".."}:
        yield "path_dot_component", f"has the component {component!r}"
        return
    yield from _character_problems(component)
    if component[-1] in ". ":
        yield "path_trailing_dot_or_space", "has a component that ends in a dot or a space"
    if component.split(".", 1)[0].rstrip(" ").lower() in DEVICE_NAMES:
        yield "path_device_name", f"has the component {component!r}, a device on Windows"
    size = len(component.encode("utf-8", "surrogatepass"))
    if size > limits.PATH_COMPONENT_MAX_BYTES:
        limit = limits.PATH_COMPONENT_MAX_BYTES
        yield "path_too_long", f"has a component of more than {limit} bytes"


def _character_problems(component: str) -> Iterator[tuple[str, str]]:
    if component.isascii() and component.isprintable() and not RESERVED.intersection(component):
        if "\\" in component:
            yield "path_backslash", "contains a backslash"
        return
    if "\\" in component:
        yield "path_backslash", "contains a backslash"
    if reserved := sorted(RESERVED.intersection(component)):
        yield (
            "path_reserved_character",
            f"contains {' '.join(reserved)}, which Windows does not allow",
        )
    if any("\ud800" <= character <= "\udfff" for character in component):
        yield "path_not_utf8", "is not UTF-8"
    if any(is_control(character) for character in component):
        yield "path_control_character", "contains a control character"
    if not unicodedata.is_normalized("NFC", component):
        yield "path_not_nfc", "is not in Unicode normal form NFC; rename it"


BIDI_CONTROLS: Final = frozenset(
    "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
)
"""Characters that reorder what a reviewer sees (Unicode TR 36)."""


def is_control(character: str) -> bool:
    """Return whether a character has no look of its own, or reorders what a reviewer sees."""
    return unicodedata.category(character) in {"Cc", "Zl", "Zp"} or character in BIDI_CONTROLS


def fold(component: str) -> str:
    """Return the form under which two names of one folder count as the same: NFKC and casefold."""
    if component.isascii():
        return component.lower()
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", component).casefold())


def collisions(paths: Iterable[str]) -> list[tuple[str, str]]:
    """Return every two paths that are one on some system: files or folders, each pair once.

    Compared component by component, since NFKC can turn one character into text with a slash.
    A file that is also a folder of another path collides with it.

    Args:
        paths: Files, relative, `/` between components; a path that comes twice counts once.
    """
    files = set(paths)
    spelled: dict[tuple[int, str], tuple[int, str]] = {}
    found: set[tuple[str, str]] = set()
    for path in sorted(files, key=_bytes):
        folder = 0  # a number for all that is above, so that keys have a fixed size
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
    """Return the folders above a path, outermost first: `a/b/c` gives `a`, `a/b`."""
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts))]


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
"""Shell patterns of one component of a path, case-sensitive; and what it is a by-product of."""

_JUNK: Final = re.compile("|".join(translate(pattern) for pattern, _ in JUNK), re.DOTALL)


def is_junk(path: str) -> bool:
    """Return whether a path, or a folder on the way to it, is junk.

    Args:
        path: Relative, `/` between components.
    """
    return any(_JUNK.match(component) for component in path.split("/"))


def from_disk(name: str) -> str:
    """Return a name or path decoded as UTF-8 in every locale; the rest as lone surrogates.

    Args:
        name: As `os.listdir`, `os.scandir` or a `Path` returned it.
    """
    if os.name == "nt" or name.isascii():
        return name
    return os.fsencode(name).decode("utf-8", "surrogateescape")


def to_disk(name: str) -> str:
    """Return a name or path as Python expects it; the inverse of `from_disk`.

    Args:
        name: As a lock or git spells it.
    """
    if os.name == "nt" or name.isascii():
        return name
    return os.fsdecode(name.encode("utf-8", "surrogateescape"))


def shown(text: str) -> str:
    r"""Return a name, an argument or foreign text in a form that every encoder accepts.

    Args:
        text: Bytes that were not UTF-8 have become lone surrogates; these are written as `\xff`,
            and other surrogates as `\ud800`.
    """
    try:
        data = text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        data = text.encode("utf-8", "backslashreplace")
    return data.decode("utf-8", "backslashreplace")

"""Decision: which paths can be locked, so that every system can hold them and none mistakes them.

A path that is fine here and impossible there (a device name, a trailing dot, two names that
differ in case) gives a wheel that installs on one machine and not on the next, or installs
other bytes than were locked.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Final

from skills_bundle.files import limits
from skills_bundle.files.path_sets import collisions, fold, is_control, parents

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["DEVICE_NAMES", "RESERVED", "collisions", "fold", "parents", "problems"]

DEVICE_NAMES: Final = frozenset(
    ["con", "prn", "aux", "nul", "conin$", "conout$", "clock$"]
    + [f"{port}{digit}" for port in ("com", "lpt") for digit in "0123456789¹²³"]
)
"""Names that Windows gives to devices, whatever the extension (Microsoft, Naming Files)."""

RESERVED: Final = frozenset('<>:"|?*')
"""Characters no Windows file name can hold; a colon would name an alternate data stream."""


def problems(path: str) -> list[tuple[str, str]]:
    """Give everything that keeps a path out of a lock, as (code, sentence without the path).

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
            yield "path_backslash", "holds a backslash"
        return
    if "\\" in component:
        yield "path_backslash", "holds a backslash"
    if reserved := sorted(RESERVED.intersection(component)):
        yield "path_reserved_character", f"holds {' '.join(reserved)}, which Windows does not allow"
    if any("\ud800" <= character <= "\udfff" for character in component):
        yield "path_not_utf8", "is not UTF-8"
    if any(is_control(character) for character in component):
        yield "path_control_character", "holds a control character"
    if not unicodedata.is_normalized("NFC", component):
        yield "path_not_nfc", "is not in Unicode normal form NFC; rename it"

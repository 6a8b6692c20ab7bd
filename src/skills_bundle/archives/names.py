"""Decision: names of members that every system takes for the same one file.

A name that one tool writes below its folder and another one elsewhere, or two names that are one
file on some system, let an archive be one thing to who reviews it and another to who installs it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from skills_bundle.archives import limits
from skills_bundle.files.path_sets import collisions, is_control
from skills_bundle.formats import limits as format_limits

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skills_bundle.archives.findings import Findings

_DRIVE: Final = re.compile("[A-Za-z]:")
_VERSION: Final = re.compile(";[0-9]*$")
"""How VMS numbers a file's versions; Info-ZIP's unzip cuts it off on every system."""
_CONTROL: Final = {
    "METADATA": format_limits.METADATA_MAX_BYTES,
    "PKG-INFO": format_limits.METADATA_MAX_BYTES,
    "RECORD": format_limits.RECORD_MAX_BYTES,
    "WHEEL": format_limits.METADATA_MAX_BYTES,
    "entry_points.txt": format_limits.METADATA_MAX_BYTES,
}
"""What is read line by line: a wheel's in `.dist-info`, an sdist's PKG-INFO."""
_MARK: Final = "/."
"""Stands for a folder that is listed by itself: no name that passed has such a component."""


def check_names(names: Sequence[str], findings: Findings) -> None:
    """Note every name that cannot be trusted, and every two that are one.

    Args:
        names: As the archive spells them; those of folders end in a slash.
        findings: Takes what is found.
    """
    sound: list[str] = []
    seen: set[str] = set()
    for name in names:
        if name in seen:
            findings.add("duplicate_member", "is there more than once", name)
            continue
        seen.add(name)
        found = [*name_problems(name)]
        for code, message in found:
            findings.add(code, message, name)
        if not found:
            sound.append(f"{name}." if name.endswith("/") else name)
    for one, other in collisions(sound):
        if not one.endswith(_MARK):
            folder = other.removesuffix(".") if other.endswith(_MARK) else other
            findings.add("path_collision", _collision(one, folder), one)


def check_size(path: str, size: int, findings: Findings) -> None:
    """Note a control file that is larger than such files are, before anybody reads it.

    Args:
        path: Of a member.
        size: Its bytes, unpacked.
        findings: Takes what is found.
    """
    folder, _, name = path.rpartition("/")
    most = _CONTROL.get(name) if folder.endswith(".dist-info") or name == "PKG-INFO" else None
    if most is not None and size > most:
        findings.add("control_too_large", f"has {size} bytes; at most {most} are read", path)


def _collision(one: str, other: str) -> str:
    if other.startswith(f"{one}/"):
        return f"is a file, and the folder of {other!r}"
    return f"is one path with {other!r} on some systems"


def name_problems(name: str) -> Iterator[tuple[str, str]]:
    """Give everything that speaks against a name, as (code, sentence without the name)."""
    path = name.removesuffix("/")
    if len(name.encode("utf-8", "surrogatepass")) > limits.ARCHIVE_NAME_MAX_BYTES:
        yield "path_too_long", f"has more than {limits.ARCHIVE_NAME_MAX_BYTES} bytes"
    if path.count("/") >= limits.ARCHIVE_NAME_MAX_COMPONENTS:
        yield "path_too_deep", f"has more than {limits.ARCHIVE_NAME_MAX_COMPONENTS} components"
    yield from _place_problems(name, path)
    yield from _character_problems(path)


def _place_problems(name: str, path: str) -> Iterator[tuple[str, str]]:
    """Say where a name could lead besides the folder it is unpacked into."""
    components = path.split("/")
    if name.startswith("/"):
        yield "path_absolute", "is absolute"
    elif _DRIVE.match(name):
        yield "path_absolute", "begins with a drive letter"
    elif "" in components:
        yield "path_empty_component", "has an empty component"
    for dots in {".", ".."}.intersection(components):
        yield "path_dot_component", f"has the component {dots!r}"
    if any(part and part not in {".", ".."} and part[-1] in ". " for part in components):
        yield "path_trailing_dot_or_space", "has a component that ends in a dot or a space"


def _character_problems(path: str) -> Iterator[tuple[str, str]]:
    if "\\" in path:
        yield "path_backslash", "holds a backslash, which some systems take for a slash"
    if ":" in path and not _DRIVE.match(path):
        yield "path_colon", "holds a colon, behind which Windows keeps other bytes of one file"
    if _VERSION.search(path):
        yield "path_version", "ends like a numbered version, which some tools cut off"
    if path.isascii() and path.isprintable():
        return  # the others are looked at one by one
    if any("\ud800" <= character <= "\udfff" for character in path):
        yield "path_not_utf8", "is not UTF-8"
    if any(map(is_control, path)):
        yield "path_control_character", "holds a control character"

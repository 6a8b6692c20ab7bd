"""Decision: one line of an ignore file becomes a rule, and rules say whether a path is ignored.

Ours, since no library at hand agrees with git on every pattern, and a path that git does not ignore
would silently miss from a lock: libgit2 drops a `!pattern` whose counterpart stands in another
file; `pathspec` reads brackets otherwise. Git matches bytes, so text here is Latin-1: one
character a byte. A property test asks git itself about random repositories.

Source: gitignore(5).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_BOM: Final = "\xef\xbb\xbf"
_NEVER: Final = "(?!)"
_WILD: Final = re.compile(r"[*?\[\\]")
_STARS: Final = re.compile(r"\*+")
_BYTES: Final = frozenset(map(chr, range(256)))
_ASCII: Final = tuple(map(chr, range(128)))
_CLASSES: Final[dict[str, frozenset[str]]] = {
    "alnum": frozenset(filter(str.isalnum, _ASCII)),
    "alpha": frozenset(filter(str.isalpha, _ASCII)),
    "blank": frozenset(" \t"),
    "cntrl": frozenset(_ASCII[:32]) | {"\x7f"},
    "digit": frozenset(filter(str.isdigit, _ASCII)),
    "graph": frozenset(_ASCII[33:127]),
    "lower": frozenset(filter(str.islower, _ASCII)),
    "print": frozenset(_ASCII[32:127]),
    "punct": frozenset(letter for letter in _ASCII[33:127] if not letter.isalnum()),
    "space": frozenset(" \t\n\v\f\r"),
    "upper": frozenset(filter(str.isupper, _ASCII)),
    "xdigit": frozenset("0123456789abcdefABCDEF"),
}
"""What POSIX classes hold in git: ASCII alone, whatever the locale."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One pattern.

    Attributes:
        ignores: False for a line that starts with `!`.
        folders_only: Whether it ends in `/`.
        by_name: Whether it holds no other `/`, so that only the last component counts.
        pattern: What has to match the last component, or the path from the ignore file's folder.
    """

    ignores: bool
    folders_only: bool
    by_name: bool
    pattern: re.Pattern[str]


def read(data: bytes, *, any_case: bool = False) -> tuple[Rule, ...]:
    """Read an ignore file.

    Args:
        data: Its bytes.
        any_case: Whether upper and lower case are one (`core.ignoreCase`).
    """
    lines = data.decode("latin-1").removeprefix(_BOM).split("\n")
    return tuple(
        _rule(_trimmed(line.removesuffix("\r")), any_case=any_case)
        for line in lines
        if line and not line.startswith("#")
    )


def _trimmed(line: str) -> str:
    """Drop spaces at the end, but one that a backslash keeps."""
    kept = line.rstrip(" ")
    backslashes = len(kept) - len(kept.rstrip("\\"))
    return f"{kept} " if kept != line and backslashes % 2 else kept


def _rule(line: str, *, any_case: bool) -> Rule:
    text = line.removeprefix("!")
    name = text.removesuffix("/")
    by_name = "/" not in name
    glob = name if by_name else name.removeprefix("/")
    flags = re.DOTALL | re.ASCII | (re.IGNORECASE if any_case else re.NOFLAG)
    return Rule(
        ignores=not line.startswith("!"),
        folders_only=text != name,
        by_name=by_name,
        pattern=re.compile(_expression(glob, any_case=any_case), flags),
    )


def verdict(
    rules: Iterable[Rule], path: str, base: str, is_folder: Callable[[], bool]
) -> bool | None:
    """Say what one ignore file says of a path: ignored, taken back, or nothing (None).

    Args:
        rules: The file's, the last one first: it counts most.
        path: From the top of the work tree, in Latin-1.
        base: The ignore file's folder, empty or ending in `/`; the path lies below it.
        is_folder: Tells whether the path is a folder; asked only where a rule depends on it.
    """
    below = path[len(base) :]
    name = path.rpartition("/")[2]
    for rule in rules:
        if rule.pattern.fullmatch(name if rule.by_name else below) and (
            not rule.folders_only or is_folder()
        ):
            return rule.ignores
    return None


def _expression(glob: str, *, any_case: bool) -> str:
    """Give the regular expression of a pattern.

    Git compares everything before the first wildcard as it stands; what follows is a pattern of its
    own, which is why `**` counts as a whole component there even if it follows a letter.
    """
    wild = _WILD.search(glob)
    start = len(glob) if wild is None else wild.start()
    return re.escape(glob[:start]) + "".join(_parts(glob[start:], any_case=any_case))


def _parts(glob: str, *, any_case: bool) -> Iterator[str]:
    index = 0
    while index < len(glob):
        if glob[index] == "*":
            part, index = _stars(glob, index)
        elif glob[index] == "[":
            part, index = _bracket(glob, index + 1, any_case=any_case)
        elif glob[index] == "\\":
            part = re.escape(glob[index + 1]) if index + 1 < len(glob) else _NEVER
            index += 2
        else:
            part = "[^/]" if glob[index] == "?" else re.escape(glob[index])
            index += 1
        yield part


def _stars(glob: str, start: int) -> tuple[str, int]:
    """Give the expression of one or more stars, and where they end."""
    found = _STARS.match(glob, start)
    end = start + 1 if found is None else found.end()
    whole = start == 0 or glob[start - 1] == "/"
    if end - start > 1 and whole:
        if end == len(glob) or glob.startswith("\\/", end):
            return ".*", end
        if glob[end] == "/":
            return "(?:.*/)?", end + 1
    return "[^/]*", end


def _bracket(glob: str, start: int, *, any_case: bool) -> tuple[str, int]:
    """Give the expression of a bracket, and where it ends; one that is malformed matches nothing.

    Args:
        glob: The pattern.
        start: Past the `[`.
        any_case: Whether case counts for nothing. Git then holds the small letter against the
            bracket, so that a single capital in it matches nothing, and a range of them does.
    """
    negated = glob[start : start + 1] in {"!", "^"}
    start += negated
    members: set[str] = set()
    index, last = start, ""
    while index == start or glob[index : index + 1] != "]":
        found = _member(glob, index, last)
        if found is None:
            return _NEVER, len(glob)
        more, last, index = found
        members |= set(map(_small, more)) if any_case and not last else more
    possible = _BYTES - _CLASSES["upper"] if any_case else _BYTES
    matching = (possible - members if negated else possible & members) - {"/"}
    inner = "".join(map(re.escape, sorted(matching)))
    return f"[{inner}]" if matching else _NEVER, index + 1


_Member = tuple[frozenset[str], str, int]
"""Characters of one part of a bracket; the letter a range may start from, or ""; where it ends."""


def _member(glob: str, index: int, last: str) -> _Member | None:
    """Read one part of a bracket; None if the bracket is never closed, or names no class."""
    if glob.startswith("[:", index):
        return _class(glob, index)
    if glob[index : index + 1] == "-" and last and glob[index + 1 : index + 2] not in {"", "]"}:
        end = _character(glob, index + 1)
        if end is None:
            return None
        letter, index = end
        return frozenset(map(chr, range(ord(last), ord(letter) + 1))), "", index
    one = _character(glob, index)
    return None if one is None else (frozenset(one[0]), *one)


def _character(glob: str, index: int) -> tuple[str, int] | None:
    """Give one character of a bracket, a backslash before it left out, and where it ends."""
    index += glob[index : index + 1] == "\\"
    return (glob[index], index + 1) if index < len(glob) else None


def _class(glob: str, index: int) -> _Member | None:
    """Read a POSIX class; what only begins like one is the letter `[`."""
    end = glob.find("]", index + 2)
    if end < 0:
        return None
    name = glob[index + 2 : end]
    if not name.endswith(":"):
        return frozenset("["), "[", index + 1
    members = _CLASSES.get(name.removesuffix(":"))
    return None if members is None else (members, "", end + 1)


def _small(letter: str) -> str:
    """Give an ASCII capital's small letter; git knows no others."""
    return letter.lower() if letter.isascii() else letter

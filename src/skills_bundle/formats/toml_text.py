"""Decision: additions to a TOML file that belongs to somebody else.

Nothing of the file is written anew: a line is put in, or a word into an array, and every other
byte stays: comments, order, quoting, line ends, indentation. Each addition is tried in the place
where a person would put it, and kept only if a TOML reader then finds exactly what was there before
and what was added. If no place will do, the file is left alone and the addition is told instead.
"""

from __future__ import annotations

import copy
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from skills_bundle.formats.toml_words import bare, dotted, written

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from skills_bundle.formats.toml_words import Value


@dataclass(frozen=True, slots=True, kw_only=True)
class Addition:
    """One thing that a file has to say.

    Attributes:
        table: The table's path.
        key: The key in it; "" for the table itself, which may be empty then.
        value: What the key has to be; for an array, one more element if `append`.
        append: Whether the value is an element to be added to an array that is there.
    """

    table: tuple[str, ...]
    key: str = ""
    value: Value = ""
    append: bool = False

    @property
    def line(self) -> str:
        """The addition as a line of TOML; an element of an array as that element."""
        if self.append:
            return written(self.value)
        return f"{bare(self.key)} = {written(self.value)}" if self.key else ""

    @property
    def header(self) -> str:
        """The table's header."""
        return f"[{dotted(self.table)}]"


class NoPlaceError(Exception):
    """An addition for which the file has no place that leaves everything else as it is."""

    def __init__(self, addition: Addition) -> None:
        """Keep the addition, so that it can be told."""
        super().__init__(f"{addition.header} {addition.line}")
        self.addition = addition


def with_additions(text: str, additions: Sequence[Addition]) -> str:
    """Give a file's text with additions; what is there already is not added again.

    Args:
        text: A TOML document.
        additions: In the order in which they shall be made.

    Raises:
        NoPlaceError: For the first that has no place.
    """
    is_crlf = "\r\n" in text and text.count("\n") == text.count("\r\n")
    is_open = bool(text) and not text.endswith("\n")
    found = text.replace("\r\n", "\n") if is_crlf else text
    found += "\n" if is_open else ""
    for addition in additions:
        found = _with(found, addition)
    found = found.removesuffix("\n") if is_open else found
    return found.replace("\n", "\r\n") if is_crlf else found


def _with(text: str, addition: Addition) -> str:
    before = _reads(text)
    if before is None:
        raise NoPlaceError(addition)
    after = expected(before, addition)
    if after == before:
        return text
    places = ARRAY_PLACES if addition.append else PLACES
    for place in places:
        made = place(text, addition)
        if made is not None and _reads(made) == after and _keeps(text, made):
            return made
    raise NoPlaceError(addition)


def expected(document: dict[str, Any], addition: Addition) -> dict[str, Any]:
    """Give what a reader has to find after an addition.

    Args:
        document: What one finds before.
        addition: What is added.
    """
    found = copy.deepcopy(document)
    table = found
    for name in addition.table:
        below: Any = table.setdefault(name, {})
        if not isinstance(below, dict):
            raise NoPlaceError(addition)
        table = cast("dict[str, Any]", below)
    if addition.append:
        array: Any = table.setdefault(addition.key, [])
        if not isinstance(array, list):
            raise NoPlaceError(addition)
        array = cast("list[Any]", array)
        if addition.value not in array:
            array.append(addition.value)
    elif addition.key:
        value = addition.value
        table[addition.key] = list(value) if isinstance(value, tuple) else value
    return found


def _reads(text: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text, parse_float=_as_written)
    except (ValueError, RecursionError):  # any line may be tried, whatever it is a part of
        return None


def _as_written(number: str) -> tuple[str]:
    """Keep a float's spelling: `nan` equals nothing, itself included."""
    return (number,)


def _keeps(old: str, new: str) -> bool:
    """Tell whether every old line is still there, in order, but for one that was added to."""
    rest = iter(new.split("\n"))
    return all(line in rest for line in old.split("\n")) or _without_one_line(
        old.split("\n"), new.split("\n")
    )


def _without_one_line(old: list[str], new: list[str]) -> bool:
    same = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), len(old))
    return old[same + 1 :] in (new[same + 1 :], new[same + 2 :])


def _below_header(text: str, addition: Addition) -> str | None:
    """Put a line below the header of its table, behind the last line that assigns something."""
    lines = text.split("\n")
    for position, path, _ in _headers(lines):
        if path == addition.table and addition.key:
            last = _last_of_block(lines, position)
            return "\n".join([*lines[: last + 1], addition.line, *lines[last + 1 :]])
    return None


def _last_of_block(lines: list[str], header: int) -> int:
    """Give the last line of a table that is neither empty nor a comment."""
    last = position = header
    for position in range(header + 1, len(lines)):
        stripped = lines[position].strip()
        if stripped.startswith("["):
            break
        if stripped and not stripped.startswith("#"):
            last = position
    return last


def _headers(lines: Sequence[str]) -> Iterator[tuple[int, tuple[str, ...], bool]]:
    """Give (line, path, is_array) of what look like headers; a reader has the last word."""
    for position, line in enumerate(lines):
        if line.lstrip().startswith("["):
            found = _reads(line)
            path: list[str] = []
            inner: Any = found
            while isinstance(inner, (dict, list)) and inner:
                if isinstance(inner, dict):
                    name, inner = next(iter(cast("dict[str, Any]", inner).items()))
                    path.append(name)
                else:
                    inner = cast("list[Any]", inner)[0]
            if path:
                yield position, tuple(path), line.lstrip().startswith("[[")


def _block(addition: Addition) -> list[str]:
    return [addition.header, *([addition.line] if addition.key else [])]


def _near(text: str, addition: Addition) -> str | None:
    """Put a new table behind the last one of its family: below the same two names, else one."""
    lines = text.split("\n")
    headers = [*_headers(lines)]
    for depth in range(len(addition.table) - 1, 0, -1):
        family = [p for p, path, _ in headers if path[:depth] == addition.table[:depth]]
        if family:
            end = next((p for p, _, _ in headers if p > family[-1]), len(lines))
            return _inserted(lines, _before_comments(lines, end), _block(addition))
    return None


def _before_comments(lines: list[str], end: int) -> int:
    """Go up over the comments right above a header: they speak of it."""
    while end > 0 and end < len(lines) and lines[end - 1].lstrip().startswith("#"):
        end -= 1
    return end


def _inserted(lines: list[str], position: int, block: list[str]) -> str:
    """Put a block between two lines, with one empty line on each side that has something."""
    above, below = lines[:position], lines[position:]
    spare: list[str] = []
    while above and not above[-1].strip():
        spare.append(above.pop())
    has_more = any(line.strip() for line in below)
    gap = [""] if above else []
    # The empty lines that were there stay, behind the block; at the end of a file the last one is
    # the final line end.
    return "\n".join([*above, *gap, *block, *(spare or ([""] if has_more else [])), *below])


def _at_end(text: str, addition: Addition) -> str | None:
    gap = "\n" if text.strip() else ""
    return f"{text}{gap}" + "\n".join(_block(addition)) + "\n"


def _with_tomlkit(text: str, change: Callable[[Any], None]) -> str | None:
    import tomlkit  # noqa: PLC0415 - only `init` needs it
    from tomlkit.exceptions import TOMLKitError  # noqa: PLC0415 - likewise

    try:
        document = tomlkit.parse(text)
        change(document)
        return tomlkit.dumps(document)
    except (TOMLKitError, KeyError, TypeError, ValueError, AttributeError):
        return None  # a form that it cannot change; another place may do


def _in_array(text: str, addition: Addition) -> str | None:
    """Add an element in the way the array is written: on one line, or on one of its own."""

    def change(document: Any) -> None:  # noqa: ANN401 - tomlkit's types are unions of everything
        document[addition.key].append(addition.value)

    lines = text.split("\n")
    for position, path, _ in _headers(lines):
        if path == addition.table:
            start, end = _assignment(lines, position, addition.key)
            made = _with_tomlkit("\n".join(lines[start:end]), change)
            return None if made is None else "\n".join([*lines[:start], made, *lines[end:]])
    return None


def _assignment(lines: list[str], header: int, key: str) -> tuple[int, int]:
    """Give the lines that assign a key of a table, from the first to behind the last; else none."""
    for start in range(header + 1, len(lines)):
        if lines[start].split("=")[0].strip().strip("\"'") == key:
            ends = (end + 1 for end in range(start, len(lines)) if "]" in lines[end])
            end = next((end for end in ends if _reads("\n".join(lines[start:end]))), start)
            return start, end
        if lines[start].lstrip().startswith("[") and _reads(lines[start]) is not None:
            break
    return header, header


def _in_tables(text: str, addition: Addition) -> str | None:
    """Set a key, or add an element, where a table is written inline or as dotted keys."""
    if not addition.key:
        return None

    def change(document: Any) -> None:  # noqa: ANN401 - likewise
        import tomlkit  # noqa: PLC0415 - see _with_tomlkit
        from tomlkit.items import InlineTable  # noqa: PLC0415 - likewise

        table, names = document, [*addition.table]
        while names and names[0] in table:
            table = table[names.pop(0)]
        if addition.append:
            table[addition.key].append(addition.value)
            return
        if names and not isinstance(table, InlineTable):
            raise KeyError(names[0])  # a table of its own reads better
        value = addition.value
        row: Any = list(value) if isinstance(value, tuple) else value
        for name in reversed([*names, addition.key][1:]):
            inner: Any = tomlkit.inline_table()
            inner[name] = row
            row = inner
        table[[*names, addition.key][0]] = row

    return _with_tomlkit(text, change)


PLACES: Final = (_below_header, _in_tables, _near, _at_end)
ARRAY_PLACES: Final = (_in_array, _in_tables)
"""Where additions are tried, the best place first."""

"""Decision: add keys and array elements to a user's TOML file.

Comments, order, quoting, indentation and line ends of the file stay. Three ways are tried for each
addition: a line behind the last key of its table, tomlkit (for arrays, inline tables and dotted
keys), and a new table at the end of the file. tomlkit alone would put a new key or table between a
comment and the header that the comment is about, and can write invalid TOML where tables are made
of dotted keys. So a result counts only if a TOML reader then finds what was there before and the
addition, and if every line but the one that was added to is unchanged. If no way does it, the file
is left alone and the error holds the line to add by hand.
"""

from __future__ import annotations

import copy
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, cast

if TYPE_CHECKING:
    from collections.abc import Sequence

Value: TypeAlias = str | bool | tuple[str, ...]
"""A value that can be added."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Addition:
    """A key with its value, or one more element of an array.

    Attributes:
        table: The table's path.
        key: The key in it.
        value: The key's value; for an array, one more element if `append`.
        append: Whether the value is an element to be added to an existing array.
    """

    table: tuple[str, ...]
    key: str
    value: Value
    append: bool = False

    @property
    def line(self) -> str:
        """The addition as a line of TOML; an array's element as that element."""
        import tomlkit  # noqa: PLC0415 -- the build hook reads TOML and never edits it

        return (
            literal(self.value)
            if self.append
            else (f"{tomlkit.key(self.key).as_string()} = {literal(self.value)}")
        )

    @property
    def header(self) -> str:
        """The table's header."""
        import tomlkit  # noqa: PLC0415 -- likewise

        return f"[{'.'.join(tomlkit.key(name).as_string() for name in self.table)}]"


class NoPlaceError(Exception):
    """An addition that cannot be made without changing something else in the file.

    Attributes:
        addition: What has to be added by hand.
    """

    def __init__(self, addition: Addition) -> None:
        """Keep the addition for the message."""
        super().__init__(f"{addition.header} {addition.line}")
        self.addition = addition


def literal(value: Value) -> str:
    """Return a value as TOML writes it."""
    import tomlkit  # noqa: PLC0415 -- likewise

    return tomlkit.item(list(value) if isinstance(value, tuple) else value).as_string()


def with_additions(text: str, additions: Sequence[Addition]) -> str:
    """Return a file's text with additions; what is there already is not added again.

    Args:
        text: A TOML document.
        additions: In the order in which they are made.

    Raises:
        NoPlaceError: For the first that cannot be made.
    """
    is_crlf = "\r\n" in text and text.count("\n") == text.count("\r\n")
    lacks_end = bool(text) and not text.endswith("\n")
    made = text.replace("\r\n", "\n") if is_crlf else text
    made += "\n" if lacks_end else ""
    for addition in additions:
        made = _with(made, addition)
    made = made.removesuffix("\n") if lacks_end else made
    return made.replace("\n", "\r\n") if is_crlf else made


def _with(text: str, addition: Addition) -> str:
    before = _parsed(text)
    if before is None:
        raise NoPlaceError(addition)
    after = expected(before, addition)
    if after == before:
        return text
    for way in (_with_tomlkit,) if addition.append else (_behind_last_key, _with_tomlkit, _at_end):
        made = way(text, addition)
        if made is not None and _parsed(made) == after and _keeps_lines(text, made):
            return made
    raise NoPlaceError(addition)


def expected(document: dict[str, Any], addition: Addition) -> dict[str, Any]:
    """Return what a TOML reader has to find after an addition.

    Args:
        document: What it finds before.
        addition: What is added.

    Raises:
        NoPlaceError: If something else than a table or an array is in the place of one.
    """
    found = copy.deepcopy(document)
    table = found
    for name in addition.table:
        below: Any = table.setdefault(name, {})
        if not isinstance(below, dict):
            raise NoPlaceError(addition)
        table = cast("dict[str, Any]", below)
    value = list(addition.value) if isinstance(addition.value, tuple) else addition.value
    if not addition.append:
        table[addition.key] = value
        return found
    array: Any = table.setdefault(addition.key, [])
    if not isinstance(array, list):
        raise NoPlaceError(addition)
    array = cast("list[Any]", array)
    if value not in array:
        array.append(value)
    return found


def _parsed(text: str) -> dict[str, Any] | None:
    try:
        # A float stays text: `nan` equals nothing, itself included.
        return tomllib.loads(text, parse_float=lambda number: (number,))
    except (ValueError, RecursionError):
        return None


def _keeps_lines(old: str, new: str) -> bool:
    """Return whether every old line but at most one is unchanged, with lines added in one place."""
    before, after = old.split("\n"), new.split("\n")
    pairs = enumerate(zip(before, after, strict=False))
    start = next((at for at, (one, other) in pairs if one != other), min(len(before), len(after)))
    rest = len(before) - start
    return (
        any(before[-same:] == after[-same:] for same in (rest, rest - 1) if same > 0) or rest <= 1
    )


def _block(lines: list[str], table: tuple[str, ...]) -> tuple[int, int] | None:
    """Return the lines of a table that has a header of its own: first, and one behind the last."""
    header: dict[str, Any] = {}
    for name in reversed(table):
        header = {name: header}
    headers = [at for at, line in enumerate(lines) if line.lstrip().startswith("[")]
    start = next((at for at in headers if _parsed(lines[at]) == header), None)
    if start is None:
        return None
    ends = (at for at in headers if at > start and _parsed("\n".join(lines[start:at])) is not None)
    return start, next(ends, len(lines))


def _behind_last_key(text: str, addition: Addition) -> str | None:
    """Add a line behind the last key of a table that has a header of its own."""
    lines = text.split("\n")
    block = _block(lines, addition.table)
    if block is None:
        return None
    last = max(at for at in range(*block) if lines[at].strip() and lines[at].lstrip()[0] != "#")
    return "\n".join([*lines[: last + 1], addition.line, *lines[last + 1 :]])


def _with_tomlkit(text: str, addition: Addition) -> str | None:
    """Add to an array, or set a key of a table that is inline or made of dotted keys.

    tomlkit gets no more than the table: it may reorder tables of one family that others separate.
    """
    from tomlkit.exceptions import TOMLKitError  # noqa: PLC0415 -- likewise

    lines = text.split("\n")
    start, end = _block(lines, addition.table) or (0, len(lines))
    try:
        made = _edited("\n".join(lines[start:end]), addition)
    except (TOMLKitError, KeyError, TypeError, ValueError, AttributeError):
        return None  # a form that it cannot change
    return "\n".join([*lines[:start], made, *lines[end:]])


def _edited(text: str, addition: Addition) -> str:
    import tomlkit  # noqa: PLC0415 -- likewise
    from tomlkit.items import InlineTable  # noqa: PLC0415 -- likewise

    document = tomlkit.parse(text)
    table: Any = document
    for name in addition.table:
        if name not in table and isinstance(table, InlineTable):
            table[name] = tomlkit.inline_table()
        table = table[name]
    value = list(addition.value) if isinstance(addition.value, tuple) else addition.value
    if addition.append:
        table[addition.key].append(value)
    else:
        table[addition.key] = value
    return tomlkit.dumps(document)


def _at_end(text: str, addition: Addition) -> str:
    """Add a new table behind everything else."""
    gap = "\n" if text.strip() and not text.endswith("\n\n") else ""
    return f"{text}{gap}{addition.header}\n{addition.line}\n"

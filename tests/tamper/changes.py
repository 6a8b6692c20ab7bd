"""What can be done to a file, a lock or a RECORD: one change each, with the name that rows use.

The changes of a lock fit any lock that holds a file below `references/`.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from tests import odd_files

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def append(path: Path) -> None:
    """Put a byte behind the end."""
    with path.open("ab") as file:
        file.write(b"!")


def truncate(path: Path) -> None:
    """Cut everything behind the third byte."""
    os.truncate(path, 3)


def empty(path: Path) -> None:
    """Cut everything."""
    path.write_bytes(b"")


def same_size(path: Path) -> None:
    """Exchange the first letter for another one."""
    data = bytearray(path.read_bytes())
    place = next(index for index, byte in enumerate(data) if chr(byte).isalpha())
    data[place] ^= 1
    path.write_bytes(data)


def line_ends(path: Path) -> None:
    """Write CRLF for LF."""
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))


def through_a_hard_link(path: Path) -> None:
    """Edit the file by the name another environment has for it."""
    other = path.with_name("shared")
    os.link(path, other)
    same_size(other)
    other.unlink()


def keeping_the_times(path: Path) -> None:
    """Alter the bytes and set the times back, as a careful hand would."""
    facts = path.stat()
    same_size(path)
    os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))


FILE_CHANGES: dict[str, tuple[Callable[[Path], None], str]] = {
    "append": (append, "changed"),
    "truncate": (truncate, "changed"),
    "empty": (empty, "changed"),
    "same_size": (same_size, "changed"),
    "line_ends": (line_ends, "changed"),
    "through_a_hard_link": (through_a_hard_link, "changed"),
    "keeping_the_times": (keeping_the_times, "changed"),
} | {
    name: (change, "changed" if kind == "size" else kind)
    for name, (change, kind) in odd_files.KINDS.items()
}
"""What happens to one file, and the state its row gets."""

SIZE = rb'"size": (\d+),'
PLACE = rb'"path": "references/[^"]*"'


def _replacing(pattern: bytes, new: bytes) -> Callable[[bytes], bytes]:
    """Return a function that changes the first match and requires one."""

    def edit(data: bytes) -> bytes:
        changed, number = re.subn(pattern, new, data, count=1)
        assert number == 1
        return changed

    return edit


LOCK_EDITS: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda _: b"",
    "truncated": lambda data: data[: len(data) // 2],
    "without_final_newline": lambda data: data.rstrip(b"\n"),
    "trailing_bytes": lambda data: data + b"{}",
    "crlf": lambda data: data.replace(b"\n", b"\r\n"),
    "other_indent": lambda data: data.replace(b"\n  ", b"\n   "),
    "duplicate_key": _replacing(SIZE, rb'"size": \1, "size": \1,'),
    "duplicate_key_escaped": _replacing(SIZE, rb'"size": \1, "s\\u0069ze": \1,'),
    "unknown_key": _replacing(SIZE, rb'"size": \1, "mode": 0,'),
    "nan": _replacing(SIZE, b'"size": NaN,'),
    "infinity": _replacing(SIZE, b'"size": 1e400,'),
    "float": _replacing(SIZE, rb'"size": \1.0,'),
    "boolean": _replacing(SIZE, b'"size": true,'),
    "text": _replacing(SIZE, rb'"size": "\1",'),
    "negative": _replacing(SIZE, rb'"size": -\1,'),
    "other_size": _replacing(SIZE, rb'"size": 1\1,'),
    "five_thousand_digits": _replacing(SIZE, b'"size": ' + b"5" * 5000 + b","),
    "byte_order_mark": lambda data: b"\xef\xbb\xbf" + data,
    "utf_16": lambda data: data.decode().encode("utf-16"),
    "not_utf8": _replacing(b'"description": "', b'"description": "\xff\xfe'),
    "lone_surrogate": _replacing(b'"description": "', rb'"description": "\\ud800'),
    "nesting": lambda _: b"[" * 100_000,
    "nesting_closed": lambda _: b"[" * 100_000 + b"]" * 100_000,
    "traversal": _replacing(PLACE, b'"path": "../../../../etc/passwd"'),
    "absolute": _replacing(PLACE, b'"path": "/etc/passwd"'),
    "nul": _replacing(PLACE, rb'"path": "references/\\u0000.md"'),
    "backslash": _replacing(PLACE, rb'"path": "references\\\\guide.md"'),
    "reserved_name": _replacing(PLACE, b'"path": "references/aux.md"'),
    "stream_name": _replacing(PLACE, b'"path": "references/guide.md:stream"'),
    "trailing_dot": _replacing(PLACE, b'"path": "references/guide.md."'),
    "short_name": _replacing(PLACE, b'"path": "REFERE~1/guide.md"'),
    "case_alias": _replacing(PLACE, b'"path": "skill.md"'),
    "other_description": _replacing(b'"description": "', b'"description": "Obey. '),
    "other_collection": _replacing(b'"collection": "', b'"collection": "x'),
    "other_version": _replacing(b'"lock_version": 1', b'"lock_version": 2'),
    "executable": _replacing(b'"executable": false', b'"executable": true'),
    "merge_conflict": lambda data: b"<<<<<<< HEAD\n" + data + b"=======\n>>>>>>> other\n",
    "not_an_object": lambda _: b"[]\n",
}
"""What happens to the lock's bytes."""


def edited(path: Path, edit: Callable[[bytes], bytes]) -> None:
    """Change a file's bytes as a whole, and insist that they change."""
    data = path.read_bytes()
    changed = edit(data)
    assert changed != data
    path.write_bytes(changed)

"""Decision: the head of a core-metadata file (METADATA, PKG-INFO), read as installers read it.

pip and `importlib.metadata` read it as an e-mail, so this does: names in any case, folded lines,
lines that end in CR or LF and nowhere else. A reader that took a form feed for the end of a line,
or told `requires-dist` from `Requires-Dist`, would compare something else than what is installed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

_LINE_END: Final = re.compile("\r\n|\r|\n")
_NAME: Final = re.compile("[!-9;-~]+")
"""RFC 5322, section 3.6.8: printable ASCII without the colon."""
_BLANKS: Final = (" ", "\t")


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The fields of a file.

    Attributes:
        fields: Values by the field's name in lower case, in the file's order; folded lines joined
            by one blank.
        problems: What keeps tools from reading the head in one way, in words; none in a file that
            a build backend wrote.
    """

    fields: Mapping[str, tuple[str, ...]]
    problems: tuple[str, ...]

    def first(self, name: str) -> str | None:
        """Give the first value of a field, which is the one that tools go by; None if none."""
        return next(iter(self.fields.get(name, ())), None)


def read(data: bytes) -> Head:
    """Read the head; whatever cannot be read becomes a problem, never an exception.

    Args:
        data: The whole file.

    Source:
        PyPA, Core metadata specifications; RFC 5322, section 2.2.
    """
    text = data.decode(errors="replace")
    rows: list[list[str]] = []
    problems = ["is not UTF-8"] if "\ufffd" in text and not _is_utf8(data) else []
    if "\r" in text.replace("\r\n", "\n"):
        problems.append("ends lines by CR alone, which not every tool takes for an end")
    for number, line in enumerate(_LINE_END.split(text), 1):
        name, colon, value = line.partition(":")
        if not line:
            break
        if line.startswith(_BLANKS) and rows:
            rows[-1].append(line.strip())
        elif colon and _NAME.fullmatch(name):
            rows.append([name.lower(), value.strip()])
        else:
            problems.append(f"line {number} is no field, and ends the head for some tools")
            break
    fields: dict[str, list[str]] = {}
    for name, *parts in rows:
        fields.setdefault(name, []).append(" ".join(filter(None, parts)))
    return Head(
        fields={name: tuple(values) for name, values in fields.items()}, problems=tuple(problems)
    )


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True

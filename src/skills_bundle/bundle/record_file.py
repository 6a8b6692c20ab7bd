"""Record: an installation's `RECORD`, read as text: a second opinion on what was installed.

Neither pip nor uv checks it after installing, and some installers recompute it, so it never
overrules the lock; but whoever changes a file and forgets RECORD is noticed. It is parsed here and
not by `importlib.metadata`, whose `Distribution.files` hides files that are gone (Python 3.12).
"""

from __future__ import annotations

import base64
import binascii
import csv
import io
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from skills_bundle.errors import Problem

if TYPE_CHECKING:
    from collections.abc import Mapping

RECORD_FILE_NAME: Final = "RECORD"


@dataclass(frozen=True, slots=True)
class RecordRow:
    """What RECORD says of one file; None where it says nothing we can compare."""

    sha256: str | None
    size: int | None


@dataclass(frozen=True, slots=True)
class RecordFile:
    """A whole RECORD.

    Attributes:
        rows: Path relative to the folder that holds the `.dist-info`, as spelled there.
        problems: Rows that cannot be read or that contradict each other, each with its line.
    """

    rows: Mapping[str, RecordRow]
    problems: tuple[Problem, ...] = field(default=())

    def below(self, prefix: str) -> dict[str, RecordRow]:
        """Give the rows of one folder; `prefix` ends in a slash."""
        return {path: row for path, row in self.rows.items() if path.startswith(prefix)}


def parse(data: bytes) -> RecordFile:
    """Read RECORD's bytes; whatever cannot be read becomes a problem, never an exception.

    Source:
        PyPA, Recording installed projects: comma separated, `path,algorithm=digest,size`, the
        digest in URL-safe base64 without padding; the last two may be empty.
    """
    try:
        lines = list(csv.reader(io.StringIO(data.decode(), newline=""), strict=True))
    except (UnicodeDecodeError, csv.Error) as error:
        return RecordFile({}, (_problem(f"cannot be read: {error}", None),))
    rows: dict[str, RecordRow] = {}
    problems: list[Problem] = []
    for number, cells in enumerate(lines, 1):
        if not cells:
            continue
        row = _row(cells)
        if row is None:
            problems.append(_problem("is not `path,algorithm=digest,size`", number))
        elif rows.setdefault(cells[0], row) != row:
            problems.append(_problem("contradicts an earlier row of the same path", number))
    return RecordFile(rows, tuple(problems))


def _problem(message: str, line: int | None) -> Problem:
    return Problem(code="record", message=message, path=RECORD_FILE_NAME, line=line)


def _row(cells: list[str]) -> RecordRow | None:
    """Read one row, or give None when it has not the form of one."""
    if len(cells) != 3 or not cells[0]:
        return None
    digest, size = cells[1:]
    if size and not re.fullmatch("[0-9]{1,15}", size):
        return None
    algorithm, _, text = digest.partition("=")
    if digest and not text:
        return None
    sha256 = _hex(text) if algorithm == "sha256" else None
    if algorithm == "sha256" and sha256 is None:
        return None
    return RecordRow(sha256, int(size) if size else None)


def _hex(text: str) -> str | None:
    """Turn 43 characters of base64 into hex; None unless they are the one spelling of 32 bytes."""
    try:
        raw = base64.b64decode(text.encode() + b"=", altchars=b"-_", validate=True)
    except (binascii.Error, UnicodeEncodeError):
        return None
    same = base64.urlsafe_b64encode(raw).decode().rstrip("=") == text
    return raw.hex() if same and len(raw) == 32 else None

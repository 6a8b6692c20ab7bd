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
from itertools import islice
from typing import TYPE_CHECKING, Final

from skills_bundle.errors import Problem
from skills_bundle.formats import limits
from skills_bundle.formats.digest import RECORDED_ALGORITHMS, recorded_size

if TYPE_CHECKING:
    from collections.abc import Mapping

RECORD_FILE_NAME: Final = "RECORD"
DIST_INFO_SUFFIX: Final = ".dist-info"


@dataclass(frozen=True, slots=True)
class RecordRow:
    """What RECORD says of one file; None where it says nothing we can compare.

    Attributes:
        digest: As hex.
        size: In bytes.
        algorithm: What the digest was made by.
    """

    digest: str | None
    size: int | None
    algorithm: str = "sha256"

    @property
    def sha256(self) -> str | None:
        """The digest, if it is one that we compute of every file."""
        return self.digest if self.algorithm == "sha256" else None


@dataclass(frozen=True, slots=True)
class RecordFile:
    """A whole RECORD.

    Attributes:
        rows: Path relative to the folder that holds the `.dist-info`, as spelled there.
        problems: Rows that cannot be read or that contradict each other, each with its line.
    """

    rows: Mapping[str, RecordRow]
    problems: tuple[Problem, ...] = field(default=())

    def wanted(self, prefix: str) -> dict[str, RecordRow]:
        """Give the rows of one folder that can be compared with what lies there.

        All but byte code without a digest: whoever installs may compile, or not.
        """
        return {
            path: row for path, row in self.below(prefix).items() if row.digest or not _is_pyc(path)
        }

    def below(self, prefix: str) -> dict[str, RecordRow]:
        """Give the rows of one folder; `prefix` ends in a slash."""
        return {path: row for path, row in self.rows.items() if path.startswith(prefix)}


def parse(data: bytes) -> RecordFile:
    """Read RECORD's bytes; whatever cannot be read becomes a problem, never an exception.

    Source:
        PyPA, Recording installed projects: comma separated, `path,algorithm=digest,size`, the
        digest in URL-safe base64 without padding. Digest and size may be empty for RECORD itself
        and for byte code; a row of another file without a digest would exempt it from every
        comparison, so it is a problem.
    """
    try:
        reader = csv.reader(io.StringIO(data.decode(), newline=""), strict=True)
        lines = list(islice(reader, limits.RECORD_MAX_ROWS + 1))
    except (UnicodeDecodeError, csv.Error) as error:
        return RecordFile({}, (_problem(f"cannot be read: {error}", None),))
    if len(lines) > limits.RECORD_MAX_ROWS:
        most = limits.RECORD_MAX_ROWS
        return RecordFile({}, (_problem(f"has more than {most} rows; none is read", None),))
    rows: dict[str, RecordRow] = {}
    problems: list[Problem] = []
    for number, cells in enumerate(lines, 1):
        if not cells:
            continue
        row = _row(cells)
        if row is None:
            problems.append(_problem("is not `path,algorithm=digest,size`", number))
            continue
        if rows.setdefault(cells[0], row) != row:
            problems.append(_problem("contradicts an earlier row of the same path", number))
        if row.digest is None and not _may_lack_digest(cells[0]):
            problems.append(_problem("has no digest that can be compared", number))
    return RecordFile(rows, _bounded(problems))


def _bounded(problems: list[Problem]) -> tuple[Problem, ...]:
    """Give the first of them, and how many more there are."""
    more = len(problems) - limits.RECORD_MAX_PROBLEMS
    if more <= 0:
        return tuple(problems)
    return (*problems[:-more], _problem(f"and {more} more problems", None))


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
    known = algorithm in RECORDED_ALGORITHMS
    found = _hex(text, recorded_size(algorithm)) if known else None
    if known and found is None:
        return None
    return RecordRow(found, int(size) if size else None, algorithm if known else "sha256")


def _may_lack_digest(path: str) -> bool:
    folder, _, name = path.rpartition("/")
    return _is_pyc(path) or (name == RECORD_FILE_NAME and folder.endswith(DIST_INFO_SUFFIX))


def _is_pyc(path: str) -> bool:
    return path.endswith(".pyc")


def _hex(text: str, size: int) -> str | None:
    """Turn unpadded base64 into hex; None unless it is the one spelling of so many bytes."""
    try:
        raw = base64.b64decode(
            text.encode() + b"=" * (-len(text) % 4), altchars=b"-_", validate=True
        )
    except (binascii.Error, UnicodeEncodeError):
        return None
    same = base64.urlsafe_b64encode(raw).decode().rstrip("=") == text
    return raw.hex() if same and len(raw) == size else None

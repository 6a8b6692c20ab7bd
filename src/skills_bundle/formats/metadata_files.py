"""Record: the text files of a `.dist-info` folder: METADATA, entry_points.txt and RECORD.

Tools read these files in different ways. A file that two tools could read differently has a problem
or is refused; every other file is read as pip and `importlib.metadata` read it.

Source:
    PyPA: Core metadata specifications, Entry points specification, Recording installed projects.
"""

from __future__ import annotations

import base64
import binascii
import csv
import io
import re
from dataclasses import dataclass, field
from email.parser import HeaderParser
from itertools import islice
from typing import TYPE_CHECKING, Final

from packaging.version import InvalidVersion, Version

from skills_bundle.errors import Problem
from skills_bundle.formats import limits
from skills_bundle.formats.digest import RECORDED_ALGORITHMS, recorded_size

if TYPE_CHECKING:
    from collections.abc import Mapping

DIST_INFO_SUFFIX: Final = ".dist-info"
RECORD_FILE_NAME: Final = "RECORD"

_LINE_END: Final = re.compile("\r\n|\r|\n")
_GROUP: Final = re.compile(r"\[([^\[\]\s]+)\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Metadata:
    """The fields of METADATA or PKG-INFO, without the description in the body.

    Attributes:
        fields: Values by the field's name in lower case, in the file's order; the lines of a folded
            value are joined by one space.
        problems: Why tools may read the fields differently, as predicates; empty for a file that
            a build backend wrote.
    """

    fields: Mapping[str, tuple[str, ...]]
    problems: tuple[str, ...]

    def first(self, name: str) -> str | None:
        """Return the first value of a field, which is the one that tools use, or None."""
        return next(iter(self.fields.get(name, ())), None)


def same_version(one: str, other: str) -> bool:
    """Return whether two spellings are one version, as PEP 440 compares them: `1.0-rc1`, `1.0rc1`.

    Build backends write the version into the metadata as it was typed, and its normal form into the
    names of files and folders. What is not a version is compared as text.
    """
    try:
        return Version(one) == Version(other)
    except InvalidVersion:
        return one == other


def parse_metadata(data: bytes) -> Metadata:
    """Parse METADATA or PKG-INFO; what cannot be read becomes a problem, never an exception.

    Args:
        data: The whole file.
    """
    text = data.decode(errors="replace")
    head = HeaderParser().parsestr(text)
    problems: list[str] = []
    if text.encode() != data:
        problems.append("is not UTF-8")
    if "\r" in text.replace("\r\n", "\n"):
        problems.append("has lines that end in CR alone, which some tools do not split")
    if head.defects or head.get_unixfrom() is not None:
        problems.append("has a line that is not a field, where some tools stop reading")
    fields: dict[str, list[str]] = {}
    for name, value in head.items():
        lines = (line.strip() for line in _LINE_END.split(value))
        fields.setdefault(name.lower(), []).append(" ".join(filter(None, lines)))
    return Metadata(
        fields={name: tuple(values) for name, values in fields.items()}, problems=tuple(problems)
    )


def parse_entry_points(data: bytes) -> dict[str, dict[str, str]] | None:
    """Parse entry_points.txt.

    Tools disagree on comments, continued lines and line ends: `importlib.metadata` ends a line at
    U+2028 and at a form feed, so an entry point can follow what others read as a comment. Build
    backends write none of these; a file with any of them is refused.

    Args:
        data: The whole file.

    Returns:
        Object references by group and name. None unless every line is empty, a group in brackets
        or `name = reference`, and no group, and no name in a group, is repeated.
    """
    try:
        text = data.decode().replace("\r\n", "\n")
    except UnicodeDecodeError:
        return None
    lines = text.removesuffix("\n").split("\n")
    if text and text.splitlines() != lines:
        return None
    groups: dict[str, dict[str, str]] = {}
    names: dict[str, str] | None = None
    for line in filter(None, lines):
        if group := _GROUP.fullmatch(line):
            if group[1] in groups:
                return None
            names = groups[group[1]] = {}
        elif names is None or not _add_entry_point(names, line):
            return None
    return groups


def _add_entry_point(names: dict[str, str], line: str) -> bool:
    """Add `name = reference`; return False if a tool could read the line differently."""
    name, sign, reference = line.partition("=")
    name, reference = name.rstrip(" "), reference.strip(" ")
    if not sign or name in names:
        return False
    if any(not text or text != text.strip() or text[0] in "#;[" for text in (name, reference)):
        return False
    names[name] = reference
    return True


@dataclass(frozen=True, slots=True)
class RecordRow:
    """One row of RECORD.

    Attributes:
        digest: As hex; None if the row has none that can be compared.
        size: In bytes; None if the row has none.
        algorithm: Of the digest.
    """

    digest: str | None
    size: int | None
    algorithm: str = "sha256"

    @property
    def sha256(self) -> str | None:
        """The digest if it is a SHA-256, which is computed of every file."""
        return self.digest if self.algorithm == "sha256" else None


@dataclass(frozen=True, slots=True)
class RecordFile:
    """A whole RECORD.

    Installers do not check it after installing, and some recompute it, so it never overrules the
    lock; but it shows a change by someone who did not update it. `importlib.metadata` is not used
    because its `Distribution.files` omits missing files since Python 3.12.

    Attributes:
        rows: By path relative to the folder of the `.dist-info`, as spelled in the file.
        problems: Rows that cannot be read or contradict each other, each with its line.
    """

    rows: Mapping[str, RecordRow]
    problems: tuple[Problem, ...] = field(default=())

    def wanted(self, prefix: str) -> dict[str, RecordRow]:
        """Return the rows of one folder that can be compared with its files.

        Bytecode without a digest is left out: an installer may compile or not.
        """
        return {
            path: row for path, row in self.below(prefix).items() if row.digest or not _is_pyc(path)
        }

    def below(self, prefix: str) -> dict[str, RecordRow]:
        """Return the rows of one folder; `prefix` ends in a slash."""
        return {path: row for path, row in self.rows.items() if path.startswith(prefix)}


def parse_record(data: bytes) -> RecordFile:
    """Parse RECORD; what cannot be read becomes a problem, never an exception.

    Rows are `path,algorithm=digest,size`, the digest in URL-safe base64 without padding. Digest and
    size may be empty for RECORD itself and for bytecode; in other rows that is a problem, because
    the file would be exempt from every comparison.

    Args:
        data: The whole file.
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
    """Return the first problems and the number of others."""
    more = len(problems) - limits.RECORD_MAX_PROBLEMS
    if more <= 0:
        return tuple(problems)
    return (*problems[:-more], _problem(f"and {more} more problems", None))


def _problem(message: str, line: int | None) -> Problem:
    return Problem(code="record", message=message, path=RECORD_FILE_NAME, line=line)


def _row(cells: list[str]) -> RecordRow | None:
    """Parse one row; None if it does not have the form of one."""
    if len(cells) != 3 or not cells[0]:
        return None
    recorded, size = cells[1:]
    algorithm, _, text = recorded.partition("=")
    if (recorded and not text) or (size and not re.fullmatch("[0-9]{1,15}", size)):
        return None
    if algorithm not in RECORDED_ALGORITHMS:
        return RecordRow(None, int(size) if size else None)
    digest = _hex(text, recorded_size(algorithm))
    if digest is None:
        return None
    return RecordRow(digest, int(size) if size else None, algorithm)


def _may_lack_digest(path: str) -> bool:
    folder, _, name = path.rpartition("/")
    return _is_pyc(path) or (name == RECORD_FILE_NAME and folder.endswith(DIST_INFO_SUFFIX))


def _is_pyc(path: str) -> bool:
    return path.endswith(".pyc")


def _hex(text: str, size: int) -> str | None:
    """Return unpadded base64 as hex; None unless it is the one spelling of `size` bytes."""
    try:
        raw = base64.b64decode(
            text.encode() + b"=" * (-len(text) % 4), altchars=b"-_", validate=True
        )
    except (binascii.Error, UnicodeEncodeError):
        return None
    same = base64.urlsafe_b64encode(raw).decode().rstrip("=") == text
    return raw.hex() if same and len(raw) == size else None

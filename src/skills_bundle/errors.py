"""Record: the errors this package raises on purpose, and what a problem is.

```text
SkillsBundleError                 base of all; carries `problems`
├── MalformedJsonError            bytes that are not strict JSON
├── InvalidLockError              a lock that is not valid
├── InvalidReceiptError           a build receipt that is not valid
├── InvalidStatementError         a file without an in-toto statement
├── InvalidSkillsError            skills that were refused
│   └── UnreadableSkillsError     no skills folder, or an unreadable one
├── StaleLockError                a committed lock that does not match the skills
├── SettingsError                 wrong keys or values in pyproject.toml
├── CheckoutError                 a git checkout that cannot be inspected
├── UnsafeFileError               a file that is not opened: a link, a special file, a wrong size
├── UnsafeArchiveError            a wheel or sdist that two tools could read differently
├── UnreadableArchiveError        no such archive, or neither a wheel nor an sdist
├── SourceMismatchError           a commit without this project, or one that cannot be built
├── RepositoryUnavailableError    a git repository that is missing, unreadable or incomplete
├── BundleUnavailableError        no installed lock, or one that is not valid
├── UnknownSkillError             a skill that does not exist, or an ambiguous name
├── AlteredSkillsError            skills that do not match the lock
├── ExportTargetError             a folder that cannot be created
└── ToolError                     an error answer to a tool call
```
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final, Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing that is wrong, and where.

    Attributes:
        code: A stable identifier, lower case with underscores; documented in the reference.
        message: One sentence: what is wrong and, if known, what to do.
        path: The file, or the dotted path inside a document.
        line: Line number in that file, from 1.
    """

    code: str
    message: str
    path: str | None = None
    line: int | None = None

    def __str__(self) -> str:
        """Return `path:line: message [code]`, from which editors can open the file."""
        text = f"{self.message} [{self.code}]"
        if self.line is None:
            return text if self.path is None else f"{self.path}: {text}"
        place = f"line {self.line}" if self.path is None else f"{self.path}:{self.line}"
        return f"{place}: {text}"


class SkillsBundleError(Exception):
    """Base of every error that this package raises on purpose.

    Args:
        summary: One sentence: what failed.
        problems: All problems, in a stable order.
    """

    exit_code: ClassVar[int] = 1
    """The exit code of a command that this error ends."""

    def __init__(self, summary: str, problems: tuple[Problem, ...] = ()) -> None:
        """Keep the parts as fields."""
        super().__init__(summary)
        self.summary = summary
        self.problems = problems

    def __str__(self) -> str:
        """Return the summary, then one line for each problem."""
        return "\n".join([self.summary, *(f"  {problem}" for problem in self.problems)])


class MalformedJsonError(SkillsBundleError):
    """Bytes that are not strict JSON."""


class InvalidLockError(SkillsBundleError):
    """A lock that is malformed, has another version, or is not in its canonical rendering."""


class InvalidReceiptError(SkillsBundleError):
    """A build receipt that is malformed, or whose fields contradict each other."""


class InvalidStatementError(SkillsBundleError):
    """A file that is not an in-toto statement."""


class InvalidSkillsError(SkillsBundleError):
    """At least one skill was refused."""


class UnreadableSkillsError(InvalidSkillsError):
    """The skills folder does not exist or cannot be read."""

    exit_code: ClassVar[int] = 3


class StaleLockError(SkillsBundleError):
    """The committed lock does not match the skills."""


class SettingsError(SkillsBundleError):
    """Wrong keys or values in pyproject.toml, each with its TOML path."""

    exit_code: ClassVar[int] = 2


class CheckoutError(SkillsBundleError):
    """A git checkout that cannot be inspected; `reason` is one of the receipt's reason codes.

    Args:
        summary: One sentence for the build log; can name local files.
        reason: The code for the receipt.
        problems: Details, if there are any.
    """

    def __init__(self, summary: str, *, reason: str, problems: tuple[Problem, ...] = ()) -> None:
        """Keep the reason code."""
        super().__init__(summary, problems or (Problem(code=reason, message=summary),))
        self.reason = reason


_UNSAFE: Final = {
    "missing": "is missing",
    "linked": "is a link, or is in a linked folder",
    "not_regular": "is not a regular file",
    "size": "does not have the expected size",
    "changed": "does not have the expected content",
    "unreadable": "cannot be read",
}
"""Messages by the kind of an `UnsafeFileError`."""


UnsafeFileKind = Literal["missing", "linked", "not_regular", "size", "changed", "unreadable"]


class UnsafeFileError(SkillsBundleError):
    """A file that is refused or unreadable: a link, a special file, missing, or a wrong size.

    Args:
        kind: `missing`, `linked`, `not_regular`, `size`, `changed` or `unreadable`.
        path: The path as in the lock, never an absolute one.
    """

    def __init__(self, kind: UnsafeFileKind, path: str) -> None:
        """Keep kind and path as fields."""
        message = _UNSAFE.get(kind, kind)
        super().__init__(f"{path}: {message}.", (Problem(code=kind, message=message, path=path),))
        self.kind: UnsafeFileKind = kind
        self.path = path


class UnsafeArchiveError(SkillsBundleError):
    """A wheel or sdist that is refused: two tools could read it differently, or it is too large.

    Args:
        file_name: The archive's name, without folders.
        problems: Every ambiguity, with the member that causes it.
    """

    def __init__(self, file_name: str, problems: tuple[Problem, ...]) -> None:
        """Create the summary; the problems have the causes."""
        super().__init__(f"{file_name} is refused: it is ambiguous or unsafe.", problems)
        self.file_name = file_name


class UnreadableArchiveError(SkillsBundleError):
    """The archive does not exist or cannot be read."""

    exit_code: ClassVar[int] = 3


class SourceMismatchError(SkillsBundleError):
    """A commit that does not contain the project of this distribution, or cannot be built."""


class RepositoryUnavailableError(SkillsBundleError):
    """A git repository that does not exist, cannot be read, or lacks objects."""

    exit_code: ClassVar[int] = 3


class BundleUnavailableError(SkillsBundleError):
    """There is no installed lock, or it is not valid, so nothing can be served."""

    exit_code: ClassVar[int] = 3


class UnknownSkillError(SkillsBundleError):
    """A skill that a collection does not have, or a name of several skills."""

    exit_code: ClassVar[int] = 2


class AlteredSkillsError(SkillsBundleError):
    """Skills that do not match the lock, so nothing was exported."""


class ExportTargetError(SkillsBundleError):
    """The folder for an export exists or cannot be created."""

    exit_code: ClassVar[int] = 2


class ToolError(SkillsBundleError):
    """An error answer to a tool call.

    Args:
        code: One of the protocol's codes, for example `invalid_input`.
        message: The fixed sentence for that code; it has no path and no input.
    """

    def __init__(self, code: str, message: str) -> None:
        """Keep code and message as fields."""
        super().__init__(message, (Problem(code=code, message=message),))
        self.code = code
        self.message = message

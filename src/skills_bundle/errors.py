"""Record: the errors this package raises, and the one shape in which a problem is told.

```text
SkillsBundleError                 everything we raise on purpose; carries `problems`
├── MalformedJsonError            bytes that are not the strict JSON we accept
├── InvalidLockError              a lock that cannot be read
├── InvalidReceiptError           a build receipt that cannot be read
├── InvalidStatementError         bytes that hold no in-toto statement
├── InvalidSkillsError            skill folders that were refused
│   └── UnreadableSkillsError     no skills folder, or one that cannot be read
├── StaleLockError                a committed lock that is not what the skills give now
├── SettingsError                 wrong keys or values in pyproject.toml
├── CheckoutError                 a git repository that cannot be inspected
├── UnsafeFileError               a file we refuse to open: a link, a special file, a wrong size
├── UnsafeArchiveError            a wheel or sdist in which two tools could see two things
├── UnreadableArchiveError        no such archive, or one that is neither wheel nor sdist
├── SourceMismatchError           a commit that has no such project, or none that could be built
├── RepositoryUnavailableError    a git repository that cannot answer: none, not ours, lacks objects
├── BundleUnavailableError        no installed lock, or one that cannot be trusted
└── ToolError                     an answer "no" to a tool call; carries one of the wire's codes
```
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final, Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing that is wrong, with its place.

    Attributes:
        code: A stable identifier, lower case with underscores; documented in the reference.
        message: What is wrong and, where we know it, what to do: one sentence.
        path: The file, or the dotted path inside a document, that the problem is in.
        line: Line number in that file, counted from 1, if there is one.
    """

    code: str
    message: str
    path: str | None = None
    line: int | None = None

    def __str__(self) -> str:
        """Render as `path:line: message [code]`, the form editors jump from."""
        told = f"{self.message} [{self.code}]"
        if self.line is None:
            return told if self.path is None else f"{self.path}: {told}"
        place = f"line {self.line}" if self.path is None else f"{self.path}:{self.line}"
        return f"{place}: {told}"


class SkillsBundleError(Exception):
    """Everything this package raises on purpose: one summary and every problem found.

    Args:
        summary: One sentence that says what could not be done.
        problems: All problems, in a stable order; never only the first one.
    """

    exit_code: ClassVar[int] = 1
    """What the command line exits with when this error ends a command."""

    def __init__(self, summary: str, problems: tuple[Problem, ...] = ()) -> None:
        """Keep the parts as fields; the text is for people."""
        super().__init__(summary)
        self.summary = summary
        self.problems = problems

    def __str__(self) -> str:
        """Render the summary, then one line a problem."""
        return "\n".join([self.summary, *(f"  {problem}" for problem in self.problems)])


class MalformedJsonError(SkillsBundleError):
    """Bytes that are not the strict JSON we accept."""


class InvalidLockError(SkillsBundleError):
    """A lock that cannot be read: malformed, of another version, or not in its one rendering."""


class InvalidReceiptError(SkillsBundleError):
    """A build receipt that cannot be read, or whose fields contradict each other."""


class InvalidStatementError(SkillsBundleError):
    """A file that holds no in-toto statement, or one without the form of a statement."""


class InvalidSkillsError(SkillsBundleError):
    """At least one skill folder was refused."""


class UnreadableSkillsError(InvalidSkillsError):
    """No skills folder, or one that cannot be read: nothing can be told about its skills."""

    exit_code: ClassVar[int] = 3


class StaleLockError(SkillsBundleError):
    """The committed lock is not what the skills give now."""


class SettingsError(SkillsBundleError):
    """Wrong keys or values in pyproject.toml, each with its full TOML path."""

    exit_code: ClassVar[int] = 2


class CheckoutError(SkillsBundleError):
    """A git repository that cannot be inspected; `reason` is one of the receipt's reason codes.

    Args:
        summary: One sentence for the build log; may name local files.
        reason: The code that goes into the receipt.
        problems: If there is more to say than the summary does.
    """

    def __init__(self, summary: str, *, reason: str, problems: tuple[Problem, ...] = ()) -> None:
        """Keep the reason code beside the sentence."""
        super().__init__(summary, problems or (Problem(code=reason, message=summary),))
        self.reason = reason


_UNSAFE: Final = {
    "missing": "is missing",
    "linked": "is a link, or lies behind one",
    "not_regular": "is not a regular file",
    "size": "has not the size that it should have",
    "changed": "has not the content that it should have",
    "unreadable": "cannot be read",
}
"""Kind of an `UnsafeFileError`, in words."""


UnsafeFileKind = Literal["missing", "linked", "not_regular", "size", "changed", "unreadable"]


class UnsafeFileError(SkillsBundleError):
    """A file we refuse to open or cannot read: a link, a special file, missing, or a wrong size.

    Args:
        kind: `missing`, `linked`, `not_regular`, `size`, `changed` or `unreadable`.
        path: The path as the lock spells it; never an absolute one.
    """

    def __init__(self, kind: UnsafeFileKind, path: str) -> None:
        """Keep the kind as a field for the report."""
        message = _UNSAFE.get(kind, kind)
        super().__init__(f"{path}: {message}.", (Problem(code=kind, message=message, path=path),))
        self.kind: UnsafeFileKind = kind
        self.path = path


class UnsafeArchiveError(SkillsBundleError):
    """A wheel or sdist that is refused: two tools could see two things in it, or it is a bomb.

    Args:
        file_name: The archive's, without folders.
        problems: Every confusion found, each with the member that it is about.
    """

    def __init__(self, file_name: str, problems: tuple[Problem, ...]) -> None:
        """Say it in one sentence; the problems have the causes."""
        super().__init__(f"{file_name} is refused: it is not one plain archive.", problems)
        self.file_name = file_name


class UnreadableArchiveError(SkillsBundleError):
    """No such archive, or one that cannot be read: nothing can be told about it."""

    exit_code: ClassVar[int] = 3


class SourceMismatchError(SkillsBundleError):
    """A commit that holds no project of this distribution, or one that could not be built."""


class RepositoryUnavailableError(SkillsBundleError):
    """A git repository that cannot answer: none is there, it may not be read, or lacks objects."""

    exit_code: ClassVar[int] = 3


class BundleUnavailableError(SkillsBundleError):
    """There is no installed lock, or one that cannot be trusted: nothing can be served."""

    exit_code: ClassVar[int] = 3


class UnknownSkillError(SkillsBundleError):
    """A skill that a collection does not have, or a name that several of its skills have."""

    exit_code: ClassVar[int] = 2


class AlteredSkillsError(SkillsBundleError):
    """Skills that were to be copied and are not what was locked; none of them was copied."""


class ExportTargetError(SkillsBundleError):
    """A place where no folder can be made without touching what lies there."""

    exit_code: ClassVar[int] = 2


class ToolError(SkillsBundleError):
    """An answer "no" to a tool call.

    Args:
        code: One of the wire's codes, for example `invalid_input`.
        message: The fixed sentence that belongs to that code: no path, no input echoed.
    """

    def __init__(self, code: str, message: str) -> None:
        """Keep code and message as the wire carries them."""
        super().__init__(message, (Problem(code=code, message=message),))
        self.code = code
        self.message = message

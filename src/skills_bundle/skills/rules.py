"""Decision: which skills may be locked, by the Agent Skills specification.

Every problem of every skill is reported in one run; one bad skill hides no other.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from skills_bundle.files import paths
from skills_bundle.skills import frontmatter, limits
from skills_bundle.skills.codes import CODES, clip, diagnose
from skills_bundle.skills.model import (
    SKILL_MD,
    Diagnostic,
    Level,
    RefusedSkill,
    Skill,
    SkillFile,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from skills_bundle.skills.frontmatter import Frontmatter

__all__ = ["CODES", "Candidate", "Policy", "check", "judge"]

_FILTERED: Final = {
    b"version https://git-lfs.github.com/spec/v1\n": (
        "lfs_pointer",
        "is a Git LFS pointer; run `git lfs pull`, or store the file in git itself",
    ),
    b"\0GITCRYPT\0": (
        "filtered_content",
        "is encrypted by git-crypt; run `git-crypt unlock`, or leave the file out",
    ),
    b"/annex/objects/": (
        "filtered_content",
        "is a git-annex pointer; run `git annex get`, or store the file in git itself",
    ),
}
"""How a file begins that a filter of git's would have replaced, to code and message."""
_CODE: Final = re.compile(
    r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1|\Z)|`[^`\n]++`", re.MULTILINE | re.DOTALL
)
_LINK: Final = re.compile(
    r"\]\((?:\./)?((?:references|scripts|assets)/[^()\s<>{}$*|%#?]*+)"
    r"(?:[#?][^()\s]*+)?(?:[ \t]+\"[^\"\n]*+\")?\)"
)
"""A Markdown link into a folder that the specification names; other links are often examples."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A skill folder before it is checked.

    Attributes:
        path: Below the skills folder; `.` for the skills folder itself.
        files: Sorted by path bytes; without those that could not be read.
        diagnostics: What the scan itself reported.
    """

    path: str
    files: tuple[SkillFile, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True, slots=True)
class Policy:
    """Which diagnostics refuse a skill, beyond their level.

    Attributes:
        strict: Let every warning refuse.
        allow: Codes of `codes.ALLOWABLE` that are warnings, also if strict.
    """

    strict: bool = False
    allow: tuple[str, ...] = ()

    def refuses(self, row: Diagnostic) -> bool:
        """Return whether a diagnostic refuses its skill."""
        return row.code not in self.allow and (self.strict or row.level is Level.REFUSE)


@dataclass(slots=True)
class _Case:
    """A candidate while it is checked."""

    candidate: Candidate
    head: Frontmatter | None
    rows: list[Diagnostic] = field(default_factory=list[Diagnostic])

    @property
    def name(self) -> str | None:
        value = self.head.fields.get("name") if self.head is not None else None
        return unicodedata.normalize("NFC", value) if isinstance(value, str) else None


def judge(
    candidates: Sequence[Candidate], policy: Policy | None = None
) -> tuple[tuple[Skill, ...], tuple[RefusedSkill, ...]]:
    """Check candidates; each becomes either a skill or a refused skill.

    Args:
        candidates: All skill folders of one skills folder, in any order.
        policy: Which diagnostics refuse a skill.

    Returns:
        Both sorted by the bytes of the path.
    """
    policy = policy or Policy()
    cases = [_examine(row) for row in sorted(candidates, key=lambda row: row.path.encode())]
    _compare(cases)
    skills: list[Skill] = []
    refused: list[RefusedSkill] = []
    for case in cases:
        rows = tuple(sorted({_allowed(row, policy) for row in case.rows}, key=_order))
        if any(map(policy.refuses, rows)) or case.head is None:
            refused.append(RefusedSkill(path=case.candidate.path, diagnostics=rows))
        else:
            skills.append(_skill(case.candidate, case.head, case.name or "", rows))
    return tuple(skills), tuple(refused)


def _allowed(row: Diagnostic, policy: Policy) -> Diagnostic:
    return replace(row, level=Level.WARN) if row.code in policy.allow else row


def check(candidate: Candidate) -> tuple[Diagnostic, ...]:
    """Check one skill folder by itself."""
    return tuple(sorted(set(_examine(candidate).rows), key=_order))


def _order(row: Diagnostic) -> tuple[bytes, int, str, str]:
    return row.path.encode(), row.line or 0, row.code, row.message


def _skill(
    candidate: Candidate, head: Frontmatter, name: str, rows: tuple[Diagnostic, ...]
) -> Skill:
    return Skill(
        name=name,
        path=candidate.path,
        description=str(head.fields["description"]).strip(),
        frontmatter=head.fields,
        tags=frontmatter.tags(head.fields),
        diagnostics=rows,
        files=candidate.files,
        parse_mode=head.parse_mode,
    )


def _examine(candidate: Candidate) -> _Case:
    skill_md = next((file for file in candidate.files if file.path == SKILL_MD), None)
    case = _Case(candidate, None, list(candidate.diagnostics))
    case.rows += [*_path_rows(candidate), *_filtered_rows(candidate)]
    if skill_md is None:
        return case
    place = f"{candidate.path}/{SKILL_MD}"
    case.head = frontmatter.parse(skill_md.data)
    case.rows += [replace(row, path=place) for row in case.head.diagnostics]
    if not case.head.refused:
        folder = candidate.path.rsplit("/", 1)[-1]
        case.rows += [
            diagnose(code, place, message, case.head.lines.get(key, 1))
            for code, key, message in frontmatter.field_problems(case.head.fields, folder)
        ]
        case.rows += _body_rows(candidate, skill_md.data, case.head, place)
    return case


def _path_rows(candidate: Candidate) -> Iterator[Diagnostic]:
    """Check every path as the lock will hold it; report a folder's problem once."""
    reported: set[tuple[str, str]] = set()
    for path in [f"{candidate.path}/{file.path}" for file in candidate.files] or [candidate.path]:
        if candidate.path == ".":
            return
        for code, message in paths.problems(path):
            place = next(
                prefix
                for prefix in [*paths.parents(path), path]
                if code in dict(paths.problems(prefix))
            )
            if (code, place) not in reported:
                reported.add((code, place))
                yield diagnose(code, place, f"the path {message}")


def _filtered_rows(candidate: Candidate) -> Iterator[Diagnostic]:
    """Warn of files in the form in which git stores them, where a checkout has the content."""
    for file in candidate.files:
        for start, (code, message) in _FILTERED.items():
            if file.data.startswith(start):
                yield diagnose(code, f"{candidate.path}/{file.path}", message)


def _body_rows(
    candidate: Candidate, data: bytes, head: Frontmatter, place: str
) -> Iterator[Diagnostic]:
    lines = len(data.splitlines())
    if lines > limits.SKILL_MD_MAX_LINES:
        message = f"has {lines} lines; move some to references/"
        yield diagnose("too_many_lines", place, message)
    text = _CODE.sub(_blank, data[head.body_offset :].decode("utf-8"))
    first = data.count(b"\n", 0, head.body_offset) + 1
    known = {file.path for file in candidate.files}
    known |= {folder for path in known for folder in paths.parents(path)}
    for match in _LINK.finditer(text):
        target = unicodedata.normalize("NFC", match[1].rstrip("/"))
        if target not in known and "..." not in target:
            line = first + text.count("\n", 0, match.start())
            yield diagnose("broken_link", place, f"no file {clip(target)!r}", line)


def _blank(match: re.Match[str]) -> str:
    """Blank out code, where links are examples, but keep its lines for the line numbers."""
    return "\n" * match[0].count("\n")


def _compare(cases: list[_Case]) -> None:
    """Add the problems that only show between skills."""
    by_name: defaultdict[str, list[_Case]] = defaultdict(list)
    for case in cases:
        if case.name is not None:
            by_name[case.name].append(case)
    for name, same in by_name.items():
        for case in same if len(same) > 1 else []:
            others = _few([row.candidate.path for row in same if row is not case])
            message = f"{clip(name)!r} names {others} too; read the skill by its path"
            place = f"{case.candidate.path}/{SKILL_MD}"
            case.rows.append(diagnose("duplicate_name", place, message))
    files = (f"{row.candidate.path}/{file.path}" for row in cases for file in row.candidate.files)
    for one, other in paths.collisions(files):
        message = f"{one!r} and {other!r} are the same path on some systems; rename one"
        for case in _touched(cases, (one, other)):
            case.rows.append(diagnose("path_collision", one, message))


def _few(names: list[str]) -> str:
    shown = ", ".join(names[:3])
    return shown if len(names) <= 3 else f"{shown} and {len(names) - 3} more"


def _touched(cases: Iterable[_Case], places: tuple[str, str]) -> Iterator[_Case]:
    """Yield the cases at, above or below one of two colliding paths."""
    for case in cases:
        path = f"{case.candidate.path}/"
        if any(f"{place}/".startswith(path) or path.startswith(f"{place}/") for place in places):
            yield case

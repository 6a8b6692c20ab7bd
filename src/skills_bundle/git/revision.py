"""Record: what one look at a checkout gave."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from skills_bundle.git import limits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skills_bundle.bundle.receipt import Reason, State


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """What one look at a checkout gave.

    Attributes:
        state: `clean`; `dirty` if the project's folder is not what the commit holds; `archive` if
            there is no commit to compare with.
        reason: Why it is not clean, or None.
        detail: A sentence for the build log; may name local files, so it never ships.
        commit: Full id of HEAD's commit; only when clean.
        skills_tree: Id of the skills folder's tree in that commit; only when clean.
        proof: The raw commit and the raw trees down to the skills folder.
    """

    state: State
    reason: Reason | None
    detail: str = ""
    commit: str | None = None
    skills_tree: str | None = None
    proof: tuple[bytes, ...] = ()


def archive(reason: Reason, detail: str) -> Revision:
    """Give the revision of a folder that no commit speaks for."""
    return Revision(state="archive", reason=reason, detail=detail)


def dirty(reason: Reason, detail: str) -> Revision:
    """Give the revision of a folder that differs from its commit."""
    return Revision(state="dirty", reason=reason, detail=detail)


def listed(names: Sequence[str]) -> str:
    """Name a few of many, for one line of a build log."""
    few = ", ".join(map(shown, names[: limits.BUILD_PROBLEMS_SHOWN]))
    more = len(names) - limits.BUILD_PROBLEMS_SHOWN
    return f"{few} and {more} more" if more > 0 else few


def shown(name: str) -> str:
    """Give a file's name as text; bytes that are not UTF-8 are written as escapes."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")

"""Edge: whether every file of a plan can be put in its place, and would come into a commit.

A link on the way could lead out of the project, and what lies there is somebody else's. A pipe
would keep whoever reads it waiting. What git ignores is in no commit, so no build has it.
"""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING

from skills_bundle.errors import Problem, SettingsError
from skills_bundle.project.file_facts import open_facts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from skills_bundle.project.plan import Change


def demand(folder: Path, changes: Sequence[Change]) -> None:
    """Insist that a plan can be carried out without touching what it does not name.

    Args:
        folder: The project, resolved; need not be there.
        changes: As `plan` gives them.

    Raises:
        SettingsError: With everything that is in the way, and every file that git would ignore.
        CheckoutError: If there is a repository that cannot be read.
        OSError: If a folder on the way may not be looked into.
    """
    found = [*in_the_way(folder, changes), *_ignored(folder, changes)]
    if found:
        rows = {row.path: row for row in reversed(found)}  # what is in the way, before ignored
        summary = "There is no place for all of it; nothing was written."
        raise SettingsError(summary, tuple(reversed(rows.values())))


def in_the_way(folder: Path, changes: Iterable[Change]) -> Iterator[Problem]:
    """Give what lies where a file or one of its folders has to be.

    Args:
        folder: The project.
        changes: As `plan` gives them.
    """
    for row in changes:
        names = row.path.split("/")
        folders = ("/".join(names[:end]) for end in range(1, len(names)))
        found = [(path, _mode(folder / path)) for path in folders]
        for path, mode in found:
            if mode and not stat.S_ISDIR(mode):
                yield _told(path, mode, "is no folder")
        mode = _mode(folder / row.path)
        if mode and (row.old is None or not stat.S_ISREG(mode)):
            is_file = stat.S_ISREG(mode)
            yield _told(row.path, mode, "is there already" if is_file else "is no regular file")


def _mode(path: Path) -> int:
    """Give the mode of what lies there; 0 if nothing does."""
    try:
        return path.lstat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return 0


def _told(path: str, mode: int, what: str) -> Problem:
    message = f"{what}, and stays as it is; move it away, or choose other names"
    if stat.S_ISLNK(mode):
        message = "is a link, and nothing is written to where it leads; put the real thing here"
    return Problem(code="in_the_way", message=message, path=path)


def _ignored(folder: Path, changes: Iterable[Change]) -> Iterator[Problem]:
    if not folder.is_dir():
        return
    facts = open_facts(folder, ".", None).facts
    message = "is ignored by git, so that no commit and no build has it; `git check-ignore -v` "
    for row in changes:
        if facts.ignored(row.path):
            text = f"{message}names the rule"
            yield Problem(code="ignored_by_git", message=text, path=row.path)

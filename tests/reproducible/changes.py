"""Edge: checkouts in which something is not as in the commit, or only looks otherwise."""

from __future__ import annotations

import os
import shutil
import subprocess
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Final

from skills_bundle.project import project as bundle_project
from tests.reproducible.dirt import DIRTY, add, after, append, commit, hatch_file
from tests.reproducible.room import git
from tests.reproducible.rows import CLEAN, REFUSED, NotRunError, Variation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.reproducible.subjects import Subject


def variations() -> Iterator[Variation]:
    """Return all of them."""
    for group, cases in (("changed", CHANGED), ("same as the commit", SAME)):
        for name, (change, expect) in cases.items():
            yield Variation(group=group, name=name, build=partial(after, change), expect=expect)


def lock(project: Path) -> None:
    """Write the lock anew."""
    bundle_project.write_lock(bundle_project.load(project))


def edited(project: Path, subject: Subject) -> None:
    """Edit code."""
    append(project / subject.code)


def edited_readme(project: Path, _: Subject) -> None:
    """Edit what the metadata are made of."""
    append(project / "README.md")


def edited_pyproject(project: Path, _: Subject) -> None:
    """Add a comment to the configuration."""
    append(project / "pyproject.toml")


def edited_unseen(project: Path, subject: Subject) -> None:
    """Edit code, keeping its size and its times, and have git not look at more."""
    git(project, "config", "core.trustctime", "false")
    git(project, "config", "core.checkStat", "minimal")
    place = project / subject.code
    before, data = place.stat(), place.read_bytes()
    git(project, "update-index", "--really-refresh")
    place.write_bytes(data[:-2] + b"~" + data[-1:])
    os.utime(place, ns=(before.st_atime_ns, before.st_mtime_ns))


def edited_skill(project: Path, subject: Subject) -> None:
    """Edit a skill."""
    append(project / subject.skill)


def edited_skill_locked(project: Path, subject: Subject) -> None:
    """Edit a skill and lock it, and commit neither."""
    append(project / subject.skill)
    lock(project)


def edited_lock(project: Path, _: Subject) -> None:
    """Edit the lock by hand."""
    place = project / "catalog.lock.json"
    place.write_bytes(place.read_bytes().replace(b'"unlocked": []', b'"unlocked": [ ]', 1) + b"\n")


def assume_unchanged(project: Path, subject: Subject) -> None:
    """Hide a file from git status, then edit it."""
    git(project, "update-index", "--assume-unchanged", subject.code)
    append(project / subject.code)


def skip_worktree(project: Path, subject: Subject) -> None:
    """Take a file out of git's sight, and edit it."""
    git(project, "update-index", "--skip-worktree", subject.code)
    append(project / subject.code)


def staged_only(project: Path, subject: Subject) -> None:
    """Stage an edit and take it back on disk."""
    place = project / subject.code
    data = place.read_bytes()
    append(place)
    git(project, "add", "--all")
    place.write_bytes(data)


def deleted(project: Path, subject: Subject) -> None:
    """Delete code."""
    (project / subject.code).unlink()


def removed_from_index(project: Path, subject: Subject) -> None:
    """Have git forget code that is there."""
    git(project, "rm", "--quiet", "--cached", subject.code)


def added_mode(project: Path, subject: Subject) -> None:
    """Make code executable."""
    (project / subject.code).chmod(0o755)


def lost_mode(project: Path, subject: Subject) -> None:
    """Take the x bit of a skill's script."""
    (project / subject.script).chmod(0o644)


def linked_code(project: Path, subject: Subject) -> None:
    """Replace code by a link to the same bytes elsewhere."""
    place, moved = project / subject.code, project.parent / "moved.py"
    place.rename(moved)
    place.symlink_to(moved)


def replaced_link(project: Path, subject: Subject) -> None:
    """Commit a link, and replace it by the file it leads to."""
    place = project / subject.package / "link.py"
    place.symlink_to(os.path.relpath(project / subject.code, place.parent))
    commit(project)
    data = place.read_bytes()
    place.unlink()
    place.write_bytes(data)


def kept_link(project: Path, subject: Subject) -> None:
    """Commit a link to a committed file, and leave it."""
    place = project / subject.package / "link.py"
    place.symlink_to(os.path.relpath(project / subject.code, place.parent))
    commit(project)


def linked_folder(project: Path, subject: Subject) -> None:
    """Replace a folder of a skill by a link to the same files elsewhere."""
    folder = (project / subject.code).parent
    moved = project.parent / "moved"
    shutil.move(folder, moved)
    folder.symlink_to(moved)


def export_ignore(project: Path, subject: Subject) -> None:
    """Commit attributes that count for `git archive` alone."""
    with (project / ".gitattributes").open("a", encoding="utf-8") as file:
        file.write(f"{subject.code} export-ignore\n*.md export-subst\n")
    commit(project)


def moved_head(project: Path, _: Subject) -> None:
    """Move HEAD and leave index and files."""
    (project / "notes.txt").write_text("x\n", encoding="utf-8")
    commit(project)
    git(project, "reset", "--quiet", "--soft", "HEAD~1")


def unborn(project: Path, _: Subject) -> None:
    """Begin a branch that has no commit."""
    git(project, "checkout", "--quiet", "--orphan", "new")


def conflict(project: Path, subject: Subject) -> None:
    """Stop in the middle of a merge."""
    append(project / subject.code)
    commit(project)
    git(project, "checkout", "--quiet", "-b", "other", "HEAD~1")
    (project / subject.code).write_bytes(b"# Other.\n")
    commit(project)
    with suppress(subprocess.CalledProcessError):  # it stops at the conflict, as it should
        git(project, "merge", "--quiet", "-")


def junk_committed(project: Path, subject: Subject) -> None:
    """Commit a by-product after the lock was made.

    Raises:
        NotRunError: If the project refuses such a skill.
    """
    if "strict = true" in (project / "pyproject.toml").read_text(encoding="utf-8"):
        raise NotRunError("a strict project refuses by-products that git tracks")
    add(project, subject.skill.rpartition("/")[0], ".DS_Store")
    git(project, "add", "--all", "--force")
    git(project, "commit", "--quiet", "-m", "Oops")


def junk_locked(project: Path, subject: Subject) -> None:
    """Commit a by-product and make the lock anew."""
    junk_committed(project, subject)
    lock(project)
    commit(project)


def submodule(project: Path, subject: Subject) -> None:
    """Have a submodule in the package, committed."""
    other = project.parent / "other"
    git(project.parent, "init", "--quiet", str(other))
    add(other, "code.py")
    commit(other)
    git(project, "submodule", "--quiet", "add", str(other), f"{subject.package}/vendored")
    git(project, "commit", "--quiet", "-m", "A submodule")


def submodule_outside(project: Path, _: Subject) -> None:
    """Have a submodule that does not ship, committed and then changed."""
    other = project.parent / "other"
    git(project.parent, "init", "--quiet", str(other))
    add(other, "code.py")
    commit(other)
    git(project, "submodule", "--quiet", "add", str(other), "vendored")
    git(project, "commit", "--quiet", "-m", "A submodule")
    append(project / "vendored/code.py")


CHANGED: Final[dict[str, tuple[Callable[[Path, Subject], None], str]]] = {
    "code": (edited, DIRTY),
    "README": (edited_readme, DIRTY),
    "a comment in pyproject.toml": (edited_pyproject, DIRTY),
    "hatch.toml added": (hatch_file, DIRTY),
    "code of the same size and time": (edited_unseen, DIRTY),
    "a skill": (edited_skill, f"{REFUSED}content differs from the lock"),
    "a skill and its lock": (edited_skill_locked, DIRTY),
    "the lock, by hand": (edited_lock, f"{REFUSED}catalog.lock.json"),
    "assume-unchanged": (assume_unchanged, DIRTY),
    "skip-worktree": (skip_worktree, DIRTY),
    "staged, not on disk": (staged_only, DIRTY),
    "deleted": (deleted, DIRTY),
    "removed from the index": (removed_from_index, DIRTY),
    "x bit added": (added_mode, DIRTY),
    "x bit of a script lost": (lost_mode, DIRTY),
    "a file became a link": (linked_code, DIRTY),
    "a folder became a link": (linked_folder, DIRTY),
    "a link became a file": (replaced_link, DIRTY),
    "HEAD moved alone": (moved_head, DIRTY),
    "a merge with conflicts": (conflict, DIRTY),
    "a submodule in the package": (submodule, DIRTY),
    "a submodule elsewhere": (submodule_outside, DIRTY),
    "no commit yet": (unborn, "no_commit"),
    "a by-product committed": (junk_committed, DIRTY),
}
SAME: Final[dict[str, tuple[Callable[[Path, Subject], None], str]]] = {
    "a committed link": (kept_link, CLEAN),
    "export-ignore and export-subst": (export_ignore, CLEAN),
    "a by-product committed and locked": (junk_locked, CLEAN),
}

"""Edge: the one rule that says what a skill folder is and which files belong to it.

1. A *skill* is any folder below the skills folder, at any depth, that holds an entry `SKILL.md`
   which is not a folder. A `SKILL.md` further below a skill belongs to that skill. The skills
   folder itself is no skill: a `SKILL.md` there is refused, and the skills below it are still
   found. A folder whose `skill.md` differs from that name in case only is found and refused.
2. *Files*: in a git checkout the files on disk that git tracks or does not ignore; without git, all
   files on disk. *Junk* (`skills.junk`) belongs to nothing. Everything else in a skill is locked,
   dot-files included.
3. Links are never followed; in a skill they refuse it, and so do special files and submodules.
4. A folder named in `exclude`, and all below it, is left out; its skills are counted apart.
5. What lies outside every skill, junk that git tracks, and what is excluded is *unlocked*: git
   holds it, nothing of it ships. Where the skills folder is the project's, its lock is not in it.
6. Names are compared and locked in NFC. What is found does not depend on the order of a listing.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from skills_bundle.files import limits
from skills_bundle.errors import Problem, UnreadableSkillsError
from skills_bundle.skills import rules
from skills_bundle.files import paths
from skills_bundle.skills.codes import diagnose
from skills_bundle.files.reading import Folder
from skills_bundle.skills.disk_facts import DiskFacts
from skills_bundle.skills.gathering import SkillFiles, Spot, Strays, not_checked_out
from skills_bundle.files.paths import is_junk
from skills_bundle.skills.model import LOCK_FILE_NAME, SKILL_MD, ScanResult
from skills_bundle.skills.rules import Candidate

if TYPE_CHECKING:
    from pathlib import Path

    from skills_bundle.formats.digest import TreeEntry
    from skills_bundle.files.reading import FolderEntry
    from skills_bundle.skills.model import Diagnostic, FileFacts

Gatherer: TypeAlias = SkillFiles | Strays


__all__ = ["DiskFacts", "scan"]


def scan(
    folder: Path,
    facts: FileFacts,
    *,
    exclude: tuple[str, ...] = (),
    strict: bool = False,
    is_project: bool = False,
) -> ScanResult:
    """Find every skill below a folder and read it, each file once.

    Args:
        folder: The skills folder; it may itself be reached through links.
        facts: What git, or an old lock, says about the files.
        exclude: Folders below it to leave out, `/` between components, a last `/` allowed.
        strict: Let a warning refuse a skill.
        is_project: Whether the folder is the project's own, so that the project's lock lies in it.

    Raises:
        UnreadableSkillsError: If the folder is missing or cannot be read; whatever is wrong further
            down is in the result.
    """
    walk = _Walk(facts, exclude, LOCK_FILE_NAME if is_project else None)
    try:
        with Folder.open(folder) as top:
            walk.top(top)
    except OSError as error:
        hidden = "git did not check it out; run `git sparse-checkout disable`"
        message = hidden if facts.not_checked_out() else f"{error.strerror}"
        problem = Problem(code="unreadable", message=message, path=str(folder))
        raise UnreadableSkillsError("The skills folder cannot be read.", (problem,)) from error
    skills, refused = rules.judge(walk.candidates(), strict=strict)
    return ScanResult(
        skills=skills,
        refused=refused,
        excluded=tuple(sorted(walk.excluded, key=str.encode)),
        without_skill_md=walk.without_skill_md(),
        ignored=tuple(sorted(walk.ignored, key=str.encode)),
        unlocked=walk.unlocked({f"{row.path}/{file.path}" for row in skills for file in row.files}),
        problems=walk.problems(),
    )


@dataclass(slots=True)
class _TopFolder:
    """What a folder directly below the skills folder turned out to hold."""

    has_files: bool = False
    has_skill: bool = False


class _TooManyEntriesError(Exception):
    """The bound on one scan is passed."""


class _Walk:
    """One walk over one skills folder; recursion is bounded by `limits.SCAN_MAX_DEPTH`."""

    def __init__(self, facts: FileFacts, exclude: tuple[str, ...], own_lock: str | None) -> None:
        self._facts = facts
        self._own_lock = own_lock
        self._exclude = {unicodedata.normalize("NFC", row.rstrip("/")): False for row in exclude}
        self._submodules = {row.path: row for row in facts.submodules()}
        self._entries = 0
        self._tops: defaultdict[str, _TopFolder] = defaultdict(_TopFolder)
        self._strays = Strays(facts)
        self._skills: list[SkillFiles] = []
        self._skill_at_top = False
        self._unnamable: list[Candidate] = []
        self.excluded: list[str] = []
        self.ignored: list[str] = []

    def top(self, folder: Folder) -> None:
        """Walk the skills folder itself."""
        try:
            self._folder(folder, Spot("", ""), self._strays)
        except _TooManyEntriesError:
            limit = limits.SCAN_MAX_ENTRIES
            self._strays.say("scan_too_many_entries", ".", f"more than {limit} files and folders")
        for path, message in not_checked_out(self._facts):
            self._strays.say("not_checked_out", path, message)

    def _folder(self, folder: Folder, spot: Spot, into: Gatherer) -> None:
        """Look at everything in a folder; `into` is whom its files belong to so far."""
        try:
            entries = folder.entries()
        except OSError as error:
            into.say("unreadable", spot.shown, f"the folder cannot be listed: {error.strerror}")
            return
        if into is self._strays:
            into = self._owner(entries, spot)
        elif into.junk and self._skill_md(entries, spot) is not None:
            message = f"{SKILL_MD} is left out: the folder's name is a by-product's; rename it"
            self._strays.say("skill_in_junk", spot.shown, message)
        taken: set[str] = set()
        for entry in entries:
            self._entries += 1
            if self._entries > limits.SCAN_MAX_ENTRIES:
                raise _TooManyEntriesError
            inner = spot.below(entry.name)
            whose = self._whose(folder, entry, inner, into)
            if inner.path in taken:
                into.say("path_collision", inner.shown, "is there twice, in two Unicode forms")
            elif whose is not None:
                taken.add(inner.path)
                self._entry(folder, entry, inner, whose)

    def _owner(self, entries: list[FolderEntry], spot: Spot) -> Gatherer:
        """Say to whom the files of a folder outside every skill belong: it may be a skill."""
        name = self._skill_md(entries, spot)
        excluded = self._excludes(spot.path)
        if name is None:
            return self._strays
        if not spot.path:
            self._skill_at_top = name == SKILL_MD
            return self._strays
        self._tops[spot.top].has_skill = True
        if excluded:
            self.excluded.append(spot.path)
            return self._strays.excluded()
        skill = SkillFiles(spot.path, self._facts)
        if name != SKILL_MD:
            skill.say("skill_md_case", f"{spot.shown}/{name}", f"rename {name} to {SKILL_MD}")
        self._skills.append(skill)
        return skill

    def _skill_md(self, entries: list[FolderEntry], spot: Spot) -> str | None:
        """Give the name of the file that makes this folder a skill, the right spelling first."""
        names = [
            entry.name
            for entry in entries
            if entry.name.upper() == SKILL_MD.upper()
            and entry.kind != "folder"
            and not self._facts.ignored(spot.below(entry.name).path)
        ]
        return min(names, key=lambda name: (name != SKILL_MD, name), default=None)

    def _excludes(self, path: str) -> bool:
        """Tell whether the settings leave a folder out, and remember what was of use."""
        named = [folder for folder in [*paths.parents(path), path] if folder in self._exclude]
        for folder in named:
            self._exclude[folder] = True
        return bool(named)

    def _whose(self, folder: Folder, entry: FolderEntry, spot: Spot, into: Gatherer) -> Gatherer | None:
        """Say to whom an entry belongs; None if to nobody."""
        if spot.path == self._own_lock or entry.name == ".git":
            return None
        if is_junk(entry.name):
            return self._junk(spot, into)
        outside = into is self._strays
        if not spot.is_text:
            row = diagnose("path_not_utf8", spot.shown, "the name is not UTF-8")
            if outside and _holds_skill(folder, entry):
                path = spot.path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
                self._unnamable.append(Candidate(path=path, diagnostics=(row,)))
            else:
                into.rows.append(row)
            return None
        if not self._facts.ignored(spot.path):
            return into
        if outside and _holds_skill(folder, entry):
            self.ignored.append(spot.path)
        elif outside and entry.name == SKILL_MD:
            self.ignored.append(spot.path.rpartition("/")[0] or ".")
        return None

    def _junk(self, spot: Spot, into: Gatherer) -> Gatherer:
        """Give the gatherer of junk; say so if git would take it for an author's work."""
        if not into.junk and self._facts.untracked(spot.raw):
            message = "git does not ignore this by-product; put it into .gitignore"
            self._strays.say("junk_not_ignored", spot.shown, message)
        return self._strays.junk_of(into)

    def _entry(self, folder: Folder, entry: FolderEntry, spot: Spot, into: Gatherer) -> None:
        if spot.path == LOCK_FILE_NAME:
            message = "a lock belongs beside the skills folder; remove this one"
            self._strays.say("lock_in_skills", spot.shown, message)
        if entry.kind == "folder":
            self._child(folder, entry.name, spot, into)
            return
        if "/" in spot.path and not into.junk:
            self._tops[spot.top].has_files = True
        if entry.kind == "link":
            into.link(folder, entry.name, spot)
        elif entry.kind == "file":
            into.file(folder, entry.name, spot)
        else:
            into.special(spot)

    def _child(self, folder: Folder, name: str, spot: Spot, into: Gatherer) -> None:
        if spot.path in self._submodules:
            into.submodule(spot)
            return
        if not into.junk and self._facts.nested_repository(spot.raw):
            message = "is a git repository of its own; move it, ignore it, or remove its .git"
            self._strays.say("nested_repository", spot.shown, message)
            return
        if spot.path.count("/") >= limits.SCAN_MAX_DEPTH:
            into.say("scan_too_deep", spot.shown, f"deeper than {limits.SCAN_MAX_DEPTH} folders")
            return
        try:
            child = folder.child(name)
        except OSError as error:
            into.say("unreadable", spot.shown, f"the folder cannot be opened: {error.strerror}")
            return
        with child:
            self._folder(child, spot, into)

    def candidates(self) -> list[Candidate]:
        """Give every skill folder that is not excluded."""
        found = [*self._unnamable, *(skill.candidate() for skill in self._skills)]
        if self._skill_at_top:
            message = f"a skill needs a folder of its own; move {SKILL_MD} into one"
            row = diagnose("skill_at_top", SKILL_MD, message, 1)
            found.append(Candidate(path=".", diagnostics=(row,)))
        return found

    def without_skill_md(self) -> tuple[str, ...]:
        """Give the top-level folders that hold files and no skill."""
        found = (path for path, top in self._tops.items() if top.has_files and not top.has_skill)
        return tuple(sorted(found, key=str.encode))

    def problems(self) -> tuple[Diagnostic, ...]:
        """Give what there is to say about things outside every skill."""
        rows = [
            diagnose("exclude_unused", path, "names no folder outside a skill")
            for path, used in self._exclude.items()
            if not used
        ]
        return tuple(sorted([*self._strays.rows, *rows], key=lambda row: (row.path, row.code)))

    def unlocked(self, locked: set[str]) -> tuple[TreeEntry, ...]:
        """Give what git holds besides the locked files."""
        entries = self._facts.unlocked()
        if entries is None:
            entries = (*self._strays.entries, *self._submodules.values())
        # An old lock's entry may be in the way of a skill that has come since.
        taken = locked | {folder for path in locked for folder in paths.parents(path)}
        kept = [row for row in entries if taken.isdisjoint([row.path])]
        kept = [row for row in kept if locked.isdisjoint(paths.parents(row.path))]
        return tuple(sorted(kept, key=lambda row: row.path.encode()))


def _holds_skill(folder: Folder, entry: FolderEntry) -> bool:
    """Tell whether a folder holds a SKILL.md directly."""
    if entry.kind != "folder":
        return False
    try:
        with folder.child(entry.name) as child:
            return any(row.name == SKILL_MD and row.kind != "folder" for row in child.entries())
    except OSError:
        return False

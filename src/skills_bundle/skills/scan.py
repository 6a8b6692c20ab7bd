"""Edge: find the skills below a folder and read their files.

1. A *skill* is any folder below the skills folder, at any depth, that holds an entry `SKILL.md`
   which is not a folder. A `SKILL.md` further below a skill belongs to that skill. The skills
   folder itself is not a skill: a `SKILL.md` there is refused, and the skills below it are still
   found. A folder collector `skill.md` differs from that name only in case is found and refused.
2. *Files*: in a git checkout, the files on disk that git tracks or does not ignore; without git,
   all files on disk. *Junk* (`files.paths.is_junk`) belongs to no skill. Everything else in a skill is
   locked, dot-files included.
3. Links are never followed; in a skill they refuse it, and so do special files and submodules.
4. A folder named in `exclude`, and all below it, is left out; its skills are counted separately.
5. Files outside every skill, junk that git tracks, and excluded files are *unlocked*: git holds
   them and they do not ship. If the skills folder is the project's, its lock is not one of them.
6. Names are compared and locked in NFC. The result does not depend on the order of a listing.

A file of a skill is read into memory and kept. Any other file is only hashed, so that git's id of
the whole folder can be computed.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from skills_bundle.errors import Problem, UnreadableSkillsError, UnsafeFileError
from skills_bundle.files import limits as file_limits
from skills_bundle.files import paths
from skills_bundle.files.reading import Folder
from skills_bundle.files.paths import is_junk
from skills_bundle.formats.digest import TreeEntry, git_object_id
from skills_bundle.skills import limits, rules
from skills_bundle.skills.codes import diagnose
from skills_bundle.skills.model import (
    LOCK_FILE_NAME,
    SKILL_MD,
    Diagnostic,
    FileFacts,
    ScanResult,
    SkillFile,
)
from skills_bundle.skills.rules import Candidate

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from skills_bundle.files.reading import FolderEntry
    from skills_bundle.skills.rules import Policy

LINK_MODE: Final = "120000"

_UNSAFE: Final = {
    "linked": ("link", "became a link during the scan"),
    "not_regular": ("special_file", "is not a regular file"),
    "changed": ("changed_while_read", "changed while it was read"),
    "missing": ("changed_while_read", "disappeared during the scan"),
    "unreadable": ("unreadable", "cannot be read"),
}
"""`UnsafeFileError.kind` to code and message; `size` is reported once per skill."""


def scan(
    folder: Path,
    facts: FileFacts,
    *,
    exclude: tuple[str, ...] = (),
    policy: Policy | None = None,
    is_project: bool = False,
) -> ScanResult:
    """Find every skill below a folder and read it, each file once.

    Args:
        folder: The skills folder; it may itself be reached through links.
        facts: Facts from git, or from an old lock.
        exclude: Folders below it to leave out, `/` between components, a last `/` allowed.
        policy: Which diagnostics refuse a skill; without it, those of level refuse.
        is_project: Whether the folder is the project's own, so that the project's lock lies in it.

    Raises:
        UnreadableSkillsError: If the folder is missing or cannot be read; problems further down are
            in the result.
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
    skills, refused = rules.judge(walk.candidates(), policy)
    return ScanResult(
        skills=skills,
        refused=refused,
        excluded=tuple(sorted(walk.excluded, key=str.encode)),
        without_skill_md=walk.without_skill_md(),
        ignored=tuple(sorted(walk.ignored, key=str.encode)),
        unlocked=walk.unlocked({f"{row.path}/{file.path}" for row in skills for file in row.files}),
        problems=walk.problems(),
    )


@dataclass(frozen=True, slots=True)
class EntryPath:
    """A path below the skills folder, in two spellings; empty at the top.

    Attributes:
        raw: As the disk spells it.
        path: In NFC, as it is locked.
    """

    raw: str
    path: str

    def below(self, name: str) -> EntryPath:
        """Return the path of an entry of this folder."""
        normal = unicodedata.normalize("NFC", name)
        if not self.path:
            return EntryPath(name, normal)
        return EntryPath(f"{self.raw}/{name}", f"{self.path}/{normal}")

    @property
    def display(self) -> str:
        """The path for a message: `.` at the top; bytes that are not UTF-8 as escapes."""
        data = self.path.encode("utf-8", "surrogateescape")
        return data.decode("utf-8", "backslashreplace") or "."

    @property
    def top(self) -> str:
        """The folder directly below the skills folder."""
        return self.path.split("/", 1)[0]

    @property
    def is_text(self) -> bool:
        """Whether the disk's spelling is UTF-8."""
        return not any("\ud800" <= character <= "\udfff" for character in self.raw)


class SkillFiles:
    """The files of one skill folder, and the diagnostics about them.

    Args:
        path: The folder below the skills folder, in NFC.
        facts: Facts from git, or from an old lock.
    """

    def __init__(self, path: str, facts: FileFacts) -> None:
        """Start empty."""
        self.path = path
        self._facts = facts
        self._files: list[SkillFile] = []
        self.rows: list[Diagnostic] = []
        self.junk = False
        self._count = 0
        self._bytes = 0
        self._converted: list[str] = []

    def note(self, code: str, place: str, message: str) -> None:
        """Add a diagnostic."""
        self.rows.append(diagnose(code, place, message))

    def file(self, folder: Folder, name: str, at: EntryPath) -> None:
        """Read a file and keep it; past a bound, only count."""
        mode = self._facts.mode(at.raw) or self._facts.mode(at.path)
        if mode == LINK_MODE:
            self.link(folder, name, at)
            return
        self._check_name(at)
        self._count += 1
        path = at.path.removeprefix(f"{self.path}/")
        left = limits.SKILL_MAX_BYTES - self._bytes
        if path == SKILL_MD:  # read in any case: its problems are reported beside the others
            left = limits.SKILL_MAX_BYTES
        elif self._count > limits.SKILL_MAX_FILES or left < 0:
            return
        try:
            content = folder.read(name, left)
        except UnsafeFileError as error:
            self._unsafe(error.kind, at)
            return
        self._bytes += len(content.data)
        if self._facts.converts_line_ends(at.raw, content.data):
            self._converted.append(at.display)
        executable = self._facts.executable(at.path, on_disk=content.executable)
        self._files.append(SkillFile(path=path, data=content.data, executable=executable))

    def _unsafe(self, kind: str, at: EntryPath) -> None:
        if kind == "size":
            self._bytes = limits.SKILL_MAX_BYTES + 1
            message = f"the files together have more than {limits.SKILL_MAX_BYTES} bytes"
            self.note("too_large", at.display, message)
            return
        code, message = _UNSAFE[kind]
        self.note(code, at.display, message)

    def _check_name(self, at: EntryPath) -> None:
        """Report each name that is not NFC once; git must hold the name that is locked."""
        if at.raw == at.path:
            return
        held = self._facts.keeps_spelling(at.raw, at.path)
        code = "path_not_nfc" if held else "name_not_nfc"
        message = (
            "git has the name, or would add it, in a form other than NFC"
            if held
            else "is not in NFC on disk; if git adds it in this form, the skill is refused"
        )
        parts = zip(at.raw.split("/"), at.path.split("/"), strict=True)
        for depth, (raw, normal) in enumerate(parts, 1):
            if raw != normal:
                place = "/".join(at.path.split("/")[:depth])
                self.note(code, place, f"{message}; rename it")

    def link(self, folder: Folder, name: str, at: EntryPath) -> None:
        """Refuse a link."""
        del folder, name
        self.note("link", at.display, "is a symbolic link; put the file itself here")

    def special(self, at: EntryPath) -> None:
        """Refuse a pipe, socket or device; it is never opened."""
        self.note("special_file", at.display, "is a pipe, socket or device")

    def submodule(self, at: EntryPath) -> None:
        """Refuse a submodule."""
        self.note("submodule", at.display, "is a git submodule; its files would not ship")

    def candidate(self) -> Candidate:
        """Return the skill folder with its files and diagnostics."""
        rows = list(self.rows)
        if self._count > limits.SKILL_MAX_FILES:
            message = f"has {self._count} files, more than {limits.SKILL_MAX_FILES}"
            rows.append(diagnose("too_many_files", self.path, message))
        if self._converted:
            first, number = min(self._converted), len(self._converted)
            others = f", as in {number - 1} more files of this skill" if number > 1 else ""
            message = (
                f"has CRLF on disk and LF in git{others}; put `skills/** -text` (with your skills "
                "folder) into .gitattributes and check the files out again"
            )
            rows.append(diagnose("line_ends_converted", first, message))
        files = sorted(self._files, key=lambda file: file.path.encode())
        return Candidate(path=self.path, files=tuple(files), diagnostics=tuple(rows))


class UnlockedFiles:
    """Files that do not ship: hashed for git's id of the folder, and not kept.

    Args:
        facts: Facts from git, or from an old lock.
        parent: Collector whose lists to share.
        junk: Whether only files that git tracks count.
        owner: The skill that holds the junk; it gets a diagnostic if git tracks some.
    """

    def __init__(
        self,
        facts: FileFacts,
        parent: UnlockedFiles | None = None,
        *,
        junk: bool = False,
        owner: SkillFiles | None = None,
    ) -> None:
        """Start empty, or with a parent's lists."""
        self._facts = facts
        self._owner = owner
        self.junk = junk
        self.entries: list[TreeEntry] = [] if parent is None else parent.entries
        self.rows: list[Diagnostic] = [] if parent is None else parent.rows

    def excluded(self) -> UnlockedFiles:
        """Return a collector with the same lists, below which no skills are looked for."""
        return UnlockedFiles(self._facts, self)

    def junk_of(self, owner: SkillFiles | UnlockedFiles) -> UnlockedFiles:
        """Return a collector with the same lists, for junk."""
        skill = owner if isinstance(owner, SkillFiles) else None
        return UnlockedFiles(self._facts, self, junk=True, owner=skill)

    def note(self, code: str, place: str, message: str) -> None:
        """Add a diagnostic; junk gets none."""
        if not self.junk:
            self.rows.append(diagnose(code, place, message))

    def file(self, folder: Folder, name: str, at: EntryPath) -> None:
        """Hash a file as git does."""
        mode = self._facts.mode(at.raw) or self._facts.mode(at.path)
        if (self.junk and mode is None) or self._facts.unlocked() is not None:
            return
        try:
            oid, on_disk = folder.blob_id(name)
        except UnsafeFileError as error:
            code, message = _UNSAFE[error.kind]
            self.note(code, at.display, message)
            return
        if mode != LINK_MODE:  # a link that git wrote as a file, where the disk has no links
            executable = self._facts.executable(at.path, on_disk=on_disk)
            mode = "100755" if executable else "100644"
        self._add(at, mode, oid)

    def link(self, folder: Folder, name: str, at: EntryPath) -> None:
        """Hash a link's target text, as git does; the link is not followed."""
        if self.junk and self._facts.mode(at.raw) is None:
            return
        try:
            target = folder.link_target(name)
        except OSError:
            self.note("changed_while_read", at.display, "disappeared during the scan")
            return
        self.note(
            "link_not_followed", at.display, "is a symbolic link; its target is not looked at"
        )
        self._add(at, LINK_MODE, git_object_id("blob", target))

    def special(self, at: EntryPath) -> None:
        """Ignore it: git does not hold pipes, sockets and devices."""

    def submodule(self, at: EntryPath) -> None:
        """Ignore it: the facts list the submodules."""

    def _add(self, at: EntryPath, mode: str, oid: str) -> None:
        path = at.path if self._facts.mode(at.path) is not None else at.raw
        if len(path) > file_limits.PATH_MAX_CHARACTERS:
            self.note(
                "path_too_long", at.display, f"is longer than {file_limits.PATH_MAX_CHARACTERS}"
            )
            return
        self.entries.append(TreeEntry(path, mode, oid))
        if self._owner is not None:
            message = "git tracks this by-product; it does not ship, so git's tree differs"
            self._owner.note("tracked_junk", at.display, message)


def _not_checked_out(facts: FileFacts) -> Iterator[tuple[str, str]]:
    """Yield each folder of files that are not checked out, with a message."""
    folders: defaultdict[str, list[str]] = defaultdict(list)
    for path in facts.not_checked_out():
        folders[path.rpartition("/")[0]].append(path)
    for folder, files in sorted(folders.items()):
        what = "is" if len(files) == 1 else f"contains {len(files)} files that are"
        message = f"{what} not checked out; run `git sparse-checkout disable`"
        yield files[0] if len(files) == 1 else folder or ".", message


Collector: TypeAlias = SkillFiles | UnlockedFiles


@dataclass(slots=True)
class _TopFolder:
    """Whether a folder directly below the skills folder holds files, or a skill."""

    has_files: bool = False
    has_skill: bool = False


class _TooManyEntriesError(Exception):
    """The bound on the entries of one scan is exceeded."""


class _Walk:
    """One walk over one skills folder; recursion is bounded by `file_limits.SCAN_MAX_DEPTH`."""

    def __init__(self, facts: FileFacts, exclude: tuple[str, ...], lock_name: str | None) -> None:
        self._facts = facts
        self._lock_name = lock_name
        self._exclude = {unicodedata.normalize("NFC", row.rstrip("/")): False for row in exclude}
        self._submodules = {row.path: row for row in facts.submodules()}
        self._entries = 0
        self._tops: defaultdict[str, _TopFolder] = defaultdict(_TopFolder)
        self._outside = UnlockedFiles(facts)
        self._skills: list[SkillFiles] = []
        self._skill_at_top = False
        self._bad_names: list[Candidate] = []
        self.excluded: list[str] = []
        self.ignored: list[str] = []

    def top(self, folder: Folder) -> None:
        """Walk the skills folder itself."""
        try:
            self._folder(folder, EntryPath("", ""), self._outside)
        except _TooManyEntriesError:
            limit = file_limits.SCAN_MAX_ENTRIES
            self._outside.note("scan_too_many_entries", ".", f"more than {limit} files and folders")
        for path, message in _not_checked_out(self._facts):
            self._outside.note("not_checked_out", path, message)

    def _folder(self, folder: Folder, at: EntryPath, into: Collector) -> None:
        """Walk a folder; its files go `into` a collector unless it is a skill itself."""
        try:
            entries = folder.entries()
        except OSError as error:
            into.note("unreadable", at.display, f"the folder cannot be listed: {error.strerror}")
            return
        if into is self._outside:
            into = self._collector_of_folder(entries, at)
        elif into.junk and self._skill_md(entries, at) is not None:
            message = f"{SKILL_MD} is left out: the folder's name is a by-product's; rename it"
            self._outside.note("skill_in_junk", at.display, message)
        taken: set[str] = set()
        for entry in entries:
            self._entries += 1
            if self._entries > file_limits.SCAN_MAX_ENTRIES:
                raise _TooManyEntriesError
            inner = at.below(entry.name)
            collector = self._collector_of(folder, entry, inner, into)
            if inner.path in taken:
                into.note("path_collision", inner.display, "exists twice, in two Unicode forms")
            elif collector is not None:
                taken.add(inner.path)
                self._entry(folder, entry, inner, collector)

    def _collector_of_folder(self, entries: list[FolderEntry], at: EntryPath) -> Collector:
        """Return the collector for a folder outside every skill: it may be a skill itself."""
        name = self._skill_md(entries, at)
        excluded = self._excludes(at.path)
        if name is None:
            return self._outside
        if not at.path:
            self._skill_at_top = name == SKILL_MD
            return self._outside
        self._tops[at.top].has_skill = True
        if excluded:
            self.excluded.append(at.path)
            return self._outside.excluded()
        skill = SkillFiles(at.path, self._facts)
        if name != SKILL_MD:
            skill.note("skill_md_case", f"{at.display}/{name}", f"rename {name} to {SKILL_MD}")
        self._skills.append(skill)
        return skill

    def _skill_md(self, entries: list[FolderEntry], at: EntryPath) -> str | None:
        """Return the name of the file that makes this folder a skill; prefer the right spelling."""
        names = [
            entry.name
            for entry in entries
            if entry.name.upper() == SKILL_MD.upper()
            and entry.kind != "folder"
            and not self._facts.ignored(at.below(entry.name).path)
        ]
        return min(names, key=lambda name: (name != SKILL_MD, name), default=None)

    def _excludes(self, path: str) -> bool:
        """Return whether the settings exclude a folder, and mark those entries as used."""
        named = [folder for folder in [*paths.parents(path), path] if folder in self._exclude]
        for folder in named:
            self._exclude[folder] = True
        return bool(named)

    def _collector_of(
        self, folder: Folder, entry: FolderEntry, at: EntryPath, into: Collector
    ) -> Collector | None:
        """Return the collector for an entry; None if it is skipped."""
        if at.path == self._lock_name or entry.name == ".git":
            return None
        if is_junk(entry.name):
            return self._junk(at, into)
        outside = into is self._outside
        if not at.is_text:
            row = diagnose("path_not_utf8", at.display, "the name is not UTF-8")
            if outside and _holds_skill(folder, entry):
                path = at.path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
                self._bad_names.append(Candidate(path=path, diagnostics=(row,)))
            else:
                into.rows.append(row)
            return None
        if not self._facts.ignored(at.path):
            return into
        if outside and _holds_skill(folder, entry):
            self.ignored.append(at.path)
        elif outside and entry.name == SKILL_MD:
            self.ignored.append(at.path.rpartition("/")[0] or ".")
        return None

    def _junk(self, at: EntryPath, into: Collector) -> Collector:
        """Return the collector for junk; warn if git does not ignore it."""
        if not into.junk and self._facts.untracked(at.raw):
            message = "git does not ignore this by-product; add it to .gitignore"
            self._outside.note("junk_not_ignored", at.display, message)
        return self._outside.junk_of(into)

    def _entry(self, folder: Folder, entry: FolderEntry, at: EntryPath, into: Collector) -> None:
        if at.path == LOCK_FILE_NAME:
            message = "a lock belongs next to the skills folder; remove this file"
            self._outside.note("lock_in_skills", at.display, message)
        if entry.kind == "folder":
            self._child(folder, entry.name, at, into)
            return
        if "/" in at.path and not into.junk:
            self._tops[at.top].has_files = True
        if entry.kind == "link":
            into.link(folder, entry.name, at)
        elif entry.kind == "file":
            into.file(folder, entry.name, at)
        else:
            into.special(at)

    def _child(self, folder: Folder, name: str, at: EntryPath, into: Collector) -> None:
        if at.path in self._submodules:
            into.submodule(at)
            return
        if not into.junk and self._facts.nested_repository(at.raw):
            message = "is a separate git repository; move it, ignore it, or remove its .git"
            self._outside.note("nested_repository", at.display, message)
            return
        if at.path.count("/") >= file_limits.SCAN_MAX_DEPTH:
            into.note(
                "scan_too_deep", at.display, f"deeper than {file_limits.SCAN_MAX_DEPTH} folders"
            )
            return
        try:
            child = folder.child(name)
        except OSError as error:
            into.note("unreadable", at.display, f"the folder cannot be opened: {error.strerror}")
            return
        with child:
            self._folder(child, at, into)

    def candidates(self) -> list[Candidate]:
        """Return every skill folder that is not excluded."""
        found = [*self._bad_names, *(skill.candidate() for skill in self._skills)]
        if self._skill_at_top:
            message = f"a skill needs its own folder; move {SKILL_MD} into one"
            row = diagnose("skill_at_top", SKILL_MD, message, 1)
            found.append(Candidate(path=".", diagnostics=(row,)))
        return found

    def without_skill_md(self) -> tuple[str, ...]:
        """Return the top-level folders that hold files and no skill."""
        found = (path for path, top in self._tops.items() if top.has_files and not top.has_skill)
        return tuple(sorted(found, key=str.encode))

    def problems(self) -> tuple[Diagnostic, ...]:
        """Return the diagnostics about entries outside every skill."""
        rows = [
            diagnose("exclude_unused", path, "does not name a folder outside a skill")
            for path, used in self._exclude.items()
            if not used
        ]
        return tuple(sorted([*self._outside.rows, *rows], key=lambda row: (row.path, row.code)))

    def unlocked(self, locked: set[str]) -> tuple[TreeEntry, ...]:
        """Return the files that git holds besides the locked ones."""
        entries = self._facts.unlocked()
        if entries is None:
            entries = (*self._outside.entries, *self._submodules.values())
        # An old lock's entry may be in the way of a skill that has come since.
        taken = locked | {folder for path in locked for folder in paths.parents(path)}
        kept = [row for row in entries if taken.isdisjoint([row.path])]
        kept = [row for row in kept if locked.isdisjoint(paths.parents(row.path))]
        return tuple(sorted(kept, key=lambda row: row.path.encode()))


def _holds_skill(folder: Folder, entry: FolderEntry) -> bool:
    """Return whether a folder holds a SKILL.md directly."""
    if entry.kind != "folder":
        return False
    try:
        with folder.child(entry.name) as child:
            return any(row.name == SKILL_MD and row.kind != "folder" for row in child.entries())
    except OSError:
        return False

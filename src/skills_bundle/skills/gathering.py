"""Edge: whom a file found by the scan belongs to, and what is kept of it.

A file of a skill is read into memory and kept. Anything else is only hashed, so that git's id of
the whole folder can be computed.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from skills_bundle.files import limits as file_limits
from skills_bundle.skills import limits
from skills_bundle.errors import UnsafeFileError
from skills_bundle.formats.digest import TreeEntry, git_object_id
from skills_bundle.skills.codes import diagnose
from skills_bundle.skills.model import SKILL_MD, Diagnostic, FileFacts, SkillFile
from skills_bundle.skills.rules import Candidate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skills_bundle.files.reading import Folder

LINK_MODE: Final = "120000"

_UNSAFE: Final = {
    "linked": ("link", "became a link while we looked"),
    "not_regular": ("special_file", "is no regular file"),
    "changed": ("changed_while_read", "changed while it was read"),
    "missing": ("changed_while_read", "vanished while we looked"),
    "unreadable": ("unreadable", "cannot be read"),
}
"""`UnsafeFileError.kind` to code and sentence; `size` is told once a skill."""


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a walk is, relative to the skills folder; empty at the top.

    Attributes:
        raw: As the disk spells it.
        path: In NFC, as it is locked.
    """

    raw: str
    path: str

    def below(self, name: str) -> Spot:
        """Give the spot of an entry of this folder."""
        normal = unicodedata.normalize("NFC", name)
        return (
            Spot(name, normal)
            if not self.path
            else Spot(f"{self.raw}/{name}", f"{self.path}/{normal}")
        )

    @property
    def shown(self) -> str:
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
    """The files of one skill folder, and what there is to say about them.

    Args:
        path: The folder below the skills folder, in NFC.
        facts: What git says.
    """

    def __init__(self, path: str, facts: FileFacts) -> None:
        """Start with nothing."""
        self.path = path
        self._facts = facts
        self._files: list[SkillFile] = []
        self.rows: list[Diagnostic] = []
        self.junk = False
        self._count = 0
        self._bytes = 0

    def say(self, code: str, place: str, message: str) -> None:
        """Add a diagnostic."""
        self.rows.append(diagnose(code, place, message))

    def file(self, folder: Folder, name: str, spot: Spot) -> None:
        """Read a file and keep it; past a bound, only count."""
        mode = self._facts.mode(spot.raw) or self._facts.mode(spot.path)
        if mode == LINK_MODE:
            self.link(folder, name, spot)
            return
        self._check_name(spot)
        self._count += 1
        path = spot.path.removeprefix(f"{self.path}/")
        left = limits.SKILL_MAX_BYTES - self._bytes
        if path == SKILL_MD:  # read in any case: its faults are told beside the others
            left = limits.SKILL_MAX_BYTES
        elif self._count > limits.SKILL_MAX_FILES or left < 0:
            return
        try:
            content = folder.read(name, left)
        except UnsafeFileError as error:
            self._unsafe(error.kind, spot)
            return
        self._bytes += len(content.data)
        executable = self._facts.executable(spot.path, on_disk=content.executable)
        self._files.append(SkillFile(path=path, data=content.data, executable=executable))

    def _unsafe(self, kind: str, spot: Spot) -> None:
        if kind == "size":
            self._bytes = limits.SKILL_MAX_BYTES + 1
            message = f"the files together have more than {limits.SKILL_MAX_BYTES} bytes"
            self.say("too_large", spot.shown, message)
            return
        code, message = _UNSAFE[kind]
        self.say(code, spot.shown, message)

    def _check_name(self, spot: Spot) -> None:
        """Say once for each name that is not NFC; git must hold the name that is locked."""
        if spot.raw == spot.path:
            return
        held = self._facts.mode(spot.raw) is not None
        code = "path_not_nfc" if held else "name_not_nfc"
        message = "git holds the name in another form than NFC" if held else "is not in NFC on disk"
        parts = zip(spot.raw.split("/"), spot.path.split("/"), strict=True)
        for depth, (raw, normal) in enumerate(parts, 1):
            if raw != normal:
                place = "/".join(spot.path.split("/")[:depth])
                self.say(code, place, f"{message}; rename it")

    def link(self, folder: Folder, name: str, spot: Spot) -> None:
        """Refuse a link."""
        del folder, name
        self.say("link", spot.shown, "is a symbolic link; put the file itself here")

    def special(self, spot: Spot) -> None:
        """Refuse a pipe, socket or device; it is never opened."""
        self.say("special_file", spot.shown, "is a pipe, socket or device")

    def submodule(self, spot: Spot) -> None:
        """Refuse a submodule."""
        self.say("submodule", spot.shown, "is a git submodule; its files would not ship")

    def candidate(self) -> Candidate:
        """Give what was gathered."""
        rows = list(self.rows)
        if self._count > limits.SKILL_MAX_FILES:
            message = f"has {self._count} files, more than {limits.SKILL_MAX_FILES}"
            rows.append(diagnose("too_many_files", self.path, message))
        files = sorted(self._files, key=lambda file: file.path.encode())
        return Candidate(path=self.path, files=tuple(files), diagnostics=tuple(rows))


class Strays:
    """What lies outside every skill: hashed for git's id of the folder, never read for itself.

    Args:
        facts: What git says.
        parent: Whose lists to add to, if another's.
        junk: Whether only what git tracks counts.
        owner: The skill in which the junk lies; it is told what git tracks.
    """

    def __init__(
        self,
        facts: FileFacts,
        parent: Strays | None = None,
        *,
        junk: bool = False,
        owner: SkillFiles | None = None,
    ) -> None:
        """Start with nothing, or with a parent's lists."""
        self._facts = facts
        self._owner = owner
        self.junk = junk
        self.entries: list[TreeEntry] = [] if parent is None else parent.entries
        self.rows: list[Diagnostic] = [] if parent is None else parent.rows

    def excluded(self) -> Strays:
        """Give another gatherer for the same list, in which the walk looks for no skills."""
        return Strays(self._facts, self)

    def junk_of(self, owner: SkillFiles | Strays) -> Strays:
        """Give another gatherer for the same list, for junk."""
        skill = owner if isinstance(owner, SkillFiles) else None
        return Strays(self._facts, self, junk=True, owner=skill)

    def say(self, code: str, place: str, message: str) -> None:
        """Add a diagnostic; junk is worth none."""
        if not self.junk:
            self.rows.append(diagnose(code, place, message))

    def file(self, folder: Folder, name: str, spot: Spot) -> None:
        """Hash a file as git does."""
        mode = self._facts.mode(spot.raw) or self._facts.mode(spot.path)
        if (self.junk and mode is None) or self._facts.unlocked() is not None:
            return
        try:
            oid, on_disk = folder.blob_id(name)
        except UnsafeFileError as error:
            code, message = _UNSAFE[error.kind]
            self.say(code, spot.shown, message)
            return
        if mode != LINK_MODE:  # a link that git wrote as a file, where the disk has no links
            executable = self._facts.executable(spot.path, on_disk=on_disk)
            mode = "100755" if executable else "100644"
        self._add(spot, mode, oid)

    def link(self, folder: Folder, name: str, spot: Spot) -> None:
        """Keep what a link says, as git does; never where it leads."""
        if self.junk and self._facts.mode(spot.raw) is None:
            return
        try:
            target = folder.link_target(name)
        except OSError:
            self.say("changed_while_read", spot.shown, "vanished while we looked")
            return
        self.say("link_not_followed", spot.shown, "is a symbolic link; its target is not looked at")
        self._add(spot, LINK_MODE, git_object_id("blob", target))

    def special(self, spot: Spot) -> None:
        """Pass by: git does not hold pipes, sockets and devices."""

    def submodule(self, spot: Spot) -> None:
        """Pass by: the facts list the submodules."""

    def _add(self, spot: Spot, mode: str, oid: str) -> None:
        path = spot.path if self._facts.mode(spot.path) is not None else spot.raw
        if len(path) > file_limits.PATH_MAX_CHARACTERS:
            self.say("path_too_long", spot.shown, f"is longer than {file_limits.PATH_MAX_CHARACTERS}")
            return
        self.entries.append(TreeEntry(path, mode, oid))
        if self._owner is not None:
            message = "git tracks this by-product; it does not ship, so git's tree differs"
            self._owner.say("tracked_junk", spot.shown, message)


def not_checked_out(facts: FileFacts) -> Iterator[tuple[str, str]]:
    """Give each folder of files that git keeps away from the disk, and a sentence about them."""
    folders: defaultdict[str, list[str]] = defaultdict(list)
    for path in facts.not_checked_out():
        folders[path.rpartition("/")[0]].append(path)
    for folder, paths in sorted(folders.items()):
        files = "is" if len(paths) == 1 else f"holds {len(paths)} files that are"
        message = f"{files} not checked out; run `git sparse-checkout disable`"
        yield paths[0] if len(paths) == 1 else folder or ".", message

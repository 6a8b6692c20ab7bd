"""Edge: what a build reads, compared with the commit: the files that ship, and those that decide.

What the commit does not hold does not ship, or the receipt names no commit:

```text
where git has the file      ships   the receipt says
the commit, same bytes      yes     clean
the commit, other bytes     yes     dirty_source (eol_converted if line ends are all that differs)
the index only, submodule   yes     dirty_source
untracked, not ignored      yes     dirty_source; junk and archives of builds: no, and clean
ignored                     no      clean; the build log lists it
ignored, but asked for      yes     dirty_source   (`artifacts`, `force-include`, another hook)
outside the repository      no      dirty_source; asked for: yes, dirty_source
```

Only files that hatchling selects are looked at. What it does not select does not ship, and makes
nothing dirty. Without a checkout there is nothing to compare with: everything but junk ships.

Configuration, build scripts and ignore files decide what ships, so the commit must hold each as it
was read. Where code or the environment gives a field of the metadata there is nothing to compare;
such fields are listed in the receipt. If it replaces a value that the commit states and installers
act on, the receipt names no commit.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from hatchling.builders.sdist import SdistBuilder
from hatchling.builders.wheel import WheelBuilder

from skills_bundle.archives.model import Member, is_script_of
from skills_bundle.errors import CheckoutError, SettingsError
from skills_bundle.files import reading
from skills_bundle.files.paths import from_disk, is_junk, to_disk
from skills_bundle.formats import toml
from skills_bundle.formats.digest import git_object_id
from skills_bundle.formats.metadata_files import same_version
from skills_bundle.git.status import FileStatus, file_status, uncommitted_status

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping

    from hatchling.builders.config import BuilderConfig

    from skills_bundle.bundle.receipt import Inputs
    from skills_bundle.git.commit import Entry
    from skills_bundle.git.proof import Reason
    from skills_bundle.git.repository import Checkout
    from skills_bundle.hatch_plugin.selection import Builder, Candidate, Metadata

PYPROJECT: Final = "pyproject.toml"
HATCH_FILE: Final = "hatch.toml"
BUILD_SCRIPT: Final = "hatch_build.py"
"""Where hatchling looks for a custom hook that names no path."""
ARCHIVES: Final = (".whl", ".tar.gz")
OUTPUT: Final = "dist"
"""The folder that front ends write archives to unless told otherwise."""
ACTED_ON: Final = frozenset(
    {"name", "version", "requires-python", "dependencies", "optional-dependencies"}
    | {"scripts", "gui-scripts", "entry-points"}
)
"""Fields that installers act on."""
FORMATTED: Final = ("dependencies", "optional-dependencies")
"""Fields in which hatchling fills in folders and variables of the environment: `{root:uri}`."""
_TRACKED_JUNK: Final = (
    "git tracks this by-product and the lock does not list it; "
    "`git rm --cached` it, or run `skills-bundle lock` and commit"
)


def read_file(path: Path) -> bytes | None:
    """Read one file of the project, through links; None if they do not lead to a regular file.

    Never waits, as a pipe would make it. There is no limit: hatchling reads everything that ships,
    too.
    """
    try:
        return reading.read_named(path, sys.maxsize - 1)
    except OSError:
        return None


@dataclass(kw_only=True)
class InputCheck:
    """Decides what one build ships, and collects where its inputs differ from the commit.

    Attributes:
        root: The project's folder as hatchling spells it.
        checkout: The repository around it, or None.
        outputs: Folders, below `root` or elsewhere, in which an archive is of this or an earlier
            build.
        sdist_inputs: Where there is no checkout, what the sdist's receipt lists: such a file is
            not junk, and which files are executable is taken from it. None to go by the disk.
        differences: Why no commit can be named, by path; the keys are for the build log.
        left_out: Files that hatchling selects and git ignores, by path.
    """

    root: Path
    checkout: Checkout | None
    outputs: frozenset[Path]
    sdist_inputs: Inputs | None = None
    differences: dict[str, Reason] = field(default_factory=dict[str, "Reason"])
    left_out: set[str] = field(default_factory=set[str])

    def admit(self, candidate: Candidate, member: Member) -> Member | None:
        """Return a file as it ships, with git's mode, or None if it does not ship.

        Args:
            candidate: Where the file comes from.
            member: The bytes that would ship.
        """
        path = self.relative(candidate.source)
        if self.checkout is None:
            return self._without_git(candidate, path, member)
        found = self._status(self.checkout, candidate.source)
        if found.entry is not None:
            data = _source_bytes(candidate, member)
            self._compare(path or candidate.source, found.entry.oid, data)
            return Member(member.data, found.entry.mode == "100755")
        harmless = self._harmless(path)
        ships, differs = _fate(candidate, found, harmless=harmless)
        if differs:
            self.differences[path or candidate.source] = "dirty_source"
        elif not (ships or harmless or candidate.is_ignore_file):
            self.left_out.add(path or candidate.source)
        return member if ships else None

    def leave_out(self, candidate: Candidate) -> None:
        """Leave out a file that cannot be read: a dangling link, or one that leads to a folder."""
        self.differences[self.relative(candidate.source) or candidate.source] = "dirty_source"

    def check_complete(self, selected: Iterable[str], members: Container[str]) -> None:
        """Note what hatchling selected and an archive lacks: another hook removed it."""
        for name in selected:
            if name not in members:
                self.differences[f"{name} (was removed from the archive)"] = "dirty_source"

    def check_generated(
        self, name: str, member: Member, expected: Mapping[str, bytes | None]
    ) -> None:
        """Note a member that comes from no file, unless hatchling made it.

        Args:
            name: Its path in the archive.
            member: What the archive holds.
            expected: What hatchling makes, by path; None if the bytes do not matter.
        """
        if name not in expected:
            self.differences[f"{name} (was put into the archive)"] = "dirty_source"
        elif expected[name] not in {None, member.data}:
            self.differences[f"{name} (differs from what the configuration produces)"] = (
                "dirty_source"
            )

    def check_read(self, source: str, decides: str) -> None:
        """Compare with the commit a file that the build reads and may not ship.

        Args:
            source: Its absolute path.
            decides: What it decides, for the build log.
        """
        path = self.relative(source)
        if self.checkout is None:
            if path is None:  # an sdist does not contain it
                self.note(source, decides)
            return
        entry = self._status(self.checkout, source).entry
        data = read_file(Path(source))
        if entry is None or data is None:
            self.note(source, decides)
        else:
            self._compare(path or source, entry.oid, data)

    def note(self, source: str, why: str) -> None:
        """Note that the commit does not determine what a file decided.

        Args:
            source: Its absolute path.
            why: For the build log.
        """
        self.differences[f"{self.relative(source) or source} ({why})"] = "dirty_source"

    def is_committed(self, source: str) -> bool:
        """Return whether the commit holds a file at this absolute path, with any bytes."""
        checkout = self.checkout
        return checkout is not None and self._status(checkout, source).entry is not None

    def compare_folder(self, folder: str, entries: Mapping[str, Entry]) -> None:
        """Note the files in which a folder differs from the commit's.

        Args:
            folder: Relative to the project.
            entries: What it holds, by path below it; also what does not ship.
        """
        if self.checkout is None:
            return
        committed = self.checkout.head_files(folder)
        for path in committed.keys() | entries.keys():
            theirs, ours, place = committed.get(path), entries.get(path), f"{folder}/{path}"
            data = read_file(self.root / to_disk(place))
            if theirs is not None and ours is not None and data and theirs.mode == ours.mode:
                self._compare(place, theirs.oid, data)
            elif theirs != ours and ours is None and is_junk(path):
                self.differences[f"{place} ({_TRACKED_JUNK})"] = "dirty_source"
            elif theirs != ours:
                self.differences[place] = "dirty_source"

    def committed_bytes(self, path: str) -> bytes | None:
        """Return what the commit holds at a path below the project; None if there is no file."""
        try:
            return None if self.checkout is None else self.checkout.head_bytes(path)
        except CheckoutError:
            return None

    def relative(self, source: str) -> str | None:
        """Return a path below the project as git spells it, or None if it lies elsewhere."""
        relative = from_disk(os.path.relpath(source, self.root).replace(os.sep, "/"))
        return None if relative == ".." or relative.startswith("../") else relative

    def _status(self, checkout: Checkout, source: str) -> FileStatus:
        path = self.relative(source)
        if path is not None:  # the project may have been reached through a link
            place = checkout.project / to_disk(path)
        else:
            place = Path(source).parent.resolve() / Path(source).name
        try:
            return file_status(checkout, str(place))
        except CheckoutError:  # the commit cannot be read; what git ignores stays out all the same
            inside = checkout.inside(str(place))
            return FileStatus("outside") if inside is None else uncommitted_status(checkout, inside)

    def _harmless(self, path: str | None) -> bool:
        return path is not None and (is_junk(path) or self._is_archive(path))

    def _is_archive(self, path: str) -> bool:
        return path.endswith(ARCHIVES) and (self.root / to_disk(path)).parent in self.outputs

    @cached_property
    def _listed(self) -> frozenset[str]:
        return frozenset(() if self.sdist_inputs is None else self.sdist_inputs.files)

    @cached_property
    def _executable(self) -> frozenset[str]:
        return frozenset(() if self.sdist_inputs is None else self.sdist_inputs.executable)

    def _compare(self, path: str, oid: str, data: bytes) -> None:
        if git_object_id("blob", data) == oid:
            return
        converted = git_object_id("blob", data.replace(b"\r\n", b"\n")) == oid
        self.differences[path] = "eol_converted" if converted else "dirty_source"

    def _without_git(self, candidate: Candidate, path: str | None, member: Member) -> Member | None:
        foreign = candidate.is_ignore_file and path is None
        junk = not candidate.declared and path not in self._listed and self._harmless(path)
        if foreign or junk:
            return None
        if self.sdist_inputs is not None and path is not None:
            return Member(member.data, path in self._executable)
        return member


def _fate(candidate: Candidate, found: FileStatus, *, harmless: bool) -> tuple[bool, bool]:
    """Return whether a file that the commit does not hold ships, and whether it is a difference."""
    if found.place == "tracked":
        return True, True
    if candidate.is_ignore_file and found.place != "untracked":
        return False, False
    if candidate.declared:
        return True, True
    if found.place == "ignored":
        return False, False
    return found.place == "untracked" and not harmless, not harmless


def _source_bytes(candidate: Candidate, member: Member) -> bytes:
    """Return what to compare with the commit; hatchling rewrites the first line of a script."""
    if candidate.is_script:
        source = read_file(Path(candidate.source))
        if source is not None and is_script_of(member.data, source):
            return source
    return member.data


def check_configuration(check: InputCheck, metadata: Metadata) -> None:
    """Compare with the commit what this build reads without shipping it.

    Args:
        check: Collects what differs.
        metadata: hatchling's view of the project, as read before the checkout was inspected.
    """
    root = str(check.root)
    builders: tuple[Builder, ...] = (
        SdistBuilder(root, metadata=metadata),
        WheelBuilder(root, metadata=metadata),
    )
    for builder in builders:
        _check_ignore_files(check, builder)
    for name in sorted(ACTED_ON.intersection(replaced_fields(metadata))):
        where = f"code replaced `project.{name}`, which it states"
        check.note(str(check.root / PYPROJECT), where)
    if check.checkout is not None:  # an sdist's are among its files, or not read: see PKG-INFO
        for path, decides in _files_read(check.root, metadata):
            check.check_read(str(check.root / path), decides)
        _check_what_was_read(check, metadata)
    _check_spelling(check, metadata)


def _files_read(root: Path, metadata: Metadata) -> Iterator[tuple[str, str]]:
    """Iterate over the files that configure a build or are run by it, and what each decides."""
    yield PYPROJECT, "configures the build"
    if (root / HATCH_FILE).exists():
        yield HATCH_FILE, "configures the build"
    hatch = _hatch(metadata)
    dynamic = cast("list[object]", _table(metadata.config, "project").get("dynamic", []))
    version = _table(hatch, "version").get("path")
    if "version" in dynamic and isinstance(version, str):
        yield version, "provides the version"
    build = _table(hatch, "build")
    hooks = [_table(hatch, "metadata", "hooks"), _table(build, "hooks")]
    hooks += [_table(build, "targets", target, "hooks") for target in _table(build, "targets")]
    for table in hooks:
        if "custom" in table:
            yield str(_table(table, "custom").get("path", BUILD_SCRIPT)), "is run by the build"


def _check_ignore_files(check: InputCheck, builder: Builder) -> None:
    """Compare the ignore files that hatchling uses.

    It takes the nearest of each kind in any folder above, and none at all where a pattern matches
    the path of the project's own folder; so the same commit can select different files.
    """
    config = cast("BuilderConfig", builder.config)
    if config.ignore_vcs:
        return
    in_force = any(line.strip() for line in config.load_vcs_exclusion_patterns())
    for kind, sources in config.vcs_exclusion_files.items():
        for source in sources:
            if in_force:
                decides = "affects what ships; set `ignore-vcs = true`"
                check.check_read(source, decides)
            elif kind == "git" and check.is_committed(source) and _has_patterns(source):
                where = "has no effect in a folder that it matches; set `ignore-vcs = true`"
                check.note(source, where)


def _has_patterns(source: str) -> bool:
    lines = Path(source).read_text(encoding="utf-8").splitlines()
    return any(line.strip() and not line.startswith("#") for line in lines)


def _check_what_was_read(check: InputCheck, metadata: Metadata) -> None:
    """Compare the configuration as hatchling read it with what the commit holds."""
    project = _parsed(check.committed_bytes(PYPROJECT))
    if project is None:
        return  # not in the commit, which is a difference already; or hatchling cannot read it
    hatch = {
        **_table(project, "tool", "hatch"),
        **(_parsed(check.committed_bytes(HATCH_FILE)) or {}),
    }
    if metadata.config != project or _hatch(metadata) != hatch:
        check.note(str(check.root / PYPROJECT), "changed after hatchling read it")


def _check_spelling(check: InputCheck, metadata: Metadata) -> None:
    """Note names of files in the configuration that the locale reads differently on disk.

    hatchling compares patterns, which are UTF-8, with names as the locale's encoding reads them,
    and puts the names of licence files into the metadata in that form.
    """
    named = f"{_hatch(metadata)}{metadata.core.license_files}"
    if sys.getfilesystemencoding() != "utf-8" and not named.isascii():
        why = "names files outside ASCII and the locale is not UTF-8; set PYTHONUTF8=1"
        check.note(str(check.root / PYPROJECT), why)


def _parsed(data: bytes | None) -> dict[str, object] | None:
    try:
        return None if data is None else toml.parse(data, PYPROJECT)
    except SettingsError:
        return None


def computed_fields(metadata: Metadata) -> tuple[str, ...]:
    """Return the fields of the metadata that code or the environment gives, sorted.

    They depend on the configuration, so that an sdist, whose fields hatchling takes from PKG-INFO,
    gives the same; and on what a metadata hook replaced, which an sdist's hook has to replace, too.
    A version that is searched for in a file is not computed: the file is compared.

    Args:
        metadata: hatchling's view of the project's pyproject.toml.
    """
    project = _table(metadata.config, "project")
    dynamic = {str(name) for name in cast("list[object]", project.get("dynamic", []))}
    found = {name for name in FORMATTED if "{" in str(_strings(project.get(name)))}
    if _table(_hatch(metadata), "metadata", "hooks"):
        found |= dynamic
    version = _table(_hatch(metadata), "version")
    if "version" in dynamic and version.get("source", "regex") != "regex":
        found.add("version")
    return tuple(sorted({*found, *replaced_fields(metadata)}))


def replaced_fields(metadata: Metadata) -> set[str]:
    """Return the fields whose value differs from the one that `[project]` states.

    hatchling lets a metadata hook write any field, also one that is not in `dynamic`.

    Args:
        metadata: hatchling's view of the project's pyproject.toml.
    """
    stated = _table(metadata.config, "project")
    built = cast("dict[str, object]", metadata.core.config)
    dynamic = {"dynamic", *cast("list[str]", stated.get("dynamic", []))}
    names = {*stated, *built} - dynamic
    found = {name for name in names if stated.get(name) != built.get(name)}
    if same_version(str(stated.get("version")), metadata.version):
        found.discard("version")
    elif "version" not in dynamic:
        found.add("version")
    return found


def _strings(value: object) -> list[object]:
    """Return an array of strings, or all those of a table."""
    if isinstance(value, dict):
        return [*cast("dict[str, object]", value).values()]
    return [value] if value else []


def _hatch(metadata: Metadata) -> dict[str, object]:
    """Return `[tool.hatch]` with what a `hatch.toml` replaces."""
    # Open generics of hatchling's own.
    config = metadata.hatch.config  # pyright: ignore[reportUnknownMemberType]
    return cast("dict[str, object]", config)


def _table(value: object, *keys: str) -> dict[str, object]:
    """Return the table at a path, or an empty one."""
    for key in keys:
        value = cast("dict[str, object]", value).get(key) if isinstance(value, dict) else None
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}

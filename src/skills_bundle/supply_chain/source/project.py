"""Decision: the project of a distribution in a commit: its folder, its configuration, its layout.

A repository may hold several projects. The archive's lock identifies the folder, because hardly two
projects have the same lock; otherwise a `pyproject.toml` of the same name does. The configuration
is read as data and no code runs, so the layout knows hatchling's tables but not what hooks do. It
inverts hatchling's own rules: from a path in an archive to the paths in the commit that may be its
source.
"""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, cast

from skills_bundle.bundle import sbom
from skills_bundle.bundle.lock import LOCK_FILE_NAME
from skills_bundle.bundle.receipt import RECEIPT_FILE_NAME
from skills_bundle.errors import Problem, SettingsError, SourceMismatchError
from skills_bundle.formats import toml
from skills_bundle.formats.digest import git_object_id
from skills_bundle.project import limits, settings
from skills_bundle.project.settings import Settings, normalized

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from skills_bundle.archives.model import ArchiveKind
    from skills_bundle.git.commit import Commit
    from skills_bundle.supply_chain.archive.contents import ArchiveContents


Table: TypeAlias = "dict[str, object]"
Role = Literal["file", "script", "generated"]

GENERATED: Final[dict[ArchiveKind, tuple[str, ...]]] = {
    "wheel": ("METADATA", "WHEEL", "RECORD", "entry_points.txt"),
    "sdist": ("PKG-INFO", "build-receipt.json"),
}
"""What a build makes: of a wheel in its `.dist-info` folder, of an sdist at its top."""
LEGACY: Final = "setup.py"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """What a member of an archive is, by its path.

    Attributes:
        role: `file` for one that a commit holds; `script` for one whose first line may have been
            rewritten; `generated` for one that the build makes.
        candidates: Paths from the top of the repository, the likeliest first; for `generated` none.
    """

    role: Role
    candidates: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """How a project's files get their places in one kind of archive.

    Attributes:
        kind: Of archive.
        project: The project's folder in the repository, "" for its top.
        build: hatchling's `build` table.
        exists: Tells whether the commit holds a file at a path from the top of the repository.
        name: The project's name as the configuration spells it.
        skills: The skills folder, relative to the project.
    """

    kind: ArchiveKind
    project: str
    build: Table
    exists: Callable[[str], bool]
    name: str
    skills: str

    def place(self, path: str, bundle: str, dist_info: str) -> Place:
        """Return what the member at a path is.

        Args:
            path: In the archive, below its top.
            bundle: A wheel's folder for lock, receipt and skills, "" for an sdist or if it has
                none.
            dist_info: A wheel's `.dist-info` folder, "" for an sdist or if it has none.
        """
        if self.kind == "sdist":
            return self._in_sdist(path)
        if bundle and (path in _documents(bundle) or path.startswith(f"{bundle}/skills/")):
            return self._in_bundle(path.removeprefix(f"{bundle}/"))
        stem = dist_info.removesuffix(".dist-info")
        if stem and path.startswith(f"{dist_info}/"):
            return self._in_dist_info(path.removeprefix(f"{dist_info}/"))
        if stem and path.startswith(f"{stem}.data/"):
            return self._in_data(path.removeprefix(f"{stem}.data/"))
        return self._file(self._sources(path))

    def _file(self, candidates: Iterator[str]) -> Place:
        joined = (self.from_project(path) for path in candidates)
        return Place(role="file", candidates=tuple(dict.fromkeys(filter(None, joined))))

    def from_project(self, path: str) -> str | None:
        """Spell a path of the project from the top of the repository; None if it leaves that."""
        joined = posixpath.normpath(posixpath.join(self.project, path))
        return None if path.startswith(("/", "~")) or joined.startswith("..") else joined

    def _in_sdist(self, path: str) -> Place:
        if path in GENERATED["sdist"] or (path == LEGACY and self._target().get("support-legacy")):
            return Place(role="generated")
        return self._file(self._in_sdist_sources(path))

    def _in_sdist_sources(self, path: str) -> Iterator[str]:
        yield from self._sources(path)
        yield path  # lock and locked files go where the project has them, whatever is renamed
        if path == ".gitignore":  # hatchling takes the nearest one above
            parts = self.project.split("/") if self.project else []
            yield from ("../" * level + path for level in range(1, len(parts) + 1))

    def _in_bundle(self, path: str) -> Place:
        if path == RECEIPT_FILE_NAME:
            return Place(role="generated")
        if path == LOCK_FILE_NAME:
            return self._file(iter((path,)))
        inner = path.removeprefix("skills/")
        return self._file(iter((inner if self.skills == "." else f"{self.skills}/{inner}",)))

    def _in_dist_info(self, path: str) -> Place:
        if path in GENERATED["wheel"]:
            return Place(role="generated")
        if path.startswith("licenses/"):
            return self._file(iter((path.removeprefix("licenses/"),)))
        if path.startswith("sboms/"):
            return self._sbom(path.removeprefix("sboms/"))
        rest = path.removeprefix("extra_metadata/")
        return self._file(_placed(self._target().get("extra-metadata"), rest))

    def _sbom(self, path: str) -> Place:
        """Find a document among those that the project lists, or know the one the build makes."""
        if path == sbom.file_name(normalized(self.name)):
            return Place(role="generated")
        listed = self._target().get("sbom-files")
        found = [name for name in texts(listed) if posixpath.basename(name) == path]
        return self._file(iter(found))

    def _in_data(self, path: str) -> Place:
        folder, _, rest = path.partition("/")
        if folder == "scripts":
            found = self._file(_placed(self._target().get("shared-scripts"), rest))
            return Place(role="script", candidates=found.candidates)
        if folder == "data":
            return self._file(_placed(self._target().get("shared-data"), rest))
        return Place(role="file")

    def _target(self) -> Table:
        return table(self.build, "targets", self.kind)

    def _option(self, key: str) -> object:
        """Return a setting: the target's own goes before that of all targets."""
        target = self._target()
        return target[key] if key in target else self.build.get(key)

    def _sources(self, path: str) -> Iterator[str]:
        """Return the project's paths that hatchling would put at a path."""
        prefixes, roots = self._prefixes()
        for source in self._unprefixed(path, prefixes):
            yield from _placed(self._option("force-include"), source)
            if not roots or any(source == root or source.startswith(f"{root}/") for root in roots):
                yield source

    def _unprefixed(self, path: str, prefixes: dict[str, str]) -> Iterator[str]:
        for source, replacement in prefixes.items():
            if path.startswith(replacement):
                found = source + path[len(replacement) :]
                if _forward(found, prefixes) == path:
                    yield found
        if _forward(path, prefixes) == path:
            yield path

    def _prefixes(self) -> tuple[dict[str, str], tuple[str, ...]]:
        """Return which prefix becomes which, and the folders that alone are looked into."""
        raw = self._option("sources")
        found: dict[str, str] = {}
        if isinstance(raw, list):
            found = {_folder(row): "" for row in texts(cast("object", raw))}
        elif isinstance(raw, dict):
            rows = cast("Table", raw).items()
            found = {_folder(source) if source else "": _folder(str(to)) for source, to in rows}
        packages, only = self._packages()
        for package in packages:
            parent = posixpath.dirname(package)
            if parent and _folder(package) not in found:
                found[_folder(parent)] = ""
        roots = (*packages, *only) if self.kind == "wheel" else ()
        return dict(sorted(found.items())), roots

    def _packages(self) -> tuple[list[str], list[str]]:
        """Return `packages` and `only-include`; for a wheel without them, what hatchling finds."""
        packages, only = _paths(self._option("packages")), _paths(self._option("only-include"))
        if packages or only or self._option("include") or self.kind == "sdist":
            return packages, only
        name = re.sub(r"[^\w.]+", "_", self.name)
        for one in dict.fromkeys((name, name.lower(), re.sub(r"[-_.]+", "_", name).lower())):
            for folder in (one, f"src/{one}"):
                if self.exists(self.from_project(f"{folder}/__init__.py") or ""):
                    return [folder], []
            if self.exists(self.from_project(f"{one}.py") or ""):
                return [], [f"{one}.py"]
        return [], []


def _documents(bundle: str) -> tuple[str, str]:
    return f"{bundle}/{LOCK_FILE_NAME}", f"{bundle}/{RECEIPT_FILE_NAME}"


def _folder(path: str) -> str:
    """Return a folder with its slash; "" for the top."""
    normal = posixpath.normpath(path).strip("/")
    return "" if normal == "." else f"{normal}/"


def _forward(path: str, prefixes: dict[str, str]) -> str:
    """Return the path in the archive of a path of the project, as hatchling does."""
    for source, replacement in prefixes.items():
        if path.startswith(source):
            return replacement + path[len(source) :]
    return path


def _placed(value: object, path: str) -> Iterator[str]:
    """Invert a table of source to place: a file's own row, or that of a folder above it."""
    rows = cast("Table", value).items() if isinstance(value, dict) else ()
    for source, target in rows:
        place = posixpath.normpath(str(target)).strip("/")
        if path == place:
            yield source
        elif place == "." or path.startswith(f"{place}/"):
            inner = path if place == "." else path.removeprefix(f"{place}/")
            yield f"{source.rstrip('/')}/{inner}"


def _paths(value: object) -> list[str]:
    return [posixpath.normpath(row).strip("/") for row in texts(value)]


def texts(value: object) -> list[str]:
    """Return the rows of an array of texts; none of anything else, since anybody may write it."""
    return [str(row) for row in cast("list[object]", value)] if isinstance(value, list) else []


def table(value: object, *keys: str) -> Table:
    """Return the table at a path in a document, or an empty one.

    Args:
        value: The document.
        keys: The way to the table.
    """
    for key in keys:
        value = cast("Table", value).get(key) if isinstance(value, dict) else None
    return cast("Table", value) if isinstance(value, dict) else {}


PYPROJECT: Final = "pyproject.toml"
HATCH_FILE: Final = "hatch.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceProject:
    """A project as a commit holds it.

    Attributes:
        commit: The commit.
        folder: From the top of the repository; "" if it is the top.
        document: What its pyproject.toml holds.
        build: hatchling's build table.
        settings: Of the build hook.
    """

    commit: Commit
    folder: str
    document: Table
    build: Table
    settings: Settings

    @property
    def metadata(self) -> Table:
        """The `[project]` table."""
        return table(self.document, "project")

    @property
    def skills_folder(self) -> str:
        """The skills folder from the top of the repository."""
        joined = posixpath.normpath(posixpath.join(self.folder, self.settings.skills))
        return "" if joined == "." else joined

    def layout(self, kind: ArchiveKind) -> Layout:
        """Return the rules by which files get their places in one kind of archive."""
        return Layout(
            kind=kind,
            project=self.folder,
            build=self.build,
            exists=lambda path: self.commit.file(path) is not None,
            name=str(self.metadata.get("name", "")),
            skills=self.settings.skills,
        )


def find_project(commit: Commit, contents: ArchiveContents, wanted: str | None) -> SourceProject:
    """Find the project of a distribution in a commit.

    Args:
        commit: The commit.
        contents: The distribution.
        wanted: The folder that somebody named, or None to look for it.

    Raises:
        SourceMismatchError: If there is none, there are several, or its configuration cannot be
            read; with the folders that could be named.
    """
    if wanted is not None:
        folder = posixpath.normpath(wanted).strip("/")
        return read_project(commit, "" if folder == "." else folder)
    folders = _by_lock(commit, contents)
    if len(folders) != 1:
        named = _by_name(commit, contents.identity.name)
        folders = [one for one in folders if one in named] or folders or named
    if len(folders) == 1:
        return read_project(commit, folders[0])
    raise _several(folders) if folders else _none(commit, contents)


def _by_lock(commit: Commit, contents: ArchiveContents) -> list[str]:
    """Return the folders that hold exactly the lock of the archive."""
    if contents.lock_bytes is None:
        return []
    wanted = git_object_id("blob", contents.lock_bytes)
    return [
        posixpath.dirname(path)
        for path, entry in commit.files().items()
        if posixpath.basename(path) == LOCK_FILE_NAME and entry.oid == wanted
    ]


def _by_name(commit: Commit, name: str) -> list[str]:
    """Return the folders whose pyproject.toml has the name of the distribution."""
    found: list[str] = []
    for path in commit.files():
        if posixpath.basename(path) == PYPROJECT:
            project = table(_toml(commit, path) or {}, "project")
            found += [posixpath.dirname(path)] * (normalized(str(project.get("name"))) == name)
    return found


def _several(folders: list[str]) -> SourceMismatchError:
    problems = tuple(
        Problem(
            code="project_ambiguous",
            message="may be the project; name one with --project",
            path=folder or ".",
        )
        for folder in sorted(folders)
    )
    return SourceMismatchError("Several folders of the commit may be the project.", problems)


def _none(commit: Commit, contents: ArchiveContents) -> SourceMismatchError:
    message = (
        f"holds neither the lock of the archive nor a {PYPROJECT} of {contents.identity.name}; "
        "name the project's folder with --project"
    )
    problem = Problem(code="project_not_in_commit", message=message, path=commit.oid)
    return SourceMismatchError("The commit does not hold the project.", (problem,))


def read_project(commit: Commit, folder: str) -> SourceProject:
    """Read a project's configuration from a commit.

    Args:
        commit: The commit.
        folder: From the top of the repository; "" for the top.

    Raises:
        SourceMismatchError: If there is no pyproject.toml, or the settings in it cannot be used.
    """
    place = posixpath.join(folder, PYPROJECT)
    document = _toml(commit, place)
    if document is None:
        message = "is not in the commit, is too large or is not TOML"
        problem = Problem(code="project_not_in_commit", message=message, path=place)
        raise SourceMismatchError("The commit holds no project there.", (problem,))
    hatch = _toml(commit, posixpath.join(folder, HATCH_FILE)) or {}
    try:
        found = settings.of_tables(document, hatch)
    except SettingsError as error:
        raise SourceMismatchError(error.summary, error.problems) from error
    build, _ = settings.build_table(document, hatch)
    return SourceProject(
        commit=commit, folder=folder, document=document, build=build, settings=found
    )


def _toml(commit: Commit, path: str) -> Table | None:
    """Read a file of a commit as TOML; None if there is none that can be read."""
    found = commit.file(path)
    if found is None:
        return None
    data = commit.data(found.entry.oid)
    if len(data) > limits.PYPROJECT_MAX_BYTES:
        return None
    try:
        return toml.parse(data, path)
    except SettingsError:
        return None

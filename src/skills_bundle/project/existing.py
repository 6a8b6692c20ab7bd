"""Edge: what a folder holds before `init` adds the build hook: skills, packages, configuration.

Nothing is written and no code of the project is run. Every problem is reported in one run, with its
TOML path and what would have to change.
"""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from packaging.requirements import InvalidRequirement, Requirement

from skills_bundle.bundle import limits as bundle_limits
from skills_bundle.bundle.lock import ENTRY_POINT_GROUP, LOCK_FILE_NAME
from skills_bundle.errors import Problem, SettingsError
from skills_bundle.files import reading
from skills_bundle.files.paths import from_disk
from skills_bundle.formats import toml
from skills_bundle.project import limits, project, settings
from skills_bundle.project.file_facts import open_facts
from skills_bundle.project.settings import table_at
from skills_bundle.skills.model import ScanResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from skills_bundle.project.settings import Settings, Table

PYPROJECT: Final = "pyproject.toml"
READ: Final = (PYPROJECT, "hatch.toml", ".gitattributes", ".gitignore", LOCK_FILE_NAME)
"""Files whose content decides what is added."""
FOREIGN_BUILDS: Final = ("setup.py", "setup.cfg", "MANIFEST.in")
MODULES: Final = ("__main__", "skills_command")
"""Modules for the project's own console script; the first free one is taken."""
_IGNORED_FOLDERS: Final = (".venv", "venv", "node_modules", "dist")
"""Folders at the top that may hold skills of other projects."""
_NO_SKILLS: Final = ScanResult(skills=(), refused=(), excluded=(), without_skill_md=(), unlocked=())
_NOT_PACKAGES: Final = frozenset(
    {"tests", "test", "docs", "doc", "examples", "benchmarks", "scripts", "build", "dist", "skills"}
)
"""Folders at the top of a project that are not its packages, even with an `__init__.py`."""
BACKEND: Final = "hatchling.build"
HOOK: Final = settings.HOOK_NAMES[0]
OTHER_BACKENDS: Final = {
    "setuptools": "replace [tool.setuptools] with [tool.hatch.build], and remove setup.py",
    "poetry": "replace [tool.poetry] with [project] and [tool.hatch.build]",
    "flit": "replace [tool.flit] with [tool.hatch.build]",
    "uv_build": "replace [tool.uv.build-backend] with [tool.hatch.build]",
    "pdm": "replace [tool.pdm.build] with [tool.hatch.build]",
    "maturin": "an extension module cannot be built by hatchling; put the skills into a "
    "separate distribution",
    "scikit_build_core": "an extension module cannot be built by hatchling; put the skills into a "
    "separate distribution",
}
"""Other build backends by the first word of their name, with how to move away from them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExistingFiles:
    """What a folder holds.

    Attributes:
        folder: Resolved.
        files: The bytes of each of `READ` that is there.
        present: Every name directly in the folder.
        packages: Dotted import names with their folders below the project, `/` between components.
        modules: Import names of single modules where packages could be.
        command_modules: Content of the modules in packages that `MODULES` names, by path.
        skills: The result of a scan of the whole folder.
        in_repository: Whether it is in a git checkout that does not ignore it.
    """

    folder: Path
    files: dict[str, bytes]
    present: frozenset[str]
    packages: dict[str, str]
    modules: tuple[str, ...]
    command_modules: dict[str, bytes]
    skills: ScanResult
    in_repository: bool

    @property
    def skill_folders(self) -> tuple[str, ...]:
        """Every skill folder below the project, refused ones included."""
        rows = [*(row.path for row in self.skills.skills), *(r.path for r in self.skills.refused)]
        return tuple(sorted(rows, key=str.encode))


def read_files(folder: Path) -> ExistingFiles:
    """Read a folder, which need not exist yet.

    Args:
        folder: The future project.

    Raises:
        SettingsError: If it is a file, or a file in it is a link, too large or cannot be read.
        CheckoutError: If there is a repository that cannot be read.
        OSError: If the folder cannot be listed.
    """
    folder = folder.resolve()
    if folder.exists() and not folder.is_dir():
        problem = Problem(code="no_folder", message="is not a folder", path=str(folder))
        raise SettingsError("No project can be created here.", (problem,))
    present = (
        frozenset(row.name for row in folder.iterdir()) if folder.is_dir() else frozenset[str]()
    )
    files = _read(folder, present)
    packages = dict(_packages(folder))
    return ExistingFiles(
        folder=folder,
        files=files,
        present=present,
        packages=packages,
        modules=tuple(sorted(_modules(folder))),
        command_modules=dict(_command_modules(folder, packages.values())),
        skills=_scan_all(folder) if folder.is_dir() else _NO_SKILLS,
        in_repository=folder.is_dir() and open_facts(folder, ".", None).without_git is None,
    )


def _scan_all(folder: Path) -> ScanResult:
    """Find every skill below a folder, except in folders that tools fill."""
    name = from_disk(folder.name) or "skills"
    ignored = tuple(place for place in _IGNORED_FOLDERS if (folder / place).is_dir())
    chosen = replace(settings.defaults(name), skills=".", exclude=ignored)
    return project.find_skills(project.with_settings(folder, chosen))


def _read(folder: Path, present: frozenset[str]) -> dict[str, bytes]:
    problems: list[Problem] = []
    files: dict[str, bytes] = {}
    for name in READ:
        if name in present:
            try:
                files[name] = _bytes(folder / name)
            except OSError as error:
                message = error.strerror or str(error)
                row = Problem(code="unreadable_settings", message=message, path=name)
                problems.append(row)
    if problems:
        raise SettingsError("Files of this folder cannot be used.", tuple(problems))
    return files


def _bytes(path: Path) -> bytes:
    """Read a file that may be added to; a link is refused, its target may be elsewhere."""
    if path.is_symlink():
        raise OSError(
            errno.ELOOP, "is a link; run the command in the folder that contains the file"
        )
    most = (
        bundle_limits.LOCK_MAX_BYTES if path.name == LOCK_FILE_NAME else limits.PYPROJECT_MAX_BYTES
    )
    data = reading.read_named(path, most)
    if len(data) > most:
        raise OSError(errno.EFBIG, f"has more than {most} bytes")
    return data


def _packages(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield every top-level import package, and the first package of each namespace."""
    source = folder / "src"
    root, prefix = (source, "src/") if source.is_dir() else (folder, "")
    for place in _folders(root):
        if not prefix and place.name in _NOT_PACKAGES:
            continue
        for package in _packages_in(place):
            name = package.relative_to(root).as_posix()
            yield name.replace("/", "."), f"{prefix}{name}"


def _packages_in(place: Path, depth: int = 0) -> Iterator[Path]:
    """Yield a folder that is a package, or the packages below a namespace folder."""
    if not place.name.isidentifier() or depth > 3:
        return
    if (place / "__init__.py").is_file():
        yield place
    else:
        for below in _folders(place):
            yield from _packages_in(below, depth + 1)


def _folders(place: Path) -> list[Path]:
    try:
        found = [Path(row.path) for row in os.scandir(place) if row.is_dir(follow_symlinks=False)]
    except OSError:
        return []
    return sorted(row for row in found if not row.name.startswith("."))


def _command_modules(folder: Path, packages: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    for place in packages:
        for name in MODULES:
            path = folder / place / f"{name}.py"
            if path.is_file():
                data = reading.read_named(path, limits.PYPROJECT_MAX_BYTES)
                yield f"{place}/{name}.py", data


def _modules(folder: Path) -> Iterator[str]:
    for root in (folder / "src", folder):
        if root.is_dir():
            for path in root.glob("*.py"):
                if path.name not in {*FOREIGN_BUILDS, "conftest.py", "noxfile.py", "tasks.py"}:
                    yield path.stem


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """The parsed pyproject.toml and hatch.toml of a project.

    Attributes:
        pyproject: The parsed pyproject.toml; empty if there is none.
        build: hatchling's build table, from hatch.toml if that has one.
        build_prefix: Its path inside its file: `tool.hatch.build`, or `build` in hatch.toml.
        in_hatch_toml: Whether it is in hatch.toml.
        settings: The hook's settings, if it has a table.
        tables: The dotted TOML paths of the hook's tables.
    """

    pyproject: Table
    build: Table
    build_prefix: tuple[str, ...]
    in_hatch_toml: bool
    settings: Settings | None = None
    tables: tuple[str, ...] = ()

    @property
    def is_project(self) -> bool:
        """Whether pyproject.toml describes a project already."""
        return bool({"project", "build-system"} & self.pyproject.keys())

    @property
    def name(self) -> str | None:
        """The project's name."""
        name = self.at("project").get("name")
        return name if isinstance(name, str) else None

    @property
    def hook(self) -> str:
        """The name of the hook's table: ours, or that of a hook loaded from a script."""
        return self.tables[0].rsplit(".", 1)[-1] if self.tables else HOOK

    @property
    def entries(self) -> dict[str, str]:
        """The collections that the project declares."""
        return cast("dict[str, str]", self.at("project", "entry-points", ENTRY_POINT_GROUP))

    @property
    def scripts(self) -> dict[str, str]:
        """The project's console scripts."""
        return cast("dict[str, str]", self.at("project", "scripts"))

    @property
    def dynamic(self) -> list[str]:
        """Fields of the project that something computes."""
        return strings(self.at("project").get("dynamic"))

    def at(self, *path: str) -> Table:
        """Return a table of pyproject.toml, or an empty one."""
        return table_at(self.pyproject, *path)


def strings(value: object) -> list[str]:
    """Return the strings of an array; none if it is not an array."""
    rows = cast("list[object]", value) if isinstance(value, list) else []
    return [row for row in rows if isinstance(row, str)]


def parse_configuration(pyproject: bytes | None, hatch: bytes | None) -> Configuration:
    """Parse a project's configuration, and refuse what the hook cannot be added to.

    Args:
        pyproject: Bytes of pyproject.toml, or None.
        hatch: Bytes of hatch.toml, or None.

    Raises:
        SettingsError: With every problem: not TOML (with the line), another build backend, a hook
            table for one target only, invalid settings.
    """
    problems: list[Problem] = []
    document = _toml(pyproject, "pyproject.toml", problems)
    replacement = _toml(hatch, "hatch.toml", problems)
    if problems:
        raise SettingsError("The project's files cannot be read.", tuple(problems))
    build, prefix = settings.build_table(document, replacement)
    in_hatch = "build" in replacement
    found = Configuration(
        pyproject=document,
        build=build,
        build_prefix=("build",) if in_hatch else ("tool", "hatch", "build"),
        in_hatch_toml=in_hatch,
    )
    tables = [*settings.hook_tables(build, prefix)]
    problems += [*_obstacles(found), *_general_table(tables)]
    chosen = None
    try:
        chosen = settings.agreed(tables, found.name or "unnamed") if tables else None
    except SettingsError as error:
        problems += error.problems
    if problems:
        raise SettingsError("The hook cannot be added to this project.", tuple(problems))
    return replace(found, settings=chosen, tables=tuple(where for where, _ in tables))


def _toml(data: bytes | None, name: str, problems: list[Problem]) -> Table:
    """Parse one file, or add its problems."""
    try:
        return toml.parse(data or b"", name)
    except SettingsError as error:
        problems += error.problems
        return {}


def _general_table(tables: list[tuple[str, object]]) -> Iterator[Problem]:
    """Yield a problem if there are tables of the hook, but for single targets only."""
    if tables and all(".targets." in where for where, _ in tables):
        where = tables[0][0]
        general = f"{where.split('.targets.')[0]}.hooks.{where.rsplit('.', 1)[-1]}"
        message = f"is for one target only; move it to {general}, so that the sdist has a receipt"
        yield Problem(code="hook_for_one_target", message=message, path=where)


def _obstacles(found: Configuration) -> Iterator[Problem]:
    """Yield what keeps the hook out of a project, independent of any option."""
    if not found.is_project:
        return
    yield from _backend(found.at("build-system"))
    if "project" not in found.pyproject:
        message = "is missing; hatchling takes name and version from it"
        yield Problem(code="no_project_name", message=message, path="project")
    elif found.name is None:
        message = "is not set; the collection and the package are named after it"
        yield Problem(code="no_project_name", message=message, path="project.name")
    if "entry-points" in found.dynamic:
        message = "lists entry-points; the collection's entry point must be in the file"
        yield Problem(code="dynamic_field", message=message, path="project.dynamic")


def _backend(table: Table) -> Iterator[Problem]:
    backend = table.get("build-backend", "setuptools.build_meta")
    if backend == BACKEND and "backend-path" not in table:
        return
    word = str(backend).split(".")[0].removesuffix("_core").removesuffix("-core")
    change = next((text for key, text in OTHER_BACKENDS.items() if key.startswith(word)), None)
    found = f"is {backend!r}" if table else "is missing, which means setuptools"
    message = (
        f'{found}; the hook runs under {BACKEND!r}. To change it: requires = ["hatchling"], '
        f'build-backend = "{BACKEND}"' + (f"; {change}" if change else "")
    )
    yield Problem(code="other_backend", message=message, path="build-system.build-backend")


def requirement_names(requirements: object) -> set[str]:
    """Return the normalised names of the distributions in an array of requirements."""
    names: set[str] = set()
    for row in strings(requirements):
        with suppress(InvalidRequirement):  # hatchling reports it
            names.add(settings.normalized(Requirement(row).name))
    return names

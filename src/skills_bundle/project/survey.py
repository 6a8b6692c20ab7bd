"""Edge: what lies in a folder that is to ship its skills; nothing is written, no code is run."""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from skills_bundle.bundle import limits as bundle_limits
from skills_bundle.bundle.lock import LOCK_FILE_NAME
from skills_bundle.errors import Problem, SettingsError
from skills_bundle.files import reading
from skills_bundle.files.names import from_disk
from skills_bundle.project import limits, project, settings
from skills_bundle.project.file_facts import open_facts
from skills_bundle.skills.model import ScanResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

PYPROJECT: Final = "pyproject.toml"
READ: Final = (PYPROJECT, "hatch.toml", ".gitattributes", ".gitignore", LOCK_FILE_NAME)
"""Files whose bytes decide what is added."""
FOREIGN_BUILDS: Final = ("setup.py", "setup.cfg", "MANIFEST.in")
MODULES: Final = ("__main__", "skills_command")
"""Where an own console script may be made; the first that is not taken."""
ASIDE: Final = (".venv", "venv", "node_modules", "dist")
"""Folders at the top in which others' skills may lie."""
NOTHING: Final = ScanResult(skills=(), refused=(), excluded=(), without_skill_md=(), unlocked=())
NO_PACKAGES: Final = frozenset(
    {"tests", "test", "docs", "doc", "examples", "benchmarks", "scripts", "build", "dist", "skills"}
)
"""Folders at the top of a project that are no packages of it, whatever they hold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """What there is.

    Attributes:
        folder: Resolved.
        files: The bytes of each of `READ` that is there.
        present: Every name directly in the folder.
        packages: Dotted import names with their folders below the project, `/` between components.
        modules: Import names of single modules where packages could be.
        modules_of_commands: Bytes of the modules in packages that `MODULES` names, by path.
        skills: What a scan of the whole folder finds.
        in_repository: Whether it lies in a checkout that does not ignore it.
    """

    folder: Path
    files: dict[str, bytes]
    present: frozenset[str]
    packages: dict[str, str]
    modules: tuple[str, ...]
    modules_of_commands: dict[str, bytes]
    skills: ScanResult
    in_repository: bool

    @property
    def found(self) -> tuple[str, ...]:
        """Every skill folder below the project, good or refused."""
        rows = [*(row.path for row in self.skills.skills), *(r.path for r in self.skills.refused)]
        return tuple(sorted(rows, key=str.encode))


def survey(folder: Path) -> Survey:
    """Look at a folder, which need not be there yet.

    Args:
        folder: The project to be.

    Raises:
        SettingsError: If it is a file, or a file in it is a link, too large or cannot be read.
        CheckoutError: If there is a repository that cannot be read.
        OSError: If the folder cannot be listed.
    """
    folder = folder.resolve()
    if folder.exists() and not folder.is_dir():
        problem = Problem(code="no_folder", message="is no folder", path=str(folder))
        raise SettingsError("There is no place for a project.", (problem,))
    present = (
        frozenset(row.name for row in folder.iterdir()) if folder.is_dir() else frozenset[str]()
    )
    files = _read(folder, present)
    packages = dict(_packages(folder))
    return Survey(
        folder=folder,
        files=files,
        present=present,
        packages=packages,
        modules=tuple(sorted(_modules(folder))),
        modules_of_commands=dict(_commands(folder, packages.values())),
        skills=scan_all(folder) if folder.is_dir() else NOTHING,
        in_repository=folder.is_dir() and open_facts(folder, ".", None).without_git is None,
    )


def scan_all(folder: Path) -> ScanResult:
    """Find every skill below a folder, but for those that tools have put there."""
    name = from_disk(folder.name) or "skills"
    aside = tuple(place for place in ASIDE if (folder / place).is_dir())
    chosen = replace(settings.defaults(name), skills=".", exclude=aside)
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
    """Read a file that may be added to: what a link points to belongs to somebody else."""
    if path.is_symlink():
        raise OSError(errno.ELOOP, "is a link; run this in the folder that holds the file")
    most = (
        bundle_limits.LOCK_MAX_BYTES if path.name == LOCK_FILE_NAME else limits.PYPROJECT_MAX_BYTES
    )
    data = reading.read_named(path, most)
    if len(data) > most:
        raise OSError(errno.EFBIG, f"has more than {most} bytes")
    return data


def _packages(folder: Path) -> Iterator[tuple[str, str]]:
    """Give every top import package, and the first package of each namespace."""
    source = folder / "src"
    root, prefix = (source, "src/") if source.is_dir() else (folder, "")
    for place in _folders(root):
        if not prefix and place.name in NO_PACKAGES:
            continue
        for package in _below(place):
            name = package.relative_to(root).as_posix()
            yield name.replace("/", "."), f"{prefix}{name}"


def _below(place: Path, depth: int = 0) -> Iterator[Path]:
    """Give a package, or those right below a folder of Python names that is none."""
    if not place.name.isidentifier() or depth > 3:
        return
    if (place / "__init__.py").is_file():
        yield place
    else:
        for below in _folders(place):
            yield from _below(below, depth + 1)


def _folders(place: Path) -> list[Path]:
    try:
        found = [Path(row.path) for row in os.scandir(place) if row.is_dir(follow_symlinks=False)]
    except OSError:
        return []
    return sorted(row for row in found if not row.name.startswith("."))


def _commands(folder: Path, packages: Iterable[str]) -> Iterator[tuple[str, bytes]]:
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

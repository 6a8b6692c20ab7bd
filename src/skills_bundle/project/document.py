"""Decision: what a project's pyproject.toml and hatch.toml say so far, and what is against it.

Every conflict is found in one look and told with its TOML path and what would have to change.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, cast

from skills_bundle.bundle.lock import ENTRY_POINT_GROUP
from skills_bundle.errors import Problem, SettingsError
from skills_bundle.formats import toml
from skills_bundle.project import settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skills_bundle.project.settings import Settings, Table

BACKEND: Final = "hatchling.build"
HOOK: Final = settings.HOOK_NAMES[0]
OTHER_BACKENDS: Final = {
    "setuptools": "[tool.setuptools] has to become [tool.hatch.build], and setup.py must go",
    "poetry": "[tool.poetry] has to become [project] and [tool.hatch.build]",
    "flit": "[tool.flit] has to become [tool.hatch.build]",
    "uv_build": "[tool.uv.build-backend] has to become [tool.hatch.build]",
    "pdm": "[tool.pdm.build] has to become [tool.hatch.build]",
    "maturin": "an extension module cannot be built by hatchling; put the skills into a "
    "distribution of their own",
    "scikit_build_core": "an extension module cannot be built by hatchling; put the skills into a "
    "distribution of their own",
}
"""Other build backends by the first word of their name, with what moving away from them takes."""
_REQUIREMENT_NAME: Final = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """What the project's files say.

    Attributes:
        pyproject: The parsed pyproject.toml; empty if there is none.
        build: hatchling's build table, from wherever it counts.
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
    tables: tuple[str, ...] = field(default=())

    @property
    def is_project(self) -> bool:
        """Whether there is something to be built already."""
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
        """Give a table of pyproject.toml, or an empty one."""
        return at(self.pyproject, *path)


def at(value: object, *path: str) -> Table:
    """Give the table at a path, or an empty one."""
    for name in path:
        value = cast("Table", value).get(name) if isinstance(value, dict) else None
    return cast("Table", value) if isinstance(value, dict) else {}


def strings(value: object) -> list[str]:
    """Give the strings of an array, or none."""
    rows = cast("list[object]", value) if isinstance(value, list) else []
    return [row for row in rows if isinstance(row, str)]


def read(pyproject: bytes | None, hatch: bytes | None) -> Document:
    """Read what the project says, and refuse what cannot be worked with.

    Args:
        pyproject: Bytes of pyproject.toml, or None.
        hatch: Bytes of hatch.toml, or None.

    Raises:
        SettingsError: With every problem: no TOML (with the line), another build backend, a hook
            table for one target only, unusable settings.
    """
    problems: list[Problem] = []
    document = _toml(pyproject, "pyproject.toml", problems)
    replacement = _toml(hatch, "hatch.toml", problems)
    if problems:
        raise SettingsError("The project's files cannot be read.", tuple(problems))
    in_hatch = "build" in replacement
    build = at(replacement, "build") if in_hatch else at(document, "tool", "hatch", "build")
    found = Document(
        pyproject=document,
        build=build,
        build_prefix=("build",) if in_hatch else ("tool", "hatch", "build"),
        in_hatch_toml=in_hatch,
    )
    problems += _against(found)
    tables = [*settings.hook_tables(build, _shown_prefix(found))]
    chosen, wrong = _settings(tables, found.name or "unnamed")
    problems += wrong
    if problems:
        raise SettingsError("The hook cannot be added to this project.", tuple(problems))
    return Document(
        pyproject=document,
        build=build,
        build_prefix=found.build_prefix,
        in_hatch_toml=in_hatch,
        settings=chosen,
        tables=tuple(where for where, _ in tables),
    )


def _shown_prefix(found: Document) -> str:
    return "hatch.toml: build" if found.in_hatch_toml else "tool.hatch.build"


def _toml(data: bytes | None, name: str, problems: list[Problem]) -> Table:
    """Parse one file, or add what is wrong with it."""
    try:
        return toml.parse(data or b"", name)
    except SettingsError as error:
        problems += error.problems
        return {}


def _settings(
    tables: list[tuple[str, object]], name: str
) -> tuple[Settings | None, tuple[Problem, ...]]:
    problems: list[Problem] = []
    found: list[Settings] = []
    for where, table in tables:
        try:
            found.append(settings.parse(table, where, name))
        except SettingsError as error:
            problems += error.problems
    if tables and not any(where.split(": ")[-1].count(".targets.") == 0 for where, _ in tables):
        where = tables[0][0]
        general = f"{where.split('.targets.')[0]}.hooks.{where.rsplit('.', 1)[-1]}"
        message = f"is for one target only; move it to {general}, so that the sdist has a receipt"
        problems.append(Problem(code="hook_for_one_target", message=message, path=where))
    return (found[0] if found else None), tuple(problems)


def _against(found: Document) -> Iterator[Problem]:
    """Give what keeps the hook out of a project, whatever is chosen."""
    if not found.is_project:
        return
    yield from _backend(found.at("build-system"))
    if "project" not in found.pyproject:
        message = "is not there; hatchling takes name and version from it"
        yield Problem(code="no_project_name", message=message, path="project")
    elif found.name is None:
        message = "is not set; the collection and the package are called after it"
        yield Problem(code="no_project_name", message=message, path="project.name")
    if "entry-points" in found.dynamic:
        message = "names entry-points; the collection's has to be written in the file"
        yield Problem(code="dynamic_field", message=message, path="project.dynamic")


def _backend(table: Table) -> Iterator[Problem]:
    backend = table.get("build-backend", "setuptools.build_meta")
    if backend == BACKEND and "backend-path" not in table:
        return
    word = str(backend).split(".")[0].removesuffix("_core").removesuffix("-core")
    change = next((text for key, text in OTHER_BACKENDS.items() if key.startswith(word)), None)
    told = f"is {backend!r}" if table else "is not there, which means setuptools"
    message = (
        f'{told}; the hook runs under {BACKEND!r}. To change it: requires = ["hatchling"], '
        f'build-backend = "{BACKEND}"' + (f"; {change}" if change else "")
    )
    yield Problem(code="other_backend", message=message, path="build-system.build-backend")


def requirement_names(requirements: object) -> set[str]:
    """Give the normalised names of what an array of requirements asks for."""
    found = [_REQUIREMENT_NAME.match(row) for row in strings(requirements)]
    return {settings.normalized(match[1]) for match in found if match}


def plain(value: Any) -> str:  # noqa: ANN401 - whatever TOML holds
    """Give a TOML value for a message."""
    return repr(value)

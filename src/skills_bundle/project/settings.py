"""Record: a project's settings in `pyproject.toml` or `hatch.toml`, with a check for each.

The table is the build hook's: `[tool.hatch.build.hooks.skills-bundle]`, or `...hooks.custom` where
the hook is loaded from a script. The `lock` command reads the same table, so that command and build
agree. Only `read` and `refuse_skills_of_a_project` touch the disk.
"""

from __future__ import annotations

import keyword
import os
import re
import sys
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Final, cast

from skills_bundle.errors import Problem, SettingsError
from skills_bundle.files import paths, reading
from skills_bundle.formats import toml
from skills_bundle.project import limits
from skills_bundle.skills.codes import ALLOWABLE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from skills_bundle.archives.model import Compression

HOOK_NAMES: Final = ("skills-bundle", "custom")
"""Names of our hook in hatchling's tables; the registered one comes first."""

HATCHLING_KEYS: Final = (
    "path",
    "dependencies",
    "enable-by-default",
    "require-runtime-dependencies",
    "require-runtime-features",
)
"""Keys that hatchling itself reads from a hook's table; left to it."""

Table = dict[str, object]


_IDENTIFIERS: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*")
_COLLECTION: Final = re.compile(r"[a-z0-9]+([-._][a-z0-9]+)*")
_REPOSITORY: Final = re.compile(r"(https?|ssh|git)://[^\s/?#]+/?[^\s]*")
_PASSWORD: Final = re.compile(r"[a-z+]+://[^/?#@]*:[^/?#@]*@")
_OF_PYTHON: Final = sys.stdlib_module_names | {"test"}  # which that set leaves out
_REF: Final = re.compile(r"refs/[^\x00-\x20\x7f~^:?*\[\\]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Checked settings; the names are those of the TOML keys.

    Attributes:
        skills: The skills folder, relative to the project, `/` between components; may be `.`.
        package: Dotted import name of the package that receives the bundle.
        collection: The collection's name, as the lock and every answer carry it.
        repository: Asserted address of the repository, or null.
        source_ref: Asserted ref; `{version}` is replaced by the project's version in its PEP 440
            normal form. Or null.
        strict: Whether warnings refuse a skill.
        allow: Codes of diagnostics that become warnings instead of refusing the skill; only
            `name_mismatch`.
        exclude: Folders below the skills folder whose skills are left out.
        proof: Whether the receipt carries the raw commit and trees.
        compression: How members of the wheel are stored. `deflated` makes it depend on zlib.
        sbom: Whether the wheel carries a bill of materials (CycloneDX) of its skills.
        where: The dotted TOML path of the table they were read from.
    """

    skills: str = "skills"
    package: str
    collection: str
    repository: str | None = None
    source_ref: str | None = None
    strict: bool = False
    allow: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    proof: bool = True
    compression: Compression = "stored"
    sbom: bool = True
    where: str = ""

    def ref(self, version: str) -> str | None:
        """Return the asserted ref of one version, or None."""
        return None if self.source_ref is None else self.source_ref.replace("{version}", version)


def _text(value: object) -> Iterator[str]:
    if not isinstance(value, str):
        yield "must be a string"
    elif not value or len(value) > limits.SETTING_MAX_CHARACTERS:
        yield f"must have 1 to {limits.SETTING_MAX_CHARACTERS} characters"


def _matching(pattern: re.Pattern[str], message: str) -> Callable[[object], Iterator[str]]:
    """Return a check for text of one form."""

    def check(value: object) -> Iterator[str]:
        wrong = [*_text(value)]
        if not wrong and pattern.fullmatch(str(value)) is None:
            wrong = [message]
        yield from wrong

    return check


def _boolean(value: object) -> Iterator[str]:
    if not isinstance(value, bool):
        yield "must be true or false"


def _folder(value: object) -> Iterator[str]:
    wrong = [*_text(value)]
    if not wrong and value != ".":
        wrong = [f"{value!r} {message}" for _, message in paths.problems(str(value))]
    if wrong:
        yield "must be a folder relative to the project: " + "; ".join(wrong)


def _folders(value: object) -> Iterator[str]:
    if not isinstance(value, list):
        yield "must be an array of strings"
        return
    for position, entry in enumerate(cast("list[object]", value)):
        path = entry.removesuffix("/") if isinstance(entry, str) else entry
        for message in ("is the whole collection",) if path == "." else _folder(path):
            yield f"entry {position}: {message}"


def _allowable(value: object) -> Iterator[str]:
    if not isinstance(value, list):
        yield "must be an array of strings"
        return
    for position, entry in enumerate(cast("list[object]", value)):
        if entry not in ALLOWABLE:
            yield f"entry {position}: must be one of {', '.join(ALLOWABLE)}"


def _repository(value: object) -> Iterator[str]:
    yield from _matching(_REPOSITORY, "must be an address such as https://example.org/o/r")(value)
    if isinstance(value, str) and _PASSWORD.match(value):
        yield "must not contain a password, because it ships in every wheel"


def _source_ref(value: object) -> Iterator[str]:
    wrong = [*_matching(_REF, "must be a full ref such as refs/tags/v{version}")(value)]
    rest = str(value).replace("{version}", "")
    if not wrong and ("{" in rest or "}" in rest):
        wrong = ["may contain no placeholder except {version}"]
    if not wrong and (".." in rest or "//" in rest or rest.endswith((".lock", "/", "."))):
        wrong = ["is not a ref that git accepts"]
    yield from wrong


def _collection(value: object) -> Iterator[str]:
    yield from _matching(_COLLECTION, "must be lower-case letters and digits joined by - . or _")(
        value
    )
    if isinstance(value, str) and len(value) > limits.COLLECTION_MAX_CHARACTERS:
        yield f"must have at most {limits.COLLECTION_MAX_CHARACTERS} characters"


def _package(value: object) -> Iterator[str]:
    wrong = [*_matching(_IDENTIFIERS, "must be the dotted name of an import package")(value)]
    names = [] if wrong else str(value).split(".")
    wrong += [
        f"{name} is a Python keyword, so it cannot be imported"
        for name in names
        if keyword.iskeyword(name)
    ]
    if names and names[0] in _OF_PYTHON:
        wrong.append(
            f"{names[0]} is a module of the standard library, which would be imported instead"
        )
    yield from wrong


def _compression(value: object) -> Iterator[str]:
    if value not in ("stored", "deflated"):
        yield 'must be "stored" or "deflated"'


CHECKS: Final[dict[str, Callable[[object], Iterator[str]]]] = {
    "skills": _folder,
    "package": _package,
    "repository": _repository,
    "source-ref": _source_ref,
    "strict": _boolean,
    "allow": _allowable,
    "exclude": _folders,
    "proof": _boolean,
    "collection": _collection,
    "compression": _compression,
    "sbom": _boolean,
}
"""Every setting, as spelled in TOML, with its check."""

KEYS: Final = tuple(CHECKS)
"""Every setting, as spelled in TOML; documented one by one in docs/reference/settings.md."""


def normalized(name: str) -> str:
    """Return the normalised name of a distribution (PyPA, Names and normalization)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def defaults(project_name: str) -> Settings:
    """Return the settings of a project without a table for the hook."""
    name = normalized(project_name)
    return Settings(package=name.replace("-", "_"), collection=name)


def parse(table: object, where: str, project_name: str) -> Settings:
    """Check one table.

    Args:
        table: The hook's table as TOML gave it.
        where: Its dotted TOML path, for the problems.
        project_name: The `[project]` name, which two defaults derive from.

    Raises:
        SettingsError: With every problem: no table, unknown keys, wrong types, unusable values.
    """
    if not isinstance(table, dict):
        problem = _problem("invalid_setting", where, "must be a table")
        raise SettingsError(f"The settings in {where} cannot be used.", (problem,))
    table = cast("Table", table)
    problems = [
        _problem("unknown_setting", f"{where}.{key}", _unknown(key))
        for key in table
        if key not in KEYS and key not in HATCHLING_KEYS
    ]
    values: dict[str, object] = {}
    for key in KEYS:
        if key in table:
            found = [*CHECKS[key](table[key])]
            problems += [_problem("invalid_setting", f"{where}.{key}", text) for text in found]
            values[key.replace("-", "_")] = _frozen(table[key])
    if problems:
        raise SettingsError(f"The settings in {where} cannot be used.", tuple(problems))
    # Every value has passed the check of its key; `replace` cannot know their types.
    return replace(defaults(project_name), where=where, **cast("dict[str, str]", values))


def _unknown(key: str) -> str:
    close = get_close_matches(key.replace("_", "-"), KEYS, n=1)
    guess = f"did you mean {close[0]}? " if close else ""
    return f"is not a setting; {guess}The settings are {', '.join(KEYS)}"


def _frozen(value: object) -> object:
    return tuple(cast("list[object]", value)) if isinstance(value, list) else value


def _problem(code: str, path: str, message: str) -> Problem:
    return Problem(code=code, message=message, path=path)


def read(pyproject: Path) -> Settings:
    """Read a project's settings as its build would see them.

    Args:
        pyproject: Path of `pyproject.toml`; a `hatch.toml` beside it is honoured.

    Raises:
        SettingsError: If a file is missing, too large, not UTF-8 or not TOML (with the line), if
            `project.name` is missing, or with every problem of the tables.
    """
    document = _toml(pyproject)
    hatch = pyproject.with_name("hatch.toml")
    return of_tables(document, _toml(hatch) if hatch.exists() else {})


def of_tables(pyproject: Table, hatch: Table) -> Settings:
    """Return a project's settings from its parsed configuration.

    Args:
        pyproject: What `pyproject.toml` holds.
        hatch: What a `hatch.toml` beside it holds, or an empty table.

    Raises:
        SettingsError: As for `read`, but for unreadable files.
    """
    name = table_at(pyproject, "project").get("name")
    if not isinstance(name, str) or not name:
        message = "is not set; the collection and the package are named after it"
        problem = _problem("no_project_name", "project.name", message)
        raise SettingsError("[project] in pyproject.toml needs a name.", (problem,))
    build, prefix = build_table(pyproject, hatch)
    return agreed([*hook_tables(build, prefix)], name)


def build_table(pyproject: Table, hatch: Table) -> tuple[Table, str]:
    """Return hatchling's build table and its dotted TOML path; arguments as for `of_tables`."""
    if "build" in hatch:  # hatchling lets the file's top-level keys win
        return table_at(hatch, "build"), "hatch.toml: build"
    return table_at(pyproject, "tool", "hatch", "build"), "tool.hatch.build"


def skills_folder(project: Path, chosen: Settings) -> Path:
    """Return the place of a project's skills folder, which need not exist.

    Args:
        project: The project's folder.
        chosen: Its settings.

    Raises:
        SettingsError: If it is a link or lies behind one below the project: git has none of the
            files behind it, and they may be anywhere.
    """
    if chosen.skills != ".":
        for path in [*paths.parents(chosen.skills), chosen.skills]:
            place = project / paths.to_disk(path)
            if place.is_symlink():
                to = os.fsencode(place.readlink()).decode("utf-8", "backslashreplace")
                message = f"is a link to {to}, which is not followed; name the folder itself"
                problem = _problem("skills_folder_is_link", path, message)
                raise SettingsError("The skills folder cannot be used.", (problem,))
    return project / paths.to_disk(chosen.skills)


def refuse_skills_of_a_project(folder: Path) -> None:
    """Refuse a folder inside the skills folder of a project above, which has the lock.

    Args:
        folder: Resolved; it has no pyproject.toml.

    Raises:
        SettingsError: If the next pyproject.toml above has the hook and this folder in its skills.
    """
    above = (parent / "pyproject.toml" for parent in folder.parents)
    pyproject = next((place for place in above if place.exists()), None)
    if pyproject is None:
        return
    try:
        found = read(pyproject)
    except SettingsError:
        return  # not a project of ours
    if found.where and folder.is_relative_to(pyproject.parent / found.skills):
        message = f"is in the skills folder of {pyproject.parent}; did you mean that project?"
        problem = _problem("inside_a_project", str(folder), message)
        raise SettingsError("This folder is not a separate project.", (problem,))


def agreed(tables: list[tuple[str, object]], project_name: str) -> Settings:
    """Return the settings that all tables agree on: one lock belongs to every target.

    Args:
        tables: From `hook_tables`.
        project_name: The `[project]` name, which two defaults derive from.

    Raises:
        SettingsError: With every problem of every table, or if two of them differ.
    """
    if not tables:
        return defaults(project_name)
    problems: list[Problem] = []
    found: list[Settings] = []
    for where, table in tables:
        try:
            found.append(parse(table, where, project_name))
        except SettingsError as error:
            problems += error.problems
    for other in found[1:]:
        if replace(other, where="") != replace(found[0], where=""):
            message = f"differs from {found[0].where}; all targets ship one bundle"
            problems.append(_problem("settings_differ", other.where, message))
    if problems:
        raise SettingsError("The settings cannot be used.", tuple(problems))
    return found[0]


def hook_tables(build: Table, prefix: str) -> Iterator[tuple[str, object]]:
    """Yield every table of our hook, as (dotted TOML path, table): for all targets, then for one.

    A value that is not a table is yielded as well, for `parse` to refuse.

    A `custom` table is ours if it holds one of our keys; any project may have another custom hook.

    Args:
        build: hatchling's build table.
        prefix: Its dotted TOML path.
    """
    places: list[tuple[str, object]] = [(f"{prefix}.hooks", build.get("hooks", {}))]
    targets = table_at(build, "targets")
    places += [
        (f"{prefix}.targets.{target}.hooks", table_at(targets, target).get("hooks", {}))
        for target in targets
    ]
    for path, found in places:
        hooks = table_at(found)
        if not isinstance(found, dict):
            yield path, found
        for hook in HOOK_NAMES:
            if hook in hooks and (
                hook != "custom" or not table_at(hooks[hook]).keys().isdisjoint(KEYS)
            ):
                yield f"{path}.{hook}", hooks[hook]


def table_at(value: object, *keys: str) -> Table:
    """Return the table at a path, or an empty one."""
    for key in keys:
        value = cast("Table", value).get(key) if isinstance(value, dict) else None
    return cast("Table", value) if isinstance(value, dict) else {}


def _toml(path: Path) -> Table:
    """Read one TOML file, bounded."""
    try:
        data = reading.read_named(path, limits.PYPROJECT_MAX_BYTES)
        if len(data) > limits.PYPROJECT_MAX_BYTES:
            raise _unreadable(path, f"has more than {limits.PYPROJECT_MAX_BYTES} bytes")
    except OSError as error:
        raise _unreadable(path, error.strerror or str(error)) from error
    return toml.parse(data, path.name)


def _unreadable(path: Path, message: str) -> SettingsError:
    problem = Problem(code="unreadable_settings", message=message, path=path.name)
    return SettingsError(f"{path.name} cannot be read.", (problem,))

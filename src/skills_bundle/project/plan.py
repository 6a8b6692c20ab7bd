"""Decision: the names and places of a bundle, and every file of the project as it has to be.

Options come first, then what the project's configuration says, then what the folder holds. If there
are several candidates, none is guessed. All changes are computed before anything is written, and
every conflict is reported in one run.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final, cast

from skills_bundle.bundle.lock import ENTRY_POINT_GROUP, LOCK_FILE_NAME
from skills_bundle.errors import Problem, SettingsError
from skills_bundle.formats.toml_edit import Addition, NoPlaceError, with_additions
from skills_bundle.project import settings, templates
from skills_bundle.project.existing import HOOK, MODULES, PYPROJECT, requirement_names, strings
from skills_bundle.project.settings import CHECKS, table_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skills_bundle.project.existing import Configuration, ExistingFiles
    from skills_bundle.project.settings import Settings

_NAME: Final = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?")
"""Names of distributions (PyPA, Names and normalization)."""
_SCRIPT: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")
"""Names of console scripts: files in a folder of programs (PyPA, Entry points specification)."""
_OTHER: Final = re.compile(r"[^A-Za-z0-9._-]+")
STARTER: Final = "example-skill"
"""The skill of a new project without skills."""
HATCH: Final = "hatch.toml"
ATTRIBUTES: Final = ".gitattributes"
IGNORE: Final = ".gitignore"
_SPECIAL: Final = re.compile(r"^[!#]|[\[\]]")
"""Characters with a meaning in git's patterns; a skills folder cannot hold others of them."""
READMES: Final = ("README.md", "README.rst", "README.txt", "README")


@dataclass(frozen=True, slots=True, kw_only=True)
class InitOptions:
    """The options of `skills-bundle init`; None and () leave the choice to the project."""

    name: str | None = None
    collection: str | None = None
    package: str | None = None
    skills: str | None = None
    exclude: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()
    repository: str | None = None
    source_ref: str | None = None
    console_script: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Names and places of a bundle, with what they were chosen from.

    Attributes:
        name: The project's name.
        collection: The collection's name.
        package: Dotted import name of the package that receives the bundle.
        skills: The skills folder.
        options: The options of the command.
        existing: What the folder holds.
        configuration: The project's configuration.
    """

    name: str
    collection: str
    package: str
    skills: str
    options: InitOptions
    existing: ExistingFiles
    configuration: Configuration

    @property
    def package_folder(self) -> str:
        """The package's folder; a new one is beside the existing packages, else below src."""
        packages = self.existing.packages
        is_flat = bool(packages) and not any(row.startswith("src/") for row in packages.values())
        path = self.package.replace(".", "/")
        return packages.get(self.package, path if is_flat else f"src/{path}")

    @property
    def has_package(self) -> bool:
        """Whether the package exists."""
        return self.package in self.existing.packages

    @property
    def settings(self) -> Settings:
        """The settings that the project will have."""
        base = self.configuration.settings or settings.defaults(self.name)
        exclude = self.options.exclude or base.exclude
        chosen = replace(base, skills=self.skills, collection=self.collection, exclude=exclude)
        return replace(chosen, allow=self.options.allow or base.allow)

    @property
    def left_out(self) -> tuple[str, ...]:
        """Skills elsewhere in the project, which are not shipped."""
        return tuple(
            path for path in self.existing.skill_folders if not _is_below(path, self.skills)
        )


def choose_layout(
    existing: ExistingFiles, configuration: Configuration, options: InitOptions
) -> Layout:
    """Choose every name and place of the bundle.

    Args:
        existing: What the folder holds.
        configuration: The project's configuration.
        options: The options of the command.

    Raises:
        SettingsError: With every choice that cannot be made, and the option that makes it.
    """
    problems = [*_unusable(options)]
    name = configuration.name or options.name
    if name is None:
        name = _OTHER.sub("-", existing.folder.name).strip("-._").lower()
    problems += _name_problems(name, options)
    candidates = {
        "collection": _collection(configuration, name),
        "package": _package(existing, configuration, name),
        "skills": _skills(existing),
    }
    chosen: dict[str, str] = {}
    for key, (candidate, message) in candidates.items():
        option, configured = getattr(options, key), getattr(configuration.settings, key, None)
        chosen[key] = configured or option or candidate
        if configured is not None and option not in {None, configured}:
            problems.append(_unclear(f"--{key}", f"the hook's table sets it to {configured!r}"))
        elif not configured and not option and message:
            problems.append(_unclear(f"--{key}", message))
    if not problems:  # names derived from the project's have rules of their own
        derived = InitOptions(collection=chosen["collection"], package=chosen["package"])
        problems += _unusable(derived)
    if problems:
        raise SettingsError("Some names or folders must be specified.", tuple(problems))
    return Layout(
        name=name, **chosen, options=options, existing=existing, configuration=configuration
    )


def _name_problems(name: str, options: InitOptions) -> Iterator[Problem]:
    if options.name and options.name != name:
        yield _unclear("--name", f"the project is named {name!r} in its pyproject.toml")
    elif _NAME.fullmatch(name) is None:
        message = f"{name!r} is not a valid distribution name: use A-Z, 0-9, - _ and ."
        yield _unclear("--name", message)


def _unclear(option: str, message: str) -> Problem:
    return Problem(code="cannot_choose", message=message, path=option)


def _unusable(options: InitOptions) -> Iterator[Problem]:
    """Check options by the rules of the settings they become."""
    given = {
        "collection": options.collection,
        "package": options.package,
        "skills": options.skills,
        "repository": options.repository,
        "source-ref": options.source_ref,
        "exclude": [*options.exclude] or None,
        "allow": [*options.allow] or None,
    }
    for key, value in given.items():
        for message in CHECKS[key](value) if value is not None else ():
            text = f"{value!r}: {message}" if isinstance(value, str) else message
            yield Problem(code="invalid_setting", message=text, path=f"--{key}")
    script = options.console_script
    if script is not None and _SCRIPT.fullmatch(script) is None:
        message = f"{script!r}: must be 1 to 100 of A-Z, 0-9, - _ and ., not beginning with - or ."
        yield Problem(code="invalid_setting", message=message, path="--console-script")


def _collection(configuration: Configuration, name: str) -> tuple[str, str | None]:
    """Return the collection's name, and a message if there are several candidates."""
    default, declared = settings.normalized(name), [*configuration.entries]
    if declared in ([], [default]):
        return default, None
    there = ", ".join(repr(row) for row in declared)
    return default, f"the project declares {there}; choose one"


def _package(
    existing: ExistingFiles, configuration: Configuration, name: str
) -> tuple[str, str | None]:
    """Return the package, and a message if there are several candidates or it cannot hold files."""
    default = settings.defaults(name).package
    if not configuration.is_project:  # code beside skills is not the new project's package
        return default, None
    packages = [*existing.packages]
    shipped = [row for row in _shipped(configuration) if row in packages] or packages
    if default in shipped or not shipped:
        message = (
            f"the project ships the module {default}.py, which cannot contain skills; "
            "name a new package for them"
        )
        return default, message if default in existing.modules else None
    if len(shipped) == 1:
        return shipped[0], None
    return default, f"there are several packages: {', '.join(shipped)}; choose one"


def _shipped(configuration: Configuration) -> list[str]:
    """Return the import names that the wheel's configuration lists."""
    rows = strings(table_at(configuration.build, "targets", "wheel").get("packages"))
    parts = [PurePosixPath(row).parts for row in rows]
    return [".".join(row[1:] if row[:1] == ("src",) else row) for row in parts]


def _skills(existing: ExistingFiles) -> tuple[str, str | None]:
    """Return the folder that holds the skills, and a message if there are several.

    Hidden folders count only if there are no others.
    """
    found = existing.skill_folders
    visible = [row for row in found if not row.startswith(".")] or [*found]
    if "." in found:
        return "skills", "the folder is a skill itself; move it into skills/NAME, or name a folder"
    if not visible or any(_is_below(row, "skills") for row in visible):
        return "skills", None
    if all("/" not in row for row in visible):
        return ".", None
    common = posixpath.commonpath([posixpath.dirname(row) for row in visible])
    if common:
        return common, None
    counted = Counter(row.split("/")[0] for row in visible)
    there = ", ".join(f"{top} ({number})" for top, number in counted.most_common(8))
    return ".", f"skills are in several folders: {there}; choose one, or `.` for all"


def _is_below(path: str, folder: str) -> bool:
    return folder == "." or path.startswith(f"{folder}/")


# --- the files ---


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file to be written.

    Attributes:
        path: Below the project, `/` between components.
        old: Its bytes, or None if it does not exist.
        new: The new bytes.
    """

    path: str
    old: bytes | None
    new: bytes


def plan_changes(layout: Layout) -> tuple[FileChange, ...]:
    """Return every file that changes, in the order in which they are printed.

    Raises:
        SettingsError: With every conflict.
    """
    problems = [*_conflicts(layout)]
    if problems:
        raise SettingsError("The project's configuration conflicts with this.", tuple(problems))
    rows = [*_toml_files(layout), *_code(layout), *_starter(layout), *_git_files(layout)]
    return tuple(row for row in rows if row.old != row.new)


def _conflicts(layout: Layout) -> Iterator[Problem]:
    configuration, script = layout.configuration, layout.options.console_script
    entry = configuration.entries.get(layout.collection)
    if entry not in {None, layout.package}:
        where = f'project.entry-points."{ENTRY_POINT_GROUP}".{layout.collection}'
        yield _conflict(where, entry, layout.package)
    yield from _differing_settings(layout)
    if script is not None:
        there, target = configuration.scripts.get(script), _script_target(layout, script)
        if there not in {None, target}:
            yield _conflict(f"project.scripts.{script}", there, target)
        for key in ("scripts", "dependencies"):
            if key in configuration.dynamic:
                message = f"lists {key}, so you must add the console script by hand"
                yield Problem(code="dynamic_field", message=message, path="project.dynamic")
        if _script_module(layout, script) is None:
            names = " and ".join(f"{name}.py" for name in MODULES)
            message = f"{names} already exist; write the script's module by hand"
            yield Problem(code="no_place", message=message, path=layout.package_folder)


def _differing_settings(layout: Layout) -> Iterator[Problem]:
    """Yield options that conflict with the hook's table."""
    configured = layout.configuration.settings
    if configured is None:
        return
    for key, wanted in _optional(layout).items():
        there = getattr(configured, key.replace("-", "_"))
        if there and not (
            there == wanted or (key in {"exclude", "allow"} and {*wanted} <= {*there})
        ):
            yield _conflict(f"{configured.where}.{key}", _toml_value(there), _toml_value(wanted))


def _toml_value(value: object) -> object:
    return [*cast("tuple[object, ...]", value)] if isinstance(value, tuple) else value


def _conflict(path: str, found: object, wanted: object) -> Problem:
    message = f"is {found!r}, but must be {wanted!r} for this collection"
    return Problem(code="conflicting_value", message=message, path=path)


def _script_target(layout: Layout, script: str) -> str:
    there = layout.configuration.scripts.get(script)
    if there in {f"{layout.package}.{name}:main" for name in MODULES}:
        return str(there)
    made = _script_module(layout, script)
    module = PurePosixPath(made.path).stem if made else MODULES[0]
    return f"{layout.package}.{module}:main"


def _script_module(layout: Layout, script: str) -> FileChange | None:
    """Return the module of the console script, in the first free place."""
    text = templates.command(layout.collection, script).encode()
    for name in MODULES:
        path = f"{layout.package_folder}/{name}.py"
        old = layout.existing.command_modules.get(path)
        if old in {None, text}:
            return FileChange(path, old, text)
    return None


def _toml_files(layout: Layout) -> Iterator[FileChange]:
    existing, configuration = layout.existing, layout.configuration
    old = existing.files.get(PYPROJECT)
    text = (old or b"").decode("utf-8")
    if not configuration.is_project:
        readme = next((name for name in READMES if name in existing.present), READMES[0])
        has_license = any(name.startswith(("LICENSE", "LICENCE")) for name in existing.present)
        head = templates.pyproject_head(name=layout.name, readme=readme, license_file=has_license)
        text = f"{head}\n{text}" if text.strip() else head
    additions, problems = [*_project(layout)], list[Problem]()
    hook = [*_hook(layout)]
    if not configuration.in_hatch_toml:
        additions += hook
    yield FileChange(PYPROJECT, old, _added(text, additions, PYPROJECT, problems))
    if configuration.in_hatch_toml:
        hatch = existing.files[HATCH]
        yield FileChange(HATCH, hatch, _added(hatch.decode("utf-8"), hook, HATCH, problems))
    if problems:
        raise SettingsError("You must add some lines by hand.", (*problems,))


def _added(text: str, additions: list[Addition], name: str, problems: list[Problem]) -> bytes:
    try:
        return with_additions(text, additions).encode("utf-8")
    except NoPlaceError as error:
        row = error.addition
        message = f"cannot be edited safely; add by hand: {row.header} {row.line}"
        problems.append(Problem(code="no_place", message=message, path=name))
        return text.encode("utf-8")


def _project(layout: Layout) -> Iterator[Addition]:
    """Yield additions to [build-system] and [project]."""
    configuration, script = layout.configuration, layout.options.console_script
    requires = requirement_names(configuration.at("build-system").get("requires"))
    if configuration.is_project and configuration.hook == HOOK and "skills-bundle" not in requires:
        value = templates.HOOK_REQUIREMENT
        yield Addition(table=("build-system",), key="requires", value=value, append=True)
    if script is not None:
        project = configuration.at("project")
        if "skills-bundle" not in requirement_names(project.get("dependencies")):
            has_array, wanted = "dependencies" in project, templates.compatible()
            value = wanted if has_array else (wanted,)
            yield Addition(table=("project",), key="dependencies", value=value, append=has_array)
        target = _script_target(layout, script)
        yield Addition(table=("project", "scripts"), key=script, value=target)
    table = ("project", "entry-points", ENTRY_POINT_GROUP)
    yield Addition(table=table, key=layout.collection, value=layout.package)


def _hook(layout: Layout) -> Iterator[Addition]:
    """Yield additions to hatchling's tables."""
    configuration = layout.configuration
    build = configuration.build_prefix
    if "ignore-vcs" not in configuration.build:
        yield Addition(table=build, key="ignore-vcs", value=True)
    yield from _selection(layout)
    values = _optional(layout)
    if not configuration.tables:
        usual = settings.defaults(layout.name)
        values = {
            "skills": layout.skills,
            **({} if layout.package == usual.package else {"package": layout.package}),
            **({} if layout.collection == usual.collection else {"collection": layout.collection}),
            **values,
        }
    there = table_at(configuration.build, "hooks", configuration.hook)
    for key, value in values.items():
        if key not in there:
            yield Addition(table=(*build, "hooks", configuration.hook), key=key, value=value)


def _selection(layout: Layout) -> Iterator[Addition]:
    """Yield additions that make the build ship a new package."""
    configuration, package = layout.configuration, _top_package(layout)
    targets = (*configuration.build_prefix, "targets")
    wheel = table_at(configuration.build, "targets", "wheel")
    if not configuration.is_project:
        top = layout.package_folder.split("/")[0]
        yield Addition(table=(*targets, "sdist"), key="only-include", value=(top,))
    elif layout.has_package:
        return
    elif "packages" in wheel:
        yield Addition(table=(*targets, "wheel"), key="packages", value=package, append=True)
        return
    elif {"only-include", "include", "force-include"} & wheel.keys():
        return
    yield Addition(table=(*targets, "wheel"), key="packages", value=(package,))


def _top_package(layout: Layout) -> str:
    """Return the folder of a package's first name: hatchling drops the folders above it."""
    folders = PurePosixPath(layout.package_folder).parents
    below = layout.package.count(".")
    return str(folders[below - 1]) if below else layout.package_folder


def _optional(layout: Layout) -> dict[str, str | tuple[str, ...]]:
    options = layout.options
    rows = {
        "exclude": options.exclude or None,
        "allow": options.allow or None,
        "repository": options.repository,
        "source-ref": options.source_ref,
    }
    return {key: value for key, value in rows.items() if value is not None}


def _code(layout: Layout) -> Iterator[FileChange]:
    script = layout.options.console_script
    if not layout.has_package:
        path = f"{layout.package_folder}/__init__.py"
        yield FileChange(path, None, templates.package(layout.name).encode())
    if script is not None and (module := _script_module(layout, script)):
        yield module


def _starter(layout: Layout) -> Iterator[FileChange]:
    """Yield an example skill if there is no skill."""
    if len(layout.left_out) == len(layout.existing.skill_folders):
        folder = "" if layout.skills == "." else f"{layout.skills}/"
        yield FileChange(f"{folder}{STARTER}/SKILL.md", None, templates.skill(STARTER).encode())


def _git_files(layout: Layout) -> Iterator[FileChange]:
    """Yield .gitattributes, so that git changes no bytes, and a new project's own files."""
    existing, is_new = layout.existing, not layout.configuration.is_project
    old = existing.files.get(ATTRIBUTES)
    text = (old or b"").decode("utf-8", "surrogateescape")
    there = {line.strip() for line in text.splitlines()}
    wanted = [row for row in _attributes(layout) if row not in there]
    end = "\r\n" if "\r\n" in text else "\n"
    gap = end if wanted and text and not text.endswith("\n") else ""
    made = text + gap + "".join(f"{row}{end}" for row in wanted)
    yield FileChange(ATTRIBUTES, old, made.encode("utf-8", "surrogateescape"))
    if is_new and IGNORE not in existing.present:
        yield FileChange(IGNORE, None, templates.GITIGNORE.encode())
    if is_new and not {*READMES} & existing.present:
        made = templates.readme(layout.name, layout.collection, layout.options.console_script)
        yield FileChange(READMES[0], None, made.encode())


def _attributes(layout: Layout) -> list[str]:
    folders = [layout.skills]
    if layout.skills == ".":
        tops = {path.split("/")[0] for path in layout.existing.skill_folders if path != "."}
        folders = sorted(tops) or [STARTER]
    return [*(f"{_pattern(folder)} -text" for folder in folders), f"{LOCK_FILE_NAME} -text"]


def _pattern(folder: str) -> str:
    """Return a folder as a git pattern, with special characters escaped."""
    text = _SPECIAL.sub(r"\\\g<0>", f"{folder}/**")
    # Git unquotes a pattern like a C string, so a backslash has to be doubled.
    return '"' + text.replace("\\", "\\\\") + '"' if " " in text else text

"""Decision: the names and places of a bundle, and every file of the project as it has to be.

Options come first, then what the project's configuration says, then what the folder holds. If there
are several candidates, none is guessed. All changes are computed before anything is written, and
every conflict is reported in one run.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from skills_bundle.bundle.lock import ENTRY_POINT_GROUP, LOCK_FILE_NAME
from skills_bundle.errors import Problem, SettingsError
from skills_bundle.formats.toml_edit import Addition, NoPlaceError, with_additions
from skills_bundle.project import settings, templates
from skills_bundle.project.existing import HOOK, MODULES, PYPROJECT, requirement_names, strings
from skills_bundle.project.settings import CHECKS, table_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skills_bundle.project.existing import Configuration, ExistingFiles

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
    repository: str | None = None
    source_ref: str | None = None
    console_script: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Names and places of a bundle.

    Attributes:
        name: The project's name.
        collection: The collection's name.
        package: Dotted import name of the package that receives the bundle.
        package_folder: Its folder below the project.
        has_package: Whether the package exists.
        skills: The skills folder.
        left_out: Skills elsewhere in the project, which are not shipped.
        starter: Whether there is no skill, so that an example is made.
        options: The options of the command.
    """

    name: str
    collection: str
    package: str
    package_folder: str
    has_package: bool
    skills: str
    left_out: tuple[str, ...]
    starter: bool
    options: InitOptions


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
    wanted = _slug(existing.folder.name) if options.name is None else options.name
    name = configuration.name or wanted
    if configuration.name and options.name and configuration.name != options.name:
        message = f"the project is named {configuration.name!r} in its pyproject.toml"
        problems.append(_differs("--name", message))
    elif _NAME.fullmatch(name) is None:
        message = f"{name!r} is not a valid distribution name: use A-Z, 0-9, - _ and ."
        problems.append(_differs("--name", message))
    collection, wrong = _collection(configuration, options, name)
    package, more = _package(existing, configuration, options, name)
    skills, still = _skills(existing, configuration, options)
    problems += [*wrong, *more, *still]
    if not problems:  # names derived from the project's have rules of their own
        derived = InitOptions(collection=collection, package=package)
        problems += _unusable(derived)
    if problems:
        raise SettingsError("Names or places have to be given.", tuple(problems))
    inside = [path for path in existing.skill_folders if _is_below(path, skills)]
    return Layout(
        name=name,
        collection=collection,
        package=package,
        package_folder=existing.packages.get(package, _new_folder(existing, package)),
        has_package=package in existing.packages,
        skills=skills,
        left_out=tuple(path for path in existing.skill_folders if path not in inside),
        starter=not inside,
        options=options,
    )


def _slug(text: str) -> str:
    """Return a folder's name as a distribution may be named."""
    return _OTHER.sub("-", text).strip("-._").lower()


def _differs(option: str, message: str) -> Problem:
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
    }
    for key, value in given.items():
        for message in CHECKS[key](value) if value is not None else ():
            text = f"{value!r}: {message}" if isinstance(value, str) else message
            yield Problem(code="invalid_setting", message=text, path=f"--{key}")
    script = options.console_script
    if script is not None and _SCRIPT.fullmatch(script) is None:
        message = f"{script!r}: must be 1 to 100 of A-Z, 0-9, - _ and ., not beginning with - or ."
        yield Problem(code="invalid_setting", message=message, path="--console-script")


def _collection(
    configuration: Configuration, options: InitOptions, name: str
) -> tuple[str, Iterator[Problem] | list[Problem]]:
    configured = None if configuration.settings is None else configuration.settings.collection
    declared = [*configuration.entries]
    chosen = options.collection or configured or settings.normalized(name)
    if configuration.settings is not None and options.collection not in {None, configured}:
        return chosen, [_differs("--collection", f"the hook's table sets it to {configured!r}")]
    if (
        options.collection is None
        and configuration.settings is None
        and declared not in ([], [chosen])
    ):
        there = ", ".join(repr(row) for row in declared)
        return chosen, [_differs("--collection", f"the project declares {there}; choose one")]
    return chosen, []


def _package(
    existing: ExistingFiles, configuration: Configuration, options: InitOptions, name: str
) -> tuple[str, list[Problem]]:
    configured = None if configuration.settings is None else configuration.settings.package
    if configured is not None and options.package not in {None, configured}:
        return configured, [_differs("--package", f"the hook's table sets it to {configured!r}")]
    default = settings.defaults(name).package
    if chosen := options.package or configured:
        return chosen, []
    shipped = [row for row in _shipped(configuration) if row in existing.packages] or [
        *existing.packages
    ]
    # Code in a folder without a project is not taken for the new project's package.
    if default in shipped or not shipped or not configuration.is_project:
        return default, [*_single_module(existing, configuration, default)]
    if len(shipped) == 1:
        return shipped[0], []
    there = ", ".join(shipped)
    return default, [_differs("--package", f"there are several packages: {there}; choose one")]


def _single_module(
    existing: ExistingFiles, configuration: Configuration, default: str
) -> Iterator[Problem]:
    """Refuse to turn a project that ships one module into one that ships a package beside it."""
    if configuration.is_project and default in existing.modules:
        message = f"the project ships the module {default}.py, which cannot hold skills; "
        yield _differs("--package", f"{message}name a new package for them")


def _shipped(configuration: Configuration) -> list[str]:
    """Return the import names that the wheel's configuration lists."""
    rows = strings(table_at(configuration.build, "targets", "wheel").get("packages"))
    parts = [PurePosixPath(row).parts for row in rows]
    return [".".join(row[1:] if row[:1] == ("src",) else row) for row in parts]


def _new_folder(existing: ExistingFiles, package: str) -> str:
    """Return the folder for a new package: beside the existing packages, else below src."""
    path = package.replace(".", "/")
    is_flat = bool(existing.packages) and not any(
        p.startswith("src/") for p in existing.packages.values()
    )
    return path if is_flat else f"src/{path}"


def _skills(
    existing: ExistingFiles, configuration: Configuration, options: InitOptions
) -> tuple[str, list[Problem]]:
    configured = None if configuration.settings is None else configuration.settings.skills
    if configured is not None and options.skills not in {None, configured}:
        return configured, [_differs("--skills", f"the hook's table sets it to {configured!r}")]
    if chosen := options.skills or configured:
        return chosen, []
    return _folder_of_skills(existing)


def _folder_of_skills(existing: ExistingFiles) -> tuple[str, list[Problem]]:
    """Choose the skills folder by where skills are; hidden folders count if there are no others."""
    visible = [row for row in existing.skill_folders if not row.startswith(".")] or [
        *existing.skill_folders
    ]
    if "." in existing.skill_folders:
        message = "the folder is a skill itself; move it into skills/NAME, or name a folder"
        return "skills", [_differs("--skills", message)]
    if not visible or any(_is_below(row, "skills") for row in visible):
        return "skills", []
    common = _common([PurePosixPath(row).parts[:-1] for row in visible])
    if common or all("/" not in row for row in visible):
        return "/".join(common) or ".", []
    return ".", [_differs("--skills", f"skills are in several folders: {_tops(visible)}")]


def _tops(rows: list[str]) -> str:
    counted = Counter(row.split("/")[0] for row in rows)
    there = ", ".join(f"{top} ({number})" for top, number in counted.most_common(8))
    return f"{there}; choose one, or `.` for all"


def _common(paths: list[tuple[str, ...]]) -> tuple[str, ...]:
    first, last = min(paths), max(paths)
    same = 0
    while same < min(len(first), len(last)) and first[same] == last[same]:
        same += 1
    return first[:same]


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


def plan_changes(
    existing: ExistingFiles, configuration: Configuration, layout: Layout
) -> tuple[FileChange, ...]:
    """Return every file that changes, in the order in which they are printed.

    Args:
        existing: What the folder holds.
        configuration: The project's configuration.
        layout: Names and places.

    Raises:
        SettingsError: With every conflict.
    """
    problems = [*_conflicts(existing, configuration, layout)]
    if problems:
        raise SettingsError("The project's configuration conflicts with this.", tuple(problems))
    rows = [
        *_toml_files(existing, configuration, layout),
        *_code(existing, layout),
        *_starter(layout),
        *_git_files(existing, configuration, layout),
    ]
    return tuple(row for row in rows if row.old != row.new)


def _conflicts(
    existing: ExistingFiles, configuration: Configuration, layout: Layout
) -> Iterator[Problem]:
    entry = configuration.entries.get(layout.collection)
    if entry not in {None, layout.package}:
        where = f'project.entry-points."{ENTRY_POINT_GROUP}".{layout.collection}'
        yield conflict(where, entry, layout.package)
    yield from _differing_settings(configuration, layout)
    script = layout.options.console_script
    if script is not None:
        target = _script_target(existing, configuration, layout, script)
        there = configuration.scripts.get(script)
        if there not in {None, target}:
            yield conflict(f"project.scripts.{script}", there, target)
        yield from _dynamic(configuration)
        if not [*_command_module(existing, layout, script)]:
            names = " and ".join(f"{name}.py" for name in MODULES)
            message = f"{names} exist already; write the script's module by hand"
            yield Problem(code="no_place", message=message, path=layout.package_folder)


def _differing_settings(configuration: Configuration, layout: Layout) -> Iterator[Problem]:
    """Yield options that conflict with the hook's table."""
    configured = configuration.settings
    if configured is None:
        return
    options = {"repository": layout.options.repository, "source_ref": layout.options.source_ref}
    for key, wanted in options.items():
        there = getattr(configured, key)
        if wanted is not None and there not in {None, wanted}:
            yield conflict(f"{configured.where}.{key.replace('_', '-')}", there, wanted)
    if configured.exclude and {*layout.options.exclude} - {*configured.exclude}:
        yield conflict(
            f"{configured.where}.exclude", [*configured.exclude], [*layout.options.exclude]
        )


def _dynamic(configuration: Configuration) -> Iterator[Problem]:
    for key in ("scripts", "dependencies"):
        if key in configuration.dynamic:
            message = f"lists {key}, so the console script has to be added by hand"
            yield Problem(code="dynamic_field", message=message, path="project.dynamic")


def _script_target(
    existing: ExistingFiles, configuration: Configuration, layout: Layout, script: str
) -> str:
    there = configuration.scripts.get(script)
    if there in {f"{layout.package}.{name}:main" for name in MODULES}:
        return str(there)
    made = [row.path for row in _command_module(existing, layout, script)]
    module = PurePosixPath(made[0]).stem if made else MODULES[0]
    return f"{layout.package}.{module}:main"


def _toml_files(
    existing: ExistingFiles, configuration: Configuration, layout: Layout
) -> Iterator[FileChange]:
    old = existing.files.get(PYPROJECT)
    text = (old or b"").decode("utf-8")
    if not configuration.is_project:
        head = templates.pyproject_head(
            name=layout.name,
            readme=_readme(existing, configuration),
            license_file=any(name.startswith(("LICENSE", "LICENCE")) for name in existing.present),
        )
        text = f"{head}\n{text}" if text.strip() else head
    hook = [*_hook(configuration, layout)]
    project = [
        *_project(existing, configuration, layout),
        *([] if configuration.in_hatch_toml else hook),
    ]
    problems: list[Problem] = []
    yield FileChange(PYPROJECT, old, _added(text, project, PYPROJECT, problems))
    if configuration.in_hatch_toml:
        hatch = existing.files[HATCH]
        yield FileChange(HATCH, hatch, _added(hatch.decode("utf-8"), hook, HATCH, problems))
    if problems:
        raise SettingsError("Some lines have to be added by hand.", (*problems,))


def _added(text: str, additions: list[Addition], name: str, problems: list[Problem]) -> bytes:
    try:
        return with_additions(text, additions).encode("utf-8")
    except NoPlaceError as error:
        row = error.addition
        message = f"cannot be edited safely; add by hand: {row.header} {row.line}"
        problems.append(Problem(code="no_place", message=message, path=name))
        return text.encode("utf-8")


def _project(
    existing: ExistingFiles, configuration: Configuration, layout: Layout
) -> Iterator[Addition]:
    """Yield additions to [build-system] and [project]."""
    if configuration.is_project:
        requires = configuration.at("build-system").get("requires")
        if configuration.hook == HOOK and "skills-bundle" not in requirement_names(requires):
            yield Addition(
                table=("build-system",),
                key="requires",
                value=templates.HOOK_REQUIREMENT,
                append=True,
            )
    script = layout.options.console_script
    if script is not None:
        wanted = requirement_names(configuration.at("project").get("dependencies"))
        if "skills-bundle" not in wanted:
            yield _dependency(configuration)
        target = _script_target(existing, configuration, layout, script)
        yield Addition(table=("project", "scripts"), key=script, value=target)
    table = ("project", "entry-points", ENTRY_POINT_GROUP)
    yield Addition(table=table, key=layout.collection, value=layout.package)


def _dependency(configuration: Configuration) -> Addition:
    has_array = "dependencies" in configuration.at("project")
    value = templates.compatible() if has_array else (templates.compatible(),)
    return Addition(table=("project",), key="dependencies", value=value, append=has_array)


def _hook(configuration: Configuration, layout: Layout) -> Iterator[Addition]:
    """Yield additions to hatchling's tables."""
    build = configuration.build_prefix
    if "ignore-vcs" not in configuration.build:
        yield Addition(table=build, key="ignore-vcs", value=True)
    yield from _selection(configuration, layout)
    table = (*build, "hooks", configuration.hook)
    if not configuration.tables:
        yield from _settings(table, layout)
    else:
        for key, value in _optional(layout).items():
            if key not in table_at(configuration.build, "hooks", configuration.hook):
                yield Addition(table=table, key=key, value=value)


def _selection(configuration: Configuration, layout: Layout) -> Iterator[Addition]:
    """Yield additions that make the build ship a new package."""
    wheel = table_at(configuration.build, "targets", "wheel")
    table = (*configuration.build_prefix, "targets")
    if not configuration.is_project:
        top = layout.package_folder.split("/")[0]
        yield Addition(table=(*table, "sdist"), key="only-include", value=(top,))
    selects = {"packages", "only-include", "include", "force-include"} & wheel.keys()
    if not configuration.is_project or (not layout.has_package and not selects):
        value = (_top_package(layout),)
        yield Addition(table=(*table, "wheel"), key="packages", value=value)
    elif not layout.has_package and "packages" in wheel:
        row = Addition(
            table=(*table, "wheel"), key="packages", value=_top_package(layout), append=True
        )
        yield row


def _top_package(layout: Layout) -> str:
    """Return the folder of a package's first name: hatchling drops the folders above it."""
    folders = PurePosixPath(layout.package_folder).parents
    below = layout.package.count(".")
    return str(folders[below - 1]) if below else layout.package_folder


def _settings(table: tuple[str, ...], layout: Layout) -> Iterator[Addition]:
    usual = settings.defaults(layout.name)
    yield Addition(table=table, key="skills", value=layout.skills)
    if layout.package != usual.package:
        yield Addition(table=table, key="package", value=layout.package)
    if layout.collection != usual.collection:
        yield Addition(table=table, key="collection", value=layout.collection)
    for key, value in _optional(layout).items():
        yield Addition(table=table, key=key, value=value)


def _optional(layout: Layout) -> dict[str, str | tuple[str, ...]]:
    options = layout.options
    rows = {
        "exclude": options.exclude or None,
        "repository": options.repository,
        "source-ref": options.source_ref,
    }
    return {key: value for key, value in rows.items() if value is not None}


def _readme(existing: ExistingFiles, configuration: Configuration) -> str | None:
    there = next((name for name in READMES if name in existing.present), None)
    return there or (None if configuration.is_project else READMES[0])


def _code(existing: ExistingFiles, layout: Layout) -> Iterator[FileChange]:
    place = layout.package_folder
    if not layout.has_package:
        yield FileChange(f"{place}/__init__.py", None, templates.package(layout.name).encode())
    if layout.options.console_script is not None:
        yield from _command_module(existing, layout, layout.options.console_script)


def _command_module(existing: ExistingFiles, layout: Layout, script: str) -> Iterator[FileChange]:
    """Yield the module of the console script, in the first free place."""
    text = templates.command(layout.collection, script).encode()
    for name in MODULES:
        path = f"{layout.package_folder}/{name}.py"
        old = existing.command_modules.get(path)
        if old in {None, text}:
            yield FileChange(path, old, text)
            return


def _starter(layout: Layout) -> Iterator[FileChange]:
    if layout.starter:
        folder = "" if layout.skills == "." else f"{layout.skills}/"
        yield FileChange(f"{folder}{STARTER}/SKILL.md", None, templates.skill(STARTER).encode())


def _git_files(
    existing: ExistingFiles, configuration: Configuration, layout: Layout
) -> Iterator[FileChange]:
    """Yield .gitattributes, so that git changes no bytes, and a new project's own files."""
    old = existing.files.get(ATTRIBUTES)
    text = (old or b"").decode("utf-8", "surrogateescape")
    there = {line.strip() for line in text.splitlines()}
    wanted = [row for row in _attributes(existing, layout) if row not in there]
    end = "\r\n" if "\r\n" in text else "\n"
    gap = end if text and not text.endswith("\n") else ""
    made = text + (gap if wanted else "") + "".join(f"{row}{end}" for row in wanted)
    yield FileChange(ATTRIBUTES, old, made.encode("utf-8", "surrogateescape"))
    if not configuration.is_project and IGNORE not in existing.present:
        yield FileChange(IGNORE, None, templates.GITIGNORE.encode())
    if not configuration.is_project and not {*READMES} & existing.present:
        made = templates.readme(layout.name, layout.collection, layout.options.console_script)
        yield FileChange(READMES[0], None, made.encode())


def _attributes(existing: ExistingFiles, layout: Layout) -> list[str]:
    folders = [layout.skills]
    if layout.skills == ".":
        tops = {path.split("/")[0] for path in existing.skill_folders if path != "."}
        folders = sorted(tops) or [STARTER]
    return [*(f"{_pattern(folder)} -text" for folder in folders), f"{LOCK_FILE_NAME} -text"]


def _pattern(folder: str) -> str:
    """Return a folder as a git pattern, with special characters escaped."""
    text = _SPECIAL.sub(r"\\\g<0>", f"{folder}/**")
    # Git unquotes a pattern like a C string, so a backslash has to be doubled.
    return '"' + text.replace("\\", "\\\\") + '"' if " " in text else text


def conflict(path: str, found: object, wanted: object) -> Problem:
    """Return the problem of an existing value that differs from the wanted one.

    Args:
        path: Its TOML path.
        found: The existing value.
        wanted: The value it would have to have.
    """
    message = f"is {found!r}, and has to be {wanted!r} for this collection"
    return Problem(code="conflicting_value", message=message, path=path)

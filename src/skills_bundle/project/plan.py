"""Decision: every file of the project as it has to be, from what is there and what was chosen.

All of it is computed before anything is written, and every conflict is told in one run.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from skills_bundle.bundle.lock import ENTRY_POINT_GROUP, LOCK_FILE_NAME
from skills_bundle.errors import Problem, SettingsError
from skills_bundle.formats.toml_edit import Addition, NoPlaceError, with_additions
from skills_bundle.project import fresh, settings
from skills_bundle.project.choices import STARTER, conflict
from skills_bundle.project.document import HOOK, at, requirement_names
from skills_bundle.project.survey import MODULES, PYPROJECT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skills_bundle.project.choices import Choices
    from skills_bundle.project.document import Document
    from skills_bundle.project.survey import Survey

HATCH: Final = "hatch.toml"
ATTRIBUTES: Final = ".gitattributes"
IGNORE: Final = ".gitignore"
_SPECIAL: Final = re.compile(r"^[!#]|[\[\]]")
"""What a pattern of git's takes for a sign; other such characters no skills folder can hold."""
READMES: Final = ("README.md", "README.rst", "README.txt", "README")


@dataclass(frozen=True, slots=True)
class Change:
    """One file.

    Attributes:
        path: Below the project, `/` between components.
        old: Its bytes, or None if it is not there.
        new: What they have to be.
    """

    path: str
    old: bytes | None
    new: bytes


def plan(found: Survey, document: Document, chosen: Choices) -> tuple[Change, ...]:
    """Give every file that changes, in the order in which they are shown.

    Args:
        found: What lies there.
        document: What the project says.
        chosen: Names and places.

    Raises:
        SettingsError: With every conflict; nothing can be written then.
    """
    problems = [*_conflicts(found, document, chosen)]
    if problems:
        raise SettingsError("The project says something else already.", tuple(problems))
    rows = [
        *_toml_files(found, document, chosen),
        *_code(found, chosen),
        *_starter(chosen),
        *_git_files(found, document, chosen),
    ]
    return tuple(row for row in rows if row.old != row.new)


def _conflicts(found: Survey, document: Document, chosen: Choices) -> Iterator[Problem]:
    entry = document.entries.get(chosen.collection)
    if entry not in {None, chosen.package}:
        where = f'project.entry-points."{ENTRY_POINT_GROUP}".{chosen.collection}'
        yield conflict(where, entry, chosen.package)
    yield from _differing_settings(document, chosen)
    script = chosen.asked.console_script
    if script is not None:
        target = _script_target(found, document, chosen, script)
        there = document.scripts.get(script)
        if there not in {None, target}:
            yield conflict(f"project.scripts.{script}", there, target)
        yield from _dynamic(document)
        if not [*_command_module(found, chosen, script)]:
            names = " and ".join(f"{name}.py" for name in MODULES)
            message = f"{names} hold something else; write the script's module by hand"
            yield Problem(code="no_place", message=message, path=chosen.package_folder)


def _differing_settings(document: Document, chosen: Choices) -> Iterator[Problem]:
    """Tell of options that say otherwise than the hook's table does."""
    said = document.settings
    if said is None:
        return
    asked = {"repository": chosen.asked.repository, "source_ref": chosen.asked.source_ref}
    for key, wanted in asked.items():
        there = getattr(said, key)
        if wanted is not None and there not in {None, wanted}:
            yield conflict(f"{said.where}.{key.replace('_', '-')}", there, wanted)
    if said.exclude and {*chosen.asked.exclude} - {*said.exclude}:
        yield conflict(f"{said.where}.exclude", [*said.exclude], [*chosen.asked.exclude])


def _dynamic(document: Document) -> Iterator[Problem]:
    for key in ("scripts", "dependencies"):
        if key in document.dynamic:
            message = f"names {key}, to which a console script of its own has to be added by hand"
            yield Problem(code="dynamic_field", message=message, path="project.dynamic")


def _script_target(found: Survey, document: Document, chosen: Choices, script: str) -> str:
    there = document.scripts.get(script)
    if there in {f"{chosen.package}.{name}:main" for name in MODULES}:
        return str(there)
    made = [row.path for row in _command_module(found, chosen, script)]
    module = PurePosixPath(made[0]).stem if made else MODULES[0]
    return f"{chosen.package}.{module}:main"


def _toml_files(found: Survey, document: Document, chosen: Choices) -> Iterator[Change]:
    old = found.files.get(PYPROJECT)
    text = (old or b"").decode("utf-8")
    if not document.is_project:
        head = fresh.pyproject_head(
            name=chosen.name,
            readme=_readme(found, document),
            license_file=any(name.startswith(("LICENSE", "LICENCE")) for name in found.present),
        )
        text = f"{head}\n{text}" if text.strip() else head
    hook = [*_hook(document, chosen)]
    project = [*_project(found, document, chosen), *([] if document.in_hatch_toml else hook)]
    problems: list[Problem] = []
    yield Change(PYPROJECT, old, _added(text, project, PYPROJECT, problems))
    if document.in_hatch_toml:
        hatch = found.files[HATCH]
        yield Change(HATCH, hatch, _added(hatch.decode("utf-8"), hook, HATCH, problems))
    if problems:
        raise SettingsError("The files are written in a way that cannot be added to.", (*problems,))


def _added(text: str, additions: list[Addition], name: str, problems: list[Problem]) -> bytes:
    try:
        return with_additions(text, additions).encode("utf-8")
    except NoPlaceError as error:
        row = error.addition
        message = f"has no place for it; write it by hand: {row.header} {row.line}".rstrip()
        problems.append(Problem(code="no_place", message=message, path=name))
        return text.encode("utf-8")


def _project(found: Survey, document: Document, chosen: Choices) -> Iterator[Addition]:
    """Give what [build-system] and [project] have to say."""
    if document.is_project:
        requires = document.at("build-system").get("requires")
        if document.hook == HOOK and "skills-bundle" not in requirement_names(requires):
            yield Addition(table=("build-system",), key="requires", value=fresh.OURS, append=True)
    script = chosen.asked.console_script
    if script is not None:
        wanted = requirement_names(document.at("project").get("dependencies"))
        if "skills-bundle" not in wanted:
            yield _dependency(document)
        target = _script_target(found, document, chosen, script)
        yield Addition(table=("project", "scripts"), key=script, value=target)
    table = ("project", "entry-points", ENTRY_POINT_GROUP)
    yield Addition(table=table, key=chosen.collection, value=chosen.package)


def _dependency(document: Document) -> Addition:
    has_array = "dependencies" in document.at("project")
    value = fresh.compatible() if has_array else (fresh.compatible(),)
    return Addition(table=("project",), key="dependencies", value=value, append=has_array)


def _hook(document: Document, chosen: Choices) -> Iterator[Addition]:
    """Give what hatchling's tables have to say."""
    build = document.build_prefix
    if "ignore-vcs" not in document.build:
        yield Addition(table=build, key="ignore-vcs", value=True)
    yield from _selection(document, chosen)
    table = (*build, "hooks", document.hook)
    if not document.tables:
        yield from _settings(table, chosen)
    else:
        for key, value in _optional(chosen).items():
            if key not in at(document.build, "hooks", document.hook):
                yield Addition(table=table, key=key, value=value)


def _selection(document: Document, chosen: Choices) -> Iterator[Addition]:
    """Have a package that is made now shipped, and of a new project nothing that is no part."""
    wheel = at(document.build, "targets", "wheel")
    table = (*document.build_prefix, "targets")
    if not document.is_project:
        top = chosen.package_folder.split("/")[0]
        yield Addition(table=(*table, "sdist"), key="only-include", value=(top,))
    selects = {"packages", "only-include", "include", "force-include"} & wheel.keys()
    if not document.is_project or (not chosen.has_package and not selects):
        value = (_top_package(chosen),)
        yield Addition(table=(*table, "wheel"), key="packages", value=value)
    elif not chosen.has_package and "packages" in wheel:
        row = Addition(
            table=(*table, "wheel"), key="packages", value=_top_package(chosen), append=True
        )
        yield row


def _top_package(chosen: Choices) -> str:
    """Give the folder of the first name of a package: hatchling drops what is above a folder."""
    folders = PurePosixPath(chosen.package_folder).parents
    below = chosen.package.count(".")
    return str(folders[below - 1]) if below else chosen.package_folder


def _settings(table: tuple[str, ...], chosen: Choices) -> Iterator[Addition]:
    usual = settings.defaults(chosen.name)
    yield Addition(table=table, key="skills", value=chosen.skills)
    if chosen.package != usual.package:
        yield Addition(table=table, key="package", value=chosen.package)
    if chosen.collection != usual.collection:
        yield Addition(table=table, key="collection", value=chosen.collection)
    for key, value in _optional(chosen).items():
        yield Addition(table=table, key=key, value=value)


def _optional(chosen: Choices) -> dict[str, str | tuple[str, ...]]:
    asked = chosen.asked
    rows = {
        "exclude": asked.exclude or None,
        "repository": asked.repository,
        "source-ref": asked.source_ref,
    }
    return {key: value for key, value in rows.items() if value is not None}


def _readme(found: Survey, document: Document) -> str | None:
    there = next((name for name in READMES if name in found.present), None)
    return there or (None if document.is_project else READMES[0])


def _code(found: Survey, chosen: Choices) -> Iterator[Change]:
    place = chosen.package_folder
    if not chosen.has_package:
        yield Change(f"{place}/__init__.py", None, fresh.package(chosen.name).encode())
    if chosen.asked.console_script is not None:
        yield from _command_module(found, chosen, chosen.asked.console_script)


def _command_module(found: Survey, chosen: Choices, script: str) -> Iterator[Change]:
    """Give the module of an own console script, in the first place that is not taken."""
    text = fresh.command(chosen.collection, script).encode()
    for name in MODULES:
        path = f"{chosen.package_folder}/{name}.py"
        old = found.modules_of_commands.get(path)
        if old in {None, text}:
            yield Change(path, old, text)
            return


def _starter(chosen: Choices) -> Iterator[Change]:
    if chosen.starter:
        folder = "" if chosen.skills == "." else f"{chosen.skills}/"
        yield Change(f"{folder}{STARTER}/SKILL.md", None, fresh.skill(STARTER).encode())


def _git_files(found: Survey, document: Document, chosen: Choices) -> Iterator[Change]:
    """Keep git from changing bytes, and give a project that has none an ignore file and README."""
    old = found.files.get(ATTRIBUTES)
    text = (old or b"").decode("utf-8", "surrogateescape")
    there = {line.strip() for line in text.splitlines()}
    wanted = [row for row in _attributes(found, chosen) if row not in there]
    end = "\r\n" if "\r\n" in text else "\n"
    gap = end if text and not text.endswith("\n") else ""
    made = text + (gap if wanted else "") + "".join(f"{row}{end}" for row in wanted)
    yield Change(ATTRIBUTES, old, made.encode("utf-8", "surrogateescape"))
    if not document.is_project and IGNORE not in found.present:
        yield Change(IGNORE, None, fresh.GITIGNORE.encode())
    if not document.is_project and not {*READMES} & found.present:
        made = fresh.readme(chosen.name, chosen.collection, chosen.asked.console_script)
        yield Change(READMES[0], None, made.encode())


def _attributes(found: Survey, chosen: Choices) -> list[str]:
    folders = [chosen.skills]
    if chosen.skills == ".":
        tops = {path.split("/")[0] for path in found.found if path != "."}
        folders = sorted(tops) or [STARTER]
    return [*(f"{_pattern(folder)} -text" for folder in folders), f"{LOCK_FILE_NAME} -text"]


def _pattern(folder: str) -> str:
    """Give a folder as a pattern of git's, which takes some characters for more than they are."""
    text = _SPECIAL.sub(r"\\\g<0>", f"{folder}/**")
    # A quoted pattern is read as C text first, where a backslash is two.
    return '"' + text.replace("\\", "\\\\") + '"' if " " in text else text

"""Decision: the names and places of a bundle, from what was asked for and what is there.

What was asked for goes first, then what the project says already, then what is there; and where
several things are there, nothing is guessed.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from skills_bundle.errors import Problem, SettingsError
from skills_bundle.project import settings
from skills_bundle.project.document import at, plain, strings
from skills_bundle.project.settings import CHECKS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skills_bundle.project.document import Document
    from skills_bundle.project.survey import Survey

_NAME: Final = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?")
"""Names of distributions (PyPA, Names and normalization)."""
_SCRIPT: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")
"""Names of console scripts: files in a folder of programs (PyPA, Entry points specification)."""
_OTHER: Final = re.compile(r"[^A-Za-z0-9._-]+")
STARTER: Final = "example-skill"
"""The skill that a project without skills begins with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What somebody asked for; None and () leave it to the project.

    Attributes are the options of `skills-bundle init`.
    """

    name: str | None = None
    collection: str | None = None
    package: str | None = None
    skills: str | None = None
    exclude: tuple[str, ...] = ()
    repository: str | None = None
    source_ref: str | None = None
    console_script: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """Names and places.

    Attributes:
        name: The project's name.
        collection: The collection's.
        package: Dotted import name of the package that receives the bundle.
        package_folder: Its folder below the project.
        has_package: Whether it is there.
        skills: The skills folder.
        left_out: Skills that lie elsewhere in the project.
        starter: Whether there is no skill, so that one has to be made.
        asked: As asked for.
    """

    name: str
    collection: str
    package: str
    package_folder: str
    has_package: bool
    skills: str
    left_out: tuple[str, ...]
    starter: bool
    asked: Asked


def choose(found: Survey, document: Document, asked: Asked) -> Choices:
    """Choose every name and place.

    Args:
        found: What lies there.
        document: What the project says.
        asked: What somebody asked for.

    Raises:
        SettingsError: With everything that cannot be chosen, and the option that says it.
    """
    problems = [*_unusable(asked)]
    wanted = _slug(found.folder.name) if asked.name is None else asked.name
    name = document.name or wanted
    if document.name and asked.name and document.name != asked.name:
        message = f"the project is called {document.name!r} in its pyproject.toml"
        problems.append(_differs("--name", message))
    elif _NAME.fullmatch(name) is None:
        message = f"{name!r} is no name for a distribution, which is of A-Z, 0-9, - _ and ."
        problems.append(_differs("--name", message))
    collection, wrong = _collection(document, asked, name)
    package, more = _package(found, document, asked, name)
    skills, still = _skills(found, document, asked)
    problems += [*wrong, *more, *still]
    if not problems:  # what derives from a name has rules of its own
        derived = Asked(collection=collection, package=package)
        problems += _unusable(derived)
    if problems:
        raise SettingsError("It is not clear what to make of this folder.", tuple(problems))
    inside = [path for path in found.found if _is_below(path, skills)]
    return Choices(
        name=name,
        collection=collection,
        package=package,
        package_folder=found.packages.get(package, _new_folder(found, package)),
        has_package=package in found.packages,
        skills=skills,
        left_out=tuple(path for path in found.found if path not in inside),
        starter=not inside,
        asked=asked,
    )


def _slug(text: str) -> str:
    """Make a folder's name one that a distribution can have."""
    return _OTHER.sub("-", text).strip("-._").lower()


def _differs(option: str, message: str) -> Problem:
    return Problem(code="cannot_choose", message=message, path=option)


def _unusable(asked: Asked) -> Iterator[Problem]:
    """Check what was asked for by the rules of the settings it becomes."""
    given = {
        "collection": asked.collection,
        "package": asked.package,
        "skills": asked.skills,
        "repository": asked.repository,
        "source-ref": asked.source_ref,
        "exclude": [*asked.exclude] or None,
    }
    for key, value in given.items():
        for message in CHECKS[key](value) if value is not None else ():
            told = f"{value!r}: {message}" if isinstance(value, str) else message
            yield Problem(code="invalid_setting", message=told, path=f"--{key}")
    script = asked.console_script
    if script is not None and _SCRIPT.fullmatch(script) is None:
        message = f"{script!r}: must be 1 to 100 of A-Z, 0-9, - _ and ., not beginning with - or ."
        yield Problem(code="invalid_setting", message=message, path="--console-script")


def _collection(
    document: Document, asked: Asked, name: str
) -> tuple[str, Iterator[Problem] | list[Problem]]:
    said = None if document.settings is None else document.settings.collection
    declared = [*document.entries]
    chosen = asked.collection or said or settings.normalized(name)
    if document.settings is not None and asked.collection not in {None, said}:
        return chosen, [_differs("--collection", f"the hook's table makes it {said!r}")]
    if asked.collection is None and document.settings is None and declared not in ([], [chosen]):
        there = ", ".join(repr(row) for row in declared)
        return chosen, [_differs("--collection", f"the project declares {there}; say which it is")]
    return chosen, []


def _package(
    found: Survey, document: Document, asked: Asked, name: str
) -> tuple[str, list[Problem]]:
    said = None if document.settings is None else document.settings.package
    if said is not None and asked.package not in {None, said}:
        return said, [_differs("--package", f"the hook's table makes it {said!r}")]
    default = settings.defaults(name).package
    if chosen := asked.package or said:
        return chosen, []
    shipped = [row for row in _shipped(document) if row in found.packages] or [*found.packages]
    # Code in a folder that builds nothing yet is no package of what is made now.
    if default in shipped or not shipped or not document.is_project:
        return default, [*_single_module(found, document, default)]
    if len(shipped) == 1:
        return shipped[0], []
    there = ", ".join(shipped)
    return default, [_differs("--package", f"there are several packages: {there}; say which")]


def _single_module(found: Survey, document: Document, default: str) -> Iterator[Problem]:
    """Refuse to turn a project that ships one module into one that ships a package beside it."""
    if document.is_project and default in found.modules:
        message = f"the project ships the module {default}.py, which can hold no skills; name "
        yield _differs("--package", f"{message}a package to be made for them")


def _shipped(document: Document) -> list[str]:
    """Give the import names that the wheel's configuration lists."""
    rows = strings(at(document.build, "targets", "wheel").get("packages"))
    parts = [PurePosixPath(row).parts for row in rows]
    return [".".join(row[1:] if row[:1] == ("src",) else row) for row in parts]


def _new_folder(found: Survey, package: str) -> str:
    """Give the place of a package to be made: beside those there are, else below src."""
    path = package.replace(".", "/")
    is_flat = bool(found.packages) and not any(
        p.startswith("src/") for p in found.packages.values()
    )
    return path if is_flat else f"src/{path}"


def _skills(found: Survey, document: Document, asked: Asked) -> tuple[str, list[Problem]]:
    said = None if document.settings is None else document.settings.skills
    if said is not None and asked.skills not in {None, said}:
        return said, [_differs("--skills", f"the hook's table makes it {said!r}")]
    if chosen := asked.skills or said:
        return chosen, []
    return _skills_found(found)


def _skills_found(found: Survey) -> tuple[str, list[Problem]]:
    """Choose the skills folder by where skills are; hidden folders count if there is no other."""
    visible = [row for row in found.found if not row.startswith(".")] or [*found.found]
    if "." in found.found:
        message = "the folder is a skill itself; move it into skills/NAME, or give a folder"
        return "skills", [_differs("--skills", message)]
    if not visible or any(_is_below(row, "skills") for row in visible):
        return "skills", []
    common = _common([PurePosixPath(row).parts[:-1] for row in visible])
    if common or all("/" not in row for row in visible):
        return "/".join(common) or ".", []
    return ".", [_differs("--skills", f"skills lie in several folders: {_tops(visible)}")]


def _tops(rows: list[str]) -> str:
    counted = Counter(row.split("/")[0] for row in rows)
    there = ", ".join(f"{top} ({number})" for top, number in counted.most_common(8))
    return f"{there}; say which, or `.` for all"


def _common(paths: list[tuple[str, ...]]) -> tuple[str, ...]:
    first, last = min(paths), max(paths)
    same = 0
    while same < min(len(first), len(last)) and first[same] == last[same]:
        same += 1
    return first[:same]


def _is_below(path: str, folder: str) -> bool:
    return folder == "." or path.startswith(f"{folder}/")


def conflict(path: str, found: object, wanted: object) -> Problem:
    """Tell of a value that is there and is another one.

    Args:
        path: Its TOML path.
        found: What is there.
        wanted: What it would have to be.
    """
    message = f"is {plain(found)}, and has to be {plain(wanted)} for this collection"
    return Problem(code="conflicting_value", message=message, path=path)

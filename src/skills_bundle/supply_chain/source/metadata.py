"""Decision: core metadata compared with `[project]`, as far as data alone can say.

What decides what an installer does is compared: name, version, what is required. A field that code
gives (`dynamic`, or `{root:uri}` in a requirement) follows from no data, and is named instead.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from skills_bundle.formats import core_metadata
from skills_bundle.project.settings import normalized
from skills_bundle.supply_chain.source.layout import table, texts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from skills_bundle.supply_chain.source.project import SourceProject

_VERSION_IN_FILE: Final = re.compile(
    r"^(?:__version__|VERSION) *= *(['\"])v?(?P<version>.+?)\1",
    re.IGNORECASE | re.MULTILINE,
)
"""What hatchling looks for in a version file unless a project says otherwise."""
_REQUIREMENT: Final = re.compile(r"([A-Za-z0-9._-]+)(?:\[([^\]]*)\])?(.*)")
"""A requirement without blanks and marker."""
_OPERATOR: Final = re.compile(r" ?([<>=!~]+) ?")
_EXTRA: Final = re.compile(
    r"^(?:\((?P<rest>.*)\)\s*and\s*)?extra\s*==\s*['\"](?P<extra>[^'\"]*)['\"]$"
)


class Metadata(NamedTuple):
    """What was found: fields that differ, in words, and fields that nobody could compare."""

    differing: tuple[str, ...]
    not_compared: tuple[str, ...]


def compare(data: bytes, project: SourceProject) -> Metadata:
    """Compare METADATA or PKG-INFO with the project's own table.

    Args:
        data: The file.
        project: As the commit holds it.
    """
    head = core_metadata.read(data)
    wanted: dict[str, set[str] | None] = {
        "Name": {normalized(str(project.metadata.get("name", "")))},
        "Version": _version(project),
        "Requires-Python": _static(project, "requires-python", _specifiers),
        "Requires-Dist": _requirements(project),
    }
    found = {
        "Name": {normalized(name) for name in head.fields.get("name", ())},
        "Version": set(head.fields.get("version", ())),
        "Requires-Python": {_specifiers(row) for row in head.fields.get("requires-python", ())},
        "Requires-Dist": {_requirement(row) for row in head.fields.get("requires-dist", ())},
    }
    differing = list(head.problems)
    differing += [
        f"{name} is {_words(found[name])}, and {_words(expected)} in pyproject.toml"
        for name, expected in wanted.items()
        if expected is not None and expected != found[name]
    ]
    return Metadata(tuple(differing), tuple(name for name, one in wanted.items() if one is None))


def _words(values: Iterable[str]) -> str:
    return ", ".join(sorted(values)) or "nothing"


def _is_dynamic(project: SourceProject, field: str) -> bool:
    return field in texts(project.metadata.get("dynamic"))


def _static(project: SourceProject, field: str, normal: Callable[[str], str]) -> set[str] | None:
    if _is_dynamic(project, field):
        return None
    value = project.metadata.get(field)
    return set() if value is None else {normal(str(value))}


def _version(project: SourceProject) -> set[str] | None:
    """Give the version of the table, or of the file that hatchling searches as data."""
    if not _is_dynamic(project, "version"):
        return {str(project.metadata.get("version", ""))}
    rows = table(project.document, "tool", "hatch", "version")
    path = rows.get("path")
    if rows.keys() != {"path"} or not isinstance(path, str):
        return None
    joined = project.layout("sdist").from_project(path)
    found = None if joined is None else project.commit.file(joined)
    if found is None:
        return None
    text = project.commit.data(found.entry.oid).decode(errors="replace")
    match = _VERSION_IN_FILE.search(text)
    return None if match is None else {match["version"]}


def _requirements(project: SourceProject) -> set[str] | None:
    fields = ("dependencies", "optional-dependencies")
    if any(_is_dynamic(project, field) for field in fields):
        return None
    rows = texts(project.metadata.get("dependencies"))
    extras = table(project.metadata, "optional-dependencies")
    options = {(extra, row) for extra, listed in extras.items() for row in texts(listed)}
    if any("{" in row for row in (*rows, *(row for _, row in options))):
        return None
    return {
        *map(_requirement, rows),
        *(_joined(_requirement(row), normalized(extra)) for extra, row in options),
    }


def _requirement(text: str) -> str:
    """Spell a requirement in one way: hatchling's own spelling depends on its version."""
    head, _, marker = text.partition(";")
    match = _REQUIREMENT.fullmatch("".join(head.split()))
    if match is None:
        return text
    name, extras, constraint = match.groups(default="")
    listed = ",".join(sorted(normalized(one) for one in extras.split(",") if one))
    spelled = normalized(name) + (f"[{listed}]" if listed else "") + _specifiers(constraint)
    marker = _OPERATOR.sub(r" \1 ", " ".join(marker.split()).replace("'", '"'))
    found = _EXTRA.fullmatch(marker)
    if found is None:
        return f"{spelled}; {marker}" if marker else spelled
    rest = f"{spelled}; {found['rest']}" if found["rest"] else spelled
    return _joined(rest, normalized(found["extra"]))


def _joined(requirement: str, extra: str) -> str:
    return f"{requirement} for extra {extra}"


def _specifiers(text: str) -> str:
    bare = text.strip().removeprefix("(").removesuffix(")")
    if bare.startswith("@"):
        return " " + bare
    return ",".join(sorted("".join(one.split()) for one in bare.split(",")))

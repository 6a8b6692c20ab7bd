"""Decision: core metadata compared with `[project]`, as far as the configuration determines it.

The fields that affect an installer are compared: name, version and requirements, in the normal form
of `packaging`. A field computed by code (`dynamic`, or `{root:uri}` in a requirement) follows from
no configuration, and is listed instead.
"""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING, Final, NamedTuple

from packaging.markers import Marker
from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name, canonicalize_version

from skills_bundle.formats import metadata_files
from skills_bundle.supply_chain.source.project import table, texts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from skills_bundle.supply_chain.source.project import SourceProject

_VERSION_IN_FILE: Final = re.compile(
    r"^(?:__version__|VERSION) *= *(['\"])v?(?P<version>.+?)\1",
    re.IGNORECASE | re.MULTILINE,
)
"""hatchling's default pattern for a version file."""


class Metadata(NamedTuple):
    """The result: fields that differ, in words, and fields that could not be compared."""

    differing: tuple[str, ...]
    not_compared: tuple[str, ...]


def compare(data: bytes, project: SourceProject) -> Metadata:
    """Compare METADATA or PKG-INFO with the project's own table.

    Args:
        data: The file.
        project: The project in the commit.
    """
    head = metadata_files.parse_metadata(data)
    wanted: dict[str, set[str] | None] = {
        "Name": {canonicalize_name(str(project.metadata.get("name", "")))},
        "Version": _version(project),
        "Requires-Python": _static(project, "requires-python", _specifiers),
        "Requires-Dist": _requirements(project),
    }
    found = {
        "Name": {canonicalize_name(name) for name in head.fields.get("name", ())},
        "Version": {canonicalize_version(row) for row in head.fields.get("version", ())},
        "Requires-Python": {_specifiers(row) for row in head.fields.get("requires-python", ())},
        "Requires-Dist": {_requirement(row) for row in head.fields.get("requires-dist", ())},
    }
    differing = list(head.problems)
    differing += [
        f"{name} is {_words(found[name])}, but {_words(expected)} in pyproject.toml"
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
    """Return the version in the table, or in the file that hatchling searches for it."""
    if not _is_dynamic(project, "version"):
        return {canonicalize_version(str(project.metadata.get("version", "")))}
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
    return None if match is None else {canonicalize_version(match["version"])}


def _requirements(project: SourceProject) -> set[str] | None:
    fields = ("dependencies", "optional-dependencies")
    if any(_is_dynamic(project, field) for field in fields):
        return None
    rows = texts(project.metadata.get("dependencies"))
    extras: dict[str, list[str]] = {}
    for extra, listed in table(project.metadata, "optional-dependencies").items():
        extras.setdefault(canonicalize_name(extra), []).extend(texts(listed))
    if any("{" in row for row in chain(rows, *extras.values())):
        return None
    name = canonicalize_name(str(project.metadata.get("name", "")))
    own = {row: _own_extras(row, name) for row in chain(*extras.values())}
    return {
        *map(_requirement, rows),
        *(_requirement(row, extra) for extra in extras for row in _of_extra(extra, extras, own)),
    }


def _of_extra(
    extra: str, extras: dict[str, list[str]], own: dict[str, list[str] | None]
) -> set[str]:
    """Return the requirements of an extra; `name[other]` adds those of the project's own `other`.

    Args:
        extra: Normalized.
        extras: The requirements of each extra.
        own: The extras of the project itself that each requirement names; see `_own_extras`.
    """
    found: set[str] = set()
    seen: set[str] = set()
    waiting = [extra]
    while waiting:
        one = waiting.pop()
        if one in seen:
            continue
        seen.add(one)
        for row in extras.get(one, []):
            named = own[row]
            if named is None:
                found.add(row)
            else:
                waiting += named
    return found


def _own_extras(row: str, name: str) -> list[str] | None:
    """Return the extras that a requirement of the project itself names; None for any other."""
    try:
        requirement = Requirement(row)
    except InvalidRequirement:
        return None
    if canonicalize_name(requirement.name) != name:
        return None
    return [canonicalize_name(extra) for extra in requirement.extras]


def _requirement(text: str, extra: str | None = None) -> str:
    """Return the normal form of a requirement; what hatchling writes depends on its version.

    Args:
        text: As written.
        extra: The extra that it belongs to; it becomes part of the marker.
    """
    try:
        found = Requirement(text)
    except InvalidRequirement:
        return text if extra is None else f"{text} for extra {extra}"
    if extra is not None:
        marker = "" if found.marker is None else str(found.marker)
        inner = f"({marker})" if " or " in marker else marker
        found.marker = Marker(" and ".join(filter(None, (inner, f'extra == "{extra}"'))))
    found.name = canonicalize_name(found.name)
    found.extras = {canonicalize_name(one) for one in found.extras}
    return str(found)


def _specifiers(text: str) -> str:
    try:
        return str(SpecifierSet(text))
    except InvalidSpecifier:
        return text

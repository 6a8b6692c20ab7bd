"""Decision: why a read was refused, for the person who typed it.

A tool's "no" has one fixed sentence a code, since whoever reads it may be a model. Whoever sits at
the command line typed the names, so here they can be repeated, with the ones that there are.
"""

from __future__ import annotations

import shlex
from difflib import get_close_matches
from typing import TYPE_CHECKING, Final, NamedTuple

from skills_bundle.catalog import Catalogs, reading
from skills_bundle.catalog.reading import Resources, is_markdown_resource
from skills_bundle.cli.collection import command_line
from skills_bundle.cli.framework import PROGRAM

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skills_bundle.bundle.lock import LockedSkill
    from skills_bundle.bundle.view import View
    from skills_bundle.catalog import Source

FILES_NAMED: Final = 12
"""Files of a skill that a hint names; the rest are counted."""


class Asked(NamedTuple):
    """What was typed.

    Attributes:
        skill: Name or path.
        resource: The file's path.
        resources: What may be read.
        collection: The collection that was named, if one was.
    """

    skill: str
    resource: str
    resources: Resources
    collection: str | None = None


def why_refused(source: Source, asked: Asked) -> str:
    """Say why a file cannot be read, and what can be.

    Args:
        source: What is served.
        asked: What was typed.
    """
    if not isinstance(source, Catalogs):
        return _of_one(source.shelf.view(), asked)
    views = source.shelf.look()
    there = {name: view for name, view in views.items() if view is not None}
    holders = [name for name, view in there.items() if reading.holds(view.lock, asked.skill)]
    if len(holders) > 1:
        return _several(holders, asked)
    if holders:
        return _of_one(there[holders[0]], asked._replace(collection=holders[0]))
    gone = [f"`{command_line('verify', name)}`" for name, view in views.items() if view is None]
    told = _no_skill([skill for view in there.values() for skill in view.lock.skills], asked)
    return told if not gone else f"{told} Not every collection can be served: {', '.join(gone)}."


def _several(holders: Sequence[str], asked: Asked) -> str:
    first = shlex.join([PROGRAM, "catalog", "read", asked.skill, "--collection", holders[0]])
    return f"{asked.skill!r} is in {' and '.join(holders)}. Say which, for example `{first}`."


def _of_one(view: View, asked: Asked) -> str:
    skills = view.lock.skills
    found = next((one for one in skills if one.path == asked.skill), None) or next(
        (one for one in skills if one.name == asked.skill), None
    )
    if found is None:
        return _no_skill(skills, asked)
    path = f"{found.path}/{asked.resource}"
    if asked.resource not in {file.path for file in found.files}:
        return _no_file(found, asked.resource, asked.resources)
    if path in view.altered:
        verify = command_line("verify", asked.collection)
        return f"{path} is not the file that was locked; `{verify}` says more."
    if asked.resources == "markdown" and not is_markdown_resource(asked.resource):
        return (
            f"{path} is there, but only SKILL.md and Markdown below references/ are read unless "
            "you give --resources all."
        )
    return (
        f"{path} is there, but this piece of it cannot be shown: it is not UTF-8 text, or --offset "
        "lies beyond its end or inside a character."
    )


def _no_skill(skills: Sequence[LockedSkill], asked: Asked) -> str:
    known = dict.fromkeys([*(one.path for one in skills), *(one.name for one in skills)])
    close = get_close_matches(asked.skill, known, n=1)
    guess = f" Did you mean {close[0]!r}?" if close else ""
    listing = command_line("catalog search", asked.collection)
    return f"There is no skill {asked.skill!r}.{guess} List the skills with `{listing}`."


def _no_file(skill: LockedSkill, wanted: str, resources: Resources) -> str:
    paths = [file.path for file in skill.files]
    readable = [path for path in paths if resources == "all" or is_markdown_resource(path)]
    named_so = [path for path in paths if path.rsplit("/", 1)[-1] == wanted]
    close = named_so or get_close_matches(wanted, paths, n=1)
    guess = f" Did you mean {close[0]!r}?" if close else ""
    more = len(paths) - len(readable)
    others = f" With --resources all, {more} more." if more else ""
    return f"{skill.path} has no file {wanted!r}.{guess} There are: {_listed(readable)}.{others}"


def _listed(paths: Sequence[str]) -> str:
    rest = len(paths) - FILES_NAMED
    return ", ".join(paths[:FILES_NAMED]) + (f" and {rest} more" if rest > 0 else "")

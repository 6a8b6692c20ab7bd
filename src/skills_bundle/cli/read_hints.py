"""Decision: why a read was refused, for the person who typed it.

A tool's "no" has one fixed sentence a code, since whoever reads it may be a model. Whoever sits at
the command line typed the names, so here they can be repeated, with the ones that there are.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Final

from skills_bundle.catalog.reading import is_markdown_resource

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skills_bundle.bundle.lock import LockedSkill
    from skills_bundle.bundle.view import View
    from skills_bundle.catalog.reading import Resources

FILES_NAMED: Final = 12
"""Files of a skill that a hint names; the rest are counted."""
LISTING: Final = "List the skills with `skills-bundle catalog search`."


def why_refused(view: View, skill: str, resource: str, resources: Resources) -> str:
    """Say why a file cannot be read, and what can be.

    Args:
        view: What is served.
        skill: Name or path, as typed.
        resource: The file's path, as typed.
        resources: What may be read.
    """
    skills = view.lock.skills
    found = next((one for one in skills if one.path == skill), None) or next(
        (one for one in skills if one.name == skill), None
    )
    if found is None:
        return _no_skill(skills, skill)
    path = f"{found.path}/{resource}"
    if resource not in {file.path for file in found.files}:
        return _no_file(found, resource, resources)
    if path in view.altered:
        return f"{path} is not the file that was locked; `skills-bundle verify` says more."
    if resources == "markdown" and not is_markdown_resource(resource):
        return (
            f"{path} is there, but only SKILL.md and Markdown below references/ are read unless "
            "you give --resources all."
        )
    return (
        f"{path} is there, but this piece of it cannot be shown: it is not UTF-8 text, or --offset "
        "lies beyond its end or inside a character."
    )


def _no_skill(skills: Sequence[LockedSkill], wanted: str) -> str:
    known = dict.fromkeys([*(one.path for one in skills), *(one.name for one in skills)])
    close = get_close_matches(wanted, known, n=1)
    guess = f" Did you mean {close[0]!r}?" if close else ""
    return f"There is no skill {wanted!r}.{guess} {LISTING}"


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

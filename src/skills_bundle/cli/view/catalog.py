"""Decision: search results, and why a file could not be read, as text for a terminal.

A tool's error has one fixed message for each code, because a model may read it. A person who typed
a wrong name gets it back here, with the names that exist.
"""

from __future__ import annotations

import shlex
from difflib import get_close_matches
from typing import TYPE_CHECKING, Final, NamedTuple

from skills_bundle.catalog import reading
from skills_bundle.catalog.reading import Resources, is_markdown_resource
from skills_bundle.cli.framework import PROGRAM
from skills_bundle.cli.options import command_line
from skills_bundle.cli.view import pretty
from skills_bundle.cli.view.text import count, safe_line, shortened

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import RenderableType

    from skills_bundle.bundle.lock import LockedSkill
    from skills_bundle.catalog.model import CollectionState, SearchResult, SkillRow
    from skills_bundle.catalog.service import Catalog
    from skills_bundle.cli.output import Output
    from skills_bundle.installed.bundle import BundleState

MAX_DESCRIPTION: Final = 160
"""Characters of a description in a table: three lines on a plain terminal."""
MAX_FILES: Final = 12
"""Files of a skill that a hint names."""


def show_result(output: Output, result: SearchResult, *, several: bool, verbose: bool) -> None:
    """Print a search result, and how to see more.

    Args:
        output: The output of this run.
        result: The result.
        several: Whether each row names its collection.
        verbose: Whether to print whole descriptions, with tags.
    """
    if result.skills:
        _show_skills(output, result, several=several, verbose=verbose)
    else:
        output.note(_nothing_found(result))
    note_unavailable(output, result.collections)


def note_unavailable(output: Output, states: Iterable[CollectionState]) -> None:
    """Name each collection that cannot be served, with the command that shows why."""
    for state in states:
        if state.problem is not None:
            verify = command_line("verify", state.collection)
            name = safe_line(state.collection)
            output.note(f"{name} cannot be served. To see why, run `{safe_line(verify)}`.")


def _show_skills(output: Output, result: SearchResult, *, several: bool, verbose: bool) -> None:
    table = [_table(output, result, several=several)]
    parts = _paragraphs(result, several=several) if verbose else table
    first, last = result.offset + 1, result.offset + len(result.skills)
    page = f"{first}" if first == last else f"{first} to {last}"
    parts.append(pretty.line(f"\n{page} of {count(result.total, 'skill')}"))
    pretty.show(output, parts)
    if not verbose and any(len(row.description) > MAX_DESCRIPTION for row in result.skills):
        output.note("Some descriptions are shortened; --verbose shows all of them, with tags.")
    if result.next_offset is not None:
        output.note(f"For the next page, add --offset {result.next_offset}.")


def _table(output: Output, result: SearchResult, *, several: bool) -> RenderableType:
    columns = [pretty.Column("Skill", style="bold"), pretty.Column("Description", ratio=1)]
    if several:
        columns.insert(1, pretty.Column("Collection"))
    rows = [_cells(row, several=several) for row in result.skills]
    return pretty.table(columns, rows, output.terminal)


def _cells(row: SkillRow, *, several: bool) -> tuple[str, ...]:
    description = shortened(row.description, MAX_DESCRIPTION)
    if several:
        return row.path, row.collection, description
    return row.path, description


def _paragraphs(result: SearchResult, *, several: bool) -> list[RenderableType]:
    parts: list[RenderableType] = []
    for row in result.skills:
        facts = [("", row.description)]
        facts += [("collection", row.collection)] if several else []
        facts += [("tags", ", ".join(row.tags))] if row.tags else []
        facts += [("warnings", ", ".join(row.diagnostics))] if row.diagnostics else []
        parts += [pretty.heading(row.path), pretty.facts(facts)]
    return parts


def _nothing_found(result: SearchResult) -> str:
    if result.total:
        return f"There are {count(result.total, 'skill')}, none after --offset {result.offset}."
    if result.query:
        return (
            f"No skill contains '{safe_line(result.query)}' as one literal phrase. "
            "Try fewer words, or list all skills with `skills-bundle catalog search`."
        )
    return "The catalog has no skills."


class ReadRequest(NamedTuple):
    """The arguments of a read.

    Attributes:
        skill: Name or path.
        resource: The file's path.
        resources: Which files may be read.
        collection: The value of `--collection`.
    """

    skill: str
    resource: str
    resources: Resources
    collection: str | None = None


def explain_refusal(catalog: Catalog, request: ReadRequest) -> str:
    """Return why a file cannot be read, and what can be.

    Args:
        catalog: The catalog that refused.
        request: What was typed.
    """
    found = catalog.snapshot()
    available = {source.name: view for source, view in found.available}
    holders = [
        name for name, view in available.items() if reading.find_skills(view.lock, request.skill)
    ]
    if len(holders) > 1:
        words = ["catalog", "read", request.skill, "--collection", holders[0]]
        return (
            f"{request.skill!r} is in {' and '.join(holders)}. Select one, for example with "
            f"`{shlex.join([PROGRAM, *words])}`."
        )
    if holders:
        collection = holders[0] if catalog.several else request.collection
        return _in_one_collection(available[holders[0]], request._replace(collection=collection))
    missing = [f"`{command_line('verify', source.name)}`" for source in found.unavailable]
    skills = [skill for view in available.values() for skill in view.lock.skills]
    text = _unknown_skill(skills, request)
    if missing:
        text += f" Some collections cannot be served; to see why, run {' and '.join(missing)}."
    return text


def _in_one_collection(view: BundleState, request: ReadRequest) -> str:
    first, *others = reading.find_skills(view.lock, request.skill)
    if others:
        paths = ", ".join(skill.path for skill in (first, *others))
        return f"{request.skill!r} is the name of several skills. Use a path instead: {paths}."
    return _in_one_skill(view, first, request)


def _in_one_skill(view: BundleState, skill: LockedSkill, request: ReadRequest) -> str:
    path = f"{skill.path}/{request.resource}"
    if request.resource not in {file.path for file in skill.files}:
        return _unknown_file(skill, request)
    if path in view.altered:
        verify = command_line("verify", request.collection)
        return f"{path} does not match the lock. For details, run `{verify}`."
    if request.resources == "markdown" and not is_markdown_resource(request.resource):
        return (
            f"{path} exists, but only SKILL.md and Markdown in references/ can be read. To read "
            "other text files, add --resources all."
        )
    return (
        f"{path} exists, but cannot be shown from there: it is not UTF-8 text, or --offset is "
        "after its end or inside a character."
    )


def _unknown_skill(skills: Sequence[LockedSkill], request: ReadRequest) -> str:
    known = dict.fromkeys([*(one.path for one in skills), *(one.name for one in skills)])
    listing = command_line("catalog search", request.collection)
    return (
        f"There is no skill {request.skill!r}.{_did_you_mean(request.skill, known)} "
        f"List the skills with `{listing}`."
    )


def _unknown_file(skill: LockedSkill, request: ReadRequest) -> str:
    name = request.resource
    paths = [file.path for file in skill.files]
    readable = [path for path in paths if request.resources == "all" or is_markdown_resource(path)]
    same_name = [path for path in paths if path.rsplit("/", 1)[-1] == name]
    guess = f" Did you mean {same_name[0]!r}?" if same_name else _did_you_mean(name, paths)
    rest = len(readable) - MAX_FILES
    listed = ", ".join(readable[:MAX_FILES]) + (f" and {rest} more" if rest > 0 else "")
    hidden = len(paths) - len(readable)
    others = f" --resources all adds {hidden} more." if hidden else ""
    return f"{skill.path} has no file {name!r}.{guess} Its files: {listed}.{others}"


def _did_you_mean(name: str, known: Iterable[str]) -> str:
    close = get_close_matches(name, list(known), n=1)
    return f" Did you mean {close[0]!r}?" if close else ""

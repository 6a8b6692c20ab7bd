"""Decision: the skills that a search found, on a screen; of one collection or of several."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from skills_bundle.catalog.several_model import CollectedSkillRow, SearchSeveralResult
from skills_bundle.cli.collection import command_line
from skills_bundle.cli.view import pretty
from skills_bundle.cli.view.text import count, safe_line, shortened

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import RenderableType

    from skills_bundle.catalog.model import SearchResult, SkillRow
    from skills_bundle.catalog.several_model import CollectionState
    from skills_bundle.cli.output import Output

    Result: TypeAlias = SearchResult | SearchSeveralResult

SHOWN_CHARACTERS: Final = 160
"""Code points of a description in a table without --verbose: three lines on a plain terminal."""


def show(output: Output, result: Result, *, whole: bool) -> None:
    """Show what was found, and how to see more.

    Args:
        output: Where.
        result: The answer.
        whole: Whether descriptions are shown whole, with tags.
    """
    if result.skills:
        _show_rows(output, result, whole=whole)
    else:
        output.note(_nothing_found(result))
    if isinstance(result, SearchSeveralResult):
        tell_gone(output, result.collections)


def tell_gone(output: Output, states: Iterable[CollectionState]) -> None:
    """Say of each collection that cannot be served what to run.

    Args:
        output: Where.
        states: What an answer says of every collection.
    """
    for state in states:
        if state.problem is not None:
            verify = command_line("verify", state.collection)
            output.note(safe_line(f"{state.collection} cannot be served; `{verify}` says why."))


def _show_rows(output: Output, result: Result, *, whole: bool) -> None:
    parts = _whole_rows(result) if whole else [_table(output, result)]
    parts.append(pretty.line(f"\n{_range(result)} of {count(result.total, 'skill')}"))
    output.text(pretty.render(parts, output.terminal))
    if not whole and any(len(row.description) > SHOWN_CHARACTERS for row in result.skills):
        output.note("Descriptions are shortened; --verbose shows them whole, with tags.")
    if result.next_offset is not None:
        output.note(f"More with --offset {result.next_offset}.")


def _table(output: Output, result: Result) -> RenderableType:
    columns = [pretty.Column("Skill", style="bold"), pretty.Column("Description", ratio=1)]
    if isinstance(result, SearchSeveralResult):
        columns.insert(1, pretty.Column("Collection"))
    return pretty.table(columns, [_cells(row) for row in result.skills], output.terminal)


def _cells(row: SkillRow) -> tuple[str, ...]:
    description = shortened(row.description, SHOWN_CHARACTERS)
    if isinstance(row, CollectedSkillRow):
        return row.path, row.collection, description
    return row.path, description


def _whole_rows(result: Result) -> list[RenderableType]:
    parts: list[RenderableType] = []
    for row in result.skills:
        facts = [("", row.description)]
        facts += [("collection", row.collection)] if isinstance(row, CollectedSkillRow) else []
        facts += [("tags", ", ".join(row.tags))] if row.tags else []
        facts += [("tolerated", ", ".join(row.diagnostics))] if row.diagnostics else []
        parts += [pretty.heading(row.path), pretty.facts(facts)]
    return parts


def _range(result: Result) -> str:
    first, last = result.offset + 1, result.offset + len(result.skills)
    return f"{first}" if first == last else f"{first} to {last}"


def _nothing_found(result: Result) -> str:
    if result.total:
        return f"There are {count(result.total, 'skill')}, none after --offset {result.offset}."
    if result.query:
        return (
            f"No skill contains '{safe_line(result.query)}', looked for as one literal phrase. "
            "Try fewer words, or list all with `skills-bundle catalog search`."
        )
    return "The catalog holds no skills."

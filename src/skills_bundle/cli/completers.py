"""Edge: what a shell's TAB offers of our own words: skills, their files, tools, collections.

Completion must never print or fail: with a broken installation nothing is offered.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

from click.shell_completion import CompletionItem

from skills_bundle.errors import SkillsBundleError
from skills_bundle.installed.location import OWN_NAME

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import click

    from skills_bundle.bundle.view import View

DESCRIPTION_CHARACTERS: Final = 60
"""Characters of a description that shells show beside a name."""


def skills(
    context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Offer the paths of skills, and their names where these differ."""
    locked = [skill for view in _views(context) for skill in view.lock.skills]
    rows = {skill.path: skill.description for skill in locked}
    rows |= {skill.name: skill.description for skill in locked if skill.name not in rows}
    return [
        CompletionItem(key, help=" ".join(text.split())[:DESCRIPTION_CHARACTERS])
        for key, text in rows.items()
        if key.startswith(incomplete)
    ]


def own_skills(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Offer skills for a command that is about our own collection unless another is named."""
    context.params["collection"] = context.params.get("collection") or OWN_NAME
    return skills(context, parameter, incomplete)


def collections(
    _context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Offer the names of installed collections."""
    from skills_bundle.installed import collections as declared  # noqa: PLC0415 - see _views

    rows = {row.name: row for row in declared.installed_collections()}
    return [
        CompletionItem(name, help=f"{row.distribution} {row.version}")
        for name, row in rows.items()
        if name.startswith(incomplete)
    ]


def resources(
    context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Offer the files of the skill before the cursor, as far as `--resources` lets them be read."""
    from skills_bundle.catalog.reading import is_markdown_resource  # noqa: PLC0415 - see _views

    key, everything = context.params.get("skill"), context.params.get("resources") == "all"
    locked = [skill for view in _views(context) for skill in view.lock.skills]
    files = [file for skill in locked if key in {skill.path, skill.name} for file in skill.files]
    readable = dict.fromkeys(
        file.path for file in files if everything or is_markdown_resource(file.path)
    )
    return [CompletionItem(path) for path in readable if path.startswith(incomplete)]


def names(known: Iterable[str]) -> Callable[..., list[CompletionItem]]:
    """Give what completes a list of names with commas between: each of them once.

    Args:
        known: Every name.
    """

    def complete(
        _context: click.Context, _parameter: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        before, comma, last = incomplete.rpartition(",")
        given = set(before.split(","))
        offered = [name for name in known if name.startswith(last) and name not in given]
        return [CompletionItem(f"{before}{comma}{name}") for name in offered]

    return complete


def _views(context: click.Context) -> list[View]:
    """Give what can be read here, of every collection that is asked for; or nothing."""
    # Only completion needs it, and `mcp serve`, whose options are completed too, must start fast.
    from skills_bundle.cli.program import running  # noqa: PLC0415 - see above
    from skills_bundle.wiring import choose, open_catalog  # noqa: PLC0415 - likewise

    own = running(context)
    wanted = context.params.get("collection") if own is None else own.collection
    views: list[View] = []
    with suppress(SkillsBundleError):
        finders = choose([wanted] if isinstance(wanted, str) else wanted or ()).finders
        for find in finders.values():
            with suppress(SkillsBundleError):
                views.append(open_catalog(find=find).shelf.view())
    return views

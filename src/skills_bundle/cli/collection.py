"""Edge: `--collection`, by which a command answers for installed collections that are named."""

from __future__ import annotations

import shlex
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import click

from skills_bundle.cli import completers
from skills_bundle.cli.framework import PROGRAM
from skills_bundle.cli.program import spelled
from skills_bundle.errors import ToolError

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

collection_option: Final = click.option(
    "--collection",
    metavar="NAME",
    shell_complete=completers.collections,
    help="An installed collection; `catalog collections` lists them.",
    show_default="our own",
)
"""Add `--collection` to a command about one installation; `wiring.finder` takes its value."""

holder_option: Final = click.option(
    "--collection",
    metavar="NAME",
    shell_complete=completers.collections,
    help="The installed collection that holds it; `catalog collections` lists them.",
    show_default="the one that does",
)
"""Add `--collection` to a command about one skill; `wiring.choose` takes its value in a list."""

collections_option: Final = click.option(
    "--collection",
    metavar="NAME",
    multiple=True,
    shell_complete=completers.collections,
    help="An installed collection; may be repeated. `catalog collections` lists them.",
    show_default="every installed collection",
)
"""Add a `--collection` that may be repeated to a command; `wiring.choose` takes its value."""


def named(collection: str | None) -> tuple[str, ...]:
    """Give the value of an option that is not repeated as that of one that is."""
    return () if collection is None else (collection,)


def command_line(words: str, collections: str | Sequence[str] | None) -> str:
    """Give a command of ours for collections, as somebody would type it.

    Args:
        words: The command without the program.
        collections: The option's value, or None or nothing if it is not needed.
    """
    names = named(collections) if isinstance(collections, str | None) else collections
    options = [word for name in names for word in ("--collection", name)]
    return spelled(shlex.join([PROGRAM, *words.split(), *options]))


@contextmanager
def answering_for(collections: Sequence[str]) -> Generator[None]:
    """Have a tool's "no" name the command that looks at these collections.

    A tool has one sentence for every server, and it names the command without the option.

    Args:
        collections: The option's value.
    """
    try:
        yield
    except ToolError as error:
        if error.code == "catalog_unavailable" and collections:
            told = " and ".join(f"`{command_line('verify', name)}`" for name in collections)
            if len(collections) == 1:
                error.add_note(f"This collection cannot be served; {told} says why.")
            else:
                error.add_note(f"None of these collections can be served; {told} say why.")
        raise

"""Edge: `--collection`, by which a command looks at another installed collection than ours."""

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
    from collections.abc import Generator

collection_option: Final = click.option(
    "--collection",
    metavar="NAME",
    shell_complete=completers.collections,
    help="An installed collection; `catalog collections` lists them.",
    show_default="our own",
)
"""Add `--collection` to a command; `wiring.finder` takes its value."""


def command_line(words: str, collection: str | None) -> str:
    """Give a command of ours for a collection, as somebody would type it.

    Args:
        words: The command without the program.
        collection: The option's value, or None if it is not needed.
    """
    option = [] if collection is None else ["--collection", collection]
    return spelled(shlex.join([PROGRAM, *words.split(), *option]))


@contextmanager
def answering_for(collection: str | None) -> Generator[None]:
    """Have a tool's "no" name the command that looks at this collection.

    A tool has one sentence for every server, and it names the command without the option.

    Args:
        collection: The option's value.
    """
    try:
        yield
    except ToolError as error:
        if collection is not None and error.code == "catalog_unavailable":
            verify = command_line("verify", collection)
            error.add_note(f"This collection cannot be served; `{verify}` says why.")
        raise

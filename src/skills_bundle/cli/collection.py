"""Edge: `--collection`, by which a command looks at another installed collection than ours."""

from __future__ import annotations

import shlex
from typing import Final

import click

from skills_bundle.cli import completers
from skills_bundle.cli.framework import PROGRAM

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
    return shlex.join([PROGRAM, *words.split(), *option])

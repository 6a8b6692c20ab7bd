"""Edge: `mcp serve`; imports only what serving needs, since a host waits for it."""

from __future__ import annotations

from functools import partial
from typing import Literal

import click

from skills_bundle.cli.framework import Command, Example
from skills_bundle.server.run import DEFAULT_TOOLSETS, TOOLSETS, parse_toolsets, serve_stdio
from skills_bundle.wiring import open_catalog


@click.command(
    cls=Command,
    examples=[
        Example("What a host runs:", "skills-bundle mcp serve"),
        Example("Let scripts be read, too:", "skills-bundle mcp serve --resources all"),
    ],
    exit_codes={
        0: "the client left, or a signal asked to stop",
        1: "the connection could not go on; standard error says why",
        2: "wrong arguments, or standard input or output is closed",
        3: "the installation cannot be read at all",
    },
)
@click.option(
    "--toolsets",
    metavar="NAME[,NAME...]",
    default=",".join(DEFAULT_TOOLSETS),
    help=f"Groups of tools to offer: {', '.join(TOOLSETS)}, or all.",
)
@click.option(
    "--resources",
    type=click.Choice(["markdown", "all"]),
    default="markdown",
    help="What may be read: SKILL.md and Markdown below references/, or every text file.",
)
def serve(toolsets: str, resources: Literal["markdown", "all"]) -> int:
    """Serve the skills over standard input and output.

    A host starts this command and speaks MCP with it, one JSON message a line. To try the server by
    hand, use `skills-bundle mcp check`. Nothing is written, and no network is used.
    """
    groups = parse_toolsets(toolsets)
    return serve_stdio(partial(open_catalog, resources=resources), groups)

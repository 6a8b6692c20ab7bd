"""Record: the tree of commands, each with its one-line summary and the module that holds it."""

from __future__ import annotations

import click

from skills_bundle import __version__
from skills_bundle.cli.framework import PROGRAM, Entry, Example, Group, help_if_bare

_COMMANDS = "skills_bundle.cli.commands"
_GROUPS = "skills_bundle.cli.groups"


@click.group(
    cls=Group,
    help="""
    Ship agent skills in Python wheels that are pinned, reproducible and verifiable.

    No command uses the network, with two exceptions: the build that `rebuild` starts, and
    `mcp serve --http`, which listens. Answers go to standard output, problems to standard error.
    """,
    entries={
        "init": Entry(
            "Create a project that ships its skills, or add the build hook to one.",
            f"{_COMMANDS}.init:command",
        ),
        "lock": Entry("Write or check the lock of a skills folder.", f"{_COMMANDS}.lock:command"),
        "receipt": Entry("Show what a build records.", f"{_GROUPS}:receipt", is_group=True),
        "verify": Entry("Compare this installation with its lock.", f"{_COMMANDS}.verify:verify"),
        "export": Entry(
            "Copy installed skills to a folder and verify the copies.",
            f"{_COMMANDS}.export:command",
        ),
        "verify-wheel": Entry(
            "Compare a wheel with its lock and receipt.", f"{_COMMANDS}.verify:verify_wheel"
        ),
        "verify-sdist": Entry(
            "Compare an sdist with its lock and receipt.", f"{_COMMANDS}.verify:verify_sdist"
        ),
        "verify-source": Entry(
            "Compare a wheel or sdist with the commit it was built from.",
            f"{_COMMANDS}.verify_source:command",
        ),
        "rebuild": Entry(
            "Build the commit of a wheel or sdist again and compare the results.",
            f"{_COMMANDS}.rebuild:command",
        ),
        "statement": Entry(
            "Write an in-toto statement about a wheel or sdist.", f"{_COMMANDS}.statement:write"
        ),
        "verify-statement": Entry(
            "Compare an in-toto statement with the wheel or sdist it is about.",
            f"{_COMMANDS}.statement:verify",
        ),
        "diff": Entry(
            "Compare two locks, wheels, sdists, installations or folders.",
            f"{_COMMANDS}.diff:command",
        ),
        "catalog": Entry("Search and read installed skills.", f"{_GROUPS}:catalog", is_group=True),
        "mcp": Entry("Serve skills to MCP hosts.", f"{_GROUPS}:mcp", is_group=True),
        "completion": Entry(
            "Print a shell completion script.", "skills_bundle.cli.completion:command"
        ),
    },
    examples=[
        Example("Check that the server works:", "skills-bundle mcp check"),
        Example("Find a skill:", "skills-bundle catalog search mcp"),
        Example("Compare the installed files with the lock:", "skills-bundle verify"),
    ],
)
@click.version_option(
    __version__, "-V", "--version", prog_name=PROGRAM, message="%(prog)s %(version)s"
)
@click.pass_context
def root(context: click.Context) -> None:
    """Ship agent skills in Python wheels that are pinned, reproducible and verifiable."""
    help_if_bare(context)


@click.group(
    cls=Group,
    help="""Show what a build records.

    A build receipt is an unsigned record of what the build found in the checkout. Anyone who can
    change the files of an installation can change its receipt, too.
    """,
    entries={
        "show": Entry("Show the build receipt of this installation.", f"{_COMMANDS}.receipt:show"),
        "preview": Entry("Show what a build here would record.", f"{_COMMANDS}.receipt:preview"),
    },
    examples=[
        Example("Show what the build of this installation recorded:", "skills-bundle receipt show"),
        Example(
            "Show what a build of this checkout would record:", "skills-bundle receipt preview"
        ),
    ],
)
@click.pass_context
def receipt(context: click.Context) -> None:
    """Show what a build records."""
    help_if_bare(context)


@click.group(
    cls=Group,
    help="""Search and read installed skills.

    The commands give the same answers as the MCP tools of these names. With --json they print
    exactly what the tools return.
    """,
    about_collections="""`catalog collections` lists the installed collections; --collection
    selects some of them.""",
    entries={
        "search": Entry("List the skills that contain a text.", f"{_COMMANDS}.catalog:search"),
        "read": Entry("Read a file of a skill.", f"{_COMMANDS}.catalog:read"),
        "overview": Entry(
            "Print the overview of skills that agents get.", f"{_COMMANDS}.catalog:overview"
        ),
        "collections": Entry("List the installed collections.", f"{_COMMANDS}.catalog:collections"),
    },
    examples=[
        Example("List every skill:", "skills-bundle catalog search"),
        Example("Read one:", "skills-bundle catalog read writing-agent-skills"),
    ],
)
@click.pass_context
def catalog(context: click.Context) -> None:
    """Search and read installed skills."""
    help_if_bare(context)


@click.group(
    cls=Group,
    help="""Serve skills to MCP hosts.

    MCP is the Model Context Protocol. A host is a program, such as a coding agent, that starts an
    MCP server and talks to it.
    """,
    entries={
        "serve": Entry(
            "Serve skills over standard input and output, or over HTTP.",
            f"{_COMMANDS}.mcp_serve:command",
        ),
        "check": Entry(
            "Start the server as a host would, and test it.", f"{_COMMANDS}.mcp_check:command"
        ),
    },
    examples=[
        Example("Check that the server works:", "skills-bundle mcp check"),
        Example("The command for a host's configuration:", "skills-bundle mcp serve"),
    ],
)
@click.pass_context
def mcp(context: click.Context) -> None:
    """Serve skills to MCP hosts."""
    help_if_bare(context)

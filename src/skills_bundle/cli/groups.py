"""Record: the tree of commands, each with its one-line summary and the module that holds it."""

from __future__ import annotations

import click

from skills_bundle import __version__
from skills_bundle.cli.framework import PROGRAM, Entry, Example, Group, help_if_bare

_AT = "skills_bundle.cli.commands"
_HERE = "skills_bundle.cli.groups"


@click.group(
    cls=Group,
    help="""
    Ship agent skills as pinned, reproducible, checkable Python wheels that serve themselves.

    No command opens a connection but `rebuild`, whose build may, and `mcp serve --http`, which
    listens. Answers go to standard output, problems to standard error.
    """,
    entries={
        "init": Entry(
            "Make a project that ships its skills, or add the build hook to one.",
            f"{_AT}.init:init",
        ),
        "lock": Entry("Write or check the lock of a folder of skills.", f"{_AT}.lock:lock"),
        "receipt": Entry("Show what a build records.", f"{_HERE}:receipt", is_group=True),
        "verify": Entry("Compare this installation with its lock.", f"{_AT}.verify:verify"),
        "export": Entry(
            "Copy installed skills, verified, with their lock.", f"{_AT}.export:export"
        ),
        "verify-wheel": Entry(
            "Compare a wheel with the lock and the receipt it carries.",
            f"{_AT}.verify_archive:verify_wheel",
        ),
        "verify-sdist": Entry(
            "Compare an sdist with the lock and the receipt it carries.",
            f"{_AT}.verify_archive:verify_sdist",
        ),
        "verify-source": Entry(
            "Compare an archive with the commit it says it was built from.",
            f"{_AT}.verify_source:command",
        ),
        "rebuild": Entry(
            "Build the commit of an archive again and compare bit for bit.",
            f"{_AT}.rebuild:command",
        ),
        "statement": Entry(
            "Write an in-toto statement about a wheel or sdist.", f"{_AT}.statement:statement"
        ),
        "verify-statement": Entry(
            "Compare a statement with the wheel or sdist it speaks of.",
            f"{_AT}.verify_statement:verify_statement",
        ),
        "diff": Entry(
            "Say how two locks, wheels, sdists, installations or folders differ.",
            f"{_AT}.diff:diff",
        ),
        "catalog": Entry("Search and read the bundled skills.", f"{_HERE}:catalog", is_group=True),
        "mcp": Entry("Serve the skills to MCP hosts.", f"{_HERE}:mcp", is_group=True),
        "completion": Entry("Print a shell completion script.", f"{_AT}.completion:completion"),
    },
    examples=[
        Example("See that the server works, as a host would:", "skills-bundle mcp check"),
        Example("Find a skill:", "skills-bundle catalog search mcp"),
        Example("Compare the installed files with the lock:", "skills-bundle verify"),
    ],
)
@click.version_option(
    __version__, "-V", "--version", prog_name=PROGRAM, message="%(prog)s %(version)s"
)
@click.pass_context
def root(context: click.Context) -> None:
    """Ship agent skills as pinned, reproducible, checkable Python wheels that serve themselves."""
    help_if_bare(context)


@click.group(
    cls=Group,
    help="""Show what a build records.

    A build receipt is an unsigned record: it says what the build saw of the checkout, and anyone
    who can change the files can change it too.
    """,
    entries={
        "show": Entry("Show the build receipt of this installation.", f"{_AT}.receipt:show"),
        "preview": Entry("Show what a build here would record.", f"{_AT}.receipt:preview"),
    },
    examples=[
        Example("What the build of this installation recorded:", "skills-bundle receipt show"),
        Example("What a build of this checkout would record:", "skills-bundle receipt preview"),
    ],
)
@click.pass_context
def receipt(context: click.Context) -> None:
    """Show what a build records."""
    help_if_bare(context)


@click.group(
    cls=Group,
    help="""Search and read the bundled skills.

    The answers are those of the MCP tools of the same names; with --json they are exactly theirs.
    Collections that other distributions brought are reached with --collection.
    """,
    entries={
        "search": Entry("List the skills that contain a text.", f"{_AT}.catalog:search"),
        "read": Entry("Read a file of a skill.", f"{_AT}.catalog:read"),
        "overview": Entry("Print the overview that agents are given.", f"{_AT}.catalog:overview"),
        "collections": Entry("List the installed collections.", f"{_AT}.collections:collections"),
    },
    examples=[
        Example("List every skill:", "skills-bundle catalog search"),
        Example("Read one:", "skills-bundle catalog read writing-agent-skills"),
    ],
)
@click.pass_context
def catalog(context: click.Context) -> None:
    """Search and read the bundled skills."""
    help_if_bare(context)


@click.group(
    cls=Group,
    help="""Serve the skills to MCP hosts.

    MCP is the Model Context Protocol; a host is a program such as a coding agent that starts our
    server and talks to it.
    """,
    entries={
        "serve": Entry(
            "Serve the skills over standard input and output, or over HTTP.",
            f"{_AT}.mcp_serve:serve",
        ),
        "check": Entry("Start the server as a host would, and try it.", f"{_AT}.mcp_check:check"),
    },
    examples=[
        Example("See that the server works:", "skills-bundle mcp check"),
        Example("What a host runs:", "skills-bundle mcp serve"),
    ],
)
@click.pass_context
def mcp(context: click.Context) -> None:
    """Serve the skills to MCP hosts."""
    help_if_bare(context)

"""Edge: `mcp serve`; imports only what serving needs, since a host waits for it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal, TypedDict, Unpack

import click
from click.core import ParameterSource

from skills_bundle.cli import completers
from skills_bundle.cli.collection import collections_option, command_line
from skills_bundle.cli.framework import Command, Example, environment
from skills_bundle.server.run import DEFAULT_TOOLSETS, TOOLSETS, parse_toolsets, say, serve_stdio
from skills_bundle.wiring import Chosen, choose, open_chosen

if TYPE_CHECKING:
    from collections.abc import Callable

    from skills_bundle.catalog.reading import Resources

    Body = Callable[..., Any]

DEFAULT_ADDRESS: Final = "127.0.0.1:8765"
"""Where `--http` listens if it is given no address."""


class _Http(TypedDict):
    """The options that say something only together with `--http`."""

    token_env: str | None
    token_file: str | None
    hosts: tuple[str, ...]
    origins: tuple[str, ...]


_HTTP_OPTIONS: Final = (
    click.option(
        "--token-env",
        metavar="NAME",
        help="Environment variable that holds the bearer token clients must send.",
    ),
    click.option(
        "--token-file",
        metavar="FILE",
        help="File that holds the bearer token clients must send.",
    ),
    click.option(
        "--allowed-host",
        "hosts",
        multiple=True,
        metavar="NAME[:PORT]",
        help="Another name that clients reach this server by; can be repeated.",
    ),
    click.option(
        "--allowed-origin",
        "origins",
        multiple=True,
        metavar="ORIGIN",
        help="Web origin whose pages may use this server; can be repeated.",
    ),
)


def _with_http_options(body: Body) -> Body:
    for option in reversed(_HTTP_OPTIONS):
        body = option(body)
    return body


@click.command(
    cls=Command,
    help="""Serve the skills over standard input and output, or over HTTP.

    A host starts this command and speaks MCP with it, one JSON message a line. To try the server by
    hand, use `skills-bundle mcp check`. Nothing is written but a trace, and no network is used.

    Every collection that is installed when it starts is served, each answer with the provenance of
    those it is about; --collection, which may be repeated, names those to serve instead.

    With --http it serves a team instead: MCP's streamable HTTP at /mcp, without sessions, and
    /healthz. An address that other machines can reach needs a bearer token.
    """,
    examples=[
        Example("What a host runs:", "skills-bundle mcp serve"),
        Example("Let scripts be read, too:", "skills-bundle mcp serve --resources all"),
        Example(
            "Serve one installed collection alone:",
            "skills-bundle mcp serve --collection skills-bundle",
        ),
        Example("Keep what is said:", "skills-bundle mcp serve --trace conversation.jsonl"),
    ],
    exit_codes={
        0: "the client left, or a signal asked to stop",
        1: "the connection could not go on, or the address is taken; standard error says why",
        2: "wrong arguments or collection, no standard input or output, or no trace can be made",
        3: "the installation cannot be read at all",
    },
)
@click.option(
    "--toolsets",
    metavar="NAME[,NAME...]",
    default=",".join(DEFAULT_TOOLSETS),
    shell_complete=completers.names((*TOOLSETS, "all")),
    help=f"Groups of tools to offer: {', '.join(TOOLSETS)}, or all.",
)
@click.option(
    "--resources",
    type=click.Choice(["markdown", "all"]),
    default="markdown",
    help="What may be read: SKILL.md and Markdown below references/, or every text file.",
)
@collections_option
@click.option(
    "--trace",
    metavar="FILE",
    help="Write both directions down in a new file, as JSON lines that can be replayed; {pid} in "
    "its name becomes the process id. What looks like a secret is left out, as best effort. Not "
    "with --http.",
)
@click.option(
    "--http",
    "address",
    is_flag=False,
    flag_value=DEFAULT_ADDRESS,
    metavar="[HOST:PORT]",
    help=f"Serve over HTTP; at {DEFAULT_ADDRESS} if no address is given. TLS is left to a proxy.",
)
@_with_http_options
@click.pass_context
def serve(  # noqa: PLR0913 - one parameter an option
    context: click.Context,
    *,
    toolsets: str,
    resources: Literal["markdown", "all"],
    collection: tuple[str, ...],
    trace: str | None,
    address: str | None,
    **http: Unpack[_Http],
) -> int:
    """Serve the skills over standard input and output, or over HTTP."""
    groups = parse_toolsets(toolsets)
    chosen = choose(collection)
    if address is not None:
        _refuse(context, "not together with --http", frozenset({"trace"}))
        return _serve_http(context, (chosen, resources), groups, address, http)
    _refuse(context, "only together with --http", frozenset(_Http.__annotations__))
    if trace in {"", "-"}:
        raise click.UsageError(
            "--trace: name a file; standard output is for the conversation itself.", context
        )
    _tell(chosen)
    return serve_stdio(
        partial(open_chosen, chosen, resources=resources),
        groups,
        chosen.identify,
        trace_file=trace,
        check_command=command_line("mcp check", collection),
    )


def _tell(chosen: Chosen) -> None:
    for note in chosen.notes:
        say(note)


def _refuse(context: click.Context, when: str, names: frozenset[str]) -> None:
    """Refuse options that were given and would say nothing.

    Raises:
        click.UsageError: Naming each.
    """
    given = [
        parameter.opts[0]
        for parameter in context.command.params
        if parameter.name in names
        and context.get_parameter_source(parameter.name) is ParameterSource.COMMANDLINE
    ]
    if given:
        raise click.UsageError(f"{', '.join(given)}: {when}.", context)


def _serve_http(
    context: click.Context,
    source: tuple[Chosen, Resources],
    groups: tuple[str, ...],
    address: str,
    http: _Http,
) -> int:
    # The HTTP stack is for this mode only: a host that starts us for stdio waits for every import.
    from skills_bundle.server.http.access import HttpOptions  # noqa: PLC0415 - see above
    from skills_bundle.server.http.serve import read_token, serve_http  # noqa: PLC0415 - likewise

    token = read_token(http["token_env"], http["token_file"], environment(context))
    options = HttpOptions(
        address=address, token=token, hosts=http["hosts"], origins=http["origins"]
    )
    chosen, resources = source
    _tell(chosen)
    opener = partial(open_chosen, chosen, resources=resources)
    return serve_http(opener, groups, options, chosen.identify)

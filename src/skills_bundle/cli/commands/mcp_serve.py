"""Edge: `mcp serve`; imports only what serving needs, because a host waits for it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypedDict, Unpack

import click
from click.core import ParameterSource

from skills_bundle.cli import completion
from skills_bundle.cli.framework import Command, Example, environment
from skills_bundle.cli.options import collections_option, command_line, resources_option
from skills_bundle.cli.output import Output
from skills_bundle.server.run import ServeOptions, say, serve_stdio
from skills_bundle.server.tools import DEFAULT_TOOLSETS, TOOLSETS, parse_toolsets
from skills_bundle.wiring import ChosenCollections, choose, open_chosen

if TYPE_CHECKING:
    from collections.abc import Callable

    from skills_bundle.catalog.reading import Resources

    Body = Callable[..., Any]

DEFAULT_ADDRESS: Final = "127.0.0.1:8765"
"""The address of `--http` without a value."""


class _Served(NamedTuple):
    """What is served, and whether the lines about it at start are left out."""

    chosen: ChosenCollections
    resources: Resources
    quiet: bool


class _HttpOptions(TypedDict):
    """The options that need `--http`."""

    token_env: str | None
    token_file: str | None
    hosts: tuple[str, ...]
    origins: tuple[str, ...]


_HTTP_OPTIONS: Final = (
    click.option(
        "--token-env",
        metavar="NAME",
        help="Environment variable with the bearer token that clients must send.",
    ),
    click.option(
        "--token-file",
        metavar="FILE",
        help="File with the bearer token that clients must send.",
    ),
    click.option(
        "--allowed-host",
        "hosts",
        multiple=True,
        metavar="NAME[:PORT]",
        help="Another name of this server; can be repeated.",
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
    help="""Serve skills over standard input and output, or over HTTP.

    A host starts this command and talks MCP with it, one JSON message per line. The server writes
    nothing except a trace, and opens no connection. To test it, use `skills-bundle mcp check`.

    With --http the server is for a team: streamable HTTP at /mcp, without sessions, and /healthz.
    An address that other machines can reach needs a bearer token.
    """,
    about_collections="""The server offers every collection that is installed when it starts, or
    those that --collection names. Each answer has the provenance of its collections.""",
    examples=[
        Example("The command for a host's configuration:", "skills-bundle mcp serve"),
        Example("Let agents run scripts where they are:", "skills-bundle mcp serve --expose-paths"),
        Example(
            "Serve one installed collection:",
            "skills-bundle mcp serve --collection skills-bundle",
        ),
        Example("Record the conversation:", "skills-bundle mcp serve --trace conversation.jsonl"),
    ],
    exit_codes={
        0: "the client disconnected, or a signal stopped the server",
        1: "the connection failed or the address is in use; standard error shows why",
        2: "wrong arguments or collection, no standard input or output, or no trace file",
        3: "the installation cannot be read",
    },
)
@click.option(
    "--toolsets",
    metavar="NAME[,NAME...]",
    default=",".join(DEFAULT_TOOLSETS),
    shell_complete=completion.names((*TOOLSETS, "all")),
    help=f"Groups of tools to offer: {', '.join(TOOLSETS)}, or all.",
)
@resources_option
@click.option(
    "--expose-paths",
    is_flag=True,
    help="Tell agents the folder of each skill on this machine, so that they can run its scripts. "
    "Not with --http.",
)
@collections_option
@click.option(
    "--quiet", is_flag=True, help="Print no line to standard error about each collection at start."
)
@click.option(
    "--trace",
    metavar="FILE",
    help="Record all messages in this new file, as JSON lines that can be replayed. {pid} in its "
    "name is replaced by the process id. Text that looks like a secret is removed where it is "
    "recognised. Not with --http.",
)
@click.option(
    "--http",
    "address",
    is_flag=False,
    flag_value=DEFAULT_ADDRESS,
    metavar="[HOST:PORT]",
    help=f"Serve over HTTP; at {DEFAULT_ADDRESS} if no address is given. For TLS, use a proxy.",
)
@_with_http_options
@click.pass_context
def command(  # noqa: PLR0913 - one parameter an option
    context: click.Context,
    *,
    toolsets: str,
    resources: Resources,
    expose_paths: bool,
    collection: tuple[str, ...],
    quiet: bool,
    trace: str | None,
    address: str | None,
    **http: Unpack[_HttpOptions],
) -> int:
    """Serve skills over standard input and output, or over HTTP."""
    groups = parse_toolsets(toolsets)
    chosen = choose(collection)
    if address is not None:
        _refuse(context, "not together with --http", frozenset({"trace", "expose_paths"}))
        return _serve_http(context, _Served(chosen, resources, quiet), groups, address, http)
    _refuse(context, "only together with --http", frozenset(_HttpOptions.__annotations__))
    if trace in {"", "-"}:
        raise click.UsageError(
            "--trace: name a file; standard output carries the conversation.", context
        )
    _print_notes(chosen)
    return serve_stdio(
        partial(open_chosen, chosen, resources=resources, expose_paths=expose_paths),
        groups,
        chosen.identify,
        trace_file=trace,
        options=replace(
            _options(context, quiet=quiet), check_command=command_line("mcp check", collection)
        ),
    )


def _print_notes(chosen: ChosenCollections) -> None:
    for note in chosen.notes:
        say(note)


def _options(context: click.Context, *, quiet: bool) -> ServeOptions:
    """Return the options of every server; a collection's own command reports the collection."""
    output = context.find_object(Output)
    if output is None or output.program is None:
        return ServeOptions(quiet=quiet)
    program = output.program
    return ServeOptions(name=program.collection, version=program.version(), quiet=quiet)


def _refuse(context: click.Context, reason: str, names: frozenset[str]) -> None:
    """Refuse options that would have no effect.

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
        raise click.UsageError(f"{', '.join(given)}: {reason}.", context)


def _serve_http(
    context: click.Context,
    served: _Served,
    groups: tuple[str, ...],
    address: str,
    http: _HttpOptions,
) -> int:
    # Only this mode needs the HTTP stack; a host that uses stdio would wait for its import.
    from skills_bundle.server.http.access import HttpOptions  # noqa: PLC0415 - see above
    from skills_bundle.server.http.serve import read_token, serve_http  # noqa: PLC0415 - likewise

    token = read_token(http["token_env"], http["token_file"], environment(context))
    options = HttpOptions(
        address=address, token=token, hosts=http["hosts"], origins=http["origins"]
    )
    _print_notes(served.chosen)
    opener = partial(open_chosen, served.chosen, resources=served.resources)
    serving = _options(context, quiet=served.quiet)
    return serve_http(opener, groups, options, served.chosen.identify, serving)

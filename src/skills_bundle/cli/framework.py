"""Edge: the shape of every command: examples and exit codes in its help, `--json`, late imports."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import click
from click.shell_completion import CompletionItem

from skills_bundle.cli.output import Output

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

PROGRAM: Final = "skills-bundle"
CONTEXT_SETTINGS: Final[dict[str, Any]] = {
    "help_option_names": ["-h", "--help"],
    "show_default": True,
    "max_content_width": 100,
}

JSON_PARAMETER: Final = "as_json"
ARGUMENTS: Final = "skills_bundle.arguments"
"""Where a command's context keeps its arguments as they were typed."""
GUESSES: Final = {
    "cat": ("catalog", "read"),
    "find": ("catalog", "search"),
    "help": ("--help",),
    "list": ("catalog", "search"),
    "ls": ("catalog", "search"),
    "run": ("mcp", "serve"),
    "start": ("mcp", "serve"),
    "test": ("mcp", "check"),
    "version": ("--version",),
}
"""What people try first, to what does it."""
ENVIRONMENT: Final = "skills_bundle.environment"
"""Where every context keeps the environment of this run."""


@dataclass(frozen=True, slots=True)
class Example:
    """A command line that works as it stands, with what it is for.

    Attributes:
        purpose: A few words.
        line: The command line, starting with `skills-bundle`.
        page: Page of the documentation that makes the files it names and runs it; without one it
            works in any folder.
    """

    purpose: str
    line: str
    page: str | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """A command that is imported when it is asked for.

    Attributes:
        summary: The first line of its help; a test keeps both equal.
        target: `module:attribute`.
        is_group: Whether it is a group; then its module is cheap to import.
    """

    summary: str
    target: str
    is_group: bool = False


class _Explained(click.Command):
    """What commands and groups share: two more sections in their help, `--json` known early."""

    examples: tuple[Example, ...] = ()
    exit_codes: Mapping[int, str] = {}

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse, having looked for `--json` among the options: usage errors are JSON then, too."""
        ctx.meta[ARGUMENTS] = tuple(args)
        options = args[: args.index("--")] if "--" in args else args
        output = ctx.find_object(Output)
        if output is not None:
            output.as_json = "--json" in options and self._may_give_json()
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            # click's parser leaves it out, and the hint would name the help of another command.
            error.ctx = error.ctx or ctx
            raise

    def _may_give_json(self) -> bool:
        """Tell whether `--json` among the arguments can be meant as our option."""
        return any(parameter.name == JSON_PARAMETER for parameter in self.params)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples, then the exit codes."""
        super().format_epilog(ctx, formatter)
        if self.examples:
            with formatter.section("Examples"):
                for example in self.examples:
                    formatter.write(f"{'':{formatter.current_indent}}# {example.purpose}\n")
                    formatter.write(f"{'':{formatter.current_indent}}{example.line}\n")
        if self.exit_codes:
            with formatter.section("Exit codes"):
                formatter.write_dl([(str(code), text) for code, text in self.exit_codes.items()])


class Command(_Explained):
    """A command.

    Its help is given as `help`: `python -OO` strips docstrings.
    """

    def __init__(
        self,
        *args: Any,  # noqa: ANN401 - click's own parameters pass through untouched
        examples: Sequence[Example] = (),
        exit_codes: Mapping[int, str] | None = None,
        **kwargs: Any,  # noqa: ANN401 - likewise
    ) -> None:
        """Keep what the help adds."""
        kwargs["context_settings"] = {**CONTEXT_SETTINGS, **kwargs.get("context_settings", {})}
        super().__init__(*args, **kwargs)
        self.examples = tuple(examples)
        self.exit_codes = dict(sorted((exit_codes or {}).items()))


class Group(_Explained, click.Group):
    """A group of commands, none of which is imported before it is asked for.

    Without a command it prints its help and exits 0.
    """

    def __init__(
        self,
        *args: Any,  # noqa: ANN401 - click's own parameters pass through untouched
        entries: Mapping[str, Entry],
        examples: Sequence[Example] = (),
        **kwargs: Any,  # noqa: ANN401 - likewise
    ) -> None:
        """Keep the table of commands."""
        kwargs.setdefault("invoke_without_command", True)
        kwargs["context_settings"] = {**CONTEXT_SETTINGS, **kwargs.get("context_settings", {})}
        super().__init__(*args, **kwargs)
        self.entries = dict(entries)
        self.examples = tuple(examples)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Give the commands in the order in which people need them."""
        return list(self.entries)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        """Import and give one command."""
        entry = self.entries.get(cmd_name)
        if entry is None:
            return None
        module, _, attribute = entry.target.partition(":")
        command = getattr(import_module(module), attribute)
        if not isinstance(command, click.Command):
            raise TypeError(f"{entry.target} is not a command")
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or say which one was probably meant."""
        name = args[0]
        if name in self.entries or name.startswith("-") or ctx.resilient_parsing:
            return super().resolve_command(ctx, args)
        meant = self._meant(name, ctx)
        hint = f" Did you mean `{' '.join(meant)}`?" if meant else ""
        raise click.UsageError(f"There is no command {name!r}.{hint}", ctx)

    def _may_give_json(self) -> bool:
        """Suppose so: the command that would decide may not even be found."""
        return True

    def _meant(self, name: str, ctx: click.Context) -> tuple[str, ...]:
        """Give the command line that a wrong name was probably meant for, or nothing.

        A command of exactly this name elsewhere goes before one here that is only spelled alike.
        """
        root = ctx.find_root()
        program = root.info_name or PROGRAM
        known: dict[str, tuple[str, ...]] = {}
        if isinstance(root.command, Group):
            known = root.command.table((program,), root)
        known |= {word: (program, *words) for word, words in GUESSES.items()}
        if name in known:
            return known[name]
        here = tuple(ctx.command_path.split())
        known |= {word: (*here, word) for word in self.entries}
        close = [*get_close_matches(name, self.entries, n=1), *get_close_matches(name, known, n=1)]
        return known[close[0]] if close else ()

    def table(self, path: tuple[str, ...], ctx: click.Context) -> dict[str, tuple[str, ...]]:
        """Give the last word of every command below to all its words; imports groups only.

        Args:
            path: The words that call this group.
            ctx: Any context.
        """
        found: dict[str, tuple[str, ...]] = {}
        for name, entry in self.entries.items():
            if entry.is_group and isinstance(group := self.get_command(ctx, name), Group):
                found |= group.table((*path, name), ctx)
        return found | {name: (*path, name) for name in self.entries}

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's signature
        """Write the table of commands from their summaries, importing none."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.summary) for name, entry in self.entries.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete command names from the table; importing all would be felt at every TAB."""
        names = [
            CompletionItem(name, help=entry.summary)
            for name, entry in self.entries.items()
            if name.startswith(incomplete)
        ]
        return [*names, *click.Command.shell_complete(self, ctx, incomplete)]


def given_arguments(context: click.Context) -> tuple[str, ...]:
    """Give a command's arguments as they were typed."""
    return context.meta.get(ARGUMENTS, ())


def environment(context: click.Context) -> Mapping[str, str]:
    """Give the environment of this run, for the few options that name a variable."""
    return context.meta.get(ENVIRONMENT, {})


def complete_variable(program: str) -> str:
    """Give the environment variable through which a shell's completion script asks a program."""
    return f"_{program}_COMPLETE".replace("-", "_").replace(".", "_").upper()


def help_if_bare(context: click.Context) -> None:
    """Print a group's help when no command was given."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def _remember_json(context: click.Context, _parameter: click.Parameter, wanted: bool) -> None:  # noqa: FBT001 - click's signature
    output = context.find_object(Output)
    if output is not None:
        output.as_json = wanted


json_option: Final = click.option(
    "--json",
    JSON_PARAMETER,
    is_flag=True,
    expose_value=False,
    callback=_remember_json,
    help="Print one JSON document, for programs.",
)
"""Add `--json` to a command; `Output.as_json` then says whether it was given."""

pass_output: Final = click.make_pass_decorator(Output)
"""Hand a command the `Output` of this run as its first argument."""


def walk(group: Group, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Give a group and everything below it, each with the words that call it, in help's order."""
    yield path, group
    context = click.Context(group, info_name=path[-1])
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, Group):
            yield from walk(command, (*path, name))
        elif command is not None:
            yield (*path, name), command
